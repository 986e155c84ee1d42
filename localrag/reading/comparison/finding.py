"""What is found about one statement, and how findings are put together."""

from collections.abc import Iterable
from typing import NamedTuple

_SHOWN, _REASONS = 60, 5


class Finding(NamedTuple):
    """Whether a statement holds.

    Attributes:
        holds: None where code cannot decide it.
        because: the computation.
        certain: False where it rests on the likeness of texts.
    """

    holds: bool | None
    because: str
    certain: bool = True


def statement(one: str, sign: str, other: str) -> str:
    """The computation in signs ("東京都新宿区 ⊂ 東京都")."""
    return f"{cut(one)} {sign} {cut(other)}"


def cut(text: str) -> str:
    """A text short enough for the computation; that it was cut shows."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def any_of(findings: Iterable[Finding]) -> Finding:
    """Whether one of the statements holds: the first that surely does, else that likely does."""
    return _prevailing(findings, decisive=True)


def all_of(findings: Iterable[Finding]) -> Finding:
    """Whether all of the statements hold: the first that surely does not, else likely not."""
    return _prevailing(findings, decisive=False)


def _prevailing(findings: Iterable[Finding], *, decisive: bool) -> Finding:
    known = list(findings)
    deciding = [finding for finding in known if finding.holds is decisive]
    if deciding:
        return max(deciding, key=lambda finding: finding.certain)
    reasons = list(dict.fromkeys(finding.because for finding in known if finding.because))
    left_out = len(reasons) - _REASONS
    because = "、".join(reasons[:_REASONS]) + (f" ほか{left_out}件" if left_out > 0 else "")
    if not known or any(finding.holds is None for finding in known):
        return Finding(None, because)
    return Finding(not decisive, because, all(finding.certain for finding in known))
