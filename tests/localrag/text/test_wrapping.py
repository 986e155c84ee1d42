"""Wrapping: every character once, no row too wide, nothing torn that need not be."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from localrag.text.harmless import NARROWEST, Layout, cells, cut, shorten

from ...rows import each

TEXTS = st.text(
    st.one_of(
        st.sampled_from("渡し舟、。」（「ｶﾞ①👩\u200d\ufe0f\u0301 \n　aZ-'9"),
        st.characters(exclude_categories=("Cc", "Cs")),
    ),
    max_size=300,
)


def rows(text: str, width: int, **how: object) -> list[str]:
    return [
        " " * indent + text[start:end]
        for start, end, indent in Layout(text, width, **how)  # type: ignore[arg-type]
    ]


@given(TEXTS, st.integers(NARROWEST, 40))
def test_every_character_stands_in_one_row_and_no_row_is_too_wide(text, width):
    layout = Layout(text, width)
    end = 0
    for number, row in enumerate(layout):
        assert set(text[end : row.start]) <= {" ", "\n"}
        assert text[end : row.start].count("\n") <= 1
        assert row.start == row.end or layout.row_of(row.start) == number
        assert cell_len(text[row.start : row.end]) <= width
        end = row.end
    assert set(text[end:]) <= {" "}
    assert len(layout) >= text.count("\n") + 1


@given(TEXTS, st.integers(4, 40))
def test_an_indented_row_is_no_wider(text, width):
    for row in Layout(text, width, lambda *_: (1, 2)):
        assert row.indent + cell_len(text[row.start : row.end]) <= width


def test_wide_characters_are_never_split_at_the_border():
    assert rows("渡し舟を運ぶ", 5) == ["渡し", "舟を", "運ぶ"]
    assert rows("a渡し舟を", 4) == ["a渡", "し舟", "を"]


def test_what_ends_a_clause_does_not_begin_a_row_and_no_bracket_is_left_behind():
    assert rows("渡し舟は、川を渡る。", 8) == ["渡し舟", "は、川を", "渡る。"]
    assert rows("舟は（渡し）", 6) == ["舟は", "（渡", "し）"]


def test_words_are_broken_only_where_they_do_not_fit():
    assert rows("the ferry crosses", 9) == ["the ferry", "crosses"]
    assert rows("a 渡し舟 ferry", 8) == ["a 渡し舟", "ferry"]
    assert rows("abcdefgh", 3) == ["abc", "def", "gh"]


def test_lines_keep_their_indents_unless_there_is_no_room():
    def hanging(*_):
        return 2, 4

    assert rows("一　渡し舟の長さ", 16, indents=hanging) == ["  一　渡し舟の長", "    さ"]
    assert rows("一　渡し舟", 8, indents=hanging) == ["一　渡し", "舟"]


def test_an_empty_text_has_one_empty_row_and_a_huge_line_is_wrapped():
    assert list(Layout("", 10)) == [(0, 0, 0)]
    assert len(Layout("渡" * 1_000_000, 80)) == 25_000
    assert len(Layout("」" * 100_000, 80)) == 2_500
    assert len(Layout(" " * 100_000, 80)) == 1


def test_a_position_is_found_in_its_row():
    layout = Layout("渡し舟\n\n川を渡る", 4)
    assert [layout.row_of(position) for position in (0, 2, 3, 4, 5, 7, 99)] == [0, 1, 1, 2, 3, 4, 4]


@each(
    ("text", "width", "expected"),
    [
        ("渡し舟", 6, "渡し舟"),
        ("渡し舟法", 6, "渡し…"),
        ("渡し舟法", 7, "渡し舟…"),
        ("ferry act", 7, "ferry…"),
        ("舟", 1, "…"),
        ("舟", 0, ""),
        ("", 0, ""),
    ],
)
def test_what_is_cut_to_cells_fits_with_its_mark(text: str, width: int, expected: str) -> None:
    assert cut(text, width) == expected
    assert cells(cut(text, width)) <= width


def test_what_is_shortened_keeps_so_many_characters() -> None:
    assert [shorten("渡し舟", most) for most in (3, 2, 0)] == ["渡し舟", "渡し…", "…"]
