import json
from pathlib import Path

from localrag.corpus.config import load
from localrag.corpus.ingest.add import add
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import PASSAGES, Locator
from localrag.corpus.workspace import Workspace
from localrag.methods.agreement.evidence import (
    provisions_found,
    provisions_in,
    provisions_of,
)
from localrag.search.pipeline import Retriever
from localrag.search.types import Hit

CONTEXT = """## 貸本業法
### 第３条
#### 第1項
次に掲げる者は、本を貸してはならない。
##### 第１号
帳簿を備えない者
##### 第２号
次のいずれかに該当する者
- イ 許可を受けていない者
- ロ 許可を取り消された者
### 第４条の２
店主は、帳簿を備えなければならない。
### 貸本業に関する内閣府令
### 第１条
帳簿は、三年間保存する。
"""


def test_a_context_is_read_by_its_headings() -> None:
    found = provisions_in(CONTEXT)
    assert [(one.law, one.locator.path, one.text) for one in found] == [
        ("貸本業法", "3.1", "次に掲げる者は、本を貸してはならない。"),
        ("貸本業法", "3.1.1", "帳簿を備えない者"),
        ("貸本業法", "3.1.2", "次のいずれかに該当する者"),
        ("貸本業法", "3.1.2.1", "- イ 許可を受けていない者"),
        ("貸本業法", "3.1.2.2", "- ロ 許可を取り消された者"),
        ("貸本業法", "4_2", "店主は、帳簿を備えなければならない。"),
        ("貸本業に関する内閣府令", "1", "帳簿は、三年間保存する。"),
    ]
    assert found[3].above == (found[0].text, found[2].text)
    assert found[5].above == ()
    for one in found:
        assert CONTEXT[one.start :].startswith(one.text)


def test_a_text_without_headings_is_read_by_lines() -> None:
    assert [one.text for one in provisions_in("一行目\n\n  二行目  ")] == ["一行目", "二行目"]
    assert provisions_in("") == []


def test_provisions_of_a_statute_are_its_own_words(law_home: Path) -> None:
    with open_laws(law_home) as retriever:
        unit = retriever.store.at("598AC0000000001", Locator(article="4"))
        assert unit is not None
        paragraph, first, second = provisions_of(retriever.store, unit)
        assert "十八歳" not in paragraph.text
        assert first.above == (paragraph.text,)
        assert second.locator.path == "4.1.2"
        for one in (paragraph, first, second):
            passage = retriever.store.by_id(one.source)
            assert passage is not None
            assert passage.text[one.start - passage.start :].startswith(one.text)


def test_lines_of_another_document_may_open_with_their_place(home: Path, tmp_path: Path) -> None:
    text = "第1項　店主は、本を貸す。\n\n第1項第2号　\n第1項第3号　地図を貸す者"
    record = {"id": "memo", "title": "貸本業法第三条", "text": text}
    source = tmp_path / "memo.jsonl"
    source.write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")
    workspace = Workspace.locate(home)
    workspace.init()
    add(workspace, "memos", [source])
    with CorpusStore.open(workspace.corpus("memos").store, read_only=True) as store:
        units = [unit for _, unit in store.passages(layer=PASSAGES)]
        found = [one for unit in units for one in provisions_of(store, unit)]
    assert [(one.law, one.locator.path, one.text) for one in found] == [
        ("貸本業法", "3.1", "店主は、本を貸す。"),
        ("貸本業法", "3.1.3", "地図を貸す者"),
    ]
    assert all(text[one.start :].startswith(one.text) for one in found)


def test_provisions_found_weigh_as_their_hit(law_home: Path) -> None:
    with open_laws(law_home) as retriever:
        units = [
            retriever.store.at("598AC0000000001", Locator(article=article)) for article in "46"
        ]
        hits = [Hit(unit, 2.0 / rank, rank, "fuse") for rank, unit in enumerate(units, 1) if unit]
        weights = {
            one.locator.article: one.weight for one in provisions_found(retriever.store, hits)
        }
        assert weights == {"4": 1.0, "6": 0.5}
        assert provisions_found(retriever.store, []) == []


def open_laws(home: Path) -> Retriever:
    workspace = Workspace.locate(home)
    return Retriever.open(workspace, "main", load(workspace))
