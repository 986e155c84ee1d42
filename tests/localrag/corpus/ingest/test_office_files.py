"""Folders of offices as they are: old formats, what is left behind, links, names of every kind."""

import json
import os
import zipfile
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path
from unicodedata import normalize

import pytest

import localrag
from localrag.corpus.readers import Limits, read
from localrag.doors.cli.render_ingest import print_add_report, report_as_json
from localrag.errors import InputError, NotFoundError
from localrag.search.types import Filters, Query

GUIDE = "渡し場の夜間照明は、十八時に点灯する。"
DECOMPOSED = normalize("NFD", "桟橋ガイドブック.txt")
COMPOSED = normalize("NFC", DECOMPOSED)


@pytest.fixture
def corpus(home: Path) -> Iterator[localrag.Corpus]:
    session = localrag.open(home)
    session.workspace.init()
    with session.corpus("main") as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "files"
    made.mkdir()
    return made


def stand_in(folder: Path, script: str) -> Path:
    """A program in the place of LibreOffice."""
    folder.mkdir(exist_ok=True)
    program = folder / "soffice"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


# Finds the folder that it is to write to, and writes a workbook there.
_WRITES = """
while [ $# -gt 1 ]; do [ "$1" = --outdir ] && out=$2; shift; done
mkdir -p "$out" && cp "{source}" "$out/document.{suffix}"
"""


def workbook(path: Path) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active["A1"] = GUIDE
    book.save(path)
    return path


def test_old_formats_are_named_with_the_way_to_convert_them(corpus, folder: Path) -> None:
    for name in ("a.doc", "b.xls", "c.ppt", "d.rtf", "e.odt", "f.jtd"):
        (folder / name).write_bytes(b"\xd0\xcf\x11\xe0")
    report = corpus.add(folder)
    assert [Path(one.source).name for one in report.passed_over] == sorted(
        path.name for path in folder.iterdir()
    )
    cures = {Path(one.source).suffix: one.cure for one in report.passed_over}
    assert all("--convert" in cures[suffix] for suffix in (".doc", ".xls", ".ppt", ".rtf", ".odt"))
    assert "Ichitaro" in cures[".jtd"]
    assert report.failures == 0


@pytest.mark.parametrize("suffix", ["jtd", "JTD", "jtt", "jtdc", "jttc", "jaw", "jtw"])
def test_ichitaro_is_named_with_its_cure_everywhere(corpus, folder: Path, suffix: str) -> None:
    name, old = f"契約.{suffix}", b"\xd0\xcf\x11\xe0"
    (folder / name).write_bytes(old)
    with zipfile.ZipFile(folder / "z.zip", "w") as archive:
        archive.writestr(f"内/{name}", old)
    message = EmailMessage()
    message["From"], message["Subject"] = "a@example.jp", "件"
    message.set_content("本文である。")
    message.add_attachment(old, "application", "octet-stream", filename=name)
    (folder / "m.eml").write_bytes(message.as_bytes())
    told = {one.source.rpartition("/")[2]: one.cure for one in corpus.add(folder).passed_over}
    assert set(told) == {name, f"m.eml!{name}"}
    alone = corpus.add(folder / name)
    assert "Ichitaro" in alone.failed[0].cure
    with pytest.raises(InputError, match="Word"):
        corpus.check(folder / name)
    (inside,) = corpus.check(folder / "m.eml").omissions
    assert f"m.eml!{name}" in inside.what
    assert all("save it as Word" in words for words in (*told.values(), inside.what))


def test_old_formats_are_converted_on_request(
    corpus, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = workbook(tmp_path / "new.xlsx")
    program = stand_in(tmp_path / "bin", _WRITES.format(source=source, suffix="xlsx"))
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    (folder / "料金; rm -rf x.xls").write_bytes(b"\xd0\xcf\x11\xe0")
    report = corpus.add(folder, convert=True)
    assert (report.added, report.passed_over) == (1, [])
    (document,) = corpus.documents()
    assert (document.id, document.kind) == ("料金; rm -rf x.xls", "xlsx")
    assert document.metadata["converted_from"] == "xls"
    assert GUIDE in corpus.store.text(document.id)


def test_without_libreoffice_nothing_is_converted(
    corpus, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError, match="LibreOffice is not installed"):
        corpus.add(folder, convert=True)


@pytest.mark.parametrize(
    ("script", "cause"),
    [
        ("exit 3", "exit status 3"),
        ("exit 0", "wrote nothing"),
        ("sleep 60 & sleep 60", "more than 1 seconds"),
    ],
)
def test_a_conversion_that_fails_is_told(script: str, cause: str, tmp_path: Path) -> None:
    program = stand_in(tmp_path / "bin", script)
    (tmp_path / "a.doc").write_bytes(b"\xd0\xcf\x11\xe0")
    limits = Limits(aside=tmp_path, converter=program, converting_seconds=1)
    (failure,) = read(tmp_path / "a.doc", limits=limits)
    assert cause in failure.cause
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.doc", "bin"]


def test_the_program_gets_neither_settings_nor_a_network(tmp_path: Path) -> None:
    program = stand_in(tmp_path / "bin", f'env > "{tmp_path}/env"; echo "$@" > "{tmp_path}/args"')
    (tmp_path / "a.doc").write_bytes(b"\xd0\xcf\x11\xe0")
    list(read(tmp_path / "a.doc", limits=Limits(aside=tmp_path, converter=program)))
    told = dict(line.split("=", 1) for line in (tmp_path / "env").read_text().splitlines())
    assert told["https_proxy"] == "http://127.0.0.1:9"
    assert told["HOME"].startswith(str(tmp_path))
    arguments = (tmp_path / "args").read_text()
    assert "--headless" in arguments
    assert "-env:UserInstallation=file://" in arguments


def test_links_are_named_and_followed_on_request(corpus, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("外にある秘密の文である。")
    (folder / "a.txt").write_text(GUIDE)
    (folder / "b.txt").symlink_to(tmp_path / "secret.txt")
    report = corpus.add(folder)
    assert (report.added, [Path(one.source).name for one in report.passed_over]) == (1, ["b.txt"])
    assert [one.id for one in corpus.documents()] == ["a.txt"]
    assert corpus.add(folder, follow_links=True).added == 1


def test_a_report_names_every_file_that_is_left_out(corpus, folder: Path, capsys) -> None:
    for number in range(30):
        (folder / f"x{number:02}.exe").write_bytes(b"MZ")
    (folder / "~$a.docx").write_bytes(b"x")
    report = corpus.add(folder)
    print_add_report("main", report, "localrag index")
    told = capsys.readouterr().out
    assert "30 files" in told
    assert "x00.exe" in told
    assert "10 more; --json" in told
    assert "~$a" not in told
    named = json.loads(json.dumps(report_as_json("main", report)))["passed_over"]
    assert [Path(one["source"]).name for one in named] == [f"x{n:02}.exe" for n in range(30)]
    assert all(one["cause"] and one["cure"] for one in named)


@pytest.mark.parametrize("typed", [COMPOSED, DECOMPOSED])
@pytest.mark.parametrize("stored", [COMPOSED, DECOMPOSED])
def test_a_document_is_found_by_its_name_however_it_is_composed(
    typed: str, stored: str, corpus, folder: Path
) -> None:
    (folder / stored).write_text(GUIDE)
    (folder / "other.txt").write_text("渡し場の夜間照明は、別の書類にもある。")
    corpus.add(folder)
    corpus.index()
    assert corpus.show(typed).document.id == stored
    assert corpus.show(f"{typed}#1").document.id == stored
    query = Query("夜間照明は何時に点灯するか", filters=Filters(documents=(typed,)))
    hits = corpus.search(query).hits
    assert [hit.passage.document_id for hit in hits] == [stored]
    assert corpus.store.document(typed).title == COMPOSED.removesuffix(".txt")
    corpus.remove(typed)
    assert [one.id for one in corpus.documents()] == ["other.txt"]


def test_two_documents_whose_names_differ_in_composition_alone_stay_two(
    corpus, folder: Path
) -> None:
    (folder / COMPOSED).write_text(GUIDE)
    (folder / DECOMPOSED).write_text("もう一つの手引である。")
    corpus.add(folder)
    assert corpus.store.document(DECOMPOSED).id == DECOMPOSED
    assert corpus.store.document(COMPOSED).id == COMPOSED
    with pytest.raises(NotFoundError):
        corpus.store.document("桟橋ガイド.txt")


def test_names_with_line_breaks_are_one_line(corpus, folder: Path) -> None:
    (folder / "a\n1. 民法\u202e.txt").write_text(GUIDE)
    corpus.add(folder)
    assert [one.id for one in corpus.documents()] == ["a␊1. 民法<U+202E>.txt"]
