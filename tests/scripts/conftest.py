"""Small data in the form of the shared data: what the benchmarks read, invented."""

import json
import lzma
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest

import localrag

LAWS = Path(localrag.__file__).parent / "sample" / "corpus" / "laws"
ACT = "599AC0000000001"
_QUESTIONS = 212
"""JSQuAD keeps its first 200 questions apart; a few more are the others."""


class Fact(NamedTuple):
    """What a page says, and a question that it answers."""

    page: str
    text: str
    question: str
    answer: str


JAPANESE = (
    Fact("白浜灯台", "白浜灯台は1871年に点灯した。高さは29メートルである。",
         "白浜灯台が点灯したのは何年か。", "1871年"),
    Fact("青山橋", "青山橋の長さは412メートルである。架けたのは大工の小沢清である。",
         "青山橋を架けたのは誰か。", "小沢清"),
    Fact("丸尾図書館", "丸尾図書館は月曜日に休館する。蔵書は36,500冊である。",
         "丸尾図書館の蔵書は何冊か。", "36,500冊"),
)  # fmt: skip
ENGLISH = (
    Fact("Harrow Mill", "Harrow Mill was built in 1764 by Anna Dene. It has three floors.",
         "Who built Harrow Mill?", "Anna Dene"),
    Fact("Lake Orrin", "Lake Orrin is 58 metres deep. Its water is brown with peat.",
         "How deep is Lake Orrin?", "58 metres"),
    Fact("Anna Dene", "Anna Dene was born in Calder in 1721. She could not read.",
         "Where was Anna Dene born?", "Calder"),
)  # fmt: skip
# Subject, predicate, object.
TRIPLES = (
    ("白浜灯台", "高さ", "29メートル"),
    ("黒崎灯台", "高さ", "31メートル"),
    ("白浜灯台", "設計者", "小沢清"),
    ("小沢清", "生年月日", "1840年3月2日"),
    ("青山橋", "設計者", "小沢清"),
)


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like that of the shared data."""
    folder = tmp_path_factory.mktemp("data")
    _write_laws(folder / "egov")
    _write_law_questions(folder / "lawqa")
    _write(folder / "jsquad" / "valid-v1.3.json", {"data": list(_squad())})
    _write_multihop(folder / "multihop")
    _write_jemhopqa(folder / "jemhopqa")
    _write_averitec(folder / "averitec")
    return folder


@pytest.fixture(scope="session")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the benchmarks keep their corpora, for one another, too."""
    return tmp_path_factory.mktemp("work")


def _write(path: Path, value: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")


def _write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True)
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text("".join(lines), encoding="utf-8")


def _write_laws(folder: Path) -> None:
    """The laws of the sample corpus in both forms, and their manifest."""
    shutil.copytree(LAWS, folder / "xml")
    manifest, laws = [], []
    for file in sorted((folder / "xml").glob("*.xml")):
        body = ElementTree.parse(file).getroot().find("LawBody")
        assert body is not None
        law_id, title = file.stem.partition("_")[0], body.findtext("LawTitle")
        counts = {
            key: sum(len(list(part.iter("Article"))) for part in body.findall(tag))
            for key, tag in (
                ("articles_main", "MainProvision"),
                ("articles_suppl", "SupplProvision"),
            )
        }
        manifest.append({"file": f"xml/{file.name}", "law_id": law_id, "title": title, **counts})
        text = {"num": "1", "text": "渡し守は、水位が基準を超えるときは、運航してはならない。"}
        articles = [
            {"num": str(number), "caption": "", "title": f"第{word}条", "paragraphs": [text]}
            for number, word in enumerate("一二三四五", 1)
        ]
        laws.append(
            {"law_id": f"4{law_id[1:]}", "date": "", "title": f"旧{title}", "law_num": ""}
            | {"articles": articles}
        )
    _write_lines(folder / "manifest.jsonl", manifest)
    with lzma.open(folder / "all_laws.jsonl.xz", "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(law, ensure_ascii=False) + "\n" for law in laws)


def _write_law_questions(folder: Path) -> None:
    """Questions of both kinds on a context each, more of them than there are folds."""
    questions = []
    for number in range(1, 13):
        says = f"渡し守は、第{number}の水位を超えるときは、渡し舟を運航してはならない。"
        statements = (
            says,
            says.replace("してはならない", "することができる"),
            "櫂を備える。",
            "帆",
        )
        citations = [f"渡し舟の安全及び活用に関する法律第{n}条第1項" for n in range(1, 5)]
        wanted = "正しい" if number % 2 else "誤っている"
        for kind, question, choices in (
            (
                "関連法令",
                f"渡し守{number}について{wanted}ものを選んでください。",
                statements,
            ),
            (
                "根拠条文",
                f"渡し守{number}について記載した条文を教えてください",
                citations,
            ),
        ):
            gold = {"law_id": ACT, "article": str(number % 4 + 1), "paragraph": "1", "item": None}
            questions.append(
                {
                    "id": f"渡し舟法_第1章_選択式_{kind}_問題番号{number}",
                    "law_group": "渡し舟法",
                    "chapter": "第1章",
                    "kind": kind,
                    "question": question,
                    "choices": dict(zip("abcd", choices, strict=True)),
                    "answer": "abcd"[number % 4],
                    "context": f"## 渡し舟法\n### 第{number}条\n{says}",
                    "gold": [gold],
                }
            )
    _write_lines(folder / "train.jsonl", questions)
    missing = {"law_title": "川舟法", "law_id": "340CO0000000321", "article": "2"}
    _write_lines(folder / "contexts_missing.jsonl", [missing | {"text": "川舟は、帆を備える。"}])


def _squad() -> Iterator[dict[str, Any]]:
    for place, fact in enumerate(JAPANESE):
        answer = {"text": fact.answer, "answer_start": 0}
        asked = [
            {"id": f"q{number}", "question": fact.question, "answers": [answer]}
            for number in range(place, _QUESTIONS, len(JAPANESE))
        ]
        paragraph = {"context": f"{fact.page} [SEP] {fact.text}", "qas": asked}
        yield {"title": fact.page, "paragraphs": [paragraph]}


def _write_multihop(folder: Path) -> None:
    pages = {fact.page: [part + "." for part in fact.text.split(".")[:-1]] for fact in ENGLISH}
    _write(folder / "hotpotqa_corpus.json", pages)
    _write(
        folder / "hotpotqa.json",
        [
            {
                "_id": fact.page,
                "question": fact.question,
                "answer": fact.answer,
                "supporting_facts": [[fact.page, 0]],
                "context": list(pages.items()),
            }
            for fact in ENGLISH
        ],
    )
    texts = [{"title": fact.page, "text": fact.text} for fact in ENGLISH]
    _write(folder / "musique_corpus.json", texts)
    _write(folder / "2wikimultihopqa_corpus.json", texts)
    paragraphs = [
        {
            "idx": place,
            "title": fact.page,
            "paragraph_text": fact.text,
            "is_supporting": fact.page != "Lake Orrin",
        }
        for place, fact in enumerate(ENGLISH)
    ]
    steps = [
        {"id": place, "question": fact.question, "answer": fact.answer}
        | {"paragraph_support_idx": place}
        for place, fact in enumerate(ENGLISH)
        if fact.page != "Lake Orrin"
    ]
    asked = {"id": "2hop", "question": "Where was the builder of Harrow Mill born?"}
    told = {"answer": "Calder", "paragraphs": paragraphs, "question_decomposition": steps}
    _write(folder / "musique.json", [asked | told])


def _write_averitec(folder: Path) -> None:
    answer = {"answer": "The tower was built in 1504.", "answer_type": "Extractive"}
    asked = {"question": "When was the tower built?", "answers": [answer]}
    claims = {"The tower was built in 1604.": "Refuted", "The tower is old.": "Supported"}
    rows = [
        {"claim": claim, "label": label, "questions": [asked]} for claim, label in claims.items()
    ]
    _write_lines(folder / "train.jsonl", rows)


def _write_jemhopqa(folder: Path) -> None:
    lighthouses = [["白浜灯台", "高さ", ["29メートル"]], ["黒崎灯台", "高さ", ["31メートル"]]]
    designer = [["白浜灯台", "設計者", ["小沢清"]], ["小沢清", "生年月日", ["1840年3月2日"]]]
    both = [["白浜灯台", "設計者", ["小沢清"]], ["青山橋", "設計者", ["小沢清"]]]
    _write(
        folder / "train.json",
        [
            {"qid": str(number), "type": kind, "question": question, "answer": answer}
            | {"derivations": derivations, "page_ids": [], "time_dependent": False}
            for number, (kind, question, answer, derivations) in enumerate(
                (
                    ("comparison", "白浜灯台と黒崎灯台、高さが高いのはどちらですか？",
                     "黒崎灯台", lighthouses),
                    ("comparison", "白浜灯台と青山橋の設計者は同じですか？", "YES", both),
                    ("compositional", "白浜灯台の設計者の生年月日はいつですか？",
                     "1840年3月2日", designer),
                )
            )
        ],
    )  # fmt: skip
    rows = [{"subject": s, "predicate": p, "object": [o]} for s, p, o in TRIPLES]
    _write_lines(folder / "triples.jsonl", rows)


@pytest.fixture(scope="session")
def lawyers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Questions as lawyers type them, in the form of those of the tests."""
    folder = tmp_path_factory.mktemp("lawyers")
    gold = {"law_id": ACT, "article": "8", "paragraph": "1", "item": ""}
    asked = {"question": "渡し舟法で運航は制限されるか", "group": "naming", "laws": [ACT]}
    absent = {"question": "会社法の取締役の任期は", "group": "absent", "laws": [], "gold": []}
    _write_lines(
        folder / "asked.jsonl",
        [
            asked | {"id": "1", "half": "seen", "gold": [gold], "absent": ""},
            absent | {"id": "2", "half": "seen", "absent": "会社法"},
        ],
    )
    (folder / "prompt.txt").write_text("検索文を作る。", encoding="utf-8")
    return folder
