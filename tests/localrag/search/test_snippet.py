from localrag.search.query import snippet
from localrag.search.types import Query

FILLER = "これは関係のない文である。" * 40


def test_the_window_is_where_the_words_are_and_highlights_point_into_the_text() -> None:
    text = f"{FILLER}渡し守は、第二十七条の三十六の資格を要する。{FILLER}"
    shown = snippet(Query("渡し守の資格（第27条の36）"), text, 80)
    assert 0 < shown.start < shown.end < len(text)
    assert shown.end - shown.start <= 80
    marked = [text[start:end] for start, end in shown.highlights]
    assert "第二十七条の三十六" in "".join(marked)
    assert "資格" in "".join(marked)


def test_without_a_match_it_is_the_beginning() -> None:
    shown = snippet(Query("gyroscope"), FILLER, 30)
    assert (shown.start, shown.end, shown.highlights) == (0, 30, ())
