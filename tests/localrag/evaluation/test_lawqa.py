"""Questions of lawqa in both forms, and the gold places told from their contexts."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from localrag.corpus.types import LawRow
from localrag.errors import InputError
from localrag.evaluation.datasets.keeping import digest
from localrag.evaluation.datasets.loading import declared
from localrag.evaluation.datasets.readers import Sources, read
from localrag.evaluation.datasets.readers.choices import derived_gold
from localrag.evaluation.types import Gold, Question
from localrag.law.names import LawNames

from ...rows import each

ACT, ORDER, ORDINANCE = "599AC0000000001", "599CO0000000002", "599M60000800003"
PAGE = "https://laws.e-gov.go.jp/law/"
NAMES = LawNames([LawRow(ACT, "渡し舟法"), LawRow(ORDER, "渡し舟法施行令")])
PUBLISHED: dict[str, Any] = {
    "ファイル名": "渡し舟法_第2章の2_選択式_関連法令_問題番号7",
    "回答オーダーマップ番号": "1",
    "コンテキスト": "## 渡し舟法\n### 第６条 の２\n#### 第１項\n渡し守は、櫂を備える。",
    "指示": "一つ選んでください",
    "問題文": "渡し守について、誤っているものを一つ選んでください。",
    "選択肢": "a 櫂を備える。\nb 帆を備える。\nc 綱を備える。\nd 錨を備える。",
    "output": "b",
    "references": [PAGE + ACT],
}


def read_published(**change: Any) -> Question:
    content = json.dumps({"samples": [PUBLISHED | change]}, ensure_ascii=False).encode()
    return read("lawqa", "selection.json", content, Sources(lambda: NAMES))[0]


def test_the_published_form() -> None:
    question = read_published()
    assert question.id == PUBLISHED["ファイル名"]
    assert question.query.text == PUBLISHED["問題文"]
    assert question.query.options[1] == "帆を備える。"
    assert question.answer == "b"
    assert question.gold == (Gold(ACT, "6_2"),)
    assert question.groups == {
        "law": "渡し舟法",
        "chapter": "渡し舟法 第2章の2",
        "kind": "関連法令",
        "polarity": "deviates",
    }


@each(
    "options",
    [
        "a 甲\nb 乙\nc 丙",
        "ａ．甲\nｂ．乙\nｃ．丙\n",
        "(A) 甲\n(B) 乙\n(C) 丙",
        "a：甲\r\nb：乙\r\n\r\nc：丙",
        "a甲\nb乙\nc丙",
        {"a": "甲", "b": "乙", "c": "丙"},
        ["甲", "乙", "丙"],
    ],
)
def test_spellings_of_options(options: Any) -> None:
    assert read_published(選択肢=options, output="ｂ").query.options == ("甲", "乙", "丙")


def test_an_option_may_go_on_in_the_next_line() -> None:
    assert read_published(選択肢="a 甲\n及び乙\nb 丙").query.options == ("甲\n及び乙", "丙")


@each(
    ("change", "part"),
    [
        ({"選択肢": "甲\n乙"}, "begin with no label"),
        ({"選択肢": "a 甲\nb 乙\nb 丙"}, "'b' is out of order"),
        ({"選択肢": "a 甲\nc 乙"}, "'c' is out of order"),
        ({"選択肢": "a 甲"}, "options, and has 1"),
        ({"選択肢": "a 甲\nb"}, "Option 'b' is empty"),
        ({"選択肢": None}, "It has no options"),
        ({"output": "正解はb"}, "not one of the labels"),
        ({"output": "e"}, "not one of the labels"),
        ({"output": ""}, "'output' is missing"),
        ({"ファイル名": " "}, "'ファイル名' is missing"),
        ({"問題文": ""}, "'問題文' is missing"),
        ({"コンテキスト": 5.5}, "'コンテキスト' is no text"),
    ],
)
def test_what_is_ambiguous_is_refused(change: dict[str, Any], part: str) -> None:
    with pytest.raises(InputError) as caught:
        read_published(**change)
    assert "entry 1: " in caught.value.cause
    assert part in caught.value.cause


@each(
    ("context", "references", "places"),
    [
        ("## 渡し舟法\n### 第二十七条の三十六\n#### 第一項", [], {ACT: ["27_36"]}),
        ("## 渡し舟法\n### 第5条（渡し守）\n### 第5条\n### 第7条", [], {ACT: ["5", "7"]}),
        ("## 渡し舟法\n### 附則第２条\n### 別表第一", [], {ACT: ["suppl/2", "appendix/"]}),
        ("## 渡し舟法\n本文", [], {ACT: [""]}),
        ("## 渡し舟法\n### 第1条\n### 渡し舟法施行令\n#### 第2条", [], {ACT: ["1"], ORDER: ["2"]}),
        ("## 手引\n### 第4条（届出）関係\n#### 4-1\n#### 渡し舟法第4条", [], {"手引": [""]}),
        ("## 櫂規則\n### 第3条", [PAGE + ORDINANCE], {ORDINANCE: ["3"]}),
        ("## 櫂規則\n### 第3条\n## 帆規則", [PAGE + ORDINANCE], {ORDINANCE: ["3"], "帆規則": [""]}),
        ("## 甲令\n### 第3条\n## 乙令\n### 第4条", [PAGE + ORDER], {"甲令": ["3"], "乙令": ["4"]}),
        ("## 櫂令\n### 第3条\n## 渡し舟法\n### 第1条", [PAGE + ACT], {"櫂令": ["3"], ACT: ["1"]}),
        ("本文だけ", [PAGE + ACT], {}),
        ("", [], {}),
    ],
)  # fmt: skip
def test_places_told_from_headings(
    context: str, references: list[str], places: Mapping[str, list[str]]
) -> None:
    expected = [Gold(document, article) for document, some in places.items() for article in some]
    assert list(derived_gold(context, references, Sources(lambda: NAMES))) == expected


def test_without_a_corpus_addresses_tell_the_laws() -> None:
    context = "## 渡し舟法\n### 第1条\n### 渡し舟法施行令\n#### 第2条"
    found = derived_gold(context, [PAGE + ORDER, PAGE + ACT, "https://example.org/"], Sources())
    assert found == (Gold(ACT, "1"), Gold(ORDER, "2"))
    assert derived_gold(context, [], Sources()) == (
        Gold("渡し舟法", "1"),
        Gold("渡し舟法施行令", "2"),
    )


def test_the_shared_questions(shared_data: Path) -> None:
    path = shared_data / "lawqa" / "train.jsonl"
    content = path.read_bytes()
    assert digest(content) == declared()["lawqa"].splits[0].sha256
    questions = read("lawqa", path.name, content, Sources())
    assert len(questions) == 100
    assert all(len(question.query.options) == 4 for question in questions)
    assert all(question.gold and question.context for question in questions)
    assert {"law", "chapter", "kind", "polarity"} == set(questions[0].groups)


def test_what_is_declared_of_the_excerpts_holds(shared_data: Path) -> None:
    path = shared_data / "lawqa" / "contexts_missing.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    train = shared_data / "lawqa" / "train.jsonl"
    questions = [json.loads(line) for line in train.read_text(encoding="utf-8").splitlines()]
    gold = {place(one) for question in questions for one in question["gold"]}
    lawqa = declared()["lawqa"]
    hint = lawqa.hints["lawqa/contexts_missing.jsonl"]
    laws = sum(row["law_id"] is not None for row in rows)
    assert f"{len(rows)} cited passages" in hint
    assert f"{laws} provisions" in hint
    assert f"{len(rows) - laws} passages of guidelines" in hint
    assert f"{len(rows)} documents" in lawqa.caveats[0]
    assert f"{sum(place(row) in gold for row in rows)} of the split" in lawqa.caveats[0]


def place(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["law_id"] or row["law_title"], row["article"]


def test_both_forms_make_the_same_questions(shared_data: Path) -> None:
    content = (shared_data / "lawqa" / "train.jsonl").read_bytes()
    rows = [json.loads(line) for line in content.decode().splitlines()]
    published = [
        {
            "ファイル名": row["id"],
            "問題文": row["question"],
            "選択肢": "\n".join(f"{label} {text}" for label, text in row["choices"].items()),
            "コンテキスト": row["context"],
            "output": row["answer"],
            "references": row["references"],
        }
        for row in rows
    ]
    again = read("lawqa", "all.json", json.dumps({"samples": published}).encode(), Sources())
    for one, other in zip(read("lawqa", "train.jsonl", content, Sources()), again, strict=True):
        assert (one.id, one.query, one.answer) == (other.id, other.query, other.answer)
        assert (one.context, one.groups) == (other.context, other.groups)


def test_derived_places_agree_with_those_told_by_hand(shared_data: Path) -> None:
    content = (shared_data / "lawqa" / "train.jsonl").read_bytes()
    questions = read("lawqa", "train.jsonl", content, Sources())
    references = [json.loads(line)["references"] for line in content.decode().splitlines()]
    manifest = (shared_data / "egov" / "manifest.jsonl").read_text(encoding="utf-8")
    laws = map(json.loads, manifest.splitlines())
    names = LawNames(LawRow(law["law_id"], law["title"]) for law in laws)
    for known, least in ((Sources(lambda: names), 98), (Sources(), 95)):
        same = sum(
            set(derived_gold(question.context, pages, known)) == set(question.gold)
            for question, pages in zip(questions, references, strict=True)
        )
        assert same >= least
