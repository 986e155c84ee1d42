import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localrag.methods.agreement import (
    CITATION_SIGNS,
    STATEMENT_SIGNS,
    Observation,
    ObservationKind,
    OptionJudgement,
    choose,
    fitted,
    in_words,
    is_held_out,
    judge,
    weights_for,
)
from localrag.methods.agreement.evidence import LawText, provisions_in

from ...rows import each

LAW = """## 貸本業法
### 第３条
#### 第1項
店主は、貸本（学習用の古い地図を除く。）について帳簿を備え、六月以内に知事に提出しなければならない。
#### 第2項
知事は、帳簿を提出した店主の登録を更新することができる。
### 第４条
#### 第1項
次の各号に掲げる者は、前条の規定にかかわらず、帳簿を備えることを要しない。
##### 第１号
三冊未満の本を貸す者
##### 第２号
学校の図書室
### 第５条
店主は、延滞した借主から百円の延滞料を受け取ることができる。
"""
PROVISIONS = provisions_in(LAW)
RIGHT = "店主は、帳簿を六か月以内に知事に提出しなければならない"
CASES = {
    ObservationKind.QUANTITY: "店主は、帳簿を三か月以内に知事に提出しなければならない",
    ObservationKind.ABSOLUTE: "店主は、帳簿を必ず六か月以内に知事に提出しなければならない",
    ObservationKind.CONCESSION: "店主は、貸本がなくても、帳簿を六か月以内に知事に"
    "提出しなければならない",
    ObservationKind.FOREIGN: "店主は、帳簿を六か月以内に裁判所に提出しなければならない",
    ObservationKind.REVERSED: "店主は、帳簿を六か月以内に知事に提出することを要しない",
    ObservationKind.EXCLUSION: "店主は、学習用の古い地図の帳簿を六か月以内に知事に"
    "提出しなければならない",
}


@each(("kind", "wrong"), CASES.items())
def test_what_deviates_agrees_less_and_is_told(kind: ObservationKind, wrong: str) -> None:
    right, other = judge("正しいものはどれか。", [RIGHT, wrong], PROVISIONS)
    assert right.agreement > other.agreement
    assert kind in {finding.kind for finding in other.findings}
    assert kind not in {finding.kind for finding in right.findings}


def test_a_question_for_what_deviates_turns_the_choice() -> None:
    options = [RIGHT, CASES[ObservationKind.QUANTITY], "知事は、登録を更新することができる"]
    for question, wanted in (("正しいものはどれか。", 0), ("誤っているものはどれか。", 1)):
        found = judge(question, options, PROVISIONS)
        shares = [one.share for one in found]
        assert sum(shares) == pytest.approx(1)
        if wanted:
            assert choose(options, shares) == wanted
        else:
            assert shares[0] > shares[1]


def test_what_the_law_says_otherwise_is_told_in_the_words_of_the_option() -> None:
    for kind, told in (
        (ObservationKind.QUANTITY, "「三か月以内」の数が条文と異なる"),
        (ObservationKind.REVERSED, "「提出することを要しない」が条文と食い違う"),
    ):
        _, wrong = judge("正しいものはどれか。", [RIGHT, CASES[kind]], PROVISIONS)
        assert told in map(in_words, wrong.findings)


def test_of_what_the_case_puts_no_figure_is_missed() -> None:
    question = "三か月前に店を開いた店主について、正しいものはどれか。"
    right, _ = judge(question, [f"三か月前に店を開いた{RIGHT}", "店主は本を返す"], PROVISIONS)
    assert ObservationKind.QUANTITY not in {finding.kind for finding in right.findings}


@each("wrong", CASES.values())
def test_a_finding_quotes_words_and_never_nothing(wrong: str) -> None:
    _, other = judge("正しいものはどれか。", [RIGHT, wrong], PROVISIONS)
    assert not [told for told in map(in_words, other.findings) if "「」" in told]


def test_what_the_law_excepts_is_quoted() -> None:
    wrong = CASES[ObservationKind.EXCLUSION]
    _, other = judge("正しいものはどれか。", [RIGHT, wrong], PROVISIONS)
    assert "条文が除いている：「学習用の古い地図」" in map(in_words, other.findings)


@each("kind", ObservationKind)
def test_every_finding_can_be_told(kind: ObservationKind) -> None:
    assert in_words(Observation(kind, False, "甲", "乙"))


def test_an_option_rests_on_words_of_the_context() -> None:
    for one in judge("正しいものはどれか。", [RIGHT, *CASES.values()], PROVISIONS):
        assert one.quote
        assert LAW[one.start :].startswith(one.quote)
    first = judge("正しいものはどれか。", [RIGHT], PROVISIONS)[0]
    assert "六月以内に知事に" in first.quote


def test_of_a_long_provision_the_nearest_sentence_is_quoted() -> None:
    text = "借主は、本を返す。" * 60 + "知事は、登録を取り消すことができる。"
    found = judge("どれか。", ["知事は登録を取り消すことができる"], provisions_in(text))[0]
    assert found.quote == "知事は、登録を取り消すことができる。"
    assert text[found.start :].startswith(found.quote)


@each(
    ("question", "answer"),
    [
        ("帳簿を知事に提出すべき期間を定めた条文を教えてください。", 0),
        ("店主の登録の更新について定めた条文を教えてください。", 1),
        ("学校の図書室が帳簿を備えなくてもよいことの根拠条文を教えてください。", 2),
        ("延滞料の額を定めた条文を教えてください。", 3),
    ],
)
def test_a_provision_is_found_by_what_it_says(question: str, answer: int) -> None:
    options = [
        "貸本業法第３条第１項",
        "貸本業法第三条第二項",
        "貸本業法 第４条 第１項第２号",
        "貸本業法第5条",
    ]
    found = judge(question, options, PROVISIONS)
    assert choose(options, [one.share for one in found]) == answer
    assert [one.provision and one.provision.locator.path for one in found] == [
        "3.1",
        "3.2",
        "4.1.2",
        "5",
    ]


def test_a_provision_that_is_not_at_hand_is_told() -> None:
    options = ["貸本業法第３条第１項", "貸本業法第99条", "地図業法第３条第１項"]
    found = judge("帳簿の提出期間を定めた条文を教えてください。", options, PROVISIONS)
    assert [one.provision is None for one in found] == [False, True, True]
    assert [finding.kind for finding in found[1].findings] == [ObservationKind.MISSING]
    assert (found[1].quote, found[1].start) == ("", -1)


def test_main_sentence_and_proviso_are_told_apart() -> None:
    law = "## 貸本業法\n### 第１条\n店主は、本を貸す。ただし、地図については、この限りでない。"
    options = ["貸本業法第1条本文", "貸本業法第１条ただし書"]
    for question, answer in (
        ("店主が本を貸す義務の根拠条文を教えてください。", 0),
        ("店主が地図を貸さなくてもよいことの根拠条文を教えてください。", 1),
    ):
        found = judge(question, options, provisions_in(law))
        assert choose(options, [one.share for one in found]) == answer


def test_without_provisions_all_options_are_alike() -> None:
    for options in ([RIGHT, "地図を貸す"], ["第１条", "第２条"]):
        found = judge("正しいものはどれか。", options, [])
        assert [one.share for one in found] == [0.5, 0.5]
        assert all(one.provision is None for one in found)


LAWLIKE = st.text(
    st.sampled_from("店主本知事帳簿六三月日年以内提出除くしないなければならず必ず第条項。、（）1 "),
    max_size=40,
)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["正しいものはどれか。", "誤っているものを選べ。", "根拠となる条文はどれか。"]),
    st.lists(LAWLIKE, min_size=2, max_size=5, unique=True),
    st.lists(LAWLIKE, max_size=4),
    st.randoms(use_true_random=False),
)
def test_the_order_of_the_options_makes_no_difference(
    question: str, options: list[str], law: list[str], shuffled: random.Random
) -> None:
    provisions = [LawText("", "貸本業法", PROVISIONS[0].locator, text) for text in law if text]
    before = dict(zip(options, judge(question, options, provisions), strict=True))
    moved = shuffled.sample(options, len(options))
    after = dict(zip(moved, judge(question, moved, provisions), strict=True))
    assert before == after
    assert chosen(options, before) == chosen(moved, after)


def chosen(options: list[str], judged: dict[str, OptionJudgement]) -> str:
    return options[choose(options, [judged[option].share for option in options])]


def test_the_weights_are_those_of_the_signs_and_of_their_sense() -> None:
    for weights in (fitted().everything, *fitted().without.values()):
        assert tuple(weights.statements) == STATEMENT_SIGNS
        assert tuple(weights.citations) == CITATION_SIGNS
        assert min(*weights.statements.values(), *weights.citations.values()) >= 0


def test_a_training_question_is_weighed_by_what_was_fitted_without_it(shared_data: Path) -> None:
    lines = (shared_data / "lawqa" / "train.jsonl").read_text(encoding="utf-8").splitlines()
    for row in map(json.loads, lines):
        options = list(row["choices"].values())
        assert is_held_out(row["question"], options[::-1])
        assert weights_for(row["question"], options) is not fitted().everything
    assert not is_held_out("次のうち、正しいものを教えてください。", options)
    assert weights_for("新しい問題", options) is fitted().everything


def test_most_training_questions_are_answered_by_what_was_fitted_on_others(
    shared_data: Path,
) -> None:
    lines = (shared_data / "lawqa" / "train.jsonl").read_text(encoding="utf-8").splitlines()
    right = 0
    for row in map(json.loads, lines):
        options = list(row["choices"].values())
        found = judge(row["question"], options, provisions_in(row["context"]))
        right += "abcd"[choose(options, [one.share for one in found])] == row["answer"]
        for one in found:
            assert row["context"][max(one.start, 0) :].startswith(one.quote)
    assert right > 60
