"""A corpus read and searched in threads: the loop goes on, and a new index is noticed."""

import asyncio
import threading
from functools import partial

import pytest

from localrag.corpus.config import load
from localrag.corpus.workspace import Workspace
from localrag.errors import LocalragError
from localrag.search.types import Query
from localrag_tui.library import Library

from ..patience import PATIENCE


@pytest.fixture
async def library(bench_home):
    workspace = Workspace.locate(bench_home)
    library = Library(workspace, "main", partial(load, workspace))
    yield library
    await library.close()


async def test_reading_and_searching_do_not_wait_for_each_other(library):
    gate, read = threading.Event(), asyncio.Event()

    def wait(store):
        loop.call_soon_threadsafe(read.set)
        assert gate.wait(PATIENCE)
        return threading.current_thread().name, store.generation

    loop = asyncio.get_running_loop()
    reading = asyncio.create_task(library.read(wait))
    await read.wait()
    found = await library.search(Query("渡し舟"), 3)
    assert found.hits
    assert not reading.done()
    gate.set()
    name, count = await reading
    assert name.startswith("reading")
    assert count


async def test_without_any_corpus_the_way_in_the_workbench_is_named(tmp_path):
    workspace = Workspace.locate(tmp_path)
    workspace.init()
    library = Library(workspace, "main", partial(load, workspace))
    with pytest.raises(LocalragError, match="There is no corpus 'main'") as raised:
        await library.read(lambda store: store.generation)
    assert raised.value.cure == "Ctrl+P, then: Add documents"
    await library.close()


async def test_names_are_read_once_for_each_state_of_the_corpus(library):
    one = await library.read_names(lambda store, names: names)
    assert await library.read_names(lambda store, names: names) is one


async def test_an_index_built_meanwhile_is_searched(library, bench_home, cli):
    await library.search(Query("渡し舟"))
    (bench_home / "new.txt").write_text("跳ね橋の点検は、毎朝これを行う。", encoding="utf-8")
    for arguments in (["add", str(bench_home / "new.txt")], ["index"]):
        assert (await asyncio.to_thread(cli, *arguments)).code == 0
    found = await library.search(Query("跳ね橋の点検"), 1)
    assert "跳ね橋" in found.hits[0].passage.text


async def test_what_is_missing_is_told_by_the_first_call(home, until):
    workspace = Workspace.locate(home)
    workspace.init()
    library = Library(workspace, "nowhere", partial(load, workspace))
    for call in (library.read(lambda store: store), library.search(Query("渡し舟"))):
        with pytest.raises(LocalragError) as missing:
            await call
        assert missing.value.cure
    await library.close()


async def test_a_corpus_that_was_removed_or_replaced_is_noticed(library, bench_home, cli):
    assert await library.read(lambda store: store.generation)
    names = await library.read_names(lambda _, names: names)
    await library.search(Query("渡し舟"))
    place = Workspace.locate(bench_home).corpus("main").store
    for part in place.parent.glob(place.name + "*"):
        part.unlink()
    for call in (library.read(lambda store: store), library.search(Query("渡し舟"))):
        with pytest.raises(LocalragError) as missing:
            await call
        assert missing.value.cure
    (bench_home / "new.txt").write_text("跳ね橋の点検は、毎朝これを行う。", encoding="utf-8")
    for arguments in (["add", str(bench_home / "new.txt")], ["index"]):
        assert (await asyncio.to_thread(cli, *arguments)).code == 0
    assert await library.read_names(lambda _, names: names) is not names
    found = await library.search(Query("跳ね橋の点検"), 1)
    assert "跳ね橋" in found.hits[0].passage.text
