"""A provision that another one has read otherwise for the time being is not quoted alone."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import docx
import pytest

import localrag
from localrag.corpus.links import CHANGES
from localrag.corpus.readers.statutes_json import statute_document
from localrag.law.names import LawNames
from localrag.law.references import extract_references

from ..rows import each

Cli = Callable[..., Any]
LAW = "599AC0000000001"
CLAIM = (
    "渡し賃の請求権は、これを行使することができる時から五年間行わないときは、時効により消滅する。"
)
SPECIAL = "第三条の規定の適用については、当分の間、同条中「五年間」とあるのは、「三年間」とする。"


def law_xml(supplement: Sequence[str], law_id: str = LAW) -> str:
    """A law of three articles, and its supplement of some."""

    def article(number: int, text: str, kanji: str) -> str:
        return (
            f'<Article Num="{number}"><ArticleTitle>第{kanji}条</ArticleTitle>'
            f'<Paragraph Num="1"><ParagraphNum/><ParagraphSentence><Sentence>{text}</Sentence>'
            "</ParagraphSentence></Paragraph></Article>"
        )

    main = "".join(
        article(number, text, kanji)
        for number, kanji, text in (
            (1, "一", "この法律は、渡し舟について定める。"),
            (2, "二", "渡し舟は、夜間、灯火を掲げなければならない。"),
            (3, "三", CLAIM),
        )
    )
    after = "".join(
        article(number, text, kanji)
        for number, (kanji, text) in enumerate(zip("一二三四五", supplement, strict=False), 1)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?><Law Era="Reiwa" Year="99" Num="1" LawType="Act" '
        'Lang="ja"><LawNum>令和九十九年法律第一号</LawNum><LawBody><LawTitle>渡し舟法</LawTitle>'
        f"<MainProvision>{main}</MainProvision><SupplProvision><SupplProvisionLabel>附　則"
        f"</SupplProvisionLabel>{after}</SupplProvision></LawBody></Law>"
    )


@pytest.fixture
def corpus(home: Path, tmp_path: Path) -> localrag.Corpus:
    path = tmp_path / f"{LAW}_20260401_000000000000000.xml"
    path.write_text(law_xml(["この法律は、公布の日から施行する。", SPECIAL]), encoding="utf-8")
    made = localrag.open(home).corpus()
    made.add(path)
    made.index()
    return made


def changed(*sentences: str) -> list[str]:
    """The provisions that sentences of a supplement change for the time being."""
    law = {
        "law_id": LAW,
        "title": "渡し舟法",
        "articles": [
            {
                "num": str(number),
                "title": f"第{kanji}条",
                "paragraphs": [{"num": "1", "text": f"第{kanji}条　{text}"}],
            }
            for number, (kanji, text) in enumerate(
                zip("一二三四五六七八", ("甲である。",) * 6 + sentences, strict=False), 1
            )
        ],
    }
    document = statute_document(law, "invented")
    names = LawNames.from_rows([(LAW, "渡し舟法", "", "Act", "")])
    return [of.target.path for of in extract_references(document, names) if of.kind == CHANGES]


@each(
    ("sentence", "places"),
    [
        ("第三条の規定の適用については、当分の間、同条中「五」とあるのは「三」とする。", ["3"]),
        ("当分の間、第二条及び第四条の規定の適用については、これを乙とする。", ["2", "4"]),
        ("第五条の規定は、当分の間、適用しない。", ["5"]),
        ("市長は、当分の間、第三条第一項の規定にかかわらず、舟を出すことができる。", ["3.1"]),
        ("第二条中「五年」とあるのは、当分の間、「三年」とする。", ["2"]),
        ("第二条の規定は、当分の間、前条の場合について準用する。", []),
        ("第四条において準用する第三条の規定にかかわらず、当分の間、乙とする。", []),
        ("第二条の規定は、当分の間、なおその効力を有する。", []),
        ("第二条の規定による届出は、当分の間、市長にする。", []),
        ("第二条の規定の適用については、同条中「五」とあるのは「三」とする。", []),
        ("当分の間、舟を出してはならない。第三条の規定の適用については、乙とする。", []),
    ],
)
def test_what_changes_a_provision_for_the_time_being(sentence: str, places: list[str]) -> None:
    assert changed(sentence) == places


def test_it_is_quoted_with_what_changes_it(corpus: localrag.Corpus, cli: Cli) -> None:
    answer = corpus.ask("渡し賃の請求権は何年で時効により消滅するか")
    (added,) = (one for one in answer.citations if one.changes)
    assert added.verified
    assert (added.quote[-10:], "第三条" in added.changes) == (SPECIAL[-10:], True)
    told = cli("ask", "渡し賃の請求権は何年で時効により消滅するか")
    assert SPECIAL[-30:] in told.out
    assert "changes for the time being how" in " ".join(told.out.split())


def test_it_is_shown_with_what_changes_it(
    corpus: localrag.Corpus, cli: Cli, tmp_path: Path
) -> None:
    (by,) = corpus.show("渡し舟法3条").changed_by
    assert by.text.endswith(SPECIAL)
    assert corpus.show("渡し舟法2条").changed_by == ()
    assert SPECIAL in cli("show", "渡し舟法3条").out
    assert SPECIAL in cli("show", "渡し舟法2条及び3条").out
    (as_json,) = cli("show", "渡し舟法3条", "--json").json["changed_by"]
    assert as_json["text"].endswith(SPECIAL)
    for name in ("shown.md", "shown.docx"):
        assert cli("show", "渡し舟法3条", "--out", str(tmp_path / name)).code == 0
    assert SPECIAL in (tmp_path / "shown.md").read_text("utf-8")
    written = docx.Document(str(tmp_path / "shown.docx"))
    assert any(SPECIAL in one.text for one in written.paragraphs)


@pytest.mark.parametrize("ending", ["jsonl", "csv", "md"])
def test_it_is_in_the_answers_of_a_batch(
    corpus: localrag.Corpus, cli: Cli, tmp_path: Path, ending: str
) -> None:
    assert corpus.name == "main"
    questions, out = tmp_path / "questions.jsonl", tmp_path / f"answers.{ending}"
    question = {"question": "渡し賃の請求権は何年で時効により消滅するか"}
    questions.write_text(json.dumps(question), encoding="utf-8")
    assert cli("batch", str(questions), "--out", str(out)).code == 0
    assert "同条中「五年間」とあるのは" in out.read_text("utf-8-sig")
