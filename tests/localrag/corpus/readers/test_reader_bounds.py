"""Small files with large content: refused with the limit, or read in little memory."""

import bz2
import gzip
import json
import lzma
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from localrag.corpus.ingest.add import add
from localrag.corpus.readers import Limits, ReadFailure
from localrag.corpus.readers.bounds import MARKUP, check_memory
from localrag.corpus.workspace import Workspace
from localrag.errors import InputError

from ....rows import each

LAW = "501AC0000000001.xml"


def archive(content: bytes, method: int, says: int, name: str = "a.txt") -> bytes:
    """A zip with one member and a wrong size in its directory."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w", method) as packed:
        packed.writestr(name, content)
    data = bytearray(out.getvalue())
    at = data.rindex(b"PK\x01\x02")
    data[at + 24 : at + 28] = data[22:26] = says.to_bytes(4, "little")
    return bytes(data)


# The file is read in a separate process with limited memory.
READ = """
import resource, sys
from pathlib import Path
from localrag.corpus.readers import read
resource.setrlimit(resource.RLIMIT_DATA, (150 << 20, 150 << 20))
print([outcome.cause for outcome in read(Path(sys.argv[1]))])
"""


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_a_member_that_is_larger_than_it_says(tmp_path: Path, method: int) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(archive(bytes(150_000_000), method, says=10))
    command = [sys.executable, "-c", READ, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "The member is damaged" in done.stdout


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_member_as_it_says_is_read(read_one, method):
    assert read_one("a.zip", archive("灯台。".encode(), method, says=9)).text == "灯台。"


def law(body: str) -> str:
    return (
        "<Law><LawNum>令和元年法律第一号</LawNum><LawBody><LawTitle>試験法</LawTitle>"
        f"<MainProvision>{body}</MainProvision></LawBody></Law>"
    )


def test_numbers_and_words_of_places_stay_short(read_one):
    number, title = "1" + "_1" * 50_000, "号" * 200
    below = (
        f'<Item Num="{number}"><ItemTitle>{title}</ItemTitle>' * 10
        + "<ItemSentence><Sentence>甲</Sentence></ItemSentence>"
        + "</Item>" * 10
    )
    body = (
        f'<Article Num="{number}"><ArticleCaption>{"見" * 50_000}</ArticleCaption>'
        f"<ArticleTitle>第{'一' * 50_000}条</ArticleTitle>"
        f'<Paragraph Num="{number}"><ParagraphNum/>{below}</Paragraph></Article>'
    )
    document = read_one(LAW, law(body))
    assert document.passages
    for passage in document.passages:
        assert len(passage.id) < 500
        assert len(passage.header) <= 1_501


def test_provisions_that_stand_in_each_other(read_failure):
    below = "<Item><ItemTitle>一</ItemTitle>" * 100 + "甲" * 20_000 + "</Item>" * 100
    body = f'<Article Num="1"><Paragraph Num="1">{below}</Paragraph></Article>'
    assert "more than 12 deep" in read_failure(LAW, law(body.replace("甲甲", "<a>甲</a>"))).cause


@each(
    ("name", "data"),
    [
        (LAW, "<a/>" * 20_000),
        ("a.html", "<b>a</b>" * 20_000),
        ("a.md", "a\n\n" * 4_000),
        ("a.json", '[{"a":[' + "[]," * 50_000 + "[]]}]"),
        ("a.jsonl", '{"a":[' + "[]," * 50_000 + "[]]}"),
        ("a.txt", "a\n" * 100_000),
    ],
)
def test_marks_that_would_fill_the_memory(read_failure, name, data):
    cause = read_failure(name, data, limits=Limits(memory_bytes=5_000_000)).cause
    assert "MB of memory, more than 5" in cause


def test_a_limit_that_is_raised(read_bytes):
    data = "# a\n\nb\n" * 2_000
    assert isinstance(read_bytes("a.md", data, limits=Limits(memory_bytes=1_000))[0], ReadFailure)
    assert not isinstance(read_bytes("a.md", data)[0], ReadFailure)
    with pytest.raises(InputError, match="Split it"):
        check_memory(b"<a/>" * 1_000, MARKUP, Limits(memory_bytes=10_000))


@pytest.mark.parametrize(("suffix", "pack"), [("gz", gzip), ("bz2", bz2), ("xz", lzma)])
def test_lines_that_are_empty(read_failure, suffix, pack):
    failure = read_failure(f"a.jsonl.{suffix}", pack.compress(b"\n" * 400_000))
    assert "More than 100,000 lines of the file are empty" in failure.cause


def test_half_of_the_lines_may_be_empty(read_bytes):
    lines = "\n".join(json.dumps({"text": f"灯台{n}。"}) + "\n" for n in range(300))
    assert len(read_bytes("a.jsonl", lines, limits=Limits(empty_lines=10))) == 300


@pytest.mark.parametrize(
    ("line", "limits", "cause"),
    [
        ({}, Limits(failures=50), "More than 51 parts of the file cannot be read"),
        ({"text": "a"}, Limits(documents=50), "The file has 50 documents, too many for its size"),
    ],
)
def test_a_file_that_is_made_to_fill_the_corpus(home, tmp_path, line, limits, cause):
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.jsonl.xz").write_bytes(lzma.compress((json.dumps(line) + "\n").encode() * 9_000))
    (folder / "b.txt").write_text("灯台。")
    report = add(Workspace.locate(home), "main", [folder], limits=limits)
    assert report.failed[-1].cause == f"{cause}: the rest is left out."
    assert report.added == (51 if "text" in line else 1)


def test_a_zip_of_members_that_are_small_by_themselves(read_bytes):
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for n in range(15):
            packed.writestr(f"{n}.txt", b"%d a\n" % n * 190_000)
    *read, failure = read_bytes("a.zip", out.getvalue())
    assert "unpacks to more than 10,000,000 bytes" in failure.cause
    assert 0 < len(read) < 15


def test_headings_deeper_than_any_program_makes_them(read_one):
    docx = pytest.importorskip("docx")
    document = docx.Document()
    for level in (3, 40, 9_000):
        style = document.styles.add_style(f"Heading {level}0", 1)
        document.add_paragraph(f"層{level}", style=style)
        document.add_paragraph("灯台。")
    out = BytesIO()
    document.save(out)
    read = read_one("a.docx", out.getvalue())
    assert max(section.depth for section in read.sections) == 9


def test_a_pdf_that_shows_one_page_many_times(read_failure, monkeypatch):
    pypdf = pytest.importorskip("pypdf")
    writer = pypdf.PdfWriter()
    page = writer.add_blank_page(9, 9)
    for _ in range(30):
        writer.add_page(page)
    out = BytesIO()
    writer.write(out)
    failure = read_failure("a.pdf", out.getvalue(), limits=Limits(file_bytes=20_000))
    assert "too much text" in failure.cause
