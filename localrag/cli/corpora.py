"""``localrag list`` and ``localrag remove``: what a workspace holds."""

import sys
from dataclasses import asdict
from typing import Annotated, Any

import typer

from localrag.cli.questions import unicode
from localrag.cli.session import CorpusName, Json, complete_corpus, indexing
from localrag.cli.terminal import columns, emit, emit_all, say, table, tell
from localrag.cli.verbs import verb
from localrag.errors import UsageError
from localrag.harmless import harmless
from localrag.language import N_, _
from localrag.session import Session

_HEADINGS = {
    "corpus": N_("corpus"),
    "documents": N_("documents"),
    "passages": N_("passages"),
    "characters": N_("characters"),
    "index": N_("index"),
    "vectors": N_("vectors"),
}
_STATES = {
    "fresh": N_("fresh"),
    "behind": N_("behind"),
    "missing": N_("none"),
    "damaged": N_("damaged"),
    "outdated": N_("outdated"),
}
"""What `IndexState` says."""


def register(app: typer.Typer) -> None:
    """Add the verbs to `app`."""
    verb(
        app,
        "list",
        examples=["localrag list", "localrag list main --kind law", "localrag list main --json"],
        exit_codes=(0, 3, 5),
    )(list_)
    verb(
        app,
        "remove",
        examples=[
            "localrag remove 599AC0000000001",
            "localrag remove pages/kite-mail.md --corpus main",
            "localrag remove --all --corpus trial --yes",
        ],
        exit_codes=(0, 2, 3, 5, 6, 7),
    )(remove)


def list_(
    context: typer.Context,
    corpus: Annotated[
        str,
        typer.Argument(
            metavar="CORPUS",
            help="List the documents of this corpus; without it, the corpora.",
            autocompletion=complete_corpus,
            show_default=False,
        ),
    ] = "",
    kind: Annotated[
        str | None,
        typer.Option(help="Only documents of this kind: law, markdown, jsonl …", metavar="KIND"),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the corpora of the workspace, or the documents of one corpus.

    Corpora come with their number of documents and passages and the state of their indexes.
    """
    session: Session = context.obj
    if corpus:
        _list_documents(session, corpus, kind, as_json=as_json)
    else:
        _list_corpora(session, as_json=as_json)


def remove(
    context: typer.Context,
    documents: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DOCUMENT", help="Ids of documents, as localrag list CORPUS shows them."
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Remove the whole corpus, its store and its index.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before --all.")] = False,
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """Remove documents from a corpus, or a whole corpus.

    The files they were read from are not touched. Adding such a file again brings it back.
    """
    if bool(documents) == everything:
        raise UsageError(
            N_("Name documents, or the whole corpus with --all."),
            N_("See: localrag list"),
        )
    session: Session = context.obj
    opened = session.corpus(corpus).require()
    name = opened.name
    if everything:
        question = _("Remove the corpus {corpus} with everything in it?")
        _confirm(question.format(corpus=name), yes=yes)
        opened.delete()
    else:
        opened.remove(*map(unicode, documents or []))
    if as_json:
        emit({"corpus": name, "documents": documents or [], "all": everything})
    elif everything:
        say(_("corpus {corpus} removed").format(corpus=name))
    else:
        removed = _("corpus {corpus}: {n:,} documents removed")
        say(removed.format(corpus=name, n=len(set(documents or []))))
        say(_("Next, bring the index up to date: "), (indexing(session, name), "bold"))


def _confirm(question: str, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(
            N_("Nobody is there to confirm it."),
            N_("Add --yes to go ahead."),
        )
    if not typer.confirm(harmless(question), err=True):
        raise UsageError(
            N_("Nothing was removed."),
        )


def _list_corpora(session: Session, *, as_json: bool) -> None:
    from localrag.corpus.store import CorpusStore
    from localrag.ingest.state import state, vector_state

    workspace = session.workspace.require()
    found: list[dict[str, Any]] = []
    for name in workspace.corpora():
        place = workspace.corpus(name)
        with CorpusStore.open(place.store, read_only=True) as store:
            extent = store.extent()
            words, vectors = state(place, store), vector_state(place, store)
        found.append(
            {
                "corpus": name,
                **extent._asdict(),
                "index": str(words),
                "vectors": str(vectors),
            }
        )
    if as_json:
        emit(found)
    elif found:
        table(
            [_(_HEADINGS[name]) for name in found[0]],
            [[_told(value) for value in row.values()] for row in found],
        )
    else:
        tell(
            _("There is no corpus yet. Add documents: localrag add PATH, or localrag add --sample")
        )


def _told(value: int | str) -> str:
    """A cell of the list of corpora: a number, how an index is, or a name."""
    return f"{value:,}" if isinstance(value, int) else _(_STATES.get(value, value))


def _list_documents(session: Session, corpus: str, kind: str | None, *, as_json: bool) -> None:
    with session.corpus(corpus) as opened:
        documents = opened.store.documents(kind)
        if as_json:
            emit_all(map(asdict, documents))
        else:
            columns(
                (_("id"), _("kind"), _("date"), _("passages"), _("title")),
                (
                    (d.id, d.kind, d.metadata.get("date", ""), f"{d.passages:,}", d.title)
                    for d in documents
                ),
            )
