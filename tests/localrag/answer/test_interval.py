from hypothesis import given
from hypothesis import strategies as st

from localrag.text.dates import Interval


@st.composite
def intervals(draw: st.DrawFn) -> Interval[int]:
    low, high = sorted((draw(st.integers(0, 20)), draw(st.integers(0, 20))))
    is_point = low == high
    return Interval(
        draw(st.sampled_from([low, None])),
        draw(st.sampled_from([high, None])),
        above=not is_point and draw(st.booleans()),
        below=not is_point and draw(st.booleans()),
    )


@given(intervals(), intervals())
def test_before_overlap_and_after_exclude_each_other(
    one: Interval[int], other: Interval[int]
) -> None:
    assert [one.before(other), one.overlaps(other), other.before(one)].count(True) == 1


@given(intervals(), intervals())
def test_the_hull_holds_both_and_both_hold_the_overlap(
    one: Interval[int], other: Interval[int]
) -> None:
    hull = one.hull(other)
    assert one.within(hull)
    assert other.within(hull)
    if one.overlaps(other):
        common = one.overlap(other)
        assert common.within(one)
        assert common.within(other)


def test_open_ends_are_left_out() -> None:
    less_than_ten, ten, ten_or_more = (
        Interval(None, 10, below=True),
        Interval(10, 10),
        Interval(10, None),
    )
    assert less_than_ten.before(ten)
    assert ten.lies_in(less_than_ten) is False
    assert ten.lies_in(ten_or_more) is True
    assert ten_or_more.lies_in(ten) is None
