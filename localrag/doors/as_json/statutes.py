"""Provisions, citations and states of laws as JSON."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator

from localrag.corpus.types import OMISSIONS, Locator, Omission, omission_notes
from localrag.doors.as_json import Json, OrNull, Plain, Stored, Words, at, filled
from localrag.doors.as_json.found import PassageJson
from localrag.search.affected import Affected
from localrag.search.finding import ResolvedCitation
from localrag.search.history import Comparison, History
from localrag.search.provision import LookedUp


class OmissionJson(Json):
    """A part of a file not in its text, or in it with a caution (`in_text`); `what` is English."""

    what: str
    count: int
    in_text: bool
    words: str


def _omissions(omissions: Iterable[Omission]) -> list[dict[str, Any]]:
    return [
        {
            "what": one.what,
            "count": one.count,
            "in_text": one.in_text,
            "words": omission_notes([one])[0],
        }
        for one in omissions
    ]


OmissionsJson = Annotated[list[OmissionJson], BeforeValidator(_omissions)]
"""The omissions of a file, also in the language in use."""


def _metadata(metadata: Mapping[str, str]) -> dict[str, str]:
    return {key: said for key, said in metadata.items() if key != OMISSIONS}


class DocumentJson(Json):
    """A document; of a law, one state, with its date in ``metadata.date``."""

    id: str
    title: str
    kind: str
    source: str
    followed: str
    not_yet: bool
    before_first: bool
    old: bool
    metadata: Annotated[dict[str, str], BeforeValidator(_metadata)]
    omissions: OmissionsJson


class LinkJson(Json):
    """A reference seen from one end; the id is empty for a law outside the corpus."""

    kind: str
    document_id: str
    locator: Annotated[str, at("locator.path")]
    label: str
    words: str
    exists: bool
    deleted: bool


class DelegationJson(Json):
    """A matter left to an order, and the provisions of the order."""

    locator: Annotated[str, at("locator.path")]
    start: int
    end: int
    instrument: str
    words: str
    filled_in_by: list[LinkJson]
    has_order: bool


class ReadWordsJson(Json):
    """Words read instead of others (読替え)."""

    replaced: str
    replacing: str
    times: int | None


class ReadingsJson(Json):
    """A provision with words read otherwise, and the words."""

    kind: Annotated[str, at("link.kind")]
    document_id: Annotated[str, at("link.document_id")]
    locator: Annotated[str, at("link.locator.path")]
    label: Annotated[str, at("link.label")]
    words: Annotated[str, at("link.words")]
    exists: Annotated[bool, at("link.exists")]
    deleted: Annotated[bool, at("link.deleted")]
    told: bool
    part: str
    readings: Annotated[list[ReadWordsJson], at("words")]


class PieceJson(Json):
    """A piece of a text as read; `replaced` is the text of the law."""

    text: str
    replaced: str


class AsReadJson(Json):
    """The text of a passage as another provision has it read; made by code, no text of a law."""

    by: PassageJson
    text: str
    pieces: list[PieceJson]
    left_out: list[ReadWordsJson]


class TermJson(Json):
    """A defined term, and the provision with its definition."""

    term: str
    scope: str
    passage: PassageJson


class KnownJson(Json):
    """A triple and its passage."""

    passage_id: str
    triple: Plain


class ProvisionJson(Json):
    """A passage and its links: the JSON of ``localrag show``."""

    passage: PassageJson
    document: DocumentJson
    place: list[str]
    deleted: Annotated[bool, at("is_deleted")]
    delegations: list[DelegationJson]
    filled_in_by: list[LinkJson]
    refers_to: list[LinkJson]
    referred_by: list[LinkJson]
    reads: list[ReadingsJson]
    read_by: list[LinkJson]
    changed_by: list[PassageJson]
    as_read: AsReadJson | None
    terms: list[TermJson]
    known: list[KnownJson]


class ProvisionsJson(Json):
    """The provisions of a list or a range, and the number left out."""

    provisions: list[ProvisionJson]
    left_out: int


def _path(locator: Locator | None) -> str | None:
    return locator.path if locator else None


class PartJson(Json):
    """A heading of a law with its parts, or an article."""

    title: str
    passage_id: OrNull
    first: Annotated[str | None, BeforeValidator(_path)]
    last: Annotated[str | None, BeforeValidator(_path)]
    parts: list["PartJson"]


class ContentsJson(Json):
    """The contents of a law or of a part of it."""

    document: DocumentJson
    place: list[str]
    parts: list[PartJson]


LookedUpJson = ProvisionJson | ProvisionsJson | ContentsJson
"""One provision, several, or the contents of a law."""


def looked_up_as_json(found: LookedUp) -> LookedUpJson:
    """Return the JSON of ``localrag show``: a provision, several, or contents."""
    if found.contents is not None:
        return filled(ContentsJson, found.contents)
    if len(found.provisions) == 1 and not found.left_out:
        return filled(ProvisionJson, found.provisions[0])
    return filled(ProvisionsJson, found)


class PlaceJson(Json):
    """A provision, or a whole law without passage and locator."""

    document_id: str
    locator: str
    passage_id: str
    label: str
    state: str


class ResolvedJson(Json):
    """A citation as written, and its candidates.

    One candidate is certain, several are ambiguous. Without any, `problem` gives the reason and
    `nearest` the closest provisions.
    """

    cited: str
    start: int
    end: int
    problem: Words
    candidates: list[PlaceJson]
    nearest: list[PlaceJson]


class ResolutionJson(Json):
    """The citations in their order."""

    citations: list[ResolvedJson]


def resolution_as_json(citations: tuple[ResolvedCitation, ...]) -> ResolutionJson:
    """Return resolved citations as JSON."""
    return filled(ResolutionJson, {"citations": citations})


# States of laws


def _date(metadata: Mapping[str, str]) -> str:
    return metadata.get("date", "")


def _amending_law(metadata: Mapping[str, str]) -> str:
    return metadata.get("amending_law", "")


class StateJson(Json):
    """A state of a law: its first day in force, and the amending law."""

    id: Annotated[str, at("state_id")]
    date: Annotated[str, at("metadata"), BeforeValidator(_date)]
    followed: str
    amending_law: Annotated[str, at("metadata"), BeforeValidator(_amending_law)]
    source: str


class LineJson(Json):
    """A line of an article, and its place."""

    place: str
    text: str


class DifferenceJson(Json):
    """A line changed or moved."""

    kind: str
    before: LineJson | None
    after: LineJson | None


class ChangeJson(Json):
    """The change of one article."""

    kind: str
    before: PassageJson | None
    after: PassageJson | None
    differences: list[DifferenceJson]


class VersionJson(Json):
    """A provision in one state, and its change since the state before."""

    state: StateJson
    passage: PassageJson | None
    change: ChangeJson | None


class HistoryJson(Json):
    """A provision through the states of its law: the JSON of ``localrag history``."""

    title: str
    versions: list[VersionJson]
    notes: list[Stored]


class ComparisonJson(Json):
    """Two states of a law and their differences: the JSON of ``localrag diff``."""

    before: StateJson
    after: StateJson
    changes: list[ChangeJson]
    left_out: list[Stored]
    notes: list[Stored]


def history_as_json(found: History) -> HistoryJson:
    """Return the JSON of ``localrag history``."""
    return filled(HistoryJson, found)


def comparison_as_json(found: Comparison) -> ComparisonJson:
    """Return the JSON of ``localrag diff``."""
    return filled(ComparisonJson, found)


class DependentJson(Json):
    """A provision depending on the last place of its path; the path begins at the target."""

    id: Annotated[str, at("place.id")]
    law: str
    label: str
    kinds: list[str]
    path: list[str]


class LawCountJson(Json):
    """A law, and the number of its provisions depending on the target itself."""

    document_id: str
    title: str
    provisions: int
    kinds: dict[str, int]


class AffectedJson(Json):
    """Dependents of a provision or a law: the JSON of ``localrag affected``."""

    id: Annotated[str, at("place.id")]
    label: str
    laws: list[LawCountJson]
    dependents: list[DependentJson]
    not_followed: int


def affected_as_json(found: Affected) -> AffectedJson:
    """Return the JSON of ``localrag affected``."""
    return filled(AffectedJson, found)
