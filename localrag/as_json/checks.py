"""The report of a check as JSON."""

from collections.abc import Sequence
from typing import NotRequired, cast

# Pydantic needs this one before Python 3.12.
from typing_extensions import TypedDict

from localrag.as_json.statutes import FactJson, OmissionJson, omissions_as_json
from localrag.check import CheckReport, Finding, Place
from localrag.check.wording import WORST_FIRST


class PlaceInTextJson(TypedDict):
    """The place of a finding in the checked text.

    `page` is 0 without pages; `note` exists only in notes of a Word file (注1). `confidence` rates
    OCR of the page; null if the file has the text itself.
    """

    start: int
    end: int
    line: int
    page: int
    confidence: float | None
    note: NotRequired[str]


class DiffPartJson(TypedDict):
    """A stretch of a quotation beside the provision, as written."""

    same: bool
    said: str
    law: str


class FindingJson(TypedDict):
    """The result for one citation, quotation or sentence of the text."""

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
    """A text and its findings: the JSON of ``localrag check``.

    `counts` includes every finding; `left_out` counts those missing from `findings`.
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
# Characters of all listed findings together.
_MOST_CHARACTERS = 400_000


def check_as_json(report: CheckReport, most: int | None = None) -> CheckJson:
    """Return the JSON of ``localrag check``.

    Args:
        report: the findings.
        most: list at most this many, the worst first; None lists all.
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
