"""The findings of a check: a row each, and the one under the cursor in full."""

from collections.abc import Sequence
from functools import cache
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from localrag import language
from localrag.check import wording
from localrag.check.types import NO_DIFFERENCE, VERDICTS, Finding, Verdict
from localrag.harmless import shorten
from localrag.language import N_, _
from localrag_tui.shown import content, cut, flat
from localrag_tui.widgets.listing import AdaptiveList, AdaptiveRow

STYLES = {
    Verdict.HOLDS: "$text-success",
    Verdict.FAILS: "$text-error",
    Verdict.UNCHECKED: "$text-warning",
}
# Characters of the words of a text that are shown in full.
_SHOWN = 300


class FindingRow(AdaptiveRow):
    """A finding as an option of a list: the verdict, the place, the words of the text.

    Args:
        finding: what is shown.
        kind: of the text, as of a document.
    """

    def __init__(self, finding: Finding, kind: str) -> None:
        self._finding = finding
        self._kind = kind

    def write(self, width: int) -> Sequence[Content]:
        """Write the row; the words of the text give way."""
        verdict = self._finding.verdict
        name, room = wording.status(self._finding), _widest(language.in_use())
        place = wording.place(self._finding.place, self._kind)
        head = f" {name}{' ' * (room - cell_len(name))}  {place}  "
        said = cut(flat(self._finding.said), width - cell_len(head))
        return [
            Content.assemble(
                (head[: len(name) + 1], f"bold {STYLES[verdict]}"),
                (head[len(name) + 1 :], "$foreground-muted"),
                said,
            )
        ]


@cache
def _widest(_language: str) -> int:
    """Cells of the longest name of a verdict, in the language in use."""
    return max(cell_len(_(name)) for name in (*VERDICTS.values(), NO_DIFFERENCE))


def in_full(finding: Finding) -> Content:
    """A finding with all that is known of it: why, what the text says, how the law differs."""
    words = [content(flat(wording.verdict(finding)), f"bold {STYLES[finding.verdict]}")]
    if finding.diff:
        words.append(_diff(finding))
    else:
        words.append(content(shorten(flat(finding.said), _SHOWN)))
    if finding.provision:
        words.append(content(flat(wording.compared(finding)), "$foreground-muted"))
    return Content("\n").join(words)


def _diff(finding: Finding) -> Content:
    """A quotation beside the provision: [-the law's words-] {+those of the text+}."""
    parts = []
    for part in finding.diff:
        law, said = flat(part.law), flat(part.said)
        if part.same:
            parts.append(content(law))
            continue
        parts += [content(f"[-{law}-]", STYLES[Verdict.HOLDS])] if law else []
        parts += [content(f"{{+{said}+}}", STYLES[Verdict.FAILS])] if said else []
    return Content("").join(parts)


class FindingsList(AdaptiveList):
    """The findings in the order of the text.

    Attributes:
        findings: those that are listed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", N_("Open the provision"), id="check.open"),
        Binding("c", "copy", N_("Copy"), id="check.copy"),
    ]
    ROW = FindingRow

    class Copied(Message):
        """The finding under the cursor is to be copied."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own
        super().__init__(id=id)
        self.findings: tuple[Finding, ...] = ()

    @property
    def chosen(self) -> Finding | None:
        """The finding under the cursor."""
        if self.highlighted is None or self.highlighted >= len(self.findings):
            return None
        return self.findings[self.highlighted]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What was compared with nothing leads nowhere."""
        if action == "select":
            return self.chosen is not None and bool(self.chosen.provision)
        if action == "copy":
            return self.chosen is not None
        return super().check_action(action, parameters)

    def show(self, findings: Sequence[Finding], kind: str) -> None:
        """List these in the place of the others; the cursor stays at its place in the text."""
        at = self.chosen.place.start if self.chosen else 0
        self.findings = tuple(findings)
        self.set_options(Option(FindingRow(finding, kind)) for finding in findings)
        later = (n for n, finding in enumerate(findings) if finding.place.start >= at)
        self.highlighted = next(later, len(findings) - 1) if findings else None

    def look_at(self, span: tuple[int, int]) -> bool:
        """Put the cursor on what stands at a place; whether it was there already."""
        if self.chosen is not None and self.chosen.place[:2] == span:
            return True
        there = (n for n, finding in enumerate(self.findings) if finding.place[:2] == span)
        self.highlighted = next(there, self.highlighted)
        return False

    def action_copy(self) -> None:
        self.post_message(self.Copied())

    def on_option_list_option_highlighted(self, _event: OptionList.OptionHighlighted) -> None:
        """Name the keys of the finding under the cursor."""
        self.refresh_bindings()
