"""The corpora of a workspace: how large each is, and how its index stands."""

from dataclasses import dataclass

from localrag.errors import LocalragError
from localrag.language import N_
from localrag.workspace import Workspace

STATES = {
    "fresh": N_("up to date"),
    "behind": N_("older than its documents"),
    "missing": N_("not indexed"),
    "outdated": N_("of another version"),
    "damaged": N_("damaged"),
}
"""How an index can be, by `localrag.ingest.state.IndexState`."""


@dataclass(frozen=True, slots=True)
class CorpusRow:
    """A corpus in the list.

    Attributes:
        index: a key of `STATES`; "" where the corpus cannot be opened.
        problem: why not; "" where it can.
    """

    name: str
    documents: int = 0
    passages: int = 0
    index: str = ""
    problem: str = ""


def overview(workspace: Workspace) -> list[CorpusRow]:
    """Look at every corpus; one that is damaged does not keep the others from being shown."""
    return [_look(workspace, name) for name in workspace.corpora()]


def _look(workspace: Workspace, name: str) -> CorpusRow:
    from localrag.corpus.store import CorpusStore
    from localrag.ingest.state import state

    place = workspace.corpus(name)
    try:
        with CorpusStore.open(place.store, read_only=True) as store:
            extent = store.extent()
            return CorpusRow(name, extent.documents, extent.passages, str(state(place, store)))
    except LocalragError as error:
        return CorpusRow(name, problem=f"{error.cause} {error.cure}".strip())
