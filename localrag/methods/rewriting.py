"""A question that follows others, made whole by a model.

What it writes is taken only if it keeps the numbers of the question, and names no law or number
that nobody has asked about.
"""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from localrag.answer.evidence import element
from localrag.answer.prompts import language_of
from localrag.errors import ModelUnusable
from localrag.law.names import LawNames
from localrag.methods.toolkit import Toolkit
from localrag.search.query import analyzer
from localrag.search.question.laws import laws_named
from localrag.search.types import FOLLOW_UP, Query
from localrag.search.written import plain_end
from localrag.text.facts import Fact, FactKind

LONGEST_QUESTION = 300
"""Characters of a question that a model rewrites, at most."""

# Earlier questions that a model is shown.
_SHOWN = 3


class _RewrittenQuestion(BaseModel):
    question: Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION)]


def made_whole(toolkit: Toolkit, query: Query, names: LawNames) -> str | Fact:
    """The question as a model makes it whole, or why it is not.

    Args:
        toolkit: of the question.
        query: the question, with the history that it leans on.
        names: the laws of the corpus.

    Raises:
        Cancelled: the answer is no longer wanted.
    """
    try:
        written = _written(toolkit, query)
    except ModelUnusable:
        return Fact(FactKind.FOLLOW_UP_FAILED)
    return written if _keeps(written, query, names) else Fact(FactKind.FOLLOW_UP_REFUSED)


def _written(toolkit: Toolkit, query: Query) -> str:
    """The question as a model makes it whole."""
    history = [plain_end(earlier) for earlier in query.history[-_SHOWN:]]
    messages = toolkit.prompt(
        "follow_up",
        query,
        history=history,
        longest=LONGEST_QUESTION,
        tag=element("text", [*history, query.text]),
    )
    return toolkit.ask(messages, _RewrittenQuestion, FOLLOW_UP).question.strip()


def _keeps(text: str, query: Query, names: LawNames) -> bool:
    """Whether what a model wrote keeps the numbers of the question, and adds no law or number."""
    said = (query.text, *query.history)
    return (
        text.isprintable()
        and any(character.isalnum() for character in text)
        and language_of(text) == language_of(query.text)
        and _laws([text], names) <= _laws(said, names)
        and _numbers([query.text]) <= _numbers([text]) <= _numbers(said)
    )


def _laws(texts: Sequence[str], names: LawNames) -> frozenset[tuple[str, ...]]:
    """The laws that texts name, by their ids; those that the corpus lacks by their names."""
    return frozenset(
        law.law_ids or (law.words,) for text in texts for law in laws_named(text, names)
    )


def _numbers(texts: Sequence[str]) -> frozenset[str]:
    terms = (term for text in texts for term in analyzer().terms(text))
    return frozenset(term for term in terms if any(map(str.isdigit, term)))
