"""What every verb shares: which workspace, which corpus, which settings."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from localrag.cli.terminal import tell
from localrag.errors import LocalragError, NotFoundError, UsageError

if TYPE_CHECKING:
    from localrag.config import Config
    from localrag.corpus.store import CorpusStore
    from localrag.retrieval.pipeline import Retriever
    from localrag.workspace import Workspace


@dataclass(frozen=True)
class Session:
    """The global options of one call."""

    home: Path | None = None
    overrides: dict[str, str] = field(default_factory=dict)

    def locate(self) -> "Workspace":
        """Find the workspace, which need not exist yet."""
        from localrag.workspace import Workspace

        return Workspace.locate(self.home)

    def workspace(self) -> "Workspace":
        """Find the workspace; WorkspaceError names the cure where there is none."""
        workspace = self.locate()
        workspace.require()
        return workspace

    def config(self) -> "Config":
        """Read the settings that hold for this call."""
        from localrag.config import load

        return load(self.locate(), self.overrides)

    def corpus(self, named: str) -> str:
        """Name the corpus: the one given, else the one of the settings."""
        return named or self.config().corpus

    def existing(self, named: str) -> str:
        """Name a corpus that exists; NotFoundError says which ones there are."""
        workspace = self.workspace()
        name = self.corpus(named)
        if not workspace.corpus(name).store.exists():
            known = ", ".join(workspace.corpora())
            raise NotFoundError(
                f"There is no corpus {name!r}.",
                f"There is: {known}." if known else "Add documents: localrag add PATH",
            )
        return name

    @contextmanager
    def store(self, named: str) -> Iterator["CorpusStore"]:
        """Open the store of a corpus for reading."""
        from localrag.corpus.store import CorpusStore

        paths = self.workspace().corpus(self.existing(named))
        with CorpusStore.open(paths.store, read_only=True) as store:
            yield store

    @contextmanager
    def retriever(self, named: str) -> Iterator["Retriever"]:
        """Open what finds passages in a corpus; says so if its index is behind the store."""
        from localrag.ingest.state import IndexState, state
        from localrag.retrieval.pipeline import Retriever

        workspace, name = self.workspace(), self.existing(named)
        with Retriever.open(workspace, name, self.config()) as retriever:
            if state(workspace.corpus(name), retriever.store) is not IndexState.FRESH:
                tell(
                    ("note: ", "yellow"),
                    f"corpus {name} has changed since it was indexed; what is new in it is not "
                    f"found until you run: localrag index --corpus {name}",
                )
            yield retriever


def parse_overrides(assignments: list[str]) -> dict[str, str]:
    """Read ``key=value`` as given to ``--set``."""
    overrides = {}
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        if not equals or not key.strip():
            raise UsageError(
                f"--set {assignment!r} is no assignment.", "Write it as --set retrieval.k=20."
            )
        overrides[key.strip()] = value.strip()
    return overrides


def complete_corpus(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names of the corpora, for the shell; nothing where there is no workspace."""
    root = ctx.find_root()
    try:
        names = Session(home=root.params.get("home")).locate().corpora()
    except (LocalragError, OSError):
        return []
    return [name for name in names if name.startswith(incomplete)]


Corpus = Annotated[
    str,
    typer.Option(
        "--corpus",
        "-c",
        metavar="NAME",
        help="Corpus to work on; without it, the setting 'corpus'.",
        autocompletion=complete_corpus,
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
