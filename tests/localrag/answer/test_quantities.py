from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from localrag.text.folding import COUNT, ORDINAL, UNITS
from localrag.text.quantities import find, read

from ...rows import each


@each(
    ("text", "dimension", "size"),
    [
        ("1,089.29万人", COUNT, 10_892_900),
        ("3,310,022人", COUNT, 3_310_022),
        ("２５００万部", COUNT, 25_000_000),
        ("三万人", COUNT, 30_000),
        ("十二・五メートル", "長さ", Fraction(125, 10)),
        ("九・〇七平方キロ", "面積", 9_070_000),
        ("百二十", COUNT, 120),
        ("49", COUNT, 49),
        ("1" * 30, COUNT, int("1" * 30)),
        (",".join(["123"] * 10) + "円", "円", int("123" * 10)),
        ("13路線", COUNT, 13),
        ("4人組", COUNT, 4),
        ("13ha", "面積", 130_000),
        ("11.7ヘクタール", "面積", 117_000),
        ("91.25㎢", "面積", 91_250_000),
        ("10,752km²", "面積", 10_752_000_000),
        ("1坪", "面積", Fraction(400, 121)),
        ("178cm", "長さ", Fraction(178, 100)),
        ("10尺", "長さ", Fraction(100, 33)),
        ("149kg", "質量", 149),
        ("19,500t", "質量", 19_500_000),
        ("2時間16分", "時間", 8_160),
        ("4分35秒", "時間", 275),
        ("87日 23.3時間", "時間", 7_600_680),
        ("5億2596万9800円", "円", 525_969_800),
        ("316億8,000万円", "円", 31_680_000_000),
        ("201.8億円", "円", 20_180_000_000),
        ("$356,000,000", "ドル", 356_000_000),
        ("77％", "割合", Fraction(77, 100)),
        ("15,660人/km2", "数/面積", Fraction(15_660, 1_000_000)),
        ("6枚目", ORDINAL, 6),
        ("第13代", ORDINAL, 13),
        ("1位", ORDINAL, 1),
        ("36.5℃", "セ氏温度", Fraction(73, 2)),
        ("満27歳", "時間", 27 * 31_556_952),
    ],
)
def test_quantities_are_read_exactly(text: str, dimension: str, size: Fraction) -> None:
    quantity = read(text)
    assert quantity is not None
    assert (quantity.dimension, quantity.span.low) == (dimension, size)
    assert quantity.span.is_point


@each(
    ("text", "low", "high"),
    [
        ("約35万2000人", 351_500, 352_500),
        ("約9.5万人", 94_500, 95_500),
        ("約100人", 50, 150),
        ("24名以上", 24, None),
        ("100人以下", None, 100),
        ("200万部を超える", 2_000_000, None),
        ("10～20人", 10, 20),
    ],
)
def test_what_is_not_exact_lies_between_bounds(text: str, low: int, high: int | None) -> None:
    quantity = read(text)
    assert quantity is not None
    assert (quantity.span.low, quantity.span.high) == (low, high)


@each(
    "text",
    [
        "",
        "人",
        "三重県",
        "一般",
        "2男1女",
        "PSP4",
        "E1A",
        "20-10人",
        "1" * 61,
        "9" * 10_000,
        "1," * 5_000,
        "万" * 500,
    ],
)
def test_what_is_no_quantity_is_not_read_as_one(text: str) -> None:
    assert read(text) is None


def test_quantities_are_found_beside_other_words() -> None:
    assert [each.text for each in find("享年54（満52歳没）")] == ["54", "52歳"]
    assert [each.text for each in find("100点満点中87点")] == ["87点"]
    assert [each.text for each in find("約353万人（2017年）と世界一")] == ["約353万人"]
    assert find("三重県の一部") == ()
    assert find("12人" + "あ" * 1_000) == ()


def test_large_and_converted_numbers_are_shown_in_full() -> None:
    people, height, area = read("1,089.29万人"), read("178cm"), read("1坪")
    assert people is not None
    assert height is not None
    assert area is not None
    assert people.shown(converted=False) == "1,089.29万人（10,892,900）"
    assert height.shown(converted=False) == "178cm"
    assert height.shown(converted=True) == "178cm（1.78 m）"
    assert area.shown(converted=True) == "1坪（約3.305785 m2）"


@given(st.integers(0, 10**15))
def test_numbers_are_read_back(number: int) -> None:
    for text in (f"{number}人", f"{number:,}人"):
        quantity = read(text)
        assert quantity is not None
        assert quantity.span.low == number


@given(st.integers(0, 10**6), st.sampled_from([("km", "m", 1000), ("ha", "m2", 10_000)]))
def test_units_convert_there_and_back(number: int, units: tuple[str, str, int]) -> None:
    larger, smaller, factor = units
    one, other = read(f"{number}{larger}"), read(f"{number * factor}{smaller}")
    assert one is not None
    assert other is not None
    assert one.span == other.span
    assert one.span.low is not None
    assert one.span.low / UNITS[larger].size == number


@given(st.text(max_size=200))
def test_no_text_breaks_the_reading(text: str) -> None:
    for quantity in find(text):
        low, high = quantity.span.low, quantity.span.high
        assert low is None or high is None or low <= high
