"""Steps 1 to 4 of `fact-check`: documents, questions, sentences and their supplementary contexts.

A supplementary context is written by a model for one sentence: who "he" is, which year is meant. It
is no quotation and supports nothing. The citation is the sentence.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby
from time import perf_counter
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field, create_model

from localrag.answer.evidence import Sentence, element
from localrag.answer.pieces import sentences_of
from localrag.answer.prompts import Language, language_of
from localrag.answer.support import SupportScorer
from localrag.corpus.store import CorpusStore
from localrag.errors import ModelUnusable
from localrag.methods.catalogue import Case
from localrag.methods.multihop import SentenceSettings, each_once, none_if_malformed
from localrag.methods.toolkit import Toolkit
from localrag.search import ranking
from localrag.search.pipeline import Retriever
from localrag.search.types import Hit
from localrag.text.facts import Fact, FactKind
from localrag_indexes.analysis.analyzer import split_sentences
from localrag_models.chat import Message


class FactCheckSettings(SentenceSettings):
    """The numbers of the study; the defaults are the published ones."""

    documents: int = Field(
        50,
        ge=1,
        le=200,
        description="passages nearest to a claim, in which sentences are looked for",
    )
    questions: int = Field(
        3, ge=1, le=10, description="questions that a claim is split into at most"
    )
    candidates: int = Field(
        10, ge=1, le=100, description="sentences for a question that a reranker chooses from"
    )
    around: int = Field(
        5,
        ge=1,
        le=50,
        description="sentences on either side that a supplementary context is made of",
    )
    supplement: int = Field(
        768, ge=16, le=4096, description="tokens of a supplementary context at most"
    )
    slightest_sign: bool = Field(
        True,
        description="tell the model to take the slightest sign against a claim as a refutation",
    )


QUESTIONS, SENTENCES = "claim questions", "sentences"
"""The call that splits a claim, and the stage that chooses sentences for a question."""

_LONGEST_QUESTION = 200


class FoundSentence(NamedTuple):
    """A sentence found for a question."""

    question: str  # in words
    sentence: Sentence  # numbered when a model reads it
    supplement: str = ""  # its supplementary context, or ""

    @property
    def place(self) -> tuple[str, int]:
        """The document, and where the sentence begins in it."""
        return self.sentence.passage.document_id, self.sentence.piece.start


Step = Callable[[Case, Toolkit, str, Sequence[FoundSentence]], list[FoundSentence]]
"""A step for the sentences of a question, best first. The string names it in the trace."""


class _ClaimQuestions(BaseModel):
    questions: list[str]


def documents(case: Case, toolkit: Toolkit) -> tuple[Hit, ...]:
    """Step 1: the passages nearest in meaning to the claim; by words if there are no vectors."""
    k = FactCheckSettings.of(case.settings).documents
    return toolkit.search(case.query, k, words=False, meaning=True, subject="claim")


def questions(case: Case, toolkit: Toolkit) -> tuple[str, ...]:
    """Step 2: have the model ask questions to check the claim.

    It is the claim itself, with an event, if a reply is malformed twice or wordless.
    """
    most = FactCheckSettings.of(case.settings).questions
    messages = toolkit.prompt(
        "fact_check_questions", case.query, most=most, tag=element("text", [case.query.text])
    )
    one = Annotated[str, Field(min_length=1, max_length=_LONGEST_QUESTION)]
    listed = Annotated[list[one], Field(min_length=1, max_length=most)]
    shape = create_model("ClaimQuestions", __base__=_ClaimQuestions, questions=(listed, ...))
    try:
        written = toolkit.ask(messages, shape, QUESTIONS).questions
    except ModelUnusable as error:
        written = none_if_malformed(error)
    asked = each_once(written)
    if not asked:
        toolkit.note(QUESTIONS, [Fact(FactKind.CLAIM_NOT_SPLIT)])
    return asked or (case.query.text,)


def sentences(
    case: Case,
    toolkit: Toolkit,
    hits: Sequence[Hit],
    asked: Sequence[str],
    steps: Sequence[Step],
) -> list[FoundSentence]:
    """Step 3: the sentences of the passages nearest to each question, after some steps.

    With a reranker there are more candidates. A sentence is under the first question that finds it.
    """
    settings = FactCheckSettings.of(case.settings)
    k = settings.candidates if reranked in steps else settings.sentences
    found: dict[tuple[str, int], FoundSentence] = {}
    # The next question that finds a sentence uses its supplement again.
    written: dict[tuple[str, int], FoundSentence] = {}
    for number, some in enumerate(_nearest(toolkit, hits, asked, k), 1):
        some = [written.get(one.place, one)._replace(question=one.question) for one in some]
        for step in steps:
            some = step(case, toolkit, f"question {number}", some)
            written |= {one.place: one for one in some}
        for one in some:
            found.setdefault(one.place, one)
    return list(found.values())


def reranked(
    case: Case, toolkit: Toolkit, subject: str, found: Sequence[FoundSentence]
) -> list[FoundSentence]:
    """A step: keep the best sentences by the reranker; without one the first, with an event."""
    since = perf_counter()
    events = []
    kept = list(found)
    with toolkit.retriever() as retriever:
        model = retriever.models.rerank
        if model is None:
            events = [Fact(FactKind.NO_RERANKER)]
        elif found:
            read = model.read(found[0].question, [one.sentence.text for one in found])
            if isinstance(read, Fact):
                events = [read]
            else:
                best = sorted(range(len(found)), key=lambda at: -read[at])
                kept = [found[at] for at in best]
    kept = kept[: FactCheckSettings.of(case.settings).sentences]
    _note(toolkit, ranking.RERANK, kept, events, since, subject)
    return kept


def shown(
    toolkit: Toolkit,
    found: Sequence[FoundSentence],
    messages: Callable[[Sequence[FoundSentence]], Sequence[Message]],
) -> list[FoundSentence]:
    """The sentences fitting the context of the model, numbered."""

    def placed(numbered: Sequence[Sentence]) -> list[FoundSentence]:
        return [one._replace(sentence=each) for one, each in zip(found, numbered, strict=False)]

    kept = toolkit.fitting_sentences(
        [one.sentence for one in found], lambda some: messages(placed(some))
    )
    return placed(kept)


def by_question(found: Sequence[FoundSentence]) -> list[tuple[str, list[FoundSentence]]]:
    """The sentences under their questions."""
    return [(asked, list(some)) for asked, some in groupby(found, lambda one: one.question)]


def _note(
    toolkit: Toolkit,
    stage: str,
    found: Sequence[FoundSentence],
    events: Sequence[Fact],
    since: float,
    subject: str,
) -> None:
    shown, question = [one.sentence for one in found], found[0].question if found else ""
    toolkit.note_sentences(stage, shown, events, since=since, subject=subject, query=question)


def _nearest(
    toolkit: Toolkit, hits: Sequence[Hit], asked: Sequence[str], k: int
) -> list[list[FoundSentence]]:
    """The nearest sentences of the hits for each question, best first."""
    since = perf_counter()
    with toolkit.retriever() as retriever:
        pieces: dict[tuple[str, int], Sentence] = {}
        for hit in hits:
            for piece in sentences_of(retriever.store, hit.passage):
                if not any(map(str.isalnum, piece.text)):
                    continue
                place = hit.passage.document_id, piece.start
                pieces.setdefault(place, Sentence(0, piece, hit.passage))
        every = list(pieces.values())
        scores = _scores(retriever, asked, every) if every else [[] for _ in asked]
        events = [] if retriever.has_dense else [Fact(FactKind.WORDS_FOR_MEANING)]
    found = []
    for number, (question, row) in enumerate(zip(asked, scores, strict=True), 1):
        best = sorted(range(len(every)), key=lambda at: -row[at])[:k]
        some = [FoundSentence(question, every[at]) for at in best]
        _note(toolkit, SENTENCES, some, events, since, f"question {number}")
        found.append(some)
        since = perf_counter()
    return found


def _scores(
    retriever: Retriever, asked: Sequence[str], every: Sequence[Sentence]
) -> list[list[float]]:
    """The score of each sentence for each question: by meaning, else by words."""
    if retriever.models.dense is not None:
        likeness = retriever.models.dense.likeness(asked, [one.text for one in every])
        return [[float(cosine) for cosine in row] for row in likeness]
    rows = []
    for question in asked:
        scorer = SupportScorer(question, retriever.inverse_document_frequency)
        rows.append(
            [
                support.score
                for passage, some in groupby(every, lambda one: one.passage)
                for support in scorer.score([one.piece for one in some], passage.header, 0.0)
            ]
        )
    return rows


SUPPLEMENT = "supplement"
"""The call that writes a supplementary context."""

# Characters on either side of a sentence in which the sentences around it are looked for.
_REACH = 3_000
# Characters of a token, at least. The grammar limits characters, so no supplement is cut off.
_CHARACTERS: dict[Language, int] = {"ja": 1, "en": 3}


class _Supplement(BaseModel):
    context: str


def supplemented(
    case: Case, toolkit: Toolkit, subject: str, found: Sequence[FoundSentence]
) -> list[FoundSentence]:
    """A step: a model writes the context of each sentence; nothing around it takes no call."""
    return [_supplemented(case, toolkit, subject, one) for one in found]


def _supplemented(
    case: Case, toolkit: Toolkit, subject: str, found: FoundSentence
) -> FoundSentence:
    if found.supplement:
        return found
    sentence, settings = found.sentence, FactCheckSettings.of(case.settings)
    with toolkit.store() as store:
        before, after = surroundings(store, sentence, settings.around)
    if not before and not after:
        return found
    texts = [
        case.query.text,
        found.question,
        sentence.passage.header,
        sentence.piece.text,
        before,
        after,
    ]
    messages = toolkit.prompt(
        "fact_check_supplement",
        case.query,
        searched=found.question,
        place=sentence.passage.header,
        sentence=sentence.piece.text,
        before=before,
        after=after,
        tag=element("text", texts),
    )
    longest = _CHARACTERS[language_of(case.query.text)] * settings.supplement
    try:
        reply = toolkit.ask(messages, _shape(longest), SUPPLEMENT)
    except ModelUnusable as error:
        if not error.of_one_request:
            raise
        toolkit.note(SUPPLEMENT, [Fact(FactKind.NOT_SUPPLEMENTED)], subject=subject)
        return found
    return found._replace(supplement=" ".join(reply.context.split()))


def put_before(found: FoundSentence) -> FoundSentence:
    """The sentence with its supplement before it, as in the paper."""
    if not found.supplement:
        return found
    text = f"{found.supplement} {found.sentence.piece.text}"
    return found._replace(sentence=replace(found.sentence, rewritten=text))


def surroundings(store: CorpusStore, sentence: Sentence, count: int) -> tuple[str, str]:
    """Up to so many sentences before and after a sentence."""
    piece, document = sentence.piece, sentence.passage.document_id
    before = store.text(document, max(0, piece.start - _REACH), piece.start)
    after = store.text(document, piece.end, piece.end + _REACH)
    first = [before[start:end] for start, end in split_sentences(before)][-count:]
    last = [after[start:end] for start, end in split_sentences(after)][:count]
    return "\n".join(first), "\n".join(last)


@cache
def _shape(longest: int) -> type[_Supplement]:
    written = Annotated[str, Field(min_length=1, max_length=longest)]
    return create_model("Supplement", __base__=_Supplement, context=(written, ...))
