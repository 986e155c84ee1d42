"""Dictionaries of synonyms in the text form of Sudachi."""

from pathlib import Path

import pytest

from localrag.errors import InputError
from localrag.evaluation.measures.jemhopqa import read_synonyms

from ....rows import each


def dictionary(path: Path, *rows: tuple[int, int, str]) -> Path:
    """Write a dictionary; a row is a group, whether a word is expanded, and the word."""
    lines = (f"{group:06},1,{expanded},0,0,0,0,(),{word},,\n" for group, expanded, word in rows)
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_a_word_has_the_synonyms_of_all_its_groups(tmp_path: Path) -> None:
    path = dictionary(
        tmp_path / "a.txt", (1, 0, "開始"), (1, 0, "始動"), (2, 0, "始動"), (2, 0, "起動")
    )
    synonyms = read_synonyms([path])
    assert synonyms["始動"] == {"開始", "始動", "起動"}
    assert synonyms["開始"] == {"開始", "始動"}


def test_an_ambiguous_word_is_reached_only_from_the_others(tmp_path: Path) -> None:
    path = dictionary(tmp_path / "a.txt", (1, 0, "公開"), (1, 1, "オープン"), (1, 2, "封切"))
    synonyms = read_synonyms([path])
    assert synonyms["公開"] == {"公開", "オープン"}
    assert synonyms["オープン"] == set()
    assert "封切" not in synonyms


def test_a_later_dictionary_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    first = dictionary(tmp_path / "a.txt", (1, 0, "医師"), (1, 0, "医者"))
    second = dictionary(tmp_path / "b.txt", (1, 1, "医師"), (1, 0, "看護師"))
    synonyms = read_synonyms([first, second])
    assert synonyms["医師"] == set()
    assert synonyms["医者"] == {"医師", "医者"}


def test_blank_lines_and_marks_of_order_are_passed_over(tmp_path: Path) -> None:
    path = dictionary(tmp_path / "a.txt", (1, 0, '"甲'), (1, 0, "乙"))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n \r\n\r\n"))
    assert read_synonyms([path])["乙"] == {'"甲', "乙"}
    assert not read_synonyms([])


@each(
    ("content", "part"),
    [
        (b"000001,1,0\n", "line 1 has no word"),
        (b"000001,1,0,0,0,0,0,(),,,\n", "line 1 has no word"),
        ("000001,1,0,0,0,0,0,(),甲,,\n".encode("cp932"), "not UTF-8"),
        (b"000001,1,0,0,0,0,0,()," + b"x" * 200_000, "field larger"),
    ],
)
def test_what_is_no_dictionary_is_named(tmp_path: Path, content: bytes, part: str) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=part) as caught:
        read_synonyms([path])
    assert "words.txt" in caught.value.cause
    assert "synonyms.txt" in caught.value.cure


def test_a_dictionary_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.txt cannot be read"):
        read_synonyms([tmp_path / "gone.txt"])
