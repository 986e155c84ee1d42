"""How a provision is printed, and how it reads as JSON."""

from collections.abc import Sequence
from typing import Any

from pydantic_core import to_jsonable_python

from localrag.cli.render import cut, passage_as_json
from localrag.cli.terminal import aside, colon, say
from localrag.corpus.knowledge import KnownTriple
from localrag.language import N_, _
from localrag.provision import Provision, ProvisionLink

_KINDS = {
    "refers": "",
    "applies-mutatis-mutandis": "準用：",
    "delegates": N_("delegates: "),
    "delegated-by": N_("made under: "),
}


def print_provision(view: Provision, *, most: int | None) -> None:
    """Print the text with its place, the links both ways, what else is known, the definitions.

    Args:
        view: the provision.
        most: links and triples printed under one heading; None prints all.
    """
    say((view.passage.header, "bold cyan"))
    say((" > ".join((view.document.title, *view.place)), "dim"))
    say((_origin(view), "dim"))
    say("")
    for line in view.passage.text.split("\n"):
        say(line, indent=2)
    _print_links(_("Filled in by"), view.filled_in_by, most)
    _print_links(_("Refers to"), view.refers_to, most)
    _print_links(_("Referred to by"), view.referred_by, most)
    _print_known(view.known, most)
    if view.terms:
        _heading(_("Terms defined elsewhere"), len(view.terms))
        for term in view.terms:
            scope = aside(term.scope) if term.scope else ""
            say((term.term, "bold"), f"{scope}{colon()}{term.passage.header}", indent=2)


def provision_as_json(view: Provision) -> dict[str, Any]:
    """Give the JSON of ``localrag show``."""
    return {
        "passage": passage_as_json(view.passage),
        "document": {
            "id": view.document.id,
            "title": view.document.title,
            "kind": view.document.kind,
            "source": view.document.source,
            "metadata": dict(view.document.metadata),
        },
        "place": list(view.place),
        "filled_in_by": [_link(link) for link in view.filled_in_by],
        "refers_to": [_link(link) for link in view.refers_to],
        "referred_by": [_link(link) for link in view.referred_by],
        "terms": [
            {"term": term.term, "scope": term.scope, "passage": passage_as_json(term.passage)}
            for term in view.terms
        ],
        "known": [
            {"passage_id": known.passage_id, "triple": to_jsonable_python(known.triple)}
            for known in view.known
        ],
    }


def _origin(view: Provision) -> str:
    metadata = view.document.metadata
    state = _("state of {date}").format(date=metadata["date"]) if metadata.get("date") else ""
    return "  ".join(part for part in (metadata.get("law_num", ""), state, view.passage.id) if part)


def _print_links(title: str, links: Sequence[ProvisionLink], most: int | None) -> None:
    if links:
        _heading(title, len(links))
    for link in links[:most]:
        outside = "" if link.exists else _("  (not in this corpus)")
        say(link.label, (f"  [{_(_KINDS[link.kind])}{link.words}]{outside}", "dim"), indent=2)
    _print_rest(len(links), most)


def _print_known(known: Sequence[KnownTriple], most: int | None) -> None:
    if known:
        _heading(_("Known besides"), len(known))
    for passage_id, triple in known[:most]:
        say(*cut(triple.text), (f"  {passage_id}", "dim"), indent=2)
    _print_rest(len(known), most)


def _print_rest(count: int, most: int | None) -> None:
    if most is not None and count > most:
        rest = _("… and {n:,} more; --all shows them").format(n=count - most)
        say((rest, "dim"), indent=2)


def _heading(title: str, count: int) -> None:
    say("")
    say((f"{title}{aside(str(count))}", "bold"))


def _link(link: ProvisionLink) -> dict[str, Any]:
    return {**to_jsonable_python(link), "locator": link.locator.path}
