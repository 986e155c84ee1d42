"""Optimised prompts are kept with how they came about, and read back as they were."""

import errno
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.answer.prompts import OptimisedPrompt, optimised_names
from localrag.errors import NotFoundError, StorageError, UsageError, WorkspaceError

from ....rows import each

HOSTILE = '条文番号を"""含める。\n{{ x }} </source> [bold]\\u0041\t'


@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip))
def test_a_prompt_is_read_back_as_it_was_saved(
    text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("prompts")
    prompt = OptimisedPrompt("law1", text, {"n": 60, "score": 0.5, "data": "lawqa"})
    prompt.save(folder)
    assert OptimisedPrompt.load(folder, "law1") == prompt


def test_a_later_prompt_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    for text in ("一", HOSTILE):
        OptimisedPrompt("law1", text).save(tmp_path / "prompts")
    assert OptimisedPrompt.load(tmp_path / "prompts", "law1").text == HOSTILE
    assert optimised_names(tmp_path / "prompts") == ["law1"]


@pytest.mark.parametrize("text", ["0\r\n", "a\rb", '"""\r\n'])
def test_line_breaks_stay_what_they_are(text: str, tmp_path: Path) -> None:
    OptimisedPrompt("law1", text).save(tmp_path)
    assert OptimisedPrompt.load(tmp_path, "law1").text == text


def test_the_digest_tells_texts_apart() -> None:
    assert OptimisedPrompt("a", "一").digest == OptimisedPrompt("b", "一").digest
    assert OptimisedPrompt("a", "一").digest != OptimisedPrompt("a", "二").digest


def test_a_prompt_knows_whether_it_was_edited_and_whether_it_is_the_built_in_one() -> None:
    digest = OptimisedPrompt("a", "一").digest
    made = OptimisedPrompt("a", "一", {"digest": digest, "is_seed": True})
    assert (made.is_made, made.is_edited, made.is_seed) == (True, False, True)
    edited = OptimisedPrompt("a", "二", made.provenance)
    assert (edited.is_made, edited.is_edited, edited.is_seed) == (False, True, False)
    by_hand = OptimisedPrompt("a", "三")
    assert (by_hand.is_made, by_hand.is_edited, by_hand.is_seed) == (False, False, False)


def test_a_missing_prompt_names_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="localrag optimize"):
        OptimisedPrompt.load(tmp_path / "none", "law1")
    OptimisedPrompt("law1", "一").save(tmp_path)
    with pytest.raises(NotFoundError, match="There is: law1"):
        OptimisedPrompt.load(tmp_path, "law2")


@each("name", ["", "../law", "a/b", "-x", "x" * 65, "a.b"])
def test_a_name_is_never_a_path(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name"):
        OptimisedPrompt.load(tmp_path, name)
    with pytest.raises(UsageError, match="cannot be the name"):
        OptimisedPrompt(name, "一").save(tmp_path)
    assert not list(tmp_path.iterdir())


@each(
    "content",
    [
        b"",
        b'text = "x"',
        b"text = 3\n[provenance]",
        b'text = " "\n[provenance]',
        b'text = "x"\nprovenance = 1',
        b"\xff\xfe",
        b"text = " + b"[" * 5_000,
    ],
)
def test_a_damaged_prompt_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "law1.toml").write_bytes(content)
    with pytest.raises(WorkspaceError, match=r"law1\.toml cannot be read"):
        OptimisedPrompt.load(tmp_path, "law1")


def test_what_cannot_be_written_leaves_the_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    OptimisedPrompt("law1", "一").save(tmp_path)
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StorageError, match="cannot be written"):
        OptimisedPrompt("law1", "二").save(tmp_path)
    assert OptimisedPrompt.load(tmp_path, "law1").text == "一"
