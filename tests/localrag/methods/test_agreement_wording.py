from hypothesis import given
from hypothesis import strategies as st

from localrag.methods.agreement.evidence import (
    absolutes,
    asks_for_exemption,
    asks_for_quantity,
    concession,
    exclusions,
    exempts,
    fold,
    hedge,
    ngrams,
    states_quantity,
)

from ...rows import each


@each(
    ("one", "other"),
    [
        ("三箇月以内", "３か月以内"),
        ("百分の二・二五", "2.25％"),
        ("百分の二・〇", "百分の二"),
        ("第二十七条の三十六第一項", "第２７条 の36第1項"),
        ("届出があつた", "届出があった"),
        ("十五日を経過", "15日を 経過"),
    ],
)
def test_one_thing_has_one_spelling(one: str, other: str) -> None:
    assert fold(one) == fold(other)


def test_two_things_stay_two() -> None:
    assert fold("三年以内") != fold("二年以内")
    assert fold("百分の三") != fold("百分の三十")


@each(
    ("law", "stated"),
    [
        ("貸本の期間は三月とする。", True),
        ("二以上の店に届け出る。", True),
        ("過料は百分の四・五とする", True),
        ("第三条第二項の規定（平成十年法律第五号）による。", False),
        ("第二十七条の二の届出", False),
        ("", False),
    ],
)
def test_a_law_states_a_quantity_but_for_the_numbers_of_provisions(law: str, stated: bool) -> None:
    assert states_quantity(law) is stated


def test_what_is_asked_for_is_known() -> None:
    assert asks_for_quantity("貸本の期間")
    assert not asks_for_quantity("貸本の相手方")
    assert asks_for_exemption("帳簿を備えなくてもよい場合")
    assert not asks_for_exemption("帳簿を備える場合")


def test_an_absolute_is_told_unless_taken_back() -> None:
    assert absolutes("店主は必ず一切の本を貸す") == ["必ず", "一切"]
    assert absolutes("すべての本が貸せるわけではない") == []
    assert absolutes("店主は本を貸す") == []


def test_words_that_leave_room_or_do_not() -> None:
    assert hedge("店主は断る場合がある")
    assert not hedge("店主は断る")
    assert concession("許可がなくても、本を貸すことができる")
    assert not concession("少なくとも、三冊を貸す")
    assert not concession("許可がなくても、断られる場合がある")


def test_a_law_that_excepts_is_known() -> None:
    assert exempts("ただし、写本については、この限りでない。")
    assert not exempts("写本を貸す。")


def test_exceptions_are_found() -> None:
    assert exclusions("本（写本及び地図（古いもの）を除く。）を貸す") == ["写本及び地図(古いもの)"]
    assert exclusions("本を貸す") == []


@given(st.text())
def test_any_text_can_be_compared(text: str) -> None:
    fold(text), ngrams(text, 2), states_quantity(text), exclusions(text)


def test_hostile_text_is_read_in_time() -> None:
    for text in (
        "（" * 50_000,
        "一" * 50_000,
        "本を除" * 20_000,
        "第一条の" * 20_000,
        "第" * 50_000,
    ):
        fold(text), states_quantity(text), exclusions(text)
