"""How hits, traces and answers are printed."""

from collections.abc import Collection, Iterable

from localrag.answer import wording
from localrag.answer.types import Answer, Citation, Claim, Derivation, Status, Step
from localrag.doors.cli.terminal import aside, colon, say, say_text, tell
from localrag.language import _, ngettext
from localrag.law.names import LawNames
from localrag.search.query import SNIPPET, Snippet, snippet
from localrag.search.question.laws import LawNamed
from localrag.search.types import Hit, Query, Trace

_QUOTED = 2_000
"""Characters of a quotation, and of a computation, that are printed."""

_STYLES = {
    Status.SUPPORTED: "bold green",
    Status.QUOTED: "bold cyan",
    Status.UNSUPPORTED: "bold yellow",
    Status.NOT_FOUND: "bold yellow",
}


def print_hits(query: Query, hits: Iterable[Hit]) -> None:
    """Print a paragraph per hit: rank, place, why it was found, the part that matches, id."""
    for hit in hits:
        found = f"{wording.step(hit.stage)} {hit.score:.3f}"
        if hit.reason:
            found += f"{colon()}{hit.reason}"
        if hit.beside:
            found += _("; beside: of a law that the query does not name")
        for told in filter(None, (wording.by_model(hit), wording.of_passage(hit.passage))):
            found += _(", ") + told
        say((f"{hit.rank:>2} ", "bold"), (hit.passage.header, "bold cyan"), _beside(found))
        _print_snippet(hit.passage.text, snippet(query, hit.passage.text, SNIPPET))
        say((hit.passage.id, "dim"), indent=3)
        say("")


def print_laws(laws: Iterable[LawNamed], names: LawNames) -> None:
    """Print a line for each law that a query names: as what it was read, or that it is lacking."""
    for law in dict.fromkeys((law.words, law.law_ids) for law in laws):
        words, law_ids = law
        if law_ids:
            titles = _("; ").join(names.title(law_id) or law_id for law_id in law_ids)
            say((words, "bold"), _(" is read as {titles}").format(titles=titles))
        else:
            say((words, "bold"), (_(": the corpus has no law called so"), "bold yellow"))


def print_trace(trace: Trace) -> None:
    """Print every stage with its time, its hits and what it left out, and every call of a model."""
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
    say("")


def print_answer(answer: Answer) -> None:
    """Print the laws that are lacking, the verdict, what it rests on, and what comes near."""
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
    """Print what answers without a model, above what a model wrote in vain."""
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
    """The beginning of a text as parts of a line, and how long it is where that is not all."""
    if len(text) <= most:
        return [(text, style)]
    return [(text[:most], style), (_in_all(text), "dim")]


def tell_events(trace: Trace, absent: Collection[str] = ()) -> None:
    """Say on standard error what a stage left out or switched off; see `wording.events`."""
    for event in wording.events(trace, absent):
        tell((_("note: "), "yellow"), str(event))


def tell_wordings(trace: Trace) -> None:
    """Say on standard error which words of the law were looked up besides the user's own."""
    for fact in wording.looked_up(trace.wordings):
        tell((str(fact), "cyan"))


def _beside(words: str) -> str:
    """Words in brackets, apart from a heading that may end in brackets itself."""
    return _("  ({words})").format(words=words)


def _verdict(answer: Answer) -> str:
    if answer.status is Status.NOT_FOUND and answer.trace.calls and not answer.doubts:
        return _("{verdict} (see --no-model)").format(verdict=wording.verdict(answer))
    return wording.verdict(answer)


def _in_all(text: str) -> str:
    return _(" … ({n:,} characters in all)").format(n=len(text))


def _marks(answer: Answer, claim: Claim) -> str:
    """The numbers of a claim's citations, the rejected ones struck out."""
    return "".join(wording.mark(answer, number) for number in claim.citations)


def _print_derivation(answer: Answer, derivation: Derivation) -> None:
    """Print a line for each step, what was found and where, and then what was computed."""
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
