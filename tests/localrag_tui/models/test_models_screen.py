"""The Models screen: what is there, used, pulled, tested, removed."""

import asyncio
import os
import shutil
from functools import partial
from pathlib import Path

import pytest
from tiny_models.servers.hub import TinyHub

from localrag_models.store import ModelStore
from localrag_tui.models import screen
from localrag_tui.models.screen import ModelsList
from localrag_tui.models.stock import ModelRow, ModelState, measure
from localrag_tui.work.jobs import State as JobState

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("sixteen_gigabytes", "in_thread")]


def unwrapped(text: str) -> str:
    """What stands there, without the places where it is broken into lines."""
    return "".join(text.split())


def point_at(app, name: str) -> None:
    """Move the cursor to a model."""
    listing = app.screen.query_one(ModelsList)
    names = [row.name for row in listing._listed]
    listing.highlighted = listing.get_option_index(str(names.index(name)))


async def test_without_models_it_says_what_can_be_pulled(workbench, shown, until):
    app = workbench(mode="models")
    async with app.run_test(size=(100, 40), notifications=True) as pilot:
        await until(pilot, lambda: "multilingual-e5-small" in shown(app))
        assert "None yet; search and quotations work without." in shown(app)
        await until(pilot, lambda: "8.0 GB of 16.0 GB of memory free" in shown(app))
        point_at(app, "qwen3-8b")
        await until(pilot, lambda: "takes about 6.2 GB of memory: fits" in shown(app))
        point_at(app, "qwen3-14b")
        await until(pilot, lambda: "not free now" in shown(app))
        await pilot.press("u")
        await until(pilot, lambda: "It is not installed yet: p pulls it." in shown(app))


async def test_a_chat_model_is_used_tested_and_given_up(workbench, models, tiny_chat, shown, until):
    pytest.importorskip("llama_cpp")
    models.add(tiny_chat)
    app = workbench(mode="models", overrides={"runtime.threads": 1})
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: "tiny-qwen3" in shown(app))
        await pilot.press("u")
        await until(pilot, lambda: "in use" in shown(app))
        assert app.memory.choices.model == "tiny-qwen3"
        assert app.config().chat.model == "tiny-qwen3"
        await pilot.press("t")
        await until(pilot, lambda: "tokens/s" in shown(app))
        await until(pilot, lambda: "Test tiny-qwen3  done" in shown(app))
        await pilot.press("u")
        await until(pilot, lambda: "in use" not in shown(app))
        assert app.memory.choices.model is None


async def test_an_embedder_is_tested_and_is_a_setting(
    workbench, models, tiny_encoder, shown, until
):
    pytest.importorskip("llama_cpp")
    models.add(tiny_encoder.gguf, name="tiny-e5")
    models.add(tiny_encoder.reranker_gguf, name="tiny-rank")
    app = workbench(mode="models", overrides={"embedding.model": "tiny-e5", "runtime.threads": 1})
    async with app.run_test(size=(100, 40), notifications=True) as pilot:
        await until(pilot, lambda: "named by embedding.model" in shown(app))
        await until(pilot, lambda: "in use" in shown(app))
        await pilot.press("u")
        await until(pilot, lambda: "[embedding]" in shown(app))
        await pilot.press("t")
        await until(pilot, lambda: "32 dimensions" in shown(app))
        point_at(app, "tiny-rank")
        await pilot.press("t")
        await until(pilot, lambda: "score of a passage" in shown(app))


async def test_a_pull_names_the_host_and_a_stopped_one_goes_on(
    workbench, models: ModelStore, hub: TinyHub, tiny_chat: Path, shown, until
):
    app = workbench(mode="models")
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: "qwen3-8b" in shown(app))
        point_at(app, "qwen3-8b")
        await pilot.press("p")
        await until(pilot, lambda: app.screen.query("#wanted"))
        host = hub.address.removeprefix("http://")
        await until(pilot, lambda: f"Pull from {host}" in shown(app))
        await pilot.press("escape")
        assert (hub.asked, app.jobs.all) == ([], []), "nothing is asked before it is agreed to"

        half = tiny_chat.stat().st_size // 2
        files = models.folder / ".partial" / "qwen3-8b" / "files"
        files.mkdir(parents=True)
        (files.parent / "source").write_text(
            f"Qwen/Qwen3-8B-GGUF@{hub.commit}/Qwen3-8B-Q4_K_M.gguf"
        )
        name = "Qwen3-8B-Q4_K_M.gguf"
        (files / name).write_bytes(tiny_chat.read_bytes()[:half])
        app.screen.refill()
        await until(pilot, lambda: "half pulled" in shown(app))
        await until(pilot, lambda: "MB have come;" in shown(app))
        await pilot.press("p")
        await until(pilot, lambda: app.screen.query("#wanted"))
        await pilot.press("enter")
        await until(pilot, lambda: app.jobs.all and app.jobs.all[0].state is not JobState.RUNNING)
        await until(pilot, lambda: "qwen3-8b is installed" in shown(app))
        ranges = [asked.range for asked in hub.asked if asked.path.endswith(name)]
        assert f"bytes={half}-" in ranges
        assert "bytes=0-" not in ranges
    assert models.find("qwen3-8b").size > half


async def test_without_a_network_it_is_said_how_a_model_is_carried(
    workbench, hub: TinyHub, monkeypatch, shown, until
):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    app = workbench(mode="models")
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: "qwen3-8b" in shown(app))
        await pilot.press("p")
        await until(pilot, lambda: app.screen.query("#wanted"))
        assert "carry the file here, and import it (i)" in " ".join(shown(app).split())
        app.screen.query_one("#wanted").value = "[red]no such"
        await pilot.press("enter")
        await until(pilot, lambda: "has no model '[red]no such'" in shown(app))
        app.screen.query_one("#wanted").value = "qwen3-4b"
        await pilot.press("enter")
        await until(pilot, lambda: "localragmodelsimport" in unwrapped(shown(app)))


async def test_remove_asks_and_a_damaged_one_is_told(
    workbench, models: ModelStore, tiny_chat: Path, shown, until
):
    models.add(tiny_chat)
    hostile = models.folder / "[red]evil"
    hostile.mkdir()
    app = workbench(mode="models")
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: "[red]evil" in shown(app))
        point_at(app, "[red]evil")
        await until(pilot, lambda: "If it is not needed, remove it:" in shown(app))
        await pilot.press("delete")
        await until(pilot, lambda: "Remove [red]evil?" in shown(app))
        await pilot.press("enter")
        assert hostile.exists(), "what cannot be undone is not the first choice"
        await pilot.press("delete")
        await until(pilot, lambda: app.screen.query("#go"))
        await pilot.click("#go")
        await until(pilot, lambda: not hostile.exists())
        await until(pilot, lambda: "[red]evil" not in shown(app))
    assert [model.name for model in models.installed()] == ["tiny-qwen3"]


async def test_a_model_goes_out_and_comes_in_again(
    workbench, models: ModelStore, tiny_chat: Path, tmp_path: Path, shown, until
):
    models.add(tiny_chat)
    app = workbench(mode="models")

    async def ask(key: str, path: Path, words: str) -> None:
        await pilot.press(key)
        await until(pilot, lambda: app.screen.query("#path"))
        app.screen.query_one("#path").value = str(path)
        await pilot.press("enter")
        await until(pilot, lambda: words in unwrapped(shown(app)))

    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: "tiny-qwen3" in shown(app))
        await ask("e", tmp_path / "none" / "x.tar", "Thereisnofolder")
        await pilot.press("escape")
        await ask("e", tmp_path, "Writtento")
        await pilot.press("v")
        await until(pilot, lambda: "Nothing has changed: tiny-qwen3" in shown(app))
        await asyncio.to_thread(shutil.rmtree, models.folder)
        await ask("i", tmp_path / "tiny-qwen3.tar", "tiny-qwen3isinstalled")
        await ask("a", tiny_chat.with_name("none.gguf"), "Thereisno")
        await pilot.press("escape")
        weights = models.find("tiny-qwen3").path
        weights.write_bytes(b"x" * weights.stat().st_size)
        await pilot.press("v")
        await until(pilot, lambda: "Themodel'tiny-qwen3'isdamaged" in unwrapped(shown(app)))


async def test_memory_is_measured_of_what_runs():
    mine, none, gone = measure(os.getpid()), measure(0), measure(2**22 + 1)
    assert mine.total >= mine.free > 0
    assert mine.loaded > 10**6
    assert none.loaded == gone.loaded == 0


async def test_the_memory_of_the_model_is_freed(workbench, engine, shown, until):
    engine.model = "[red]tiny"
    app = workbench(mode="models")
    async with app.run_test(size=(100, 40), notifications=True) as pilot:
        await pilot.press("m")
        await until(pilot, lambda: "The memory is free" in shown(app))
    assert engine.model == ""


ROWS = [
    ModelRow("mine", ModelState.INSTALLED, "chat", 5_000_000_000, 32768, "Apache-2.0", "chat.model",
             0, 6_200_000_000, "mine.gguf", ("gguf",)),
    ModelRow("multilingual-e5-small", ModelState.INSTALLED, "embedder", 490_000_000, 512, "MIT"),
    ModelRow("[red]torn\x1b[2J 渡し舟の模型 with a name that is far too long", ModelState.DAMAGED,
             lines=("It is damaged: [red]渡し舟\x1b[2J is missing.", "Remove it.")),
    ModelRow("ollama:gemma", ModelState.SERVED, "chat"),
    ModelRow("half-there", ModelState.UNFINISHED, "chat", 9_000_000_000, 32768, "MIT", "",
             4_000_000_000, 20_000_000_000, "owner/name", ("for much patience",)),
    ModelRow("fits-well", ModelState.AVAILABLE, "reranker", 300_000_000, 512, "MIT", "", 0,
             300_000_000),
    ModelRow("too-large", ModelState.AVAILABLE, "chat", 40 * 10**9, 512, "MIT", "", 0, 48 * 10**9),
]  # fmt: skip


async def test_look(workbench, monkeypatch, snapshots, shown, until):
    monkeypatch.setattr(screen, "take_stock", lambda *_: ROWS)

    async def prepare(pilot):
        await until(pilot, lambda: "16.0 GB" in shown(pilot.app) and "mine" in shown(pilot.app))
        point_at(pilot.app, "half-there")

    await snapshots(lambda language: workbench(language, mode="models"), prepare)


async def test_look_of_the_forms(alone, monkeypatch, snapshots):
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    made = {
        "pull": lambda: screen.pull_form(ROWS[-1], Path("models.toml")),
        "add": screen.add_form,
        "import": screen.import_form,
        "export": lambda: screen.export_form("mine"),
        "remove": lambda: screen.remove_form(ROWS[0]),
    }

    async def open_(pilot, form):
        await pilot.app.push_screen(form())

    states = {name: partial(open_, form=form) for name, form in made.items()}
    await snapshots(alone, states)
