"""Answers a comparison from the objects of triples, and shows the computation."""

from collections.abc import Callable, Sequence

from localrag.reading.comparison.conditions import meets, suits
from localrag.reading.comparison.finding import Finding, all_of, any_of
from localrag.reading.comparison.model import Comparison, Outcome, Side
from localrag.reading.comparison.ordering import by_age, by_amount, by_time
from localrag.reading.comparison.sameness import same

_ORDERS: dict[Comparison, tuple[Callable[[Sequence[Side], bool], Outcome | None], bool]] = {
    Comparison.EARLIER: (by_time, True),
    Comparison.LATER: (by_time, False),
    Comparison.OLDER: (by_age, True),
    Comparison.YOUNGER: (by_age, False),
    Comparison.MORE: (by_amount, False),
    Comparison.LESS: (by_amount, True),
}

_CLEARLY, _HARDLY = 1.5, 0.1
"""How much nearer a side must come in wording than any other, and the least that counts."""


def compare(comparison: Comparison, sides: Sequence[Side], condition: str = "") -> Outcome | None:
    """Compute what is asked about the sides.

    Args:
        comparison: what is asked.
        sides: at least two, but for a condition, for which one will do; objects as written.
        condition: for EACH, ANY and WHICH what is to be met, in words (「20世紀」,
            「100人以上」, 「東京都」, 「小説家」); for SAME and DIFFERENT what they may share
            (「年」, 「都道府県」, 「学年」), empty for the whole; of no meaning for the others.

    Returns:
        None where a value cannot be read, their kinds differ, or code cannot decide what holds.
        Where values are read but cannot be told apart, `Outcome.side` is None and `because` says
        why.
    """
    if not sides or not all(any(map(str.strip, side.objects)) for side in sides):
        return None
    if order := _ORDERS.get(comparison):
        rank, first = order
        return rank(sides, first) if len(sides) > 1 else None
    if comparison in (Comparison.SAME, Comparison.DIFFERENT):
        if len(sides) < 2:
            return None
        return _decision(same(sides, condition), negated=comparison is Comparison.DIFFERENT)
    if not condition.strip():
        return None
    findings = [_named(side, meets(side, condition)) for side in sides]
    if comparison is Comparison.WHICH:
        return _the_one(findings) or _the_likeliest(sides, condition, findings)
    return _decision((all_of if comparison is Comparison.EACH else any_of)(findings))


def _decision(finding: Finding, *, negated: bool = False) -> Outcome | None:
    if finding.holds is None:
        return None
    return Outcome(
        holds=finding.holds is not negated, because=finding.because, certain=finding.certain
    )


def _named(side: Side, finding: Finding) -> Finding:
    because = f"{side.name}：{finding.because}" if finding.because else ""
    return finding._replace(because=because)


def _the_one(findings: Sequence[Finding]) -> Outcome | None:
    """The side that meets the condition; one that surely does goes before those that may."""
    met = [place for place, finding in enumerate(findings) if finding.holds]
    sure = [place for place in met if findings[place].certain]
    chosen = sure if len(sure) == 1 else met
    if len(chosen) == 1:
        decided = all(finding.holds is not None for finding in findings)
        certain = findings[chosen[0]].certain and len(met) == 1 and decided
        return Outcome(side=chosen[0], because=_because(findings), certain=certain)
    certain = all(finding.certain and finding.holds is not None for finding in findings)
    return Outcome(because=_because(findings)) if certain else None


def _the_likeliest(
    sides: Sequence[Side], condition: str, findings: Sequence[Finding]
) -> Outcome | None:
    """The side whose words come nearest to the condition, where none is as near."""
    if all(finding.holds is None for finding in findings):
        return None
    shares = [suits(side, condition) for side in sides]
    first, second = sorted(shares, reverse=True)[:2] if len(shares) > 1 else (*shares, 0.0)
    side = shares.index(first) if first >= _CLEARLY * max(second, _HARDLY) else None
    return Outcome(side=side, because=_because(findings), certain=False)


def _because(findings: Sequence[Finding]) -> str:
    return "、".join(finding.because for finding in findings if finding.because)
