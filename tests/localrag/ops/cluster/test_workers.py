"""Workers of a cluster: what is free takes the next piece, what is lost loses nothing."""

import errno
import json
import pickle
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tiny_models.hashing import HashingEmbedder
from tiny_models.scripted import ScriptedChat

from localrag.answer.types import Cancelled, Unanswered, Watch
from localrag.corpus.asked_journal import checked, journal_of
from localrag.corpus.config import load
from localrag.corpus.workspace import Workspace
from localrag.errors import ModelUnusable, NotFoundError, UsageError
from localrag.ops.cluster.running import RemoteAnswers, answers_on, chat_on, indexing_on
from localrag.ops.cluster.workers import Cluster, Errand, Parcel, Pool, ReceivedContents
from localrag.search.indexing.index import HERE, index
from localrag.search.types import ModelCall, Query, Trace
from localrag_indexes.manifest import current
from localrag_indexes.vectors import VectorIndex
from localrag_models.chat import ChatRequest, Message
from localrag_models.errors import ContextExceeded, ServerBusy

from ....patience import PATIENCE
from ....rows import each


def cluster_of(ray: Any, workers: int) -> Cluster:
    return Cluster(ray, ExitStack(), workers, 1, 1)


@contextmanager
def pool(ray: Any, errand: Errand, workers: int = 2, at_once: int = 1) -> Iterator[Pool]:
    with ExitStack() as held:
        yield Cluster(ray, held, workers, 1, at_once).pool(errand)


def test_every_piece_is_done_once_and_in_order(ray: Any, opening: Any) -> None:
    done: list[int] = []

    def work(item: int) -> int:
        done.append(item)
        return item * item

    with ExitStack() as held:
        cluster = Cluster(ray, held, 3, 1, 2)
        assert cluster.parallel == 6
        assert list(cluster.map_stream(work, range(40))) == [(n, n * n) for n in range(40)]
    assert sorted(done) == list(range(40))
    assert all(actor.is_dead for actor in ray.made)


def test_an_error_of_the_work_is_raised_where_it_was_ordered(ray: Any, opening: Any) -> None:
    def work(item: str) -> str:
        raise ModelUnusable("{what} fails.", "", kind="ReplyInvalid", transient=False, what=item)

    with pool(ray, Errand(opening(work))) as made:
        for _ in range(3):
            with pytest.raises(ModelUnusable, match=r"this fails\."):
                made.call("this")
    assert len(ray.made) <= 2, "nobody was lost"


def test_what_a_lost_worker_had_goes_to_another(ray: Any, opening: Any) -> None:
    def work(item: str) -> str:
        if item == "deadly" and len(ray.made) < 3:
            for actor in ray.made[:2]:
                actor.is_dead = True
        return item.upper()

    with pool(ray, Errand(opening(work))) as made:
        assert made.call("a") == "A"
        assert made.call("deadly") == "DEADLY"
        assert made.call("b") == "B"
    assert len(ray.made) >= 3


def test_what_kills_every_worker_is_given_up(ray: Any, opening: Any) -> None:
    def work(item: str) -> str:
        for actor in ray.made if item == "deadly" else ():
            actor.is_dead = True
        return item

    with pool(ray, Errand(opening(work)), workers=1) as made:
        with pytest.raises(ModelUnusable, match="4 workers were lost") as caught:
            made.call("deadly")
        assert (caught.value.kind, caught.value.transient) == ("WorkerLost", True)
        assert made.call("a") == "a"


def test_what_cannot_be_opened_is_told_at_once(ray: Any) -> None:
    @contextmanager
    def opener(home: Path) -> Iterator[Any]:
        raise NotFoundError("There is no corpus.")
        yield

    with pytest.raises(NotFoundError, match="no corpus"), pool(ray, Errand(opener)):
        pass


@pytest.mark.parametrize(
    ("fails_with", "error", "told"),
    [
        (ConnectionError("nobody there"), NotFoundError, "nobody there"),
        (Exception("a node timed out"), ModelUnusable, "a node timed out"),
        (OSError(errno.ENOSPC, "No space left"), ModelUnusable, "No space left"),
        (TypeError("a mistake"), TypeError, "a mistake"),
    ],
)
def test_a_cluster_that_cannot_be_had_is_told(
    monkeypatch: pytest.MonkeyPatch, fails_with: Exception, error: type[Exception], told: str
) -> None:
    def init(**_: Any) -> None:
        raise fails_with

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "")
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(init=init))
    with pytest.raises(error, match=told), Cluster.open("10.0.0.5:6379"):
        pass


def test_what_is_no_longer_wanted_is_given_up(ray: Any, opening: Any) -> None:
    going = threading.Event()
    with pool(ray, Errand(opening(lambda item: going.wait(PATIENCE))), workers=1) as made:

        class Unwanted(Watch):
            def cancelled(self) -> bool:
                return True

        with pytest.raises(Cancelled):
            RemoteAnswers(made).answer(Query("a?"), Unwanted())
        going.set()


ERRORS = [
    ModelUnusable("{a} fails", "do {a}", kind="ServerBusy", transient=True, a="x"),
    Unanswered(
        ModelUnusable("fails", "", kind="ReplyInvalid", transient=False),
        Trace(calls=(ModelCall("m", 1, 2, 3, 4.0),)),
    ),
    UsageError("{problem}", "", problem=OSError(28, "No space")),
    ContextExceeded("{needed} tokens", "", needed=3, available=2),
    ServerBusy("busy"),
]


@each("error", ERRORS)
def test_errors_travel(error: Exception) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.__dict__.keys() == error.__dict__.keys()


def test_a_workspace_is_carried_once_to_where_it_is_not(
    ray: Any, cache: Path, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localrag.ops.cluster.workers._Worker.reaches", lambda *_: False)
    workspace = Workspace(sample)
    config = load(workspace, {"journal.questions": True})
    with (
        ExitStack() as held,
        answers_on(Cluster(ray, held, 2, 1, 1))(workspace, "main", config) as answers,
    ):
        answer = answers.answer(Query("渡し守の資格は何か。"))
        assert answers.parallel == 2
    assert answer.citations
    parcel = Parcel.of(workspace, "main", config)
    # What this machine notes of its files is not carried, and makes no new parcel; nor does a
    # log, which comes and goes with whoever reads.
    assert not any(file.path.endswith(("compared", "-wal")) for file in parcel.files)
    assert ray.sent == len({file.digest for file in parcel.files})
    assert not ReceivedContents(cache / "cluster").lacks(parcel)
    (home,) = (cache / "cluster" / "workspaces").iterdir()
    assert home.name == parcel.digest
    assert not list((sample / "runs" / "cluster").iterdir()), "the mark is gone"
    assert checked(workspace).questions == 1
    assert not journal_of(Workspace(home)).exists(), "it is kept where the question was asked"
    # A worker may still be closing a store, whose log goes away then.
    folders = (path for path in cache.rglob("*") if path.is_dir())
    sent = (cache / "cluster" / "contents").iterdir()
    assert {path.stat().st_mode & 0o077 for path in (*folders, *sent)} == {0}


def test_what_needs_the_models_alone_is_sent_no_corpus(sample: Path) -> None:
    workspace = Workspace(sample)
    (sample / "models" / "m").mkdir(parents=True)
    (sample / "models" / "m" / "model.gguf").write_bytes(b"weights")
    config = load(workspace, {"chat.model": "m"})
    alone, with_corpus = (Parcel.of(workspace, corpus, config) for corpus in ("", "main"))
    assert [file.path for file in alone.files] == ["models/m/model.gguf"]
    assert set(alone.files) < set(with_corpus.files)
    # Who wrote the corpus last is nothing that the workers need.
    assert not any(file.path.endswith("writer.json") for file in with_corpus.files)


def test_what_was_sent_wrong_is_not_kept(cache: Path, sample: Path) -> None:
    workspace = Workspace(sample)
    parcel = Parcel.of(workspace, "main", load(workspace, {}))
    shelf = ReceivedContents(cache)
    (first, *_) = shelf.lacks(parcel)
    with pytest.raises(ValueError, match=first.digest):
        shelf.take(first.digest, [b"something else"])
    assert first in shelf.lacks(parcel)
    assert [path.name for path in (cache / "contents").iterdir()] == []


def test_a_chat_model_on_workers(ray: Any, sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replies = (
        "甲",
        ContextExceeded("{needed} tokens", "", needed=9, available=2),
        {"yes": 0.75, "no": 0.25},
    )
    monkeypatch.setattr("localrag.ops.cluster.running.open_chat", lambda *_: ScriptedChat(*replies))
    workspace = Workspace(sample)
    opener = chat_on(cluster_of(ray, 1))
    assert opener(workspace, load(workspace, {})) is None, "the settings name no model"
    model = opener(workspace, load(workspace, {"chat.model": "x"}))
    assert model is not None
    asked = (Message("user", "問い"),)
    heard: list[str] = []
    with model:
        assert (model.id, model.context, model.parallel) == ("scripted", 8192, 1)
        assert model.count(asked) == 2
        assert model.chat(ChatRequest(messages=asked), heard.append).text == "甲"
        with pytest.raises(ContextExceeded, match="9 tokens"):
            model.chat(ChatRequest(messages=asked))
        choice = model.choose(asked, ("yes", "no"))
        assert choice is not None
        assert choice.probabilities == {"yes": 0.75, "no": 0.25}
    assert heard == ["甲"]
    assert all(actor.is_dead for actor in ray.made)


def test_an_index_made_by_workers_is_the_same(
    ray: Any, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localrag.ops.cluster.running.open_embedder", lambda *_: HashingEmbedder())
    workspace = Workspace(sample)
    config = load(workspace, {"embedding.model": "hashing"})
    place = workspace.corpus("main")
    vectors = []
    there = indexing_on(cluster_of(ray, 3))
    assert there.opener is not None
    for elsewhere, opened in ((HERE, HashingEmbedder()), (there, there.opener(workspace, config))):
        assert opened is not None
        with opened as embedder:
            report = index(workspace, "main", rebuild=True, embedder=embedder, elsewhere=elsewhere)
        assert report.passages
        with VectorIndex.open(current(place.vectors), model=embedder.id) as made:
            vectors.append(dict(zip(made.digests(), map(bytes, made.vectors), strict=True)))
        shutil.rmtree(place.vectors)
    assert vectors[0] == vectors[1]
    assert len(ray.made) == 6, "three to analyse, three to embed"


SCRIPT = """
import json, os, signal, sys
from ipaddress import ip_address
import psutil
import localrag
home, questions, out, victim = sys.argv[1:5]
exposed = []
def told(event):
    if type(event).__name__ == "RowAnswered" and event.row == 3:
        for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
            for one in process.net_connections(kind="inet"):
                ip = ip_address(one.laddr.ip.removeprefix("::ffff:"))
                if one.status == "LISTEN" and not ip.is_loopback:
                    exposed.append(str(one.laddr))
    if victim == "driver" and type(event).__name__ == "RowAnswered" and event.row > 1:
        os.kill(os.getpid(), signal.SIGKILL)
if __name__ == "__main__":
    corpus = localrag.open(home).corpus()
    report = corpus.batch(questions, out, ray="local", concurrency=1, on_event=told)
    print(json.dumps([report.answered, report.earlier, exposed]))
"""


@pytest.mark.skipif(find_spec("ray") is None, reason="Ray (extra ray) is not installed")
def test_a_batch_goes_on_with_workers_and_the_other_way_round(sample: Path, tmp_path: Path) -> None:
    import localrag

    questions, alone, both = (tmp_path / f"{name}.jsonl" for name in ("q", "alone", "both"))
    texts = [f"渡し守の資格は何か。{number}" for number in range(12)]
    questions.write_text("".join(json.dumps({"question": text}) + "\n" for text in texts))
    script = tmp_path / "batch.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(sample), str(questions), str(both)]
    killed = subprocess.run([*command, "driver"], capture_output=True, timeout=300)
    assert killed.returncode == -9
    begun = len(both.read_text().splitlines())
    assert 2 <= begun < 12
    finished = subprocess.run([*command, "none"], capture_output=True, text=True, timeout=300)
    assert json.loads(finished.stdout) == [12, begun, []], finished.stderr
    with localrag.open(sample).corpus() as corpus:
        assert corpus.batch(questions, both).earlier == 12
        corpus.batch(questions, alone)
    assert said(both) == said(alone)


def said(path: Path) -> list[Any]:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        for timed in (row, *row["trace"]["stages"]):
            timed.pop("seconds")
    return rows
