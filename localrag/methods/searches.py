"""A model rewrites a question before anything is searched.

`searches_of` writes searches in the words of the statutes: readers ask 離婚したら子どもの苗字は,
a statute says 子の氏. The model names the law and the words of the provision. Its prompt can be
optimised. It serves `ask`, `search --rewrite`, batches, the methods for statutes and `localrag
optimize`.

`made_whole` completes a follow-up from the questions before it. Code accepts the result only if it
keeps all numbers, and adds no law or number that nobody asked about.
"""

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from localrag.answer.evidence import element
from localrag.answer.prompts import Language, language_of, prompt
from localrag.errors import ModelUnusable
from localrag.law.names import LawNames
from localrag.methods.catalogue import labelled
from localrag.methods.toolkit import Toolkit
from localrag.search.query import analyzer, plain_end
from localrag.search.question.laws import laws_named
from localrag.search.types import FOLLOW_UP, Query, WrittenSearch
from localrag.text.facts import Fact, FactKind
from localrag_models.chat import Message

STAGE = "query"

MOST_SEARCHES = 3
"""Searches that a model writes for one question, at most."""

LONGEST_LAW, LONGEST_WORDS = 40, 80
"""Characters of the name of a law, and of the words of one search, at most."""


HEADINGS = 6
"""Headings of the first hits of the question, which the model reads."""

# The same words at least three times in a row.
_AGAIN = re.compile(r"(..+?)(?:\s*\1){2,}")


class _Search(BaseModel):
    law: Annotated[str, Field(max_length=LONGEST_LAW)]
    words: Annotated[str, Field(max_length=LONGEST_WORDS)]


class _Searches(BaseModel):
    searches: Annotated[list[_Search], Field(max_length=MOST_SEARCHES)]


def built_in(language: Language, *, per_option: bool = False) -> str:
    """The instruction if none is optimised, for searches of the whole question or one option."""
    system, _ = prompt(
        "search",
        language,
        found=(),
        question="",
        options=(),
        per_option=per_option,
        most=0,
        longest=0,
        tag="",
    )
    return system.content


def instruction(toolkit: Toolkit, asked: Query, *, per_option: bool = False) -> str:
    """The optimised instruction, else the built-in one with an event."""
    optimised = toolkit.query_prompt
    if optimised is None:
        toolkit.note(STAGE, [Fact(FactKind.NO_QUERY_PROMPT)])
        return built_in(language_of(asked.text), per_option=per_option)
    if optimised.is_edited:
        toolkit.note(STAGE, [Fact(FactKind.PROMPT_EDITED, name=optimised.name)])
    elif optimised.is_seed:
        toolkit.note(STAGE, [Fact(FactKind.PROMPT_IS_BUILT_IN, name=optimised.name)])
    return optimised.text


def write_searches(
    toolkit: Toolkit, asked: Query, instruct: str = "", label: str = ""
) -> tuple[WrittenSearch, ...]:
    """Have the model write at most `MOST_SEARCHES`, the likeliest first, without duplicates.

    `label` is the option to search for, by default the whole question.
    """
    options = _options(asked, label)
    # Headings of first hits show a small model which laws and words there are.
    found = () if options else toolkit.headings(asked, HEADINGS)
    _, user = toolkit.prompt(
        "search",
        asked,
        found=found,
        options=options,
        per_option=bool(label),
        most=MOST_SEARCHES,
        longest=LONGEST_WORDS,
        tag=element("text", [asked.text, *found, *(text for _, text in options)]),
    )
    system = Message("system", instruct or instruction(toolkit, asked, per_option=bool(label)))
    reply = toolkit.ask_once((system, user), _Searches, f"query {label}".strip())
    written = [WrittenSearch(_once(one.words), one.law.strip()) for one in reply.searches]
    if repeated := sum(
        before.words.split() != one.words.split()
        for before, one in zip(reply.searches, written, strict=True)
    ):
        toolkit.note(STAGE, [Fact(FactKind.SEARCH_REPEATED, n=repeated)])
    # A small model writes the same words for several laws: they count once.
    different: dict[str, WrittenSearch] = {}
    for one in written:
        if any(map(str.isalnum, one.words)):
            different.setdefault(one.words, one)
    return tuple(different.values())


def _once(words: str) -> str:
    return " ".join(dict.fromkeys(_AGAIN.sub(r"\1 ", words).split()))


def write_query(toolkit: Toolkit, asked: Query, instruct: str = "", label: str = "") -> str:
    """The searches written by the model for a question, or for one option, as one query.

    Without a word of the model it is the question (and the option), with an event.
    """
    written = write_searches(toolkit, asked, instruct, label)
    if written:
        return as_query(written)
    subject = f"option {label}" if label else ""
    toolkit.note(STAGE, [Fact(FactKind.QUERY_WORDLESS)], subject=subject)
    return "\n".join([asked.text, *(text for _, text in _options(asked, label))])


def as_query(written: Sequence[WrittenSearch]) -> str:
    """Searches as one query, a line each."""
    return "\n".join(f"{one.law} {one.words}".strip() for one in written)


def _options(asked: Query, label: str) -> list[tuple[str, str]]:
    return [(name, text) for name, text in labelled(asked.options) if label in ("", name)]


def searches_of(toolkit: Toolkit, asked: Query) -> Sequence[WrittenSearch]:
    """The searches of a question of law; an unreadable reply gives an event and no search.

    There are none without laws, with ``chat.write_searches`` off, and for a question with options.
    """
    if not toolkit.rewrites or asked.options:
        return ()
    # For `ask`, the built-in prompt needs no event.
    instruct = "" if toolkit.query_prompt else built_in(language_of(asked.text))
    try:
        written = write_searches(toolkit, asked, instruct)
    except ModelUnusable as error:
        if not error.of_one_request:
            raise
        toolkit.note(STAGE, [Fact(FactKind.SEARCHES_FAILED, cause=error.cause)])
        return ()
    toolkit.note(STAGE, [_told(toolkit, one) for one in written])
    return written


def _told(toolkit: Toolkit, one: WrittenSearch) -> Fact:
    is_known = not one.law or toolkit.laws_named(one.law)
    kind = FactKind.SEARCHED_ALSO if is_known else FactKind.SEARCHED_ALSO_GUESSING
    return Fact(kind, law=one.law, words=one.words)


LONGEST_QUESTION = 300
"""Characters of a question that a model rewrites, at most."""

# Earlier questions in the prompt.
_SHOWN = 3


class _RewrittenQuestion(BaseModel):
    question: Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION)]


def made_whole(toolkit: Toolkit, query: Query, names: LawNames) -> str | Fact:
    """The question as the model completes it from its history, or why it is not used."""
    try:
        written = _written(toolkit, query)
    except ModelUnusable:
        return Fact(FactKind.FOLLOW_UP_FAILED)
    return written if _keeps(written, query, names) else Fact(FactKind.FOLLOW_UP_REFUSED)


def _written(toolkit: Toolkit, query: Query) -> str:
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
    """Whether a rewritten question keeps the numbers, and adds no law or number."""
    said = (query.text, *query.history)
    return (
        text.isprintable()
        and any(character.isalnum() for character in text)
        and language_of(text) == language_of(query.text)
        and _laws([text], names) <= _laws(said, names)
        and _numbers([query.text]) <= _numbers([text]) <= _numbers(said)
    )


def _laws(texts: Sequence[str], names: LawNames) -> frozenset[tuple[str, ...]]:
    return frozenset(
        law.law_ids or (law.words,) for text in texts for law in laws_named(text, names)
    )


def _numbers(texts: Sequence[str]) -> frozenset[str]:
    terms = (term for text in texts for term in analyzer().terms(text))
    return frozenset(term for term in terms if any(map(str.isdigit, term)))
