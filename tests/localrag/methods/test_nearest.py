"""Every answer lists the nearest passages that it does not quote."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from localrag.answer.extractive import MOST, nearest
from localrag.answer.types import Answer, Citation, Nearest, Status
from localrag.corpus.config import load
from localrag.corpus.types import Locator, Passage
from localrag.corpus.workspace import Workspace
from localrag.methods.answering import open_answers
from localrag.sample import QUESTION
from localrag.search.types import Hit, Query
from localrag.text.facts import Fact, FactKind

from ...rows import each

ASKED = Query("定員は")


def answer(home: Path, text: str) -> Answer:
    workspace = Workspace.locate(home)
    with open_answers(workspace, "main", load(workspace)) as answerer:
        return answerer.answer(Query(text))


def hit(number: int, text: str = "定員は十二人とする。", **more: Any) -> Hit:
    place, header = f"law#{number}", f"渡し舟法 第{number}条（定員）"
    locator = Locator(article=str(number))
    passage = Passage(
        place, "law", "articles", text, header, locator, 100 * number, 100 * number + 90
    )
    return replace(Hit(passage, 1.0, number, "fuse"), **more)


def numbers(found: tuple[Nearest, ...]) -> list[int]:
    return [int(one.passage_id.partition("#")[2]) for one in found]


def test_below_nothing_found_are_the_first_hits(sample_home: Path) -> None:
    reply = answer(sample_home, "所得税の確定申告の期限はいつか。")
    assert reply.status is Status.NOT_FOUND
    hits = reply.trace.stages[-1].hits or reply.trace.stages[-2].hits
    ids = [hit.passage.id for hit in hits if not hit.passage.locator.division]
    assert [one.passage_id for one in reply.nearest] == ids[:MOST]
    assert all(one.label and one.beginning for one in reply.nearest)


def test_what_is_quoted_is_not_listed_again(sample_home: Path) -> None:
    reply = answer(sample_home, QUESTION)
    assert reply.status is Status.QUOTED
    quoted = {one.passage_id.partition(".")[0] for one in reply.citations}
    assert quoted == {"599AC0000000001#8", "599CO0000000002#4"}
    assert len(reply.nearest) == MOST
    assert not quoted & {one.passage_id for one in reply.nearest}


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("会社法における渡し守の資格は何か。", "会社法"),
        ("渡し舟法8条と会社法8条の関係", "会社法"),
        ("旅券法の有効期間", "旅券法"),
    ],
)
def test_nothing_is_listed_where_the_law_named_is_lacking(
    sample_home: Path, text: str, absent: str
) -> None:
    reply = answer(sample_home, text)
    assert (reply.absent, reply.nearest) == ((absent,), ())
    assert reply.trace.events.count(Fact(FactKind.NOTHING_NEAREST)) == 1


def test_a_form_is_listed_only_where_one_is_asked_for() -> None:
    form = "渡し舟法施行規則 様式第一号（第四条関係）"
    model = "渡し舟法施行規則 附録第七号　記載例"
    table = "渡し舟の用語、様式及び作成方法に関する規則 別表（第二条関係）"
    hits = [_appendix(n, header) for n, header in enumerate((form, model, table), 1)]
    assert [one.label for one in nearest(ASKED, [(ASKED, hits)], ())] == [table]
    wanted = Query("届出の様式は")
    assert len(nearest(wanted, [(wanted, hits)], ())) == 3


def test_supplementary_provisions_are_listed_only_where_they_are_asked_for() -> None:
    hits = [_appendix(1, "渡し舟法 附則 第一条（施行期日）", "suppl1"), hit(2)]
    assert numbers(nearest(ASKED, [(ASKED, hits)], ())) == [2]
    wanted = Query("渡し舟法の施行日は")
    assert len(nearest(wanted, [(wanted, hits)], ())) == 2


def _appendix(number: int, header: str, division: str = "") -> Hit:
    locator = Locator(division or f"appendix{number}")
    place = f"law#{locator.path}"
    passage = Passage(
        place, "law", "articles", "図", header, locator, 100 * number, 100 * number + 1
    )
    return Hit(passage, 1.0, number, "fuse")


def test_of_several_questions_each_has_its_turn(sample_home: Path) -> None:
    first, second = (
        answer(sample_home, one)
        for one in ("量子もつれの測定は何か。", "オリンピックの選手団の人数は何か。")
    )
    both = answer(sample_home, "量子もつれの測定は何か。オリンピックの選手団の人数は何か。")
    assert both.status is Status.NOT_FOUND
    alone = {one.passage_id for one in (*first.nearest, *second.nearest)}
    assert {one.passage_id for one in both.nearest} <= alone


def test_a_method_that_searches_nothing_lists_nothing(play: Any, question: Query) -> None:
    reply = play("statute-direct", question, {"reason": "期間は三年である。", "label": "a"})
    assert reply.answer.nearest == ()


def test_a_method_that_searches_for_options_alone_lists_what_it_found(
    play: Any, question: Query
) -> None:
    reply = play("statute-lexical", question)
    assert 0 < len(reply.answer.nearest) <= MOST


def test_the_last_search_for_the_question_itself_counts() -> None:
    found = [
        (ASKED, [hit(1)]),
        (ASKED, [hit(2), hit(3)]),
        (replace(ASKED, options=("十人",)), [hit(4)]),
        (Query("船長は"), [hit(5)]),
        (ASKED, []),
    ]
    assert numbers(nearest(ASKED, found, ())) == [2, 3]
    assert numbers(nearest(Query("別の問い"), found, ())) == [2, 4, 5, 3]


def test_another_law_and_what_is_quoted_are_left_out() -> None:
    found = [(ASKED, [hit(1), hit(2, beside=True), hit(3), hit(3), *map(hit, range(4, 10))])]
    paragraph = Citation("law#1.2", "十二人", start=120, end=123, verified=True)
    rejected = Citation("law#3", "ない文")
    assert numbers(nearest(ASKED, found, (paragraph, rejected))) == [3, 4, 5, 6, 7]


@each(
    ("text", "beginning"),
    [
        ("（定員）\n第1条　定員は、\n十二人とする。", "定員は、 十二人とする。"),
        ("第1条　削除", "削除"),
        ("（定員）", "（定員）"),
        (f"第1条　{'渡' * 50}", f"{'渡' * 39}…"),
    ],
)
def test_the_first_words_repeat_no_heading(text: str, beginning: str) -> None:
    (one,) = nearest(ASKED, [(ASKED, [hit(1, text)])], ())
    assert (one.label, one.beginning) == ("渡し舟法 第1条（定員）", beginning)


def test_the_words_of_a_page_are_kept() -> None:
    passage = Passage("page#1", "page", "passages", "鐘 の音", "鐘", Locator(), 0, 4)
    (one,) = nearest(ASKED, [(ASKED, [Hit(passage, 1.0, 1, "fuse")])], ())
    assert one == Nearest("page#1", "鐘", "鐘 の音")
