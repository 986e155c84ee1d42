"""Asking on the Ask screen: what comes back, and what can be done with it."""

import asyncio
import shutil
from dataclasses import replace

import pytest
from textual.events import Paste

from localrag.answer.checking import MismatchKind
from localrag.answer.types import Nearest
from localrag.answer.wording import MISMATCHES
from localrag.errors import LocalragError
from localrag.ops.conversations.types import Turn, TurnState
from localrag.page.blocks import PassageLink
from localrag.search.types import Filters, Query, Trace
from localrag.text.facts import Fact, FactKind
from localrag_tui.app import Workbench
from localrag_tui.ask.composer import Composer, QuestionArea
from localrag_tui.ask.evidence import SourceSide
from localrag_tui.ask.pieces import pieces
from localrag_tui.ask.transcript import PieceView, Transcript, TurnView
from localrag_tui.search.filters import FilterDialogue
from localrag_tui.shell.form import Form
from localrag_tui.source.pane import SourcePane
from localrag_tui.work.engine import (
    Drafted,
    Engine,
    ModelOpened,
    NearestFound,
    Opening,
    Read,
    StageEnded,
)

from ...patience import PATIENCE

LAW = "渡し舟の安全及び活用に関する法律"


async def test_the_real_engine_answers_with_quotations(workbench, until, shown, ask, kept):
    app = workbench("ja", engine=Engine())
    async with app.run_test(size=(140, 40), notifications=True) as pilot:
        await ask(pilot, "渡し舟を運航してはならない水位の基準は何か。")
        await until(pilot, lambda: "引用のみ：最も近い箇所の原文" in shown(app))
        await until(pilot, lambda: "施行令 第四条 第一項" in shown(app))
        await until(pilot, lambda: app.screen.query_one(SourcePane).spot is not None)
        await pilot.press("tab", "2")
        pane = app.screen.query_one(SourcePane)
        await until(pilot, lambda: app.focused is pane.page)
        await until(pilot, lambda: pane.spot.document_id == "599CO0000000002")
        spot = pane.spot
        assert spot.end > spot.start
    [turn] = kept.turns(kept.list()[0].id)
    assert turn.state is TurnState.ANSWERED
    quoted = {citation.passage_id.partition("#")[0] for citation in turn.answer.citations}
    assert quoted == {"599AC0000000001", "599CO0000000002"}


@pytest.mark.parametrize("how", ["fill", "close"])
async def test_a_disk_without_room_is_read_from(
    workbench, until, shown, ask, kept, bench_home, small_disk, how
):
    earlier = kept.new("earlier")
    home = small_disk.folder / "home"
    shutil.copytree(bench_home, home)
    getattr(small_disk, how)()
    app = workbench("en", engine=Engine(), home=home)
    async with app.run_test(size=(140, 40), notifications=True) as pilot:
        await ask(pilot, "渡し舟を運航してはならない水位の基準は何か。")
        await until(pilot, lambda: "施行令 第四条 第一項" in shown(app))
        found = await app.conversations.do(lambda kept: [one.title for one in kept.list()])
        assert found == [earlier.title]
        if how == "fill":
            small_disk.make_room()
            await app.conversations.do(lambda kept: kept.rename(earlier.id, "later"))


async def test_what_is_told_while_an_answer_is_made(
    workbench, engine, answers, ask, until, shown, told
):
    loading, half, asked, reading, writing, end = (asyncio.Event() for _ in range(6))
    stages = [StageEnded(record) for record in answers.stages]
    draft = Drafted(("水位は[red]…",), 12)
    opened = ModelOpened("tiny", 1.0)
    engine.will(
        *(*stages, Opening("tiny"), loading, Opening("tiny", 9 * 10**8, 18 * 10**8), half, opened),
        *(Read(0, 0), asked, Read(512, 2048), reading, draft, writing, end, answers.supported),
    )
    app = workbench()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await ask(pilot, "how high?", ends=False)
        await until(pilot, lambda: "loading tiny" in shown(app))
        await until(pilot, lambda: "citations 2 · words 2" in shown(app))
        loading.set()
        await until(pilot, lambda: "loading tiny: 50% of 1.8 GB …" in shown(app))
        half.set()
        await until(pilot, lambda: "the model is reading …" in shown(app))
        asked.set()
        await until(pilot, lambda: "the model has read 512 of 2,048 tokens …" in shown(app))
        reading.set()
        await until(pilot, lambda: "水位は[red]…" in shown(app))
        await until(pilot, lambda: "unchecked:" in shown(app))
        await until(pilot, lambda: "12 written" in shown(app))
        assert "loading" not in shown(app)
        assert "has read" not in shown(app)
        writing.set()
        await ask_again_is_refused(app, pilot, until, told)
        end.set()
        await until(pilot, lambda: "supported: every claim is in" in shown(app))
        await until(pilot, lambda: "1,204 read (812 reused) · 96 written" in shown(app))
        text = shown(app)
    assert "unchecked" not in text
    assert "基準を超えるときは運航できない。 [1]" in text
    assert "a stage left [red]this out" in text


async def ask_again_is_refused(app, pilot, until, told):
    await pilot.press(*"next", "enter")
    await until(pilot, lambda: "An answer is being made" in told(app))
    assert app.screen.query_one(QuestionArea).text == "next"


async def test_cancelled_in_the_middle(workbench, engine, answers, ask, until, shown, kept):
    draft = Drafted(("half a claim",), 3)
    near = (Nearest("599AC0000000001#7", "渡し舟法 第七条", "渡し舟事業者は、…"),)
    reading, writing = asyncio.Event(), asyncio.Event()
    engine.will(NearestFound(near), Read(0, 0), reading, draft, writing).will(answers.not_found)
    app = workbench()
    async with app.run_test(size=(140, 40), notifications=True) as pilot:
        await ask(pilot, "how high?", ends=False)
        await until(pilot, lambda: "the model is reading" in shown(app))
        await until(pilot, lambda: "第七条  渡し舟事業者は、…" in shown(app))
        reading.set()
        await until(pilot, lambda: "half a claim" in shown(app))
        await pilot.press("escape")
        await until(pilot, lambda: "cancelled" in shown(app))
        await until(pilot, lambda: "unchecked:" in shown(app))
        await until(pilot, lambda: "half a claim" in shown(app))
        await until(pilot, lambda: "Nearest in this corpus; they may not answer" in shown(app))
        await pilot.press("tab", "up", "enter")
        spot = app.screen.query_one(SourcePane)
        await until(pilot, lambda: spot.spot and spot.spot.passage_id == near[0].passage_id)
        assert engine.cancelled == 1
        app.screen.query_one(QuestionArea).focus()
        await ask(pilot, "and how deep?")
        await until(pilot, lambda: "not found" in shown(app))
    first, second = kept.turns(kept.list()[0].id)
    assert (first.state, first.draft) == (TurnState.CANCELLED, ("half a claim",))
    assert first.nearest == near
    assert second.state is TurnState.ANSWERED


async def test_an_error_stands_in_the_turn(workbench, engine, answers, ask, shown, kept):
    engine.will(Drafted(("a start",), 1), LocalragError("It [red]broke.", "Mend \x1b[2Jit."))
    engine.will(answers.not_found)
    app = workbench()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await ask(pilot, "how high?")
        await ask(pilot, "how deep?")
        assert "failed  It [red]broke." in shown(app)
        assert "Mend ␛[2Jit." in shown(app)
        assert "a start" in shown(app)
    assert [turn.cause for turn in kept.turns(kept.list()[0].id)] == ["It [red]broke.", ""]


async def test_rejected_quotations_and_nothing_found(
    workbench, engine, answers, ask, until, shown, told
):
    engine.will(answers.rejected).will(answers.not_found)
    app = workbench()
    async with app.run_test(size=(140, 40), notifications=True) as pilot:
        await ask(pilot, "how high?")
        await until(
            pilot, lambda: "unsupported: an answer was made, but the cited text" in shown(app)
        )
        await until(pilot, lambda: "[2] rejected: " in shown(app))
        await until(pilot, lambda: "(the quotation is not in" in shown(app))
        await until(pilot, lambda: "code chose these sentences: " in shown(app))
        assert "  this figure is not in the cited text: 二百メートル" in shown(app)
        await until(pilot, lambda: "  in force from 2026-04-01" in shown(app))
        await until(pilot, lambda: app.screen.query_one(SourcePane).spot is not None)
        await ask(pilot, "how deep?")
        await until(
            pilot, lambda: "not found: the model finds no answer in the 2 passages" in shown(app)
        )
        # Not the source of the answer before stands beside it, but what the search came nearest in.
        await until(pilot, lambda: "came nearest in:" in shown(app))
        cited = app.screen.query_one("#citations")
        assert cited.highlighted == 1
        spot = app.screen.query_one(SourcePane)
        [nearest, *_] = answers.not_found.trace.stages[-1].hits
        await until(pilot, lambda: spot.spot and spot.spot.passage_id == nearest.passage.id)
        await pilot.press("tab", "2")
        await until(pilot, lambda: cited.highlighted == 2)
        await until(pilot, lambda: app.focused is spot.page)
        await pilot.press("shift+tab", "shift+tab")
        app.screen.query_one(QuestionArea).focus()
        # Up and down go from claim to claim, and the evidence with them.
        await pilot.press("tab", "up")
        await until(pilot, lambda: app.screen.query_one("#citations").highlighted == 1)
        await pilot.press("c")
        await until(pilot, lambda: "it is not in its source" in told(app))
        await pilot.press("9")
        await until(pilot, lambda: "There is no citation 9." in told(app))


async def test_below_the_name_of_an_absent_law_no_hit_passes_for_an_answer(
    workbench, engine, answers, ask, until, shown
):
    engine.will(replace(answers.not_found, absent=("会社法",)))
    app = workbench()
    async with app.run_test(size=(140, 40)) as pilot:
        await ask(pilot, "how high?")
        await until(pilot, lambda: "not in this corpus: 会社法" in shown(app))
        await until(pilot, lambda: "Nothing is cited. The search hits list" in shown(app))
        assert "came nearest in" not in shown(app)


async def test_the_nearest_passages_are_listed_and_opened(
    workbench, engine, answers, ask, until, shown, kept
):
    hits = [hit.passage for hit in answers.stages[0].hits]
    near = tuple(Nearest(one.id, one.header, "渡し守は\u202e、…") for one in hits)
    engine.will(replace(answers.not_found, nearest=near))
    engine.will(replace(answers.supported, nearest=near))
    app = workbench()
    head = "Nearest in this corpus; they may not answer"
    async with app.run_test(size=(140, 40)) as pilot:
        await ask(pilot, "how high?")
        await until(pilot, lambda: head in shown(app))
        assert "<U+202E>" in shown(app)
        assert "The nearest places found are in the evidence." not in shown(app)
        pane = app.screen.query_one(SourcePane)
        at = PassageLink(hits[1].header, hits[1].id)
        second = next(view for view in app.screen.query(PieceView) if view.piece.near == at)
        await pilot.click(second, offset=(3, 0))
        await until(pilot, lambda: app.focused is pane.page)
        assert pane.spot.passage_id == hits[1].id
        app.screen.query_one(QuestionArea).focus()
        await pilot.press("tab", "down", "enter")
        await until(pilot, lambda: pane.spot.passage_id == hits[0].id)
        app.screen.query_one(QuestionArea).focus()
        await ask(pilot, "how deep?")
        await until(pilot, lambda: "supported" in shown(app))
        assert shown(app).count("they may not answer") == 1, "the evidence has those of this one"
    first, second = (turn.answer for turn in kept.turns(kept.list()[0].id))
    assert first.nearest == second.nearest == near


async def test_nothing_found_at_all_leaves_no_source(workbench, engine, answers, ask, until, shown):
    engine.will(answers.supported).will(replace(answers.not_found, trace=Trace()))
    app = workbench()
    async with app.run_test(size=(140, 40)) as pilot:
        await ask(pilot, "how high?")
        pane = app.screen.query_one(SourcePane)
        await until(pilot, lambda: pane.spot is not None)
        await ask(pilot, "how deep?")
        await until(pilot, lambda: pane.spot is None)
        citations = app.screen.query_one("#citations")
        assert citations.get_option_at_index(0).disabled
        assert "Nothing is cited, and nothing was found." in shown(app)


async def test_a_new_conversation_has_nothing_of_the_one_before(
    workbench, engine, answers, ask, until, shown, told, kept
):
    gate = asyncio.Event()
    engine.will(answers.supported).will(gate, answers.not_found)
    app = workbench("ja")
    async with app.run_test(size=(140, 40), notifications=True) as pilot:
        await ask(pilot, "how high?")
        pane = app.screen.query_one(SourcePane)
        await until(pilot, lambda: pane.spot is not None)
        # Its conversation is deleted while its source is read: nobody asks for it any more.
        await pilot.press("tab", "1")
        await until(pilot, lambda: app.focused is pane.page)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "how high?" in shown(app) and "今日" in shown(app))
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, Form))
        assert "Enter キャンセル" in shown(app)
        await pilot.press("tab")
        await until(pilot, lambda: "Enter 決定" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(app.screen, Form))
        assert kept.list() == []
        await pilot.press("escape")
        await until(pilot, lambda: app.screen.has_class("-empty"))
        assert app.focused is app.screen.query_one(Composer).question
        assert told(app) == ""
        await ask(pilot, "how deep?", ends=False)
        assert pane.spot is None
        assert app.screen.query_one("#citations").option_count == 0
        gate.set()
        await until(pilot, lambda: "回答なし" in shown(app) or "見つ" in shown(app))


async def test_the_prompt_says_how_to_reach_the_sources(
    workbench, engine, answers, ask, until, shown
):
    engine.will(answers.supported)
    app = workbench("ja")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "文書" in shown(app))
        assert "Tab" not in shown(app).rstrip().split("\n")[-1]
        await ask(pilot, "how high?")
        await until(pilot, lambda: "Tab 回答へ(1-9)" in shown(app))
        await pilot.press("tab", "1")
        await until(pilot, lambda: app.focused is app.screen.query_one(SourcePane).page)


async def test_a_provision_gone_to_is_not_covered_by_the_first_citation(
    workbench, engine, answers, ask, until, shown, monkeypatch
):
    monkeypatch.setattr("localrag_tui.ask.evidence._PAUSE", 0.0)
    engine.will(answers.supported)
    app = workbench()
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "documents" in shown(app))
        await ask(pilot, "how high?")
        side = app.screen.query_one(SourceSide)
        await until(pilot, lambda: side.evidence.current is not None)
        assert not side.display, "the sources are not in view yet"
        await pilot.press("ctrl+g")
        await pilot.press(*"渡し舟法2条")
        await until(pilot, lambda: "第二条" in shown(app))
        await pilot.press("enter")
        page = app.screen.query_one(SourcePane).page
        await until(pilot, lambda: page.has_focus)
        for _ in range(5):
            await pilot.pause()
        assert "第二条" in shown(app)


async def test_questions_are_limited_to_a_law(
    workbench, engine, answers, ask, until, shown, bench_home
):
    engine.will(answers.supported).will(answers.supported).will(answers.supported)
    app = workbench("ja")
    limited = Filters(documents=("599AC0000000001",))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "文書" in shown(app))
        await pilot.press("ctrl+l")
        await until(pilot, lambda: isinstance(app.screen, FilterDialogue))
        await pilot.press(*"渡し舟法")
        await until(pilot, lambda: LAW in shown(app))
        await pilot.press("enter", "ctrl+s")
        await until(pilot, lambda: f"限定：{LAW}" in shown(app))
        await ask(pilot, "how high?")
        assert engine.asked[0][2].filters == limited
        # Below the question stands what it was limited to; the limit holds until it is lifted.
        await until(pilot, lambda: shown(app).count("限定：渡し舟") == 2)
        assert app.screen.query_one(QuestionArea).text == ""
    again = workbench("ja")
    async with again.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: shown(again).count("限定：渡し舟") == 2)
        await pilot.press("tab", "a")
        await until(pilot, lambda: len(engine.asked) == 2)
        assert engine.asked[1][2].filters == limited
        await until(pilot, lambda: again.screen.query(TurnView).last().progress is None)
        await pilot.press("ctrl+l")
        await until(pilot, lambda: isinstance(again.screen, FilterDialogue))
        # Lifting the limit is all there is to do.
        again.screen.query_one("#clear").press()
        await until(pilot, lambda: not isinstance(again.screen, FilterDialogue))
        await until(pilot, lambda: again.memory.choices.asked_of == Filters())
        again.screen.query_one(QuestionArea).focus()
        await ask(pilot, "how deep?")
        assert engine.asked[2][2].filters == Filters()


async def test_a_law_that_the_corpus_lacks_is_told_once(
    workbench, engine, answers, ask, until, shown
):
    lacking = Fact(FactKind.NO_SUCH_LAW, name="会社法")
    stage = replace(answers.stages[0], events=(lacking,))
    engine.will(replace(answers.beside, trace=Trace((stage,))))
    app = workbench("ja")
    async with app.run_test(size=(80, 24)) as pilot:
        await ask(pilot, "how high?")
        await until(pilot, lambda: "会社法" in shown(app))
        assert shown(app).count("会社法") == 1


async def test_under_a_limit_nothing_is_said_of_the_rest_of_the_corpus(
    workbench, engine, answers, ask, until, shown
):
    engine.will(replace(answers.not_found, trace=Trace()))
    app = workbench("ja")
    app.memory.remember(asked_of=Filters(documents=("599AC0000000001",)))
    async with app.run_test(size=(80, 24)) as pilot:
        await ask(pilot, "how high?")
        await until(pilot, lambda: "回答の根拠になるもの" in shown(app))
        text = "".join(shown(app).split())
        assert "該当なし：絞り込んだ法令には、回答の根拠になるものがありません" in text
        assert "Ctrl+L→Ctrl+Xで絞り込みを解除できます" in text
        await pilot.press("ctrl+l")
        # The key and the button are called alike.
        await until(pilot, lambda: shown(app).count("この条件を使う") == 2)
        await pilot.press("ctrl+x")
        await until(pilot, lambda: not isinstance(app.screen, FilterDialogue))
        assert app.memory.choices.asked_of == Filters()


async def test_what_was_sent_is_written_down_before_the_end(
    workbench, engine, answers, until, kept
):
    engine.will(asyncio.Event(), answers.supported)
    app = workbench()
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.screen.query("#question"))
        app.post_message(Paste("how high?"))
        await pilot.pause()
        # Both keys before anything else is done.
        app.simulate_key("enter")
        app.simulate_key("ctrl+q")
        await until(pilot, lambda: not app.is_running)
    (talk,) = kept.list()
    (turn,) = kept.turns(talk.id)
    assert turn.query.text == "how high?"
    assert not list(app.workspace.home.glob("tui-unsent/*.json"))


async def test_a_law_that_is_lacking_is_told_first(workbench, engine, answers, ask, shown):
    engine.will(answers.beside)
    app = workbench()
    async with app.run_test(size=(140, 40)) as pilot:
        await ask(pilot, "会社法の基準は？")
        rows = [row.strip() for row in shown(app).split("\n")]
        first = next(at for at, row in enumerate(rows) if "not in this corpus: 会社法" in row)
        quoted = next(at for at, row in enumerate(rows) if "quoted: the closest passages" in row)
        assert first < quoted
        text = "".join(piece.content.plain for piece in pieces(app.screen.query_one(TurnView).turn))
        assert "in force from 2026-04-01 · of a law not named in the question" in text


def test_a_thought_is_folded(answers):
    supported = answers.supported
    call = replace(supported.trace.calls[0], thought=300, thinking="まず\n" + "考える。" * 100)
    answer = replace(supported, trace=replace(supported.trace, calls=(call,)))
    turn = Turn(
        1, 1, Query("水位"), "main", "", "tiny", "2026-11-29", TurnState.ANSWERED, answer=answer
    )
    shown = [piece.content.plain for piece in pieces(turn)]
    (thought,) = (text for text in shown if "考える" in text)
    assert thought.startswith("thought (300 tokens): まず 考える。")
    assert len(thought) < 200


def test_every_mismatch_has_words():
    assert MISMATCHES.keys() >= set(MismatchKind)


async def test_a_claim_is_copied_with_its_legal_citation(workbench, engine, answers, ask, until):
    engine.will(answers.supported)
    app = workbench()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await ask(pilot, "how high?")
        await pilot.press("tab", "down", "down", "c")
        await until(pilot, lambda: app.clipboard)
        assert app.clipboard.startswith("「平常時の水位に一・五メートルを加えた高さ」（")
        assert "第4条第1項" in app.clipboard


async def test_on_a_narrow_screen_the_source_lies_over_the_answer(
    workbench, engine, answers, ask, until
):
    engine.will(answers.supported)
    app = workbench()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await ask(pilot, "how high?")
        pane = app.screen.query_one(SourcePane)
        assert not pane.region
        await pilot.press("tab", "1")
        await until(pilot, lambda: app.focused is app.screen.query_one(SourcePane).page)
        assert app.screen.query_one(SourcePane).region
        await pilot.press("escape")
        await until(pilot, lambda: app.focused is app.screen.query_one(Transcript))
        assert not app.screen.query_one(SourcePane).region
        # What the retrieval has found can be opened too.
        await pilot.press("e")
        await pilot.pause()
        await pilot.press("right")
        await pilot.pause()
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.focused is app.screen.query_one(SourcePane).page)
        await until(pilot, lambda: pane.spot and pane.spot.document_id == "599AC0000000001")


async def test_a_derivation_and_a_choice(workbench, engine, answers, ask, shown, until, told):
    engine.will(answers.derived).will(answers.chosen)
    app = workbench(method="statute-lexical")
    async with app.run_test(size=(80, 30), notifications=True) as pilot:
        await until(pilot, lambda: "An option on each line" in shown(app))
        app.post_message(Paste("who may board?"))
        await pilot.press("enter")
        await until(pilot, lambda: "chooses between 2 to 8 options; there are 0." in told(app))
        await pilot.press("tab", *"one", "enter", *"two", "enter")
        await until(pilot, lambda: "a  one" in shown(app) and "b  two" in shown(app))
        await pilot.press("enter")
        await until(
            pilot, lambda: "1. かわせみ丸、進水日: 1988年4月1日 [1] (triples)" in shown(app)
        )
        await until(pilot, lambda: "2. かわせみ丸、廃船日: nothing found (triples)" in shown(app))
        await until(pilot, lambda: "=> 1988年4月1日 < 1999年4月1日" in shown(app))
        assert engine.asked[0][2] == Query("who may board?", ("one", "two"))
        await pilot.press("tab", "tab", "a")
        await until(pilot, lambda: len(app.screen.query(TurnView)) == 2)
        await until(pilot, lambda: "b 乗せてよい" in shown(app))
        assert engine.asked[1][2] == engine.asked[0][2]


async def test_what_cannot_be_asked_is_told_and_kept(workbench, until, shown, told):
    app = workbench()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: "Ask about the 12 documents" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: "The question holds no word." in told(app))
        app.post_message(Paste("水" * 50_000))
        question = app.screen.query_one(QuestionArea)
        await until(pilot, lambda: len(question.typed) == 50_000)
        await until(pilot, lambda: "characters" in shown(app))
        # Long lines are broken, so that no key has to lay out the whole text.
        assert max(map(len, question.document.lines)) < 1_000
        await pilot.press("x", "enter")
        await until(pilot, lambda: "The question has 50,001 characters; 10,000" in told(app))
        assert "Ctrl+P, then: Add documents" in told(app)
        assert "localrag add" not in told(app)
        # What is counted is what would be sent.
        assert "50,001 characters" in str(app.screen.query_one(Composer).border_title)
        assert question.typed == "水" * 50_000 + "x"


async def test_no_corpus_and_no_index(workbench, bench_home, shown, told, until):
    app = workbench(corpus="nowhere")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: "There is no corpus “nowhere” yet." in shown(app))
        await until(pilot, lambda: "Try the sample corpus" in shown(app))
        app.post_message(Paste("how high?"))
        await pilot.pause()
        await pilot.press("enter")
        await until(pilot, lambda: "There is no corpus 'nowhere'." in shown(app))
        assert "Ctrl+P, then: Add documents / Choose the corpus" in told(app)
        assert "sqlite" not in shown(app)
        assert app.screen.query_one(QuestionArea).text == "how high?"
    shutil.rmtree(bench_home / "indexes" / "main")
    app = workbench(corpus="main")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: "“main” is not indexed yet" in shown(app))
        assert "for example" not in shown(app)
        await until(pilot, lambda: "Index the corpus" in shown(app))


async def test_a_conversation_is_there_again(
    workbench, engine, answers, ask, until, shown, kept, bench_home
):
    engine.will(answers.supported).will(answers.not_found)
    first = workbench()
    async with first.run_test(size=(80, 24), notifications=True) as pilot:
        await ask(pilot, "how high?")
        await pilot.press(*"not sent")
        unsent = bench_home / "tui-unsent" / "1.json"
        await until(pilot, lambda: unsent.exists() and "not sent" in unsent.read_text())
    again = workbench()
    async with again.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: "supported: every claim is in" in shown(again))
        question = again.screen.query_one(QuestionArea)
        await until(pilot, lambda: question.text == "not sent")
        # Up walks through the questions, down comes back to what was typed.
        while question.text != "how high?":
            await pilot.press("up")
        await pilot.press("down")
        assert question.text == "not sent"
        await pilot.press("ctrl+n")
        await until(pilot, lambda: "Ask about the 12 documents" in shown(again))
        await ask(pilot, "how deep?")
    assert len(kept.list()) == 2


async def test_a_turn_that_was_interrupted_is_asked_again(
    workbench, engine, answers, until, shown, bench_home
):
    from localrag.corpus.workspace import Workspace
    from localrag.ops.conversations.store import Conversations

    with Conversations.open(Workspace.locate(bench_home)) as conversations:
        conversation = conversations.new().id
        turn = conversations.begin(conversation, Query("how high?"), "main", "", "")
        conversations.draft(turn.id, ["half a claim"])
    engine.will(answers.supported)
    app = workbench(conversation=conversation)
    async with app.run_test(size=(80, 30), notifications=True) as pilot:
        await until(pilot, lambda: "interrupted" in shown(app))
        await until(pilot, lambda: "half a claim" in shown(app))
        await pilot.press("tab", "a")
        await until(pilot, lambda: "supported: every claim is in" in shown(app))


async def test_what_cannot_be_written_down_is_answered_all_the_same(
    workbench, engine, answers, ask, until, shown, bench_home, told
):
    bench_home.joinpath("conversations.sqlite").mkdir()
    engine.will(answers.supported)
    app = workbench()
    async with app.run_test(size=(140, 40), notifications=True) as pilot:
        await ask(pilot, "how high?")
        await until(pilot, lambda: "supported: every claim is in" in shown(app))
        await until(pilot, lambda: "conversations.sqlite" in told(app))


async def test_a_question_is_offered_to_begin_with(workbench, engine, answers, until, shown):
    engine.will(answers.supported)
    app = workbench()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: "for example (Tab, Enter):" in shown(app))
        await until(pilot, lambda: "渡し舟を運航" in shown(app))
        await pilot.press("tab", "enter")
        await until(pilot, lambda: "supported: every claim is in" in shown(app))
        assert engine.asked[0][2].text == "渡し舟を運航してはならない水位の基準は何か。"


async def test_a_conversation_deleted_elsewhere_begins_anew(
    workbench, engine, answers, ask, kept, told, monkeypatch
):
    # On a busy machine the notice would be gone before it is looked for.
    monkeypatch.setattr(Workbench, "NOTIFICATION_TIMEOUT", PATIENCE)
    engine.will(answers.supported).will(answers.supported)
    app = workbench()
    async with app.run_test(size=(80, 24)) as pilot:
        await ask(pilot, "The first question?")
        kept.delete(app.memory.choices.conversation)
        await ask(pilot, "The second question?")
        assert "deleted elsewhere" in told(app)
        [turn] = kept.turns(app.memory.choices.conversation)
        assert turn.query.text == "The second question?"
