"""A question on its way: the screen is rebuilt, keys come twice, the disk is full."""

import asyncio

from textual.widgets import Static

from localrag.errors import StoreError
from localrag.ops.conversations.store import Conversations
from localrag.ops.conversations.types import TurnState
from localrag.search.types import Query
from localrag_tui.ask.composer import QuestionArea
from localrag_tui.ask.transcript import Transcript, TurnView
from localrag_tui.work.engine import Drafted


def title(app) -> str:
    named = app.screen.query_one("#title", Static)
    return str(named.content) if named.display else ""


async def test_an_answer_finds_its_turn_again(
    workbench, engine, answers, ask, until, shown, bench_home
):
    """The conversation is shown anew, renamed and left while its answer is made."""
    end, other = asyncio.Event(), asyncio.Event()
    engine.will(Drafted(("half a claim",), 3), end, answers.supported)
    engine.will(other, answers.not_found)
    app = workbench()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await ask(pilot, "how high?", ends=False)
        screen = app.screen
        first = app.memory.choices.conversation
        # The title would only repeat the question.
        assert title(app) == ""
        await pilot.press("ctrl+r")
        await until(pilot, lambda: app.screen is not screen)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        await app.conversations.do(lambda kept: kept.rename(first, "Levels"))
        screen._show_conversation()
        await until(pilot, lambda: title(app) == "Levels")
        await until(pilot, lambda: "half a claim" in shown(app))
        end.set()
        await until(pilot, lambda: "supported: every claim is in" in shown(app))
        assert "half a claim" not in shown(app)
        # An answer to what is not in view changes nothing of what is.
        await pilot.press("ctrl+n")
        await ask(pilot, "how deep?", ends=False)
        assert title(app) == ""
        screen._go_on_with(first)
        await until(pilot, lambda: "1,204 read" in shown(app))
        other.set()
        await until(pilot, lambda: screen._asking.turn.state is TurnState.ANSWERED)
        await pilot.pause()
        await until(pilot, lambda: "1,204 read" in shown(app))
        assert len(screen.query(TurnView)) == 1
        screen._go_on_with(screen._asking.turn.conversation)
        await until(pilot, lambda: "not found" in shown(app))
        assert title(app) == ""


async def test_enter_pressed_often_asks_once(workbench, engine, answers, until, kept, shown):
    engine.will(answers.supported)
    app = workbench()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        # Keys wait until the screen is ready for them.
        await app.screen.ready.wait()
        question = app.screen.query_one(QuestionArea)
        question.put("how high?")
        for _ in range(4):
            question.action_ask()
        await until(pilot, lambda: "supported: every claim is in" in shown(app))
        # What is typed meanwhile is not taken away by the question before.
        question.put("next")
        app.screen.query_one("Composer").sent(Query("how high?"))
        assert question.text == "next"
    assert len(engine.asked) == 1
    assert kept.list()[0].turns == 1


async def test_a_draft_that_cannot_be_written_is_told_once(
    workbench, engine, answers, ask, until, shown, monkeypatch
):
    tried = []

    def fail(self, turn, claims):
        tried.append(claims)
        raise StoreError("The disk is full.", "Free some space.")

    monkeypatch.setattr(Conversations, "draft", fail)
    engine.will(Drafted(("half a claim",), 3), asyncio.Event())
    app = workbench()
    told = []
    monkeypatch.setattr(app, "tell", told.append)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await ask(pilot, "how high?", ends=False)
        await until(pilot, lambda: "half a claim" in shown(app))
        for count in (1, 2):
            app.screen._keep_draft()
            await until(pilot, lambda count=count: len(tried) >= count)
        await pilot.press("escape")
        await until(pilot, lambda: "cancelled" in shown(app))
    assert [error.cause for error in told] == ["The disk is full."]


async def test_a_new_answer_is_seen_from_its_beginning(
    workbench, engine, answers, ask, until, shown
):
    for _ in range(3):
        engine.will(answers.rejected)
    app = workbench()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        for number in range(3):
            await ask(pilot, f"question {number}?")
            await until(pilot, lambda: "unsupported: an answer was made" in shown(app))
        await until(pilot, lambda: "question 2?" in shown(app))
        rows = shown(app).split("\n")
        at = next(at for at, row in enumerate(rows) if "question 2?" in row)
        assert "unsupported" in rows[at + 2]
        # Pages are those of the conversation, from the question as well.
        transcript = app.screen.query_one(Transcript)
        await pilot.press("pageup")
        await until(pilot, lambda: "question 1?" in shown(app))
        there = transcript.scroll_y
        await pilot.press("pagedown")
        await until(pilot, lambda: transcript.scroll_y > there)
        # A question of many rows leaves the beginning of its answer in view.
        engine.will(answers.supported)
        await ask(pilot, "\n".join(f"row {number}" for number in range(30)))
        await until(pilot, lambda: "supported: every claim is in" in shown(app))
