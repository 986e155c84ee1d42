"""Answers in words against the right ones, character by character."""

import pytest

from localrag.evaluation.measures.answers import char_f1, contains, exact, folded, normalised

from ....rows import each


@each(
    ("text", "form"),
    [
        ("はい", "YES"),
        ("いいえ", "NO"),
        ("はい。", "はい。"),
        (" はい", "はい"),
        ("『青凪鉄道』", "青凪鉄道"),
        ("「青凪」の『唄』", "青凪の唄"),
        ("青凪 (鉄道)", "青凪"),
        ("青凪（鉄道） 本線", "青凪本線"),
        ("青凪（鉄道(私鉄)）線", "青凪）線"),
        ("青凪(鉄道", "青凪(鉄道"),
        ("青凪()鉄道", "青凪()鉄道"),
        ("青凪(鉄\n道)", "青凪(鉄 道)"),
        ("  青凪\t\n 鉄道\u3000", "青凪 鉄道"),
        ("ＡＢＣ", "ＡＢＣ"),
        ("", ""),
    ],
)
def test_answers_are_normalised_as_the_official_script_does(text: str, form: str) -> None:
    assert normalised(text) == form


@each("text", ["(" * 200_000, " " * 200_000, "( " * 100_000, "（）" * 100_000])
def test_brackets_and_blanks_without_end_are_no_trap(text: str) -> None:
    assert len(normalised(text)) <= len(text)


def test_exact_is_exact_in_width_and_case() -> None:
    assert exact("はい", "YES") == 1
    assert exact("『青凪鉄道』 (私鉄)", "青凪鉄道") == 1
    assert exact("yes", "YES") == 0
    assert exact("１９年", "19年") == 0
    assert exact("", "") == 0


@each(
    ("answer", "gold", "f1"),
    [
        ("青凪鉄道", "青凪鉄道", 1),
        ("青凪", "青凪鉄道", 2 / 3),
        ("道鉄凪青", "青凪鉄道", 1),
        ("青青青", "青凪", 2 / 5),
        ("青凪 鉄道（私鉄）", "青凪鉄道", 1),
        ("はい", "YES", 1),
        ("帆掛", "青凪", 0),
        ("", "青凪", 0),
        ("青凪", "「」", 0),
        ("", "", 1),
    ],
)
def test_f1_counts_characters(answer: str, gold: str, f1: float) -> None:
    assert char_f1(answer, gold) == pytest.approx(f1)
    assert char_f1(gold, answer) == pytest.approx(f1)


def test_folded_bears_width_case_and_blanks_and_empties_no_text_in_brackets() -> None:
    assert folded("ＡＢ　ｃ (d)") == folded("ab C") == "abc"
    assert folded("（青凪）") == "(青凪)"


def test_contains_looks_for_the_text_sought() -> None:
    assert contains("終着駅はＡＢ駅である。", "ab駅") == 1
    assert contains("終着駅は無い。", "ab駅") == 0
