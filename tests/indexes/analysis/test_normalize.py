from hypothesis import given
from hypothesis import strategies as st

from localrag_indexes.analysis.normalize import (
    SIMPLE,
    normalize,
    normalize_with_offsets,
    original_span,
)

from ...rows import each

AWKWARD = "㍻㈱ｶﾞﾊﾟが゛①ﬁİΣς葛\U000e0100\u200b\u0301\u0323각ᄀ\u1161\u11a8ABCｱﾞ 　２７条𠮷😀"


def test_the_form_terms_are_made_from() -> None:
    assert normalize("第２７条　ＡＢＣ㈱ ｶﾞﾗｽ") == "第27条 abc(株) ガラス"


def test_invisible_characters_are_dropped() -> None:
    assert normalize("葛\U000e0100飾\u200b区\ufeff\x00\ud800") == "葛飾区"


@given(st.text(alphabet=st.one_of(st.sampled_from(AWKWARD), st.characters())))
def test_offsets_describe_the_normalised_text(text: str) -> None:
    normal, offsets = normalize_with_offsets(text)
    assert normal == normalize(text)
    assert len(offsets) == len(normal) + 1
    assert list(offsets) == sorted(offsets)
    assert offsets[-1] == len(text)
    for position in range(len(normal)):
        start, end = original_span(offsets, position, position + 1)
        assert normal[position] in normalize(text[start:end])


def test_simple_characters_are_one_and_join_nothing() -> None:
    simple = [chr(code) for code in range(0x110000) if SIMPLE.fullmatch(chr(code))]
    for before in ("", "あ", "a", "ｶ", "e\u0301", "ᄀ"):
        alone = normalize(before)
        assert [c for c in simple if normalize(before + c) != alone + normalize(c)] == []
    assert {len(normalize(character)) for character in simple} == {1}


@each(
    ("text", "piece", "original"),
    [
        ("㍻三年", "平成", "㍻"),
        ("㍻三年", "成三", "㍻三"),
        ("窓ｶﾞﾗｽ製", "ガラス", "ｶﾞﾗｽ"),
        ("甲㈱乙", "株", "㈱"),
        ("cafe\u0301 ok", "café", "cafe\u0301"),
    ],
)
def test_spans_cover_whole_original_characters(text: str, piece: str, original: str) -> None:
    normal, offsets = normalize_with_offsets(text)
    start = normal.index(piece)
    begin, end = original_span(offsets, start, start + len(piece))
    assert text[begin:end] == original
