"""Step `follow-up`: a question that leans on those before it (その罰則は) is made whole.

Whether it leans on them is for code to say, and what it then reads is the code's as well
(`localrag.question.follow_up`). Where a model takes part, it writes the question anew, in words
that read better; that is taken only if it names the laws and numbers that the code's names, and
none that nobody has asked about.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field

from localrag.errors import ModelUnusable
from localrag.facts import Fact, FactKind
from localrag.methods.toolkit import Resources, Toolkit
from localrag.prompts import language_of
from localrag.question.follow_up import Rewritten, plain_end, rewritten
from localrag.question.laws import laws_named
from localrag.reading.evidence import element
from localrag.reading.watching import UNWATCHED, Watch
from localrag.retrieval.query import analyzer
from localrag.retrieval.types import FOLLOW_UP, Query, Trace
from localrag.statutes.names import LawNames

LONGEST = 300
"""Characters of a question that a model rewrites, at most."""

# Earlier questions that a model is shown.
_SHOWN = 3


class _RewrittenQuestion(BaseModel):
    question: Annotated[str, Field(min_length=1, max_length=LONGEST)]


class FollowedQuestion(NamedTuple):
    """A question as it is to be answered.

    Attributes:
        query: standing by itself, without a history.
        read_as: its text where that is not as asked; else empty.
        trace: how it was read.
    """

    query: Query
    read_as: str = ""
    trace: Trace = Trace()


def read(
    query: Query, resources: Resources, watch: Watch = UNWATCHED, *, with_model: bool
) -> FollowedQuestion:
    """Make a question stand by itself; one that does already stays as it is.

    Args:
        query: the question, with the history that it may lean on.
        resources: of the run.
        watch: hears of it as of a stage, whose `query` is the question as it is read.
        with_model: whether the chat model takes part.

    Raises:
        Cancelled: the answer is no longer wanted.
    """
    alone = replace(query, history=())
    if not query.history:
        return FollowedQuestion(alone)
    with resources.reading:
        names = resources.retriever.names
    found = rewritten(query.text, query.history, names)
    if not found.after:
        return FollowedQuestion(alone)
    toolkit = Toolkit(resources, watch)
    text = found.text
    events: list[Fact] = []
    # What asks for more of the same is the question before, word for word.
    if with_model and found.text != found.after:
        try:
            text = _written(toolkit, query, found)
        except ModelUnusable:
            events = [Fact(FactKind.FOLLOW_UP_FAILED)]
        else:
            if not _keeps(text, query, found, names):
                text, events = found.text, [Fact(FactKind.FOLLOW_UP_REFUSED)]
    toolkit.note(FOLLOW_UP, events, query=text)
    return FollowedQuestion(
        replace(alone, text=text), text if text != query.text else "", toolkit.trace
    )


def _written(toolkit: Toolkit, query: Query, found: Rewritten) -> str:
    history = [plain_end(earlier) for earlier in (*query.history[-_SHOWN:-1], found.after)]
    messages = toolkit.prompt(
        "follow_up",
        query,
        history=history,
        longest=LONGEST,
        tag=element("text", [*history, query.text]),
    )
    return toolkit.ask(messages, _RewrittenQuestion, FOLLOW_UP).question.strip()


def _keeps(text: str, query: Query, found: Rewritten, names: LawNames) -> bool:
    """Whether what a model wrote asks of the same laws and numbers as what code made of it."""
    said = (query.text, found.after, found.text)
    needed, known = _laws([found.text], names), _laws(said, names)
    laws = _laws([text], names)
    numbers = _numbers([text])
    return (
        text.isprintable()
        and any(character.isalnum() for character in text)
        and language_of(text) == language_of(found.text)
        and needed <= laws <= known
        and _numbers([found.text]) <= numbers <= _numbers(said)
    )


def _laws(texts: Sequence[str], names: LawNames) -> frozenset[tuple[str, ...]]:
    """The laws that texts name, by their ids; those that the corpus lacks by their names."""
    return frozenset(
        law.law_ids or (law.words,) for text in texts for law in laws_named(text, names)
    )


def _numbers(texts: Sequence[str]) -> frozenset[str]:
    terms = (term for text in texts for term in analyzer().terms(text))
    return frozenset(term for term in terms if any(map(str.isdigit, term)))
