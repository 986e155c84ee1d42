"""What every verb shares: which workspace, which corpus, which settings."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from localrag.cli.terminal import tell
from localrag.errors import LocalragError, NotFoundError

if TYPE_CHECKING:
    from localrag.config import Config
    from localrag.corpus.store import CorpusStore
    from localrag.methods.answering import Answerer
    from localrag.retrieval.pipeline import Retriever
    from localrag.workspace import Workspace


@dataclass(frozen=True)
class Session:
    """The global options of one call."""

    home: Path | None = None
    overrides: Mapping[str, object] = field(default_factory=dict)

    def locate(self) -> "Workspace":
        """Find the workspace, which need not exist yet."""
        from localrag.workspace import Workspace

        return Workspace.locate(self.home)

    def workspace(self) -> "Workspace":
        """Find the workspace; WorkspaceError names the cure where there is none."""
        workspace = self.locate()
        workspace.require()
        return workspace

    def config(self, corpus: str = "") -> "Config":
        """Read the settings that hold for this call, and for this corpus where one is named."""
        from localrag.config import load

        workspace = self.locate()
        return load(workspace, self.overrides, workspace.corpus(corpus) if corpus else None)

    def switched(self, lexical: bool | None, dense: bool | None, rerank: bool | None) -> "Session":
        """The session with stages switched on or off for this call; None leaves one as it is."""
        switch = {None: None, True: "on", False: "off"}
        chosen = {
            "retrieval.lexical": lexical,
            "retrieval.dense": switch[dense],
            "retrieval.rerank": switch[rerank],
        }
        return self.with_settings(chosen)

    def with_settings(self, given: Mapping[str, object]) -> "Session":
        """The session with other settings for this call; None leaves one as it is."""
        known = {key: value for key, value in given.items() if value is not None}
        return replace(self, overrides={**self.overrides, **known})

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

    def indexing(self, corpus: str) -> str:
        """The command that brings the indexes of a corpus up to date."""
        usual = corpus == self.config().corpus
        return "localrag index" if usual else f"localrag index --corpus {corpus}"

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
        from localrag.retrieval.pipeline import Retriever

        workspace, name = self.workspace(), self.existing(named)
        with Retriever.open(workspace, name, self.config(name)) as retriever:
            self._tell_if_behind(name, retriever.store)
            yield retriever

    @contextmanager
    def answerer(self, named: str) -> Iterator["Answerer"]:
        """Open what answers questions about a corpus; says so if its index is behind the store."""
        from localrag.cli.draft import shown_draft
        from localrag.methods.answering import open_answers

        workspace, name = self.workspace(), self.existing(named)
        with ExitStack() as opened:
            with shown_draft() as watch:
                answers = open_answers(workspace, name, self.config(name), watch.loading)
                answerer = opened.enter_context(answers)
            self._tell_if_behind(name, answerer.retriever.store)
            yield answerer

    def _tell_if_behind(self, name: str, store: "CorpusStore") -> None:
        from localrag.ingest.state import IndexState, state, vector_state

        place = self.workspace().corpus(name)
        words, vectors = state(place, store), vector_state(place, store)
        if words is not IndexState.FRESH or vectors is IndexState.BEHIND:
            behind = "it was indexed" if words is not IndexState.FRESH else "its vectors were made"
            tell(
                ("note: ", "yellow"),
                f"corpus {name} has changed since {behind}; searches do not find what is new in "
                f"it until you run: localrag index --corpus {name}",
            )


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
MethodName = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="Answer with this method (localrag methods); without it method.name, else generative "
        "where a model writes, extractive where none does.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
