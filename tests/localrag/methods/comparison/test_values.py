"""Objects that cannot all be true."""

from collections.abc import Sequence

from localrag.methods.comparison.values import contradictory

from ....rows import each


@each(
    ("objects", "excluded"),
    [
        (("1990年", "2000年"), True),
        (("1990年、2000年",), True),
        (("1990年", "1990年5月1日"), False),
        (("100人", "120人"), True),
        (("100人", "約100人"), False),
        (("100人", "5km"), False),
        (("歌手", "画家"), False),
        (("1990年",), False),
        ((), False),
    ],
)
def test_dates_and_quantities_exclude_others(objects: Sequence[str], excluded: bool) -> None:
    assert contradictory(objects, "設立") is excluded
