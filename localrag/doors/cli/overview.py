"""``localrag overview``: what is in a corpus."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from localrag.doors.cli.main import app, verb
from localrag.doors.cli.options import AsOf, Json, complete_corpus, on
from localrag.doors.cli.terminal import aside, colon, emit, say, say_text
from localrag.language import _, ngettext
from localrag.text.facts import Fact, FactKind

if TYPE_CHECKING:
    from localrag.ops.overview import Overview

# Values of a facet that are shown; all of them are in the JSON.
_SHOWN = 8
# Characters of a value, likewise.
_LONGEST = 60
# Summaries that are shown, likewise.
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
            help="Name of the corpus; without it, the one of the settings.",
            autocompletion=complete_corpus,
            show_default=False,
        ),
    ] = "",
    as_of: AsOf = "",
    as_json: Json = False,
) -> None:
    """Show what is in a corpus: counts, what --where can ask for, layers, and questions.

    What documents are told apart by comes from the documents themselves, and from a model where
    they were sorted (localrag prepare --layers metadata). The questions are those that a model
    has made of the documents, with answers that code has found in them; without a model those for
    the meaning of terms that laws define.
    """
    with on(context.obj, as_of).corpus(corpus).require() as opened:
        found = opened.overview()
    if as_json:
        emit(_as_json(found))
    else:
        _print(opened.name, found)


def _as_json(found: "Overview") -> dict[str, Any]:
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
        "layers": [
            {"name": one.name, "rows": one.rows, "texts": one.texts, "refused": one.refused}
            for one in found.layers
        ],
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


def _print(name: str, found: "Overview") -> None:
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
