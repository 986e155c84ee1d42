"""Files that cannot be read as they are: named with cause and cure, and the rest is entered."""

import gzip
import json
import os
import re
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from localrag.corpus.ingest.reading import _describe

Cli = Callable[..., Any]
LAW = "599AC0000000009.xml"


def zipped(**members: bytes) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def encrypted() -> bytes:
    data = bytearray(zipped(**{"a.txt": b"secret"}))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


BOMB = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "ha"}">' for n in range(12))
BAD_FILES = {
    "empty file": ("a.txt", b"", "empty", "Remove it"),
    "wrong encoding": ("a.txt", "café crème".encode("latin-1"), "encoding", "UTF-8"),
    "binary under a text name": ("a.txt", b"a\0b", "NUL", "UTF-8"),
    "truncated XML": (LAW, b"<Law><LawBody><LawTi", "damaged", "Download the file again"),
    "XML of something else": (LAW, b"<rss/>", "no law", "e-Gov"),
    "entity bomb": (LAW, f"<!DOCTYPE Law [{BOMB}]><Law>&e11;</Law>".encode(), "entit", "again"),
    "external entity": (
        LAW,
        b'<!DOCTYPE Law [<!ENTITY a SYSTEM "file:///etc/passwd">]><Law>&a;</Law>',
        "entities",
        "Take the file from e-Gov",
    ),
    "zip that is no zip": ("a.zip", b"PK\x03\x04 and no more", "damaged", "Download"),
    "encrypted zip": ("a.zip", encrypted(), "encrypted", "Unpack"),
    "zip that leads out": ("a.zip", zipped(**{"../a.txt": b"a"}), "out of the archive", "trust"),
    "zip bomb": ("a.zip", zipped(**{"a.txt": b"0" * 5_000_000}), "zip bomb", "unpack it"),
    "truncated gzip": (
        "a.jsonl.gz",
        gzip.compress(b'{"text":"a"}' * 99)[:-9],
        "damaged",
        "Download",
    ),
    "PDF without an end": ("a.pdf", b"%PDF-1.7\n1 0 obj", "damaged", "Download"),
    "DOCX that is a text": ("a.docx", b"text", "begins like text", "suffix"),
    "deep JSON": ("a.json", b"[" * 100_000, "deep", "where it came from"),
    "JSON cut short": ("a.json", b'{"text": "a', "damaged", "complete"),
    "no reader": ("a.exe", b"MZ", "no reader for .exe", ".xml"),
    "old format": ("a.doc", b"\xd0\xcf\x11\xe0", "not read as it is", "--convert"),
    "workbook that is no zip": ("a.xlsx", b"PK\x03\x04 and no more", "damaged", "Excel"),
    "message without headers": ("a.eml", b"text\n", "no headers", "mail program"),
}


@pytest.mark.parametrize(("name", "data", "cause", "cure"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_file(
    cli: Cli, kept: Path, tmp_path: Path, name: str, data: bytes, cause: str, cure: str
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "good.md").write_text("# 良い頁\n\n灯台の頁である。\n", encoding="utf-8")
    bad = tmp_path / "in" / name
    bad.write_bytes(data)
    outcome = cli("add", str(bad), str(tmp_path / "in" / "good.md"))
    assert outcome.code == 4
    failed = outcome.err.splitlines()
    assert failed[0].startswith(f"failed: {name}")
    assert cause in failed[0]
    assert cure in "".join(failed[1:])
    assert "1 document added" in outcome.out
    assert "Traceback" not in outcome.err
    assert "root:" not in json.dumps(cli("list", "main", "--json").json), "nothing was read in"


def test_a_file_of_300_megabytes(cli: Cli, kept: Path, tmp_path: Path) -> None:
    with (tmp_path / "large.txt").open("wb") as file:
        file.truncate(300_000_000)
    outcome = cli("add", str(tmp_path / "large.txt"))
    assert outcome.code == 4
    assert "300,000,000 bytes" in outcome.err


def test_one_line_of_5_megabytes(cli: Cli, kept: Path, tmp_path: Path) -> None:
    (tmp_path / "line.txt").write_text("灯台" * 850_000, encoding="utf-8")
    assert cli("add", str(tmp_path / "line.txt")).code == 0
    assert cli("index").code == 0
    hit = cli("search", "灯台", "-k", "1", "--json").json["hits"][0]["passage"]
    assert hit["document_id"] == "line.txt"
    assert len(hit["text"]) < 2_000


def test_lines_that_are_broken_leave_the_others(cli: Cli, kept: Path, tmp_path: Path) -> None:
    lines = [
        '{"id": "good-1", "text": "灯台である。"}',
        '{"id": "broken", "text": ',
        '{"id": "half", "text": "\\ud800"}',
        '{"id": "good-2\\u0000", "title": "\\u202e題\\u001b[2J", "text": "風車\\u0000である。"}',
        '["no", "object"]',
        '{"id": "no text"}',
    ]
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    outcome = cli("add", str(path), "--json")
    assert outcome.code == 4
    assert outcome.json["added"] == 2
    assert [f["source"] for f in outcome.json["failed"]] == [f"x.jsonl:{n}" for n in (2, 3, 5, 6)]
    assert all(failure["cause"] for failure in outcome.json["failed"])
    assert cli("index").code == 0
    assert cli("show", "good-2#1", "--json").json["passage"]["text"] == "風車である。"
    assert "\u202e" not in cli("show", "good-2#1").out


def test_one_law_id_with_two_texts(cli: Cli, kept: Path, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    for path in _sample_laws():
        text = path.read_text(encoding="utf-8").replace("渡し守", "別人")
        (folder / path.name).write_text(text, encoding="utf-8")
    outcome = cli("add", str(folder))
    assert outcome.code == 4
    assert "already has '599AC0000000001@2026-04-01' with another text" in outcome.err
    assert "localrag remove 599AC0000000001@2026-04-01" in outcome.err
    assert "渡し守" in cli("show", "渡し舟法7条").out


def test_the_same_file_under_two_names(cli: Cli, kept: Path, tmp_path: Path) -> None:
    for name in ("one.md", "two.md"):
        (tmp_path / name).write_text("# 題\n\n同じ頁である。\n", encoding="utf-8")
    outcome = cli("add", str(tmp_path / "one.md"), str(tmp_path / "two.md"))
    assert outcome.code == 0
    assert re.search(r"two\.md holds the same as .*one\.md", outcome.err)
    assert "1 document added" in outcome.out


def test_a_file_that_vanishes_while_adding(
    cli: Cli, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("a.md", "b.md"):
        (folder / name).write_text(f"# 題\n\n{name}の頁である。\n", encoding="utf-8")

    def describe_and_delete(path: Path, root: Path) -> object:
        found = _describe(path, root)
        if path.name == "a.md":
            path.unlink()
        return found

    monkeypatch.setattr("localrag.corpus.ingest.reading._describe", describe_and_delete)
    outcome = cli("add", str(folder))
    assert outcome.code == 4
    assert "failed: a.md: The file cannot be read (No such file" in outcome.err
    assert "1 document added" in outcome.out


def test_a_folder_with_nothing_to_read(cli: Cli, kept: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "a.dwg").write_bytes(b"\x89PNG")
    outcome = cli("add", str(folder))
    assert outcome.code == 0
    assert "no file of a readable kind was found" in outcome.err
    assert "1 .dwg" in outcome.out


@pytest.mark.parametrize("name", ["nowhere", "x" * 5000, "good.md/below"])
def test_a_path_that_does_not_exist(
    cli: Cli, kept: Path, tmp_path: Path, refused: Callable[..., None], name: str
) -> None:
    (tmp_path / "good.md").write_text("頁である。", encoding="utf-8")
    outcome = cli("add", str(tmp_path / "good.md"), str(tmp_path / name))
    refused(outcome, 3, name[-500:])
    assert "good.md" not in cli("list", "main").out, "nothing is added before all paths are known"


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
def test_links_that_lead_nowhere(cli: Cli, kept: Path, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "gone.txt").symlink_to("nowhere")
    (folder / "circle.txt").symlink_to("circle.txt")
    (folder / "good.txt").write_text("灯台である。", encoding="utf-8")
    outcome = cli("add", "--follow-links", str(folder))
    assert outcome.code == 4
    for name in ("gone.txt", "circle.txt"):
        assert f"{name}: It cannot be read" in outcome.err
    assert "where the link leads" in outcome.err
    assert "1 document added" in outcome.out


@pytest.mark.skipif(os.name == "nt", reason="file names are bytes on POSIX only")
def test_a_file_name_in_another_encoding(cli: Cli, kept: Path, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("法令.txt".encode("cp932"), b"good.txt"):
        (folder / os.fsdecode(name)).write_text("灯台である。", encoding="utf-8")
    outcome = cli("add", str(folder))
    assert outcome.code == 4
    assert "The name of the file or of its folder is not valid UTF-8" in outcome.err
    assert "Rename it" in outcome.err
    assert "1 document added" in outcome.out


def test_a_file_without_permission(
    cli: Callable[..., Any], kept: Path, bound_by_modes: None, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("灯台である。", encoding="utf-8")
    secret.chmod(0)
    outcome = cli("add", str(secret))
    assert outcome.code == 4
    assert "secret.txt: The file cannot be read (Permission denied)" in outcome.err


def _sample_laws() -> list[Path]:
    from localrag import sample

    return sorted(sample.FOLDER.rglob("*.xml"))
