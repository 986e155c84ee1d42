"""What has to be read from the store for a place to be shown."""

from typing import TYPE_CHECKING

from localrag.errors import NotFoundError
from localrag.language import _
from localrag_tui.source.sheet import Sheet, load
from localrag_tui.spot import Spot

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag.corpus.types import Passage
    from localrag.provision import Provision


def opened(
    store: "CorpusStore", spot: Spot, before: Sheet | None
) -> "tuple[Sheet, Passage | None]":
    """The document of a spot, and the passage that the spot names, where it is there still.

    Args:
        store: the corpus.
        spot: the place.
        before: what was read from this corpus before; taken again where nothing has changed.

    Raises:
        NotFoundError: the corpus has no such document.
    """
    passage = store.by_id(spot.passage_id) if spot.passage_id else None
    if before and before.document.id == spot.document_id and before.generation == store.generation:
        return before, passage
    return load(store, spot.document_id), passage


def described(store: "CorpusStore", passage_id: str) -> "Provision":
    """A passage and what is tied to it; raises `gone` where the corpus has lost it."""
    from localrag.provision import describe

    passage = store.by_id(passage_id)
    if passage is None:
        raise gone(passage_id)
    return describe(store, passage)


def gone(passage_id: str) -> NotFoundError:
    """Says that a passage is not there any more."""
    return NotFoundError(
        _("The corpus has no {passage} any more.").format(passage=passage_id),
        _("It was changed meanwhile: what stands here now may be another text. Search once more."),
    )
