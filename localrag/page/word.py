"""Writes blocks as a Word document (extra ``office``)."""

from collections.abc import Iterable
from typing import IO, TYPE_CHECKING

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
    Quotation,
    Remark,
    Sides,
    Strong,
    as_lines,
    in_parts,
)
from localrag.text.harmless import harmless, one_line

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph as WordParagraph

# Every word processor has this font or replaces it.
_FONT, _CODE = "MS Mincho", "Courier New"
# Indentation of a nested list, in centimetres.
_STEP = 0.75


def write_word(blocks: Iterable[Block], file: IO[bytes]) -> None:
    """Write blocks as a Word document."""
    import docx
    from docx.oxml.ns import qn

    document = docx.Document()
    for style in ("Normal", "Title", "Heading 1", "Heading 2", "Heading 3", "Quote"):
        fonts = document.styles[style].element.get_or_add_rPr().get_or_add_rFonts()
        # The theme's font would win.
        fonts.attrib.pop(qn("w:eastAsiaTheme"), None)
        fonts.set(qn("w:eastAsia"), _FONT)
    # Japanese has no italics; only the figures would be slanted.
    document.styles["Quote"].font.italic = False
    for block in blocks:
        _add(document, block, 0)
    document.save(file)


def _add(document: "Document", block: Block, depth: int) -> None:
    match block:
        case Heading():
            document.add_heading(one_line(block.text), block.level - 1)
        case Paragraph():
            _write(_indented(document.add_paragraph(), depth), block.parts)
        case Quotation():
            quote = document.add_paragraph(style="Quote")
            _write(_indented(quote, depth + 1), (block.text,))
            if block.source:
                _add(document, Paragraph(in_parts(block.source)), depth)
        case Sides() | Notice():
            for parts in as_lines(block):
                _add(document, Paragraph(parts), depth)
        case Items():
            for number, entry in enumerate(block.entries, 1):
                _add_item(document, entry, f"{number}." if block.numbered else "・", depth)


def _add_item(document: "Document", entry: Item, mark: str, depth: int) -> None:
    from docx.shared import Cm

    # Word would continue the numbers of the list before.
    paragraph = _indented(document.add_paragraph(), depth + 1)
    paragraph.paragraph_format.first_line_indent = Cm(-_STEP)
    _write(paragraph, (f"{mark}\t", *entry.parts))
    for block in entry.below:
        _add(document, block, depth + 1)


def _indented(paragraph: "WordParagraph", depth: int) -> "WordParagraph":
    from docx.shared import Cm

    if depth:
        paragraph.paragraph_format.left_indent = Cm(_STEP * depth)
    return paragraph


def _write(paragraph: "WordParagraph", parts: Iterable[Inline]) -> None:
    for number, part in enumerate(parts):
        if isinstance(part, Changed):
            paragraph.add_run(one_line(part.law)).bold = True
            paragraph.add_run(one_line(part.said)).font.strike = True
            continue
        # A text may have several lines, a name only one.
        text = harmless(part) if isinstance(part, str) else one_line(part.text)
        if number and isinstance(part, Code | Remark):
            paragraph.add_run(" · ")
        run = paragraph.add_run(text)
        if isinstance(part, Strong):
            run.bold = True
        elif isinstance(part, Mark):
            run.font.superscript = True
        elif isinstance(part, Code):
            run.font.name = _CODE
