"""Finds references and definitions of statutes, incrementally."""

from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from localrag.corpus.ingest.events import FINDING_REFERENCES, FileFailed, Listener
from localrag.corpus.links import ReferenceRow
from localrag.corpus.store import CorpusStore, Definition
from localrag.corpus.types import Document
from localrag.errors import InputError
from localrag.language import N_
from localrag.text.progress import Stopwatch
from localrag_indexes.parallel import map_stream

if TYPE_CHECKING:
    from localrag.law.names import LawNames

# With more changed laws, reading every law is as fast as looking for their names.
_MANY = 200


def link(store: CorpusStore, *, rebuild: bool, workers: int, on_event: Listener) -> tuple[int, int]:
    """Update the stored references and definitions.

    References depend on a statute's text and on the names of laws in the corpus. So changed
    statutes are read again, and statutes with a name that was added, removed or reassigned. A
    statute that fails is reported as `FileFailed`; the rest continues.

    Args:
        store: shows the newest state of every law.
        rebuild: read all statutes.
        workers: processes.
        on_event: called with progress and failures.

    Returns:
        The numbers of references and of definitions found.
    """
    from localrag.law.names import LawNames

    names, before = LawNames.from_rows(store.laws()), LawNames.from_rows(store.linked_names())
    every = store.law_states()
    keys = every if rebuild or not before.rows else _to_read(store, every, before, names)
    find = FindLinks(store.path, names)
    watch = Stopwatch(on_event)

    def found() -> Iterator[tuple[int, tuple[ReferenceRow, ...], tuple[Definition, ...]]]:
        for done, (key, links) in enumerate(map_stream(find, keys, workers), start=1):
            if links.failure:
                # Not stored: the next indexing tries again.
                on_event(FileFailed(links.law_id, links.failure))
            else:
                yield key, links.references, links.definitions
            watch(FINDING_REFERENCES, done, len(keys))

    with closing(find):
        return store.replace_links(found(), everything=len(keys) == len(every))


def _to_read(
    store: CorpusStore, every: list[int], before: "LawNames", names: "LawNames"
) -> list[int]:
    """Keys of states of laws whose references may have changed."""
    changed = {
        law_id
        for law_id in before.rows.keys() | names.rows.keys()
        if before.rows.get(law_id) != names.rows.get(law_id)
    }
    if len(changed) > _MANY:
        return every
    unlinked = set(store.law_states(unlinked=True))
    if not changed:
        return sorted(unlinked)
    words = _words(before, names, changed)
    related = {
        relative
        for of in (before, names)
        for law_id in changed
        for relative in (*of.parents(law_id), *of.orders(law_id))
    }
    return [
        key for key in every if key in unlinked or _names_one(store.read_words(key), words, related)
    ]


def _words(before: "LawNames", names: "LawNames", changed: Collection[str]) -> tuple[str, ...]:
    """Names and numbers whose laws have changed."""
    others = {
        name
        for name in before.names.keys() | names.names.keys()
        if set(before.names.get(name, ())) != set(names.names.get(name, ()))
    }
    rows = [of.rows[law_id] for of in (before, names) for law_id in changed if law_id in of.rows]
    return tuple(others | {row.law_num for row in rows if row.law_num})


def _names_one(words: tuple[str, str], names: tuple[str, ...], related: Collection[str]) -> bool:
    law_id, text = words
    return law_id in related or any(name in text for name in names)


@dataclass(frozen=True, slots=True)
class Links:
    """The links of one statute, or the reason of a failure."""

    law_id: str
    references: tuple[ReferenceRow, ...] = ()
    definitions: tuple[Definition, ...] = ()
    failure: InputError | None = None


class FindLinks:
    """Finds the links of one statute; picklable, each process opens its own store."""

    def __init__(self, path: Path, names: "LawNames") -> None:
        self._path = path
        self._names = names
        self._store: CorpusStore | None = None

    def close(self) -> None:
        """Close the store opened in this process."""
        if self._store is not None:
            self._store.close()

    def __call__(self, key: int) -> Links:
        """Read a state of a statute and find its references and definitions."""
        if self._store is None:
            self._store = CorpusStore.open(self._path, read_only=True)
        document = self._store.read(key)
        try:
            return _links(document, self._names)
        except Exception as error:  # noqa: BLE001 - one odd text must not keep all from being found
            problem = InputError(
                N_("Its references and definitions could not be found ({name}: {problem})."),
                N_("It can be searched all the same."),
                name=type(error).__name__,
                problem=str(error),
            )
            return Links(document.id, failure=problem)


def _links(document: Document, names: "LawNames") -> Links:
    from localrag.law.definitions import extract_definitions
    from localrag.law.references import extract_references

    return Links(
        document.id,
        tuple(map(ReferenceRow.of, extract_references(document, names))),
        tuple(extract_definitions(document)),
    )
