"""PR3 (prepare, rewrite, retrieve, read): `pr3`, `pr3-plain` and `pr3-localrag`.

`pr3`, as published:

1. **Prepare**, once (`localrag prepare`): metadata of documents, synthetic questions with answers,
   and summaries of the questions for each combination of metadata.
2. **Rewrite.** One call. The model reads the summary of the metadata named by the user
   (``--where``), plans the look-up, and writes up to five queries.
3. **Retrieve.** The ten nearest synthetic questions of each query. Reciprocal rank fusion puts
   those first that several queries find. No query waits for the hits of another.
4. **Read.** One call, on question, queries, synthetic questions (as JSON) and examples. Every
   statement cites sources by number. Code inserts the sentences behind them and checks it.

`pr3-plain` writes queries without a summary. The baselines in chunks of text are in ``chunks.py``.

`pr3-localrag` is ours. It also searches for the question itself, and in passages by all stages; it
searches questions by vectors and words. Passages weigh as much as questions. Without ``--where``
the model reads the nearest summaries. It also reads the sentences behind the questions. The trace
lists the queries without a supported statement.

No method here answers about a law missing in the corpus: it quotes the nearest provisions.
The paper has no such case.

Source: Mombaerts et al., "Meta Knowledge for Retrieval Augmented Large Language Models" (2024).
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, Field

from localrag.answer.checking.polarity import is_statement
from localrag.answer.evidence import Sentence, ShownSentences, element
from localrag.answer.types import Answer, Status
from localrag.corpus.types import Passage
from localrag.errors import ModelUnusable
from localrag.language import N_
from localrag.methods.catalogue import Calls, Case, Purpose, register
from localrag.methods.generative import ClaimChecker, answer_of, drafted, reply_shape
from localrag.methods.multihop import each_once, none_if_malformed
from localrag.methods.toolkit import MessagesOf, Toolkit
from localrag.prepare.layers import MK_SUMMARIES, SYNTHETIC_QA, LayerText
from localrag.prepare.summaries import Place, Summary, named, summaries_for
from localrag.search.pipeline import Retriever
from localrag.search.query import analyzer, full_text
from localrag.search.types import Hit, Query
from localrag.text.facts import Fact, FactKind
from localrag_indexes.analysis.normalize import letters_of
from localrag_indexes.fusion import reciprocal_rank_fusion
from localrag_models.chat import Message

QUERIES, ASPECTS, STATEMENTS = "augmentation", "aspects", "statements"
"""Stages of the trace: the queries written, those without evidence, and what is no statement."""

MOST_QUERIES = 5
"""Queries that one question is augmented into, at most."""

AUGMENTED = Calls(fixed=2)
"""One call writes queries, one answers. The second is saved if nothing is found."""

SOURCE = N_("PR3: metadata, synthetic questions, meta knowledge summaries")

_LONGEST_QUERY = 200
# Summaries that a model reads if the user names no metadata.
_NEAREST = 3
# Synthetic questions found for a query.
_QUESTIONS = 10
_MOST_CLAIMS, _MOST_CITED, _LONGEST = 8, 4, 400

Asked = Sequence[tuple[Query, str]]
"""Queries, each with the name of its search in the trace."""


class _PlanReply(BaseModel):
    # The plan comes first, so that the queries follow from it.
    plan: Annotated[
        list[Annotated[str, Field(max_length=_LONGEST_QUERY)]], Field(max_length=MOST_QUERIES)
    ]
    queries: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=_LONGEST_QUERY)]],
        Field(min_length=1, max_length=MOST_QUERIES),
    ]


# Step 2: rewrite.


def augmented(toolkit: Toolkit, asked: Query, under: Sequence[Summary] = ()) -> tuple[str, ...]:
    """Have the model plan the look-up of a query, and write queries for it (plan and execute).

    The most fitting summaries come first. It is the query itself, with an event, if a reply is
    malformed twice or wordless.
    """
    shown = under
    while shown and not toolkit.fits(_plan_messages(toolkit, asked, shown)):
        shown = shown[:-1]
    try:
        written = toolkit.ask(_plan_messages(toolkit, asked, shown), _PlanReply, QUERIES).queries
    except ModelUnusable as error:
        written = none_if_malformed(error)
    queries = each_once(written)
    events = [] if queries else [Fact(FactKind.NOT_AUGMENTED)]
    if len(shown) < len(under):
        events.append(Fact(FactKind.SUMMARIES_LEFT_OUT, n=len(shown), total=len(under)))
    toolkit.note(QUERIES, events, query="\n".join(queries))
    return queries or (asked.text,)


def summaries_wanted(toolkit: Toolkit, asked: Query) -> list[Summary]:
    """The summaries of the metadata named by the user, else of the whole corpus."""
    made = toolkit.summaries()
    with toolkit.store() as store:
        where = store.facets.canonical(asked.filters.where)
    found = summaries_for(made, where)
    if not found:
        toolkit.note(QUERIES, [Fact(FactKind.NO_SUMMARY)])
    return found


def summaries_near(toolkit: Toolkit, asked: Query) -> list[Summary]:
    """The summaries wanted; without metadata the few nearest, by vectors or shared words."""
    made = toolkit.summaries()
    if asked.filters.where or not made:
        return summaries_wanted(toolkit, asked)
    with toolkit.retriever() as retriever:
        near = _likeness(retriever, full_text(asked), [one.text for one in made])
    found: dict[tuple[Place, ...], Summary] = {}
    for at in sorted(range(len(made)), key=lambda at: -near[at]):
        # Two labels may have the same documents.
        found.setdefault(made[at].rests_on, made[at])
    return list(found.values())[:_NEAREST]


def _likeness(retriever: Retriever, text: str, others: Sequence[str]) -> Sequence[float]:
    if retriever.models.dense is not None:
        (row,) = retriever.models.dense.likeness([text], others)
        return [float(cosine) for cosine in row]
    wanted, weight = set(analyzer().terms(text)), retriever.inverse_document_frequency
    return [sum(map(weight, wanted.intersection(analyzer().terms(other)))) for other in others]


def _plan_messages(toolkit: Toolkit, asked: Query, under: Sequence[Summary]) -> tuple[Message, ...]:
    summaries = [
        {"about": named(one.labels) if one.labels else "", "text": one.text} for one in under
    ]
    texts = [text for one in summaries for text in one.values()]
    tag = element("text", [full_text(asked), *texts])
    return toolkit.prompt("pr3_queries", asked, summaries=summaries, most=MOST_QUERIES, tag=tag)


# Step 3: retrieve.


def labelled_queries(asked: Query, queries: Sequence[str]) -> Asked:
    """The queries, or the question without any."""
    if not queries:
        return [(asked, "")]
    return [
        (replace(asked, text=text, options=()), f"query {number}")
        for number, text in enumerate(queries, 1)
    ]


def nearest_questions(toolkit: Toolkit, queries: Asked) -> list[Sentence]:
    """The nearest synthetic questions as JSON, by vectors, or by words with a note in the trace."""
    found = [
        toolkit.search_layer(SYNTHETIC_QA, asked, _QUESTIONS, subject=subject)
        for asked, subject in queries
    ]
    ranked = reciprocal_rank_fusion([[one.found for one in some] for some in found])
    return toolkit.source_sentences(ranked, _as_json)


def _as_json(found: LayerText, passage: Passage, **more: str) -> str:
    shown = {"title": passage.header, "question": found.text, "answer": found.answer, **more}
    return json.dumps(shown, ensure_ascii=False)


# Step 4: read.


def messages_of(
    toolkit: Toolkit, asked: Query, queries: Sequence[str], *, aspects: bool
) -> MessagesOf:
    """Makes the prompt for an answer; arguments as of `answered`."""
    return partial(_messages, toolkit, asked, queries, aspects)


def answered(
    toolkit: Toolkit,
    asked: Query,
    queries: Sequence[str],  # of its augmentation; may be none
    sources: Sequence[Sentence],
    *,
    aspects: bool = False,
) -> Answer:
    """Answer a question from sources: one call, none without a source.

    A source is a sentence, or a synthetic question with its answer. A statement cites the
    supporting sentences behind it, else all of them. ``supported`` means that its citations have
    every statement, not that they answer the question. The trace lists texts without a predicate;
    they are no statements.
    """
    messages = messages_of(toolkit, asked, queries, aspects=aspects)
    sentences = toolkit.fitting_sentences(sources, messages) if sources else ()
    if not sentences:
        return Answer("", (), Status.NOT_FOUND, toolkit.trace)
    bounds = (_MOST_CLAIMS, _MOST_CITED, _LONGEST, len(queries) if aspects else 0)
    shape = reply_shape(len(sentences), *bounds)
    reply = toolkit.ask(messages(sentences), shape, "answer", claims=drafted)
    if not reply.claims:
        return Answer("", (), Status.NOT_FOUND, toolkit.trace)
    said = _statements(toolkit, reply.claims)
    with toolkit.store() as store:
        checker = ClaimChecker(store, sentences, full_text(asked))
        checked = {
            one.letters: checker.check(one.text, one.cited, narrow=True).claim for one in said
        }
    if aspects:
        carried = {letters for letters, claim in checked.items() if not claim.mismatches}
        shown = {one.aspect for one in reply.claims if letters_of(one.text) in carried}
        left = [query for number, query in enumerate(queries, 1) if number not in shown]
        events = [Fact(FactKind.ASPECT_WITHOUT_EVIDENCE, aspect=one) for one in left]
        toolkit.note(ASPECTS, events)
    if not checked:
        return Answer("", (), Status.NOT_FOUND, toolkit.trace)
    return answer_of(toolkit, tuple(checked.values()), checker)


class _Statement(NamedTuple):
    """A statement, its letters alone, and the numbers of all sources cited for it."""

    text: str
    letters: str
    cited: Sequence[int]


def _statements(toolkit: Toolkit, replied: Sequence[Any]) -> list[_Statement]:
    """The statements of a reply, each once; the rest goes to the trace."""
    found: dict[str, _Statement] = {}
    events = []
    for one in replied:
        letters = letters_of(one.text)
        before = found.get(letters)
        if before is not None:
            found[letters] = before._replace(cited=(*before.cited, *one.sentences))
        elif is_statement(one.text):
            found[letters] = _Statement(one.text, letters, one.sentences)
        else:
            events.append(Fact(FactKind.NO_STATEMENT, words=one.text))
    if events:
        toolkit.note(STATEMENTS, list(dict.fromkeys(events)))
    return list(found.values())


def _messages(
    toolkit: Toolkit,
    asked: Query,
    queries: Sequence[str],
    aspects: bool,
    sentences: Sequence[Sentence],
) -> tuple[Message, ...]:
    # A synthetic question says itself where it is from.
    placed = groupby(sentences, lambda one: "" if one.rewritten else one.passage.header)
    passages = [ShownSentences(place, tuple(inside)) for place, inside in placed]
    texts = [text for one in sentences for text in (one.text, one.passage.header)]
    return toolkit.prompt(
        "pr3_answer",
        asked,
        options=asked.options,
        queries=queries,
        aspects=aspects,
        passages=passages,
        tag=element("text", [full_text(asked), *queries, *texts]),
    )


@register(
    "pr3",
    N_(
        "like pr3-plain, the queries planned under a summary of the documents with the metadata "
        "wanted"
    ),
    source=SOURCE,
    calls=AUGMENTED,
    layers=(SYNTHETIC_QA, MK_SUMMARIES),
    find=nearest_questions,
    summaries=summaries_wanted,
)
@register(
    "pr3-plain",
    N_(
        "a model writes several queries, and answers on prepared questions and answers nearest to "
        "them"
    ),
    source=SOURCE,
    calls=AUGMENTED,
    layers=(SYNTHETIC_QA,),
    find=nearest_questions,
)
def answer(
    case: Case,
    toolkit: Toolkit,
    *,
    find: Callable[[Toolkit, Asked], list[Sentence]],
    augment: bool = True,
    summaries: Callable[[Toolkit, Query], Sequence[Summary]] | None = None,
) -> Answer:
    """Answer one question by the steps at the head of this file."""
    asked = case.query
    with toolkit.retriever() as retriever:
        absent = retriever.absent(asked)
    if absent:
        return toolkit.quoted(asked, toolkit.retrieve(asked))
    queries: tuple[str, ...] = ()
    if augment:
        queries = augmented(toolkit, asked, summaries(toolkit, asked) if summaries else ())
    return answered(toolkit, asked, queries, find(toolkit, labelled_queries(asked, queries)))


@register(
    "pr3-localrag",
    N_(
        "questions over a whole collection: a model writes several queries, and answers in "
        "statements that code checks"
    ),
    purpose=Purpose.USE,
    calls=AUGMENTED,
    layers=(SYNTHETIC_QA, MK_SUMMARIES),
)
def answer_from_both(case: Case, toolkit: Toolkit) -> Answer:
    """Answer one question by the steps of `pr3-localrag`."""
    asked = case.query
    found = toolkit.retrieve(asked)
    if found.absent:
        return toolkit.quoted(asked, found)
    queries = augmented(toolkit, asked, summaries_near(toolkit, asked))
    messages = messages_of(toolkit, asked, queries, aspects=True)
    rankings = _rankings(toolkit, asked, "", found.hits, messages)
    for one, subject in labelled_queries(asked, queries):
        hits = toolkit.retrieve(one, subject=subject).hits
        rankings += _rankings(toolkit, one, subject, hits, messages)
    sources: dict[tuple[str, int, int], Sentence] = {}
    # A sentence behind a question is shown with the question.
    every = (one for ranking, _weight in rankings for one in ranking)
    for source in sorted(every, key=lambda one: not one.rewritten):
        sources.setdefault(_place(source), source)
    order = reciprocal_rank_fusion(
        [[_place(one) for one in ranking] for ranking, _weight in rankings],
        [weight for _ranking, weight in rankings],
    )
    return answered(toolkit, asked, queries, [sources[place] for place in order], aspects=True)


def _rankings(
    toolkit: Toolkit, asked: Query, subject: str, hits: Sequence[Hit], messages: MessagesOf
) -> list[tuple[Sequence[Sentence], float]]:
    """Rankings for a query, with weights: questions by meaning and by words, then passages."""

    def questions(*, words: bool) -> list[Sentence]:
        found = toolkit.search_layer(SYNTHETIC_QA, asked, _QUESTIONS, words=words, subject=subject)
        return toolkit.source_sentences(
            (one.found for one in found),
            lambda one, passage: _as_json(one, passage, text=one.sentence),
        )

    ways = (False, True) if toolkit.layers_have_vectors else (False,)
    found: list[tuple[Sequence[Sentence], float]] = [(questions(words=way), 1) for way in ways]
    of_matter = [hit for hit in hits if not hit.beside]
    if of_matter:
        sentences = toolkit.sentences(asked, of_matter, messages, subject=subject)
        # Some passages have no question, so they weigh as much as all questions.
        found.append((sentences, len(ways)))
    return found


def _place(source: Sentence) -> tuple[str, int, int]:
    return source.passage.document_id, source.piece.start, source.piece.end
