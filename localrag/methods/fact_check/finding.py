"""Steps 1 to 3 of checking a claim: documents, questions, and the sentences found for them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby
from time import perf_counter
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field, create_model

from localrag.corpus.store import CorpusStore
from localrag.errors import ModelUnusable
from localrag.facts import Fact, FactKind
from localrag.methods.catalogue import Case
from localrag.methods.toolkit import Toolkit, spans_of
from localrag.prompts import Language, language_of
from localrag.reading.evidence import Sentence, element
from localrag.reading.pieces import sentences_of
from localrag.reading.support import SupportScorer
from localrag.retrieval import rerank
from localrag.retrieval.pipeline import Retriever
from localrag.retrieval.types import Hit
from localrag_indexes.analysis.analyzer import split_sentences
from localrag_models.chat import Message
from localrag_models.errors import ReplyInvalid

QUESTIONS, SENTENCES = "claim questions", "sentences"
"""The call that splits a claim, and the stage that chooses sentences for a question."""

_LONGEST_QUESTION = 200


class FoundSentence(NamedTuple):
    """A sentence found for a question.

    Attributes:
        question: in words.
        sentence: not numbered until it is shown to a model.
        supplement: what a model wrote of the text around it; empty where nothing was written.
    """

    question: str
    sentence: Sentence
    supplement: str = ""

    @property
    def place(self) -> tuple[str, int]:
        """What tells it from every other sentence: its document, and where it begins there."""
        return self.sentence.passage.document_id, self.sentence.piece.start


Step = Callable[[Case, Toolkit, str, Sequence[FoundSentence]], list[FoundSentence]]
"""What is done with the sentences found for a question, best first; the string is its subject."""


class _ClaimQuestions(BaseModel):
    questions: list[str]


def documents(case: Case, toolkit: Toolkit) -> tuple[Hit, ...]:
    """Step 1: the passages nearest to the claim by meaning; by words where there are no vectors."""
    k = case.settings.documents
    return toolkit.search(case.query, k, words=False, meaning=True, subject="claim")


def questions(case: Case, toolkit: Toolkit) -> tuple[str, ...]:
    """Step 2: have the model ask what has to be known to check the claim.

    Returns:
        Each once. A reply that stays malformed, or holds no word, leaves the claim itself to be
        searched for, which the trace says.

    Raises:
        ModelUnusable: the model failed otherwise.
    """
    most = case.settings.questions
    messages = toolkit.prompt(
        "fact_check_questions", case.query, most=most, tag=element("text", [case.query.text])
    )
    one = Annotated[str, Field(min_length=1, max_length=_LONGEST_QUESTION)]
    listed = Annotated[list[one], Field(min_length=1, max_length=most)]
    shape = create_model("ClaimQuestions", __base__=_ClaimQuestions, questions=(listed, ...))
    written: Sequence[str] = ()
    try:
        written = toolkit.ask(messages, shape, QUESTIONS).questions
    except ModelUnusable as error:
        if error.kind != ReplyInvalid.__name__:
            raise
    asked = dict.fromkeys(" ".join(one.split()) for one in written if any(map(str.isalnum, one)))
    if not asked:
        toolkit.note(QUESTIONS, [Fact(FactKind.CLAIM_NOT_SPLIT)])
    return tuple(asked) or (case.query.text,)


def sentences(
    case: Case,
    toolkit: Toolkit,
    hits: Sequence[Hit],
    asked: Sequence[str],
    steps: Sequence[Step],
) -> list[FoundSentence]:
    """Step 3: the sentences of the passages that are nearest to each question.

    Args:
        case: gives how many.
        toolkit: of the claim.
        hits: the passages.
        asked: the questions.
        steps: what is done with the sentences of each question; with a reranker among them it has
            ``method.candidates`` to choose from.

    Returns:
        Question by question; a sentence that several find stands with the first of them.
    """
    settings = case.settings
    k = settings.candidates if reranked in steps else settings.sentences
    found: dict[tuple[str, int], FoundSentence] = {}
    # What a model wrote for a sentence holds for the next question that finds it.
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
    """A step: order sentences anew by the reranker, as they are shown; as many as are shown stay.

    Without a reranker they keep their order, which the trace says.
    """
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
    kept = kept[: case.settings.sentences]
    _note(toolkit, rerank.STAGE, kept, events, since, subject)
    return kept


def shown(
    toolkit: Toolkit,
    found: Sequence[FoundSentence],
    messages: Callable[[Sequence[FoundSentence]], Sequence[Message]],
) -> list[FoundSentence]:
    """The sentences numbered, as many as the context of the model holds.

    Raises:
        ModelUnusable: it does not hold a single one.
    """

    def placed(numbered: Sequence[Sentence]) -> list[FoundSentence]:
        return [one._replace(sentence=each) for one, each in zip(found, numbered, strict=False)]

    kept = toolkit.fitting_sentences(
        [one.sentence for one in found], lambda some: messages(placed(some))
    )
    return placed(kept)


def by_question(found: Sequence[FoundSentence]) -> list[tuple[str, list[FoundSentence]]]:
    """The sentences under the questions they were found for."""
    return [(asked, list(some)) for asked, some in groupby(found, lambda one: one.question)]


def _nearest(
    toolkit: Toolkit, hits: Sequence[Hit], asked: Sequence[str], k: int
) -> list[list[FoundSentence]]:
    """For each question the sentences of the hits that are nearest to it, best first."""
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
    """How near each sentence is to each question: by meaning, else by words."""
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


def _note(
    toolkit: Toolkit,
    stage: str,
    found: Sequence[FoundSentence],
    events: Sequence[Fact],
    since: float,
    subject: str,
) -> None:
    passages = dict.fromkeys(one.sentence.passage for one in found)
    hits = [Hit(passage, 1 / rank, rank, stage) for rank, passage in enumerate(passages, 1)]
    question = found[0].question if found else ""
    spans = spans_of(one.sentence for one in found)
    toolkit.note(stage, events, hits, perf_counter() - since, subject, question, spans)


# HEAD """Step 4 of checking a claim: the supplementary context of a sentence, written by a model.
#
# What a sentence leaves to the text around it (who "he" is, of which year it speaks) is written down
# beside it, so that the sentence can be weighed alone. A supplement is no quotation and carries
# nothing: what is cited is the sentence.
# """
#
SUPPLEMENT = "supplement"
"""The call that writes one."""

# Characters on either side of a sentence that are looked at for the sentences around it.
_REACH = 3_000
# Characters that a token holds at the least, by language: a supplement is bounded in characters, so
# that it ends where it must and is not cut off.
_CHARACTERS: dict[Language, int] = {"ja": 1, "en": 3}


class Surroundings(NamedTuple):
    """The text before and after a sentence."""

    before: str
    after: str


class _Supplement(BaseModel):
    context: str


def supplemented(
    case: Case, toolkit: Toolkit, subject: str, found: Sequence[FoundSentence]
) -> list[FoundSentence]:
    """A step: have the model write the supplementary context of each sentence.

    A sentence with nothing around it has none, and takes no call.

    Raises:
        ModelUnusable: the model failed, other than by a malformed reply or a prompt too long; what
            is told of these is in the trace.
    """
    return [_supplemented(case, toolkit, subject, one) for one in found]


def _supplemented(
    case: Case, toolkit: Toolkit, subject: str, found: FoundSentence
) -> FoundSentence:
    if found.supplement:
        return found
    sentence = found.sentence
    with toolkit.store() as store:
        around = surroundings(store, sentence, case.settings.around)
    if not any(around):
        return found
    texts = [case.query.text, found.question, sentence.passage.header, sentence.piece.text, *around]
    messages = toolkit.prompt(
        "fact_check_supplement",
        case.query,
        searched=found.question,
        place=sentence.passage.header,
        sentence=sentence.piece.text,
        before=around.before,
        after=around.after,
        tag=element("text", texts),
    )
    longest = _CHARACTERS[language_of(case.query.text)] * case.settings.supplement
    try:
        reply = toolkit.ask(messages, _shape(longest), SUPPLEMENT)
    except ModelUnusable as error:
        if not error.of_one_request:
            raise
        toolkit.note(SUPPLEMENT, [Fact(FactKind.NOT_SUPPLEMENTED)], subject=subject)
        return found
    return found._replace(supplement=" ".join(reply.context.split()))


def put_before(found: FoundSentence) -> FoundSentence:
    """The sentence with its supplement before it, as one text: what the paper shows a model."""
    if not found.supplement:
        return found
    text = f"{found.supplement} {found.sentence.piece.text}"
    return found._replace(sentence=replace(found.sentence, rewritten=text))


def surroundings(store: CorpusStore, sentence: Sentence, count: int) -> Surroundings:
    """Up to so many sentences on either side of a sentence, in its document."""
    piece, document = sentence.piece, sentence.passage.document_id
    before = store.text(document, max(0, piece.start - _REACH), piece.start)
    after = store.text(document, piece.end, piece.end + _REACH)
    first = [before[start:end] for start, end in split_sentences(before)][-count:]
    last = [after[start:end] for start, end in split_sentences(after)][:count]
    return Surroundings("\n".join(first), "\n".join(last))


@cache
def _shape(longest: int) -> type[_Supplement]:
    written = Annotated[str, Field(min_length=1, max_length=longest)]
    return create_model("Supplement", __base__=_Supplement, context=(written, ...))
