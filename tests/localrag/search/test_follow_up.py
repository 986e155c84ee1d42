"""Questions that follow others in a conversation."""

from localrag.corpus.types import LawRow
from localrag.law.names import LawNames
from localrag.search.query import rewritten

from ...growth import assert_linear
from ...rows import each

NAMES = LawNames(
    [
        LawRow("1", "渡船法", "昭和三十年法律第一号", "Act", "渡法"),
        LawRow("4", "灯台法", "昭和三十一年法律第四号", "Act"),
    ]
)
BEFORE = "渡船法で夜間の運航は禁止されているか"


@each("question", ["その罰則は", "例外はあるか", "第2項は", "and the penalty?"])
def test_it_is_read_behind_the_question_before(question: str) -> None:
    assert rewritten(question, [BEFORE], NAMES) == (f"{BEFORE} {question}", question)


@each("question", ["灯台法の罰則は", "灯台法第三条では何が禁止されているか", "あ" * 301])
def test_what_names_a_law_or_is_long_stands_by_itself(question: str) -> None:
    assert rewritten(question, [BEFORE], NAMES) == (question, "")


@each("question", ["灯台法では？", "灯台法の場合は", "灯台法だとどうですか"])
def test_what_names_a_law_and_asks_nothing_is_read_behind_the_one_before(question: str) -> None:
    assert rewritten(question, [BEFORE], NAMES).text == f"{BEFORE} {question}"


@each("history", [[], [""], ["  \n"], ["？"]])
def test_without_a_question_before_nothing_is_carried(history: list[str]) -> None:
    assert rewritten("その罰則は", history, NAMES) == ("その罰則は", "")


def test_it_is_read_from_the_last_question_that_names_a_law_on() -> None:
    history = ["灯台法の目的は", "渡船法の免許について", "年齢は何歳からか"]
    read = rewritten("例外は", history, NAMES)
    assert read.text == "渡船法の免許について 年齢は何歳からか 例外は"
    # What was read behind others holds them already.
    again = rewritten("例外は", ["渡船法の免許について", "渡船法の免許について 年齢は"], NAMES)
    assert again.text == "渡船法の免許について 年齢は 例外は"


def test_of_a_long_question_the_end_is_read() -> None:
    story = "渡し守は川の両岸に小屋を持つ。" * 8000
    found = rewritten("罰則は", [story + "夜間の運航は禁止されているか"], NAMES)
    assert found.text.endswith("夜間の運航は禁止されているか 罰則は")
    assert len(found.text) < 500


def test_a_citation_typed_shortly_is_written_out() -> None:
    assert rewritten("渡8条の罰則は", (), NAMES) == ("渡法第8条の罰則は", "")
    assert rewritten("9〜10条は", ["渡8条の罰則は"], NAMES).text.startswith("渡法第8条の罰則は ")


@each(
    "piece",
    [
        "あ",
        "した",
        "法",
        "第一条",
        "（",
        "The Act of ",
        "\x1b[2J\x00\u202e",
        "\ud800",
        "「同法」その",
    ],
)
@each("question", ["その罰則は", "第2項は", "した" * 100])
def test_hostile_history_takes_linear_time(piece: str, question: str) -> None:
    def read(size: int) -> None:
        found = rewritten(question, [piece * (size // len(piece))] * 20, NAMES)
        assert len(found.text) < 1500
        assert not any(ord(letter) < 32 for letter in found.text)

    assert_linear(read, 2_500)


def test_control_characters_of_the_history_are_not_carried() -> None:
    found = rewritten("その罰則は", ["夜間の\x1b[31m運航\x07は\u202e禁止されているか\n\n"], NAMES)
    assert not {"\x1b", "\u202e", "\n"} & set(found.text)
