"""The values of checking a text: what was looked at, what was found, and where it stands."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from localrag.corpus.types import Omission
from localrag.language import N_
from localrag.text.facts import Fact


class Verdict(StrEnum):
    """What code can show of something that a text says.

    HOLDS: the law has it so; of a sentence, nothing that was compared differs.
    FAILS: the law has it otherwise.
    UNCHECKED: nothing can be shown; the reason is told.
    """

    HOLDS = "holds"
    FAILS = "does-not-hold"
    UNCHECKED = "not-checked"


VERDICTS = {
    Verdict.HOLDS: N_("holds"),
    Verdict.FAILS: N_("does not hold"),
    Verdict.UNCHECKED: N_("not checked"),
}

NO_DIFFERENCE = N_("no difference found")
"""The word for a sentence that holds: nothing in it that was compared differs."""


class Part(StrEnum):
    """What is looked at in a text."""

    LAW = "law"
    CITATION = "citation"
    QUOTATION = "quotation"
    STATEMENT = "statement"
    CLAIM = "claim"


PARTS = {
    Part.LAW: N_("law"),
    Part.CITATION: N_("citation"),
    Part.QUOTATION: N_("quotation"),
    Part.STATEMENT: N_("statement"),
    Part.CLAIM: N_("claim"),
}


class Place(NamedTuple):
    """Where something stands in the text that is checked.

    Attributes:
        start, end: span in the text, in characters.
        line: from 1; of a Word file, its paragraph or row of a table.
        page: from 1; 0 where pages are unknown.
        note: the label of the footnote or endnote of a Word file (注1); "" outside of notes.
        confidence: how sure OCR is of the characters of that page, from 0 to 1; None where the file
            itself has the text.
    """

    start: int
    end: int
    line: int
    page: int = 0
    note: str = ""
    confidence: float | None = None


class DiffPart(NamedTuple):
    """A stretch of a quotation beside the provision, each as written; one may be empty.

    Attributes:
        same: whether both say the same, widths and the spelling of numbers apart.
        said: what the text has.
        law: what the provision has.
    """

    same: bool
    said: str
    law: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found about one thing that a text says.

    Attributes:
        part: what was looked at.
        place: where it stands.
        said: the words of the text.
        verdict: what code can show.
        problem: what is wrong, or why nothing could be shown; None where it holds.
        provision: what it was compared with, as lawyers cite it; "" for nothing. Of a claim,
            where the sentence of the corpus stands that it was checked with.
        passage_id: its id, by which `localrag show` finds it; "" for nothing, or a whole law.
        state: the day from which that text is in force, as ISO date; "" where that is not known.
        evidence: verbatim text of the provision; "" where it was compared with nothing.
        diff: of a quotation that differs, all of it beside the provision.
    """

    part: Part
    place: Place
    said: str
    verdict: Verdict
    problem: Fact | None = None
    provision: str = ""
    passage_id: str = ""
    state: str = ""
    evidence: str = ""
    diff: tuple[DiffPart, ...] = ()

    @property
    def is_sentence_that_holds(self) -> bool:
        """Whether it is a sentence, not a citation or a quotation, in which nothing differs."""
        return self.verdict is Verdict.HOLDS and self.part in (Part.STATEMENT, Part.CLAIM)


@dataclass(frozen=True, slots=True)
class CheckReport:
    """A text and all that was found in it.

    Attributes:
        name: of the file; "" for text that was given as such.
        kind: ``text``, ``markdown``, ``docx`` …, as of a document of a corpus.
        text: the whole text; every place is one of it.
        as_of: the day whose law it was compared with, as ISO date.
        findings: in the order of the text.
        omissions: what of the file is not in the text, or needs a word ("tracked insertions").
        confidences: how sure OCR is of each page that it has read, from 0 to 1.
    """

    name: str
    kind: str
    text: str
    as_of: str
    findings: tuple[Finding, ...]
    omissions: tuple[Omission, ...] = ()
    confidences: tuple[float, ...] = ()

    @property
    def counts(self) -> Mapping[Verdict, int]:
        """How many findings there are of each verdict."""
        found = Counter(finding.verdict for finding in self.findings)
        return {verdict: found[verdict] for verdict in Verdict}

    @property
    def without_difference(self) -> int:
        """How many of the findings that hold are sentences, and so hold in what was compared."""
        return sum(finding.is_sentence_that_holds for finding in self.findings)

    @property
    def holds(self) -> bool:
        """Whether nothing was found that does not hold."""
        return not any(finding.verdict is Verdict.FAILS for finding in self.findings)
