"""Corpora, hits and answers as JSON."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, cast

from pydantic import BeforeValidator, ValidationInfo

from localrag.answer.types import Answer
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import CorpusPaths
from localrag.doors.as_json import Json, Number, OrNull, Plain, Stored, Words, at, filled
from localrag.search.query import SNIPPET, Snippet, snippet
from localrag.search.types import Query
from localrag.search.units import state, vector_state
from localrag.text.facts import Fact, told

if TYPE_CHECKING:
    from localrag.search.reading import Retrieval


class PassageJson(Json):
    """A passage; `locator` is the statute place, `start` and `end` its span in the document.

    `confidence` rates the OCR of its text; null if the file has the text itself.
    """

    id: str
    document_id: str
    layer: str
    header: str
    locator: Annotated[str, at("locator.path")]
    section: Annotated[str, at("locator.section")]
    page: Annotated[int, at("locator.page")]
    confidence: Annotated[Number | None, at("locator.confidence")]
    start: int
    end: int
    text: str
    triple: Plain


# Searching


class FiltersJson(Json):
    """The filters of a search; an empty list allows all."""

    documents: list[str]
    parts: list[tuple[str, int, int]]
    kinds: list[str]
    law_types: list[str]
    layers: list[str]
    date_from: str
    date_to: str
    where: list[tuple[str, str]]
    phrases: list[str]


class QueryJson(Json):
    """The question."""

    text: str
    options: list[str]
    filters: FiltersJson


class SnippetJson(Json):
    """The matching part of a text, and the matching spans in it."""

    start: int
    end: int
    highlights: list[tuple[int, int]]


def _snippet(text: str, info: ValidationInfo) -> Snippet:
    return snippet(cast(Query, info.context), text, SNIPPET)


class HitJson(Json):
    """A passage found by a search."""

    rank: int
    score: Number
    stage: str
    reason: Words
    beside: bool
    fills: str
    punishes: str
    by_model: list[Words]
    passage: PassageJson
    snippet: Annotated[SnippetJson, at("passage.text"), BeforeValidator(_snippet)]


class LawNamedJson(Json):
    """A law named by a question; no ids if the corpus does not have it."""

    words: str
    start: int
    end: int
    law_ids: list[str]


class StageHitJson(Json):
    """A hit of one stage."""

    rank: int
    score: Number
    passage_id: Annotated[str, at("passage.id")]
    reason: Words


class WordingJson(Json):
    """An everyday word, and the phrases searched for besides."""

    said: str
    phrases: list[str]


class StageJson(Json):
    """One stage of the search."""

    stage: str
    subject: str
    query: str
    seconds: Number
    hits: list[StageHitJson]
    events: list[Stored]
    wordings: list[WordingJson]


class RetrievalJson(Json):
    """The result of a search: the JSON of ``localrag search``."""

    query: QueryJson
    laws: list[LawNamedJson]
    absent: list[str]
    hits: list[HitJson]
    trace: Annotated[list[StageJson], at("trace.stages")]


def retrieval_as_json(query: Query, retrieval: "Retrieval") -> RetrievalJson:
    """Return the JSON of ``localrag search``."""
    return filled(RetrievalJson, _Asked(query, retrieval), query)


# Answers


class MismatchJson(Json):
    """A part of a claim missing from its sentences."""

    kind: str
    written: str


class ClaimJson(Json):
    """A statement of an answer; `citations` are numbers of the answer's citations, from 1."""

    text: str
    citations: list[int]
    mismatches: list[MismatchJson]
    moved: bool


class CitationJson(Json):
    """A verbatim quotation and its place.

    `state` is the date of this text of the law. `page` and `last_page` are 0 without pages.
    """

    passage_id: str
    quote: str
    start: int
    end: int
    label: str
    state: str
    followed: str
    not_yet: bool
    before_first: bool
    beside: bool
    confidence: Number | None
    changes: str
    page: int
    last_page: int
    verified: bool
    problem: Words


class CheckedEvidenceJson(Json):
    """A sentence found for a claim, and its stance."""

    question: str
    citation: CitationJson
    supplement: str
    stance: str | None
    differs: list[MismatchJson]
    by_code: bool


class FactCheckJson(Json):
    """The verdict on a claim, with its evidence."""

    veracity: str
    questions: list[str]
    evidence: list[CheckedEvidenceJson]


class CallJson(Json):
    """The cost of one call of a model."""

    model: str
    prompt: int
    cached: int | None
    completion: int
    seconds: Number
    purpose: str
    problem: Words
    thought: int
    thinking: str
    notes: list[Words]


class NearestJson(Json):
    """A passage near the question; the answer does not quote it."""

    passage_id: str
    label: str
    beginning: str


def _doubt(facts: Iterable[Fact]) -> str | None:
    return told(facts) or None


class AnswerJson(Json):
    """An answer and its evidence: the JSON of ``localrag ask``.

    `quotations` answer without a model if code could not support the model's claims.
    """

    query: QueryJson
    read_as: OrNull
    status: str
    label: OrNull
    doubt: Annotated[str | None, at("doubts"), BeforeValidator(_doubt)]
    text: str
    derivation: Plain
    checked: FactCheckJson | None
    quotations: list[CitationJson]
    claims: list[ClaimJson]
    citations: list[CitationJson]
    nearest: list[NearestJson]
    absent: list[str]
    trace: Annotated[list[StageJson], at("trace.stages")]
    calls: Annotated[list[CallJson], at("trace.calls")]


def answer_as_json(query: Query, answer: Answer) -> AnswerJson:
    """Return the JSON of ``localrag ask``."""
    return filled(AnswerJson, _Asked(query, answer))


class _Asked:
    """The attributes of a result, and its query."""

    def __init__(self, query: Query, result: "Answer | Retrieval") -> None:
        self.query = query
        self._result = result

    def __getattr__(self, name: str) -> object:
        return getattr(self._result, name)


# Corpora


class CorpusJson(Json):
    """A corpus, its size and the state of its indexes: the JSON of ``localrag list``."""

    corpus: str
    documents: int
    passages: int
    characters: int
    index: str
    vectors: str


def corpus_as_json(place: CorpusPaths) -> CorpusJson:
    """Return the JSON of ``localrag list`` for one corpus; raises NotFoundError, StoreError."""
    with CorpusStore.open(place.store, read_only=True) as store:
        extent = store.extent()
        return {
            "corpus": place.name,
            "documents": extent.documents,
            "passages": extent.passages,
            "characters": extent.characters,
            "index": state(place, store).value,
            "vectors": vector_state(place, store).value,
        }
