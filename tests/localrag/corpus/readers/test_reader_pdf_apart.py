"""A PDF crashing PDFium, or taking too much time or memory, costs only that file.

A fake pypdfium2 fails as the file asks, and passes other files on.
"""

import sys

import pytest

from localrag.corpus import readers
from localrag.corpus.readers import Limits, ReadFailure
from localrag.corpus.types import Document

STAND_IN = """
import os, signal, sys
here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.remove(here)
del sys.modules["pypdfium2"]
import pypdfium2 as real
opened = real.PdfDocument

def opens(data):
    if b"CRASH" in data:
        os.kill(os.getpid(), signal.SIGSEGV)
    if b"ENDS" in data:
        os._exit(3)
    while b"BUSY" in data:
        pass
    if b"GROWS" in data:
        bytearray(1 << 40)
    return opened(data)

real.PdfDocument = opens
"""
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    package = tmp_path / "stand_in" / "pypdfium2"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(STAND_IN)
    monkeypatch.syspath_prepend(package.parent)
    return package.parent


def one_page(text: str, mark: str = "") -> bytes:
    content = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET"
    parts = (
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        "/Resources << /Font << /F1 "
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
    )
    body = "".join(f"{n} 0 obj\n{part}\nendobj\n" for n, part in enumerate(parts, 1))
    return f"%PDF-1.4\n%{mark}\n{body}trailer\n<< /Root 1 0 R /Size 5 >>\n%%EOF\n".encode()


def read(path, **limits):
    return next(iter(readers.read(path, limits=Limits(**limits))))


@pytest.mark.parametrize(
    ("mark", "cause"),
    [
        ("CRASH", "SIGSEGV"),
        ("ENDS", "exit status 3"),
        ("BUSY", "more than 1 seconds"),
        ("GROWS", "MB of memory"),
    ],
)
def test_what_ends_pdfium_costs_one_file(mark, cause, stand_in, tmp_path):
    bad, good = tmp_path / "bad.pdf", tmp_path / "good.pdf"
    bad.write_bytes(one_page("The lamp.", mark))
    good.write_bytes(one_page("The tower."))
    before, failure, after = read(good), read(bad, pdf_seconds=1), read(good)
    assert isinstance(failure, ReadFailure)
    assert failure.source == "bad.pdf"
    assert cause in failure.cause
    assert failure.cure
    for document in (before, after):
        assert isinstance(document, Document)
        assert document.text == "The tower."


def test_add_and_check_name_the_file(stand_in, cli, home, tmp_path):
    folder = tmp_path / "letters"
    folder.mkdir()
    for name, mark in (("a", ""), ("b", "CRASH"), ("c", "")):
        (folder / f"{name}.pdf").write_bytes(one_page(f"The {name} lamp.", mark))
    cli("init")
    for workers in ("1", "2"):
        added = cli(
            "--set", f"ingest.workers={workers}", "add", "--corpus", f"w{workers}", str(folder)
        )
        said = added.out + added.err
        assert "2 documents" in said, said
        assert "b.pdf" in said
        assert "SIGSEGV" in said
    assert "SIGSEGV" in cli("add", "--corpus", "one", str(folder / "b.pdf")).err
    checked = cli("check", str(folder / "b.pdf"))
    assert checked.code
    assert "b.pdf" in checked.err
    assert "SIGSEGV" in checked.err


def of_objects(*bodies: bytes) -> bytes:
    """A file of one page with object 4 as content."""
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources "
        b"<< /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>"
        b" /XObject << /X 5 0 R >> >> >>",
        *bodies,
    )
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % pair for pair in enumerate(objects, 1))
    return b"%%PDF-1.5\n%strailer\n<< /Root 1 0 R /Size %d >>\n%%%%EOF\n" % (
        body,
        len(objects) + 1,
    )


def stream_of(content: bytes, entries: bytes = b"") -> bytes:
    return b"<< %s /Length %d >>\nstream\n%s\nendstream" % (entries, len(content), content)


def forms_in_forms(depth: int) -> bytes:
    """A page with a form twenty times, each with another twenty times, and so on."""
    entries = b"/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << %s >>"
    forms = [
        stream_of(b"/X Do " * 20, entries % (b"/XObject << /X %d 0 R >>" % (6 + at)))
        for at in range(depth)
    ]
    return of_objects(stream_of(b"/X Do " * 20), *forms, stream_of(b"0 0 m 9 9 l S", entries % b""))


def lzw(data: bytes) -> bytes:
    """Packed as LZWDecode has it: codes of 9 to 12 bits."""
    clear, end, bits, width = 256, 257, 0, 9
    known = {bytes([value]): value for value in range(256)}
    out, held = bytearray(), 0

    def put(code: int) -> None:
        nonlocal bits, held
        held, bits = (held << width) | code, bits + width
        while bits >= 8:
            bits -= 8
            out.append(held >> bits)
            held &= (1 << bits) - 1

    put(clear)
    following, last = 258, b""
    for at in range(len(data)):
        longer = last + data[at : at + 1]
        if longer in known:
            last = longer
            continue
        put(known[last])
        known[longer] = following
        following += 1
        width = 12 if following > 2047 else 11 if following > 1023 else 10 if following > 511 else 9
        if following > 4093:
            put(clear)
            known = {bytes([value]): value for value in range(256)}
            following, width = 258, 9
        last = data[at : at + 1]
    put(known[last])
    put(end)
    out.append((held << (8 - bits)) & 0xFF)
    return bytes(out)


def packed_text() -> bytes:
    """A page whose text is 200,000 times a letter."""
    text = b"BT /F 9 Tf " + b"(a) Tj " * 200_000 + b"ET"
    return of_objects(stream_of(lzw(text), b"/Filter /LZWDecode"))


@pytest.mark.parametrize(
    "made", [lambda: forms_in_forms(8), packed_text], ids=["forms in forms", "lzw"]
)
def test_a_bomb_is_a_failure_and_the_next_file_is_read(made, tmp_path):
    data = made()
    bad, good = tmp_path / "bad.pdf", tmp_path / "good.pdf"
    bad.write_bytes(data)
    good.write_bytes(one_page("The tower."))
    failure = read(bad, pdf_seconds=3, memory_bytes=20_000_000)
    document = read(good)
    assert isinstance(failure, ReadFailure)
    assert len(data) < 100_000
    assert "only images" not in failure.cause
    assert isinstance(document, Document)
    assert document.text == "The tower."
