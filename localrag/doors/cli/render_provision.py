"""How a provision is printed."""

from collections.abc import Sequence

from localrag.answer import wording
from localrag.corpus.knowledge import KnownTriple
from localrag.corpus.links import DELEGATES
from localrag.corpus.types import Locator, omission_notes
from localrag.doors.cli.render import cut
from localrag.doors.cli.terminal import aside, colon, say, say_text, tell
from localrag.language import N_, _
from localrag.law.applied import ReadText, ReadWords
from localrag.law.notation import cite
from localrag.search.contents import Contents, Part
from localrag.search.provision import LookedUp, Provision, ProvisionLink, ProvisionReadings
from localrag.text.harmless import one_line

_SUPPLEMENT = ("附則", "附　則")
_KINDS = {
    "refers": "",
    "applies-mutatis-mutandis": "準用：",
    "delegated-by": N_("made under: "),
    "reads": "読替え：",
}

# Provisions named for one point.
_NAMED = 3


def print_looked_up(found: LookedUp, *, most: int | None) -> None:
    """Print what a citation names: one provision with its ties, the texts of several, a law.

    Args:
        found: what it names.
        most: as of `print_provision`.
    """
    if found.contents is not None:
        _print_contents(found.contents)
    elif len(found.provisions) == 1:
        print_provision(found.provisions[0], most=most)
    else:
        for view in found.provisions:
            _print_text(view)
            say("")
        tell(_("What is tied to one of them: localrag show ID"))
    if found.left_out:
        tell(_("… and {n:,} more; --all shows them").format(n=found.left_out))


def print_provision(view: Provision, *, most: int | None) -> None:
    """Print the text with its place, the links both ways, what else is known, the definitions.

    Args:
        view: the provision.
        most: links and triples printed under one heading; None prints all.
    """
    _print_text(view)
    _print_delegations(view, most)
    told = {link.label for of in view.delegations for link in of.filled_in_by}
    others = [link for link in view.filled_in_by if link.label not in told]
    _print_links(_("Also filled in by") if told else _("Filled in by"), others, most)
    # What is left to an order stands above.
    references = [link for link in view.refers_to if link.kind != DELEGATES]
    _print_links(_("Refers to"), references, most)
    _print_readings(view.reads, most)
    _print_links(_("Referred to by"), view.referred_by, most)
    _print_links(_("Words read otherwise by"), view.read_by, most)
    if view.read_by and view.as_read is None:
        hint = _("localrag show {law} --as-read-by {by} prints the text with the words replaced")
        law, by = view.passage.header, view.read_by[0].label
        say((hint.format(law=_typed(law), by=_typed(by)), "dim"), indent=2)
    _print_known(view.known, most)
    if view.terms:
        _heading(_("Terms defined elsewhere"), len(view.terms))
        for term in view.terms:
            scope = aside(term.scope) if term.scope else ""
            say((term.term, "bold"), f"{scope}{colon()}{term.passage.header}", indent=2)


def _print_text(view: Provision) -> None:
    say((view.passage.header, "bold cyan"))
    say((" > ".join((view.document.title, *view.place)), "dim"))
    say((_origin(view), "dim"))
    if told := wording.of_passage(view.passage):
        say((told, "yellow"))
    for note in omission_notes(view.document.omissions):
        say((note, "yellow"))
    if view.is_deleted:
        say((_("It is deleted: the law keeps its number alone."), "yellow"))
    say("")
    if view.as_read is not None:
        _print_as_read(view.as_read)
        return
    for line in view.passage.text.split("\n"):
        say(line, indent=2)
    for by in view.changed_by:
        say("")
        say((wording.changed(), "bold yellow"), (by.header, "bold cyan"), (f"  {by.id}", "dim"))
        for line in by.text.split("\n"):
            say(line, indent=2)


def _print_contents(contents: Contents) -> None:
    """Print headings with the articles they hold; of a part of a law each of its articles, too."""
    say((" > ".join((contents.document.title, *contents.place)), "bold cyan"))
    for note in omission_notes(contents.document.omissions):
        say((note, "yellow"))
    say("")
    _print_parts(contents.parts, whole=not contents.place, indent=2)


def _print_parts(parts: Sequence[Part], *, whole: bool, indent: int) -> None:
    for part in parts:
        if part.passage_id:
            say(part.title, (f"  {part.passage_id}", "dim"), indent=indent)
            continue
        say((part.title, "bold"), (_articles(part), "dim"), indent=indent)
        under = [one for one in part.parts if not (whole and one.passage_id)]
        if not (whole and part.title.startswith(_SUPPLEMENT)):
            _print_parts(under, whole=whole, indent=indent + 2)


def _articles(part: Part) -> str:
    """第一条―第五条, as tables of contents have it."""
    if part.first is None or part.last is None or part.first.division != part.last.division:
        return ""
    # What is deleted stands in one row: 第三十八条から第八十四条まで.
    ends = (part.first.article.partition(":")[0], part.last.article.rpartition(":")[2])
    return aside("―".join(dict.fromkeys(cite("", Locator(article=end)) for end in ends)))


def _origin(view: Provision) -> str:
    law, metadata = view.document, view.document.metadata
    parts = (metadata.get("law_num", ""), wording.state_of(law), view.passage.id)
    return "  ".join(part for part in parts if part)


def _print_delegations(view: Provision, most: int | None) -> None:
    if view.delegations:
        _heading(_("Left to orders"), len(view.delegations))
    for of in view.delegations[:most]:
        labels = [link.label for link in of.filled_in_by]
        named = _(", ").join(labels[:_NAMED])
        if (more := len(labels) - _NAMED) > 0:
            named = _("{names} and {more:,} more").format(names=named, more=more)
        absent = _("no such order is in this corpus")
        if of.has_order:
            absent = _("no provision in this corpus fills it in")
        say(of.words, ("  → ", "dim"), (named, "bold") if named else (absent, "dim"), indent=2)
    _print_rest(len(view.delegations), most)


def _print_links(title: str, links: Sequence[ProvisionLink], most: int | None) -> None:
    if links:
        _heading(title, len(links))
    for link in links[:most]:
        note = "" if link.exists else _("  (not in this corpus)")
        note = _("  (deleted)") if link.deleted else note
        say(link.label, (f"  [{_(_KINDS[link.kind])}{link.words}]{note}", "dim"), indent=2)
    _print_rest(len(links), most)


def _print_readings(reads: Sequence[ProvisionReadings], most: int | None) -> None:
    if reads:
        _heading(_("Words read otherwise"), len(reads))
    for readings in reads[:most]:
        link, note = readings.link, ""
        if not readings.told:
            note = wording.untold()
        elif not link.exists:
            note = _("  (not in this corpus)")
        cited = f"  [{link.words}{readings.part}]" if readings.told else ""
        say(link.label or "…", (cited + note, "dim"), indent=2)
        for words in readings.words:
            say(*_replacement(words), indent=4)
    _print_rest(len(reads), most)


def _print_as_read(text: ReadText) -> None:
    """Print a text with what is read in it marked, and what could not be."""
    say((wording.made_by_code(text), "bold yellow"))
    line: list[str | tuple[str, str]] = []
    for read, of_law in wording.as_read(text):
        if of_law:
            line += [(read, "bold"), (of_law, "dim")]
            continue
        first, *rest = read.split("\n")
        line.append(first)
        for following in rest:
            say(*line, indent=2)
            line = [following]
    say(*line, indent=2)
    if text.left_out:
        _heading(wording.not_made(), len(text.left_out))
    for words in text.left_out:
        say(*_replacement(words), indent=2)


def _replacement(words: ReadWords) -> tuple[str | tuple[str, str], ...]:
    pair, note = wording.replacement(words)
    return pair, (note, "yellow")


def _typed(header: str) -> str:
    """What calls the provision that a header names, as one word of a command line."""
    return header.partition("（")[0].replace(" ", "")


def _print_known(known: Sequence[KnownTriple], most: int | None) -> None:
    if known:
        _heading(_("Known besides"), len(known))
    for passage_id, triple in known[:most]:
        say_text(*cut(triple.text), (f"  {one_line(passage_id)}", "dim"), indent=2)
    _print_rest(len(known), most)


def _print_rest(count: int, most: int | None) -> None:
    if most is not None and count > most:
        rest = _("… and {n:,} more; --all shows them").format(n=count - most)
        say((rest, "dim"), indent=2)


def _heading(title: str, count: int) -> None:
    say("")
    say((f"{title}{aside(str(count))}", "bold"))
