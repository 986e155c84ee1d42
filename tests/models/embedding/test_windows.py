"""Splitting by tokens, with tokenizers that anybody can follow."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag_models.embedding import divide, shorten_front, split, well_formed
from localrag_models.errors import ContextExceeded

from ...rows import each


def words(text: str) -> int:
    """A token is a word, or a character that stands alone."""
    return len(text.split()) if " " in text else len(text)


@each(
    ("text", "limit", "windows"),
    [
        ("", 4, [""]),
        ("短い。", 4, ["短い。"]),
        ("一つ。二つ。三つ。", 7, ["一つ。二つ。", "三つ。"]),
        ("「一つ。」二つ。三つ。", 6, ["「一つ。」", "二つ。三つ。"]),
        ("一つめ、二つめ、三", 6, ["一つめ、", "二つめ、三"]),
        ("あいうえおかきくけこ", 4, ["あいうえ", "おかきく", "けこ"]),
        ("率は3.5倍だ。次", 6, ["率は3.5倍", "だ。次"]),
        ("One two. Three four.", 14, ["One two. ", "Three four."]),
        ("一行\n二行\n三行", 7, ["一行\n二行\n", "三行"]),
        ("何？！はい", 4, ["何？！", "はい"]),
    ],
)
def test_where_windows_end(text: str, limit: int, windows: list[str]) -> None:
    assert split(text, len, limit) == windows


def test_combining_marks_stay_with_their_character() -> None:
    for window in split("か\u3099き\u3099く\u3099" * 9, len, 5):
        assert not window.startswith("\u3099")
    for window in split("👩\u200d👧" * 9, len, 5):
        assert not window.startswith("\u200d")
        assert not window.endswith("\u200d")


def test_a_character_that_does_not_fit() -> None:
    with pytest.raises(ContextExceeded, match="ufdfa") as caught:
        split("あいﷺ", lambda text: len(text) + 17 * text.count("ﷺ"), 8)
    assert caught.value.needed == 18
    assert caught.value.available == 8


@given(text=st.text("あい。、. \n\u3099\u200d」", max_size=200), limit=st.integers(1, 30))
def test_windows_fit_and_join(text: str, limit: int) -> None:
    windows = split(text, len, limit)
    assert "".join(windows) == text
    assert all(0 < len(window) <= limit for window in windows) or not text


@each("piece", ["条文は、続く。", "あ", "。", " ", "\u3099", "word "])
def test_what_is_counted_grows_linearly(piece: str) -> None:
    def counted(text: str) -> int:
        read = 0

        def count(window: str) -> int:
            nonlocal read
            read += len(window)
            return words(window)

        split(text, count, 100)
        return read

    assert counted(piece * 8_000) < 12 * counted(piece * 1_000)
    assert counted(piece * 8_000) < 12 * len(piece * 8_000)


def test_the_front_is_shortened() -> None:
    assert shorten_front("法律 第三条", len, 20) == "法律 第三条"
    assert shorten_front("法律 第三条", len, 3) == "第三条"
    assert shorten_front("法律", lambda _: 1, 0) == ""


def test_only_what_does_not_fit_is_divided() -> None:
    windows = divide(
        ["一つ。", "一つ。二つ。", "", "あ" * 200], lambda texts: [*map(len, texts)], 5
    )
    assert windows.texts[:4] == ["一つ。", "一つ。", "二つ。", ""]
    assert windows.owners == [0, 1, 1, 2] + [3] * 40
    assert windows.tokens == [len(text) for text in windows.texts]


def test_lone_surrogates_are_replaced() -> None:
    assert well_formed("a\ud800b\udfff𠮷") == "a\ufffdb\ufffd𠮷"
