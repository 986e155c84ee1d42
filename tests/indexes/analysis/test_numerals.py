import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag_indexes.analysis.normalize import parse_numeral, to_kanji

from ...rows import each


@each(
    ("text", "number"),
    [
        ("三十六", 36),
        ("十", 10),
        ("百", 100),
        ("千四十六", 1046),
        ("二〇", 20),
        ("五〇三", 503),
        ("一九九一", 1991),
        ("千九百九十一", 1991),
        ("３６", 36),
        ("036", 36),
        ("〇", 0),
        ("零", 0),
        ("壱百弐拾参", 123),
        ("百〇九", 109),
        ("千零五十一", 1051),
        ("千〇〇九", 1009),
        ("一万〇五百", 10_500),
        ("7〇九", 709),
        ("七百9", 709),
        ("漆百玖", 709),
        ("壱千弐百", 1200),
        ("阡弐佰", 1200),
        ("壹貳參", 123),
        ("廿三", 23),
        ("弐萬", 20_000),
        ("二千万", 20_000_000),
        ("2000万", 20_000_000),
        ("２，０００万", 20_000_000),
        ("20,000,000", 20_000_000),
        ("3億2千万", 320_000_000),
        ("一兆", 10**12),
    ],
)
def test_reads_every_spelling(text: str, number: int) -> None:
    assert parse_numeral(text) == number


@each(
    "text",
    [
        "",
        " ",
        "一般",
        "三三十",
        "百千",
        "千〇九百",
        "二十〇九",
        "七百〇九九",
        "百〇",
        "百〇十百",
        "十十",
        "万",
        "-3",
        "1.5",
        "1,00",
        "三十 六",
        "1" * 5000,
        "²",
    ],
)
def test_refuses_what_is_not_one_numeral(text: str) -> None:
    with pytest.raises(ValueError, match="not a numeral"):
        parse_numeral(text)


@given(st.integers(0, 10**16 - 1))
def test_what_is_written_in_kanji_reads_back(number: int) -> None:
    assert parse_numeral(to_kanji(number)) == number


def test_kanji_are_those_statutes_use() -> None:
    assert [to_kanji(n) for n in (0, 7, 10, 36, 100, 111, 1046, 10_000)] == [
        "〇",
        "七",
        "十",
        "三十六",
        "百",
        "百十一",
        "千四十六",
        "一万",
    ]


@pytest.mark.parametrize("number", [-1, 10**16])
def test_no_kanji_beyond_the_range(number: int) -> None:
    with pytest.raises(ValueError, match="no kanji numeral"):
        to_kanji(number)
