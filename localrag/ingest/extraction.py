"""References and definitions of all statutes of a corpus, found in parallel, stored at once."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from localrag.corpus.store import CorpusStore, Definition, Reference
from localrag.corpus.types import Document
from localrag.errors import InputError
from localrag.ingest.events import FINDING_REFERENCES, FileFailed, Listener
from localrag.language import N_
from localrag.progress import Stopwatch
from localrag_indexes.parallel import map_stream

if TYPE_CHECKING:
    from localrag.statutes.names import LawNames


@dataclass(frozen=True, slots=True)
class Links:
    """What was found in one statute; `failure` says why nothing was."""

    references: tuple[Reference, ...] = ()
    definitions: tuple[Definition, ...] = ()
    failure: InputError | None = None


def extract(store: CorpusStore, *, workers: int, on_event: Listener) -> tuple[int, int]:
    """Put the references and definitions the statutes hold today in the place of the stored ones.

    A statute in which they cannot be found is told by a `FileFailed`; the rest goes on.

    Returns:
        How many references and how many definitions.
    """
    from localrag.statutes.names import LawNames

    laws = store.laws()
    ids = [law.law_id for law in laws]
    find = FindLinks(store.path, LawNames.from_rows(laws))
    definitions: list[Definition] = []
    watch = Stopwatch(on_event)

    def references() -> Iterator[Reference]:
        for done, (law_id, links) in enumerate(map_stream(find, ids, workers), start=1):
            if links.failure:
                on_event(FileFailed(law_id, links.failure))
            definitions.extend(links.definitions)
            yield from links.references
            watch(FINDING_REFERENCES, done, len(ids))

    with closing(find):
        # The references are consumed first, so the definitions are complete when needed.
        return store.replace_derived(references(), definitions)


class FindLinks:
    """Finds the links of one statute; picklable, each process opens the store for itself."""

    def __init__(self, path: Path, names: "LawNames") -> None:
        self._path = path
        self._names = names
        self._store: CorpusStore | None = None

    def close(self) -> None:
        """Close the store this process opened, if it did."""
        if self._store is not None:
            self._store.close()

    def __call__(self, law_id: str) -> Links:
        """Read a statute from the store and find what it refers to and defines."""
        if self._store is None:
            self._store = CorpusStore.open(self._path, read_only=True)
        document = self._store.read(law_id)
        try:
            return _links(document, self._names)
        except Exception as error:  # noqa: BLE001 - one odd text must not keep all from being found
            problem = InputError(
                N_("Its references and definitions could not be found ({name}: {problem})."),
                N_("It can be searched all the same."),
                name=type(error).__name__,
                problem=str(error),
            )
            return Links(failure=problem)


def _links(document: Document, names: "LawNames") -> Links:
    from localrag.statutes.definitions import extract_definitions
    from localrag.statutes.references import extract_references

    return Links(tuple(extract_references(document, names)), tuple(extract_definitions(document)))
