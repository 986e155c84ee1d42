"""Omissions of a file in words, with counts."""

from localrag.corpus.types import Omission, omission_notes, part_name

from ...rows import each


@each(
    ("parts", "one"),
    [
        ("tracked deletions", "tracked deletion"),
        ("encrypted or sealed bodies of messages", "encrypted or sealed body of messages"),
        ("formulas that were never calculated", "formula that was never calculated"),
        ("characters that their font does not name", "character that its font does not name"),
        ("headers and footers of printed sheets", "headers and footers of printed sheets"),
        ("running heads, feet and page numbers", "running heads, feet and page numbers"),
    ],
)
def test_one_part_is_named_in_the_singular(parts: str, one: str) -> None:
    assert (part_name(parts, 1), part_name(parts, 2)) == (one, parts)


def test_a_note_has_each_count_with_its_noun() -> None:
    omissions = [Omission("pictures", 3), Omission("charts", 1)]
    assert omission_notes(omissions) == ["Not read: 3 pictures, 1 chart."]
