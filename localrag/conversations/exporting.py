"""Writes a conversation into a file of the user's."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from localrag.conversations.export import Locate, markdown
from localrag.conversations.store import Conversations
from localrag.corpus.store import CorpusStore
from localrag.durable import replace_text
from localrag.errors import LocalragError, StorageError, UsageError
from localrag.harmless import one_line
from localrag.provision import citation_of
from localrag.reading.types import Citation
from localrag.workspace import Workspace

# What no file name may hold on Windows; the rest of its rules concern the beginning and the end.
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\u2400-\u241f\ufffd]+')
# Bytes: file systems take 255, of which a writer needs a few for the ending.
_LONGEST = 200


class FileExistsAlready(UsageError):  # noqa: N818 - the name says what is there
    """There is a file in the place of a new one."""


def export(
    conversations: Conversations,
    workspace: Workspace,
    conversation_id: int,
    path: Path,
    *,
    replace: bool = False,
) -> None:
    """Write a conversation as Markdown, in the language in use.

    Args:
        conversations: where it is kept.
        workspace: whose corpora tell the places of its citations.
        conversation_id: the conversation.
        path: the file.
        replace: write over a file that is there.

    Raises:
        FileExistsAlready: there is such a file, and it may not be replaced.
        NotFoundError: there is no such conversation.
        StorageError: the file cannot be written; one that was there is as before.
    """
    conversation, turns = (
        conversations.get(conversation_id),
        conversations.turns(conversation_id),
    )
    with _places(workspace) as locate:
        text = markdown(conversation, turns, locate)
    _write(path, text, replace=replace)


def file_name(title: str) -> str:
    """A name for the file of a conversation, without ending, that every system takes."""
    name = _FORBIDDEN.sub("_", one_line(title)).strip(" ._")
    name = name.encode()[:_LONGEST].decode(errors="ignore").rstrip(" .")
    return name or "conversation"


@contextmanager
def _places(workspace: Workspace) -> Iterator[Locate]:
    """Writes citations in legal style; those whose corpus or passage is gone as they were kept."""
    opened: dict[str, CorpusStore] = {}
    with ExitStack() as held:

        def locate(corpus: str, citation: Citation) -> str:
            try:
                if corpus not in opened:
                    store = CorpusStore.open(workspace.corpus(corpus).store, read_only=True)
                    opened[corpus] = held.enter_context(store)
                passage = opened[corpus].by_id(citation.passage_id)
                return citation_of(opened[corpus], passage) if passage else citation.label
            except LocalragError:
                return citation.label

        yield locate


def _write(path: Path, text: str, *, replace: bool) -> None:
    try:
        if path.is_dir():
            raise UsageError(f"{path} is a folder.", "Name a file in it.")
        if replace:
            replace_text(path, text)
            return
        with path.open("x", encoding="utf-8") as file:
            try:
                file.write(text)
                file.flush()
            except OSError:
                path.unlink()
                raise
    except FileExistsError:
        raise FileExistsAlready(
            f"There is a file {path} already.", "Choose another name, or replace it."
        ) from None
    except (OSError, ValueError) as error:
        raise StorageError(
            f"{path} cannot be written ({getattr(error, 'strerror', None) or error}).",
            "Choose another folder or name, and see that the disk has space.",
        ) from error
