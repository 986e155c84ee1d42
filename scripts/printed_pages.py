"""A small writer of PDF pages with every sentence known, for benchmarks and tests.

It writes like other programs: fonts that are not embedded with a predefined CMap, text in lines, in
words or in characters, and drawn lines.
"""

import codecs
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import cos, radians, sin

CMAPS = {
    "UniJIS-UTF16": "utf-16-be",
    "UniJIS-UCS2": "utf-16-be",
    "90ms-RKSJ": "cp932",
    "90msp-RKSJ": "cp932",
    "EUC": "euc_jp",
    "": "iso2022_jp",
}
"""Predefined CMaps without their direction, and the Python encoding of their codes."""
_WIDTHS = {
    "ijl'|": 0.222,
    " tfI.,:;/!\\": 0.278,
    "-()r": 0.333,
    "cksvxyzJ": 0.5,
    "FTLZ": 0.611,
    "PSABEKVXY": 0.667,
    "CDHNRUw": 0.722,
    "GOQ": 0.778,
    "mM": 0.833,
    "W": 0.944,
}
_HELVETICA = {character: share for some, share in _WIDTHS.items() for character in some}
_OTHER = 0.556


_FIRST_OTHER = 8
"""The number of the first object that is added; those before are the fonts'."""


def written(text: str) -> str:
    """A text as PDF writes it outside of pages: UTF-16 in hexadecimal digits."""
    return f"<{codecs.BOM_UTF16_BE.hex()}{text.encode('utf-16-be').hex()}>" if text else "()"


def width(text: str, size: float) -> float:
    """How wide a text is, in points: Helvetica for Latin, a square for any other character."""
    return sum((_HELVETICA.get(c, _OTHER) if c.isascii() else 1.0) for c in text) * size


@dataclass
class PrintedPage:
    """A page; `content` are its operators, `annotations` objects by their numbers."""

    box: tuple[float, float, float, float] = (0, 0, 595, 842)
    rotate: int = 0
    content: list[str] = field(default_factory=list)
    annotations: list[int] = field(default_factory=list)
    resources: str = ""


class PrintedPages:
    """Writes a PDF.

    Args:
        cmap: predefined CMap of Japanese text, without its direction; "Identity" for CIDs of
            Adobe-Japan1, "unmapped" for a font without a mapping to characters.
    """

    def __init__(self, cmap: str = "UniJIS-UTF16") -> None:
        self.cmap = cmap
        self.pages: list[PrintedPage] = []
        self.catalog = ""
        self._others: list[str] = []

    def page(
        self, box: tuple[float, float, float, float] = (0, 0, 595, 842), rotate: int = 0
    ) -> None:
        """Begin a page."""
        self.pages.append(PrintedPage(box, rotate))

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 10.0,
        *,
        angle: float = 0.0,
        vertical: bool = False,
        stretch: float = 0.0,
        wide: bool = False,
    ) -> None:
        """Print a text from a point on its baseline.

        Args:
            x: in points from the left edge.
            y: in points from the lower edge.
            text: Latin and other parts have different fonts.
            size: of the font.
            angle: of the baseline, in degrees.
            vertical: whether it runs down, by a CMap for vertical writing.
            stretch: after every character, in points.
            wide: whether Latin parts use the Japanese font in full width.
        """
        for part, is_latin in [(text, False)] if wide else _parts(text, vertical=vertical):
            font = "L" if is_latin else "V" if vertical else "J"
            a, b = cos(radians(angle)), sin(radians(angle))
            matrix = f"{a:.4f} {b:.4f} {-b:.4f} {a:.4f} {x:.2f} {y:.2f}"
            spacing = f"{stretch:.3f} Tc " if stretch else "0 Tc "
            shown = f"<{self._codes(part, is_latin)}>"
            self.pages[-1].content.append(
                f"BT /{font} {size:g} Tf {spacing}{matrix} Tm {shown} Tj ET"
            )
            advance = width(part, size) + stretch * len(part)
            if vertical:
                y -= size * len(part) + stretch * len(part)
            else:
                x, y = x + a * advance, y + b * advance

    def glyphs(self, x: float, y: float, text: str, size: float = 10.0, *, down: bool) -> None:
        """Print each character by itself, one below or beside the other."""
        for character in text:
            self.text(x, y, character, size)
            if down:
                y -= size * 1.1
            else:
                x += width(character, size)

    def rule(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """Draw a line."""
        self.pages[-1].content.append(f"0.5 w {x0:.1f} {y0:.1f} m {x1:.1f} {y1:.1f} l S")

    def add(self, body: str) -> str:
        """Add an object, and give the reference to it."""
        self._others.append(body)
        return f"{_FIRST_OTHER + len(self._others) - 1} 0 R"

    def stream(self, content: str, entries: str = "") -> str:
        """Add a stream, and give the reference to it."""
        return self.add(f"<< {entries} /Length {len(content)} >>\nstream\n{content}\nendstream")

    def annotate(self, kind: str, contents: str, box: tuple[float, ...], more: str = "") -> str:
        """Put an annotation on the page, and give the reference to it."""
        rectangle = " ".join(f"{side:g}" for side in box)
        reference = self.add(
            f"<< /Type /Annot /Subtype /{kind} /Rect [{rectangle}] /F 4"
            f" /Contents {written(contents)} {more} >>"
        )
        self.pages[-1].annotations.append(int(reference.split()[0]))
        return reference

    def _codes(self, text: str, is_latin: bool) -> str:
        if is_latin:
            return text.encode("cp1252").hex()
        if self.cmap in ("Identity", "unmapped"):
            return "".join(f"{_cid(character):04x}" for character in text)
        coded = text.encode(CMAPS[self.cmap])
        if not self.cmap:  # The rows of JIS without the escape sequences around them.
            coded = coded.removeprefix(b"\x1b$B").removesuffix(b"\x1b(B")
        return coded.hex()

    def to_bytes(self) -> bytes:
        """The file."""
        ordering = "Identity" if self.cmap == "unmapped" else "Japan1"
        base = "Identity" if self.cmap == "unmapped" else self.cmap
        encoding = [f"{base}-{way}" if base else way for way in ("H", "V")]
        font = "/Type /Font /Subtype /Type0 /BaseFont /Ryumin-Light /DescendantFonts [5 0 R]"
        objects = [
            f"<< /Type /Catalog /Pages 2 0 R {self.catalog} >>",
            "",
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
            "<< /Type /FontDescriptor /FontName /Ryumin-Light /Flags 4 /FontBBox [0 -136 1000 859]"
            " /ItalicAngle 0 /Ascent 859 /Descent -140 /CapHeight 709 /StemV 69 >>",
            "<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Ryumin-Light /CIDSystemInfo"
            f" << /Registry (Adobe) /Ordering ({ordering}) /Supplement 2 >> /DW 1000"
            " /FontDescriptor 4 0 R >>",
            f"<< {font} /Encoding /{encoding[0]} >>",
            f"<< {font} /Encoding /{encoding[1]} >>",
            *self._others,
        ]
        kids = []
        for page in self.pages:
            stream = "\n".join(page.content)
            objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
            box = " ".join(f"{value:g}" for value in page.box)
            annotations = " ".join(f"{number} 0 R" for number in page.annotations)
            objects.append(
                f"<< /Type /Page /Parent 2 0 R /MediaBox [{box}] /Rotate {page.rotate}"
                f" /Contents {len(objects)} 0 R /Annots [{annotations}] /Resources"
                f" << /Font << /L 3 0 R /J 6 0 R /V 7 0 R >> {page.resources} >> >>"
            )
            kids.append(f"{len(objects)} 0 R")
        objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>"
        return _file(objects)


def _file(objects: Sequence[str]) -> bytes:
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    out += f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\n".encode()
    return bytes(out) + f"startxref\n{start}\n%%EOF\n".encode()


def _parts(text: str, *, vertical: bool) -> list[tuple[str, bool]]:
    parts: list[tuple[str, bool]] = []
    for character in text:
        is_latin = not vertical and (character.isascii() or character in "–—‐“”‘’•é§")
        if parts and parts[-1][1] == is_latin:
            parts[-1] = (parts[-1][0] + character, is_latin)
        else:
            parts.append((character, is_latin))
    return parts


def _cid(character: str) -> int:
    """The CID of Adobe-Japan1 for a sign, kana or kanji of the first level of JIS X 0208."""
    row, cell = (byte - 0xA0 for byte in character.encode("euc_jp"))
    if row == 1:
        return 632 + cell
    if row in (4, 5):
        return (841 if row == 4 else 924) + cell
    if 16 <= row <= 47:
        return 1124 + (row - 16) * 94 + cell
    raise ValueError(character)
