"""What several verbs share: the corpus, questions with known answers, what is said of an index."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from localrag.cli.terminal import tell
from localrag.errors import LocalragError
from localrag.language import _
from localrag.session import Corpus, Session
from localrag.workspace import Workspace


def switched(
    session: Session, lexical: bool | None, dense: bool | None, rerank: bool | None
) -> Session:
    """The session with stages switched on or off for this call; None leaves one as it is."""
    switch = {None: None, True: "on", False: "off"}
    return session.with_settings(
        {
            "retrieval.lexical": lexical,
            "retrieval.dense": switch[dense],
            "retrieval.rerank": switch[rerank],
        }
    )


def indexing(session: Session, corpus: str) -> str:
    """The command that brings the indexes of a corpus up to date."""
    usual = corpus == session.config().corpus
    return "localrag index" if usual else f"localrag index --corpus {corpus}"


def tell_if_behind(corpus: Corpus) -> None:
    """Say so if what is searched is behind the documents of a corpus, which is open."""
    from localrag.ingest.state import IndexState, state, vector_state

    if state(corpus.place, corpus.store) is not IndexState.FRESH:
        behind = _("it was indexed")
    elif vector_state(corpus.place, corpus.store) is IndexState.BEHIND:
        behind = _("its vectors were made")
    else:
        return
    message = _(
        "corpus {name} has changed since {behind}; searches do not find what is new in it "
        "until you run: localrag index --corpus {name}"
    )
    tell((_("note: "), "yellow"), message.format(name=corpus.name, behind=behind))


def completing(
    names: Callable[[Workspace], list[str]],
) -> Callable[[typer.Context, str], list[str]]:
    """What completes one of these names in the shell; nothing where there is no workspace."""

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        try:
            known = names(Workspace.locate(ctx.find_root().params.get("home")))
        except (LocalragError, OSError):
            return []
        return [name for name in known if name.startswith(incomplete)]

    return complete


complete_corpus = completing(Workspace.corpora)

CorpusName = Annotated[
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
Ray = Annotated[
    str,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        help="Put the work on a cluster of Ray: its address (host:6379, auto), or local for one on "
        "this machine.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]


DatasetName = Annotated[
    str,
    typer.Argument(
        metavar="DATASET",
        help="Name of a dataset (localrag data list), or the path of questions of your own "
        "(.jsonl, .json) or of a declaration (.toml).",
        show_default=False,
    ),
]
SplitName = Annotated[
    str, typer.Option("--split", metavar="NAME", help="Split; without it, the first at hand.")
]
QuestionsFile = Annotated[
    Path | None,
    typer.Option(
        "--questions",
        metavar="FILE",
        help="Questions of your own, in the dataset's format, to be read instead of its own; its "
        "published figures are not set beside them.",
    ),
]
CorpusSearched = Annotated[
    str,
    typer.Option(
        "--corpus",
        "-c",
        metavar="NAME",
        help="Corpus to search; without it, the one of the dataset, or the setting 'corpus'.",
        autocompletion=complete_corpus,
        show_default=False,
    ),
]
