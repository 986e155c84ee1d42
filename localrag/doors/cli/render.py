"""How hits, traces, answers and provisions are printed."""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from localrag.answer import wording
from localrag.answer.types import Answer, Citation, Claim, Derivation, Status, Step
from localrag.corpus.links import DELEGATES
from localrag.corpus.types import Locator, omission_notes
from localrag.doors.cli.terminal import aside, say, say_text, tell, tell_note
from localrag.language import N_, _, colon, ngettext
from localrag.law.names import LawNames
from localrag.law.notation import cite
from localrag.search.query import SNIPPET, Snippet, snippet
from localrag.search.question.laws import LawNamed
from localrag.search.types import Hit, Query, Trace
from localrag.text.harmless import one_line

if TYPE_CHECKING:
    from localrag.corpus.knowledge import KnownTriple
    from localrag.law.applied import ReadText, ReadWords
    from localrag.search.contents import Contents, Part
    from localrag.search.provision import LookedUp, Provision, ProvisionLink, ProvisionReadings

_QUOTED = 2_000
"""Characters of a quotation, and of a computation, that are printed."""

_STYLES = {
    Status.SUPPORTED: "bold green",
    Status.QUOTED: "bold cyan",
    Status.UNSUPPORTED: "bold yellow",
    Status.NOT_FOUND: "bold yellow",
}


def print_hits(query: Query, hits: Iterable[Hit]) -> None:
    """Print a paragraph per hit: rank, place, reason, matching part, id."""
    for hit in hits:
        found = f"{wording.step(hit.stage)} {hit.score:.3f}"
        if hit.reason:
            found += f"{colon()}{hit.reason}"
        if hit.beside:
            found += _("; beside: of a law not named in the query")
        for told in filter(None, (wording.by_model(hit), wording.of_passage(hit.passage))):
            found += _(", ") + told
        say((f"{hit.rank:>2} ", "bold"), (hit.passage.header, "bold cyan"), _beside(found))
        _print_snippet(hit.passage.text, snippet(query, hit.passage.text, SNIPPET))
        say((hit.passage.id, "dim"), indent=3)
        say("")


def print_laws(laws: Iterable[LawNamed], names: LawNames) -> None:
    """Print the laws of a query as they were read, and missing ones."""
    for law in dict.fromkeys((law.words, law.law_ids) for law in laws):
        words, law_ids = law
        if law_ids:
            titles = _("; ").join(names.title(law_id) or law_id for law_id in law_ids)
            say((words, "bold"), _(" is read as {titles}").format(titles=titles))
        else:
            say((words, "bold"), (_(": the corpus has no law called so"), "bold yellow"))


def print_trace(trace: Trace) -> None:
    """Print every stage with its time, its hits and omissions, and every call of a model."""
    for record in trace.stages:
        hits = ngettext("{n} hit", "{n} hits", len(record.hits)).format(n=len(record.hits))
        about = wording.step(record.subject)
        say(
            (_("stage {stage}").format(stage=wording.step(record.stage)), "bold"),
            f" {about}" if about else "",
            f"  {hits}{_(', ')}{record.seconds * 1000:.1f} ms",
        )
        if record.query:
            say((_("searched for: "), "dim"), record.query, indent=2)
        for hit in record.hits:
            say(
                f"{hit.rank:>3}  {hit.score:>9.3f}  ",
                (hit.passage.id, "cyan"),
                f"  {hit.passage.header}" + (_beside(str(hit.reason)) if hit.reason else ""),
                indent=2,
            )
        for event in record.events:
            say((_("note: "), "yellow"), str(event), indent=2)
    for call in trace.calls:
        cost = _("{read:,} tokens read{reused}, {written:,} written, {seconds:.1f} s").format(
            read=call.prompt,
            reused=_(" ({n:,} reused)").format(n=call.cached) if call.cached else "",
            written=call.completion,
            seconds=call.seconds,
        )
        say(
            (_("model {name}").format(name=call.model), "bold"),
            f" {wording.step(call.purpose)}" if call.purpose else "",
            f"  {cost}",
        )
        if call.thinking:
            thought = _("thought ({n:,} tokens): ").format(n=call.thought)
            say((thought, "dim"), *cut(" ".join(call.thinking.split()), "dim"), indent=2)
        for note in call.notes:
            say((_("note: "), "yellow"), str(note), indent=2)
    say("")


def print_answer(answer: Answer) -> None:
    """Print missing laws, the verdict, its evidence, and the closest provisions."""
    if answer.read_as:
        say((_("read as: "), "dim"), *cut(answer.read_as, most=_QUOTED))
    if answer.absent:
        say((_("not in this corpus: "), "bold red"), *cut("、".join(answer.absent), "bold"))
    status = _(wording.STATUSES[answer.status])
    headline = ((status, _STYLES[answer.status]), f"{colon()}{_verdict(answer)}")
    if answer.quotations:
        say(*headline)
        _print_quotations(answer)
    if answer.label:
        say_text((f"{answer.label} ", "bold green"), (answer.text, "bold"))
    elif answer.is_concluded and answer.text:
        say_text(*cut(answer.text, "bold"))
    if not answer.quotations:
        say(*headline)
    if answer.derivation:
        _print_derivation(answer, answer.derivation)
    if answer.claims and not answer.quotations:
        say("")
    for claim in answer.claims:
        say_text(claim.text, (f" {_marks(answer, claim)}", "bold"))
        if claim.moved:
            say((wording.moved(), "dim"), indent=2)
        for one in claim.mismatches:
            say_text(*cut(wording.mismatch(one.kind, one.written, claim.text), "yellow"), indent=2)
    for number, citation in enumerate(answer.citations, 1):
        if citation.verified:
            say("")
            say((f"[{number}] ", "bold"), *cut(citation.label, "bold cyan"))
            _print_quoted(citation)
            if supplement := wording.supplement(answer, citation):
                say_text(*cut(supplement, "dim"), indent=4)
    for number, citation in enumerate(answer.citations, 1):
        if not citation.verified:
            say("")
            say(
                (f"[{number}] ", "bold"),
                (_("rejected: "), "bold red"),
                *cut(citation.label or citation.passage_id),
                aside(str(citation.problem)),
            )
            say_text(*cut(citation.quote, most=_QUOTED), indent=4)
    if answer.nearest:
        say("")
        say(wording.nearest(answer.status), colon().rstrip())
    for near in answer.nearest:
        said = f"  {near.beginning}  "
        say(*cut(near.label, "cyan"), said, (near.passage_id, "dim"), indent=2)


def _print_quotations(answer: Answer) -> None:
    """Print the answer without a model, above the unsupported one."""
    say("")
    say((wording.instead(), "bold"), colon().rstrip())
    for citation in answer.quotations:
        say_text(*cut(citation.label, "bold cyan"), indent=2)
        _print_quoted(citation)
    say("")
    say((wording.by_unsupported_model(), "bold yellow"), colon().rstrip())


def _print_quoted(citation: Citation) -> None:
    say_text(*cut(citation.quote, most=_QUOTED), indent=4)
    span = _("characters {start}-{end}").format(start=citation.start, end=citation.end)
    told = [citation.passage_id, span, *wording.remarks(citation)]
    say(("  ".join(told), "dim"), indent=4)


def cut(text: str, style: str = "", most: int = SNIPPET) -> list[tuple[str, str]]:
    """The beginning of a text as parts of a line, with its length if it is longer."""
    if len(text) <= most:
        return [(text, style)]
    return [(text[:most], style), (_in_all(text), "dim")]


def tell_events(trace: Trace, absent: Collection[str] = ()) -> None:
    """Name what stages left out or switched off; see `wording.events`."""
    for event in wording.events(trace, absent):
        tell_note(str(event))


def tell_wordings(trace: Trace) -> None:
    """Name the words of the law in the search, besides the user's own."""
    for fact in wording.looked_up(trace.wordings):
        tell((str(fact), "cyan"))


def _beside(words: str) -> str:
    return _("  ({words})").format(words=words)


def _verdict(answer: Answer) -> str:
    if answer.status is Status.NOT_FOUND and answer.trace.calls and not answer.doubts:
        return _("{verdict} (see --no-model)").format(verdict=wording.verdict(answer))
    return wording.verdict(answer)


def _in_all(text: str) -> str:
    return _(" … ({n:,} characters in all)").format(n=len(text))


def _marks(answer: Answer, claim: Claim) -> str:
    return "".join(wording.mark(answer, number) for number in claim.citations)


def _print_derivation(answer: Answer, derivation: Derivation) -> None:
    """Print each step with its result and place, then the computation."""
    say("")
    for number, step in enumerate(derivation.steps, 1):
        say((f"{number}. ", "bold"), *_found(answer, step))
    for computation in derivation.computed:
        say_text("=> ", *cut(computation, most=_QUOTED))


def _found(answer: Answer, step: Step) -> list[tuple[str, str]]:
    if step.triple is None:
        return [
            *cut(f"{step.subject}、{step.predicate}", "cyan"),
            (colon(), "cyan"),
            (_("not found"), "bold yellow"),
            (aside(wording.origin(step)), "dim"),
        ]
    triple = step.triple
    found = [
        *cut(f"{triple.subject}、{triple.predicate}", "cyan"),
        (colon(), "cyan"),
        *cut("、".join(triple.objects), "bold"),
    ]
    if step.citation:
        found.append((f" {wording.mark(answer, step.citation)}", "bold"))
    if step.stage:
        found.append((aside(wording.origin(step)), "dim"))
    return found


def _print_snippet(text: str, shown: Snippet) -> None:
    parts: list[tuple[str, str]] = []
    if shown.start > 0:
        parts.append(("… ", "dim"))
    at = shown.start
    for start, end in shown.highlights:
        parts += [(text[at:start], ""), (text[start:end], "bold")]
        at = end
    parts.append((text[at : shown.end], ""))
    if shown.end < len(text):
        parts.append((_in_all(text), "dim"))
    say(*((part.replace("\n", " "), style) for part, style in parts), indent=3)


_SUPPLEMENT = ("附則", "附　則")
_KINDS = {
    "refers": "",
    "applies-mutatis-mutandis": "準用：",
    "delegated-by": N_("made under: "),
    "reads": "読替え：",
}

# Provisions named for one point.
_NAMED = 3


def print_looked_up(found: "LookedUp", *, most: int | None) -> None:
    """Print a provision with its relations, several texts, or the contents of a law.

    Args:
        found: the result.
        most: as for `print_provision`.
    """
    if found.contents is not None:
        _print_contents(found.contents)
    elif len(found.provisions) == 1:
        print_provision(found.provisions[0], most=most)
    else:
        for view in found.provisions:
            _print_text(view)
            say("")
        tell(_("Relations of one of them: localrag show ID"))
    if found.left_out:
        tell(_("… and {n:,} more; --all shows them").format(n=found.left_out))


def print_provision(view: "Provision", *, most: int | None) -> None:
    """Print the text with its place, links both ways, further triples, definitions.

    Args:
        view: the provision.
        most: links and triples printed under one heading; None prints all.
    """
    _print_text(view)
    _print_delegations(view, most)
    told = {link.label for of in view.delegations for link in of.filled_in_by}
    others = [link for link in view.filled_in_by if link.label not in told]
    _print_links(_("Also filled in by") if told else _("Filled in by"), others, most)
    # References to orders are printed above.
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


def _print_text(view: "Provision") -> None:
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


def _print_contents(contents: "Contents") -> None:
    """Print headings with the articles they hold; of a part of a law each of its articles, too."""
    say((" > ".join((contents.document.title, *contents.place)), "bold cyan"))
    for note in omission_notes(contents.document.omissions):
        say((note, "yellow"))
    say("")
    _print_parts(contents.parts, whole=not contents.place, indent=2)


def _print_parts(parts: "Sequence[Part]", *, whole: bool, indent: int) -> None:
    for part in parts:
        if part.passage_id:
            say(part.title, (f"  {part.passage_id}", "dim"), indent=indent)
            continue
        say((part.title, "bold"), (_articles(part), "dim"), indent=indent)
        under = [one for one in part.parts if not (whole and one.passage_id)]
        if not (whole and part.title.startswith(_SUPPLEMENT)):
            _print_parts(under, whole=whole, indent=indent + 2)


def _articles(part: "Part") -> str:
    if part.first is None or part.last is None or part.first.division != part.last.division:
        return ""
    # Deleted articles share a row: 第三十八条から第八十四条まで.
    ends = (part.first.article.partition(":")[0], part.last.article.rpartition(":")[2])
    return aside("―".join(dict.fromkeys(cite("", Locator(article=end)) for end in ends)))


def _origin(view: "Provision") -> str:
    law, metadata = view.document, view.document.metadata
    parts = (metadata.get("law_num", ""), wording.state_of(law), view.passage.id)
    return "  ".join(part for part in parts if part)


def _print_delegations(view: "Provision", most: int | None) -> None:
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


def _print_links(title: str, links: "Sequence[ProvisionLink]", most: int | None) -> None:
    if links:
        _heading(title, len(links))
    for link in links[:most]:
        note = "" if link.exists else _("  (not in this corpus)")
        note = _("  (deleted)") if link.deleted else note
        say(link.label, (f"  [{_(_KINDS[link.kind])}{link.words}]{note}", "dim"), indent=2)
    _print_rest(len(links), most)


def _print_readings(reads: "Sequence[ProvisionReadings]", most: int | None) -> None:
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


def _print_as_read(text: "ReadText") -> None:
    """Print a text with its replacements, and those not made."""
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


def _replacement(words: "ReadWords") -> tuple[str | tuple[str, str], ...]:
    pair, note = wording.replacement(words)
    return pair, (note, "yellow")


def _typed(header: str) -> str:
    return header.partition("（")[0].replace(" ", "")


def _print_known(known: "Sequence[KnownTriple]", most: int | None) -> None:
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
