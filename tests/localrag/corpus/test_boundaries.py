"""Boundaries of words and names."""

from localrag.corpus.rows import stands_alone, words_of

from ...rows import each


@each(
    ("text", "name", "alone"),
    [
        ("霧里の人口は", "霧里", True),
        ("『霧里』号", "霧里", True),
        ("東霧里の人口は", "霧里", False),
        ("霧里2の人口は", "霧里", False),
        ("霧里市の人口は", "霧里", False),
        ("霧里", "霧里", True),
    ],
)
def test_a_name_is_told_from_a_piece_of_another(text: str, name: str, alone: bool) -> None:
    start = text.index(name)
    assert stands_alone(text, start, start + len(name), words_of(text)) is alone


def test_words_are_found_by_both_ends() -> None:
    words = words_of("橋の長さ")
    assert words.starting[0] == words.ending[1] == "橋"
    assert words_of("").starting == {}
