"""Bad and hostile input: a failure with cause and cure; the rest goes on."""

import json
import os
import tempfile
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from localrag import language
from localrag.corpus.readers import Limits, ReadFailure, read, supported
from localrag.corpus.types import Document

from ....rows import each

NAME = "405AC0000009999.xml"


@each(
    ("name", "data", "cause"),
    [
        ("a.txt", b"", "empty"),
        ("a.txt", b" \n\t", "empty"),
        ("a.txt", b"a\0b", "NUL"),
        ("a.txt", b"%PDF-1.7", "begins like .pdf"),
        ("a.md", b"PK\x03\x04", "begins like .zip"),
        ("a.pdf", b"plain", "begins like text"),
        ("a.docx", b"plain", "begins like text"),
        ("a.docx", b"PK\x03\x04plain", "damaged"),
        ("a.txt", "caf\u00e9 cr\u00e8me".encode("latin-1"), "encoding"),
        ("a.txt", "M\u00fcller gr\u00fc\u00dft Z\u00fcrich".encode("latin-1"), "encoding"),
        ("a.txt", "na\u00efve d\u00e9j\u00e0 vu".encode("latin-1"), "encoding"),
        ("a.txt", b"\xff\xfe\x00", "utf-16"),
        ("a.doc", b"\xd0\xcf\x11\xe0", "is not read as it is"),
        ("a.JTD", b"\xd0\xcf\x11\xe0", "Ichitaro"),
        ("a.exe", b"MZ", "no reader"),
        ("a", b"a", "no reader"),
        ("a.html", b"<script>1</script>", "no text"),
        ("a.html", b"<meta charset=klingon>a", "unknown encoding"),
        ("a.jsonl", b"", "empty"),
        ("a.zip", b"PK\x03\x04", "damaged"),
        (NAME, b"<Law>", "damaged"),
        (NAME, b"not xml", "damaged"),
        (NAME, b"<Law/>", "no law"),
        (NAME, b"<html/>", "no law"),
        (NAME, b"<Law><LawBody/></Law>", "neither a title"),
        (NAME, b"<Law><LawBody><LawTitle>a</LawTitle></LawBody></Law>", "no provisions"),
        (NAME, b'<!DOCTYPE Law [<!ENTITY a "b">]><Law>&a;</Law>', "entities"),
        (
            NAME,
            b'<!DOCTYPE Law [<!ENTITY a SYSTEM "file:///etc/hosts">]><Law>&a;</Law>',
            "entities",
        ),
        (NAME, b'<!DOCTYPE Law SYSTEM "http://x.invalid/a.dtd"><Law/>', "entities"),
        (NAME, b"<a>" * 100_000, "damaged"),
    ],
)
def test_a_bad_file_names_its_cause(name, data, cause, read_failure):
    failure = read_failure(name, data)
    assert cause in failure.cause
    assert failure.source == name


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.zip", b"x", "zip が壊れています。"),
        ("a.pdf", b"plain", "拡張子は .pdf ですが、中身はテキストのようです。"),
        ("a.jsonl", b"nonsense", "行が JSON ではありません（1 文字目から読めません）。"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_in_japanese_alone(name, data, words, read_failure):
    failure = read_failure(name, data)
    language.use("ja")
    try:
        assert failure.cause == words
    finally:
        language.use("en")


def test_an_entity_bomb_does_not_grow(read_failure):
    entities = "".join(
        f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "ha" * 10}">' for n in range(12)
    )
    failure = read_failure(NAME, f"<!DOCTYPE Law [{entities}]><Law a='&e11;'>&e11;</Law>")
    assert "entit" in failure.cause.lower()


def test_missing_folders_and_pipes(tmp_path):
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "folder.txt").mkdir()
    for name, cause in (("pipe.txt", "regular"), ("folder.txt", "regular"), ("no.txt", "No such")):
        (failure,) = read(tmp_path / name)
        assert isinstance(failure, ReadFailure)
        assert cause in failure.cause


def test_a_large_file_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "large.txt"
    with path.open("wb") as file:
        file.truncate(300_000_000)
    (failure,) = read(path)
    assert isinstance(failure, ReadFailure)
    assert "300,000,000" in failure.cause


def test_what_a_walk_offers():
    offered = ["a.xml", "a.TXT", "a.jsonl.xz", "a.zip", "b.tar.md", "a.csv", "a.eml", "a.XLSX"]
    passed_over = [".hidden.md", "~$word.docx", "a.doc", "all_law_list.csv", "a.xz", "README"]
    assert all(supported(Path(name)) for name in offered)
    assert not any(supported(Path(name)) for name in passed_over)


def archive(*members: tuple[str, bytes | str], packed: bool = True) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED if packed else 0) as file:
        for name, data in members:
            file.writestr(name, data)
    return buffer.getvalue()


def test_a_zip_as_e_gov_publishes_it(read_bytes, law_xml, law_id):
    stem = f"{law_id}_20240401_506AC0000000001"
    data = archive(
        ("all_law_list.csv", "a,b"), (f"{stem}/{stem}.xml", law_xml), (f"{law_id}.xml", law_xml)
    )
    outcomes = read_bytes("all.zip", data)
    assert [(o.id, o.source) for o in outcomes] == [
        (law_id, f"all.zip!{stem}/{stem}.xml"),
        (law_id, f"all.zip!{law_id}.xml"),
    ]
    assert outcomes[0].metadata["date"] == "2024-04-01"


@each(
    ("name", "data", "cause"),
    [
        ("/etc/a.txt", "a", "out of the archive"),
        ("../a.txt", "a", "out of the archive"),
        ("C:/a.txt", "a", "out of the archive"),
        ("inner.zip", "a", "zip inside a zip"),
        ("a.txt", "", "empty"),
        ("a.xml", "<Law>", "damaged"),
        ("a.txt", "0" * 5_000_000, "times its size"),
        ("a.jsonl.xz", "a", "Compressed members"),
    ],
)
def test_a_bad_member_leaves_the_others(name, data, cause, read_bytes):
    bad, good = read_bytes("x.zip", archive((name, data), ("good.txt", "good")))
    assert isinstance(bad, ReadFailure)
    assert cause in bad.cause
    assert bad.source == f"x.zip!{name}"
    assert (good.text, good.id, good.title) == ("good", "x.zip!good.txt", "good")


def test_an_encrypted_member(read_bytes):
    data = bytearray(archive(("a.txt", "a")))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    (failure,) = read_bytes("x.zip", bytes(data))
    assert "encrypted" in failure.cause


def test_a_member_whose_bytes_are_damaged(read_bytes):
    data = archive(("a.txt", "lighthouse"), ("b.txt", "good"), packed=False)
    bad, good = read_bytes("x.zip", data.replace(b"lighthouse", b"lighthousf"))
    assert "damaged" in bad.cause
    assert good.text == "good"


def test_bounds_of_an_archive(read_bytes, read_failure):
    data = archive(("a.txt", "aaaa"), ("b.txt", "bbbb"), ("c.txt", "cccc"))
    assert "3 members" in read_failure("x.zip", data, limits=Limits(members=2)).cause
    large = read_bytes("x.zip", data, limits=Limits(file_bytes=3))
    assert all("more than 3" in failure.cause for failure in large)
    first, failure = read_bytes("x.zip", data, limits=Limits(unpacked_bytes=6))
    assert first.text == "aaaa"
    assert "all after it" in failure.cause


def test_a_word_bomb(read_failure):
    failure = read_failure("a.docx", archive(("word/document.xml", "0" * 50_000_000)))
    assert "unpacks to too much" in failure.cause


def test_control_characters_of_names_do_not_reach_ids(read_bytes):
    (document,) = read_bytes("a.txt", "a", name="re\x1b[31md.txt")
    assert document.id == "re␛[31md.txt"


def test_markup_is_kept_as_text(read_one):
    text = "[bold red]光[/] <script> {{ x }} $(rm)"
    assert read_one("a.txt", text).passages[0].text == text


SUFFIXES = [
    "xml",
    "txt",
    "md",
    "html",
    "json",
    "jsonl",
    "jsonl.gz",
    "jsonl.xz",
    "zip",
    "pdf",
    "docx",
]
BEGINNINGS = [
    b"",
    b"<Law>",
    b"PK\x03\x04",
    b"%PDF-1.4\n",
    b"\x1f\x8b\x08",
    b"\xfd7zXZ\x00",
    b'{"text":',
]


@given(st.sampled_from(SUFFIXES), st.sampled_from(BEGINNINGS), st.binary(max_size=400))
def test_no_bytes_raise(suffix, beginning, data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a.{suffix}"
        path.write_bytes(beginning + data)
        assert all(isinstance(outcome, Document | ReadFailure) for outcome in read(path))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_damage_to_a_law_raises(law_xml, data):
    law = law_xml.encode()
    cut = data.draw(st.integers(0, len(law)))
    length = data.draw(st.integers(0, 60))
    damaged = law[:cut] + data.draw(st.binary(max_size=5)) + law[cut + length :]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / NAME
        path.write_bytes(damaged)
        (outcome,) = read(path)
    if isinstance(outcome, Document):
        assert all(outcome.text[p.start : p.end] == p.text for p in outcome.passages)
    else:
        assert "unexpected way" not in outcome.cause


LONG = "長" * 2_000_000
RECORD = {"id": "a", "title": "t", "text": "文。" * 5_000}


@each(
    ("name", "data", "what"),
    [
        ("x.jsonl", json.dumps(RECORD | {"title": LONG}), "title"),
        ("x.jsonl", json.dumps(RECORD | {"id": LONG}), "id"),
        ("x.json", json.dumps([RECORD | {"title": LONG}]), "title"),
        ("x.json", json.dumps({LONG: ["文。" * 5_000]}), "title"),
        (
            "x.json",
            json.dumps({"data": [{"title": LONG, "paragraphs": [{"context": "文。"}]}]}),
            "title",
        ),
        ("x.tsv", f"{LONG}\t述語\t値\n", "subject"),
        ("x.tsv", f"主語\t{LONG}\t値\n", "predicate"),
        ("x.txt", f'<doc id="1" url="" title="{LONG}">\n文。\n</doc>\n', "title"),
    ],
)
def test_a_name_of_megabytes_is_refused(name, data, what, read_failure):
    failure = read_failure(name, data)
    assert failure.cause == f"The {what} has 2,000,000 characters, more than 1,000."
    assert failure.cure


def test_a_law_with_a_title_of_megabytes_is_refused(law_xml, law_id, read_failure):
    data = law_xml.replace("灯台の保全に関する法律</LawTitle>", f"{LONG}</LawTitle>")
    assert "title has 2,000,000 characters" in read_failure(f"{law_id}.xml", data).cause


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.md", f"# {LONG}\n\n" + "文。" * 5_000),
        ("x.html", f"<title>{LONG}</title><h1>{LONG}</h1><p>" + "文。" * 5_000),
    ],
)
def test_a_heading_of_megabytes_is_cut_in_headers_alone(name, data, read_one):
    document = read_one(name, data)
    assert document.title == "長" * 300 + "…"
    assert LONG in document.text
    assert len(document.passages) > 5
    assert all(len(passage.header) < 1_000 for passage in document.passages)
