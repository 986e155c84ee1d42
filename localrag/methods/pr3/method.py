"""PR3 (prepare, rewrite, retrieve, read): `pr3`, its baselines, and `pr3-localrag`.

`pr3`, as published:

1. **Prepare**, once (`localrag prepare`): metadata of every document, synthetic questions with
   their answers, and for each combination of metadata a summary of what its questions are about.
2. **Rewrite.** Under the summary of the metadata that the user names (``--where``) a model plans
   how the query is looked up, and writes up to five queries: one call.
3. **Retrieve.** For each of them the ten nearest synthetic questions of the documents that the user
   wants. Searches do not wait for each other's results; one index serves them one after the other.
   What several find comes first (reciprocal rank fusion).
4. **Read.** One call, on the query, the queries, the questions found (title, question and answer as
   JSON) and examples. Every statement cites sources by number; code puts in the sentences behind
   the questions, and checks the statement against them (`localrag.methods.pr3.answering`).

Of a law that the question names and the corpus lacks none of these methods claims anything: that is
told, and what comes nearest is quoted. The publication knows no such case.

`pr3-plain` writes the queries without a summary. `chunks` and `chunks-augmented` search in chunks
of text (`localrag.methods.pr3.chunking`) in the place of questions, the former for the query alone.

`pr3-localrag` is ours: questions are searched by vectors and words, and passages beside them by the
whole pipeline, which count as much as questions by both ways; the query itself is searched for,
too; where the user names no metadata, it is augmented under several summaries, those nearest to it;
the model sees the sentences behind the questions; and queries of which no statement with evidence
tells are told.

Source: Mombaerts et al., "Meta Knowledge for Retrieval Augmented Large Language Models" (2024).
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from localrag.answer.evidence import Sentence
from localrag.answer.types import Answer
from localrag.corpus.types import Passage
from localrag.language import N_
from localrag.methods.catalogue import Calls, Case, Method
from localrag.methods.pr3.answering import MessagesOf, answered, messages_of
from localrag.methods.pr3.augmenting import augmented, summaries_near, summaries_wanted
from localrag.methods.pr3.chunking import nearest_chunks
from localrag.methods.toolkit import Toolkit
from localrag.prepare.layers import MK_SUMMARIES, SYNTHETIC_QA
from localrag.prepare.summaries import Summary
from localrag.prepare.texts import LayerText
from localrag.search.types import Hit, Query
from localrag_indexes.fusion import reciprocal_rank_fusion

# Synthetic questions that are taken for a query.
_QUESTIONS = 10

_Asked = Sequence[tuple[Query, str]]
"""Queries, each with what the trace calls its search."""
_Summaries = Callable[[Toolkit, Query], Sequence[Summary]]
_Find = Callable[[Toolkit, _Asked], list[Sentence]]


class _Ranking(NamedTuple):
    """Sources that a search has found, best first, and how much it counts."""

    sources: Sequence[Sentence]
    weight: float = 1


def nearest_questions(toolkit: Toolkit, queries: _Asked) -> list[Sentence]:
    """Step 3: the synthetic questions nearest to some queries by meaning, as JSON.

    Where the corpus has no vectors, words stand in, which the trace says.
    """
    found = [
        toolkit.search_layer(SYNTHETIC_QA, asked, _QUESTIONS, subject=subject)
        for asked, subject in queries
    ]
    ranked = reciprocal_rank_fusion([[one.found for one in some] for some in found])
    return toolkit.source_sentences(ranked, _as_json)


def _as_json(found: LayerText, passage: Passage, **more: str) -> str:
    shown = {"title": passage.header, "question": found.text, "answer": found.answer, **more}
    return json.dumps(shown, ensure_ascii=False)


def _answer(
    case: Case, toolkit: Toolkit, *, find: _Find, augment: bool, summaries: _Summaries | None = None
) -> Answer:
    """Answer one question by the steps at the head of this file."""
    asked = case.query
    with toolkit.retriever() as retriever:
        absent = retriever.absent(asked)
    # Nothing that could be found is what was asked about.
    if absent:
        return toolkit.quoted(asked, toolkit.retrieve(asked))
    queries: tuple[str, ...] = ()
    if augment:
        queries = augmented(toolkit, asked, summaries(toolkit, asked) if summaries else ())
    return answered(toolkit, asked, queries, find(toolkit, _labelled(asked, queries)))


def _labelled(asked: Query, queries: Sequence[str]) -> _Asked:
    """What is searched for: the queries, or the question where there are none."""
    if not queries:
        return [(asked, "")]
    return [
        (replace(asked, text=text, options=()), f"query {number}")
        for number, text in enumerate(queries, 1)
    ]


def _answer_from_both(case: Case, toolkit: Toolkit) -> Answer:
    """Answer one question by the steps of `pr3-localrag`."""
    asked = case.query
    found = toolkit.retrieve(asked)
    # Nothing found is what was asked about.
    if found.absent:
        return toolkit.quoted(asked, found)
    queries = augmented(toolkit, asked, summaries_near(toolkit, asked))
    messages = messages_of(toolkit, asked, queries, aspects=True)
    rankings = _rankings(toolkit, asked, "", found.hits, messages)
    for one, subject in _labelled(asked, queries):
        hits = toolkit.retrieve(one, subject=subject).hits
        rankings += _rankings(toolkit, one, subject, hits, messages)
    sources: dict[tuple[str, int, int], Sentence] = {}
    # A sentence behind a question is shown with the question.
    every = (one for ranking in rankings for one in ranking.sources)
    for source in sorted(every, key=lambda one: not one.rewritten):
        sources.setdefault(_place(source), source)
    order = reciprocal_rank_fusion(
        [[_place(one) for one in ranking.sources] for ranking in rankings],
        [ranking.weight for ranking in rankings],
    )
    return answered(toolkit, asked, queries, [sources[place] for place in order], aspects=True)


def _rankings(
    toolkit: Toolkit, asked: Query, subject: str, hits: Sequence[Hit], messages: MessagesOf
) -> list[_Ranking]:
    """What is found for a query: questions by meaning and by words, sentences of passages."""

    def questions(*, words: bool) -> list[Sentence]:
        found = toolkit.search_layer(SYNTHETIC_QA, asked, _QUESTIONS, words=words, subject=subject)
        return toolkit.source_sentences(
            (one.found for one in found),
            lambda one, passage: _as_json(one, passage, text=one.sentence),
        )

    ways = (False, True) if toolkit.layers_have_vectors else (False,)
    found = [_Ranking(questions(words=words)) for words in ways]
    of_matter = [hit for hit in hits if not hit.beside]
    if of_matter:
        sentences = toolkit.sentences(asked, of_matter, messages, subject=subject)
        # Passages count as much as questions by all ways together: of some no question was made.
        found.append(_Ranking(sentences, len(ways)))
    return found


def _place(source: Sentence) -> tuple[str, int, int]:
    return source.passage.document_id, source.piece.start, source.piece.end


_SOURCE = N_("PR3: metadata, synthetic questions, meta knowledge summaries")
# One that writes the queries and one that answers; the latter falls away where nothing is found.
_AUGMENTED = Calls(fixed=2)

CHUNKS = Method(
    name="chunks",
    about=N_("a model answers in statements on the chunks of text nearest to the question"),
    answer=partial(_answer, find=nearest_chunks, augment=False),
    source=_SOURCE,
    calls=Calls(fixed=1),
    chooses=False,
)
CHUNKS_AUGMENTED = Method(
    name="chunks-augmented",
    about=N_("a model writes several queries, and answers on the chunks of text nearest to them"),
    answer=partial(_answer, find=nearest_chunks, augment=True),
    source=_SOURCE,
    calls=_AUGMENTED,
    chooses=False,
)
PLAIN = Method(
    name="pr3-plain",
    about=N_(
        "a model writes several queries, and answers on prepared questions and answers nearest to "
        "them"
    ),
    answer=partial(_answer, find=nearest_questions, augment=True),
    source=_SOURCE,
    calls=_AUGMENTED,
    chooses=False,
    layers=(SYNTHETIC_QA,),
)
PR3 = Method(
    name="pr3",
    about=N_(
        "like pr3-plain, the queries planned under a summary of what documents with the metadata "
        "wanted are about"
    ),
    answer=partial(_answer, find=nearest_questions, augment=True, summaries=summaries_wanted),
    source=_SOURCE,
    calls=_AUGMENTED,
    chooses=False,
    layers=(SYNTHETIC_QA, MK_SUMMARIES),
)
LOCALRAG = Method(
    name="pr3-localrag",
    about=N_(
        "like pr3, in questions and passages together, by meaning and words; aspects without "
        "evidence are told"
    ),
    answer=_answer_from_both,
    calls=_AUGMENTED,
    chooses=False,
    layers=(SYNTHETIC_QA, MK_SUMMARIES),
)
