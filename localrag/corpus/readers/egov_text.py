"""From elements of 法令標準XML to printed lines, wherever they stand.

Real files use constructions that the schema does not foresee (a list straight after a sentence,
an item in a table cell), so nothing here asks where an element stands: what carries text becomes
a line, what carries elements is entered.
"""

import re
from collections.abc import Iterator

from lxml import etree

from localrag.corpus.readers.characters import drop_controls

SUBITEM_LEVELS = range(1, 11)
NUMBERS = frozenset(
    ["ArticleTitle", "ParagraphNum", "ItemTitle", *(f"Subitem{n}Title" for n in SUBITEM_LEVELS)]
)
"""Elements printed at the head of a line, before the sentence they number."""
SENTENCES = frozenset(
    [
        "ParagraphSentence",
        "ItemSentence",
        *(f"Subitem{n}Sentence" for n in SUBITEM_LEVELS),
        "ListSentence",
        *(f"Sublist{n}Sentence" for n in range(1, 4)),
        "AmendProvisionSentence",
    ]
)
"""Elements whose sentences and columns share one line."""
_INLINE = frozenset(["Ruby", "Sub", "Sup", "Line", "ArithFormula"])
_LINE_BREAK = re.compile(r"[ \t]*\n[ \t]*")


def inline(element: etree._Element | None) -> str:
    """Return the text of an element that is printed within a line.

    Ruby keeps its base text; a table or figure inside a sentence stands on lines of its own.
    """
    if element is None:
        return ""
    text = _verbatim(element.text)
    if not len(element):
        return text
    pieces = [text]
    for child in element:
        if child.tag == "Fig":
            pieces.append(_figure(child))
        elif child.tag in _INLINE or (child.tag != "Rt" and _is_printed(child)):
            pieces.append(inline(child))
        elif child.tag != "Rt":
            pieces.append("\n" + "\n".join(lines(child)) + "\n")
        pieces.append(_verbatim(child.tail))
    return "".join(pieces)


def sentence(element: etree._Element) -> str:
    """Return one line of sentences, its columns separated by a full-width space as in print."""
    line = ""
    for child in element:
        if child.tag == "Column":
            separator = "\n" if child.get("LineBreak") == "true" else "　"
            line += (separator if line else "") + sentence(child)
        elif child.tag == "Sentence":
            line += inline(child)
        else:
            line += "".join(f"\n{below}" for below in lines(child))
    return line or inline(element)


def lines(element: etree._Element) -> Iterator[str]:
    """Yield the printed lines of any element and all that stands in it."""
    if element.tag == "Table":
        yield from _rows(element)
    elif element.tag == "Fig":
        yield _figure(element)
    elif element.tag in SENTENCES:
        yield sentence(element)
    elif element.tag == "Sentence" or _is_printed(element):
        yield inline(element)
    else:
        head = ""
        for child in element:
            if child.tag in NUMBERS:
                head = join(head, inline(child))
                continue
            for line in lines(child):
                yield join(head, line)
                head = ""
        if head:
            yield head


def join(head: str, line: str) -> str:
    """Join a printed number and the line it heads."""
    return f"{head}　{line}" if head and line else head or line


def _is_printed(element: etree._Element) -> bool:
    """Tell whether an element carries text itself rather than elements that carry it."""
    if element.text and not element.text.isspace():
        return True
    return len(element) > 0 and element[0].tag in _INLINE


def _rows(table: etree._Element) -> Iterator[str]:
    """Yield a line a row, cells separated by tabs; what a merged cell covers is empty."""
    reaching: dict[int, int] = {}
    for row in table:
        cells: list[str] = []
        for cell in row:
            _fill(cells, reaching)
            width, height = _span(cell, "colspan"), _span(cell, "rowspan")
            for column in range(len(cells), len(cells) + width):
                reaching[column] = height - 1
            text = "　".join(line for line in lines(cell) if line)
            cells += [text.replace("\n", "　"), *[""] * (width - 1)]
        _fill(cells, reaching)
        yield "\t".join(cells).rstrip("\t")


def _fill(cells: list[str], reaching: dict[int, int]) -> None:
    while reaching.get(len(cells), 0):
        reaching[len(cells)] -= 1
        cells.append("")


def _span(cell: etree._Element, name: str) -> int:
    value = cell.get(name, "1")
    # The bound keeps a hostile attribute from filling memory; no printed table comes near it.
    return max(1, min(int(value), 1000)) if value.isdecimal() else 1


def _figure(element: etree._Element) -> str:
    return f"［図：{drop_controls(element.get('src', '')).rpartition('/')[2]}］"


def _verbatim(text: str | None) -> str:
    if not text:
        return ""
    if "\n" in text:
        # Line breaks and indentation come from pretty printers; full-width spaces are the law's.
        text = _LINE_BREAK.sub("", text)
    return text if text.isprintable() else drop_controls(text)
