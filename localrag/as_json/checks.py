"""What a check of a text has found, as JSON."""

from typing import NotRequired, cast

# Before Python 3.12 Pydantic makes schemas of this one alone.
from typing_extensions import TypedDict

from localrag.as_json.statutes import FactJson, OmissionJson, omissions_as_json
from localrag.check import CheckReport, Finding, Place


class PlaceInTextJson(TypedDict):
    """Where something is in the text that was checked.

    `page` is 0 where pages are unknown; `note` is there in the notes of a Word file (注1).
    """

    start: int
    end: int
    line: int
    page: int
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
    """A text and all that was found in it: the JSON of ``localrag check``."""

    name: str
    kind: str
    as_of: str
    holds: bool
    counts: dict[str, int]
    omissions: list[OmissionJson]
    findings: list[FindingJson]


def check_as_json(report: CheckReport) -> CheckJson:
    """Give the JSON of ``localrag check``."""
    return {
        "name": report.name,
        "kind": report.kind,
        "as_of": report.as_of,
        "holds": report.holds,
        "counts": {verdict.value: count for verdict, count in report.counts.items()},
        "omissions": omissions_as_json(report.omissions),
        "findings": [_finding(finding) for finding in report.findings],
    }


def _place(place: Place) -> PlaceInTextJson:
    found = place._asdict()
    if not place.note:
        del found["note"]
    return cast(PlaceInTextJson, found)


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
