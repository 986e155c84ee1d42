"""Provisions and conversations as Word and Markdown, cited as lawyers do."""

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import localrag
from localrag.answer.types import Citation
from localrag.corpus.workspace import Workspace
from localrag.errors import FileExistsAlready, UsageError
from localrag.page.blocks import (
    Block,
    Code,
    Heading,
    Item,
    Items,
    Mark,
    Quotation,
    Strong,
    paragraph,
)
from localrag.page.files import write_blocks
from localrag.page.markdown import markdown
from localrag.page.provision import cited, filed_provisions, places

from ...patience import PATIENCE

LAW = "渡し舟の安全及び活用に関する法律"
NUMBER = "令和九十九年法律第一号"
Write = Callable[[Path], str]


def word(path: Path) -> list[str]:
    docx = pytest.importorskip("docx")
    return [paragraph.text for paragraph in docx.Document(str(path)).paragraphs]


@pytest.fixture
def corpus(sample: Path) -> Any:
    with localrag.open(sample).corpus() as opened:
        yield opened


def test_a_provision_says_its_law_its_number_and_its_state(corpus: Any) -> None:
    found = corpus.look_up("渡し舟法8条")
    text = markdown(filed_provisions(corpus.store, found))
    head, place, origin, first, *_ = text.split("\n\n")
    assert head == f"# {LAW}第8条（{NUMBER}）"
    assert "章" in place
    assert origin.startswith(f"{NUMBER} · in force from ")
    assert origin.endswith(" · `599AC0000000001#8`")
    assert first.startswith("> （運航の制限）\\\n> 第八条　渡し守は")
    for title in ("## Left to orders", "## Referred to by", "## Terms defined elsewhere"):
        assert title in text, title


def test_several_provisions_and_contents(corpus: Any) -> None:
    several = markdown(filed_provisions(corpus.store, corpus.look_up("渡し舟法7〜8条")))
    assert [row for row in several.split("\n") if row.startswith("# ")] == [
        f"# {LAW}第7条（{NUMBER}）",
        f"# {LAW}第8条（{NUMBER}）",
    ]
    left = markdown(filed_provisions(corpus.store, corpus.look_up("渡し舟法7〜8条", 1)))
    assert "… and 1 more" in left
    contents = markdown(filed_provisions(corpus.store, corpus.look_up("渡し舟法")))
    assert contents.startswith(f"# {LAW}\n\n{NUMBER} · ")
    assert "\n  - " in contents


def test_a_citation_of_what_is_gone_keeps_its_label(sample: Path) -> None:
    with places(Workspace(sample)) as place:
        for corpus, passage in (("main", "gone#1"), ("gone", "599AC0000000001#8")):
            assert place(corpus, Citation(passage, "x", label="as kept")) == "as kept"
        assert place("main", Citation("599AC0000000001#8", "x")) == f"{LAW}第8条（{NUMBER}）"


def test_a_page_is_cited_without_a_number(corpus: Any) -> None:
    passage = corpus.store.by_id("pages/kite-mail.md#2")
    assert cited(corpus.store, passage) == "Kite mail of Tarn Skerry > Operation"


BLOCKS = [
    Heading(1, "題\x1b"),
    paragraph(Strong("強"), " =1+1", Mark("[1]")),
    Quotation("一\n二"),
    Items((Item(("甲", Code("F#1")), (Quotation("引用"),)), Item(("乙",))), numbered=True),
]


def test_a_document_of_word(tmp_path: Path) -> None:
    path = tmp_path / "x.docx"
    write_blocks(path, BLOCKS)
    assert word(path) == ["題␛", "強 =1+1[1]", "一\n二", "1.\t甲 · F#1", "引用", "2.\t乙"]


def test_no_file_is_replaced_unasked(tmp_path: Path) -> None:
    for name in ("x.docx", "x.md"):
        path = tmp_path / name
        path.write_text("precious")
        with pytest.raises(FileExistsAlready):
            write_blocks(path, BLOCKS)
        assert path.read_text() == "precious"
        write_blocks(path, BLOCKS, replace=True)
        assert path.read_bytes() != b"precious"
    with pytest.raises(UsageError, match="is a folder"):
        write_blocks(tmp_path, BLOCKS)


KILLED = """
import os, signal, sys
from pathlib import Path
from localrag.page.blocks import Heading
from localrag.page.files import write_blocks

def blocks():
    yield Heading(1, "half of it")
    os.kill(os.getpid(), signal.SIGKILL)

write_blocks(Path(sys.argv[1]), blocks())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is of POSIX")
def test_a_killed_export_leaves_nothing_under_its_name(tmp_path: Path) -> None:
    path = tmp_path / "x.docx"
    killed = subprocess.run((sys.executable, "-c", KILLED, str(path)), timeout=PATIENCE)
    assert killed.returncode == -signal.SIGKILL
    assert not path.exists()
    write_blocks(path, BLOCKS)
    assert word(path)[0] == "題␛"


@pytest.mark.parametrize("has_links", [True, False])
def test_a_file_that_comes_while_one_is_written_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
    def refuse(*_paths: Path) -> None:
        raise PermissionError(errno.EPERM, "a disk without links")

    if not has_links:
        monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "x.md"

    def blocks() -> Iterator[Block]:
        yield BLOCKS[0]
        path.write_text("precious")

    with pytest.raises(FileExistsAlready):
        write_blocks(path, blocks())
    assert path.read_text() == "precious"
    path.unlink()
    write_blocks(path, BLOCKS)
    assert path.read_text(encoding="utf-8").startswith("# 題")
    assert list(tmp_path.iterdir()) == [path], "nothing beside it"


def test_what_a_killed_export_left_goes_with_one_of_another_day(tmp_path: Path) -> None:
    old, growing, others = (
        tmp_path / name for name in (f".{'0' * 16}.new", f".{'1' * 16}.new", ".mine.new")
    )
    for path in (old, growing, others):
        path.write_text("half a file")
    yesterday = time.time() - 90_000
    for path in (old, others):
        os.utime(path, (yesterday, yesterday))
    write_blocks(tmp_path / "x.md", BLOCKS)
    assert sorted(path.name for path in tmp_path.iterdir()) == [growing.name, others.name, "x.md"]
