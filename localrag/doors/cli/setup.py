"""The verbs `overview`, `config` and `doctor`: contents, settings and problems."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from localrag.doors.cli.main import app, verb
from localrag.doors.cli.options import AsOf, CorpusName, Json, complete_corpus, on
from localrag.doors.cli.terminal import emit, say, say_text, table
from localrag.doors.session import Session
from localrag.errors import UsageError
from localrag.language import N_, _, aside, colon, ngettext
from localrag.text.facts import Fact, FactKind

if TYPE_CHECKING:
    from localrag.ops.overview import Overview


# Values of a facet on the screen; JSON has all.
_SHOWN = 8
# Characters of a value, likewise.
_LONGEST = 60
# Summaries on the screen.
_SUMMARIES = 5


@verb(
    app,
    "overview",
    examples=["localrag overview", "localrag overview laws", "localrag overview laws --json"],
    exit_codes=(0, 2, 3, 5, 7, 8),
)
def overview(
    context: typer.Context,
    corpus: Annotated[
        str,
        typer.Argument(
            metavar="CORPUS",
            help="Name of the corpus; without it, the setting corpus.",
            autocompletion=complete_corpus,
            show_default=False,
        ),
    ] = "",
    as_of: AsOf = "",
    as_json: Json = False,
) -> None:
    """Labels come from the documents themselves, and from a model that sorted them (localrag
    prepare --layers metadata). Questions were made by a model, with answers found by code. Without
    a model they ask for the meaning of defined terms.
    """
    with on(context.obj, as_of).corpus(corpus).require() as opened:
        found = opened.overview()
    if as_json:
        emit(_overview_as_json(found))
    else:
        _print_overview(opened.name, found)


def _overview_as_json(found: "Overview") -> dict[str, Any]:
    return {
        "documents": found.documents,
        "passages": found.passages,
        "characters": found.characters,
        "kinds": found.kinds,
        "facets": found.facets,
        "facets_by_model": sorted(found.by_model),
        "headings": found.headings,
        "laws_in_several_states": found.states,
        "changed_since_sorted": found.sorted_before,
        "changed_since_layers_indexed": found.layers_behind,
        "layers": list(map(asdict, found.layers)),
        "summaries": [
            {
                "where": [list(label) for label in one.labels],
                "summary": one.text,
                "questions": one.questions,
                "rests_on": [{"document": id_, "start": start} for id_, start in one.rests_on],
            }
            for one in found.summaries
        ],
        "questions": found.questions,
        "starting_questions": found.starting,
        "redundancy": found.redundancy
        and {
            "questions": found.redundancy.questions,
            "clusters": found.redundancy.clusters,
            "largest": found.redundancy.largest,
            "threshold": found.redundancy.threshold,
            "share": found.redundancy.share,
        },
    }


def _print_overview(name: str, found: "Overview") -> None:
    from localrag.corpus.facets import CHAPTER, value_name
    from localrag.corpus.types import facet_name

    documents = ngettext("{n:,} document", "{n:,} documents", found.documents)
    counts = _("{documents}, {passages:,} passages, {characters:,} characters").format(
        documents=documents.format(n=found.documents),
        passages=found.passages,
        characters=found.characters,
    )
    say((name, "bold"), colon(), counts)
    if found.states:
        say(_("laws in several states: {n:,}").format(n=found.states))
    for key, values in found.facets.items():
        told = aside(_("told by a model")) if key in found.by_model else ""
        say((facet_name(key), "cyan"), told, colon(), _listed(key, values))
    if found.headings:
        words = _("{n:,} different headings").format(n=found.headings)
        say((facet_name(CHAPTER), "cyan"), colon(), words)
    if found.sorted_before:
        say(_("The documents have changed since a model sorted them: localrag prepare"))
    for layer in found.layers:
        words = _("{rows:,} rows, {texts:,} texts").format(rows=layer.rows, texts=layer.texts)
        refused = _("{n:,} refused by code").format(n=layer.refused)
        say(_("layer "), (layer.name, "cyan"), colon(), words, *_if(layer.refused, refused))
    if found.layers_behind:
        begun = ",".join(layer.name for layer in found.layers)
        cure = Fact(FactKind.TO_PREPARE, corpus=name, layers=begun)
        say(_("Layers or documents have changed since the layers were indexed:"), " ", str(cure))
    for summary in found.summaries[:_SUMMARIES]:
        where = _(", ").join(map(value_name, summary.labels)) or _("all documents")
        n = summary.questions
        rests = ngettext("{n:,} question", "{n:,} questions", n).format(n=n)
        say_text((where, "cyan"), aside(rests), colon(), summary.text)
    if len(found.summaries) > _SUMMARIES:
        left = len(found.summaries) - _SUMMARIES
        say(_("{n:,} more summaries: --json").format(n=left))
    if found.redundancy:
        say(
            _("{n:,} questions in {clusters:,} clusters (cosine {threshold:g})").format(
                n=found.redundancy.questions,
                clusters=found.redundancy.clusters,
                threshold=found.redundancy.threshold,
            )
        )
    if found.starting:
        if found.questions:
            say(_("It answers {n:,} questions, such as:").format(n=found.questions))
        else:
            say(_("It answers questions such as:"))
        for question in found.starting:
            say(question, indent=2)


def _if(wanted: int, words: str) -> list[str]:
    return [_(", "), words] if wanted else []


def _listed(key: str, values: Mapping[str, int]) -> str:
    from localrag.corpus.facets import value_name
    from localrag.corpus.types import Label
    from localrag.text.harmless import shorten

    some = list(values.items())[:_SHOWN]
    shown = [f"{shorten(value_name(Label(key, value)), _LONGEST)} {n:,}" for value, n in some]
    more = [_("{n:,} more").format(n=len(values) - _SHOWN)] if len(values) > _SHOWN else []
    return _(", ").join((*shown, *more))


_SOURCES = {"default": N_("default"), "flag": N_("flag")}
"""Where a value comes from, if neither a file nor a variable says so."""


@verb(
    app,
    "config",
    examples=[
        "localrag config",
        "localrag config retrieval.k",
        "localrag --set retrieval.k=5 config",
    ],
    exit_codes=(0, 2, 5),
)
def config(
    context: typer.Context,
    key: Annotated[
        str, typer.Argument(metavar="SETTING", help="Show only this setting.", show_default=False)
    ] = "",
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """A corpus can have its own settings for retrieval, written by localrag tune-retrieval. The
    settings of the corpus in use are shown.

    Change one in localrag.toml in the workspace, in the environment (LOCALRAG_RETRIEVAL__K=5), or
    for one call with --set.
    """
    from localrag.corpus.config import explain

    session: Session = context.obj
    workspace = session.workspace
    settings = explain(
        workspace, session.overrides, workspace.corpus(corpus or session.config().corpus)
    )
    if key:
        settings = [setting for setting in settings if setting.key == key]
        if not settings:
            raise UsageError(
                N_("There is no setting {key!r}."),
                N_("localrag config lists them."),
                key=key,
            )
    if as_json:
        emit(
            [
                {"key": one.key, "value": one.value, "source": one.source, "help": _(one.help)}
                for one in settings
            ]
        )
    else:
        table(
            (_("setting"), _("value"), _("comes from"), _("meaning")),
            [
                (one.key, _written(one.value), _(_SOURCES.get(one.source, one.source)), _(one.help))
                for one in settings
            ],
        )
        say((_("file: "), "dim"), (str(workspace.settings), "dim"))


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@verb(
    app,
    "doctor",
    examples=[
        "localrag doctor",
        "localrag --home /data/law doctor --json",
        "localrag doctor --mend",
        "localrag doctor --offline",
    ],
    exit_codes=(0, 5),
)
def doctor(
    context: typer.Context,
    offline: Annotated[
        bool,
        typer.Option("--offline", help="Prove that nothing goes out: work without a network."),
    ] = False,
    mend: Annotated[
        bool,
        typer.Option(
            "--mend",
            help="First repair the checksums of databases with intact contents.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Checks the installation, the workspace, and every store and index byte by byte."""
    if offline:
        _prove_offline(as_json=as_json)
        return
    from rich.cells import set_cell_size

    from localrag.ops.doctor import Health, HealthFinding, examine
    from localrag.ops.doctor import mend as mend_databases

    shown = {
        Health.GOOD: (N_("good"), "green"),
        Health.ABSENT: (N_("absent"), "dim"),
        Health.WARNING: (N_("warning"), "yellow"),
        Health.BROKEN: (N_("broken"), "bold red"),
    }
    session: Session = context.obj
    findings: list[HealthFinding] = []
    mended = mend_databases(session.workspace) if mend else ()
    for finding in chain(mended, examine(session.workspace, session.overrides)):
        findings.append(finding)
        if not as_json:
            health, style = shown[finding.health]
            say(
                (set_cell_size(_(health), 8), style),
                (finding.title, "bold"),
                f"{colon()}{finding.detail}",
            )
            if finding.cure:
                say((str(finding.cure), "bold"), indent=8)
    if as_json:
        emit(
            [
                {
                    "check": f.check,
                    "health": f.health.value,
                    "detail": str(f.detail),
                    "cure": str(f.cure),
                }
                for f in findings
            ]
        )
    if any(finding.health is Health.BROKEN for finding in findings):
        raise typer.Exit(5)


def _prove_offline(*, as_json: bool) -> None:
    """Print the steps without a network; raises typer.Exit if one failed or tried to go out."""
    from localrag.ops.offline import STEPS, prove

    proof = prove()
    if as_json:
        emit({"holds": proof.holds, **asdict(proof)})
    else:
        say(
            _("Tried in a process without a network:")
            if proof.isolated
            else _("Tried in a process without permission for sockets:")
        )
        for step in proof.steps:
            problem = step.problem or ", ".join(step.sockets)
            style = "bold red" if problem else "green"
            say((_("failed") if problem else _("done"), style), f"  {_(STEPS[step.name])}")
            if problem:
                say_text(problem, indent=8)
    if not proof.holds:
        raise typer.Exit(5)
