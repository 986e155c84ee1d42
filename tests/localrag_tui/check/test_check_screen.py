"""The Check screen: a file or a pasted text in, what does not hold beside it, the provision one key
away."""

import docx
import pytest
from textual.events import Paste
from textual.widgets import Input

from localrag import language
from localrag.check import CheckReport, Verdict
from localrag_tui.check.findings import FindingsList
from localrag_tui.check.screen import CheckedPage, CheckField, CheckScreen
from localrag_tui.shell.form import Form
from localrag_tui.source.pane import SourcePane
from localrag_tui.spot import OpenSpot, Spot

from ..test_day import set_day

MEMO = (
    "渡し舟のメモ [red]注意[/red]\n\n"
    "渡し舟法第4条第3項は「第一項の登録の有効期間は、十年とする」と定める。\n"
    "渡し舟法第44条によれば、届出が要る。民法第709条も見よ。\n"
    "渡し舟法第8条は運航の制限である。\n"
)
WRONG = "does not hold 2, not checked 3, holds "

pytestmark = pytest.mark.usefixtures("in_thread")


async def paste(pilot, until, text):
    """Pastes a text as terminals do, and waits for what is found."""
    await until(pilot, lambda: isinstance(pilot.app.screen, CheckScreen))
    await until(pilot, lambda: pilot.app.screen.ready.is_set())
    pilot.app.screen.query_one(CheckField).post_message(Paste(text.replace("\n", "\r")))
    await until(pilot, lambda: pilot.app.screen.has_class("-checked"))
    return pilot.app.screen.query_one(FindingsList)


async def name(pilot, until, text):
    """Types a text into the field, and has it checked."""
    await until(pilot, lambda: isinstance(pilot.app.screen, CheckScreen))
    await until(pilot, lambda: pilot.app.screen.ready.is_set())
    pilot.app.screen.query_one(CheckField).value = text
    await pilot.press("f7", "enter")


def said(listing):
    return [finding.said for finding in listing.findings]


async def test_a_pasted_text_is_checked_at_once_and_a_finding_leads_to_its_provision(
    workbench, until, shown
):
    app = workbench("en", mode="check")
    async with app.run_test(size=(80, 24)) as pilot:
        listing = await paste(pilot, until, MEMO)
        assert WRONG in shown(app)
        assert [finding.verdict for finding in listing.findings].count(Verdict.FAILS) == 2
        assert "[red]注意[/red]" in shown(app)
        page = app.screen.query_one(CheckedPage)
        assert app.focused is listing
        await until(pilot, lambda: page.quote == listing.chosen.place[:2])
        assert "{+十+}" in shown(app)
        await pilot.press("c")
        assert "[-五-]" in app.clipboard
        await pilot.press("enter")
        pane = app.screen.query_one(SourcePane)
        await until(pilot, lambda: pane.page.sheet is not None)
        start, end = pane.page.quote
        assert pane.page.sheet.text[start:end] == "第一項の登録の有効期間は、五年とする"
        assert pane.display
        await pilot.press("escape")
        assert app.focused is listing
        assert not pane.display


async def test_what_holds_is_listed_where_it_is_asked_for(workbench, until):
    app = workbench("en", mode="check")
    async with app.run_test(size=(80, 24)) as pilot:
        listing = await paste(pilot, until, MEMO)
        before = said(listing)
        await pilot.press("a")
        assert set(before) < set(said(listing))
        starts = [finding.place.start for finding in listing.findings]
        assert starts == sorted(starts)
        await pilot.press("a")
        assert said(listing) == before


async def test_a_provision_is_read_elsewhere_where_nothing_is_checked(workbench, until):
    app = workbench("en", mode="check")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.ready.is_set())
        app.screen.post_message(OpenSpot(Spot("599AC0000000001")))
        await until(pilot, lambda: app.current_mode == "read")


async def test_what_is_clicked_in_the_text_is_shown_then_opened(workbench, until):
    app = workbench("ja", mode="check")
    async with app.run_test(size=(200, 60)) as pilot:
        listing = await paste(pilot, until, MEMO)
        await until(pilot, lambda: app.screen.query_one(CheckedPage).quote != (0, 0))
        last = listing.findings[1]
        line = MEMO[: last.place.start].count("\n")
        page = app.screen.query_one(CheckedPage)
        column = 2 + 2 * len(MEMO[: last.place.start].split("\n")[-1]) + 1
        await pilot.click(page, offset=(column, line - page.scroll_offset.y))
        await until(pilot, lambda: listing.chosen.place == last.place)
        assert not app.screen.has_class("-reading")


async def test_files_are_read_and_the_report_is_written_beside_them(
    workbench, until, shown, tmp_path
):
    memo = tmp_path / "memo.docx"
    made = docx.Document()
    for line in MEMO.split("\n"):
        made.add_paragraph(line)
    made.save(str(memo))
    app = workbench("en", mode="check")
    async with app.run_test(size=(100, 30)) as pilot:
        await name(pilot, until, f"'{memo}'")
        await until(pilot, lambda: app.screen.has_class("-checked"))
        assert "paragraph 3" in shown(app)
        for suffix, begin in ((".docx", b"pk"), (".md", b"#"), (".html", b"<!doctype")):
            written = memo.with_name(f"memo-checked{suffix}")
            await pilot.press("e")
            await until(pilot, lambda: isinstance(app.screen, Form))
            field = app.screen.query_one("#path", Input)
            assert field.value == str(memo.with_name("memo-checked.docx"))
            field.value = str(written)
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(app.screen, CheckScreen))
            assert written.read_bytes().lower().startswith(begin)
        # What is there is replaced only where that is said.
        before = written.read_bytes()
        written.write_text("mine", encoding="utf-8")
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, Form))
        app.screen.query_one("#path", Input).value = str(written)
        await pilot.press("enter")
        await until(pilot, lambda: "Replace the file" in shown(app))
        assert written.read_text("utf-8") == "mine"
        app.screen.query_one("#go").press()
        await until(pilot, lambda: isinstance(app.screen, CheckScreen))
        assert written.read_bytes() == before
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, Form))
        app.screen.query_one("#path", Input).value = str(tmp_path / "memo.xls")
        await pilot.press("enter")
        await until(pilot, lambda: "no report of the form" in shown(app))


@pytest.mark.parametrize(
    ("content", "told"),
    [(None, "missing.md"), ("", "The file is empty"), ("nothing of laws", "cites no provision")],
)
async def test_what_cannot_be_checked_is_told(workbench, until, shown, tmp_path, content, told):
    path = tmp_path / "missing.md"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    app = workbench("en", mode="check")
    async with app.run_test(size=(80, 24)) as pilot:
        await name(pilot, until, str(path))
        await until(pilot, lambda: told in " ".join(shown(app).split()))
        # The next text is checked all the same.
        assert app.focused is app.screen.query_one(CheckField)
        app.screen.query_one(CheckField).value = "渡し舟法第44条"
        await pilot.press("enter")
        await until(pilot, lambda: "does not hold 1" in shown(app))


async def test_without_a_corpus_it_is_told_what_to_do(workbench, until, shown, home):
    app = workbench("en", home=home)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.screen.is_modal)
        await pilot.press("escape", "f7")
        await name(pilot, until, "渡し舟法第44条")
        await until(pilot, lambda: "Add documents" in shown(app))


async def test_it_is_checked_again_against_the_law_of_another_day(workbench, earlier_state, until):
    app = workbench("ja", mode="check")
    async with app.run_test(size=(100, 30)) as pilot:

        def report() -> CheckReport:
            return app.screen._held.checked.report

        listing = await paste(
            pilot,
            until,
            f"渡し舟法\n第8条は「{earlier_state}を超えるときは、渡し舟を運航してはならない」と定める。",
        )
        assert [finding.verdict for finding in listing.findings] == [Verdict.FAILS]
        await set_day(pilot, until, "2020-04-01")
        await until(pilot, lambda: report().as_of == "2020-04-01")
        await until(pilot, lambda: app.screen.has_class("-checked"))
        assert report().holds
        await set_day(pilot, until, "")
        await until(pilot, lambda: not report().holds)


async def test_nothing_is_lost_with_another_language(workbench, until, shown):
    app = workbench("en", mode="check")
    async with app.run_test(size=(80, 24)) as pilot:
        listing = await paste(pilot, until, MEMO)
        before = said(listing)
        language.use("ja")
        await app.make_screens_anew()
        await until(pilot, lambda: said(app.screen.query_one(FindingsList)) == before)
        assert "誤り 2" in shown(app)


async def test_a_long_text_is_checked_while_other_things_are_done(workbench, until):
    app = workbench("ja", mode="check")
    text = "渡し舟法第8条は運航の制限である。渡し舟法第44条の届出は要しない。\n" * 400
    assert len(text) > 12_000
    async with app.run_test(size=(80, 24)) as pilot:
        listing = await paste(pilot, until, text)
        assert len(listing.findings) >= 400
