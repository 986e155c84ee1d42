"""The text of a question: validation, term weights, snippets."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from localrag.corpus.config import RetrievalConfig
from localrag.corpus.facets import read_labels
from localrag.errors import UsageError
from localrag.language import N_
from localrag.search import MAX_CHARACTERS
from localrag.search.question.laws import LawNamed, without_names
from localrag.search.types import Query
from localrag_indexes.analysis import Analyzer
from localrag_indexes.analysis.analyzer import best_window, highlight

# Terminal codes (ESC [ 3 1 m) and control characters.
_CODES = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LEAST_COUNT = 1000
# A quotation mark before a blank opens no phrase.
_PHRASE = re.compile(r'["“”＂](?=\S)([^"“”＂\n]{1,100})(?<=\S)["“”＂]')
_PURPOSE = "目的"
# 薬機法とは何か, 民法について説明してください, 民法709条は何を定めているか
_NOTHING_ELSE = re.compile(
    r"(?:[ぁ-ゖ\s、。?？!！「」・]|何|法律|条文|全文|原文|内容|概要|趣旨|意味|説明|解説|教|定|規定)*"
)


@cache
def analyzer() -> Analyzer:
    """The analyzer used for indexing, querying and reading."""
    return Analyzer()


def check(query: Query) -> None:
    """Refuse invalid questions.

    Raises:
        UsageError: the question is not Unicode, has only blanks and punctuation, or is longer than
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
        raise UsageError(N_("The question holds no word."), N_("Write a question."))
    if len(query.text.strip()) == 1 and not (query.options or query.history):
        raise UsageError(N_("The question is a single character."), N_("Write a question."))


def checked(query: Query, settings: RetrievalConfig) -> Query:
    """A valid query, with the filter of the setting ``retrieval.where``.

    Terminal codes pasted with the text are removed.

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
    """The query with its phrases in quotation marks as filters.

    "正当の事由" does not match 正当な理由. 「」 are ordinary marks in Japanese and filter nothing.
    """
    phrases = tuple(one for one in _PHRASE.findall(query.text) if any(map(str.isalnum, one)))
    text = _PHRASE.sub(r" \1 ", query.text).strip()
    return replace(query, text=text, filters=replace(query.filters, phrases=phrases))


def characters(query: Query) -> int:
    """Length of a question with its options, in characters."""
    return len(query.text) + sum(map(len, query.options))


def full_text(query: Query) -> str:
    """The question and its options, a line each."""
    return "\n".join((query.text, *query.options))


def asked_of(query: Query, laws: Sequence[LawNamed]) -> Query:
    """The query without the names of the laws in its question.

    The name of a law occurs in each of its provisions, so it cannot tell them apart. If nothing
    else is asked, the law's provision on its purpose answers.
    """
    if not laws:
        return query
    rest = without_names(query.text, laws)
    return replace(query, text=_PURPOSE if asks_nothing_else(rest) else rest)


def asks_nothing_else(rest: str) -> bool:
    """Whether a question has no content besides the laws and provisions taken out."""
    return _NOTHING_ELSE.fullmatch(rest.strip()) is not None


def inverse_document_frequency(count: int, frequency: int) -> float:
    """Inverse document frequency as in BM25, above 0: `frequency` of `count` entries have the term.

    A small corpus says little about how common a word is. It counts as at least `_LEAST_COUNT`
    entries: an unknown word must not outweigh all others.
    """
    return math.log(1 + (max(count, _LEAST_COUNT) - frequency + 0.5) / (frequency + 0.5))


SNIPPET = 280
"""Length of a snippet, in characters."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A window on a passage's text.

    Attributes:
        start, end: span of the window in the passage's text, in characters.
        highlights: matching spans of the passage's text inside the window.
    """

    start: int
    end: int
    highlights: tuple[tuple[int, int], ...]


def snippet(query: Query, text: str, size: int) -> Snippet:
    """The window of at most `size` characters with most of the question's terms."""
    terms = _asked(full_text(query))
    start, end = best_window(text, terms, size)
    spans = highlight(text[start:end], terms)
    return Snippet(start, end, tuple((start + a, start + b) for a, b in spans))


# Small: the current questions, for each of their hits. More would fill a server's memory.
@lru_cache(maxsize=32)
def _asked(text: str) -> frozenset[str]:
    return frozenset(analyzer().terms(text))


@lru_cache(maxsize=8192)
def terms_of(title: str) -> frozenset[str]:
    """The terms of a title or heading, cached."""
    return frozenset(analyzer().terms(title))
