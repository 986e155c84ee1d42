"""PowerPoint presentations as documents: a page and a section per slide.

`python-pptx` has no text of SmartArt and comments, and reads no Strict files, so lxml walks the
XML. Text of layouts and masters is read with the first slide showing it.
"""

from collections import Counter
from collections.abc import Iterator
from zipfile import BadZipFile

from lxml import etree

from localrag.corpus.readers.package import Package, chosen, diagram, paragraphs, relation_of
from localrag.corpus.readers.prose import TextBuilder, prose, without_text
from localrag.corpus.readers.sheets import CHARTS, EMBEDDED, PICTURES
from localrag.corpus.readers.tables import Grid, Merged, lines_of
from localrag.corpus.readers.text import brief, cell, drop_controls
from localrag.corpus.readers.types import Limits, omitted
from localrag.corpus.types import PAGE_STARTS, Document
from localrag.errors import InputError
from localrag.language import N_

HIDDEN_SLIDES = N_("hidden slides")

_TITLES = ("title", "ctrTitle")
# Placeholders for slide number, date, slide picture and header of notes.
_FRAME = ("sldNum", "dt", "sldImg", "hdr")
# The layer behind a slide, and behind its layout.
_BENEATH = {"sld": "slideLayout", "sldLayout": "slideMaster"}
_DEEPEST = 50


def read_pptx(name: str, data: bytes, limits: Limits) -> Iterator[Document]:
    """Read the visible slides as one document; pages have the slide numbers."""
    try:
        package = Package(data, limits)
        written, pages, left_out = _read(package)
    except (BadZipFile, KeyError, ValueError) as error:
        raise _damaged() from error
    omissions = omitted(left_out)
    if not written.text:
        raise without_text("PPTX", omissions)
    yield prose(
        id_=name,
        kind="pptx",
        text=written.text,
        headings=written.headings,
        pages=pages,
        metadata={PAGE_STARTS: ",".join(map(str, pages))},
        omissions=omissions,
    )


def _read(package: Package) -> tuple[TextBuilder, list[int], Counter[str]]:
    presentation = package.main("ppt/presentation.xml")
    if not presentation.startswith("ppt/"):
        raise InputError(
            N_("The file is no presentation of PowerPoint."), N_("Give it its own suffix.")
        )
    written, pages = TextBuilder(), list[int]()
    left_out = Counter[str]()
    footers: set[str] = set()
    layers: set[str] = set()
    for number, part in enumerate(_slides(package, presentation), 1):
        pages.append(written.length)
        root = package.root(part)
        if root.get("show") in ("0", "false"):
            left_out[HIDDEN_SLIDES] += 1
            continue
        slide = _Slide(package, part, footers, left_out)
        lines = [*slide.lines(root), *slide.behind(root, layers)]
        notes, comments = list(slide.notes()), list(slide.comments())
        if not (slide.title or lines or notes or comments):
            continue
        is_ascii = "".join((slide.title, *lines, *notes)).isascii()
        title = slide.title or (f"Slide {number}" if is_ascii else f"スライド{number}")
        for depth, heading, below in (
            (1, title, lines),
            (2, "Notes" if is_ascii else "ノート", notes),
            (2, "Comments" if is_ascii else "コメント", comments),
        ):
            if depth == 1 or below:
                written.add(heading, depth, brief(heading))
            for line in below:
                written.add(line)
    return written, pages, left_out


def _damaged() -> InputError:
    return InputError(
        N_("The file is damaged."), N_("Open it in its own program and save it again.")
    )


def _slides(package: Package, presentation: str) -> Iterator[str]:
    related = package.relations(presentation)
    for element in package.root(presentation).iterfind("{*}sldIdLst/{*}sldId"):
        relation = relation_of(element, related)
        if relation is None:
            raise _damaged()
        yield relation.target


class _Slide:
    """Reads a slide. `title` is known after its lines; `footers` and `left_out` are updated."""

    def __init__(
        self,
        package: Package,
        part: str,
        footers: set[str],
        left_out: Counter[str],
        *,
        is_layer: bool = False,
    ) -> None:
        self._package, self._part, self._footers = package, part, footers
        self._left_out = left_out
        self._related = package.relations(part)
        self._is_layer = is_layer
        self.title = ""

    def lines(self, root: etree._Element) -> Iterator[str]:
        tree = root.find("{*}cSld/{*}spTree")
        if tree is not None:
            yield from self._shapes(tree, 0)

    def behind(self, root: etree._Element, known: set[str]) -> Iterator[str]:
        """Yield the text shown by layout and master."""
        beneath = _BENEATH.get(etree.QName(root).localname)
        if beneath is None or root.get("showMasterSp") in ("0", "false"):
            return
        for relation in self._related.values():
            part = relation.target
            if relation.kind != beneath or part in known or not self._package.has(part):
                continue
            known.add(part)
            layer = _Slide(self._package, part, self._footers, self._left_out, is_layer=True)
            below = self._package.root(part)
            yield from layer.lines(below)
            yield from layer.behind(below, known)

    def notes(self) -> Iterator[str]:
        for relation in self._related.values():
            if relation.kind == "notesSlide" and self._package.has(relation.target):
                for shape in self._package.root(relation.target).iterfind(".//{*}sp"):
                    if _place(shape) not in (*_FRAME, "ftr"):
                        yield from paragraphs(shape.find("{*}txBody"))

    def comments(self) -> Iterator[str]:
        for relation in self._related.values():
            if relation.kind in ("comments", "comment") and self._package.has(relation.target):
                root = self._package.root(relation.target)
                for old in root.iterfind("{*}cm/{*}text"):
                    if line := cell(drop_controls(old.text or "")):
                        yield line
                for body in root.iterfind(".//{*}txBody"):
                    yield from paragraphs(body)

    def _shapes(self, tree: etree._Element, depth: int) -> Iterator[str]:
        if depth > _DEEPEST:
            raise _damaged()
        for shape in tree:
            tag = etree.QName(shape).localname if isinstance(shape.tag, str) else ""
            if tag == "sp":
                yield from self._box(shape)
            elif tag == "grpSp":
                yield from self._shapes(shape, depth + 1)
            elif tag == "graphicFrame":
                yield from self._frame(shape)
            elif tag == "pic":
                self._left_out[PICTURES] += 1
            elif tag == "AlternateContent":
                yield from self._shapes(chosen(shape), depth + 1)

    def _box(self, shape: etree._Element) -> Iterator[str]:
        place = _place(shape)
        if self._is_layer and place:
            return  # What it says is only a prompt: click to edit.
        lines = list(paragraphs(shape.find("{*}txBody")))
        if place in _TITLES and not self.title:
            self.title = " ".join(lines)
        elif place == "ftr":
            yield from (line for line in lines if line not in self._footers)
            self._footers.update(lines)
        elif place not in _FRAME:
            yield from lines

    def _frame(self, frame: etree._Element) -> Iterator[str]:
        for table in frame.iterfind(".//{*}tbl"):
            yield from lines_of(_grid(table))
        if frame.find(".//{*}oleObj") is not None:
            self._left_out[EMBEDDED] += 1
        elif frame.find(".//{*}chart") is not None:
            self._left_out[CHARTS] += 1
        yield from diagram(self._package, frame, self._related) or ()


def _place(shape: etree._Element) -> str:
    """The placeholder type of a shape ("title", "body"); "" without one."""
    found = shape.find("{*}nvSpPr/{*}nvPr/{*}ph")
    return "" if found is None else found.get("type", "body")


def _grid(table: etree._Element) -> Grid:
    rows, merged = [], {}
    for number, row in enumerate(table.iterfind("{*}tr")):
        texts = []
        for at, found in enumerate(row.iterfind("{*}tc")):
            covered = {found.get("hMerge"), found.get("vMerge")} & {"1", "true"}
            size = int(found.get("rowSpan", 1)), int(found.get("gridSpan", 1))
            if size != (1, 1) and not covered:
                merged[number, at] = size
            texts.append("" if covered else "\n".join(paragraphs(found.find("{*}txBody"))))
        rows.append(texts)
    properties = table.find("{*}tblPr")
    has_head = properties is not None and properties.get("firstRow") in ("1", "true")
    spans: Merged = merged
    return Grid(rows, 0 if has_head and len(rows) > 1 else None, merged=spans)
