"""Blocks of a page as content of the screen; marks and places can be clicked."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from textual.content import Content
from textual.style import Style

from localrag.language import _
from localrag.page.blocks import (
    Block,
    BlockRole,
    Changed,
    Code,
    Heading,
    Inline,
    Item,
    Items,
    Mark,
    Notice,
    Paragraph,
    PassageLink,
    Quotation,
    Remark,
    Sides,
    Strong,
    Tone,
    as_lines,
)
from localrag.text.facts import FactKind
from localrag.text.harmless import one_line
from localrag_tui.shown import content, flat, note

# Longest quotation and question on the screen, in characters; a copy has all.
_LONGEST = 600
QUIET = "$foreground-muted"
STYLES = {
    Tone.GOOD: "$success",
    Tone.NEAR: "$accent",
    Tone.DOUBTFUL: "$warning",
    Tone.WRONG: "$error",
    Tone.QUIET: QUIET,
}
# The paragraphs of lists, in the style sheet.
_KINDS = {
    BlockRole.CLAIMS: "claim",
    BlockRole.DERIVATION: "claim",
    BlockRole.QUOTATIONS: "quotation",
    BlockRole.CITATIONS: "quotation",
}


class TurnPiece(NamedTuple):
    """A paragraph.

    Attributes:
        kind: its name in the style sheet.
        citations: its citations in the answer, from 1.
        step: whether the cursor stops at it.
        near: the passage it names, besides citations.
    """

    content: Content
    kind: str
    citations: tuple[int, ...] = ()
    step: bool = False
    near: PassageLink | None = None


def cut(text: str, most: int | None = _LONGEST) -> str:
    """The beginning of a text, with its length if it is longer; None cuts nothing."""
    if most is None or len(text) <= most:
        return text
    return _("{text} … ({n:,} characters in all)").format(text=text[:most], n=len(text))


def pieces_of(blocks: Iterable[Block], most: int | None = _LONGEST) -> Iterator[TurnPiece]:
    """Write blocks as paragraphs; each entry of a list is one.

    `most` is the longest text in characters; None for any.
    """
    for block in blocks:
        match block:
            case Heading(in_outline=False):
                yield TurnPiece(content(block.text, "bold"), "first-note")
            case Paragraph(parts, role):
                yield TurnPiece(inline(parts, most), role or "note")
            case Items(entries, numbered, role):
                for number, entry in enumerate(entries, 1):
                    mark = f"{number}. " if numbered and not entry.mark else ""
                    yield _entry(entry, mark, role, most)
            case Quotation() | Sides():
                yield TurnPiece(plain(block, most), "quotation")
            case Notice(told):
                words = note(told)
                if told.kind is not FactKind.LOOKED_UP:
                    words = _("note: {event}").format(event=words)
                yield TurnPiece(content(words, QUIET), "note")


def _entry(entry: Item, mark: str, role: BlockRole | None, most: int | None) -> TurnPiece:
    parts = entry.parts if entry.mark is None else (entry.mark, " ", *entry.parts)
    text = Content.styled(mark, "bold") + inline(parts, most)
    below = [plain(block, most) for block in entry.below if not isinstance(block, Quotation)]
    for block in entry.below:
        if isinstance(block, Quotation):
            told = block.source.remarks if block.source else ()
            text += content(f"  {' · '.join(map(one_line, told))}" if told else "", QUIET)
            is_rejected = entry.mark is not None and entry.mark.source is None
            below.insert(0, content(cut(block.text, most), QUIET if is_rejected else ""))
    marks = tuple(part.number for part in parts if isinstance(part, Mark))
    links = (part for part in parts if isinstance(part, PassageLink) and part.passage_id)
    near = None if marks else next(links, None)
    kind = _KINDS.get(role, "note") if role else "note"
    is_step = bool(marks) or near is not None or kind == "claim"
    return TurnPiece(Content("\n").join([text, *below]), kind, marks, is_step, near)


def plain(block: Block, most: int | None = _LONGEST) -> Content:
    """Write a block below another one."""
    match block:
        case Paragraph(parts):
            return inline(parts, most)
        case Quotation(text):
            return content(cut(text, most))
        case Items(entries):
            lines = (content("  ") + inline(entry.parts, most) for entry in entries)
            return Content("\n").join(lines)
        case Sides() | Notice():
            return Content("\n").join(inline(parts, most) for parts in as_lines(block))
        case Heading():
            return content(block.text, "bold")


def inline(parts: Iterable[Inline], most: int | None = _LONGEST) -> Content:
    """Write the parts of a line; ids of passages are left out."""
    text = Content()
    for part in parts:
        match part:
            case str():
                # Later parts never begin a line.
                text += content(cut(part if not text.plain else one_line(part), most))
            case Strong():
                style = f"bold {STYLES[part.tone]}" if part.tone else "bold"
                text += content(cut(one_line(part.text), most), style)
            case Remark():
                gap = "  " if text.plain else ""
                text += content(gap + cut(one_line(part.text), most), STYLES[part.tone])
            case Changed():
                text += _changed(part)
            case PassageLink():
                text += _link(part)
            case Mark():
                text += (" " if text.plain else "") + _mark(part)
            case Code():
                pass
    return text


def _changed(part: Changed) -> Content:
    """A quotation beside the provision: [-words of the law-] {+words of the text+}."""
    law, said = flat(part.law), flat(part.said)
    return Content.assemble(
        content(f"[-{law}-]" if law else "", STYLES[Tone.GOOD]),
        content(f"{{+{said}+}}" if said else "", STYLES[Tone.WRONG]),
    )


def _link(link: PassageLink) -> Content:
    text = content(cut(one_line(link.text)), "$accent")
    if not link.passage_id:
        return text
    return text.stylize(Style.from_meta({"@click": ("near", (link.passage_id, link.start))}))


def _mark(mark: Mark) -> Content:
    """A citation number to click; struck out if the citation was rejected."""
    text = Content(f"[{mark.number}]").stylize("bold $primary" if mark.source else "strike $error")
    return text.stylize(Style.from_meta({"@click": f"cite({mark.number})"}))
