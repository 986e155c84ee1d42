"""Office files made with known sentences: each is found and quoted exactly, or named.

Workbooks, presentations, messages (.eml, .msg) and tables are made from a seed, added with the real
command and indexed. Every visible sentence must be found, word for word. Everything not read must
be named with its count.
"""

import csv
import io
import json
import random
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from email.message import EmailMessage
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from bench.options import parser
from bench.rates import rate

_THINGS = ("桟橋", "渡し舟", "灯台", "水門", "倉庫", "係留杭", "荷揚場", "見張所", "艇庫", "浮標")
_SUBJECTS = ("使用料", "点検", "予約", "開場時間", "定員", "修繕費", "照明", "鍵", "名簿", "届出")
_ENDS = (
    "毎月{n}日までに行う。",
    "一回につき{n}円とする。",
    "管理者が{n}日前に告げる。",
    "{n}人を超えてはならない。",
    "書面{n}通により申し出る。",
)


@dataclass
class MadeOfficeFile:
    """A file, and its known content.

    Attributes:
        sentences: to be found and quoted in this form.
        shown: numbers and dates as they must appear in the text.
        named: parts not read, with their counts.
    """

    name: str
    content: bytes
    sentences: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    named: Counter[str] = field(default_factory=Counter)
    passed_over: list[str] = field(default_factory=list)


class Writer:
    """Sentences that no other file has, and choices, from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._number = seed * 10_000

    def sentence(self) -> str:
        """A sentence with a number of its own."""
        self._number += 1
        thing, subject = self.choice(_THINGS), self.choice(_SUBJECTS)
        return f"{thing}の{subject}は、" + self.choice(_ENDS).format(n=self._number)

    def choice(self, among: Sequence[str]) -> str:
        """One of several."""
        return self._random.choice(among)

    def sentences(self, most: int) -> list[str]:
        """One to `most` sentences."""
        return [self.sentence() for _ in range(self._random.randint(1, most))]


def workbook(number: int, writer: Writer) -> MadeOfficeFile:
    """A workbook: heads, formats, merged and hidden cells, comments, a second sheet."""
    import openpyxl
    from openpyxl.comments import Comment

    made = MadeOfficeFile(f"台帳{number}.xlsx", b"")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "一覧"
    if number % 2:
        sheet.append(["係留施設一覧"])
        sheet.append([])
    sheet.append(["区分", "単価", "適用日", "取扱い"])
    for row, text in enumerate(writer.sentences(6), sheet.max_row + 1):
        price = 1_000 + number * 7 + row
        sheet.append([f"第{row}種", price, None, text])
        sheet.cell(row, 2).number_format = '#,##0"円"'
        sheet.cell(row, 3, 46_113 + row).number_format = '[$-411]ggge"年"m"月"d"日"'
        made.sentences.append(text)
        made.shown += [f"{price:,}円", f"令和8年4月{1 + row}日"]
    if number % 3 == 0:
        hidden = sheet.max_row + 1
        sheet.append(["", "", "", writer.sentence()])
        sheet.row_dimensions[hidden].hidden = True
        made.named["hidden rows"] += 1
    if number % 4 == 0:
        text = writer.sentence()
        sheet["A1"].comment = Comment(text, "甲")
        made.sentences.append(text)
    if number % 5 == 0:
        sheet.cell(sheet.max_row + 1, 2, "=1+2")
        made.named["formulas that were never calculated"] += 1
    notes = book.create_sheet("備考")
    for text in writer.sentences(4):
        notes.append([text])
        made.sentences.append(text)
    if number % 7 == 0:
        book.create_sheet("控え")["A1"] = writer.sentence()
        book["控え"].sheet_state = "hidden"
        made.named["hidden sheets"] += 1
    out = io.BytesIO()
    book.save(out)
    made.content = strict(out.getvalue()) if number % 6 == 0 else out.getvalue()
    return made


def strict(data: bytes) -> bytes:
    """An Office file with the namespaces of Strict Open XML."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            for kind in ("spreadsheetml", "presentationml", "drawingml", "officeDocument"):
                part = part.replace(
                    f"http://schemas.openxmlformats.org/{kind}/2006/".encode(),
                    f"http://purl.oclc.org/ooxml/{kind}/".encode(),
                )
            new.writestr(name, part)
    return out.getvalue()


_A = "http://schemas.openxmlformats.org/drawingml/2006/main"
_P = "http://schemas.openxmlformats.org/presentationml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_REL = "http://schemas.openxmlformats.org/package/2006/relationships"
_SPACES = f'xmlns:a="{_A}" xmlns:p="{_P}" xmlns:r="{_R}"'


def shape(*lines: str, place: str = "") -> str:
    """A text box of a slide, or a place of its layout."""
    of = f'<p:ph type="{place}"/>' if place else ""
    body = "".join(f"<a:p><a:r><a:t>{escape(line)}</a:t></a:r></a:p>" for line in lines)
    return (
        f"<p:sp><p:nvSpPr><p:cNvPr/><p:cNvSpPr/><p:nvPr>{of}</p:nvPr></p:nvSpPr>"
        f"<p:txBody>{body}</p:txBody></p:sp>"
    )


def slide_table(*rows: Sequence[str]) -> str:
    """A table of a slide whose first row is its head."""
    cells = "".join(
        "<a:tr>"
        + "".join(
            f"<a:tc><a:txBody><a:p><a:r><a:t>{escape(one)}</a:t></a:r></a:p></a:txBody></a:tc>"
            for one in row
        )
        + "</a:tr>"
        for row in rows
    )
    return (
        '<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tblPr firstRow="1"/>'
        f"{cells}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
    )


@dataclass
class Slide:
    """A slide to be written: its shapes, what the speaker says, and whether it is hidden."""

    shapes: Sequence[str]
    notes: Sequence[str] = ()
    hidden: bool = False


def pptx(slides: Sequence[Slide], layout: str = "", master: str = "") -> bytes:
    """A presentation of these slides.

    Args:
        slides: in order.
        layout: the shapes of the layout of all slides; "" without layout and master.
        master: the shapes of its master.
    """
    parts = {
        "_rels/.rels": _relations([("officeDocument", "ppt/presentation.xml")]),
        "ppt/presentation.xml": f"<p:presentation {_SPACES}><p:sldIdLst>"
        + "".join(f'<p:sldId id="{256 + n}" r:id="rId{n}"/>' for n in range(1, len(slides) + 1))
        + "</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": _relations(
            [("slide", f"slides/slide{n}.xml") for n in range(1, len(slides) + 1)]
        ),
    }
    for number, slide in enumerate(slides, 1):
        show = ' show="0"' if slide.hidden else ""
        parts[f"ppt/slides/slide{number}.xml"] = (
            f"<p:sld {_SPACES}{show}><p:cSld><p:spTree>{''.join(slide.shapes)}</p:spTree></p:cSld>"
            "</p:sld>"
        )
        related = [("slideLayout", "../slideLayouts/slideLayout1.xml")] if layout else []
        if slide.notes:
            related.append(("notesSlide", f"../notesSlides/notesSlide{number}.xml"))
            parts[f"ppt/notesSlides/notesSlide{number}.xml"] = (
                f"<p:notes {_SPACES}><p:cSld><p:spTree>{shape(*slide.notes, place='body')}"
                f"{shape(str(number), place='sldNum')}</p:spTree></p:cSld></p:notes>"
            )
        parts[f"ppt/slides/_rels/slide{number}.xml.rels"] = _relations(related)
    if layout:
        for name, shapes in (("Layout", layout), ("Master", master)):
            parts[f"ppt/slide{name}s/slide{name}1.xml"] = (
                f"<p:sld{name} {_SPACES}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld>"
                f"</p:sld{name}>"
            )
        parts["ppt/slideLayouts/_rels/slideLayout1.xml.rels"] = _relations(
            [("slideMaster", "../slideMasters/slideMaster1.xml")]
        )
        parts["ppt/slideMasters/_rels/slideMaster1.xml.rels"] = _relations(
            [("slideLayout", "../slideLayouts/slideLayout1.xml")]
        )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return out.getvalue()


def _relations(targets: Sequence[tuple[str, str]]) -> str:
    rows = "".join(
        f'<Relationship Id="rId{n}" Type="{_R}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{_REL}">{rows}</Relationships>'


def presentation(number: int, writer: Writer) -> MadeOfficeFile:
    """A presentation: titles, boxes, groups, a table, notes and a hidden slide."""
    made = MadeOfficeFile(f"説明{number}.pptx", b"")
    slides = []
    for at in range(1, 4):
        title, lines, notes = f"第{at}部　概要", writer.sentences(4), writer.sentences(2)
        rows = [["項目", "内容"], *([f"その{n}", writer.sentence()] for n in range(1, 3))]
        inside = writer.sentence()
        shapes = [
            shape(*lines),
            shape(title, place="title"),
            f"<p:grpSp>{shape(inside)}</p:grpSp>",
            slide_table(*rows),
            shape(str(at), place="sldNum"),
        ]
        slides.append(Slide(shapes, notes))
        made.sentences += [*lines, *notes, inside, *(row[1] for row in rows[1:])]
    if number % 3 == 0:
        slides.insert(1, Slide([shape(writer.sentence())], hidden=True))
        made.named["hidden slides"] += 1
    if number % 4 == 0:
        slides[0].shapes = [*slides[0].shapes, "<p:pic/>"]
        made.named["pictures"] += 1
    made.content = strict(pptx(slides)) if number % 5 == 0 else pptx(slides)
    return made


def message(number: int, writer: Writer) -> MadeOfficeFile:
    """A message in one of the charsets that are used, with an attachment."""
    made = MadeOfficeFile(f"連絡{number}.eml", b"")
    mail = EmailMessage()
    mail["From"] = "管理者 <kanri@example.jp>"
    mail["To"] = "利用者 <riyo@example.jp>"
    mail["Date"] = "Wed, 01 Apr 2026 09:00:00 +0900"
    mail["Subject"] = f"係留の件{number}"
    lines, attached = writer.sentences(5), writer.sentences(2)
    charset = ("utf-8", "iso-2022-jp", "shift_jis")[number % 3]
    cte = {"iso-2022-jp": "7bit", "shift_jis": "base64"}.get(charset, "quoted-printable")
    body = "\n".join(lines) + "\n"
    if number % 4 == 0:
        mail.set_content("<p>" + "</p><p>".join(lines) + "</p>", subtype="html", charset="utf-8")
    else:
        mail.set_content(body, charset=charset, cte=cte)
    made.sentences += [*lines, *attached]
    if number % 2:
        mail.add_attachment(
            "\n".join(attached).encode("cp932"), "text", "plain", filename="別紙.txt"
        )
    else:
        inner = EmailMessage()
        inner["Subject"], inner["From"] = "別件", "shomu@example.jp"
        inner.set_content("\n".join(attached))
        mail.add_attachment(inner)
    if number % 5 == 0:
        mail.add_attachment(b"AC1032", "image", "vnd.dwg", filename="図.dwg")
        made.passed_over.append("図.dwg")
    made.content = mail.as_bytes()
    return made


def outlook(number: int, writer: Writer) -> MadeOfficeFile:
    """A message as Outlook saves it."""
    lines, attached = writer.sentences(5), writer.sentences(2)
    content = msg(
        subject=f"桟橋の件{number}",
        body="\r\n".join(lines),
        code_page=932 if number % 2 else 0,
        attachments={"別紙.txt": "\n".join(attached).encode()},
    )
    return MadeOfficeFile(f"伝言{number}.msg", content, [*lines, *attached])


def msg(
    subject: str,
    body: str,
    *,
    sender: str = "管理者",
    to: str = "利用者",
    copies: str = "",
    code_page: int = 0,
    rtf: bytes = b"",
    page: str = "",
    attachments: dict[str, bytes] | None = None,
) -> bytes:
    """A message of Outlook; texts are bytes in a code page, or UTF-16.

    `rtf` (compressed) or `page` (HTML) adds that body.
    """
    kind = "001E" if code_page else "001F"
    encoding = f"cp{code_page}" if code_page else "utf-16-le"
    texts = {"0037": subject, "1000": body, "0C1A": sender, "0E04": to, "0E03": copies}
    streams: dict[str, Any] = {
        f"__substg1.0_{number}{kind}": text.encode(encoding) for number, text in texts.items()
    }
    if rtf:
        streams["__substg1.0_10090102"] = rtf
    if page:
        streams["__substg1.0_10130102"] = page.encode(encoding if code_page else "utf-8")
    sent = 134_194_752_000_000_000
    numbers = struct.pack("<HHIQ", 0x0040, 0x0039, 0, sent)
    numbers += struct.pack("<HHIQ", 0x0003, 0x3FFD, 0, code_page)
    streams["__properties_version1.0"] = bytes(32) + numbers
    for at, (name, content) in enumerate((attachments or {}).items()):
        streams[f"__attach_version1.0_#{at:08X}"] = {
            f"__substg1.0_3707{kind}": name.encode(encoding),
            "__substg1.0_37010102": content,
            "__properties_version1.0": bytes(8),
        }
    return compound(streams)


_FREE, _END, _NONE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFF
_SECTOR, _MINI, _SMALL = 512, 64, 4096


def compound(content: dict[str, Any]) -> bytes:
    """A compound file (OLE) of streams and folders, as Outlook writes one."""
    entries: list[dict[str, Any]] = []
    _enter(entries, "Root Entry", content)
    mini, sectors = bytearray(), bytearray()
    mini_table: list[int] = []
    table: list[int] = []

    def chain(data: bytes) -> int:
        begun, count = len(table), -(-len(data) // _SECTOR)
        table.extend([*range(begun + 1, begun + count), _END])
        sectors.extend(data.ljust(count * _SECTOR, b"\0"))
        return begun

    for entry in entries:
        data = entry.get("data", b"")
        if 0 < len(data) < _SMALL:
            begun, count = len(mini_table), -(-len(data) // _MINI)
            mini_table.extend([*range(begun + 1, begun + count), _END])
            mini.extend(data.ljust(count * _MINI, b"\0"))
            entry["first"] = begun
        elif data:
            entry["first"] = chain(data)
    entries[0].update(first=chain(bytes(mini)) if mini else _END, size=len(mini))
    mini_first = chain(struct.pack(f"<{len(mini_table)}I", *mini_table)) if mini_table else _END
    while len(entries) % 4:
        entries.append({"name": "", "kind": 0})
    directory = chain(b"".join(map(_entry, entries)))
    own = 1
    while own * (_SECTOR // 4) < len(table) + own:
        own += 1
    first = len(table)
    table += [0xFFFFFFFD] * own
    table += [_FREE] * (own * (_SECTOR // 4) - len(table))
    sectors += struct.pack(f"<{len(table)}I", *table)
    minis = -(-len(mini_table) * 4 // _SECTOR)
    head = struct.pack(
        "<8s16sHHHHH6xIIIIIIIII",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        bytes(16),
        *(0x3E, 3, 0xFFFE, 9, 6),
        *(0, own, directory, 0, _SMALL, mini_first, minis, _END, 0),
    )
    shares = [first + n for n in range(own)] + [_FREE] * (109 - own)
    return head + struct.pack("<109I", *shares) + bytes(sectors)


def _enter(entries: list[dict[str, Any]], name: str, content: dict[str, Any] | bytes) -> int:
    """Enter a stream, or a folder with its content; returns its number."""
    number = len(entries)
    if isinstance(content, bytes):
        entries.append({"name": name, "kind": 2, "data": content, "size": len(content)})
        return number
    entry: dict[str, Any] = {"name": name, "kind": 1 if number else 5}
    entries.append(entry)
    # A tree that leans to the right, in the order of the format: short names before long ones.
    inside = sorted(content, key=lambda one: (len(one), one.upper()))
    numbers = [_enter(entries, one, content[one]) for one in inside]
    entry["child"] = numbers[0] if numbers else _NONE
    for before, after in pairwise(numbers):
        entries[before]["right"] = after
    return number


def _entry(entry: dict[str, Any]) -> bytes:
    name = entry["name"].encode("utf-16-le")
    return struct.pack(
        "<64sHBBIII16xI16xIQ",
        name,
        len(name) + 2 if name else 0,
        entry["kind"],
        1,
        _NONE,
        entry.get("right", _NONE),
        entry.get("child", _NONE),
        0,
        entry.get("first", _END if entry["kind"] else 0),
        entry.get("size", 0),
    )


def table(number: int, writer: Writer) -> MadeOfficeFile:
    """A table as text, in the encodings and with the separators that programs write."""
    made = MadeOfficeFile(f"表{number}.{'tsv' if number % 5 == 0 else 'csv'}", b"")
    separator = "\t" if number % 5 == 0 else (",", ";")[number % 2]
    out = io.StringIO()
    rows = csv.writer(out, delimiter=separator, lineterminator="\r\n")
    rows.writerow(["番号", "場所", "数", "期間", "取扱い", "注記"])
    for row, text in enumerate(writer.sentences(6), 1):
        note = writer.sentence()
        rows.writerow([row, f"第{row}桟橋", row * 3, "一年", text, f"注記\n{note}"])
        made.sentences += [text, note]
    made.content = out.getvalue().encode(("utf-8", "cp932", "utf-8-sig")[number % 3])
    return made


KINDS: Sequence[Callable[[int, Writer], MadeOfficeFile]] = (
    workbook,
    presentation,
    message,
    outlook,
    table,
)


def files(count: int, seed: int) -> Iterator[MadeOfficeFile]:
    """So many files of all kinds in turn."""
    for number in range(count):
        yield KINDS[number % len(KINDS)](number // len(KINDS) + 1, Writer(seed * 1_000 + number))


def main() -> int:
    """Make the files, add them, and count."""
    options = parser(__doc__, data=False)
    options.add_argument("--files", type=int, default=100, metavar="N", help="files (100)")
    options.add_argument("--seed", type=int, default=36, metavar="N", help="of the files (36)")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "files"
        folder.mkdir()
        made = list(files(given.files, given.seed))
        for one in made:
            (folder / one.name).write_bytes(one.content)
        report = added(Path(place) / "home", folder)
        wrong = list(missing(Path(place) / "home", made, report))
    for line in wrong:
        print(line)
    sentences = sum(len(one.sentences) for one in made)
    right = len({one.name for one in made} - {line.partition(":")[0] for line in wrong})
    print(
        f"{sentences:,} sentences; files with every sentence found and quoted exactly, and the "
        f"rest named: {right} of {len(made)}, {rate(right, len(made))}"
    )
    return int(bool(wrong))


def added(home: Path, folder: Path) -> dict[str, Any]:
    """Add and index a folder with the real command; what `add` reports."""
    command = [sys.executable, "-m", "localrag", "--home", str(home)]
    subprocess.run([*command, "init"], check=True, capture_output=True)
    done = subprocess.run(
        [*command, "add", str(folder), "--json"], check=False, capture_output=True, text=True
    )
    subprocess.run([*command, "index"], check=True, capture_output=True)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def missing(home: Path, made: Sequence[MadeOfficeFile], report: dict[str, Any]) -> Iterator[str]:
    """One line for each sentence not found, not exact, or not named."""
    import localrag
    from localrag.corpus.types import omissions_of

    for failure in report["failed"]:
        yield f"{failure['source'].partition('!')[0]}: {failure['cause']}"
    named: dict[str, Counter[str]] = {one.name: Counter() for one in made}
    with localrag.open(home).corpus("main") as corpus:
        for document in corpus.documents():
            for omission in omissions_of(document.metadata):
                named[document.id.partition("!")[0]][omission.what] += omission.count
        for one in made:
            text = corpus.store.text(one.name) if one.shown else ""
            for value in one.shown:
                if value not in text:
                    yield f"{one.name}: {value} is not in the text"
            for sentence in one.sentences:
                hits = corpus.search(sentence, k=10).hits
                if not any(
                    sentence in hit.passage.text and hit.passage.document_id.startswith(one.name)
                    for hit in hits
                ):
                    yield f"{one.name}: {sentence} is not found"
            question = max(one.sentences, key=len)
            answer = corpus.ask(question)
            if not any(question in quoted.quote for quoted in answer.citations):
                yield f"{one.name}: {question} is not quoted"
    told = Counter[str](report["left_out"])
    for one in made:
        for what, count in one.named.items():
            in_document = named[one.name][what] == count
            if not in_document and told[what] < count:
                yield f"{one.name}: {count} {what} are not named"
        for part in one.passed_over:
            if not any(
                found["source"].endswith(f"{one.name}!{part}") for found in report["passed_over"]
            ):
                yield f"{one.name}: {part} is not named"


if __name__ == "__main__":
    sys.exit(main())
