"""The documents of a corpus, put on shelves: laws by their type, others by their kind."""

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from localrag_tui.wording import DOCUMENTS

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag.statutes.names import LawNames

PAGE = 200
"""Documents of a shelf that are listed at once."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """Documents of a kind.

    Attributes:
        name: the type of its laws, or the kind of its documents, as metadata and store tell it.
        laws: whether it holds laws.
        count: how many documents it holds.
    """

    name: str
    laws: bool
    count: int


@dataclass(frozen=True, slots=True)
class Title:
    """A document on a shelf."""

    document_id: str
    title: str


def shelves(store: "CorpusStore", names: "LawNames") -> list[Shelf]:
    """The shelves of a corpus that hold something."""
    laws = Counter(row.law_type or "Misc" for row in names.rows.values())
    found = [Shelf(name, laws=True, count=count) for name, count in laws.items()]
    kinds = store.kinds()
    kinds.pop("law", None)
    found += [Shelf(name, laws=False, count=count) for name, count in kinds.items()]
    order = list(DOCUMENTS)
    return sorted(
        found, key=lambda shelf: order.index(shelf.name) if shelf.name in DOCUMENTS else len(order)
    )


def titles(store: "CorpusStore", names: "LawNames", shelf: Shelf, after: str = "") -> list[Title]:
    """A page of the documents of a shelf; `after` is the last document of the page before."""
    if not shelf.laws:
        return [Title(*row) for row in store.listed(shelf.name, after, PAGE)]
    laws = (row for row in names.rows.values() if (row.law_type or "Misc") == shelf.name)
    if after:
        next((row for row in laws if row.law_id == after), None)
    return [Title(row.law_id, row.title) for row in islice(laws, PAGE)]


def shelf_of(store: "CorpusStore", document_id: str) -> tuple[str, Title]:
    """The name of the shelf that a document stands on, and its title there.

    Raises:
        NotFoundError: the corpus has no such document.
    """
    document = store.document(document_id)
    name = document.kind if document.kind != "law" else document.metadata.get("law_type", "")
    return name or "Misc", Title(document_id, document.title)
