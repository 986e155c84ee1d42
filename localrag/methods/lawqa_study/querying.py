"""Step `query`: a model writes what is searched for, under an instruction that can be optimised."""

from typing import Annotated

from pydantic import BaseModel, Field

from localrag.facts import Fact, FactKind
from localrag.methods.choices import labelled
from localrag.methods.toolkit import Toolkit
from localrag.prompts import Language, language_of, prompt
from localrag.reading.evidence import element
from localrag.retrieval.types import Query
from localrag_models.chat import Message

STAGE = "query"

LONGEST_QUERY = 300
"""Characters of a query that a model writes, at most."""


class _WrittenQuery(BaseModel):
    query: Annotated[str, Field(max_length=LONGEST_QUERY)]


def built_in(language: Language, *, per_option: bool = False) -> str:
    """The instruction that is used where none is optimised, and that optimisation starts from.

    Args:
        language: to be written in.
        per_option: for the query of a single option, instead of that of the whole question.
    """
    system, _ = prompt(
        "statute_query", language, question="", options=(), per_option=per_option, longest=0, tag=""
    )
    return system.content


def instruction(toolkit: Toolkit, asked: Query, *, per_option: bool = False) -> str:
    """The optimised instruction, or the built-in one; an event says what is not optimised."""
    optimised = toolkit.query_prompt
    if optimised is None:
        toolkit.note(STAGE, [Fact(FactKind.NO_QUERY_PROMPT)])
        return built_in(language_of(asked.text), per_option=per_option)
    if optimised.is_edited:
        toolkit.note(STAGE, [Fact(FactKind.PROMPT_EDITED, name=optimised.name)])
    elif optimised.is_seed:
        toolkit.note(STAGE, [Fact(FactKind.PROMPT_IS_BUILT_IN, name=optimised.name)])
    return optimised.text


def write_query(toolkit: Toolkit, asked: Query, instruct: str = "", label: str = "") -> str:
    """Have the model write a query.

    Args:
        toolkit: of the question.
        asked: the question with its options.
        instruct: the instruction; by default that of `instruction`.
        label: the option that the query is for; by default the whole question.

    Returns:
        At most `LONGEST_QUERY` characters; the question (and the option) where the model writes
        nothing that could be searched for, which the trace says.

    Raises:
        ModelUnusable: the model failed, or its reply is malformed for the second time.
    """
    options = [(name, text) for name, text in labelled(asked.options) if label in ("", name)]
    whole = "\n".join([asked.text, *(text for _, text in options)])
    _, user = toolkit.prompt(
        "statute_query",
        asked,
        options=options,
        per_option=bool(label),
        longest=LONGEST_QUERY,
        tag=element("text", [whole]),
    )
    system = Message("system", instruct or instruction(toolkit, asked, per_option=bool(label)))
    query = toolkit.ask((system, user), _WrittenQuery, f"query {label}".strip()).query.strip()
    if any(character.isalnum() for character in query):
        return query
    subject = f"option {label}" if label else ""
    toolkit.note(STAGE, [Fact(FactKind.QUERY_WORDLESS)], subject=subject)
    return whole
