"""The order of the matches, by hand and for any number of entrants."""

from hypothesis import given
from hypothesis import strategies as st

from localrag.methods.statute import JudgedOption, OptionVerdict, knock_out

from ...rows import each


def entrants(labels: str) -> list[JudgedOption]:
    return [JudgedOption(label, label, OptionVerdict.LIKELY, "甲") for label in labels]


@each(
    ("labels", "matches"),
    [
        ("a", []),
        ("ab", ["ab"]),
        ("abc", ["ab", "bc"]),
        ("abcd", ["ab", "cd", "bd"]),
        ("abcde", ["ab", "cd", "bd", "de"]),
        ("abcdefg", ["ab", "cd", "ef", "bd", "fg", "dg"]),
    ],
)
def test_pairs_meet_in_order_and_the_last_of_an_odd_number_waits(
    labels: str, matches: list[str]
) -> None:
    played = []

    def later(one: JudgedOption, other: JudgedOption) -> JudgedOption:
        played.append(one.label + other.label)
        return other

    assert knock_out(entrants(labels), later).label == labels[-1]
    assert played == matches


@given(st.integers(1, 8), st.data())
def test_the_best_wins_in_one_match_less_than_there_are_entrants(
    number: int, data: st.DataObject
) -> None:
    strengths = data.draw(st.permutations(range(number)))
    one_each = entrants("abcdefgh"[:number])
    strength = dict(zip("abcdefgh", strengths, strict=False))
    matches = 0

    def stronger(one: JudgedOption, other: JudgedOption) -> JudgedOption:
        nonlocal matches
        matches += 1
        return max(one, other, key=lambda judged: strength[judged.label])

    assert strength[knock_out(one_each, stronger).label] == number - 1
    assert matches == number - 1
