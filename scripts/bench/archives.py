"""Small files that grow, and slow files: refused, or read in little memory.

Each is added in its own process, together with a sound document. Printed are messages, peak memory
of all processes, seconds by clock and processor, and whether the sound document was added. A file
passes if it is read or refused within 512 MB and 30 s. A busy machine counts processor seconds.
"""

import bz2
import gzip
import io
import json
import lzma
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.options import parser
from bench.own_process import processor_seconds
from bench.rates import rate

MEGABYTES, SECONDS = 512, 30
_MOST = 3 << 30
CASES: dict[str, Callable[[], tuple[str, bytes]]] = {}
"""What makes each file: its name and its bytes."""


def case(function: Callable[[], tuple[str, bytes]]) -> Callable[[], tuple[str, bytes]]:
    """Enter a file."""
    CASES[function.__name__] = function
    return function


def main() -> None:
    """Be the parent, or after ``--child`` the process that adds."""
    if sys.argv[1:2] == ["--child"]:
        child(*map(Path, sys.argv[2:]))
        return
    options = parser(__doc__, data=False)
    options.add_argument("--only", nargs="*", metavar="CASE", help="these alone", choices=CASES)
    chosen = options.parse_args().only or list(CASES)
    print(f"{'file':<34}{'bytes':>12}{'MB':>7}{'s':>7}{'CPU s':>7}  outcome")
    passed = sum(map(passes, chosen))
    print(f"refused or read within {MEGABYTES} MB and {SECONDS} s: {rate(passed, len(chosen))}")


def passes(name: str) -> bool:
    """Have a file added, and print what became of it."""
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "files"
        files.mkdir()
        called, content = CASES[name]()
        (files / called).write_bytes(content)
        (files / "zz-sound.md").write_text("# 灯台\n\n白浜灯台は1871年に点灯した。\n", "utf-8")
        command = [sys.executable, __file__, "--child", str(Path(folder) / "home"), str(files)]
        started, used = time.perf_counter(), processor_seconds()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            out, _ = process.communicate(timeout=10 * SECONDS)
            told = json.loads(out.splitlines()[-1]) if process.returncode == 0 else {}
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            told = {"said": "killed: no end"}
        seconds, used = time.perf_counter() - started, processor_seconds() - used
    megabytes = told.get("megabytes", 0)
    whole = bool(told.get("sound")) and megabytes <= MEGABYTES and min(seconds, used) <= SECONDS
    said = told.get("said", f"ended with {process.returncode}")
    print(
        f"{name:<34}{len(content):>12,}{megabytes:>7.0f}{seconds:>7.1f}{used:>7.1f}"
        f"  {'' if whole else 'FAILS: '}{said[:150]}",
        flush=True,
    )
    return whole


def child(home: Path, files: Path) -> None:
    """Add the files in one process, and tell how that went."""
    from localrag.corpus.ingest.add import add
    from localrag.corpus.store import CorpusStore
    from localrag.corpus.workspace import Workspace

    # What grows without bounds shall not take the machine with it.
    resource.setrlimit(resource.RLIMIT_AS, (_MOST, _MOST))
    workspace = Workspace.locate(home)
    workspace.init()
    report = add(workspace, "main", [files])
    with CorpusStore.open(workspace.corpus("main").store, read_only=True) as store:
        sound = any(one.id == "zz-sound.md" for one in store.documents())
    causes = [failed.cause for failed in report.failed if "zz-sound" not in failed.source]
    said = f"{report.added - sound:,} documents"
    if causes:
        said += f", {report.failures:,} failures: {causes[-1]}"
    # getrusage would include the parent's memory.
    status = Path("/proc/self/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
    print(json.dumps({"said": said, "sound": sound, "megabytes": peak}))


def packed(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip of some members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return out.getvalue()


def repeated(unit: bytes, size: int) -> bytes:
    """So many bytes of a unit."""
    return (unit * (size // len(unit) + 1))[:size]


def xz_of(unit: bytes, times: int) -> bytes:
    """A unit written many times and packed, without ever being held as a whole."""
    packer = lzma.LZMACompressor()
    block = unit * max(1, (1 << 20) // len(unit))
    pieces = [packer.compress(block) for _ in range(times * len(unit) // len(block))]
    return b"".join([*pieces, packer.flush()])


def lying(data: bytes, says: int) -> bytes:
    """A zip of one member with a false size in its directory."""
    there = bytearray(data)
    at = there.rindex(b"PK\x01\x02")
    there[at + 24 : at + 28] = says.to_bytes(4, "little")
    there[22:26] = says.to_bytes(4, "little")
    return bytes(there)


def law(body: str, attributes: str = "") -> bytes:
    """A law of e-Gov's XML."""
    return (
        f'<Law Era="Reiwa" Year="1" Num="1" LawType="Act" {attributes}><LawNum>令和元年法律第一号'
        f"</LawNum><LawBody><LawTitle>試験法</LawTitle><MainProvision>{body}</MainProvision>"
        "</LawBody></Law>"
    ).encode()


def article(num: str, text: str = "届け出る。", below: str = "") -> str:
    """An article of one paragraph."""
    return (
        f'<Article Num="{num}"><ArticleTitle>第一条</ArticleTitle><Paragraph Num="1">'
        f"<ParagraphSentence><Sentence>{text}</Sentence></ParagraphSentence>{below}</Paragraph>"
        "</Article>"
    )


LAW_FILE = "501AC0000000001.xml"


@case
def zip_that_lies() -> tuple[str, bytes]:
    """Zip that lies."""
    return "a.zip", lying(packed(("a.txt", bytes(1_000_000_000))), 10)


@case
def zip_that_lies_lzma() -> tuple[str, bytes]:
    """Zip that lies lzma."""
    return "a.zip", lying(packed(("a.txt", bytes(500_000_000)), method=zipfile.ZIP_LZMA), 10)


@case
def zip_that_lies_bzip2() -> tuple[str, bytes]:
    """Zip that lies bzip2."""
    return "a.zip", lying(packed(("a.txt", bytes(500_000_000)), method=zipfile.ZIP_BZIP2), 10)


@case
def zip_of_many_large() -> tuple[str, bytes]:
    """Zip of many large."""
    return "a.zip", packed(*((f"{n}.txt", repeated(b"%07d " % n, 990_000)) for n in range(1_500)))


@case
def zip_of_many_members() -> tuple[str, bytes]:
    """Zip of many members."""
    return "a.zip", packed(*((f"{n}.txt", b"x") for n in range(99_999)))


@case
def zip_of_too_many_members() -> tuple[str, bytes]:
    """Zip of too many members."""
    return "a.zip", packed(*((f"{n}", b"") for n in range(120_000)))


@case
def zip_in_zip() -> tuple[str, bytes]:
    """Zip in zip."""
    inner = packed(("a.txt", bytes(100_000_000)))
    for _ in range(5):
        inner = packed(("a.zip", inner), ("b.zip", inner))
    return "a.zip", inner


@case
def zip_of_one_bomb() -> tuple[str, bytes]:
    """Zip of one bomb."""
    return "a.zip", packed(("a.txt", repeated(b"a b\n", 190_000_000)))


@case
def zip_of_xml_bomb() -> tuple[str, bytes]:
    """Zip of xml bomb."""
    body = "".join(article("1") for _ in range(50_000))
    return "a.zip", packed((LAW_FILE, law(body)))


@case
def zip_with_names_of_64_kb() -> tuple[str, bytes]:
    """Zip with names of 64 kb."""
    return "a.zip", packed(*((f"{n:05d}{'x' * 60_000}.txt", b"x y") for n in range(500)))


def workbook_of(sheet: str, texts: str = "") -> bytes:
    """A workbook of one sheet with this content, and the texts of its cells."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    of = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/sharedStrings.xml" ContentType="{kind}.sharedStrings+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/>'
        "</Types>",
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="a" '
        f'Type="{of}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="a" Type="{of}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="b" Type="{of}/sharedStrings" Target="sharedStrings.xml"/>'
        "</Relationships>",
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{of}"><sheets>'
        '<sheet name="a" sheetId="1" r:id="a"/></sheets></workbook>',
        "xl/sharedStrings.xml": f'<sst xmlns="{main}">{texts}</sst>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{sheet}</sheetData>'
        "</worksheet>",
    }
    return packed(*((name, part.encode()) for name, part in parts.items()))


@case
def xlsx_of_empty_rows() -> tuple[str, bytes]:
    """Five million rows with nothing in them."""
    return "a.xlsx", workbook_of("<row/>" * 5_000_000)


@case
def xlsx_far_cell() -> tuple[str, bytes]:
    """A cell in the last row and the last column."""
    return "a.xlsx", workbook_of('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')


@case
def xlsx_wide_rows() -> tuple[str, bytes]:
    """Rows with a cell in the last column each."""
    return "a.xlsx", workbook_of('<row><c r="XFD1"><v>1</v></c></row>' * 100_000)


@case
def xlsx_one_text_often() -> tuple[str, bytes]:
    """A text of 30 KB in each of 100,000 cells."""
    row = '<row><c t="s"><v>0</v></c></row>'
    return "a.xlsx", workbook_of(row * 100_000, f"<si><t>{'灯台。' * 10_000}</t></si>")


@case
def pptx_of_tiny_elements() -> tuple[str, bytes]:
    """A slide of millions of elements."""
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    of = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    link = (
        '<Relationships xmlns="{}"><Relationship Id="a" Type="{}/{}" Target="{}"/></Relationships>'
    )
    book = f'<p xmlns:r="{of}"><sldIdLst><sldId r:id="a"/></sldIdLst></p>'
    return "a.pptx", packed(
        ("_rels/.rels", link.format(relations, of, "officeDocument", "ppt/p.xml").encode()),
        ("ppt/_rels/p.xml.rels", link.format(relations, of, "slide", "s.xml").encode()),
        ("ppt/p.xml", book.encode()),
        ("ppt/s.xml", b"<s>" + b"<a/>" * 2_000_000 + b"</s>"),
    )


@case
def eml_of_many_parts() -> tuple[str, bytes]:
    """A message of a million empty parts."""
    head = b"Subject: a\nContent-Type: multipart/mixed; boundary=b\n\n"
    return "a.eml", head + b"--b\n\n" * 1_000_000


@case
def eml_of_parts_in_parts() -> tuple[str, bytes]:
    """Parts inside each other, five thousand deep."""
    deep = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(5_000)
    )
    return "a.eml", b"Subject: a\n" + deep


@case
def csv_of_separators() -> tuple[str, bytes]:
    """A table of nothing but commas."""
    return "a.csv", b"a,b\n" + b"," * 60_000_000


@case
def xz_of_line_ends() -> tuple[str, bytes]:
    """Xz of line ends."""
    return "a.jsonl.xz", xz_of(b"\n", 2_000_000_000)


@case
def xz_of_empty_objects() -> tuple[str, bytes]:
    """Xz of empty objects."""
    return "a.jsonl.xz", xz_of(b"{}\n", 300_000_000)


@case
def xz_of_tiny_documents() -> tuple[str, bytes]:
    """Xz of tiny documents."""
    return "a.jsonl.xz", xz_of(b'{"text":"a"}\n', 100_000_000)


@case
def xz_of_one_line() -> tuple[str, bytes]:
    """Xz of one line."""
    return "a.jsonl.xz", xz_of(b"a", 3_000_000_000)


@case
def gzip_of_line_ends() -> tuple[str, bytes]:
    """Gzip of line ends."""
    return "a.jsonl.gz", gzip.compress(b"\n" * 1_000_000_000, 6)


@case
def bzip2_of_blanks() -> tuple[str, bytes]:
    """Bzip2 of blanks."""
    return "a.jsonl.bz2", bz2.compress(b" " * 1_000_000_000)


@case
def gzip_of_a_dump_of_blanks() -> tuple[str, bytes]:
    """Gzip of a dump of blanks."""
    return "a.json.gz", gzip.compress(b'{"index":{"_id":"1"}}\n' + b"\n" * 500_000_000)


@case
def xml_numbers_of_500_kb() -> tuple[str, bytes]:
    """Xml numbers of 500 kb."""
    number = "1" + "_1" * 250_000
    item = (
        f'<Item Num="{number}"><ItemTitle>一</ItemTitle>'
        "<ItemSentence><Sentence>甲</Sentence></ItemSentence></Item>"
    )
    return LAW_FILE, law(article(number, below=item * 20))


@case
def xml_printed_numbers_of_500_kb() -> tuple[str, bytes]:
    """Xml printed numbers of 500 kb."""
    return LAW_FILE, law(
        f"<Article><ArticleTitle>第{'一' * 500_000}条</ArticleTitle></Article>" * 5
    )


@case
def xml_titles_of_1_mb() -> tuple[str, bytes]:
    """Xml titles of 1 mb."""
    titles = "".join(
        f"<Chapter><ChapterTitle>{'章' * 300_000}</ChapterTitle>{article('1')}</Chapter>"
        for _ in range(30)
    )
    return LAW_FILE, law(titles)


@case
def xml_captions_of_1_mb() -> tuple[str, bytes]:
    """Xml captions of 1 mb."""
    body = article("1").replace(
        "<ArticleTitle>", f"<ArticleCaption>（{'見' * 300_000}）</ArticleCaption><ArticleTitle>"
    )
    return LAW_FILE, law(body * 20)


@case
def xml_items_in_items() -> tuple[str, bytes]:
    """Xml items in items."""
    depth = 200
    below = (
        "".join(f'<Item Num="{n}"><ItemTitle>{"号" * 250}</ItemTitle>' for n in range(depth))
        + f"<ItemSentence><Sentence>{'甲' * 100_000}</Sentence></ItemSentence>"
        + "</Item>" * depth
    )
    return LAW_FILE, law(article("1", below=below) * 10)


@case
def xml_tiny_elements() -> tuple[str, bytes]:
    """Xml tiny elements."""
    return LAW_FILE, law("<a/>" * 12_000_000)


@case
def xml_tiny_attributes() -> tuple[str, bytes]:
    """Xml tiny attributes."""
    return LAW_FILE, law("<a " + " ".join(f'a{n}=""' for n in range(3_000_000)) + "/>")


@case
def xml_large() -> tuple[str, bytes]:
    """Xml large."""
    return LAW_FILE, law("".join(article(str(n % 900 + 1)) for n in range(600_000)))


@case
def xml_cells_that_span() -> tuple[str, bytes]:
    """Xml cells that span."""
    cell = '<TableColumn colspan="1000" rowspan="1000">甲</TableColumn>'
    table = f"<Table>{f'<TableRow>{cell * 100}</TableRow>' * 100}</Table>"
    return LAW_FILE, law(article("1", below=f"<TableStruct>{table}</TableStruct>" * 5))


@case
def html_tiny_elements() -> tuple[str, bytes]:
    """Html tiny elements."""
    return "a.html", b"<html><body>" + b"<b>a</b>" * 6_000_000


@case
def html_headings() -> tuple[str, bytes]:
    """Html headings."""
    return "a.html", b"<html><body>" + b"<h1>a</h1>b" * 3_000_000


@case
def markdown_paragraphs() -> tuple[str, bytes]:
    """Markdown paragraphs."""
    return "a.md", b"a\n\n" * 5_000_000


@case
def markdown_headings() -> tuple[str, bytes]:
    """Markdown headings."""
    return "a.md", b"# a\nb\n" * 2_000_000


@case
def markdown_emphasis() -> tuple[str, bytes]:
    """Markdown emphasis."""
    return "a.md", b"*a* " * 3_000_000


@case
def markdown_brackets() -> tuple[str, bytes]:
    """Markdown brackets."""
    return "a.md", b"[" * 200_000 + b"a" + b"](" * 200_000


@case
def markdown_quotations() -> tuple[str, bytes]:
    """Markdown quotations."""
    return "a.md", b">" * 3_000_000 + b"a"


@case
def text_large() -> tuple[str, bytes]:
    """Text large."""
    return "a.txt", repeated("甲は乙に届け出る。\n".encode(), 199_000_000)


@case
def text_without_breaks() -> tuple[str, bytes]:
    """Text without breaks."""
    return "a.txt", b"a" * 50_000_000


@case
def json_tiny_lists() -> tuple[str, bytes]:
    """Json tiny lists."""
    return "a.json", b'[{"a":[' + b"[]," * 30_000_000 + b"[]]}]"


@case
def json_tiny_records() -> tuple[str, bytes]:
    """Json tiny records."""
    return "a.json", b"[" + b'{"text":"a"},' * 4_000_000 + b'{"text":"a"}]'


@case
def json_line_of_lists() -> tuple[str, bytes]:
    """Json line of lists."""
    return "a.jsonl", b'{"a":[' + b"[]," * 15_000_000 + b"[]]}\n"


@case
def jsonl_ids_of_1_mb() -> tuple[str, bytes]:
    """Jsonl ids of 1 mb."""
    line = json.dumps({"id": "x" * 1_000_000, "title": "y" * 1_000_000, "text": "z"})
    return "a.jsonl", (line + "\n").encode() * 20


@case
def tsv_names_of_1_mb() -> tuple[str, bytes]:
    """Tsv names of 1 mb."""
    return "a.tsv", ("x" * 1_000_000 + "\tist\t" + "y" * 1_000_000 + "\n").encode() * 10


def document_xml(body: str) -> bytes:
    """The main part of a Word file."""
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    return f'<w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>'.encode()


def word(main: bytes) -> Iterator[tuple[str, bytes]]:
    """The members of a Word file."""
    types = "http://schemas.openxmlformats.org/package/2006/content-types"
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    yield (
        "[Content_Types].xml",
        (
            f'<Types xmlns="{types}"><Default Extension="rels" ContentType="application/vnd.'
            'openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" '
            f'ContentType="{kind}"/></Types>'
        ).encode(),
    )
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    to = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    yield (
        "_rels/.rels",
        (
            f'<Relationships xmlns="{relations}"><Relationship Id="r1" Type="{to}" '
            'Target="word/document.xml"/></Relationships>'
        ).encode(),
    )
    yield "word/document.xml", main


@case
def docx_paragraphs() -> tuple[str, bytes]:
    """Docx paragraphs."""
    main = document_xml("<w:p><w:r><w:t>a</w:t></w:r></w:p>" * 1_500_000)
    return "a.docx", packed(*word(main))


@case
def docx_that_lies() -> tuple[str, bytes]:
    """Docx that lies."""
    main = document_xml("<w:p><w:r><w:t>a</w:t></w:r></w:p>") + b" " * 500_000_000
    return "a.docx", lying(packed(*word(main)), 200)


def pdf(objects: list[bytes]) -> bytes:
    """A PDF of some objects, the first of them its catalogue."""
    out, offsets = bytearray(b"%PDF-1.4\n"), []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start)
    return bytes(out)


def pages(content: bytes, times: int) -> bytes:
    """A PDF whose pages all show the same packed content."""
    import zlib

    packed_content = zlib.compress(content)
    kids = b" ".join([b"3 0 R"] * times)
    return pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, times),
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R"
            b" /Resources << /Font << /F 5 0 R >> >> >>",
            b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream"
            % (len(packed_content), packed_content),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        ]
    )


@case
def pdf_of_one_large_page() -> tuple[str, bytes]:
    """Pdf of one large page."""
    return "a.pdf", pages(b"BT /F 9 Tf " + b"(a) Tj " * 20_000_000 + b"ET", 1)


@case
def pdf_of_many_pages() -> tuple[str, bytes]:
    """Pdf of many pages."""
    return "a.pdf", pages(b"BT /F 9 Tf (" + b"a" * 100_000 + b") Tj ET", 20_000)


if __name__ == "__main__":
    main()
