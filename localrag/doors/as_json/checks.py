"""The report of a check as JSON."""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Annotated

from pydantic import BeforeValidator, Field

from localrag.check import CheckReport, Finding
from localrag.check.types import Upcoming
from localrag.check.wording import WORST_FIRST
from localrag.doors.as_json import Json, Number, Stored, at, filled
from localrag.doors.as_json.statutes import ChangeJson, OmissionsJson, StateJson
from localrag.search.history import Amendment, amended_by


class PlaceInTextJson(Json):
    """The place of a finding in the checked text.

    `page` is 0 without pages; `note` exists only in notes of a Word file (注1). `confidence` rates
    OCR of the page; null if the file has the text itself.
    """

    start: int
    end: int
    line: int
    page: int
    note: Annotated[str, Field(default="", exclude_if=lambda note: not note)]
    confidence: Number | None


class DiffPartJson(Json):
    """A stretch of a quotation beside the provision, as written."""

    same: bool
    said: str
    law: str


class FindingJson(Json):
    """The result for one citation, quotation or sentence of the text."""

    part: str
    place: PlaceInTextJson
    said: str
    verdict: str
    problem: Stored | None
    provision: str
    passage_id: str
    state: str
    evidence: str
    diff: list[DiffPartJson]


class UpcomingJson(Json):
    """A citation or quotation with other words from a day on; `after` is "" if they are gone."""

    day: str
    part: str
    place: PlaceInTextJson
    said: str
    provision: str
    passage_id: str
    before: str
    after: str
    moved_to: str


class CheckJson(Json):
    """A text and its findings: the JSON of ``localrag check``.

    `counts` includes every finding; `left_out` counts those missing from `findings`. `upcoming`
    exists only if later texts of the corpus change the text's citations.
    """

    name: str
    kind: str
    as_of: str
    holds: bool
    counts: dict[str, int]
    read_by_ocr: list[Number]
    omissions: OmissionsJson
    findings: list[FindingJson]
    left_out: int
    upcoming: Annotated[list[UpcomingJson], Field(default=[], exclude_if=lambda all_: not all_)]


MOST_LISTED = 1_000
"""Most findings listed by a server for one text."""
# Characters of all listed findings together.
_MOST_CHARACTERS = 400_000


def check_as_json(report: CheckReport, most: int | None = None) -> CheckJson:
    """Return the JSON of ``localrag check``, with at most `most` findings, the worst first."""
    listed = report.findings if most is None else _worst(report.findings, most)
    given = {
        "name": report.name,
        "kind": report.kind,
        "as_of": report.as_of,
        "holds": report.holds,
        "counts": report.counts,
        "read_by_ocr": report.confidences,
        "omissions": report.omissions,
        "findings": listed,
        "left_out": len(report.findings) - len(listed),
        "upcoming": report.upcoming[:most],
    }
    return filled(CheckJson, given)


def _worst(findings: Sequence[Finding], most: int) -> list[Finding]:
    ranked = sorted(range(len(findings)), key=lambda at: WORST_FIRST.index(findings[at].verdict))
    left = _MOST_CHARACTERS
    chosen: list[int] = []
    for place in ranked[:most]:
        left -= _size(findings[place])
        if left < 0 and chosen:
            break
        chosen.append(place)
    return [findings[at] for at in sorted(chosen)]


def _size(finding: Finding) -> int:
    diff = sum(len(part.said) + len(part.law) for part in finding.diff)
    return len(finding.said) + len(finding.evidence) + len(finding.provision) + diff


class AmendmentJson(Json):
    """A later state of a law, and its changes; `before` is null for a new law."""

    day: str
    amended_by: Annotated[str, at("after"), BeforeValidator(amended_by)]
    before: StateJson | None
    after: StateJson
    changes: list[ChangeJson]


class PendingJson(Json):
    """Amendments to come, or the citations of a text changed by them: ``localrag pending``."""

    as_of: str
    amendments: list[AmendmentJson]
    upcoming: list[UpcomingJson]


def pending_as_json(
    as_of: date, amendments: Iterable[Amendment] = (), changed: Iterable[Upcoming] = ()
) -> PendingJson:
    """Return the JSON of ``localrag pending``."""
    found = {"as_of": as_of.isoformat(), "amendments": amendments, "upcoming": changed}
    return filled(PendingJson, found)
