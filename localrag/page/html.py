"""Writes blocks as a fragment of HTML, without scripts; all text is escaped."""

from collections.abc import Callable, Iterable
from html import escape

from localrag.answer.prompts import language_of
from localrag.language import _, aside, ngettext
from localrag.page.blocks import (
    Block,
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
)
from localrag.text.harmless import harmless, one_line

Address = Callable[[str], str]
"""The address of a passage, by its id; "" if it has none."""


def fragment(
    blocks: Iterable[Block],
    address: Address = lambda _id: "",
    *,
    shift: int = 0,
    first_id: str = "",
    entries: int | None = None,
) -> str:
    """Write blocks as HTML.

    Args:
        blocks: the blocks; all notes follow in one fold.
        address: of passages to link.
        shift: added to the levels of headings.
        first_id: id of the first heading.
        entries: longest list of links; None for any.
    """
    all_ = list(blocks)
    writer = _Writer(address, shift, first_id, entries)
    notes = list(dict.fromkeys(str(block.told) for block in all_ if isinstance(block, Notice)))
    return "\n".join([*map(writer.block, all_), *([_fold(notes)] if notes else [])])


def _fold(notes: list[str]) -> str:
    count = ngettext("{n} note", "{n} notes", len(notes)).format(n=len(notes))
    entries = "".join(f"<li>{_text(note)}</li>" for note in notes)
    return f"<details><summary>{_text(count)}</summary><ul>{entries}</ul></details>"


def _text(text: str) -> str:
    return escape(harmless(text))


def _name(text: str) -> str:
    return escape(one_line(text))


def _tag(name: str, inner: str, *, text: str = "", **attributes: str) -> str:
    """Write an element in the language of its text, as screen readers need it."""
    if text:
        attributes["lang"] = language_of(text)
    given = "".join(f' {key.rstrip("_")}="{escape(of)}"' for key, of in attributes.items() if of)
    return f"<{name}{given}>{inner}</{name}>"


class _Writer:
    def __init__(self, address: Address, shift: int, first_id: str, entries: int | None) -> None:
        self._address = address
        self._shift = shift
        self._id = first_id
        self._entries = entries

    def block(self, block: Block) -> str:
        """Write one block; notes have their fold."""
        match block:
            case Heading():
                return self._heading(block)
            case Paragraph(parts, role):
                return _tag("p", self._inline(parts), text=_plain(parts), class_=role or "")
            case Quotation(text):
                return _tag("blockquote", _text(text), text=text)
            case Items(entries, numbered, role):
                # Lists with a part of their own, as contents, are whole.
                most = None if role else self._entries
                inner = "\n".join(map(self._item, entries[:most]))
                more = len(entries) - len(entries[:most])
                rest = _("… and {n:,} more").format(n=more)
                list_ = _tag("ol" if numbered else "ul", f"\n{inner}\n", class_=role or "")
                return list_ + (f"<p>{_text(rest)}</p>" if more else "")
            case Sides(before, after, place):
                return "".join(
                    (
                        f"<p>{_text(place)}</p>" if place else "",
                        f"<p><del>{_text(before)}</del></p>" if before else "",
                        f"<p><ins>{_text(after)}</ins></p>" if after else "",
                    )
                )
            case Notice():
                return ""

    def _heading(self, heading: Heading) -> str:
        inner = self._link(heading.source) if heading.source else _name(heading.text)
        if heading.count is not None:
            inner += f"<small>{_text(aside(str(heading.count)))}</small>"
        id_, self._id = self._id, ""
        return _tag(f"h{heading.level + self._shift}", inner, text=heading.text, id=id_)

    def _item(self, item: Item) -> str:
        head = self._inline(item.parts)
        quotes = any(isinstance(block, Quotation) for block in item.below)
        if quotes:
            # The remarks on a quotation are beside its place.
            sources = (block.source for block in item.below if isinstance(block, Quotation))
            remarks = (Remark(told) for source in sources if source for told in source.remarks)
            head = f"<p>{head}{self._inline(tuple(remarks))}</p>"
        below = "".join(map(self.block, item.below))
        return _tag("li", head + below, text=_plain(item.parts))

    def _inline(self, parts: Iterable[Inline]) -> str:
        return "".join(map(self._part, parts))

    def _part(self, part: Inline) -> str:
        match part:
            case str():
                return _text(part)
            case Strong(text, tone):
                return _tag("strong", _name(text), class_=tone or "")
            case Remark(text, tone):
                kind = "" if tone is Tone.QUIET else str(tone)
                return " " + _tag("small", _name(text), text=text, class_=kind)
            case Code(text):
                return " " + _tag("small", _tag("code", _name(text)))
            case Changed(law, said):
                written = f"<ins>{_text(law)}</ins>" if law.strip() else ""
                return written + (f"<del>{_text(said)}</del>" if said.strip() else "")
            case PassageLink():
                return self._link(part)
            case Mark():
                return " " + self._mark(part)

    def _link(self, link: PassageLink) -> str:
        address = self._address(link.passage_id) if link.passage_id else ""
        if not address:
            return _name(link.text)
        return _tag("a", _name(link.text), text=link.text, href=address)

    def _mark(self, mark: Mark) -> str:
        if mark.source is None:
            return f"<del>{_name(mark.text)}</del>"
        said = _("Citation {n}: {place}").format(n=mark.number, place=one_line(mark.source.text))
        address = self._address(mark.source.passage_id)
        return f'<a href="{escape(address)}" aria-label="{escape(said)}">{_name(mark.text)}</a>'


def _plain(parts: Iterable[Inline]) -> str:
    return "".join(
        part if isinstance(part, str) else part.law if isinstance(part, Changed) else part.text
        for part in parts
    )
