from hypothesis import given
from hypothesis import strategies as st

from localrag.text.dates import Date, Period, find, read

from ...rows import each


@each(
    ("text", "first", "last"),
    [
        ("1965年11月20日", (1965, 11, 20), (1965, 11, 20)),
        ("1965年〈昭和40年〉11月20日", (1965, 11, 20), (1965, 11, 20)),
        ("１９６５年（昭和４０年）１１月２０日", (1965, 11, 20), (1965, 11, 20)),
        ("1965-11-20", (1965, 11, 20), (1965, 11, 20)),
        ("1965/11/20", (1965, 11, 20), (1965, 11, 20)),
        ("2017年1月", (2017, 1, 1), (2017, 1, 31)),
        ("1956年（昭和31年)", (1956, 1, 1), (1956, 12, 31)),
        ("一九九〇年", (1990, 1, 1), (1990, 12, 31)),
        ("昭和四十年", (1965, 1, 1), (1965, 12, 31)),
        ("令和元年5月1日", (2019, 5, 1), (2019, 5, 1)),
        ("平成30年度", (2018, 4, 1), (2019, 3, 31)),
        ("紀元前44年3月15日", (-43, 3, 15), (-43, 3, 15)),
        ("18世紀", (1701, 1, 1), (1800, 12, 31)),
        ("19世紀後半", (1851, 1, 1), (1900, 12, 31)),
        ("紀元前1世紀", (-99, 1, 1), (0, 12, 31)),
        ("1990年代", (1990, 1, 1), (1999, 12, 31)),
        ("1990年代前半", (1990, 1, 1), (1994, 12, 31)),
        ("1700年代", (1700, 1, 1), (1799, 12, 31)),
        ("2000年代", (2000, 1, 1), (2009, 12, 31)),
        ("昭和30年代", (1955, 1, 1), (1964, 12, 31)),
        ("2000年以降", (2000, 1, 1), None),
        ("2000年まで", None, (2000, 12, 31)),
    ],
)
def test_dates_are_read_in_every_spelling(
    text: str, first: tuple[int, int, int] | None, last: tuple[int, int, int] | None
) -> None:
    date = read(text)
    assert isinstance(date, Date)
    assert (date.span.low, date.span.high) == (first, last)


def test_the_first_and_last_year_of_an_era_end_with_it() -> None:
    first, last = read("平成元年"), read("昭和64年")
    assert isinstance(first, Date)
    assert isinstance(last, Date)
    assert first.span.low == (1989, 1, 8)
    assert last.span.high == (1989, 1, 7)
    assert last.span.before(first.span)


@each(
    ("era", "year"),
    [
        ("天保8年", 1837),
        ("安政元年", 1854),
        ("延暦3年", 784),
        ("文禄元年", 1592),
        ("慶応3年", 1867),
    ],
)
def test_years_of_old_eras_are_western_years(era: str, year: int) -> None:
    date = read(era)
    assert isinstance(date, Date)
    assert date.year == year


def test_a_day_of_the_old_calendar_comes_weeks_later_in_the_western_one() -> None:
    date = read("天保8年(1837年)9月29日")
    assert isinstance(date, Date)
    assert (date.span.low, date.span.high) == ((1837, 9, 29), (1837, 11, 29))


def test_of_two_calendars_the_western_day_counts() -> None:
    for text in ("天保14年1月14日（1843年2月12日）", "1843年2月12日〈天保14年1月14日〉"):
        assert str(read(text)) == "1843年2月12日"


def test_about_makes_a_date_wider() -> None:
    date = read("1506年頃4月7日")
    assert isinstance(date, Date)
    assert (date.span.low, date.span.high) == ((1501, 4, 7), (1511, 4, 7))
    assert str(date) == "1506年頃4月7日"
    century, round_year = read("16世紀頃"), read("約1500年")
    assert isinstance(century, Date)
    assert isinstance(round_year, Date)
    assert (century.span.low, century.span.high) == ((1451, 1, 1), (1650, 12, 31))
    assert (round_year.span.low, round_year.span.high) == ((1450, 1, 1), (1550, 12, 31))


@each(
    ("text", "shown"),
    [
        ("1914年 - 1918年", "1914年–1918年"),
        ("1732年2月22日-1799年12月14日", "1732年2月22日–1799年12月14日"),
        ("2014年1月から5月", "2014年1月–2014年5月"),
        ("2014年7月7日‐（連載中）", "2014年7月7日–"),
        ("1903年（明治36年）12月1日-1933年（昭和8年）2月20日", "1903年12月1日–1933年2月20日"),
    ],
)
def test_ranges_are_periods(text: str, shown: str) -> None:
    period = read(text)
    assert isinstance(period, Period)
    assert str(period) == shown


def test_the_predicate_makes_a_number_a_year() -> None:
    assert str(read("1964", "制作年")) == "1964年"
    assert str(read("1914-1918", "活動期間")) == "1914年–1918年"
    assert read("1964", "放送回数") is None
    assert str(read("3年", "没年")) == "3年"
    assert read("3年", "任期") is None


@each(
    "text",
    [
        "",
        "年",
        "2000年13月",
        "2000年1月32日",
        "3年間",
        "10年後",
        "2年目",
        "3年生",
        "100年以上前",
        "1994年『とある映画』",
        "年月日",
        "1" * 10_000,
        "1年" * 6_000,
        "(" * 900,
    ],
)
def test_what_is_no_date_is_not_read_as_one(text: str) -> None:
    assert read(text) is None


def test_a_date_is_found_beside_other_words() -> None:
    assert [str(found.value) for found in find("1994年『ある映画』")] == ["1994年"]
    assert find("1994年" + "あ" * 1_000) == []


@given(st.dates())
def test_what_is_written_is_read_back(date: object) -> None:
    year, month, day = (int(part) for part in str(date).split("-"))
    for text in (f"{year}年{month}月{day}日", f"{year:04}-{month:02}-{day:02}"):
        value = read(text)
        assert isinstance(value, Date)
        assert value.span.low == value.span.high == (year, month, day)
        assert str(value) == f"{year}年{month}月{day}日"


@given(st.text(max_size=200))
def test_no_text_breaks_the_reading(text: str) -> None:
    for found in find(text):
        low, high = (
            (found.value.span.low, found.value.span.high)
            if isinstance(found.value, Date)
            else (None, None)
        )
        assert low is None or high is None or low <= high
