"""Citations and quotations as lawyers write them, of every kind of document."""

from pathlib import Path

import pytest

from localrag.corpus.store import CorpusStore
from localrag.search.provision import citation_of
from localrag_tui.source.sheet import load, quotation

from ...rows import each
from .conftest import ACT, RULE, store_path

LAW = "渡し舟の安全及び活用に関する法律"


@pytest.fixture
def store(sample_home: Path):
    with CorpusStore.open(store_path(sample_home), read_only=True) as store:
        yield store


@each(
    ("passage", "citation"),
    [
        (f"{ACT}#6_2", f"{LAW}第6条の2"),
        (f"{ACT}#4.2.3.2", f"{LAW}第4条第2項第3号ロ"),
        (f"{ACT}#1.1", f"{LAW}第1条"),
        (f"{ACT}#suppl1/2", f"{LAW}附則第2条"),
        (f"{ACT}#suppl2/1", f"{LAW}附則（令和九九年一二月一日法律第三〇号）第1条"),
        (f"{ACT}#appendix1/", f"{LAW}別表"),
        (f"{RULE}#appendix1/", f"{LAW}施行規則様式第一号"),
        ("pages/ada-fennimore.md#2", "Ada Fennimore > Work"),
        ("triples/boats.tsv:2#1", "かわせみ丸 – 青磁市 かわせみ丸"),
    ],
)
def test_a_passage_is_cited(store, passage, citation):
    assert citation_of(store, store.by_id(passage)) == citation


def test_a_quotation_is_cited_by_the_most_exact_provision_that_holds_it(store):
    text = store.text(ACT)

    def quoted(words: str) -> str:
        start = text.index(words)
        return quotation(store, ACT, start, start + len(words))

    assert quoted("推進の方法") == f"「推進の方法」（{LAW}第4条第2項第3号ロ）"
    assert quoted("この限りでない。\n２　渡し舟事業者は").endswith(f"（{LAW}第8条）")
    assert quoted("第二章　渡し舟事業") == f"「第二章　渡し舟事業」（{LAW}）"


def test_paragraphs_are_indented_however_they_are_numbered(store):
    sheet = load(store, ACT)
    for number in ("２", "②", "⑳", "㉑"):
        line = f"{number}　前項の規定は、渡し舟に準用する。"
        assert sheet.indents(line, 0, len(line)) == (0, 2)
    plain = "②渡し舟"
    assert sheet.indents(plain, 0, len(plain)) == (0, 0)
