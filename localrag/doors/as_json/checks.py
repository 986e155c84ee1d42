"""What a check of a text has found, as JSON."""

from collections.abc import Sequence
from typing import NotRequired, cast

# Before Python 3.12 Pydantic makes schemas of this one alone.
from typing_extensions import TypedDict

from localrag.check import CheckReport, Finding, Place
from localrag.check.wording import WORST_FIRST
from localrag.doors.as_json.statutes import FactJson, OmissionJson, omissions_as_json


class PlaceInTextJson(TypedDict):
    """Where something is in the text that was checked.

    `page` is 0 where pages are unknown; `note` is there in the notes of a Word file (注1).
    `confidence` is how sure OCR is of that page, null where the file itself has the text.
    """

    start: int
    end: int
    line: int
    page: int
    confidence: float | None
    note: NotRequired[str]


class DiffPartJson(TypedDict):
    """A stretch of a quotation beside the provision, each as written."""

    same: bool
    said: str
    law: str


class FindingJson(TypedDict):
    """What was found about one thing that a text says of laws."""

    part: str
    place: PlaceInTextJson
    said: str
    verdict: str
    problem: FactJson | None
    provision: str
    passage_id: str
    state: str
    evidence: str
    diff: list[DiffPartJson]


class CheckJson(TypedDict):
    """A text and what was found in it: the JSON of ``localrag check``.

    `counts` counts every finding; `left_out` counts those that `findings` does not list.
    """

    name: str
    kind: str
    as_of: str
    holds: bool
    counts: dict[str, int]
    omissions: list[OmissionJson]
    findings: list[FindingJson]
    read_by_ocr: list[float]
    left_out: int


MOST_LISTED = 1_000
"""Findings that a server lists of one text, at most."""
# Characters of them in all: words of the text, and of the provisions.
_MOST_CHARACTERS = 400_000


def check_as_json(report: CheckReport, most: int | None = None) -> CheckJson:
    """Give the JSON of ``localrag check``.

    Args:
        report: what was found.
        most: findings that are listed at most, the worst first; None for all of them.
    """
    listed = report.findings if most is None else _worst(report.findings, most)
    return {
        "name": report.name,
        "kind": report.kind,
        "as_of": report.as_of,
        "holds": report.holds,
        "counts": {verdict.value: count for verdict, count in report.counts.items()},
        "read_by_ocr": list(report.confidences),
        "omissions": omissions_as_json(report.omissions),
        "findings": [_finding(finding) for finding in listed],
        "left_out": len(report.findings) - len(listed),
    }


def _place(place: Place) -> PlaceInTextJson:
    found = place._asdict()
    if not place.note:
        del found["note"]
    return cast(PlaceInTextJson, found)


def _worst(findings: Sequence[Finding], most: int) -> list[Finding]:
    """The findings that matter most, in the order of the text, up to so many characters."""
    ranked = sorted(range(len(findings)), key=lambda at: WORST_FIRST.index(findings[at].verdict))
    left = _MOST_CHARACTERS
    chosen: list[int] = []
    for at in ranked[:most]:
        left -= _size(findings[at])
        if left < 0 and chosen:
            break
        chosen.append(at)
    return [findings[at] for at in sorted(chosen)]


def _size(finding: Finding) -> int:
    diff = sum(len(part.said) + len(part.law) for part in finding.diff)
    return len(finding.said) + len(finding.evidence) + len(finding.provision) + diff


def _finding(finding: Finding) -> FindingJson:
    return {
        "part": finding.part.value,
        "place": _place(finding.place),
        "said": finding.said,
        "verdict": finding.verdict.value,
        "problem": cast(FactJson, finding.problem.stored()) if finding.problem else None,
        "provision": finding.provision,
        "passage_id": finding.passage_id,
        "state": finding.state,
        "evidence": finding.evidence,
        "diff": [cast(DiffPartJson, part._asdict()) for part in finding.diff],
    }
