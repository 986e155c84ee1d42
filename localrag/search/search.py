"""An open corpus with its names, titles and models; and the record of one search.

Encyclopaedia pages name other pages without links: a film names its director. A title matches as
whole words, without its disambiguator in brackets. Titles too short or too common are ignored.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from math import log
from time import perf_counter
from types import MappingProxyType
from typing import NamedTuple

from localrag.corpus.lookups import Lookups
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Label, Passage
from localrag.law.citations import find_citations
from localrag.law.names import LawNames
from localrag.law.provisions import StoredProvisions
from localrag.law.resolver import CitationResolver, Resolution
from localrag.search import query
from localrag.search.query import NO_LAWS, OrdersUnder, Scope, analyzer
from localrag.search.question.everyday import EverydayWord
from localrag.search.ranking import Dense, Rerank
from localrag.search.types import Filters, Hit, Reason, StageListener, StageRecord, Trace
from localrag.search.units import Scores, parts_by_document
from localrag.text.facts import Fact, FactKind
from localrag.text.progress import ignore
from localrag_indexes.analysis.normalize import letters_of, unified
from localrag_indexes.bm25 import BM25Index

# Ignore names whose words all occur in at least 5 % of passages.
_TELLING = log(20)
_KANJI, _KATAKANA, _HIRAGANA = "㐀-鿿々〇", "ァ-ヺー", "ぁ-ゖ"
_JAPANESE = re.compile(f"[{_KANJI}{_KATAKANA}{_HIRAGANA}]")
# Japanese has no blanks between words; a change of script marks their ends.
_WORD = re.compile(
    rf"[{_KANJI}]+|[{_KATAKANA}]+|[{_HIRAGANA}]+"
    rf"|[^\W{_KANJI}{_KATAKANA}{_HIRAGANA}]+|[^\w\s]"
)
_DISAMBIGUATOR = re.compile(r"\s*\([^()]*\)$")
_SHORTEST, _SHORTEST_JAPANESE = 4, 2
# More documents with one title are parts of a whole, not a name.
_MOST_ALIKE = 100


class Titles:
    """Finds the titles of a corpus in a text; 250 bytes of memory for each title.

    Args:
        rows: key and title of every document.
        says_something: whether words are rare enough in the corpus to tell its documents apart.
    """

    def __init__(
        self, rows: Iterable[tuple[int, str]], says_something: Callable[[str], bool]
    ) -> None:
        self._says_something = says_something
        self._documents: dict[str, tuple[int, ...]] = {}
        # First word of a title: length of the longest title with that word, in characters.
        self._lengths: dict[str, int] = {}
        for key, title in rows:
            name = bare(title)
            if _is_name(name):
                self._documents[name] = (*self._documents.get(name, ()), key)
                begin = _first_word(name)
                self._lengths[begin] = max(len(name), self._lengths.get(begin, 0))

    def named_in(self, text: str, besides: str) -> list[int]:
        """Keys of the documents named in a text, in its order, each once.

        The longest of overlapping titles counts: a text on New York City does not name New York.

        Args:
            text: the text searched.
            besides: a title to ignore, that of the text's own document.
        """
        if not self._documents:
            return []
        text, own = _written(text), bare(besides)
        found: dict[str, None] = {}
        start = 0
        while word := _WORD.search(text, start):
            name = self._longest(text, word)
            if name and name != own:
                found[name] = None
            start = word.start() + len(name) if name else word.end()
        return [
            key
            for name in found
            if len(self._documents[name]) <= _MOST_ALIKE and self._says_something(name)
            for key in self._documents[name]
        ]

    def _longest(self, text: str, word: re.Match[str]) -> str:
        """The longest title at a word of a text, or ""."""
        start, end = word.span()
        last = start + self._lengths.get(word[0].lower(), 0)
        # One more character shows which word follows the last one.
        further = (match.end() for match in _WORD.finditer(text, end, last + 1))
        ends = [end, *(stop for stop in further if stop <= last)]
        for stop in reversed(ends):
            name = text[start:stop]
            # Titles begin with a capital; in a sentence only names do.
            capital = name[0].upper() + name[1:]
            if name in self._documents:
                return name
            if stop > end and capital in self._documents:
                return capital
        return ""


def bare(title: str) -> str:
    """A title for comparison: common characters, no disambiguator."""
    written = _written(title)
    return _DISAMBIGUATOR.sub("", written) or written if written.endswith(")") else written


def _written(text: str) -> str:
    return " ".join(unified(text).split())


def _first_word(name: str) -> str:
    word = _WORD.search(name)
    return word[0].lower() if word else ""


def _is_name(name: str) -> bool:
    if _JAPANESE.search(name):
        return len(name) >= _SHORTEST_JAPANESE
    # A number or a single lowercase word ("report") is not a name.
    return (
        len(name) >= _SHORTEST
        and any(character.isalpha() for character in name)
        and (" " in name or not name[0].islower())
    )


class SearchModels(NamedTuple):
    """The models of a search.

    Attributes:
        dense: search by meaning; None if off.
        without_dense: why it is off, for the user.
        rerank: reranking; None if off.
    """

    dense: Dense | None = None
    without_dense: Fact | None = None
    rerank: Rerank | None = None

    def close(self) -> None:
        """Release the models."""
        for model in (self.dense, self.rerank):
            if model is not None:
                model.close()


class Searchable:
    """One corpus, open for searching.

    Attributes:
        store: the corpus store.
        index: BM25 index of its words.
        questions: index of predicted questions; None if not made.
        models: of the search.
    """

    def __init__(
        self,
        store: CorpusStore,
        index: BM25Index,
        models: SearchModels,
        questions: BM25Index | None = None,
    ) -> None:
        self.store = store
        self.index = index
        self.questions = questions
        self.models = models

    def inverse_document_frequency(self, term: str) -> float:
        """The inverse document frequency of a term in this corpus."""
        return query.inverse_document_frequency(
            self.index.count, self.index.document_frequency(term)
        )

    @cached_property
    def names(self) -> LawNames:
        """The names of the laws of the corpus."""
        return LawNames.from_rows(self.store.laws())

    @cached_property
    def orders(self) -> OrdersUnder:
        """Orders and ordinances of each act."""
        return OrdersUnder(self.store, self.names)

    @cached_property
    def titles(self) -> Titles:
        """The titles of the documents."""
        return Titles(self.store.titles(), self._says_something)

    def resolve(self, text: str, *, law_id: str = "") -> list[Resolution]:
        """Resolve the citations of a text, in order (`CitationResolver.resolve`)."""
        # Most questions cite nothing. In free text a wide blank is a blank.
        if not find_citations(text.replace("　", " ")):
            return []
        provisions = StoredProvisions(self.store, self.names)
        return CitationResolver(self.names, provisions).resolve(text, law_id=law_id)

    def _says_something(self, name: str) -> bool:
        terms = analyzer().terms(name)
        return any(self.inverse_document_frequency(term) > _TELLING for term in terms)


class Trail:
    """Records the steps of one search.

    Args:
        store: the corpus store.
        k: number of hits recorded for each step.
        on_stage: called after each step; an exception from it ends the search.
        scope: marks hits outside the laws named in the question.
        filters: headings, phrases and labels required of a hit.
    """

    def __init__(
        self,
        store: Lookups,
        k: int,
        filters: Filters,
        on_stage: StageListener = ignore,
        scope: Scope = NO_LAWS,
    ) -> None:
        self._store = store
        self._k = k
        self._tell = on_stage
        self._scope = scope
        self._where = filters.where
        self._phrases = [letters_of(phrase) for phrase in filters.phrases]
        self._parts = parts_by_document(filters)
        self._under = store.facets.spans(filters.where) if filters.where else None
        self._passages: dict[str, Passage | None] = {}
        self._stages: list[StageRecord] = []
        self._since = perf_counter()

    @property
    def trace(self) -> Trace:
        """The steps so far."""
        return Trace(tuple(self._stages))

    def shows(self, unit: str) -> bool:
        """Whether the filters admit a unit."""
        return self._passage(unit) is not None

    def record(
        self,
        stage: str,
        scores: Scores,
        reasons: Mapping[str, Reason] = MappingProxyType({}),
        events: Sequence[Fact] = (),
        wordings: tuple[EverydayWord, ...] = (),
    ) -> tuple[Hit, ...]:
        """End a step: its best units become its hits."""
        hits: list[Hit] = []
        ranked = sorted(scores, key=scores.__getitem__, reverse=True)
        best = ranked[: self._k]
        # One query for all: hundreds would take longer than the search.
        self._look_up([*best, *(reasons[unit].other for unit in best if unit in reasons)])
        for unit in ranked:
            passage = self._passage(unit)
            if passage is not None:
                rank = len(hits) + 1
                hits.append(self._hit(passage, scores[unit], rank, stage, reasons.get(unit)))
            if len(hits) == self._k:
                break
        now = perf_counter()
        record = StageRecord(
            stage, tuple(hits), now - self._since, tuple(events), wordings=wordings
        )
        self._stages.append(record)
        self._tell(self._stages[-1])
        self._since = perf_counter()
        return tuple(hits)

    def _hit(
        self, passage: Passage, score: float, rank: int, stage: str, reason: Reason | None
    ) -> Hit:
        beside = self._scope.is_beside(passage.document_id) or self._scope.is_silent(passage)
        by_model = self._by_model(passage.document_id)
        if reason is None:
            return Hit(passage, score, rank, stage, beside=beside, by_model=by_model)
        other = self._passage(reason.other)
        return Hit(
            passage,
            score,
            rank,
            stage,
            Fact(reason.relation, other=other.header if other else reason.other),
            beside,
            fills=reason.other if reason.relation is FactKind.FILLS_IN else "",
            punishes=reason.other if reason.relation is FactKind.PUNISHES else "",
            by_model=by_model,
        )

    def _by_model(self, document: str) -> tuple[Label, ...]:
        # Read the facets only for a filter, and only once.
        where = self._where
        return self._store.facets.told_by_model(document, where) if where else ()

    def _passage(self, unit: str) -> Passage | None:
        self._look_up([unit])
        return self._passages[unit]

    def _look_up(self, units: Iterable[str]) -> None:
        unknown = [unit for unit in units if unit not in self._passages]
        if unknown:
            found = self._store.by_ids(unknown)
            wanted = {unit: one for unit, one in found.items() if self._is_wanted(one)}
            self._passages.update((unit, wanted.get(unit)) for unit in unknown)

    def _is_wanted(self, passage: Passage) -> bool:
        """Whether a passage has the phrases and headings required, and is in the parts."""
        if self._phrases:
            letters = letters_of(f"{passage.header}\n{passage.text}")
            if not all(phrase in letters for phrase in self._phrases):
                return False
        of_document = self._parts.get(passage.document_id)
        if of_document is not None and not _is_inside(passage, of_document):
            return False
        return self._under is None or _is_inside(passage, self._under.get(passage.document_id, ()))


def _is_inside(passage: Passage, spans: Iterable[tuple[int, int]]) -> bool:
    return any(start <= passage.start < end for start, end in spans)
