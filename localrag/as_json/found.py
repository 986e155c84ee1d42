"""Corpora, hits and answers as JSON."""

from typing import TYPE_CHECKING, Any, cast

from pydantic_core import to_jsonable_python

# Pydantic needs this one before Python 3.12.
from typing_extensions import TypedDict

from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Passage
from localrag.facts import told
from localrag.ingest.state import state, vector_state
from localrag.reading.types import Answer, Citation, FactCheck
from localrag.retrieval.query import SNIPPET, snippet
from localrag.retrieval.types import Hit, ModelCall, Query, Trace
from localrag.workspace import CorpusPaths

if TYPE_CHECKING:
    from localrag.retrieval.reading import Retrieval


class PassageJson(TypedDict):
    """A passage; `locator` is the statute place, `start` and `end` its span in the document.

    `confidence` rates the OCR of its text; null if the file has the text itself.
    """

    id: str
    document_id: str
    layer: str
    header: str
    locator: str
    section: str
    page: int
    confidence: float | None
    start: int
    end: int
    text: str
    triple: dict[str, Any] | None


# Searching


class FiltersJson(TypedDict):
    """The filters of a search; an empty list allows all."""

    documents: list[str]
    kinds: list[str]
    law_types: list[str]
    layers: list[str]
    date_from: str
    date_to: str
    where: list[tuple[str, str]]


class QueryJson(TypedDict):
    """The question."""

    text: str
    options: list[str]
    filters: FiltersJson


class SnippetJson(TypedDict):
    """The matching part of a text, and the matching spans in it."""

    start: int
    end: int
    highlights: list[tuple[int, int]]


class HitJson(TypedDict):
    """A passage found by a search."""

    rank: int
    score: float
    stage: str
    reason: str
    beside: bool
    fills: str
    punishes: str
    by_model: list[str]
    passage: PassageJson
    snippet: SnippetJson


class LawNamedJson(TypedDict):
    """A law named by a question; no ids if the corpus does not have it."""

    words: str
    start: int
    end: int
    law_ids: list[str]


class StageHitJson(TypedDict):
    """A hit of one stage."""

    rank: int
    score: float
    passage_id: str
    reason: str


class WordingJson(TypedDict):
    """An everyday word, and the phrases searched for besides."""

    said: str
    phrases: list[str]


class EventJson(TypedDict):
    """Something a stage left out or switched off.

    `kind` is a stable code; `fields` are the values named by the words.
    """

    kind: str
    fields: dict[str, Any]
    words: str


class StageJson(TypedDict):
    """One stage of the search."""

    stage: str
    subject: str
    query: str
    seconds: float
    hits: list[StageHitJson]
    events: list[EventJson]
    wordings: list[WordingJson]


class RetrievalJson(TypedDict):
    """The result of a search: the JSON of ``localrag search``."""

    query: QueryJson
    laws: list[LawNamedJson]
    absent: list[str]
    hits: list[HitJson]
    trace: list[StageJson]


def retrieval_as_json(query: Query, retrieval: "Retrieval") -> RetrievalJson:
    """Return the JSON of ``localrag search``."""
    return {
        "query": _query(query),
        "laws": to_jsonable_python(retrieval.laws),
        "absent": list(retrieval.absent),
        "hits": [_hit(query, hit) for hit in retrieval.hits],
        "trace": _trace(retrieval.trace),
    }


def passage_as_json(passage: Passage) -> PassageJson:
    """Return a passage as JSON."""
    return {
        "id": passage.id,
        "document_id": passage.document_id,
        "layer": passage.layer,
        "header": passage.header,
        "locator": passage.locator.path,
        "section": passage.locator.section,
        "page": passage.locator.page,
        "confidence": passage.locator.confidence,
        "start": passage.start,
        "end": passage.end,
        "text": passage.text,
        "triple": to_jsonable_python(passage.triple),
    }


def _query(query: Query) -> QueryJson:
    return {
        "text": query.text,
        "options": list(query.options),
        "filters": to_jsonable_python(query.filters),
    }


def _hit(query: Query, hit: Hit) -> HitJson:
    return {
        "rank": hit.rank,
        "score": hit.score,
        "stage": hit.stage,
        "reason": str(hit.reason or ""),
        "beside": hit.beside,
        "fills": hit.fills,
        "punishes": hit.punishes,
        "by_model": [str(label) for label in hit.by_model],
        "passage": passage_as_json(hit.passage),
        "snippet": to_jsonable_python(snippet(query, hit.passage.text, SNIPPET)),
    }


def _trace(trace: Trace) -> list[StageJson]:
    return [
        {
            "stage": record.stage,
            "subject": record.subject,
            "query": record.query,
            "seconds": record.seconds,
            "hits": [
                {
                    "rank": hit.rank,
                    "score": hit.score,
                    "passage_id": hit.passage.id,
                    "reason": str(hit.reason or ""),
                }
                for hit in record.hits
            ],
            "events": [cast(EventJson, event.stored()) for event in record.events],
            "wordings": [
                {"said": word.said, "phrases": list(word.phrases)} for word in record.wordings
            ],
        }
        for record in trace.stages
    ]


# Answers


class MismatchJson(TypedDict):
    """A part of a claim missing from its sentences."""

    kind: str
    written: str


class ClaimJson(TypedDict):
    """A statement of an answer; `citations` are numbers of the answer's citations, from 1."""

    text: str
    citations: list[int]
    mismatches: list[MismatchJson]
    moved: bool


class CitationJson(TypedDict):
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
    confidence: float | None
    changes: str
    page: int
    last_page: int
    verified: bool
    problem: str


class CheckedEvidenceJson(TypedDict):
    """A sentence found for a claim, and its stance."""

    question: str
    citation: CitationJson
    supplement: str
    stance: str | None
    differs: list[MismatchJson]
    by_code: bool


class FactCheckJson(TypedDict):
    """The verdict on a claim, with its evidence."""

    veracity: str
    questions: list[str]
    evidence: list[CheckedEvidenceJson]


class CallJson(TypedDict):
    """The cost of one call of a model."""

    model: str
    prompt: int
    cached: int | None
    completion: int
    seconds: float
    purpose: str
    problem: str


class NearestJson(TypedDict):
    """A passage near the question; the answer does not quote it."""

    passage_id: str
    label: str
    beginning: str


class AnswerJson(TypedDict):
    """An answer and its evidence: the JSON of ``localrag ask``.

    `quotations` answer without a model if code could not support the model's claims.
    """

    query: QueryJson
    read_as: str | None
    status: str
    label: str | None
    doubt: str | None
    text: str
    derivation: dict[str, Any] | None
    checked: FactCheckJson | None
    quotations: list[CitationJson]
    claims: list[ClaimJson]
    citations: list[CitationJson]
    nearest: list[NearestJson]
    absent: list[str]
    trace: list[StageJson]
    calls: list[CallJson]


def answer_as_json(query: Query, answer: Answer) -> AnswerJson:
    """Return the JSON of ``localrag ask``."""
    return {
        "query": _query(query),
        "read_as": answer.read_as or None,
        "status": answer.status.value,
        "label": answer.label or None,
        "doubt": told(answer.doubts) or None,
        "text": answer.text,
        "derivation": to_jsonable_python(answer.derivation),
        "checked": None if answer.checked is None else _checked(answer.checked),
        "quotations": [_worded(citation) for citation in answer.quotations],
        "claims": to_jsonable_python(answer.claims),
        "citations": [_worded(citation) for citation in answer.citations],
        "nearest": to_jsonable_python(answer.nearest),
        "absent": list(answer.absent),
        "trace": _trace(answer.trace),
        "calls": [_worded(call) for call in answer.trace.calls],
    }


def _checked(found: FactCheck) -> FactCheckJson:
    return {
        "veracity": found.veracity.value,
        "questions": list(found.questions),
        "evidence": [
            cast(CheckedEvidenceJson, to_jsonable_python(one) | {"citation": _worded(one.citation)})
            for one in found.evidence
        ],
    }


def _worded(value: Citation | ModelCall) -> Any:
    return {**to_jsonable_python(value), "problem": str(value.problem or "")}


# Corpora


class CorpusJson(TypedDict):
    """A corpus, its size and the state of its indexes: the JSON of ``localrag list``."""

    corpus: str
    documents: int
    passages: int
    characters: int
    index: str
    vectors: str


def corpus_as_json(place: CorpusPaths) -> CorpusJson:
    """Return the JSON of ``localrag list`` for one corpus.

    Raises:
        NotFoundError: there is no such corpus.
        StoreError: its store is damaged.
    """
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
