"""The values of a check: verdicts, places, findings, reports."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from localrag.corpus.types import Omission
from localrag.language import N_
from localrag.text.facts import Fact


class Verdict(StrEnum):
    """The result for one finding.

    HOLDS: nothing compared differs. FAILS: the law differs. UNCHECKED: see the reason given.
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
"""The verdict of a sentence without a difference."""


class Part(StrEnum):
    """The kind of thing checked."""

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


class CheckedPlace(NamedTuple):
    """A place in the checked text."""

    start: int  # start, end: span in the text, in characters
    end: int
    line: int  # from 1; in a Word file, the paragraph or table row
    page: int = 0  # from 1; 0 if unknown
    note: str = ""  # label of a footnote or endnote in a Word file (注1); "" elsewhere
    # OCR confidence of the page, 0 to 1; None if the file has the text itself
    confidence: float | None = None


class DiffPart(NamedTuple):
    """A stretch of a quotation beside the provision, as written; one side may be empty."""

    same: bool  # whether both agree, apart from widths and spelling of numbers
    said: str  # words of the text
    law: str  # words of the provision


@dataclass(frozen=True, slots=True)
class Finding:
    """The result for one citation, quotation, law, statement or claim."""

    part: Part
    place: CheckedPlace
    said: str  # words of the text
    verdict: Verdict  # the result
    problem: Fact | None = None  # the error, or the reason for no result; None if it holds
    # the compared provision in legal style, or the source of a claim's evidence; "" for none
    provision: str = ""
    passage_id: str = ""  # its id for `localrag show`; "" for none or a whole law
    state: str = ""  # first day in force, as ISO date; "" if unknown
    evidence: str = ""  # verbatim text of the provision; "" without comparison
    diff: tuple[DiffPart, ...] = ()  # a differing quotation beside the provision, complete

    @property
    def is_sentence_that_holds(self) -> bool:
        """Whether it is a statement or claim without a difference."""
        return self.verdict is Verdict.HOLDS and self.part in (Part.STATEMENT, Part.CLAIM)


@dataclass(frozen=True, slots=True)
class Upcoming:
    """A citation or quotation with another text from a day on.

    Attributes:
        day: the day, as ISO date.
        part: citation or quotation.
        place: in the text.
        said: its words there.
        provision: the provision in legal style, as of today.
        passage_id: its id.
        before, after: its words before and from that day on; `after` is "" if it is gone.
        moved_to: its new place in legal style; "" if it keeps its number or goes.
    """

    day: str
    part: Part
    place: CheckedPlace
    said: str
    provision: str
    passage_id: str
    before: str
    after: str
    moved_to: str = ""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """A text and its findings."""

    name: str  # of the file; "" for a given text
    kind: str  # ``text``, ``markdown``, ``docx`` …, as of a document of a corpus
    text: str  # the whole text
    as_of: str  # date of the law compared, as ISO date
    findings: tuple[Finding, ...]  # in the order of the text
    # parts of the file not in the text, or to be read with care
    omissions: tuple[Omission, ...] = ()
    confidences: tuple[float, ...] = ()  # of OCR for each page it read, 0 to 1
    upcoming: tuple[Upcoming, ...] = ()  # changes by later texts of the corpus, by day

    @property
    def counts(self) -> Mapping[Verdict, int]:
        """Number of findings of each verdict."""
        found = Counter(finding.verdict for finding in self.findings)
        return {verdict: found[verdict] for verdict in Verdict}

    @property
    def without_difference(self) -> int:
        """Number of statements and claims among the findings that hold."""
        return sum(finding.is_sentence_that_holds for finding in self.findings)

    @property
    def holds(self) -> bool:
        """Whether no finding fails."""
        return not any(finding.verdict is Verdict.FAILS for finding in self.findings)
