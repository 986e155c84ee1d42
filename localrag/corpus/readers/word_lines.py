"""Lines of Word files, and characters Word shows without storing them.

These are signs of fonts like Symbol and Wingdings (stored at U+F000 plus their code), form fields
of older files, overlaid characters, and formulas.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from unicodedata import east_asian_width

from lxml import etree

from localrag.corpus.readers.package import child, is_on, name, number, value
from localrag.corpus.readers.text import drop_controls

_PAGE_FIELD = re.compile(r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES)\b", re.IGNORECASE)


class LinePiece(NamedTuple):
    """Some characters of the text, and their place in the file."""

    text: str  # the characters
    # element of the body for a comment: usually a run; for notes and text boxes the run with the
    # mark; None for headers and footers
    anchor: etree._Element | None


class WordLine(NamedTuple):
    """A printed line."""

    pieces: list[LinePiece]  # in order
    depth: int = 0  # of a heading, from 1; 0 for other lines
    is_note: bool = False  # whether it belongs to a footnote or endnote

    @property
    def text(self) -> str:
        """All its characters."""
        return "".join(piece.text for piece in self.pieces)


@dataclass(slots=True)
class FormField:
    """An open complex field: its instruction, and whether its result has begun."""

    instruction: str = ""
    has_result: bool = False
    choice: str = ""


@dataclass(slots=True)
class Story:
    """A separate text in a file: the body, a header, a footnote."""

    # place for comments on all of it; None if each run is its own anchor
    anchor: etree._Element | None = None
    is_body: bool = False  # whether runs are anchors and sections end here
    drops_pages: bool = False  # whether page numbers are left out
    fields: list[FormField] = field(default_factory=list)  # open complex fields, the innermost last
    ignores_fields: bool = False  # whether field marks do not match and are ignored
    silent: int = 0  # number of open fields hiding their content

    @property
    def shows(self) -> bool:
        """Whether text is visible here, outside field instructions."""
        return not self.silent

    def open_field(self, opened: FormField) -> None:
        """Begin a field."""
        self.fields.append(opened)
        self.silent += self._is_silent(opened)

    def begin_result(self) -> None:
        """Begin the result of the innermost field."""
        last = self.fields[-1]
        self.silent -= self._is_silent(last)
        last.has_result = True
        self.silent += self._is_silent(last)

    def close_field(self) -> FormField:
        """End the innermost field and return it."""
        closed = self.fields.pop()
        self.silent -= self._is_silent(closed)
        return closed

    def _is_silent(self, of: FormField) -> bool:
        is_page = self.drops_pages and _PAGE_FIELD.match(of.instruction) is not None
        return is_page or not of.has_result


@dataclass(slots=True)
class WordParagraph:
    """A paragraph during reading: its pieces, and the lines after it."""

    story: Story
    properties: etree._Element | None
    pieces: list[LinePiece] = field(default_factory=list)
    after: list[WordLine] = field(default_factory=list)

    def anchor(self, run: etree._Element) -> etree._Element | None:
        """Place for a comment on a run of this paragraph."""
        return run if self.story.is_body else self.story.anchor

    def put(self, text: str, run: etree._Element) -> None:
        """Add characters, unless a field hides them."""
        if text and self.story.shows:
            self.pieces.append(LinePiece(drop_controls(text), self.anchor(run)))

    def lines(self, depth: int) -> list[WordLine]:
        """The paragraph as a stripped line, then the lines after it."""
        pieces = self.pieces
        while pieces and not pieces[0].text.strip():
            pieces = pieces[1:]
        while pieces and not pieces[-1].text.strip():
            pieces = pieces[:-1]
        if not pieces:
            return self.after
        if depth:
            # Titles are single lines everywhere.
            pieces = [one._replace(text=one.text.replace("\n", "　")) for one in pieces]
        pieces[0] = pieces[0]._replace(text=pieces[0].text.lstrip())
        pieces[-1] = pieces[-1]._replace(text=pieces[-1].text.rstrip())
        return [WordLine(pieces, depth), *self.after]


def joined(cells: list[list[WordLine]]) -> list[WordLine]:
    """A row as a line, then its notes."""
    pieces: list[LinePiece] = []
    for at, cell in enumerate(cells):
        if at:
            pieces.append(LinePiece("\t", None))
        for number_, line in enumerate(one for one in cell if not one.is_note):
            if number_:
                pieces.append(LinePiece("　", None))
            # Tabs and breaks inside a cell would start another cell or row.
            pieces += (
                one._replace(text=one.text.replace("\t", "　").replace("\n", "　"))
                for one in line.pieces
            )
    notes = [line for cell in cells for line in cell if line.is_note]
    return [WordLine(pieces), *notes] if any(one.text.strip() for one in pieces) else notes


def room(label: str, text: str) -> str:
    """The separator after a number; brackets need none."""
    if text[:1] in "（「『【〔［":
        return ""
    is_wide = any(east_asian_width(sign) in "WF" for sign in label + text[:1])
    return "　" if is_wide else " "


_SYMBOL = {
    **dict(enumerate(" !∀#∃%&∋()∗+,−./0123456789:;<=>?", 0x20)),
    **dict(enumerate("≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_", 0x40)),
    **dict(enumerate("‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼", 0x60)),
    **dict(enumerate("€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵", 0xA0)),
    **dict(enumerate("ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑", 0xC0)),
}
_WINGDINGS = {
    0x22: "✂", 0x28: "☎", 0x2A: "✉", 0x3F: "✍", 0x45: "☜", 0x46: "☞", 0x47: "☝", 0x48: "☟",
    0x4A: "☺", 0x4C: "☹", 0x6C: "●", 0x6D: "❍", 0x6E: "■", 0x6F: "□", 0x70: "□", 0x71: "❑",
    0x72: "❒", 0x73: "⬧", 0x74: "⧫", 0x75: "◆", 0x76: "❖", 0x77: "⬥", 0x78: "⌧", 0x9E: "·",
    0x9F: "•", 0xA1: "○", 0xA4: "◉", 0xA5: "◎", 0xA7: "▪", 0xA8: "☐", 0xAB: "★", 0xD8: "➢",
    0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE8: "➔", 0xEF: "⇦", 0xF0: "⇨", 0xF1: "⇧",
    0xF2: "⇩", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
    **dict(enumerate("⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿", 0x80)),
}  # fmt: skip
_FONTS: Mapping[str, Mapping[int, str]] = {
    "symbol": _SYMBOL,
    "wingdings": _WINGDINGS,
    "wingdings 2": {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0xA3: "□"},
}
_PRIVATE = range(0xF000, 0xF100)


def character(sign: str, font: str) -> str:
    """The Unicode character for a sign of a font; "" without one."""
    code, signs = ord(sign), _FONTS.get(font.strip().lower())
    if signs is None:
        return "" if code in _PRIVATE else sign
    return signs.get(code & 0xFF, "") if code in _PRIVATE or code < 0x100 else sign


# {EQ \o\ac(○,印)}, {EQ \o\ad(\s\up 9(かし),瑕疵)}: signs in a circle, and ruby of older files.
_OVERLAID = re.compile(r"\s*EQ\b.*?\\o(?:\\[a-z]+)*\s*\((?P<parts>.*)\)\s*$", re.I | re.S)
_RAISED = re.compile(r"\\s\\(?:up|do)\s*[0-9.]*\s*\((?P<text>[^()]*)\)", re.IGNORECASE)
_SHAPES = "○◯〇□◇△▽☆"


class Overlaid(NamedTuple):
    """Text of a field with overlaid characters; `reading` for ruby."""

    text: str
    reading: str = ""


def overlaid(instruction: str) -> Overlaid | None:
    """Read a field with overlaid characters; None for others."""
    match = _OVERLAID.match(instruction)
    if match is None:
        return None
    raised = _RAISED.findall(match["parts"])
    rest = _RAISED.sub("", match["parts"]).strip(" ,;，")
    if rest and len(raised) == 1:
        return Overlaid(rest, raised[0])
    if raised:
        return Overlaid("".join(raised) + rest)
    signs = [one.strip() for one in re.split("[,;，]", rest)]
    inner = [one for one in signs if one and one not in _SHAPES]
    is_circled = len(inner) == 1 and len(inner) < len(signs)
    return Overlaid(_circled(inner[0]) if is_circled else "".join(signs))


def form_choice(data: etree._Element | None) -> str:
    """Displayed value of an older form field without result: a choice or a box."""
    entries = child(data, "w:ddList")
    if entries is not None:
        listed = [value(one) for one in entries if name(one) == "w:listEntry"]
        at = number(value(child(entries, "w:result")) or value(child(entries, "w:default")))
        return listed[at] if 0 <= at < len(listed) else ""
    box = child(data, "w:checkBox")
    if box is None:
        return ""
    checked = child(box, "w:checked")
    return "☑" if is_on(child(box, "w:default") if checked is None else checked) else "☐"


def _circled(sign: str) -> str:
    """A circled character: ㊞, ⑮; in brackets if Unicode has none."""
    blocks = (range(0x2460, 0x2474), range(0x3251, 0x32C0))
    for block in blocks:
        for code in block:
            if unicodedata.decomposition(chr(code)).startswith("<circle>") and (
                unicodedata.normalize("NFKC", chr(code)) == sign
            ):
                return chr(code)
    return f"（{sign}）"


# Signs between the parts of a formula.
_BETWEEN: Mapping[str, tuple[tuple[str, str], ...]] = {
    "m:f": (("", "m:num"), ("/", "m:den")),
    "m:sSup": (("", "m:e"), ("^", "m:sup")),
    "m:sSub": (("", "m:e"), ("_", "m:sub")),
    "m:sSubSup": (("", "m:e"), ("_", "m:sub"), ("^", "m:sup")),
    "m:limLow": (("", "m:e"), ("_", "m:lim")),
    "m:limUpp": (("", "m:e"), ("^", "m:lim")),
}


def linear(formula: etree._Element) -> str:
    """A formula in one line: (a+b)/2, x^2, √(y)."""
    kind = name(formula)
    if kind == "m:t":
        return formula.text or ""
    if kind in _BETWEEN:
        return _in_order(formula, _BETWEEN[kind])
    written = "".join(map(linear, _parts(formula)))
    if kind == "m:rad":
        degree = child(formula, "m:deg")
        root = "" if degree is None else linear(degree)
        return f"{root}√({written[len(root) :]})"
    if kind == "m:d":
        properties = child(formula, "m:dPr")
        begin = value(child(properties, "m:begChr"), default="(")
        end = value(child(properties, "m:endChr"), default=")")
        return f"{begin}{written}{end}"
    if kind == "m:nary":
        sign = value(child(formula, "m:naryPr", "m:chr"), default="∫")
        return sign + _in_order(formula, (("_", "m:sub"), ("^", "m:sup"), ("", "m:e")))
    return written


def _in_order(formula: etree._Element, parts: Iterable[tuple[str, str]]) -> str:
    written = ((sign, child(formula, of)) for sign, of in parts)
    inner = ((sign, "" if part is None else linear(part)) for sign, part in written)
    return "".join(sign + _bracketed(part) for sign, part in inner if part)


def _parts(formula: etree._Element) -> Iterable[etree._Element]:
    left_out = ("w:del", "w:moveFrom", "w:rPr")
    return (one for one in formula if name(one) not in left_out)


def _bracketed(part: str) -> str:
    return part if len(part) <= 1 or part.isalnum() else f"({part})"
