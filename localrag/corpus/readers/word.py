"""Word files (.docx and its kin): all displayed words, in reading order.

- A paragraph is a line, starting with its automatic number.
- A table row is a line with tabs between cells. A row of one cell keeps its paragraphs.
- Text boxes follow their paragraph, then its notes: 注1 ….
- Headers come before their section and footers after it, each once, without page numbers.
- Ruby gives its base text; readings are in the metadata (`ruby`).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from zipfile import BadZipFile

from lxml import etree

from localrag.corpus.readers.package import (
    Package,
    child,
    chosen,
    diagram,
    has_text,
    is_on,
    name,
    relation_of,
    shown_in,
    value,
)
from localrag.corpus.readers.prose import TextBuilder, prose, without_text
from localrag.corpus.readers.text import drop_controls
from localrag.corpus.readers.types import Limits, omitted
from localrag.corpus.readers.word_lines import (
    FormField,
    LinePiece,
    Story,
    WordLine,
    WordParagraph,
    character,
    form_choice,
    joined,
    linear,
    overlaid,
    room,
)
from localrag.corpus.readers.word_numbers import Numbering, Styles, WordNotes, notes_of
from localrag.corpus.types import Document, Omission
from localrag.errors import InputError
from localrag.language import N_

WORD_SUFFIXES = (".docx", ".docm", ".dotx", ".dotm")
"""Word documents and templates, without and with macros; macros never run."""

_INSERTED = N_("tracked insertions")
_DELETED = N_("tracked deletions")
_COMMENTS = N_("comments")
_RUBY = N_("ruby readings")
_HIDDEN = N_("hidden texts")
_PICTURES = N_("pictures")
_FILES = N_("embedded documents")
_FORMULAS = N_("formulas, written in one line")
_FIELDS = N_("formulas in fields")
_SYMBOLS = N_("symbols without a Unicode character")
_PLACEHOLDERS = N_("form fields not filled in, with their placeholder")
_UNSHOWN = N_("headers and footers that Word does not show")
_NUMBERS = N_("numbers written in digits, whose format is not known")
_IN_TEXT = frozenset([_INSERTED, _FORMULAS, _PLACEHOLDERS, _NUMBERS])
_DIAGRAMS = N_("SmartArt diagrams")
# Kinds of drawings, by the last word of their address.
_GRAPHICS: Mapping[str, str] = {
    "chart": N_("charts"),
    "chartex": N_("charts"),
    "diagram": _DIAGRAMS,
}
_OBJECT: Mapping[str, str] = {
    "o:OLEObject": N_("embedded objects"),
    "w:control": N_("form controls"),
}

# Elements without effect on their content.
_TRANSPARENT = frozenset(
    ["w:ins", "w:moveTo", "w:sdt", "w:sdtContent", "w:customXml", "w:smartTag", "w:hyperlink",
     "w:dir", "w:bdo"]
)  # fmt: skip
_DELETIONS = ("w:del", "w:moveFrom")
_FORMULA = ("m:oMath", "m:oMathPara")
_SIGNS: Mapping[str, str] = {
    "w:tab": "\t",
    "w:ptab": "\t",
    "w:br": "\n",
    "w:cr": "\n",
    "w:noBreakHyphen": "-",
}
_YES = ("1", "true", "on")
_SPACES = re.compile("[\t\r\n]+")
_FORMULA_FIELD = re.compile(r"\s*EQ\b", re.IGNORECASE)
_MOST_READINGS, _LONGEST_READING, _LONGEST_FIELD = 2_000, 100, 1_000


@dataclass(frozen=True, slots=True)
class WordText:
    """The words of a Word file."""

    lines: list[WordLine]  # in reading order, none empty
    omissions: tuple[Omission, ...]  # unread parts, and parts with a remark
    readings: tuple[tuple[str, str], ...]  # base text and reading of ruby, each pair once


def read_docx(name_: str, data: bytes, limits: Limits) -> Iterator[Document]:
    """Read a Word file as one document."""
    try:
        words = words_of(Package(data, limits))
    except (BadZipFile, KeyError, ValueError) as error:
        raise InputError(
            N_("The DOCX is damaged."), N_("Open it in Word and save it again.")
        ) from error
    except RecursionError as error:
        raise InputError(
            N_("The DOCX is nested too deeply."), N_("Check where it came from.")
        ) from error
    if not words.lines:
        raise without_text("DOCX", words.omissions)
    written = TextBuilder()
    for line in words.lines:
        written.add(line.text, line.depth)
    ruby = "、".join(f"{base}（{reading}）" for base, reading in words.readings)
    yield prose(
        id_=name_,
        kind="docx",
        text=written.text,
        headings=written.headings,
        metadata={"ruby": ruby} if ruby else {},
        omissions=words.omissions,
    )


def words_of(package: Package, body: etree._Element | None = None) -> WordText:
    """Read the words of a Word file; with `body`, pieces refer to its runs."""
    walk = _Walk(package)
    lines = walk.document(body)
    return WordText(lines, tuple(omitted(walk.counts, _IN_TEXT)), tuple(walk.readings))


class _Walk:
    """Walks through a Word file, and counts unread parts, remarks and ruby `readings`."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._main = self._part = package.main("word/document.xml")
        self.counts = Counter[str]()
        self.readings: dict[tuple[str, str], None] = {}
        self._styles = Styles(self._related("styles"))
        self._numbering = Numbering(self._related("numbering"), self._styles)
        self._settings = self._related("settings")
        self._sections: list[etree._Element] = []
        self._section = 0
        self._notes: dict[str, WordNotes] = {}
        self._printed = set[str]()
        self._read: dict[str, Callable[[etree._Element, WordParagraph, etree._Element], None]] = {
            "w:t": self._text,
            "w:sym": self._symbol,
            "w:ruby": self._ruby,
            "w:instrText": self._instruction,
            "w:fldChar": self._field_mark,
            "w:footnoteReference": self._note,
            "w:endnoteReference": self._note,
            **dict.fromkeys(("w:drawing", "w:pict", "w:object"), self._drawn),
        }

    def _related(self, kind: str) -> etree._Element | None:
        return next(self._package.related(self._main, kind), None)

    # The document and its sections

    def document(self, root: etree._Element | None) -> list[WordLine]:
        body = child(self._package.root(self._main) if root is None else root, "w:body")
        if body is None:
            raise KeyError("w:body")
        self._sections = [one for one in body.iter() if _is_section(one)]
        for kind in ("footnote", "endnote"):
            roots = self._package.related(self._main, f"{kind}s")
            self._notes[kind] = notes_of(kind, roots, [self._settings, *self._sections])
        if all(notes.by_id for notes in self._notes.values()):
            self._notes["endnote"].label = "文末注"
        for comments in self._package.related(self._main, "comments"):
            self.counts[_COMMENTS] += sum(name(one) == "w:comment" for one in comments)
        story = Story(is_body=True, ignores_fields=not _are_matched(body))
        lines = [*self._margins("header"), *self._blocks(body, story), *self._margins("footer")]
        self.counts[_NUMBERS] += self._numbering.unknown
        self.counts[_NUMBERS] += sum(notes.unknown for notes in self._notes.values())
        return lines

    def _margins(self, kind: str) -> list[WordLine]:
        """New headers or footers of the present section."""
        if self._section >= len(self._sections):
            return []
        section, relations = self._sections[self._section], self._package.relations(self._main)
        shown = {
            "first": is_on(child(section, "w:titlePg")),
            "even": is_on(child(self._settings, "w:evenAndOddHeaders")),
        }
        found = []
        for one in section:
            relation = relation_of(one, relations)
            if name(one) != f"w:{kind}Reference" or relation is None:
                continue
            if relation.target in self._printed or not self._package.has(relation.target):
                continue
            root = self._package.root(relation.target)
            if not shown.get(value(one, "type"), True):
                self.counts[_UNSHOWN] += has_text(root)
                continue
            self._printed.add(relation.target)
            story = Story(drops_pages=True, ignores_fields=not _are_matched(root))
            self._part = relation.target
            lines = self._blocks(root, story)
            self._part = self._main
            for line in lines:
                # Without its number, "- 1 -" is no text.
                if any(sign.isalnum() for sign in line.text) and line.text not in self._printed:
                    self._printed.add(line.text)
                    found.append(line)
        return found

    # Blocks: paragraphs and tables

    def _blocks(self, parent: etree._Element, story: Story) -> list[WordLine]:
        lines: list[WordLine] = []
        begun: WordParagraph | None = None
        for block in self._entered(parent):
            kind = name(block)
            if kind == "w:p":
                begun = self._paragraph(block, story, begun, lines)
            elif kind == "w:tbl":
                lines += self._table(block, story)
            elif kind == "w:altChunk":
                self.counts[_FILES] += 1
            elif kind in _FORMULA:
                loose = WordParagraph(story, None)
                self._formula(block, loose, block)
                lines += loose.lines(0)
        return lines + (begun.lines(0) if begun else [])

    def _entered(self, parent: etree._Element) -> Iterator[etree._Element]:
        for one in parent:
            kind = name(one)
            if kind in _DELETIONS:
                self.counts[_DELETED] += has_text(one, "w:delText", "w:t")
            elif kind == "mc:AlternateContent":
                yield from self._entered(chosen(one))
            elif kind in _TRANSPARENT:
                if kind in ("w:ins", "w:moveTo"):
                    self.counts[_INSERTED] += has_text(one)
                elif kind == "w:sdt" and is_on(child(one, "w:sdtPr", "w:showingPlcHdr")):
                    self.counts[_PLACEHOLDERS] += has_text(one)
                yield from self._entered(one)
            else:
                yield one

    def _paragraph(
        self, p: etree._Element, story: Story, begun: WordParagraph | None, lines: list[WordLine]
    ) -> WordParagraph | None:
        """Read a paragraph into lines; return it if it continues in the next one."""
        properties = child(p, "w:pPr")
        paragraph = WordParagraph(story, properties)
        if begun is not None:
            paragraph.pieces, paragraph.after = begun.pieces, begun.after
        self._inlines(p, paragraph)
        mark = child(properties, "w:rPr")
        if any(child(mark, of) is not None for of in _DELETIONS):
            return paragraph
        is_hidden = is_on(child(mark, "w:vanish")) and not paragraph.pieces
        if not is_hidden and (story.shows or paragraph.pieces):
            self._count(paragraph)
        if is_on(child(mark, "w:specVanish")) or value(child(properties, "w:framePr"), "dropCap"):
            # A run-in heading, or a drop cap.
            return paragraph
        lines += paragraph.lines(self._styles.depth(properties))
        if story.is_body and child(properties, "w:sectPr") is not None:
            lines += self._margins("footer")
            self._section += 1
            for notes in self._notes.values():
                notes.begin_section()
            lines += self._margins("header")
        return None

    def _count(self, paragraph: WordParagraph) -> None:
        """Put the number of a paragraph before its text."""
        counted = self._numbering.of(paragraph.properties)
        if counted is None or not counted.text:
            return
        label = self._in_unicode(counted.text, counted.font)
        if counted.parted:
            label += room(label, "".join(piece.text for piece in paragraph.pieces))
        anchor = paragraph.pieces[0].anchor if paragraph.pieces else None
        paragraph.pieces.insert(0, LinePiece(label, anchor))

    def _table(self, table: etree._Element, story: Story) -> list[WordLine]:
        lines: list[WordLine] = []
        for row in self._entered(table):
            if name(row) != "w:tr":
                continue
            properties = child(row, "w:trPr")
            if child(properties, "w:del") is not None:
                self.counts[_DELETED] += 1
                continue
            self.counts[_INSERTED] += child(properties, "w:ins") is not None
            cells = [self._cell(one, story) for one in self._entered(row) if name(one) == "w:tc"]
            lines += cells[0] if len(cells) == 1 else joined(cells)
        return lines

    def _cell(self, cell: etree._Element, story: Story) -> list[WordLine]:
        properties = child(cell, "w:tcPr")
        if child(properties, "w:cellDel") is not None:
            self.counts[_DELETED] += has_text(cell)
            return []
        merged = (child(properties, "w:vMerge"), child(properties, "w:hMerge"))
        if any(one is not None and value(one, default="continue") == "continue" for one in merged):
            # Word hides cells below merged ones.
            self.counts[_HIDDEN] += has_text(cell)
            return []
        return self._blocks(cell, story)

    # Inside a paragraph

    def _inlines(
        self, parent: etree._Element, into: WordParagraph, within: etree._Element | None = None
    ) -> None:
        for one in self._entered(parent):
            kind = name(one)
            anchor = one if within is None else within
            if kind == "w:r":
                self._run(one, into, anchor)
            elif kind in _FORMULA:
                self._formula(one, into, anchor)
            elif kind == "w:subDoc":
                self.counts[_FILES] += 1
            elif kind == "w:fldSimple":
                into.story.open_field(FormField(value(one, "instr"), has_result=True))
                self._inlines(one, into, within)
                into.story.close_field()

    def _run(self, run: etree._Element, into: WordParagraph, anchor: etree._Element) -> None:
        is_hidden = self._styles.is_hidden(run, into.properties)
        if is_hidden:
            self.counts[_HIDDEN] += into.story.shows and has_text(run)
        has_own_mark = any(value(one, "customMarkFollows") in _YES for one in run)
        for one in self._entered(run):
            kind = name(one)
            # A field can have hidden marks and a visible result.
            if is_hidden and kind not in ("w:fldChar", "w:instrText"):
                continue
            if kind in _SIGNS:
                into.put(_SIGNS[kind], anchor)
            elif kind in self._read and not (has_own_mark and kind in ("w:t", "w:sym")):
                self._read[kind](one, into, anchor)

    def _text(self, t: etree._Element, into: WordParagraph, anchor: etree._Element) -> None:
        text = _SPACES.sub(" ", t.text or "")
        kept = t.get("{http://www.w3.org/XML/1998/namespace}space") == "preserve"
        into.put(text if kept else text.strip(" "), anchor)

    def _symbol(self, sym: etree._Element, into: WordParagraph, anchor: etree._Element) -> None:
        code = value(sym, "char")
        if re.fullmatch("[0-9A-Fa-f]{1,5}", code):
            into.put(self._in_unicode(chr(int(code, 16)), value(sym, "font")), anchor)

    def _in_unicode(self, text: str, font: str) -> str:
        found = [character(sign, font) for sign in text]
        self.counts[_SYMBOLS] += found.count("")
        return "".join(sign or "〓" for sign in found)

    def _ruby(self, ruby: etree._Element, into: WordParagraph, anchor: etree._Element) -> None:
        base, above = child(ruby, "w:rubyBase"), child(ruby, "w:rt")
        if base is None:
            return
        before = len(into.pieces)
        self._inlines(base, into, anchor)
        written = "".join(piece.text for piece in into.pieces[before:])
        said = [] if above is None else [one.text or "" for one in above.iter() if _is_t(one)]
        self._read_as(written, "".join(said))

    def _read_as(self, base: str, reading: str) -> None:
        if base and reading:
            self.counts[_RUBY] += 1
            if len(self.readings) < _MOST_READINGS and len(base + reading) < _LONGEST_READING:
                self.readings[base, drop_controls(reading)] = None

    # Fields

    def _instruction(self, one: etree._Element, into: WordParagraph, _: etree._Element) -> None:
        fields = into.story.fields
        if fields and not fields[-1].has_result:
            # Instructions of page numbers and overlaid characters are short.
            fields[-1].instruction = (fields[-1].instruction + (one.text or ""))[:_LONGEST_FIELD]

    def _field_mark(
        self, mark: etree._Element, into: WordParagraph, anchor: etree._Element
    ) -> None:
        fields, kind = into.story.fields, value(mark, "fldCharType")
        if into.story.ignores_fields:
            return
        if kind == "begin":
            into.story.open_field(FormField(choice=form_choice(child(mark, "w:ffData"))))
        elif kind == "separate" and fields:
            into.story.begin_result()
        elif kind == "end" and fields:
            self._ended(into.story.close_field(), into, anchor)

    def _ended(self, ended: FormField, into: WordParagraph, anchor: etree._Element) -> None:
        """Show the choice or the instruction of a field without result."""
        if ended.choice:
            into.put(ended.choice, anchor)
        elif not ended.has_result and into.story.shows and _FORMULA_FIELD.match(ended.instruction):
            if shown := overlaid(ended.instruction):
                into.put(shown.text, anchor)
                self._read_as(shown.text, shown.reading)
            else:
                self.counts[_FIELDS] += 1

    # Notes, drawings, formulas

    def _note(self, mark: etree._Element, into: WordParagraph, anchor: etree._Element) -> None:
        notes = self._notes[name(mark).removeprefix("w:").removesuffix("Reference")]
        note = notes.by_id.pop(value(mark, "id"), None)
        if note is None or not into.story.shows:
            return
        if value(mark, "customMarkFollows") in _YES:
            run = mark.getparent()
            signs = [] if run is None else [one.text or "" for one in run if _is_t(one)]
            label = notes.label + "".join(signs)
        else:
            label = notes.next_label()
        where = into.anchor(anchor)
        lines = self._blocks(note, Story(where, ignores_fields=not _are_matched(note)))
        for line in joined([lines]):
            pieces = [LinePiece(f"{label}　", where), *line.pieces]
            into.after.append(WordLine(pieces, 0, is_note=True))

    def _drawn(self, drawn: etree._Element, into: WordParagraph, anchor: etree._Element) -> None:
        """Read the text boxes of a drawing, and count other content."""
        where, is_object = into.anchor(anchor), name(drawn) == "w:object"
        for one in shown_in(drawn):
            kind = name(one)
            if kind == "w:txbxContent" and into.story.shows:
                story = Story(where, ignores_fields=not _are_matched(one))
                into.after += self._blocks(one, story)
            elif kind == "v:textpath" and into.story.shows:
                words = drop_controls(one.get("string", "")).strip()
                into.after += [WordLine([LinePiece(words, where)])] if words else []
            elif kind == "a:graphicData":
                self._graphic(one, into, where)
            elif kind in _OBJECT:
                self.counts[_OBJECT[kind]] += 1
            elif kind in ("pic:pic", "v:imagedata"):
                # The picture of an embedded object counts with the object.
                self.counts[_PICTURES] += not is_object

    def _graphic(
        self, graphic: etree._Element, into: WordParagraph, where: etree._Element | None
    ) -> None:
        """Read a SmartArt diagram; count a chart."""
        what = _GRAPHICS.get(graphic.get("uri", "").rpartition("/")[2])
        relations = self._package.relations(self._part)
        lines = diagram(self._package, graphic, relations) if what == _DIAGRAMS else None
        if lines is None:
            self.counts[what or _PICTURES] += what is not None
        elif into.story.shows:
            into.after += [WordLine([LinePiece(line, where)]) for line in lines]

    def _formula(
        self, formula: etree._Element, into: WordParagraph, anchor: etree._Element
    ) -> None:
        written = linear(formula)
        if written.strip():
            self.counts[_FORMULAS] += 1
            into.put(written, anchor)


# Elements of a file


def _is_t(element: etree._Element) -> bool:
    return name(element) == "w:t"


def _is_section(element: etree._Element) -> bool:
    parent = element.getparent()
    return name(element) == "w:sectPr" and (parent is None or name(parent) != "w:sectPrChange")


def _are_matched(story: etree._Element) -> bool:
    """Whether every field of a text ends in it."""
    depth = 0
    for mark in shown_in(story):
        if name(mark) == "w:fldChar":
            depth += {"begin": 1, "end": -1}.get(value(mark, "fldCharType"), 0)
        if depth < 0:
            return False
    return depth == 0
