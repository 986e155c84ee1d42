"""The source pane: reading, following references, finding, copying, and what can go wrong."""

import asyncio
import shutil
import threading
from dataclasses import replace
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from localrag.corpus.store import CorpusStore
from localrag.text.harmless import Layout
from localrag_tui.app import Workbench
from localrag_tui.source.page import DocumentPage
from localrag_tui.source.pane import SourcePane
from localrag_tui.source.ties import Ties
from localrag_tui.spot import Spot

from ...patience import PATIENCE
from .conftest import ACT, ORDER, store_path

HOSTILE = "[red]渡し舟[/red] \x1b[2J\x00\u202eevil\u2066 [@click=app.quit]x[/]\ta\r\n" * 3


def marked(page: DocumentPage, what: str) -> str:
    """What is in view on the ground of a mark."""
    ground = page.get_component_rich_style(f"page--{what}").bgcolor
    strips = [page.render_line(y) for y in range(page.size.height)]
    return "".join(
        s.text for strip in strips for s in strip if s.style and s.style.bgcolor == ground
    )


def top_line(pane: SourcePane) -> str:
    return pane.page.render_line(0).text.strip()


async def read(pilot: Pilot[None], pane: SourcePane, until, spot: Spot) -> None:
    """Open a place, and wait for what is tied to it."""
    await pane.open(spot)
    await until(pilot, lambda: pane.provision is not None and pane.page.links is not None)


async def test_a_quotation_is_shown_highlighted_in_its_article(
    reader, pane_of, until, shown, text_of
):
    app: Workbench = reader()
    words = "水位又は風速が政令で定める基準を超えるときは、渡し舟を運航してはならない"
    start = text_of(ACT).index(words)
    async with app.run_test(size=(80, 24)) as pilot:
        pane = pane_of(pilot)
        await until(pilot, lambda: "Ctrl+G" in shown(app))
        await read(pilot, pane, until, Spot(ACT, start, start + len(words), f"{ACT}#8.1"))
        assert marked(pane.page, "quote") == words
        screen = shown(app)
        assert "渡し舟の安全及び活用に関する法律 › 第二章　渡し舟事業 › 第二節　運航" in screen
        assert "第八条（運航の制限）" in screen
        assert "in force from 2026-04-01" in screen
        assert "▌ 第八条　渡し守は" in screen
        assert "▌ ２" not in screen
        assert "implemented by 2 · referred to by 1 · terms 4" in screen
        assert pane.spot == Spot(ACT, start, start + len(words), f"{ACT}#8.1")


async def test_three_references_are_followed_and_one_comes_back_to_each_as_it_was(
    reader, pane_of, until, shown
):
    app: Workbench = reader()
    async with app.run_test(size=(80, 24)) as pilot:
        pane = pane_of(pilot)
        await pane.jump("渡し舟法6条")
        left = []
        for number, there in (
            (1, "第四条（登録）"),
            (2, "第一条（登録の申請）"),
            (1, "第四条（登録）"),
        ):
            await until(pilot, lambda: pane.provision is not None)
            await pilot.press("down")
            left.append((top_line(pane), pane.page.scroll_offset.y))
            await follow(pilot, pane, number)
            await until(pilot, lambda there=there: there in shown(app).split("\n")[2])
        for key in ("backspace", "alt+left", "backspace"):
            wanted = left.pop()
            await pilot.press(key)
            await until(pilot, lambda w=wanted: (top_line(pane), pane.page.scroll_offset.y) == w)
        await until(pilot, lambda: "第六条（変更の届出）" in shown(app).split("\n")[2])
        await pilot.press("backspace", "alt+right")
        await until(pilot, lambda: "第四条（登録）" in shown(app).split("\n")[2])


async def follow(pilot: Pilot[None], pane: SourcePane, number: int) -> None:
    """Follow a reference of the provision that is read, counted from 1."""
    assert pane.spot is not None
    start = pane.spot.start
    while pane.page.chosen is None or pane.page.links[pane.page.chosen][0] < start:
        await pilot.press("right")
    await pilot.press(*["right"] * (number - 1), "enter")


async def test_a_link_is_followed_with_the_mouse(reader, pane_of, until, shown):
    app: Workbench = reader()
    async with app.run_test(size=(80, 24)) as pilot:
        pane = pane_of(pilot)
        await pane.jump("渡し舟法8条")
        await until(pilot, lambda: pane.page.links)
        row = next(y for y in range(20) if "政令で定める基準" in pane.page.render_line(y).text)
        column = pane.page.render_line(row).text.index("政令で定め")
        await pilot.click(DocumentPage, offset=(2 * column, row))
        await until(pilot, lambda: "施行令" in shown(app).split("\n")[1])
        await until(pilot, lambda: "第四条（運航の制限の基準）" in shown(app))
        assert pane.page.scroll_offset.y > 0


async def test_what_fills_a_provision_in_is_listed_first_and_opens(reader, pane_of, until, shown):
    app: Workbench = reader()
    async with app.run_test(size=(80, 24)) as pilot:
        pane = pane_of(pilot)
        await pane.jump("渡し舟法8条")
        await until(pilot, lambda: "implemented by 2" in shown(app))
        await pilot.press("r")
        await until(pilot, lambda: "施行令 第四条 第一項" in shown(app))
        # It stands before all other ties.
        ties = pane.query_one(Ties)
        rows = [str(option.prompt) for option in ties.options]
        assert rows[0] == "implemented by 2"
        assert (ties.highlighted, ties.scroll_offset.y) == (1, 0)
        await pilot.press("escape")
        assert "施行令 第四条 第一項" not in shown(app)
        await pilot.press("r", "enter")
        await until(pilot, lambda: "（運航の制限の基準）" in shown(app).split("\n")[2])
        assert pane.page.has_focus
        assert pane.spot is not None
        assert (pane.spot.document_id, pane.spot.passage_id) == (ORDER, f"{ORDER}#4.1")
        await pilot.press("backspace")
        await until(pilot, lambda: "第八条（運航の制限）" in shown(app).split("\n")[2])
        await pilot.press("alt+right")
        await pilot.resize_terminal(140, 40)
        await until(pilot, lambda: "refers to 1" in shown(app))
        await pane.jump("渡し舟法4条1項")
        await until(pilot, lambda: "referred to by 7" in shown(app))


async def test_what_is_told_of_the_place_before_does_not_move_what_is_opened(
    reader, pane_of, until, monkeypatch, text_of, held
):
    app: Workbench = reader()
    start = text_of(ORDER).index("平常時の水位")
    place = Spot(ORDER, start, start + 6, f"{ORDER}#4.1")
    wrapped = threading.Event()

    def wrap(*arguments):
        assert wrapped.wait(PATIENCE)
        return Layout(*arguments)

    async with app.run_test(size=(80, 24)) as pilot:
        pane = pane_of(pilot)
        await pane.jump("渡し舟法8条")
        await until(pilot, lambda: pane.provision)
        monkeypatch.setattr("localrag_tui.source.page.Layout", wrap)
        opening = asyncio.create_task(pane.open(place))
        await until(pilot, lambda: pane.spot == place)
        pane.page.post_message(DocumentPage.Scrolled())
        await pilot.pause()
        wrapped.set()
        await opening
        await until(pilot, lambda: pane.provision)
        assert pane.spot == place


async def test_long_kinds_of_ties_are_cut_and_the_rest_is_one_key_away(
    reader, pane_of, until, shown, monkeypatch
):
    monkeypatch.setattr("localrag_tui.source.ties._MOST", 2)
    app: Workbench = reader()
    async with app.run_test(size=(120, 40)) as pilot:
        pane = pane_of(pilot)
        await pane.jump("渡し舟法4条")
        await until(pilot, lambda: "and 6 more" in shown(app) or "more" in shown(app))
        ties = pane.query_one(Ties)
        before = ties.option_count
        ties.focus()
        ties.highlighted = next(
            n for n, option in enumerate(ties.options) if "more" in str(option.prompt)
        )
        await pilot.press("enter")
        assert ties.option_count > before
        assert pane.query_one(OptionList).has_focus
        # What was chosen is opened, though other ties are listed by then.
        place = pane.spot
        ties.highlighted = 1
        ties.action_select()
        ties.show({})
        await until(pilot, lambda: pane.spot != place)


async def test_words_are_found_as_they_are_typed(reader, pane_of, until, shown):
    app: Workbench = reader()
    async with app.run_test(size=(80, 24)) as pilot:
        pane = pane_of(pilot)
        await pane.jump("渡し舟法8条")
        await pilot.press("slash")
        pane.query_one(Input).value = "重大事故"
        await until(pilot, lambda: "1 / 3" in shown(app))
        assert marked(pane.page, "current") == "重大事故"
        await pilot.press("down")
        await until(pilot, lambda: "2 / 3" in shown(app))
        await pilot.press("up", "enter", "n", "n", "n", "N")
        await until(pilot, lambda: "3 / 3" in shown(app))
        assert pane.page.has_focus
        # After scrolling, from what is in view.
        await pilot.press("home", "n")
        await until(pilot, lambda: "1 / 3" in shown(app))
        await pilot.press("home", "N")
        await until(pilot, lambda: "3 / 3" in shown(app))
        await pilot.press("slash")
        pane.query_one(Input).value = "無い言葉"
        await until(pilot, lambda: "no match" in shown(app))
        await pilot.press("escape")
        await until(pilot, lambda: "no match" not in shown(app))
        assert marked(pane.page, "found") == ""
        assert pane.page.has_focus


async def test_a_quotation_a_selection_or_the_provision_is_copied_with_its_citation(
    reader, pane_of, until, text_of
):
    law = "渡し舟の安全及び活用に関する法律"
    words = "推進の方法"
    start = text_of(ACT).index(words)
    app: Workbench = reader()
    async with app.run_test(size=(80, 24)) as pilot:
        pane = pane_of(pilot)
        await read(pilot, pane, until, Spot(ACT, start, start + len(words)))
        await pilot.press("c")
        await until(pilot, lambda: app.clipboard)
        assert app.clipboard == f"「推進の方法」（{law}第4条第2項第3号ロ）"
        row = next(y for y in range(20) if "渡し場の位置" in pane.page.render_line(y).text)
        await pilot.mouse_down(DocumentPage, offset=(8, row))
        await pilot.hover(DocumentPage, offset=(14, row))
        await pilot.mouse_up(DocumentPage, offset=(14, row))
        await pilot.press("c")
        await until(pilot, lambda: "第4条第2項第2号" in app.clipboard)
        assert app.clipboard.startswith("「渡し場の")
        app.screen.clear_selection()
        await pane.jump("渡し舟法1条")
        await until(pilot, lambda: pane.provision)
        await pilot.press("c")
        await until(pilot, lambda: "（目的）" in app.clipboard)
        assert app.clipboard.endswith(f"寄与することを目的とする。」（{law}第1条）")


async def test_what_was_found_is_what_is_copied_and_read(reader, pane_of, until, shown):
    law = "渡し舟の安全及び活用に関する法律"
    app: Workbench = reader()
    async with app.run_test(size=(80, 24)) as pilot:
        pane = pane_of(pilot)
        await pane.jump("渡し舟法8条")
        await until(pilot, lambda: pane.provision)
        await pilot.press("slash")
        pane.query_one(Input).value = "掲示は"
        await until(pilot, lambda: "1 / 1" in shown(app))
        await pilot.press("enter", "C")
        await until(pilot, lambda: app.clipboard)
        paragraph = "３　前項の掲示は、国土交通省令で定める方法により行うものとする。"
        assert app.clipboard == f"「{paragraph}」（{law}第8条第3項）"
        await pilot.press("slash")
        pane.query_one(Input).value = "別表の上欄"
        await until(pilot, lambda: "1 / 1" in shown(app))
        # Both articles are in view: the one that was opened, and the one in which it was found.
        assert "第八条" in shown(app)
        await pilot.press("enter")
        await until(pilot, lambda: "第九条（乗客の数の限度）" in shown(app))
        await pilot.press("c")
        await until(pilot, lambda: app.clipboard.endswith(f"（{law}第9条）"))


async def test_another_width_keeps_the_place(reader, pane_of, until, shown):
    app: Workbench = reader()
    async with app.run_test(size=(80, 24)) as pilot:
        pane = pane_of(pilot)
        await pane.jump("渡し舟法10条")
        await pilot.press("down", "down")
        await pilot.pause()
        top = pane.page.top
        for width in (141, 43, 60, 33, 80):
            await pilot.resize_terminal(width, 24)
            await pilot.pause(0.05)
            assert pane.page.top == top
        await until(pilot, lambda: "第十条（重大事故の報告）" in shown(app))


async def test_scrolling_tells_which_provision_is_read(reader, pane_of, until, shown):
    app: Workbench = reader()
    async with app.run_test(size=(80, 24)) as pilot:
        pane = pane_of(pilot)
        await pane.jump("渡し舟法1条")
        await pilot.press("end")
        await until(pilot, lambda: "別表（第九条関係）" in shown(app).split("\n")[2])
        await until(pilot, lambda: pane.provision is not None)
        assert pane.spot is not None
        assert pane.spot.passage_id == f"{ACT}#appendix1/"
        await pilot.press("home")
        await until(pilot, lambda: "第一条（目的）" in shown(app).split("\n")[2])


async def test_text_never_acts_on_the_terminal_nor_is_it_markup(
    reader, pane_of, enter, until, shown
):
    enter("evil", HOSTILE, title="[b]T\x1b]0;x\x07[/b]")
    app: Workbench = reader()
    async with app.run_test(size=(80, 24)) as pilot:
        pane = pane_of(pilot)
        await read(pilot, pane, until, Spot("evil", 5, 8))
        screen = shown(app)
        assert "[red]渡し舟[/red] ␛[2J␀\N{REPLACEMENT CHARACTER}evil" in screen
        assert "[b]T␛]0;x␇[/b]" in screen
        assert not set(screen) & set("\x1b\x00\u202e\u2066\t\r\x07")
        await pilot.press("c")
        await until(pilot, lambda: app.clipboard)
        assert app.clipboard.startswith("「渡し舟」")


async def test_empty_and_huge_documents_open(reader, pane_of, enter, until, shown):
    enter("empty", "")
    enter("huge", "渡し舟 boat " * 80_000 + "終わり")
    app: Workbench = reader()
    async with app.run_test(size=(80, 24)) as pilot:
        pane = pane_of(pilot)
        await pane.open(Spot("empty"))
        await until(pilot, lambda: "A text" in shown(app))
        await pilot.press("down", "right", "enter", "c", "r", "slash", "x", "escape")
        await pane.open(Spot("huge", 0, 3))
        await until(pilot, lambda: "渡し舟 boat" in shown(app))
        await pilot.press("escape", "end")
        await until(pilot, lambda: "終わり" in shown(app))
        await pane.open(Spot("huge", 10**9, 10**9 + 5))
        await until(pilot, lambda: "終わり" in shown(app))


async def test_triples_and_pages_are_read_too(reader, pane_of, until, shown):
    app: Workbench = reader()
    async with app.run_test(size=(120, 30)) as pilot:
        pane = pane_of(pilot)
        await pane.jump("かわせみ丸")
        await until(pilot, lambda: "also known 3" in shown(app))
        await until(pilot, lambda: "建造年: 2009年" in shown(app))
        await pilot.press("r", "down", "enter")
        await until(pilot, lambda: pane.spot and pane.spot.passage_id.endswith("#3"))
        await read(pilot, pane, until, Spot("pages/ada-fennimore.md", 0, 0))
        await until(pilot, lambda: "nothing is tied to it" in shown(app))
        await until(pilot, lambda: "Ada Fennimore" in shown(app).split("\n")[1])


async def test_what_is_not_there_is_told_and_what_was_read_stays(
    reader, pane_of, until, shown, bench_home
):
    app: Workbench = reader()
    async with app.run_test(size=(100, 30)) as pilot:
        pane = pane_of(pilot)
        await pane.jump("渡し舟法2条")
        await pane.jump("渡し舟法99条")
        await until(pilot, lambda: "渡し舟法99条" in shown(app))
        await until(pilot, lambda: "第二条　この法律" in shown(app))
        await pane.open(Spot("gone#[red]", 3, 5))
        await until(pilot, lambda: "The corpus has no document 'gone#[red]'" in shown(app))
        await pane.open(Spot(ACT, 40, 50, f"{ACT}#77"))
        await until(pilot, lambda: f"The corpus has no {ACT}#77 any more." in shown(app))
        await pane.open(Spot(ACT, 40, 50))
        await until(pilot, lambda: "any more" not in shown(app))
        await pane.jump("渡し舟法施行令3条")
        await until(pilot, lambda: pane.page.links)
        with CorpusStore.open(store_path(bench_home)) as store:
            store.remove(ACT)
        await pane.open(Spot(ACT, 40, 50))
        await until(pilot, lambda: f"The corpus has no document '{ACT}'" in shown(app))
        await until(pilot, lambda: "第三条（渡し守の資格）" in shown(app))
        # A way back that fails is not gone.
        for _ in range(5):
            await pane.action_step(-1)
        await until(pilot, lambda: "第三条（渡し守の資格）" in shown(app))
        assert pane.check_action("step", (-1,))
        assert not pane.check_action("step", (1,))


async def test_a_law_outside_the_corpus_is_named(reader, pane_of, until, shown, bench_home):
    with CorpusStore.open(store_path(bench_home)) as store:
        (key,) = (key for key in store.law_states() if store.read(key).id == ACT)
        store.replace_links([(key, _without(store, ACT), [])], everything=True)
    app: Workbench = reader()
    async with app.run_test(size=(120, 30)) as pilot:
        pane = pane_of(pilot)
        await pane.jump("渡し舟法8条")
        await until(pilot, lambda: pane.page.links)
        await follow(pilot, pane, 1)
        await until(pilot, lambda: "政令 is not in this corpus." in shown(app))
        await until(pilot, lambda: "Add documents" in shown(app))
        await until(pilot, lambda: "not in this corpus)" in shown(app))


async def test_a_workspace_without_a_corpus_says_so(
    reader, pane_of, until, shown, bench_home: Path
):
    shutil.rmtree(bench_home / "corpora")
    app: Workbench = reader()
    async with app.run_test(size=(80, 24)) as pilot:
        pane = pane_of(pilot)
        await pane.open(Spot(ACT))
        await until(pilot, lambda: "corpus" in shown(app))
        await pilot.press("slash", "n", "c", "r", "backspace", "right", "enter", "escape")
        assert pane.page.sheet is None


def _without(store, document_id):
    """References of a document, as if nothing but it were in the corpus."""

    from localrag.corpus.links import ReferenceRow
    from localrag.corpus.types import Locator

    return [
        ReferenceRow.of(of if of.law_id == document_id else replace(of, law_id=""))
        for of in store.references_from(document_id, Locator())
    ]


async def test_what_was_opened_is_read_though_the_page_grows_beyond_its_end(
    reader, pane_of, until, shown
):
    app: Workbench = reader()
    async with app.run_test(size=(80, 24)) as pilot:
        pane = pane_of(pilot)
        await pane.jump("渡し舟法施行令3条")
        await until(pilot, lambda: pane.provision)
        opened = pane.spot
        for height in (30, 36, 60):
            await pilot.resize_terminal(80, height)
            await until(pilot, lambda tall=height: pane.page.size.height > tall - 12)
            # What is in view is told a few times a second.
            await pilot.pause(0.2)
            assert pane.spot == opened
            await until(pilot, lambda: "第三条（渡し守の資格）" in shown(app).split("\n")[2])


async def test_what_is_only_looked_at_is_not_gone_back_to(reader, pane_of, until, shown):
    app: Workbench = reader()
    async with app.run_test(size=(80, 24)) as pilot:
        pane = pane_of(pilot)
        for number in (1, 2, 8):
            await pane.open(Spot(ORDER, number, number), preview=True)
        assert not pane.check_action("step", (-1,))
        await pane.jump("渡し舟法8条")
        await pane.open(Spot(ORDER, 20, 20), preview=True)
        await pane.open(Spot(ORDER, 30, 30), preview=True)
        await pilot.press("backspace")
        await until(pilot, lambda: "第八条（運航の制限）" in shown(app))
        await pilot.press("backspace")
        await until(pilot, lambda: pane.spot == Spot(ORDER, 8, 8))
        assert not pane.check_action("step", (-1,))
        pane.clear()
        await until(pilot, lambda: "Nothing is open yet" in shown(app))
        assert "渡し舟" not in shown(app)
        assert pane.spot is None
        await pilot.press("down", "right", "enter", "c", "backspace", "alt+right", "slash", "r")
        await pane.jump("渡し舟法8条")
        await until(pilot, lambda: "第八条（運航の制限）" in shown(app))
        assert not pane.check_action("step", (-1,))


async def test_a_pane_may_be_closed_while_it_looks_something_up(reader, pane_of, until):
    app: Workbench = reader()
    async with app.run_test(size=(80, 24)) as pilot:
        pane = pane_of(pilot)
        await pane.jump("渡し舟法8条")
        pane.action_ties()
        await pilot.press("enter")
        opening = asyncio.create_task(pane.open(Spot(ORDER)))
        await pane.remove()
        await opening
        await app.library.read(lambda _: None)
        await pilot.pause()
        assert not pane.is_attached
        assert app.is_running


async def test_one_goes_back_into_another_corpus_and_on_from_there(
    reader, pane_of, until, shown, bench_home: Path, enter
):
    shutil.copytree(bench_home / "corpora" / "main", bench_home / "corpora" / "other")
    enter("only-in-main", "灯台は岬に立つ。")
    app: Workbench = reader()
    async with app.run_test(size=(80, 24)) as pilot:
        pane = pane_of(pilot)
        pane.library = app.library_of("main")
        await read(pilot, pane, until, Spot("only-in-main"))
        pane.library = app.library_of("other")
        await read(pilot, pane, until, Spot(ACT))
        await pilot.press("backspace")
        await until(pilot, lambda: "灯台は岬に立つ。" in shown(app))
        await pilot.press("alt+right")
        await until(pilot, lambda: pane.spot == Spot(ACT))
        assert "灯台" not in shown(app)


async def test_what_changed_in_an_article_stands_side_by_side(
    reader, pane_of, until, shown, earlier_state
):
    app: Workbench = reader(language="ja")
    async with app.run_test(size=(80, 24)) as pilot:
        pane = pane_of(pilot)
        await pane.jump("渡し舟法8条")
        await until(pilot, lambda: "2026-04-01 施行" in shown(app))
        await pilot.press("h")
        await until(pilot, lambda: "（このコーパスで最後の時点）  改正" in shown(app))
        lines = shown(app).splitlines()
        side = next(line for line in lines if "水位が政令で" in line)
        assert "水位又は風速" in side
        assert any("2020-04-01 – 2026-04-01" in line for line in lines)
        await pilot.press("c")
        await until(pilot, lambda: "+ 第八条" in app.clipboard)
        assert "- 第八条　渡し守は、水位が政令で定めた基準" in app.clipboard
        await pilot.press("escape")
        await pane.jump("渡し舟法施行令4条")
        await until(pilot, lambda: "第四条" in shown(app))
        await pilot.press("h")
        await until(pilot, lambda: "一つの時点だけ" in shown(app))
