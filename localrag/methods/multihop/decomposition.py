"""Question decomposition in the two steps of ChainRAG: whether it is needed, and into what.

Source: Zhu et al., "Mitigating Lost-in-Retrieval Problems in Retrieval Augmented Multi-Hop Question
Answering" (ACL 2025).
"""

from typing import Annotated

from pydantic import BaseModel, Field

from localrag.answer.evidence import element
from localrag.errors import ModelUnusable
from localrag.methods.catalogue import Calls
from localrag.methods.toolkit import Toolkit
from localrag.search.query import full_text
from localrag.search.types import Query
from localrag.text.facts import Fact, FactKind
from localrag_models.errors import ReplyInvalid

STAGE, NEED = "decomposition", "decomposition need"

MOST_QUESTIONS = 4
"""Sub-questions at most: no question of the published sets takes more steps."""

CALLS = Calls(fixed=1, more=1)
"""The calls of a model that `decompose` takes: a second one where splitting is needed."""

_LONGEST_QUESTION = 200


class _Need(BaseModel):
    needed: bool


class _SubQuestions(BaseModel):
    questions: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=_LONGEST_QUESTION)]],
        Field(min_length=1, max_length=MOST_QUESTIONS),
    ]


def decompose(toolkit: Toolkit, asked: Query) -> tuple[str, ...]:
    """Have the model split a question, where that is needed.

    Returns:
        Sub-questions in the order in which they have to be answered, each once; none where the
        question is to be searched for as it is. A reply that stays malformed, or holds no word,
        splits nothing, which the trace says.

    Raises:
        ModelUnusable: the model failed otherwise.
    """
    try:
        if not _is_needed(toolkit, asked):
            return ()
        written = _split(toolkit, asked)
    except ModelUnusable as error:
        if error.kind != ReplyInvalid.__name__:
            raise
        written = []
    questions = dict.fromkeys(
        " ".join(one.split()) for one in written if any(map(str.isalnum, one))
    )
    if not questions:
        toolkit.note(STAGE, [Fact(FactKind.NOT_DECOMPOSED)])
    return tuple(questions)


def label_of(number: int) -> str:
    """What the trace calls the search for the sub-question of this number, from 1."""
    return f"sub-question {number}"


def _is_needed(toolkit: Toolkit, asked: Query) -> bool:
    messages = toolkit.prompt("decomposition_need", asked, tag=_tag(asked))
    return toolkit.ask(messages, _Need, NEED).needed


def _split(toolkit: Toolkit, asked: Query) -> list[str]:
    messages = toolkit.prompt("decomposition", asked, most=MOST_QUESTIONS, tag=_tag(asked))
    return toolkit.ask(messages, _SubQuestions, STAGE).questions


def _tag(asked: Query) -> str:
    return element("text", [full_text(asked)])
