"""Step `lexical`: BM25, weighted by captions, titles and predicted questions."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from localrag.corpus.lookups import Lookups
from localrag.corpus.workspace import CorpusPaths
from localrag.errors import IndexUnusable
from localrag.language import N_
from localrag.law.names import LawNames
from localrag.law.notation import caption_of
from localrag.search.query import analyzer, full_text, terms_of
from localrag.search.question.everyday import EverydayWord
from localrag.search.types import Query
from localrag.search.units import Admission, conditions, on_the_day
from localrag.text.facts import Fact, FactKind
from localrag_indexes.bm25 import BM25Index
from localrag_indexes.errors import IndexingError
from localrag_indexes.manifest import current

STAGE = "lexical"

_DEPTH = 200
"""Units kept for later steps."""
# Terms of a question that are looked up; limits the cost of long questions.
_TERMS = 40
# Weight of statutory words searched for everyday ones; the user's own words count 1.
_STANDING_IN = 0.5
# Weight of matching predicted questions.
_PREDICTED = 2.5

# Factor for a caption （存続期間） or title made of words of the question.
_TITLED = 1.4
# Units whose titles are read; lower ones cannot reach the first ten.
_TITLES_READ = 40


class LexicalMatch(NamedTuple):
    """A unit and its agreement with the words of the question."""

    score: float
    header: str


def lexical(
    store: Lookups,
    index: BM25Index,
    query: Query,
    wordings: Sequence[EverydayWord] = (),
    questions: BM25Index | None = None,
) -> dict[str, LexicalMatch]:
    """The units with terms of the question in header or text, best first.

    Args:
        store: the corpus store.
        index: BM25 index of the units.
        query: the question.
        wordings: its everyday words, also looked up as statutory words.
        questions: BM25 index of predicted questions, by the same keys.
    """
    admission = Admission(store, query.filters)
    wanted = conditions(query.filters, store)
    among = wanted.among
    if query.filters.phrases:
        held = index.holding([t for one in query.filters.phrases for t in analyzer().terms(one)])
        among = held if among is None else among & held
    scores: dict[int, float] = {}
    asked = full_text(query)
    searches = [(index, asked, 1.0), (index, in_law(wordings), _STANDING_IN)]
    if questions is not None:
        searches.append((questions, asked, _PREDICTED))
    for searched, text, weight in searches:
        terms = searched.most_informative(analyzer().terms(text), _TERMS)
        search = partial(
            searched.search, terms, where=wanted.where, between=wanted.between, among=among
        )
        for key, score in on_the_day(store, search, _DEPTH):
            scores[key] = scores.get(key, 0.0) + weight * score
    best = sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))[:_DEPTH]
    headings = store.headings([key for key, _ in best])
    found = {}
    for key, score in best:
        # Skip passages removed since the index was built.
        if key in headings:
            unit, header = headings[key]
            if admission.admits(unit.rpartition("#")[0]):
                found[unit] = LexicalMatch(score, header)
    return found


def in_law(wordings: Sequence[EverydayWord]) -> str:
    """Statutory words for everyday ones, a line for each phrase."""
    return "\n".join(phrase for wording in wordings for phrase in wording.phrases)


def weigh(
    found: Mapping[str, LexicalMatch],
    query: Query,
    names: LawNames,
    wordings: Sequence[EverydayWord] = (),
) -> dict[str, float]:
    """Raise units whose caption or title has only words of the question.

    Args:
        found: units to weigh.
        query: the question.
        names: of the laws.
        wordings: the everyday words of the question.
    """
    weighed = {unit: match.score for unit, match in found.items()}
    asked = set(analyzer().terms(f"{query.text}\n{in_law(wordings)}"))
    for unit in sorted(weighed, key=weighed.__getitem__, reverse=True)[:_TITLES_READ]:
        header = found[unit].header
        is_article = unit.partition("#")[0] in names.rows
        title = caption_of(header) if is_article else header.rpartition(" > ")[2]
        # Compare without 等: 債権等の消滅時効 is about 債権 and others.
        if (terms := terms_of(title) - {"等"}) and terms <= asked:
            weighed[unit] *= _TITLED
    return weighed


def open_index(place: CorpusPaths) -> BM25Index:
    """Open the BM25 index of a corpus.

    Raises:
        IndexUnusable: it is missing or cannot be used; the error names the cure.
    """
    index = _open(place, place.bm25)
    if index is None:
        raise IndexUnusable(
            N_("The corpus {corpus!r} has no usable index."),
            Fact(FactKind.TO_INDEX, corpus=place.name),
            corpus=place.name,
        )
    return index


def open_questions(place: CorpusPaths) -> BM25Index | None:
    """Open the index of predicted questions; None if the corpus has none.

    Raises:
        IndexUnusable: it cannot be used; the error names the cure.
    """
    index = _open(place, place.questions)
    return index if index is not None and index.count else None


def _open(place: CorpusPaths, root: Path) -> BM25Index | None:
    folder = current(root)
    if folder is None:
        return None
    try:
        return BM25Index.open(folder, analyzer=analyzer().id)
    except IndexingError as error:
        raise IndexUnusable(
            N_("The index of corpus {corpus!r} cannot be used ({error})."),
            Fact(FactKind.TO_REBUILD, corpus=place.name),
            corpus=place.name,
            error=error,
        ) from error
