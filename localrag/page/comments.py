"""Writes the findings of a check as comments into a copy of a Word file.

If the checked text was no Word file, python-docx first makes one of it (extra ``docs``). Only the
main part and the comments change; all other parts stay equal byte for byte. python-docx itself
would rewrite every part, drop some, and refuse Strict Open XML and macros.
"""

import posixpath
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from localrag.check import wording
from localrag.check.types import CheckReport, Finding, Verdict
from localrag.corpus.readers import Limits
from localrag.corpus.readers.package import STRICT, Package, child, name, number, parsed, value
from localrag.corpus.readers.text import drop_controls
from localrag.corpus.readers.word import words_of
from localrag.errors import InputError, to_install
from localrag.language import N_, _

_AUTHOR, _INITIALS = "localrag", "lr"
_MAIN = "word/document.xml"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_CONTENT_TYPES = "[Content_Types].xml"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_COMMENTS = "application/vnd.openxmlformats-officedocument.wordprocessingml.comments+xml"
_AROUND = frozenset(["w:ins", "w:moveTo", "w:sdtContent", "w:sdt", "w:fldSimple"])
"""What a comment goes around, not into: a rejected insertion would take the comment with it."""


class _Stretch(NamedTuple):
    """A stretch of the checked text, and the element its comments surround."""

    start: int
    end: int
    anchor: etree._Element


def commented(report: CheckReport, original: Path | None = None) -> bytes:
    """Write a Word file with a comment on each finding that fails or is unchecked.

    Raises:
        InputError: python-docx is missing, or the original has changed.
    """
    is_word = report.kind == "docx" and original is not None
    data = original.read_bytes() if is_word and original is not None else _copy(report)
    package = Package(data, Limits())
    if not package.has(_CONTENT_TYPES):
        raise InputError(N_("The DOCX is damaged."), N_("Open it in Word and save it again."))
    main = package.main(_MAIN)
    root = package.root(main)
    stretches = list(_of_word(package, root, report) if is_word else _of_copy(root, report))
    comments = _Comments(package, main, root)
    if stretches:
        told = (wording.title(report), wording.counts(report), *wording.notes(report))
        comments.add(stretches[:1], told)
    for finding in report.findings:
        if finding.verdict is not Verdict.HOLDS:
            there = [one for one in stretches if _touches(one, finding)]
            # Word allows no comments in headers and footers.
            comments.add(there or stretches[:1], (wording.verdict(finding), *_further(finding)))
    return _rewritten(data, comments.parts())


def _copy(report: CheckReport) -> bytes:
    try:
        import docx
    except ImportError as error:
        raise InputError(N_("Writing DOCX needs python-docx."), to_install("docs")) from error
    document = docx.Document()
    for text in report.text.split("\n"):
        document.add_paragraph(drop_controls(text))
    written = BytesIO()
    document.save(written)
    return written.getvalue()


def _of_copy(root: etree._Element, report: CheckReport) -> Iterator[_Stretch]:
    body = child(root, "w:body")
    paragraphs = [] if body is None else [one for one in body if name(one) == "w:p"]
    at = 0
    for text, paragraph in zip(report.text.split("\n"), paragraphs, strict=True):
        run = child(paragraph, "w:r")
        if run is not None:
            yield _Stretch(at, at + len(text), run)
        at += len(text) + 1


def _of_word(package: Package, root: etree._Element, report: CheckReport) -> Iterator[_Stretch]:
    """Yield the stretches of the original; raises `InputError` if it has changed."""
    lines = words_of(package, root).lines
    if "".join(line.text + "\n" for line in lines) != report.text:
        raise InputError(
            N_("{name} has changed since it was checked."),
            N_("Check it again."),
            name=report.name,
        )
    at = 0
    for line in lines:
        for piece in line.pieces:
            if piece.anchor is not None and piece.text:
                yield _Stretch(at, at + len(piece.text), piece.anchor)
            at += len(piece.text)
        at += 1


def _touches(stretch: _Stretch, finding: Finding) -> bool:
    return stretch.start < finding.place.end and finding.place.start < stretch.end


def _further(finding: Finding) -> Iterator[str]:
    if finding.place.note:
        yield wording.place(finding.place, "docx")
    if finding.diff:
        yield "".join(
            part.law
            if part.same
            else (f"[{part.law}]" if part.law else "") + (f"({part.said})" if part.said else "")
            for part in finding.diff
        )
        yield _("[ ]: words of the provision; ( ): words of the text.")
    if finding.provision:
        yield wording.compared(finding)
    if finding.evidence and finding.verdict is Verdict.FAILS:
        yield finding.evidence


class _Comments:
    """The comments of a Word file, old and new.

    Args:
        package: the file.
        main: the name of its main part.
        root: the root of that part, for the marks.
    """

    def __init__(self, package: Package, main: str, root: etree._Element) -> None:
        self._package, self._main, self._root = package, main, root
        self._space = str(root.tag).rpartition("}")[0]
        related = (one.target for one in package.relations(main).values() if one.kind == "comments")
        part = next((one for one in related if package.has(one)), "")
        self._is_new = not part
        self._part = part or posixpath.join(posixpath.dirname(main), "localrag-comments.xml")
        if self._is_new:
            self._comments = etree.Element(self._name("comments"), nsmap={"w": self._space[1:]})
        else:
            self._comments = package.root(part)
        self._next = 1 + max((number(value(one, "id")) for one in self._comments), default=-1)

    def _name(self, local: str) -> str:
        return f"{self._space}}}{local}"

    def _made(self, local: str, **attributes: str) -> etree._Element:
        of_word = {self._name(key): said for key, said in attributes.items()}
        return etree.Element(self._name(local), of_word)

    def add(self, stretches: Sequence[_Stretch], lines: Iterable[str]) -> None:
        """Add a comment with these lines; do nothing without stretches."""
        if not stretches:
            return
        id_, self._next = str(self._next), self._next + 1
        made = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        comment = self._made("comment", id=id_, author=_AUTHOR, initials=_INITIALS, date=made)
        for at, line in enumerate(lines):
            paragraph = etree.SubElement(comment, self._name("p"))
            if not at:
                paragraph.append(self._run(self._made("annotationRef")))
            for part, text in enumerate(drop_controls(line).split("\n")):
                words = self._made("t")
                words.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
                words.text = text
                paragraph.append(self._run(*([self._made("br")] if part else []), words))
        self._comments.append(comment)
        _outermost(stretches[0].anchor).addprevious(self._made("commentRangeStart", id=id_))
        end = self._made("commentRangeEnd", id=id_)
        _outermost(stretches[-1].anchor).addnext(end)
        end.addnext(self._run(self._made("commentReference", id=id_)))

    def _run(self, *content: etree._Element) -> etree._Element:
        run = self._made("r")
        run.extend(content)
        return run

    def parts(self) -> Mapping[str, bytes]:
        """Return the new and the changed parts."""
        changed = {self._main: _serialized(self._root), self._part: _serialized(self._comments)}
        if not self._is_new:
            return changed
        folder, base = posixpath.split(self._main)
        relations = posixpath.join(folder, "_rels", f"{base}.rels")
        host = STRICT if self._space[1:].startswith(STRICT) else ""
        kind = f"{host or 'http://schemas.openxmlformats.org/'}officeDocument/"
        kind += "relationships/comments" if host else "2006/relationships/comments"
        if self._package.has(relations):
            root = self._package.root(relations)
        else:
            root = parsed(f'<Relationships xmlns="{_RELATIONS}"/>'.encode())
        target = posixpath.basename(self._part)
        attributes = {"Id": "localragComments", "Type": kind, "Target": target}
        etree.SubElement(root, f"{{{_RELATIONS}}}Relationship", attributes)
        types = self._package.root(_CONTENT_TYPES)
        of_part = {"PartName": f"/{self._part}", "ContentType": _COMMENTS}
        etree.SubElement(types, f"{{{_TYPES}}}Override", of_part)
        return changed | {relations: _serialized(root), _CONTENT_TYPES: _serialized(types)}


def _outermost(anchor: etree._Element) -> etree._Element:
    """Return the insertion or content control around an element."""
    parent = anchor.getparent()
    while parent is not None and name(parent) in _AROUND:
        anchor, parent = parent, parent.getparent()
    return anchor


def _serialized(root: etree._Element) -> bytes:
    return etree.tostring(
        root.getroottree(), xml_declaration=True, encoding="UTF-8", standalone=True
    )


def _rewritten(data: bytes, changed: Mapping[str, bytes]) -> bytes:
    """Replace some parts of a package and copy the others."""
    waiting = {part.lower(): (part, content) for part, content in changed.items()}
    written = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(written, "w") as new:
        for member in old.infolist():
            key = member.filename.replace("\\", "/").lstrip("/").lower()
            content = waiting.pop(key)[1] if key in waiting else old.read(member)
            new.writestr(member, content)
        for part, content in waiting.values():
            new.writestr(part, content, zipfile.ZIP_DEFLATED)
    return written.getvalue()
