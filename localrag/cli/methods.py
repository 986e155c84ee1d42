"""``localrag methods``: the ways to answer that there are."""

from typing import TYPE_CHECKING, Any

from localrag.cli.main import app, verb
from localrag.cli.options import Json
from localrag.language import _, ngettext

if TYPE_CHECKING:
    from localrag.methods.catalogue import Method


@verb(
    app,
    "methods",
    examples=["localrag methods", "localrag methods --json"],
    exit_codes=(0, 2),
)
def methods(as_json: Json = False) -> None:
    """List the methods that ask, batch and eval can answer with.

    Methods for everyday use come first, then those that reproduce a paper. Each line shows what a
    method does, its source, and its calls of a model for one question with four options. Choose one
    with --method NAME, or for good with the setting method.name. The default is generative if the
    settings name a model (chat.model), else extractive.
    """
    from localrag.cli.terminal import emit, say
    from localrag.methods.catalogue import (
        NAMES,
        WITH_MODEL,
        WITHOUT_MODEL,
        Purpose,
        method,
    )

    found = [method(name) for name in NAMES]
    if as_json:
        emit([_as_json(one) for one in found])
        return
    defaults = {
        WITHOUT_MODEL: _("; answers where no method and no model is named"),
        WITH_MODEL: _("; answers where a model is named and no method"),
    }
    headings = {Purpose.USE: _("To use"), Purpose.PAPER: _("To reproduce a paper, or compare")}
    for one in found:
        if heading := headings.pop(one.purpose, ""):
            say((heading, "bold underline"))
        say((one.name, "bold"), f"  {_needs(one)}{defaults.get(one.name, '')}")
        say(_(one.about), indent=4)
        if one.source:
            say((_(one.source), "dim"), indent=4)
        if one.layers:
            made_by = _("searches what this makes: localrag prepare --layers {layers}")
            say((made_by.format(layers=",".join(one.layers)), "dim"), indent=4)


_OPTIONS = 4


def _needs(method: "Method") -> str:
    fewest, most = method.calls.of(_OPTIONS), method.calls.most(_OPTIONS)
    calls = _("{fewest} to {most}") if most > fewest else "{most}"
    model = _("no model")
    if most:
        model = ngettext("{calls} call of a model", "{calls} calls of a model", most)
    known = _(", given the texts that answer: for evaluation only") if method.reads_context else ""
    return model.format(calls=calls.format(fewest=fewest, most=most)) + known


def _as_json(method: "Method") -> dict[str, Any]:
    return {
        "name": method.name,
        "purpose": method.purpose,
        "about": _(method.about),
        "source": _(method.source),
        "calls": method.calls.of(_OPTIONS),
        "most_calls": method.calls.most(_OPTIONS),
        "searches": method.searches,
        "reads_context": method.reads_context,
        "chooses": method.chooses,
        "writes_queries": method.writes_queries,
        "layers": list(method.layers),
    }
