"""What is typed: the questions before, very long lines, what is kept until it is asked."""

from hypothesis import given
from hypothesis import strategies as st
from textual.app import App
from textual.events import Paste

from localrag_tui.ask.composer import (
    MOST_CHARACTERS,
    MOST_LINES,
    OptionsArea,
    QuestionHistory,
    Unsent,
    UnsentFile,
    broken,
    fitted,
    whole,
)


def test_a_walk_keeps_what_was_changed():
    history = QuestionHistory(["one", "two"])
    assert history.newer("draft") is None
    assert history.older("draft") == "two"
    assert history.older("two, changed") == "one"
    assert history.older("one") is None
    assert history.newer("one") == "two, changed"
    assert history.newer("two, changed") == "draft"
    history.add("three")
    assert [history.older(""), history.older("three"), history.newer("two")] == [
        "three",
        "two",
        "three",
    ]


@given(st.lists(st.integers(0, 2000), max_size=5))
def test_long_lines_are_broken_and_whole_again(lengths):
    text = "\n".join("条" * length for length in lengths)
    assert whole(broken(text)) == text
    assert max(map(len, broken(text).split("\n"))) < 500


async def test_what_was_typed_is_kept(tmp_path):
    folder = tmp_path / "unsent"
    path = folder / "1.json"
    kept = UnsentFile(folder)
    assert await kept.read() == Unsent()
    assert not folder.exists()
    typed = Unsent("question \ud800\x00", "one\ntwo")
    await kept.write(typed)
    kept.close()
    again = UnsentFile(folder)
    assert await again.read() == typed
    await again.write(Unsent())
    again.close()
    assert not path.exists()
    for damaged in (b"\xff", b"[]", b"{}", b"3"):
        path.write_bytes(damaged)
        other = UnsentFile(folder)
        assert await other.read() == Unsent()
        other.close()
    blocked = UnsentFile(path / "no folder")
    await blocked.write(typed)
    assert await blocked.read() == Unsent()


async def test_every_open_workbench_keeps_its_own_and_takes_over_what_is_left(tmp_path):
    one, two = UnsentFile(tmp_path), UnsentFile(tmp_path)
    for file, text in ((one, "first"), (two, "second")):
        assert await file.read() == Unsent()
        await file.write(Unsent(text))
    await two.write(Unsent("second, longer"))
    third = UnsentFile(tmp_path)
    assert await third.read() == Unsent(), "both are at work"
    one.close()
    two.close()
    later = [UnsentFile(tmp_path) for _ in range(3)]
    assert [(await file.read()).text for file in later] == ["first", "second, longer", ""]
    for file in (third, *later):
        file.close()


def test_a_text_is_cut_to_what_can_be_edited():
    kept = fitted("a\r\nb\rc\x1b\n\nd" + "e" * 10, 9, 3)
    assert kept == ("a\nb\nc␛  ", True, True)
    assert fitted("one\ntwo", 60_000, 1_000) == ("one\ntwo", False, False)
    assert fitted("one\ntwo", -5, -5) == ("", True, False)


async def test_a_huge_paste_is_cut_and_told():
    class Typing(App[None]):
        def compose(self):
            yield OptionsArea(placeholder="", id="area")

    app = Typing()
    async with app.run_test() as pilot:
        area = app.query_one(OptionsArea)
        area.focus()
        for text in ("line\n" * 25_000, "x" * 5_000_000):
            app.post_message(Paste(text))
            await pilot.pause()
        assert len(area.typed) <= MOST_CHARACTERS
        assert area.document.line_count < 2 * MOST_LINES
        told = [notice.message for notice in app._notifications]
        assert "Of 5,000,000 characters 0 fit here" in " ".join(told)
        assert "1,000 lines" in " ".join(told)
