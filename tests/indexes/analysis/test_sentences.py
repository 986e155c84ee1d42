from hypothesis import given
from hypothesis import strategies as st

from localrag_indexes.analysis.analyzer import split_sentences

from ...growth import assert_linear
from ...rows import each


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@each(
    "expected",
    [
        ["船頭は届け出る。", "ただし、この限りでない。"],
        ["甲は「帰る。」と言った。", "乙は黙った。"],
        ["渡し舟（川舟を含む。以下同じ。）を除く。", "次の文。"],
        ["『本を読む（深夜。）。』と書く！？", "終わり"],
        ["そう．", "次は３．５である．", "終わり"],
        ["Dr. Hill met J. K. Moor in the U.S. in 1990.", "He left."],
        ["It cost 3.5 yen, e.g. a lot!", "Why?", '"Really?" she said.'],
        ["See No. 5 and Sec. 3 of the Act.", "It applies."],
        ["He lived in the U.S.", "The town is old."],
        ['He said "Go."', "Then he left."],
        ["It ended in 1990.", "Nothing followed."],
        ["1. Scope of the rule.", "2. Next rule."],
        ["（閉じない括弧。", "次の文。"],
        ["閉じる括弧」だけ。", "次の文。"],
        ["第一項", "第二項"],
    ],
)
def test_boundaries(expected: list[str]) -> None:
    joiner = "\n" if not expected[0].endswith((".", "。", "！？", "!", "．", '"')) else " "
    assert sentences(joiner.join(expected)) == expected


def test_blanks_around_sentences_belong_to_none() -> None:
    assert sentences("　あ。 \r\n\r\n  い\t") == ["あ。", "い"]
    assert sentences(" \n　") == []


def test_a_wrapped_line_goes_on_but_an_item_does_not() -> None:
    assert sentences("the cat\nsat down.\nTitle\nNext") == ["the cat\nsat down.", "Title", "Next"]


def test_a_bracket_closed_thousands_of_characters_later_shelters_nothing() -> None:
    text = "（" + "あ。" * 3000 + "）"
    assert len(sentences(text)) > 2900


@given(st.text(alphabet='。！.! \n（）「」("Aa1第甲\u3000'))
def test_every_visible_character_is_in_exactly_one_sentence(text: str) -> None:
    spans = split_sentences(text)
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())
    assert all(a < b for a, b in spans)
    assert spans == sorted(spans)


@each("unit", ["（", "「）", "1. ", " . ", "「あ。」", "a", "。"])
def test_hostile_text_takes_linear_time(unit: str) -> None:
    assert_linear(lambda size: split_sentences(unit * size), 20_000)
