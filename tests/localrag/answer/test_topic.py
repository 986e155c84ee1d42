"""Which of the provisions that share the words of a question is quoted for it."""

import pytest

from localrag.answer.extractive import quotations
from localrag.search.pipeline import Retriever
from localrag.search.types import Query

BALLOONS, KITES = "599AC0000000031", "599AC0000000032"
LAWS = {
    (BALLOONS, "気球法", "令和九十九年法律第三十一号"): {
        "1": ("目的", ["この法律は、気球の安全を図ることを目的とする。"]),
        "2": ("定義", ["この法律において「気球」とは、空気より軽い航空機をいう。"]),
        "3": (
            "係留業の登録",
            [
                "気球の係留業を営もうとする者は、知事の登録を受けなければならない。",
                "前項の登録は、七年ごとにその更新を受けなければ、その効力を失う。",
            ],
        ),
        "4": (
            "係留業の登録の申請",
            [
                "前条の係留業の登録の更新を受けようとする者は、申請書を知事に提出しなければならない。"
            ],
        ),
        "5": (
            "飛行の禁止",
            ["何人も、学校の上空において気球を飛行させてはならない。"],
        ),
        "6": (
            "",
            ["学校の上空において気球を飛行させた者は、百万円以下の罰金に処する。"],
        ),
        "7": (
            "準用",
            ["第五条の規定は、学校の上空において気球を飛行させる訓練について準用する。"],
        ),
    },
    (KITES, "凧揚法", "令和九十九年法律第三十二号"): {
        "1": ("届出", ["凧を揚げた者は、十日以内に、その旨を知事に届け出なければならない。"]),
        "2": ("糸", ["凧の糸は、丈夫なものでなければならない。"]),
        "3": (
            "登録の特例",
            ["凧揚業者は、気球法第三条第一項の規定にかかわらず、係留業を営むことができる。"],
        ),
        "4": ("凧揚業者の登録", ["凧揚業者の登録を受けた者は、業として凧を揚げることができる。"]),
        "5": ("事故", ["凧の糸が切れたときは、知事に報告しなければならない。"]),
        "6": (
            "",
            [
                "夜間の凧には、気球法の規定は、適用しない。",
                "夜間の凧には、灯火を付けなければならない。",
            ],
        ),
        "7": ("書式", ["凧揚業者の登録の申請には、気球法の書式を用いることができる。"]),
    },
}


def quoted(retriever: Retriever, question: str) -> list[str]:
    """The ids of the passages quoted for a question, in order."""
    query = Query(question)
    answer = quotations(retriever, retriever.search(query))
    return [citation.passage_id for citation in answer.citations]


def test_a_question_for_a_time_is_answered_by_the_provision_that_states_one(
    laws: Retriever,
) -> None:
    places = quoted(laws, "気球法では係留業の登録は何年ごとに更新するのか")
    assert places[0].startswith(f"{BALLOONS}#3.")


@pytest.mark.parametrize(
    ("question", "article"),
    [
        ("学校の上空で気球を飛行させてよいか？", "5"),
        ("学校の上空で気球を飛行させた場合の罰則は？", "6"),
        ("学校の上空で気球を飛行させる訓練への準用", "7"),
    ],
)
def test_rule_penalty_and_application_are_each_quoted_for_their_own_question(
    laws: Retriever, question: str, article: str
) -> None:
    assert quoted(laws, question)[0].startswith(f"{BALLOONS}#{article}.")


def test_the_second_quotation_is_of_another_provision(laws: Retriever) -> None:
    first, second, *_ = quoted(laws, "係留業の登録の更新")
    assert first.rpartition(".")[0] != second.rpartition(".")[0]


def test_of_several_provisions_named_none_is_taken_for_its_namesake_in_the_other_law(
    laws: Retriever,
) -> None:
    assert quoted(laws, "気球法第二条と凧揚法第五条") == [f"{BALLOONS}#2.1", f"{KITES}#5.1"]
    assert quoted(laws, "気球法3条2項と凧揚法5条") == [f"{BALLOONS}#3.2", f"{KITES}#5.1"]
