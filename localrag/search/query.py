"""A question as it is looked up: checked, weighed word by word, found again in what was found."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from localrag.corpus.config import RetrievalConfig
from localrag.corpus.facets import read_labels
from localrag.errors import UsageError
from localrag.language import N_
from localrag.search.question.laws import LawNamed, without_names
from localrag.search.types import Query
from localrag_indexes.analysis import Analyzer
from localrag_indexes.analysis.analyzer import best_window, highlight

MAX_CHARACTERS = 10_000
"""Longest question with its options, in characters; a longer text is a document, not a question."""

# ESC [ 3 1 m, and whatever else is no text.
_CODES = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LEAST_COUNT = 1000
# A mark with a blank behind it opens no phrase.
_PHRASE = re.compile(r'["“”＂](?=\S)([^"“”＂\n]{1,100})(?<=\S)["“”＂]')
_PURPOSE = "目的"
# 薬機法とは何か, 民法について説明してください, 民法709条は何を定めているか
_NOTHING_ELSE = re.compile(
    r"(?:[ぁ-ゖ\s、。?？!！「」・]|何|法律|条文|全文|原文|内容|概要|趣旨|意味|説明|解説|教|定|規定)*"
)


@cache
def analyzer() -> Analyzer:
    """The one analyzer of localrag: the same for indexing, querying and reading."""
    return Analyzer()


def check(query: Query) -> None:
    """Refuse what cannot be a question.

    Raises:
        UsageError: it is not Unicode, only blanks and punctuation, or longer than
            `MAX_CHARACTERS`.
    """
    try:
        full_text(query).encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            N_("The question holds half a character (\\ud800 to \\udfff)."), N_("Leave it out.")
        ) from error
    length = characters(query)
    if length > MAX_CHARACTERS:
        raise UsageError(
            N_("The question has {n:,} characters; {most:,} are the limit."),
            N_("Ask a shorter question, or add the text as a document with `localrag add`."),
            n=length,
            most=MAX_CHARACTERS,
        )
    if not any(map(str.isalnum, query.text + "".join(query.options))):
        raise UsageError(N_("The question holds no word."), N_("Write what you want to know."))
    if len(query.text.strip()) == 1 and not (query.options or query.history):
        raise UsageError(
            N_("The question is a single character."), N_("Write what you want to know.")
        )


def checked(query: Query, settings: RetrievalConfig) -> Query:
    """A query that can be asked, with what the setting ``retrieval.where`` wants besides.

    The codes of a terminal, such as colours that were pasted with the text, are left out.

    Raises:
        UsageError: as `check`, or the setting cannot be read.
    """
    query = replace(query, text=_CODES.sub("", query.text))
    check(query)
    if not (settings.where or query.filters.where):
        return query
    where = tuple(dict.fromkeys((*query.filters.where, *read_labels(settings.where))))
    return replace(query, filters=replace(query.filters, where=where))


def with_phrases(query: Query) -> Query:
    """The query of a search: what is found has the words that the query has in quotation marks.

    "正当の事由" finds no 正当な理由. 「」 quote in Japanese questions, and bind nothing.
    """
    phrases = tuple(one for one in _PHRASE.findall(query.text) if any(map(str.isalnum, one)))
    text = _PHRASE.sub(r" \1 ", query.text).strip()
    return replace(query, text=text, filters=replace(query.filters, phrases=phrases))


def characters(query: Query) -> int:
    """How long a question is with its options."""
    return len(query.text) + sum(map(len, query.options))


def full_text(query: Query) -> str:
    """The question and its options, a line each: the options are part of what is asked."""
    return "\n".join((query.text, *query.options))


def asked_of(query: Query, laws: Sequence[LawNamed]) -> Query:
    """What a query asks of the laws that its question names: the same without their names.

    Every provision of a law bears its name: looked up with the rest, it would tell none of them
    apart. What a law is, where nothing else is asked, its provision on its purpose says.
    """
    if not laws:
        return query
    rest = without_names(query.text, laws)
    return replace(query, text=_PURPOSE if asks_nothing_else(rest) else rest)


def asks_nothing_else(rest: str) -> bool:
    """Whether nothing is asked beside what was taken out of a question: laws, provisions."""
    return _NOTHING_ELSE.fullmatch(rest.strip()) is not None


def inverse_document_frequency(count: int, frequency: int) -> float:
    """How much a term found in `frequency` of `count` entries says (as in BM25; above 0).

    A corpus of a few documents tells nothing about how common a word is: it counts as one of
    `_LEAST_COUNT` entries, so that a word it lacks does not outweigh all others.
    """
    return math.log(1 + (max(count, _LEAST_COUNT) - frequency + 0.5) / (frequency + 0.5))


SNIPPET = 280
"""Characters of a hit's text that a snippet spans."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A window on a passage's text.

    Attributes:
        start, end: span of the window in the passage's text, in characters.
        highlights: spans in the passage's text, inside the window, that match the question.
    """

    start: int
    end: int
    highlights: tuple[tuple[int, int], ...]


def snippet(query: Query, text: str, size: int) -> Snippet:
    """The window of at most `size` characters that shows most of the question's terms."""
    terms = _asked(full_text(query))
    start, end = best_window(text, terms, size)
    spans = highlight(text[start:end], terms)
    return Snippet(start, end, tuple((start + a, start + b) for a, b in spans))


# Of questions: those at hand, for each of their hits. All that a server is asked would fill memory.
@lru_cache(maxsize=32)
def _asked(text: str) -> frozenset[str]:
    return frozenset(analyzer().terms(text))


@lru_cache(maxsize=8192)
def terms_of(title: str) -> frozenset[str]:
    """The terms of what is compared again and again: the title of an article, a heading."""
    return frozenset(analyzer().terms(title))
