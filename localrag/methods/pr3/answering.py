"""The final call of the methods after PR3: statements on numbered sources, checked by code.

The model gets the question, the queries it was augmented into, the sources and examples. A source
is a sentence, or a synthetic question with its answer. What a statement cites, and is held against,
is always the sentence of the document: a synthetic question stands for the sentences that answer
it. Of several sources those are cited that carry the statement alone, where some do. Whether they
speak of the question is not asked, for a statement tells of one aspect of it: ``supported`` says
that every statement stands in what it cites, and not that it answers. What is said twice is said
once; what is no statement, for it has no predicate, is left out and told.
"""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

from localrag.answer.checking.polarity import is_statement
from localrag.answer.evidence import Sentence, ShownSentences, element
from localrag.answer.types import Answer, Status
from localrag.methods.generative import ClaimChecker, answer_of, drafted, reply_shape
from localrag.methods.toolkit import Toolkit
from localrag.search.query import full_text
from localrag.search.types import Query
from localrag.text.facts import Fact, FactKind
from localrag_indexes.analysis.normalize import letters_of
from localrag_models.chat import Message

ASPECTS = "aspects"
"""The stage that tells which queries were left without evidence."""
STATEMENTS = "statements"
"""The stage that tells what of a reply is no statement."""

_MOST_CLAIMS, _MOST_CITED, _LONGEST = 8, 4, 400


MessagesOf = Callable[[Sequence[Sentence]], tuple[Message, ...]]
"""Makes the prompt for an answer of numbered sources."""


def messages_of(
    toolkit: Toolkit, asked: Query, queries: Sequence[str], *, aspects: bool
) -> MessagesOf:
    """What makes the prompt for an answer; arguments as of `answered`."""
    return partial(_messages, toolkit, asked, queries, aspects)


def answered(
    toolkit: Toolkit,
    asked: Query,
    queries: Sequence[str],
    sources: Sequence[Sentence],
    *,
    aspects: bool = False,
) -> Answer:
    """Answer a question from sources, by one call; without any by none.

    Args:
        toolkit: of the question.
        asked: the question.
        queries: that it was augmented into; none where it was not.
        sources: best first; what the context does not hold is left out from their end.
        aspects: whether each statement names the query that it answers. Those that no statement
            answers which its sources carry are told in the trace.

    Raises:
        ModelUnusable: the model failed, or its reply is malformed for the second time.
    """
    messages = messages_of(toolkit, asked, queries, aspects=aspects)
    sentences = toolkit.fitting_sentences(sources, messages) if sources else ()
    if not sentences:
        return Answer("", (), Status.NOT_FOUND, toolkit.trace)
    shape = reply_shape(
        len(sentences),
        _MOST_CLAIMS,
        _MOST_CITED,
        _LONGEST,
        aspects=len(queries) if aspects else 0,
    )
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
        _tell_aspects(toolkit, queries, shown)
    if not checked:
        return Answer("", (), Status.NOT_FOUND, toolkit.trace)
    return answer_of(toolkit, tuple(checked.values()), checker)


class _Statement(NamedTuple):
    """A statement, its letters alone, and the numbers of all sources cited for it."""

    text: str
    letters: str
    cited: Sequence[int]


def _statements(toolkit: Toolkit, replied: Sequence[Any]) -> list[_Statement]:
    """The statements of a reply, each once; the trace tells what else it holds."""
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


def _tell_aspects(toolkit: Toolkit, queries: Sequence[str], shown: Collection[int]) -> None:
    """Tell the queries of which nothing is said that its sources carry."""
    left = [query for number, query in enumerate(queries, 1) if number not in shown]
    toolkit.note(ASPECTS, [Fact(FactKind.ASPECT_WITHOUT_EVIDENCE, aspect=one) for one in left])


def _messages(
    toolkit: Toolkit,
    asked: Query,
    queries: Sequence[str],
    aspects: bool,
    sentences: Sequence[Sentence],
) -> tuple[Message, ...]:
    passages = [
        ShownSentences(place, tuple(inside)) for place, inside in groupby(sentences, _place)
    ]
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


def _place(source: Sentence) -> str:
    """Where a source stands, in words; a synthetic question says it itself."""
    return "" if source.rewritten else source.passage.header
