from hypothesis import given
from hypothesis import strategies as st

from localrag_indexes.analysis import Analyzer
from localrag_indexes.analysis.analyzer import best_window, highlight

ANALYZER = Analyzer()


def shown(text: str, query: str) -> list[str]:
    spans = highlight(text, ANALYZER.terms(query))
    return [text[start:end] for start, end in spans]


def test_matches_are_shown_as_the_text_spells_them() -> None:
    assert shown("第２７条の３６により㈱ミナトが届け出る。", "第二十七条の三十六 株 届け出る") == [
        "第２７条の３６",
        "㈱",
        "届け出る",
    ]
    assert shown("The ferryman’s boats sank.", "boat sinking ferryman") == ["ferryman’s", "boats"]


def test_neighbours_are_one_span() -> None:
    assert shown("川開きの渡し舟条例。", "渡し舟条例") == ["渡し舟条例"]


def test_nothing_to_show() -> None:
    assert shown("渡し舟", "鯨") == []
    assert shown("", "鯨") == []


def test_the_window_shows_most_different_terms() -> None:
    text = "灯火。灯火。灯火。" + "余白。" * 50 + "船頭は灯火を備える。" + "余白。" * 50
    start, end = best_window(text, ANALYZER.terms("船頭の灯火"), 30)
    assert "船頭は灯火" in text[start:end]
    assert end - start == 30


def test_the_window_without_a_match_is_the_beginning() -> None:
    assert best_window("余白。" * 50, ["鯨"], 20) == (0, 20)
    assert best_window("短い", ["鯨"], 20) == (0, 2)


@given(st.text(alphabet="船頭灯火。余白a 第3条", max_size=80), st.integers(1, 40))
def test_the_window_stays_inside_the_text(text: str, size: int) -> None:
    start, end = best_window(text, ["船頭", "灯火", "第3条"], size)
    assert 0 <= start <= end <= len(text)
    assert end - start == min(size, len(text))
