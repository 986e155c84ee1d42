"""The text of a question: validation, term weights, snippets, and the laws it names.

Hits in a law named, or in the orders of an act named, come first; hits in other laws come last.
Each law named is searched separately with the rest of the question: its best provisions are found
even if others share their words.
"""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import NamedTuple

from localrag.corpus.config import RetrievalConfig
from localrag.corpus.facets import read_labels
from localrag.corpus.links import DELEGATED_BY
from localrag.corpus.lookups import Lookups
from localrag.corpus.types import Passage
from localrag.errors import UsageError
from localrag.language import N_
from localrag.law.names import LawNames
from localrag.law.typed import written_out
from localrag.search import MAX_CHARACTERS
from localrag.search.question.asked import orders_asked
from localrag.search.question.laws import LawNamed, laws_named, without_names
from localrag.search.types import Query, absent_among
from localrag.search.units import Scores
from localrag.text.facts import Fact, FactKind
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


# Hits outside the laws named score below all others by this factor.
_BELOW = 0.99


@dataclass(frozen=True, slots=True)
class Scope:
    """The laws named in a question, and the documents they cover.

    Attributes:
        laws: as named; a law missing from the corpus has no ids.
        circles: for each law named, the law and its orders.
        inside: all documents of the circles and of the provisions cited.
        statutes: every law of the corpus.
    """

    laws: tuple[LawNamed, ...] = ()
    circles: tuple[frozenset[str], ...] = ()
    inside: frozenset[str] = frozenset()
    statutes: Collection[str] = ()

    @property
    def events(self) -> list[Fact]:
        """Notes for the user."""
        return [Fact(FactKind.NO_SUCH_LAW, name=words) for words in self.absent]

    @property
    def absent(self) -> tuple[str, ...]:
        """The laws named and missing from the corpus, as written, each once."""
        return absent_among(self.laws)

    def with_cited(self, law_ids: Iterable[str]) -> "Scope":
        """The scope with laws whose provisions the question cites."""
        return replace(self, inside=self.inside.union(law_ids)) if self.circles else self

    def is_beside(self, document_id: str) -> bool:
        """Whether a law is outside those named in the question."""
        return bool(self.laws) and document_id in self.statutes and document_id not in self.inside

    def is_silent(self, passage: Passage) -> bool:
        """Whether every law named is missing and the passage names none of them."""
        if not self.laws or self.circles:
            return False
        text = f"{passage.header}\n{passage.text}"
        return not any(law.words in text for law in self.laws)

    def searches(self, query: Query) -> Iterator[list[Query]]:
        """For each law named, the queries for its documents.

        The first query leaves out that law's name. With several laws named there is a second query
        without any name. Names can be words of the matter: 国籍 (国籍法) in a question on 戸籍法.
        """
        for circle in self.circles:
            documents = circle.intersection(query.filters.documents or circle)
            if not documents:
                continue
            own = [law for law in self.laws if circle.intersection(law.law_ids)] or self.laws
            asked = dict.fromkeys(asked_of(query, laws).text for laws in (own, self.laws))
            filters = replace(query.filters, documents=tuple(sorted(documents)))
            yield [replace(query, text=text, filters=filters) for text in asked]

    def join(self, within: Iterable[Scores], found: Scores) -> dict[str, float]:
        """Merge the rankings within each law named and everywhere.

        Args:
            within: for each search in a law, scores relative to the best, 0 to 1.
            found: scores of the search everywhere, relative to the best.
        """
        joined: dict[str, float] = {}
        for scores in within:
            for unit, score in scores.items():
                joined[unit] = max(score, joined.get(unit, 0.0))
        for unit, score in found.items():
            if unit.rpartition("#")[0] not in self.inside:
                joined.setdefault(unit, score)
        return self.first(joined)

    def first(self, scores: Scores) -> dict[str, float]:
        """The scores with everything outside the laws named below the rest."""
        if not self.laws:
            return dict(scores)
        inside: dict[str, float] = {}
        beside: dict[str, float] = {}
        for unit, score in scores.items():
            group = beside if self.is_beside(unit.rpartition("#")[0]) else inside
            group[unit] = score
        if not beside or not inside:
            return dict(scores)
        least, most = min(inside.values()), max(beside.values())
        factor = min(1.0, _BELOW * least / most) if most > 0 else 1.0
        return inside | {unit: score * factor for unit, score in beside.items()}


NO_LAWS = Scope()
"""The scope of a question without laws."""


class OrdersUnder:
    """Finds the orders of an act, by their titles and by delegations.

    企業内容等の開示に関する内閣府令 does not name its act. Results are kept in memory.
    """

    def __init__(self, store: Lookups, names: LawNames) -> None:
        self._store = store
        self._names = names
        self._found: dict[str, tuple[str, ...]] = {}

    def __call__(self, law_id: str) -> tuple[str, ...]:
        """Ids of the orders and ordinances; those found by title come first."""
        if law_id not in self._found:
            filling = (
                order
                for order in self._store.documents_referring(law_id, DELEGATED_BY)
                if order != law_id and not self._names.is_act(order)
            )
            self._found[law_id] = tuple(dict.fromkeys((*self._names.orders(law_id), *filling)))
        return self._found[law_id]


def scope_of(query: Query, names: LawNames, store: Lookups, orders: OrdersUnder) -> Scope:
    """Find the laws named in a question; none in a corpus without statutes.

    If the corpus has the law only as another document (a code added as a PDF), a document with the
    law's name in its title replaces it.
    """
    if not names.rows:
        return NO_LAWS
    laws = tuple(
        law if law.law_ids else replace(law, law_ids=tuple(store.texts_entitled(law.words)))
        for law in laws_named(query.text, names, orders)
    )
    in_options = (law for option in query.options for law in laws_named(option, names, orders))
    left_to_another = bool(orders_asked(query.text))
    circles: dict[frozenset[str], None] = {}
    for law in (*laws, *in_options) if laws else ():
        # An order named means only that order, unless the question asks for delegations.
        acts = (law_id for law_id in law.law_ids if left_to_another or names.is_act(law_id))
        under = (order for law_id in acts for order in orders(law_id))
        circles[frozenset((*law.law_ids, *under))] = None
    circles.pop(frozenset(), None)
    inside = frozenset(law_id for circle in circles for law_id in circle)
    return Scope(laws, tuple(circles), inside, names.rows.keys())


# A follow-up.
#
# Rules recognise follow-ups badly. On twenty unseen ones, a rule for every kind answered nine. All
# questions read in turn answered ten. A question without a law is searched twice: with earlier
# questions, and alone.

_MOST_BEFORE = 3
# A longer question is complete in itself.
_LONGEST = 300
# Of a longer earlier question, only the end is read: there it asks.
_LONGEST_BEFORE = 400

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]+")
_SENTENCE_END = re.compile(r"[。．？！?!]|\.\s")
# では, の場合は: the rest of a question with a law's name alone (民法では).
_NOTHING_ASKED = re.compile(r"[ぁ-ゖ\s、。？?]{0,6}(?:場合)?[ぁ-ゖ\s、。？?]{0,4}")


class Rewritten(NamedTuple):
    """A question completed by earlier ones.

    Attributes:
        text: the question with short citations written out, after the questions it continues.
        last: the question alone, if `text` begins with others; else "".
    """

    text: str
    last: str = ""


def rewritten(question: str, history: Sequence[str], names: LawNames) -> Rewritten:
    """Complete a question by earlier ones, without a model; never fails.

    Args:
        question: as asked.
        history: earlier questions of the conversation, oldest first, as asked or as completed.
        names: the laws of the corpus.
    """
    text = written_out(question, names)
    if not history or _stands_alone(text, names):
        return Rewritten(text)
    before: list[str] = []
    for earlier in reversed(history[-_MOST_BEFORE:]):
        alone = written_out(plain_end(earlier), names)
        # A completed question already contains them.
        if any(map(str.isalnum, alone)) and not any(alone in later for later in before):
            before.insert(0, alone)
        if laws_named(alone, names):
            break
    last = _as_line(text)
    return Rewritten(" ".join([*before, last]), last) if before else Rewritten(text)


def plain_end(earlier: str) -> str:
    """One line of an earlier question; of a long one its last sentences."""
    text = _as_line(earlier)
    if len(text) <= _LONGEST_BEFORE:
        return text
    tail = text[-_LONGEST_BEFORE:]
    ends = [end.end() for end in _SENTENCE_END.finditer(tail) if end.end() < len(tail)]
    return tail[ends[0] :].strip() if ends else tail


def _stands_alone(question: str, names: LawNames) -> bool:
    """Whether a question is long, or names a law and asks something about it."""
    if len(question) > _LONGEST:
        return True
    laws = laws_named(question, names)
    return bool(laws) and _NOTHING_ASKED.fullmatch(without_names(question, laws)) is None


def _as_line(text: str) -> str:
    return _BLANKS.sub(" ", text).strip()
