"""What was chosen is there again; a file that fails costs nothing else, and is told of once."""

import errno

import pytest

from localrag_tui import library
from localrag_tui.library import Memory


@pytest.fixture
def told():
    return []


@pytest.fixture
def make(tmp_path, told):
    return lambda: Memory(tmp_path / "tui.json", told.append)


def test_choices_are_there_again(make, told):
    one = make()
    one.remember(language="ja", corpus="laws")
    one.remember(language="en")
    one.close()
    two = make()
    assert (two.choices.language, two.choices.corpus, two.choices.model) == ("en", "laws", None)
    two.close()
    assert told == []


def test_two_workbenches_keep_what_each_of_them_chose(make, told):
    one, two = make(), make()
    one.remember(corpus="laws", reading={"laws": [["civil", 5]]})
    one.close()
    two.remember(method="statute-lexical", reading={"main": [["penal", 7]]})
    two.close()
    three = make()
    assert (three.choices.corpus, three.choices.method) == ("laws", "statute-lexical")
    assert three.choices.reading == {"laws": (("civil", 5),), "main": (("penal", 7),)}
    assert two.choices.corpus is None, "one in use is not changed by another"
    three.close()
    assert told == []


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b'{"language": 5}',
        b"[]",
        b'{"conversation": 99999999999999999999}',
        b'{"reading": {"main": [["one", -1]]}}',
        b'{"search": "%s"}' % (b"a" * 2_000_000),
        b'{"filters": {"date_from": "\\u202e"}}',
    ],
)
def test_a_damaged_file_is_told_and_written_anew(make, told, tmp_path, damage):
    (tmp_path / "tui.json").write_bytes(damage)
    one = make()
    assert one.choices.language == ""
    [error] = told
    assert "tui.json" in error.cause
    assert "damaged" in error.cause
    assert error.cure
    one.remember(language="ja")
    one.close()
    assert make().choices.language == "ja"


def test_what_a_newer_version_wrote_does_no_harm(make, told, tmp_path):
    (tmp_path / "tui.json").write_text('{"language": "ja", "unheard": [1]}')
    assert make().choices.language == "ja"
    assert told == []


def test_a_full_disk_is_told_once_and_the_choices_hold(make, told, tmp_path, monkeypatch):
    one = make()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(library, "replace_text", full)
    one.remember(language="ja")
    one.remember(theme="light")
    one.close()
    [error] = told
    assert "No space left on device" in error.cause
    assert "free some space" in error.cure
    assert (one.choices.language, one.choices.theme) == ("ja", "light")


def test_a_file_that_cannot_be_read_is_told(make, told, tmp_path):
    (tmp_path / "tui.json").mkdir()
    one = make()
    one.remember(language="ja")
    one.close()
    [error] = told
    assert "could not be read" in error.cause
