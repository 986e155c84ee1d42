"""Provisions, citations and states of laws as JSON."""

from collections.abc import Iterable
from typing import Any, cast

from pydantic_core import to_jsonable_python

# Pydantic needs this one before Python 3.12.
from typing_extensions import TypedDict

from localrag.as_json.found import PassageJson, passage_as_json
from localrag.contents import Contents, Part
from localrag.corpus.store import DocumentInfo
from localrag.corpus.types import OMISSIONS, Omission, omission_notes
from localrag.finding import ResolvedCitation
from localrag.history import Comparison, History
from localrag.history.comparing import Change, Line
from localrag.provision import (
    Delegation,
    LookedUp,
    Provision,
    ProvisionLink,
    ProvisionReadings,
)
from localrag.statutes.applied import ReadText


class OmissionJson(TypedDict):
    """A part of a file not in its text, or in it with a caution (`in_text`); `what` is English."""

    what: str
    count: int
    in_text: bool
    words: str


class DocumentJson(TypedDict):
    """A document; of a law, one state, with its date in ``metadata.date``."""

    id: str
    title: str
    kind: str
    source: str
    followed: str
    not_yet: bool
    before_first: bool
    old: bool
    metadata: dict[str, str]
    omissions: list[OmissionJson]


class LinkJson(TypedDict):
    """A reference seen from one end; the id is empty for a law outside the corpus."""

    kind: str
    document_id: str
    locator: str
    label: str
    words: str
    exists: bool
    deleted: bool


class DelegationJson(TypedDict):
    """A matter left to an order, and the provisions of the order."""

    locator: str
    start: int
    end: int
    instrument: str
    words: str
    filled_in_by: list[LinkJson]
    has_order: bool


class ReadWordsJson(TypedDict):
    """Words read instead of others (読替え)."""

    replaced: str
    replacing: str
    times: int | None


class ReadingsJson(LinkJson):
    """A provision with words read otherwise, and the words."""

    told: bool
    part: str
    readings: list[ReadWordsJson]


class PieceJson(TypedDict):
    """A piece of a text as read; `replaced` is the text of the law."""

    text: str
    replaced: str


class AsReadJson(TypedDict):
    """The text of a passage as another provision has it read; made by code, no text of a law."""

    by: PassageJson
    text: str
    pieces: list[PieceJson]
    left_out: list[ReadWordsJson]


class TermJson(TypedDict):
    """A defined term, and the provision with its definition."""

    term: str
    scope: str
    passage: PassageJson


class KnownJson(TypedDict):
    """A triple and its passage."""

    passage_id: str
    triple: dict[str, Any]


class ProvisionJson(TypedDict):
    """A passage and its links: the JSON of ``localrag show``."""

    passage: PassageJson
    document: DocumentJson
    place: list[str]
    deleted: bool
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


class ProvisionsJson(TypedDict):
    """The provisions of a list or a range, and the number left out."""

    provisions: list[ProvisionJson]
    left_out: int


class PartJson(TypedDict):
    """A heading of a law with its parts, or an article."""

    title: str
    passage_id: str | None
    first: str | None
    last: str | None
    parts: list["PartJson"]


class ContentsJson(TypedDict):
    """The contents of a law or of a part of it."""

    document: DocumentJson
    place: list[str]
    parts: list[PartJson]


LookedUpJson = ProvisionJson | ProvisionsJson | ContentsJson
"""All that a citation names: one provision, several, or what a law holds."""


def looked_up_as_json(found: LookedUp) -> LookedUpJson:
    """Return the JSON of ``localrag show``: a provision, several, or contents."""
    if found.contents is not None:
        return _contents(found.contents)
    if len(found.provisions) == 1 and not found.left_out:
        return provision_as_json(found.provisions[0])
    views = [provision_as_json(view) for view in found.provisions]
    return {"provisions": views, "left_out": found.left_out}


def provision_as_json(view: Provision) -> ProvisionJson:
    """Return a provision with its links as JSON."""
    return {
        "passage": passage_as_json(view.passage),
        "document": _document(view.document),
        "place": list(view.place),
        "deleted": view.is_deleted,
        "delegations": [_delegation(of) for of in view.delegations],
        "filled_in_by": [_link(link) for link in view.filled_in_by],
        "refers_to": [_link(link) for link in view.refers_to],
        "referred_by": [_link(link) for link in view.referred_by],
        "reads": [_readings(readings) for readings in view.reads],
        "read_by": [_link(link) for link in view.read_by],
        "changed_by": list(map(passage_as_json, view.changed_by)),
        "as_read": None if view.as_read is None else _as_read(view.as_read),
        "terms": [
            {"term": term.term, "scope": term.scope, "passage": passage_as_json(term.passage)}
            for term in view.terms
        ],
        "known": [
            {"passage_id": known.passage_id, "triple": to_jsonable_python(known.triple)}
            for known in view.known
        ],
    }


def _contents(contents: Contents) -> ContentsJson:
    return {
        "document": _document(contents.document),
        "place": list(contents.place),
        "parts": [_part(part) for part in contents.parts],
    }


def _part(part: Part) -> PartJson:
    return {
        "title": part.title,
        "passage_id": part.passage_id or None,
        "first": part.first.path if part.first else None,
        "last": part.last.path if part.last else None,
        "parts": [_part(one) for one in part.parts],
    }


def _document(document: DocumentInfo) -> DocumentJson:
    return {
        "id": document.id,
        "title": document.title,
        "kind": document.kind,
        "source": document.source,
        "followed": document.followed,
        "not_yet": document.not_yet,
        "before_first": document.before_first,
        "old": document.old,
        "metadata": {key: said for key, said in document.metadata.items() if key != OMISSIONS},
        "omissions": omissions_as_json(document.omissions),
    }


def omissions_as_json(omissions: Iterable[Omission]) -> list[OmissionJson]:
    """Return the omissions of a file as JSON, also in the language in use."""
    return [
        {
            "what": one.what,
            "count": one.count,
            "in_text": one.in_text,
            "words": omission_notes([one])[0],
        }
        for one in omissions
    ]


def _delegation(of: Delegation) -> Any:
    return {
        **to_jsonable_python(of),
        "locator": of.locator.path,
        "filled_in_by": [_link(link) for link in of.filled_in_by],
    }


def _link(link: ProvisionLink) -> Any:
    return {**to_jsonable_python(link), "locator": link.locator.path}


def _readings(readings: ProvisionReadings) -> Any:
    words = [to_jsonable_python(words) for words in readings.words]
    told = {"told": readings.told, "part": readings.part, "readings": words}
    return {**_link(readings.link), **told}


def _as_read(text: ReadText) -> AsReadJson:
    return {
        "by": passage_as_json(text.by),
        "text": text.text,
        "pieces": [{"text": piece.text, "replaced": piece.replaced} for piece in text.pieces],
        "left_out": [to_jsonable_python(words) for words in text.left_out],
    }


class PlaceJson(TypedDict):
    """A provision, or a whole law without passage and locator."""

    document_id: str
    locator: str
    passage_id: str
    label: str
    state: str


class ResolvedJson(TypedDict):
    """A citation as written, and its candidates.

    One candidate is certain, several are ambiguous. Without any, `problem` gives the reason and
    `nearest` the closest provisions.
    """

    cited: str
    start: int
    end: int
    problem: str
    candidates: list[PlaceJson]
    nearest: list[PlaceJson]


class ResolutionJson(TypedDict):
    """The citations in their order."""

    citations: list[ResolvedJson]


def resolution_as_json(citations: tuple[ResolvedCitation, ...]) -> ResolutionJson:
    """Return resolved citations as JSON."""
    return {
        "citations": [
            {
                "cited": one.cited,
                "start": one.start,
                "end": one.end,
                "problem": str(one.problem or ""),
                "candidates": [to_jsonable_python(place) for place in one.candidates],
                "nearest": [to_jsonable_python(place) for place in one.nearest],
            }
            for one in citations
        ]
    }


# States of laws


class StateJson(TypedDict):
    """A state of a law: its first day in force, and the amending law."""

    id: str
    date: str
    followed: str
    amending_law: str
    source: str


class LineJson(TypedDict):
    """A line of an article, and its place."""

    place: str
    text: str


class DifferenceJson(TypedDict):
    """A line changed or moved."""

    kind: str
    before: LineJson | None
    after: LineJson | None


class ChangeJson(TypedDict):
    """The change of one article."""

    kind: str
    before: PassageJson | None
    after: PassageJson | None
    differences: list[DifferenceJson]


class VersionJson(TypedDict):
    """A provision in one state, and its change since the state before."""

    state: StateJson
    passage: PassageJson | None
    change: ChangeJson | None


class HistoryJson(TypedDict):
    """A provision through the states of its law: the JSON of ``localrag history``."""

    title: str
    versions: list[VersionJson]
    notes: list["FactJson"]


class FactJson(TypedDict):
    """A note: its kind, its fields, and its words."""

    kind: str
    fields: dict[str, Any]
    words: str


class ComparisonJson(TypedDict):
    """Two states of a law and their differences: the JSON of ``localrag diff``."""

    before: StateJson
    after: StateJson
    changes: list[ChangeJson]
    left_out: list[FactJson]
    notes: list[FactJson]


def history_as_json(found: History) -> HistoryJson:
    """Return the JSON of ``localrag history``."""
    return {
        "title": found.title,
        "versions": [
            {
                "state": _state(version.state),
                "passage": passage_as_json(version.passage) if version.passage else None,
                "change": _change(version.change) if version.change else None,
            }
            for version in found.versions
        ],
        "notes": [cast(FactJson, fact.stored()) for fact in found.notes],
    }


def comparison_as_json(found: Comparison) -> ComparisonJson:
    """Return the JSON of ``localrag diff``."""
    return {
        "before": _state(found.before),
        "after": _state(found.after),
        "changes": [_change(change) for change in found.changes],
        "left_out": [cast(FactJson, fact.stored()) for fact in found.left_out],
        "notes": [cast(FactJson, fact.stored()) for fact in found.notes],
    }


def _state(state: DocumentInfo) -> StateJson:
    return {
        "id": state.state_id,
        "date": state.metadata.get("date", ""),
        "followed": state.followed,
        "amending_law": state.metadata.get("amending_law", ""),
        "source": state.source,
    }


def _change(change: Change) -> ChangeJson:
    return {
        "kind": change.kind.value,
        "before": passage_as_json(change.before) if change.before else None,
        "after": passage_as_json(change.after) if change.after else None,
        "differences": [
            {"kind": one.kind.value, "before": _line(one.before), "after": _line(one.after)}
            for one in change.differences
        ],
    }


def _line(line: Line | None) -> LineJson | None:
    return None if line is None else {"place": line.place, "text": line.text}
