"""How hits, traces, and blocks are printed."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from localrag.answer import wording
from localrag.doors.cli.terminal import say, say_text, tell, tell_note, type_part
from localrag.language import _, aside, colon, ngettext
from localrag.law.names import LawNames
from localrag.page.blocks import (
    Block,
    Changed,
    Code,
    Heading,
    Inline,
    Items,
    Mark,
    Notice,
    Paragraph,
    PassageLink,
    Quotation,
    QuoteSource,
    Remark,
    Sides,
    Strong,
    Tone,
)
from localrag.search.query import SNIPPET, Snippet, snippet
from localrag.search.question.laws import LawNamed
from localrag.search.types import Hit, ModelCall, Query, Trace
from localrag.text.facts import Fact, FactKind
from localrag.text.harmless import one_line

QUOTED = 2_000
"""Characters of a quotation, and of a computation, that are printed."""

_FEW_TOKENS = 16
"""Tokens below which a reply says nothing about the speed."""

_STYLES = {
    Tone.GOOD: "green",
    Tone.NEAR: "cyan",
    Tone.DOUBTFUL: "yellow",
    Tone.WRONG: "red",
    Tone.QUIET: "dim",
}


def print_blocks(
    blocks: Iterable[Block], most: int | None = None, entries: int | None = None
) -> None:
    """Print blocks; notes go to standard error.

    Args:
        blocks: the blocks.
        most: longest quotation or sentence, in characters; None for any.
        entries: longest list under a heading; None for any.
    """
    before: Block | None = None
    for block in blocks:
        if isinstance(block, Notice):
            _tell(block)
        elif not (isinstance(block, Heading) and block.in_outline):
            if before is not None and _is_apart(before, block):
                say("")
            if isinstance(before, Heading) and isinstance(block, Items):
                _print_listed(block, most, entries)
            else:
                _print(block, 2 if isinstance(block, Quotation) else 0, most)
            before = block


def _is_apart(before: Block, block: Block) -> bool:
    match block:
        case Heading():
            return True
        case Items() | Quotation():
            return not isinstance(before, Heading)
        case Paragraph():
            return isinstance(before, Quotation)
        case _:
            return False


def _print_listed(block: Items, most: int | None, entries: int | None) -> None:
    shown = replace(block, entries=block.entries[:entries])
    _print_items(shown, 2, most)
    if more := len(block.entries) - len(shown.entries):
        rest = _("… and {n:,} more; --all shows them").format(n=more)
        say((rest, "dim"), indent=2)


def _tell(note: Notice) -> None:
    if note.told.kind is FactKind.LOOKED_UP:
        tell((str(note.told), "cyan"))
    else:
        tell_note(str(note.told))


def _print(block: Block, indent: int, most: int | None) -> None:
    match block:
        case Heading(level=1):
            say((block.text, "bold cyan"))
        case Heading():
            end = colon().rstrip() if block.level > 2 else ""
            count = "" if block.count is None else aside(str(block.count))
            say((f"{block.text}{count}{end}", "bold"))
        case Paragraph():
            say_text(*_inline(block.parts, most), indent=indent)
        case Quotation():
            say_text(*cut(block.text, most=most), indent=indent)
            if block.source:
                say(("  ".join(_source(block.source)), "dim"), indent=indent)
        case Items():
            _print_items(block, indent, most)
        case Sides():
            _print_sides(block)


def _print_items(block: Items, indent: int, most: int | None) -> None:
    for number, entry in enumerate(block.entries, 1):
        mark = f"{number}. " if block.numbered else ""
        if entry.mark:
            mark = f"[{number}] "
            if number > 1:
                say("")
        say_text((mark, "bold"), *_inline(entry.parts, most), indent=indent)
        for below in entry.below:
            _print(below, indent + (4 if entry.mark else 2), most)


def _print_sides(sides: Sides) -> None:
    if sides.place:
        say((sides.place, "dim"), indent=2)
    for sign, text, style in (("- ", sides.before, "red"), ("+ ", sides.after, "green")):
        if text:
            say_text((f"{sign}{text}", style), indent=2)


def _source(source: QuoteSource) -> list[str]:
    span = _("characters {start}-{end}").format(start=source.start, end=source.end)
    return [source.passage_id, *([span] if source.start >= 0 else []), *source.remarks]


def _inline(parts: Sequence[Inline], most: int | None) -> list[type_part]:
    written: list[type_part] = []
    for part in parts:
        match part:
            case str():
                # Later parts never begin a line.
                written += cut(one_line(part) if written else part, most=most)
            case Strong():
                style = f"bold {_STYLES[part.tone]}" if part.tone else "bold"
                written += cut(one_line(part.text), style)
            case PassageLink():
                written += cut(one_line(part.text), "cyan")
            case Mark():
                blank = "" if written and written[-1][0].endswith("]") else " "
                written.append((f"{blank}{part.text}", "bold"))
            case Changed():
                written += _changed(part)
            case Remark() | Code():
                style = "dim" if isinstance(part, Code) else _STYLES[part.tone]
                written += [("  " if written else "", ""), *cut(one_line(part.text), style)]
    return written


def _changed(part: Changed) -> list[type_part]:
    """A difference as [-words of the law-] {+words of the text+}."""
    law, said = (" ".join(words.split()) for words in (part.law, part.said))
    return [
        *([(f"[-{law}-]", "green")] if law else []),
        *([(f"{{+{said}+}}", "red")] if said else []),
    ]


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


def print_trace(trace: Trace, places: Iterable[Fact] = ()) -> None:
    """Print every stage with its time, its hits and omissions, and every call of a model.

    `places`: of the models.
    """
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
            f"  {cost}{_speed(call)}",
        )
        if call.thinking:
            thought = _("thought ({n:,} tokens): ").format(n=call.thought)
            say((thought, "dim"), *cut(" ".join(call.thinking.split()), "dim"), indent=2)
        for note in call.notes:
            say((_("note: "), "yellow"), str(note), indent=2)
    for place in places:
        say(str(place))
    say("")


def _speed(call: ModelCall) -> str:
    """The tokens written a second, reading of the prompt included; "" for a short reply."""
    if call.completion < _FEW_TOKENS or call.seconds <= 0:
        return ""
    rate = call.completion / call.seconds
    return _(", {rate:.1f} tokens a second with the reading").format(rate=rate)


def cut(text: str, style: str = "", most: int | None = SNIPPET) -> list[tuple[str, str]]:
    """The beginning of a text as parts of a line, with its length if it is longer."""
    if most is None or len(text) <= most:
        return [(text, style)]
    return [(text[:most], style), (_in_all(text), "dim")]


def _beside(words: str) -> str:
    return _("  ({words})").format(words=words)


def _in_all(text: str) -> str:
    return _(" … ({n:,} characters in all)").format(n=len(text))


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
