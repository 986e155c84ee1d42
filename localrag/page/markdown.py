"""Writes blocks as Markdown; special characters in the text are escaped."""

import re
from collections.abc import Callable, Iterable

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
    as_lines,
    in_parts,
)
from localrag.text.harmless import harmless, one_line

_ANYWHERE = re.compile(r"[\\`*_\[\]<>&~|$]")
# Special only at the beginning of a line: headings, lists, rules, tables.
_BEGINNING = re.compile(r"(?P<mark>[#+\-=:])|(?P<number>\d{1,9})(?P<end>[.)])|(?P<blank>[ \t])")
# GitHub turns these into links.
_ADDRESS = re.compile(r"(?<=\w)(?=://)|(?<=\bwww)(?=\.)", re.IGNORECASE)
_TICKS = re.compile("`+")


def markdown(blocks: Iterable[Block]) -> str:
    """Write blocks as a Markdown file."""
    return "\n\n".join(map(_block, blocks)) + "\n"


def _block(block: Block) -> str:
    match block:
        case Heading():
            return f"{'#' * block.level} {line(block.text)}"
        case Paragraph():
            return _inline(block.parts, paragraph)
        case Quotation():
            end = f"\n\n{_inline(in_parts(block.source), line)}" if block.source else ""
            return quotation(block.text) + end
        case Items():
            return _items(block)
        case Sides() | Notice():
            return "\n\n".join(_inline(parts, paragraph) for parts in as_lines(block))


def _items(block: Items) -> str:
    # A blank line separates entries with paragraphs.
    is_loose = any(not isinstance(below, Items) for one in block.entries for below in one.below)
    gap = "\n\n" if is_loose else "\n"
    marks = (
        f"{number}. " if block.numbered else "- " for number in range(1, 1 + len(block.entries))
    )
    return gap.join(
        _item(mark, entry, gap) for mark, entry in zip(marks, block.entries, strict=True)
    )


def _item(mark: str, entry: Item, gap: str) -> str:
    below = [_indented(_block(block), " " * len(mark)) for block in entry.below]
    return gap.join([mark + _inline(entry.parts, line), *below])


def _indented(text: str, indent: str) -> str:
    return "\n".join(f"{indent}{row}".rstrip() for row in text.split("\n"))


def _inline(parts: Iterable[Inline], text: Callable[[str], str]) -> str:
    written = ""
    for part in parts:
        match part:
            case str() if not written:
                written = text(part)
            case str() | PassageLink():
                # Later parts never begin a line.
                words = one_line(part if isinstance(part, str) else part.text)
                written += _escaped(words) if written else _in_line(words)
            case Strong():
                written += f"**{_escaped(one_line(part.text))}**"
            case Changed():
                written += f"**{_escaped(one_line(part.law))}**" if part.law.strip() else ""
                written += f"~~{_escaped(one_line(part.said))}~~" if part.said.strip() else ""
            case Mark():
                blank = " " if written and not written.endswith("]") else ""
                written += f"{blank}{part.text}"
            case Code() | Remark():
                shown = code(part.text) if isinstance(part, Code) else line(part.text)
                written += f" · {shown}" if written else shown
    return written


def line(text: str) -> str:
    """Write a text on one line; its line breaks become visible signs."""
    return _in_line(one_line(text))


def paragraph(text: str) -> str:
    """Write a text with its line breaks."""
    lines = [_in_line(row) for row in harmless(text).split("\n")]
    following = [*lines[1:], ""]
    # A backslash keeps a line break; none is needed before an empty line.
    return "\n".join(
        f"{row}\\" if row and after else row for row, after in zip(lines, following, strict=True)
    )


def quotation(text: str) -> str:
    """Write a text as a block quote."""
    return "\n".join(f"> {row}".rstrip() for row in paragraph(text).split("\n"))


def code(text: str) -> str:
    """Write a text as code within a line."""
    text = one_line(text)
    fence = "`" * (1 + max(map(len, _TICKS.findall(text)), default=0))
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{blank}{text}{blank}{fence}"


def _in_line(text: str) -> str:
    escaped = _escaped(text)
    return _BEGINNING.sub(_as_text, escaped, count=1) if _BEGINNING.match(escaped) else escaped


def _escaped(text: str) -> str:
    return _ADDRESS.sub(r"\\", _ANYWHERE.sub(r"\\\g<0>", text))


def _as_text(match: re.Match[str]) -> str:
    if match["blank"]:
        # Four blanks would begin a block of code.
        return f"&#{ord(match['blank'])};"
    return f"\\{match['mark']}" if match["mark"] else f"{match['number']}\\{match['end']}"
