"""Corpora, what a search finds in them, and answers, as JSON."""

from typing import TYPE_CHECKING, Any, cast

from pydantic_core import to_jsonable_python

# Before Python 3.12 Pydantic makes schemas of this one alone.
from typing_extensions import TypedDict

from localrag.answer.types import Answer, Citation, FactCheck
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Passage
from localrag.corpus.workspace import CorpusPaths
from localrag.search.indexing.state import state, vector_state
from localrag.search.query import SNIPPET, snippet
from localrag.search.types import Hit, ModelCall, Query, Trace
from localrag.text.facts import told

if TYPE_CHECKING:
    from localrag.search.reading import Retrieval


class PassageJson(TypedDict):
    """A passage; `locator` is the statute place, `start` and `end` its span in its document.

    `confidence` is how sure OCR is of its characters, null where the file itself has the text.
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
    """Which passages may be found; an empty list allows all."""

    documents: list[str]
    kinds: list[str]
    law_types: list[str]
    layers: list[str]
    date_from: str
    date_to: str
    where: list[tuple[str, str]]


class QueryJson(TypedDict):
    """What was asked."""

    text: str
    options: list[str]
    filters: FiltersJson


class SnippetJson(TypedDict):
    """The part of a text that matches, and the spans in it that do."""

    start: int
    end: int
    highlights: list[tuple[int, int]]


class HitJson(TypedDict):
    """A passage that a search has found."""

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
    """A law as a question names it; without ids where the corpus lacks it."""

    words: str
    start: int
    end: int
    law_ids: list[str]


class StageHitJson(TypedDict):
    """A hit as a stage had it."""

    rank: int
    score: float
    passage_id: str
    reason: str


class WordingJson(TypedDict):
    """An everyday word, and what was searched for besides."""

    said: str
    phrases: list[str]


class EventJson(TypedDict):
    """What a stage left out or switched off.

    `kind` is a code that never changes, `fields` are the values that the words name.
    """

    kind: str
    fields: dict[str, Any]
    words: str


class StageJson(TypedDict):
    """What one stage of the retrieval did."""

    stage: str
    subject: str
    query: str
    seconds: float
    hits: list[StageHitJson]
    events: list[EventJson]
    wordings: list[WordingJson]


class RetrievalJson(TypedDict):
    """What a search has found: the JSON of ``localrag search``."""

    query: QueryJson
    laws: list[LawNamedJson]
    absent: list[str]
    hits: list[HitJson]
    trace: list[StageJson]


def retrieval_as_json(query: Query, retrieval: "Retrieval") -> RetrievalJson:
    """Give the JSON of ``localrag search``."""
    return {
        "query": _query(query),
        "laws": to_jsonable_python(retrieval.laws),
        "absent": list(retrieval.absent),
        "hits": [_hit(query, hit) for hit in retrieval.hits],
        "trace": _trace(retrieval.trace),
    }


def passage_as_json(passage: Passage) -> PassageJson:
    """Give a passage as JSON."""
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
    """Something that a claim says and its sentences do not."""

    kind: str
    written: str


class ClaimJson(TypedDict):
    """A statement of an answer; `citations` are numbers, from 1, of those of the answer."""

    text: str
    citations: list[int]
    mismatches: list[MismatchJson]
    moved: bool


class CitationJson(TypedDict):
    """A verbatim quotation and its place.

    `state` is the day of this wording of the law. `page` and `last_page` are 0 without pages.
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
    """A sentence that was found for a claim that was asked about, and how it stands to it."""

    question: str
    citation: CitationJson
    supplement: str
    stance: str | None
    differs: list[MismatchJson]
    by_code: bool


class FactCheckJson(TypedDict):
    """What became of a claim that was asked about."""

    veracity: str
    questions: list[str]
    evidence: list[CheckedEvidenceJson]


class CallJson(TypedDict):
    """What one call of a model cost."""

    model: str
    prompt: int
    cached: int | None
    completion: int
    seconds: float
    purpose: str
    problem: str


class NearestJson(TypedDict):
    """A passage that the search found and the answer does not quote; it may not answer."""

    passage_id: str
    label: str
    beginning: str


class AnswerJson(TypedDict):
    """An answer with what it rests on: the JSON of ``localrag ask``.

    `quotations` are what answers without a model, where a model wrote what code could not support.
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
    """Give the JSON of ``localrag ask``."""
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
    """A corpus with what it holds and how its indexes are: the JSON of ``localrag list``."""

    corpus: str
    documents: int
    passages: int
    characters: int
    index: str
    vectors: str


def corpus_as_json(place: CorpusPaths) -> CorpusJson:
    """Give the JSON of ``localrag list`` for one corpus.

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
