"""Of which state of the law a question asks."""

import json
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest

import localrag
from localrag.answer.types import Answer
from localrag.corpus.types import LawRow
from localrag.doors.session import Corpus
from localrag.law.names import LawNames
from localrag.search.question.as_of import state_asked
from localrag.search.types import Query
from localrag.text.facts import FactKind

from ....rows import each

NAMES = LawNames(
    [
        LawRow("599AC0000000041", "浮桟橋法", "令和十年法律第四号"),
        LawRow("599AC0000000042", "旧河岸法"),
    ]
)


@each(
    ("question", "day", "text"),
    [
        ("令和2年4月1日時点の浮桟橋法2条", date(2020, 4, 1), "浮桟橋法2条"),
        ("令和二年四月一日現在、浮桟橋法の利率は", date(2020, 4, 1), "浮桟橋法の利率は"),
        ("浮桟橋法の2020年4月1日当時の利率", date(2020, 4, 1), "浮桟橋法の利率"),
        ("平成元年当時の浮桟橋法", date(1989, 12, 31), "浮桟橋法"),
        ("平成28年2月時点における浮桟橋法の利率", date(2016, 2, 29), "浮桟橋法の利率"),
        ("２０３０年１月１日時点での浮桟橋法の利率", date(2030, 1, 1), "浮桟橋法の利率"),
        ("2019年の浮桟橋法2条", date(2019, 12, 31), "浮桟橋法2条"),
        ("2020年4月1日の浮桟橋法2条", date(2020, 4, 1), "浮桟橋法2条"),
        ("2020年4月1日 浮桟橋法2条", date(2020, 4, 1), "浮桟橋法2条"),
        ("令和2年における浮桟橋法施行令3条", date(2020, 12, 31), "浮桟橋法施行令3条"),
        ("浮桟橋法2条 as of April 1, 2020", date(2020, 4, 1), "浮桟橋法2条"),
        ("浮桟橋法2条 as of 1st Apr. 2020?", date(2020, 4, 1), "浮桟橋法2条?"),
        ("As at 2020-04-01, 浮桟橋法2条", date(2020, 4, 1), " 浮桟橋法2条"),
        (
            "What was Article 404 of the Civil Code in 2019?",
            date(2019, 12, 31),
            "What was Article 404 of the Civil Code?",
        ),
        ("Civil Code article 404 in February 2020", date(2020, 2, 29), "Civil Code article 404"),
        ("in 2015, Civil Code article 404", date(2015, 12, 31), "Civil Code article 404"),
        (
            "In 2015, what did the Civil Code say?",
            date(2015, 12, 31),
            "what did the Civil Code say?",
        ),
    ],
)
def test_a_day_of_a_state_is_the_day_asked_of(question: str, day: date, text: str) -> None:
    read = state_asked(question, NAMES)
    assert (read.day, read.text) == (day, text)


@each(
    "question",
    [
        "令和2年4月1日に契約した場合の浮桟橋法の利率",
        "令和2年4月1日から施行された浮桟橋法の改正",
        "2020年4月1日現在の町の人口",
        "浮桟橋法の現在の利率",
        "改正後の浮桟橋法2条",
        "旧河岸法2条",
        "2017年の浮桟橋法改正",
        "平成15年法律第57号",
        "12020年の浮桟橋法2条",
        "Article 404 of the Civil Code as amended in 2017",
        "I signed it in 2019. What does Article 404 of the Civil Code say?",
        "In 2019 I signed it. What does Article 404 of the Civil Code say?",
        "昨年契約した場合の浮桟橋法の利率",
        "昨年度の浮桟橋法",
        "昨年の浮桟橋法改正",
        "令和十年法律第四号の浮桟橋法2条",
    ],
)
def test_what_says_no_state_is_left_as_it_is(question: str) -> None:
    read = state_asked(question, NAMES)
    assert (read.day, read.former, read.text) == (None, (), question)


def test_where_there_are_laws_alone_a_day_needs_no_name_of_one() -> None:
    question = "2020年4月1日時点の係留料の利率"
    assert state_asked(question, NAMES).day is None
    read = state_asked(question, NAMES, of_laws=True)
    assert (read.day, read.text) == (date(2020, 4, 1), "係留料の利率")
    assert state_asked(question, LawNames([]), of_laws=True).day is None


@each(
    ("words", "years"),
    [("昨年の", -1), ("去年における", -1), ("一昨年 ", -2), ("昨年12月の", -1), ("来年時点の", 1)],
)
def test_last_year_is_one_of_the_law_beside_its_name(words: str, years: int) -> None:
    read = state_asked(f"{words}浮桟橋法2条", NAMES)
    assert (read.day, read.text) == (date(date.today().year + years, 12, 31), "浮桟橋法2条")
    assert state_asked("今年の浮桟橋法2条", NAMES).day == date.today()


def test_of_a_month_that_has_not_ended_it_is_today() -> None:
    today = date.today()
    read = state_asked(f"{today.year}年{today.month}月の浮桟橋法", NAMES)
    assert read.day == today


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("2020年4月1日に契約した場合の浮桟橋法の利率", "2020年4月1日"),
        ("I signed it in May 2019. Which rate does the Civil Code set?", "in May 2019"),
    ],
)
def test_that_a_day_of_the_case_is_not_that_of_the_law_is_told(question: str, words: str) -> None:
    read = state_asked(question, NAMES)
    (told,) = read.facts(date(2026, 1, 1))
    assert told.kind is FactKind.DAY_OF_THE_CASE
    assert told.fields == {"words": words, "day": "2026-01-01"}
    assert read.facts(date(2019, 1, 1)) == []


@each(
    ("question", "words", "text"),
    [
        ("令和2年13月40日時点の浮桟橋法", "令和2年13月40日時点の", "浮桟橋法"),
        ("令和2年13月の浮桟橋法2条", "令和2年13月の", "浮桟橋法2条"),
        ("2020年2月30日の浮桟橋法2条", "2020年2月30日の", "浮桟橋法2条"),
        ("平成0年の浮桟橋法2条", "平成0年の", "浮桟橋法2条"),
        ("令和〇年〇月時点の浮桟橋法2条", "令和〇年〇月時点の", "浮桟橋法2条"),
        ("浮桟橋法2条 as of February 30, 2020", "as of February 30, 2020", "浮桟橋法2条"),
        ("浮桟橋法2条 as of 2020-13-01", "as of 2020-13-01", "浮桟橋法2条"),
        (
            "2021年6月31日に借りた場合の浮桟橋法の利率",
            "2021年6月31日",
            "2021年6月31日に借りた場合の浮桟橋法の利率",
        ),
        (
            "平成31年4月31日に施行された浮桟橋法2条",
            "平成31年4月31日",
            "平成31年4月31日に施行された浮桟橋法2条",
        ),
    ],
)
def test_that_no_calendar_has_a_day_is_told(question: str, words: str, text: str) -> None:
    read = state_asked(question, NAMES)
    assert (read.day, read.text) == (None, text)
    (told,) = read.facts(date(2026, 1, 1))
    assert told.kind is FactKind.NO_SUCH_DAY
    assert told.fields == {"words": words, "day": "2026-01-01"}


@each(
    ("question", "words"),
    [
        ("旧浮桟橋法2条", "旧浮桟橋法"),
        ("改正前の浮桟橋法2条", "改正前の浮桟橋法"),
        ("平成29年改正前浮桟橋法2条", "平成29年改正前浮桟橋法"),
        ("制定時の浮桟橋法2条", "制定時の浮桟橋法"),
        ("平成二十九年法律第四十四号の浮桟橋法2条", "平成二十九年法律第四十四号の浮桟橋法"),
        ("平成29年法律第44号による改正前の浮桟橋法2条", "平成29年法律第44号による改正前の浮桟橋法"),
        ("平成29年法律第44号で改正された浮桟橋法2条", "平成29年法律第44号で改正された浮桟橋法"),
        ("浮桟橋法（平成29年改正前のもの）2条", "浮桟橋法（平成29年改正前のもの）"),
        ("浮桟橋法（令和9年法律第4号による改正後）2条", "浮桟橋法（令和9年法律第4号による改正後）"),
    ],
)
def test_a_former_state_is_told(question: str, words: str) -> None:
    read = state_asked(question, NAMES)
    assert read.text == "浮桟橋法2条"
    assert [one.words for one in read.former] == [words]
    (told,) = read.facts(date(2026, 1, 1))
    assert told.kind is FactKind.FORMER_STATE_ASKED
    assert told.fields == {"words": words, "day": "2026-01-01"}


def _law(day: str, rate: str) -> str:
    article = {
        "num": "2",
        "caption": "（利率）",
        "title": "第二条",
        "paragraphs": [{"num": "1", "text": f"係留料の延滞の利率は、年{rate}パーセントとする。"}],
    }
    law = {"law_id": "599AC0000000041", "date": day, "title": "浮桟橋法", "law_num": ""}
    return json.dumps({**law, "articles": [article]}, ensure_ascii=False)


@pytest.fixture
def piers(home: Path, tmp_path: Path) -> Iterator[Corpus]:
    for day, rate in (("2015-04-01", "五"), ("2020-04-01", "三")):
        (tmp_path / f"{day}.jsonl").write_text(_law(day, rate) + "\n", encoding="utf-8")
    with localrag.open(home).corpus() as corpus:
        corpus.add(tmp_path)
        corpus.index()
        yield corpus


def kinds(answer: Answer) -> list[FactKind]:
    return [event.kind for event in answer.trace.events]


def test_the_text_of_the_day_asked_is_quoted_and_that_is_told(
    piers: Corpus,
) -> None:
    reply = piers.ask("平成31年4月1日時点の浮桟橋法2条")
    (citation,) = reply.citations
    assert "年五パーセント" in citation.quote
    assert (citation.state, citation.followed) == ("2015-04-01", "2020-04-01")
    assert FactKind.DAY_ASKED in kinds(reply)
    found = piers.search("平成31年4月1日時点の浮桟橋法の利率")
    assert "年五パーセント" in found.hits[0].passage.text
    assert found.trace.events[0].fields["day"] == "2019-04-01"
    for question in ("2019年の浮桟橋法2条", "2019年時点の係留料の延滞の利率"):
        of_a_year = piers.ask(question)
        assert "年五パーセント" in of_a_year.citations[0].quote
        assert FactKind.PERIOD_ASKED in kinds(of_a_year)
    today = piers.ask("浮桟橋法2条")
    assert "年三パーセント" in today.citations[0].quote
    assert FactKind.DAY_ASKED not in kinds(today)


@pytest.mark.parametrize(
    ("before", "question"),
    [
        ("平成31年4月1日時点の浮桟橋法2条", "その利率は？"),
        ("浮桟橋法2条は何を定めているか", "平成31年4月1日時点では？"),
    ],
)
def test_a_day_holds_for_a_question_that_follows(piers: Corpus, before: str, question: str) -> None:
    reply = piers.ask(Query(question, history=(before,)))
    assert "年五パーセント" in reply.citations[0].quote
    assert FactKind.DAY_ASKED in kinds(reply)


def test_the_day_that_was_given_goes_before_and_that_is_told(
    piers: Corpus,
) -> None:
    with piers.as_of("令和3年4月1日") as then:
        reply = then.ask("平成31年4月1日時点の浮桟橋法2条")
        assert "年三パーセント" in reply.citations[0].quote
        assert FactKind.DAY_GIVEN in kinds(reply)
        found = then.search("平成31年4月1日時点の浮桟橋法2条")
        assert found.trace.events[0].kind is FactKind.DAY_GIVEN


def test_a_former_state_is_answered_with_that_of_today(piers: Corpus) -> None:
    reply = piers.ask("改正前の浮桟橋法2条")
    assert "年三パーセント" in reply.citations[0].quote
    assert FactKind.FORMER_STATE_ASKED in kinds(reply)


def test_the_law_of_a_day_that_no_calendar_has_is_not_shown_as_if_it_were(piers: Corpus) -> None:
    reply = piers.ask("平成31年2月30日時点の浮桟橋法2条")
    assert "年三パーセント" in reply.citations[0].quote
    assert FactKind.NO_SUCH_DAY in kinds(reply)
    found = piers.search("平成31年2月30日時点の浮桟橋法2条")
    assert found.trace.events[0].kind is FactKind.NO_SUCH_DAY


def test_a_day_of_an_era_is_a_day_of_the_command_line(
    piers: Corpus, cli: Callable[..., object]
) -> None:
    piers.close()
    shown = cli("ask", "浮桟橋法2条", "--as-of", "平成31年4月1日")
    assert "年五パーセント" in shown.out  # type: ignore[attr-defined]
    for none in ("令和元年13月", "平成31年4月31日", "平成0年4月1日"):
        assert cli("ask", "浮桟橋法2条", "--as-of", none).code == 2  # type: ignore[attr-defined]
