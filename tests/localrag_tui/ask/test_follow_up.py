"""A question that leans on those before it in its conversation."""

import asyncio
from dataclasses import replace
from shutil import copytree

from localrag.ops.conversations.export import conversation_blocks
from localrag.page.markdown import markdown
from localrag.search.types import FOLLOW_UP, StageRecord
from localrag_tui.source.pane import SourcePane
from localrag_tui.work.engine import Engine, StageEnded

READ_AS = "渡し舟の定員の罰則は[red]何か[/red]"


async def test_the_questions_before_are_handed_over(workbench, engine, answers, ask, until, shown):
    leant = replace(answers.supported, read_as=READ_AS)
    engine.will(answers.supported).will(leant)
    for _ in range(3):
        engine.will(answers.not_found)
    app = workbench()
    async with app.run_test(size=(100, 40)) as pilot:
        for question in ("渡し舟の定員は", "その罰則は", "三", "四", "五"):
            await ask(pilot, question)
        # How a question was read is what the next ones lean on; three are enough.
        assert [query.history for _, _, query in engine.asked] == [
            (),
            ("渡し舟の定員は",),
            ("渡し舟の定員は", READ_AS),
            ("渡し舟の定員は", READ_AS, "三"),
            (READ_AS, "三", "四"),
        ]
        engine.will(answers.not_found)
        await pilot.press("ctrl+n")
        await ask(pilot, "その罰則は")
        assert engine.asked[-1][2].history == ()


async def test_nothing_asked_of_one_corpus_is_meant_in_another(
    workbench, engine, answers, ask, bench_home
):
    for folder in ("corpora", "indexes"):
        copytree(bench_home / folder / "main", bench_home / folder / "other")
    engine.will(answers.not_found).will(answers.not_found).will(answers.not_found)
    app = workbench()
    async with app.run_test(size=(100, 40)) as pilot:
        await ask(pilot, "渡し舟の定員は")
        app.memory.remember(corpus="other")
        await ask(pilot, "更新料はいくらか")
        assert engine.asked[-1][2].history == ()
        app.memory.remember(corpus="main")
        await ask(pilot, "その罰則は")
        assert engine.asked[-1][2].history == ("渡し舟の定員は",)


async def test_how_it_is_read_is_shown_and_kept(
    workbench, engine, answers, ask, until, shown, kept
):
    end = asyncio.Event()
    record = StageRecord(FOLLOW_UP, (), 0.001, query=READ_AS)
    engine.will(answers.not_found)
    engine.will(StageEnded(record), end, replace(answers.supported, read_as=READ_AS))
    app = workbench()
    async with app.run_test(size=(100, 40)) as pilot:
        await ask(pilot, "渡し舟の定員は")
        await ask(pilot, "その罰則は", ends=False)
        await until(pilot, lambda: f"read as: {READ_AS}" in shown(app))
        assert f"{FOLLOW_UP} 0" not in shown(app)
        end.set()
        await until(pilot, lambda: "supported: every claim is in" in shown(app))
        assert shown(app).index("その罰則は") < shown(app).index(f"read as: {READ_AS}")
    # Another start shows the same.
    app = workbench()
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: f"read as: {READ_AS}" in shown(app))
    (talk,) = kept.list()
    first, second = kept.turns(talk.id)
    assert (first.read_as, second.read_as) == ("渡し舟の定員は", READ_AS)
    assert second.query.text == "その罰則は"
    written = markdown(conversation_blocks(talk, [first, second], lambda _corpus, _citation: ""))
    assert "read as: 渡し舟の定員の罰則は" in written
    assert written.count("read as:") == 1


async def test_asked_again_it_leans_on_what_it_leant_on(workbench, engine, answers, ask, until):
    for _ in range(4):
        engine.will(answers.supported)
    app = workbench()
    async with app.run_test(size=(100, 40)) as pilot:
        await ask(pilot, "渡し舟の定員は")
        await ask(pilot, "その罰則は")
        turn = app.screen._transcript.turns[1]
        app.screen._ask(turn.query)
        await until(pilot, lambda: len(engine.asked) == 3)
        assert engine.asked[2][2] == engine.asked[1][2]


async def test_the_real_engine_reads_it(workbench, ask, until, shown):
    app = workbench(engine=Engine())
    async with app.run_test(size=(100, 40)) as pilot:
        await ask(pilot, "渡し舟を運航してはならない水位の基準は何か。")
        await ask(pilot, "例外は")
        [_, second] = app.screen._transcript.turns
        assert second.read_as == "渡し舟を運航してはならない水位の基準は何か。 例外は"
        await until(pilot, lambda: "read as:" in shown(app))
        # What is shown beside the answer ends before the application does.
        await until(pilot, lambda: app.screen.query_one(SourcePane).spot is not None)
