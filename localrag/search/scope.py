"""The laws named in a question, and how they bound its answer.

Hits in a law named, or in the orders of an act named, come first; hits in other laws come last.
Each law named is searched separately with the rest of the question: its best provisions are found
even if others share their words.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from localrag.corpus.links import DELEGATED_BY
from localrag.corpus.lookups import Lookups
from localrag.corpus.types import Passage
from localrag.law.names import LawNames
from localrag.search.query import asked_of
from localrag.search.question.asked import orders_asked
from localrag.search.question.laws import LawNamed, laws_named
from localrag.search.types import Query, absent_among
from localrag.search.units import Scores
from localrag.text.facts import Fact, FactKind

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
