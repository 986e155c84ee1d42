"""The engine: one process answers one question after the other, and survives its own death."""

import asyncio
import os
import signal
from contextlib import suppress

import pytest

from localrag import language
from localrag.answer.types import Cancelled
from localrag.corpus.config import load
from localrag.corpus.workspace import Workspace
from localrag.search.types import Query
from localrag_models.store import ModelStore
from localrag_tui.work.engine import Engine, ModelOpened, Opening, Read, StageEnded
from localrag_tui.work.process import FunctionFailed, Process, ProcessDied

from ...patience import comes
from . import deeds

QUERY = Query("渡し舟を運航してはならない水位は何か")


@pytest.fixture
async def engine():
    engine = Engine()
    yield engine
    await engine.close()


@pytest.fixture
def ask(engine, bench_home):
    """Asks a question of the sample corpus."""
    workspace = Workspace.locate(bench_home)

    async def ask(on_event=lambda _: None, corpus="main"):
        return await engine.answer(workspace, corpus, load(workspace), QUERY, on_event)

    return ask


async def test_it_answers_again_and_again_and_says_how(engine, ask):
    assert engine.pid == 0
    await engine.warm()
    first, told = engine.pid, []
    assert first
    reply = await ask(told.append)
    assert reply.answer.citations
    assert reply.seconds > 0
    stages = [event.record.stage for event in told if isinstance(event, StageEnded)]
    assert stages[:2] == ["resolve", "lexical"]
    assert (await ask()).answer.text == reply.answer.text
    assert engine.pid == first
    with pytest.raises(FunctionFailed, match="nowhere") as failed:
        await ask(corpus="nowhere")
    assert failed.value.cure
    assert (await ask()).answer.citations
    assert not engine.answering


async def test_it_tells_how_the_model_is_loaded_and_reads(engine, ask, bench_home, tiny_chat):
    ModelStore(bench_home / "models").add(tiny_chat, name="tiny")
    settings = '[chat]\nmodel = "tiny"\nmax_tokens = 40\n[runtime]\nthreads = 1\n'
    (bench_home / "localrag.toml").write_text(settings)
    told = []
    with suppress(FunctionFailed):  # Random weights may talk until the limit of tokens.
        await ask(told.append)
    loading = [event for event in told if isinstance(event, Opening)]
    assert loading[0] == Opening("tiny")
    assert {event.total for event in loading[1:]} <= {tiny_chat.stat().st_size}
    assert engine.model == "tiny"
    read = [event for event in told if isinstance(event, Read)]
    assert read[0] == Read(0, 0)
    assert any(event.done == event.total > 0 for event in read)


async def test_layers_that_are_lacking_are_told_before_a_model_is_loaded(ask, bench_home):
    settings = '[chat]\nmodel = "openai:none"\n[method]\nname = "decon"\n'
    (bench_home / "localrag.toml").write_text(settings)
    told = []
    with pytest.raises(FunctionFailed, match="not prepared") as failed:
        await ask(told.append)
    assert "localrag prepare --corpus main --layers" in failed.value.cure
    assert not [event for event in told if isinstance(event, Opening | StageEnded)]


async def test_a_cancelled_answer_ends_within_its_stage_and_the_next_is_answered(engine, ask):
    def cancel(event):
        assert engine.answering
        engine.cancel()

    with pytest.raises(Cancelled):
        await ask(cancel)
    assert (await ask()).answer.citations
    engine.cancel()
    assert (await ask()).answer.citations


async def test_a_question_waits_while_the_one_before_is_given_up(engine, ask):
    seen = asyncio.Event()
    told = []
    first = asyncio.create_task(ask(lambda _: seen.set()))
    await seen.wait()
    first.cancel()
    reply = await ask(told.append)
    assert reply.answer.citations
    stages = [event.record.stage for event in told if isinstance(event, StageEnded)]
    assert stages.count("lexical") == 1
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_it_is_started_anew_after_its_death(engine, ask):
    await engine.warm()
    killed = engine.pid

    def kill(_):
        os.kill(killed, signal.SIGKILL)

    with pytest.raises(ProcessDied, match="SIGKILL"):
        await ask(kill)
    assert (await ask()).answer.citations
    assert engine.pid != killed
    await engine.release()
    assert (engine.pid, engine.model) == (0, "")
    assert (await ask()).answer.citations


async def test_it_can_be_closed_while_it_starts(engine):
    warming = asyncio.create_task(engine.warm())
    await asyncio.sleep(0)
    await engine.close()
    await warming
    assert engine.pid == 0


async def test_a_stuck_process_is_ended_where_nobody_waits_for_it(engine, ask, monkeypatch):
    monkeypatch.setattr("localrag_tui.work.engine._PATIENCE", 0.05)

    def freeze(_):
        os.kill(engine.pid, signal.SIGSTOP)
        engine.cancel()

    with pytest.raises(Cancelled):
        await ask(freeze)
    assert (await ask()).answer.citations
    monkeypatch.setattr("localrag_tui.work.engine._PATIENCE", 3600.0)
    # Stopped before it is asked: it cannot have answered when it is told to stop.
    os.kill(engine.pid, signal.SIGSTOP)
    stuck = asyncio.create_task(ask())
    await comes(lambda: engine.answering)
    engine.cancel()
    await engine.release()
    assert engine.pid == 0
    with pytest.raises(Cancelled):
        await stuck


async def test_what_is_cancelled_while_the_process_starts_is_not_asked(engine, ask):
    warming = asyncio.create_task(engine.warm())
    await asyncio.sleep(0)
    asking = asyncio.create_task(ask())
    await asyncio.sleep(0)
    assert engine.answering
    engine.cancel()
    with pytest.raises(Cancelled):
        await asking
    await warming
    assert not engine.answering
    assert (await ask()).answer.citations


async def test_an_unforeseen_error_ends_the_process(engine, bench_home):
    workspace = Workspace.locate(bench_home)
    # The settings are no settings: nobody foresees that.
    with pytest.raises(FunctionFailed, match="AttributeError"):
        await engine.answer(workspace, "main", None, QUERY, lambda _: None)
    assert engine.pid == 0
    reply = await engine.answer(workspace, "main", load(workspace), QUERY, lambda _: None)
    assert reply.answer.citations


async def test_the_end_is_heard_though_nobody_waits_for_it_any_longer():
    process = await Process.start(deeds.deaf_channel)
    killing = asyncio.create_task(process.kill())
    await asyncio.sleep(0)
    killing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await killing
    await process.kill()
    with pytest.raises(ProcessDied, match="SIGKILL"):
        _ = [message async for message in process.messages()]


async def test_a_corpus_that_was_removed_answers_no_more(engine, ask, bench_home):
    assert (await ask()).answer.citations
    Workspace.locate(bench_home).corpus("main").store.rename(bench_home / "elsewhere.sqlite")
    with pytest.raises(FunctionFailed, match="There is no corpus"):
        await ask()


async def test_other_settings_let_go_of_what_was_open(engine, ask, bench_home):
    told = []
    await ask()
    workspace = Workspace.locate(bench_home)
    config = load(workspace, {"retrieval.k": 3})
    await engine.answer(workspace, "main", config, QUERY, told.append)
    assert told[0] == ModelOpened("")


async def test_errors_are_told_in_the_language_in_use(engine, ask):
    # The process goes on, in whatever language the interface speaks meanwhile.
    for code, words in (("en", "There is no corpus"), ("ja", "ありません"), ("en", "There is")):
        language.use(code)
        with pytest.raises(FunctionFailed, match=words):
            await ask(corpus="nowhere")
