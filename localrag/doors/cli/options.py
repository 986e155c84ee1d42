"""What several verbs share: the corpus, questions with known answers, what is said of an index."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from localrag.corpus.workspace import Workspace
from localrag.doors.cli.terminal import tell
from localrag.doors.session import Corpus, Session
from localrag.errors import LocalragError, UsageError
from localrag.language import N_, _

if TYPE_CHECKING:
    from datetime import date

    from localrag.corpus.store import CorpusStore
    from localrag.search.types import Query


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
    from localrag.search.indexing.state import IndexState, state, vector_state

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

Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option", help="An option of a multiple-choice question; once for each.", metavar="TEXT"
    ),
]
After = Annotated[
    list[str] | None,
    typer.Option(
        "--after",
        metavar="QUESTION",
        help="A question asked before this one, which may lean on it; repeated, oldest first.",
    ),
]
Law = Annotated[
    list[str] | None,
    typer.Option(
        "--law", metavar="LAW", help="Only this law: id, title or abbreviation; may be repeated."
    ),
]
Type = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="TYPE",
        help="Only laws of this type: Act (法律), CabinetOrder (政令), MinisterialOrdinance …; "
        "may be repeated.",
    ),
]
Layer = Annotated[
    list[str] | None,
    typer.Option(
        "--layer",
        metavar="LAYER",
        help="Only this layer: articles, passages or triples; may be repeated.",
    ),
]
From = Annotated[
    str, typer.Option("--from", metavar="DATE", help="Only texts of this date (ISO) or later.")
]
To = Annotated[
    str, typer.Option("--to", metavar="DATE", help="Only texts of this date (ISO) or earlier.")
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="KEY=VALUE",
        help="Only documents that are so (kind=Act or kind=法律, ministry=総務省, chapter=罰則; "
        "what there is tells `overview`); may be repeated: of one key one of the values, of each "
        "key one.",
    ),
]

AsOf = Annotated[
    str,
    typer.Option(
        "--as-of",
        metavar="DATE",
        help="The law as of this day (2020-04-01, 令和2年4月1日); without it retrieval.as_of, else "
        "today.",
    ),
]

Lexical = Annotated[
    bool | None, typer.Option("--lexical/--no-lexical", help="Search by words, or do not.")
]
Dense = Annotated[
    bool | None,
    typer.Option("--dense/--no-dense", help="Search by meaning (embedding.model), or do not."),
]
Rerank = Annotated[
    bool | None,
    typer.Option("--rerank/--no-rerank", help="Reread the best (reranking.model), or do not."),
]


def read_query(
    store: "CorpusStore",
    words: Sequence[str],
    options: list[str] | None,
    laws: list[str] | None,
    law_types: list[str] | None,
    layers: list[str] | None,
    date_from: str,
    date_to: str,
    where: list[str] | None,
) -> "Query":
    """Put a query together from the command line.

    Args:
        store: the corpus.
        words: of the question, joined by blanks; ``-`` alone reads standard input.
        options: as for `Query`.
        laws: as for `filters_of`.
        law_types: likewise.
        layers: likewise.
        date_from: a day as a person writes it; "" for none.
        date_to: likewise.
        where: as for `filters_of`.

    Raises:
        UsageError: a date, a layer or a label is not valid, or a text is not UTF-8.
        NotFoundError: a law of ``--law`` or a type of ``--type`` is not in the corpus.
    """
    from localrag.search.types import Query

    text = " ".join(words)
    query = Query(
        text=unicode(sys.stdin.read() if text == "-" else text),
        options=tuple(map(unicode, options or ())),
    )
    if not any((laws, law_types, layers, date_from, date_to, where)):
        return query
    from localrag.search.finding import filters_of

    filters = filters_of(
        store,
        laws=tuple(map(unicode, laws or ())),
        law_types=law_types or (),
        layers=layers or (),
        date_from=_date("--from", date_from),
        date_to=_date("--to", date_to),
        where=tuple(map(unicode, where or ())),
    )
    return replace(query, filters=filters)


def on(session: Session, as_of: str) -> Session:
    """The session with the law of a day; "" leaves it as it is.

    Raises:
        UsageError: it is no day.
    """
    return session.with_settings({"retrieval.as_of": _date("--as-of", as_of) or None})


def unicode(text: str) -> str:
    """Give back text that is Unicode.

    Raises:
        UsageError: it came from bytes in another encoding, which Python keeps as half characters.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            N_("The text is not valid UTF-8."), N_("Convert it to UTF-8 first.")
        ) from error
    return text


def _date(option: str, value: str) -> str:
    return day(option, value).isoformat() if value else ""


def day(option: str, value: str) -> "date":
    """Read a day of the command line.

    Raises:
        UsageError: it is none.
    """
    from localrag.text.dates import read_day

    if read := read_day(value):
        return read
    raise UsageError(
        N_("{option} {value!r} is not a date."),
        N_("Write it as {option} 2024-04-01."),
        option=option,
        value=value,
    )
