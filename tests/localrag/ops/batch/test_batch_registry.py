"""The notes on batches of a workspace, through all changes of their files."""

import io
import shutil
from pathlib import Path
from typing import Any

import pytest

from localrag.corpus.config import load
from localrag.corpus.durable import is_locked, locked
from localrag.errors import BusyError, ModelUnusable
from localrag.ops.batch import forget, known, run
from localrag.ops.batch.folder import BatchFolder
from localrag.ops.batch.origin import read, settings_of
from localrag.ops.batch.registry import damaged


@pytest.fixture
def noting(bench: Any) -> Any:
    """A batch of three questions."""
    bench.ask("渡し舟", "渡し守", "水位")
    return bench


def test_a_batch_is_known_while_it_runs_and_once_it_has_finished(
    noting: Any, scripted: Any
) -> None:
    seen = []
    answers = scripted(behave=lambda _: seen.append(known(noting.workspace)[0]))
    noting.run(answers, concurrency=1)
    assert (seen[0].finished, seen[0].rows) == ("", 3)
    assert BatchFolder(noting.out).busy is False
    (batch,) = known(noting.workspace)
    assert (batch.out, batch.questions) == (noting.out.resolve(), noting.questions.resolve())
    assert (batch.corpus, batch.concurrency, batch.cause) == ("main", 1, "")
    assert batch.finished >= batch.started
    assert batch.missing() == []


def test_what_ended_it_early_is_kept_until_it_goes_on(noting: Any, scripted: Any) -> None:
    def stop(text: str) -> None:
        if text == "水位":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        noting.run(scripted(behave=stop))
    (stopped,) = known(noting.workspace)
    assert (stopped.finished, stopped.cause) == ("", "")

    class Gone(scripted):  # type: ignore[misc]
        def open(self, *_: object) -> Any:
            raise ModelUnusable("It is gone.", "Pull it.", kind="ModelMissing", transient=False)

    with pytest.raises(ModelUnusable):
        noting.run(Gone())
    (failed,) = known(noting.workspace)
    assert (failed.cause, failed.cure) == ("It is gone.", "Pull it.")
    assert failed.started == stopped.started
    noting.run(scripted())
    (finished,) = known(noting.workspace)
    assert finished.finished
    assert not finished.cause


def test_files_that_were_removed_are_told_and_a_batch_is_forgotten(
    noting: Any, scripted: Any
) -> None:
    noting.run(scripted())
    (batch,) = known(noting.workspace)
    noting.questions.unlink()
    assert batch.missing() == [batch.questions]
    forget(noting.workspace, batch)
    forget(noting.workspace, batch)
    assert known(noting.workspace) == []
    assert noting.out.exists()


def test_a_stream_and_an_inner_batch(noting: Any, scripted: Any) -> None:
    settings = load(noting.workspace, {})
    questions = io.BytesIO(noting.questions.read_bytes())
    given = (noting.workspace, "main", settings, questions, noting.out)
    run(*given, opener=scripted().open, note=False)
    assert known(noting.workspace) == []
    questions.seek(0)
    run(*given, opener=scripted().open)
    (batch,) = known(noting.workspace)
    assert batch.questions is None
    assert batch.missing() == []


def test_a_damaged_note_hides_no_other(noting: Any, scripted: Any) -> None:
    noting.run(scripted())
    broken = noting.workspace.runs / "batches" / "0.json"
    broken.write_text('{"out": 3', encoding="utf-8")
    assert len(known(noting.workspace)) == 1
    assert damaged(noting.workspace) == [broken]


def test_a_note_that_cannot_be_written_stops_nothing(
    noting: Any, scripted: Any, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.rmtree(noting.workspace.runs)
    noting.workspace.runs.write_text("", encoding="utf-8")
    assert noting.run(scripted()).answered == 3
    assert "not noted" in caplog.text


def test_the_settings_of_answers_are_found_again(noting: Any, scripted: Any) -> None:
    noting.run(scripted(), settings={"retrieval.k": 7})
    origin = read(BatchFolder(noting.out).origin)
    assert origin is not None
    settings = settings_of(origin)
    assert settings["retrieval.k"] == 7
    # No model took part; a model chosen now would change the answers.
    assert (settings["chat.model"], settings["method.name"]) == ("", "")
    again = load(noting.workspace, settings)
    assert again.retrieval.k == 7
    assert not {key for key in settings if "corpus" in key or "localrag" in key}


def test_a_lock_is_seen_and_none_is_made(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not is_locked(path)
    assert not path.exists()
    with locked(path, BusyError("busy")):
        assert is_locked(path)
    assert not is_locked(path)
