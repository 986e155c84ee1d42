"""The file of conversations: killed processes, other processes, damage, full disks."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from localrag.answer.types import Answer, Status
from localrag.corpus import database
from localrag.corpus.database import Database, connect
from localrag.corpus.workspace import Workspace
from localrag.errors import BusyError, NotFoundError, StorageError, StoreError
from localrag.ops.conversations.store import (
    CONVERSATIONS,
    Conversations,
    answer_as_kept,
    kept_answer,
    query_as_kept,
)
from localrag.ops.conversations.types import TurnState
from localrag.search.types import Query
from localrag.text.facts import Fact, FactKind, told

MakeAnswer = Callable[..., Answer]

# Answers one question, is in the middle of the next, and waits for its end.
ANSWERING = """
import sys, time
from pathlib import Path
from localrag.ops.conversations.store import Conversations
from localrag.answer.types import Answer, Status
from localrag.search.types import Query, Trace
from localrag.corpus.workspace import Workspace
conversations = Conversations.open(Workspace(Path(sys.argv[1])))
talk = conversations.new()
first = conversations.begin(talk.id, Query("水位は？"), "main", "", "tiny")
conversations.finish(first.id, Answer("二メートル", (), Status.UNSUPPORTED, Trace()), 1.0)
second = conversations.begin(talk.id, Query("定員は？"), "main", "", "tiny")
conversations.draft(second.id, ["十二", "人"])
print(talk.id, flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill -9")
def test_killed_in_the_middle_of_an_answer(
    conversations: Conversations, workspace: Workspace
) -> None:
    command = [sys.executable, "-c", ANSWERING, str(workspace.home)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        talk = int(process.stdout.readline())
        # Seen by another workbench meanwhile …
        assert conversations.turns(talk)[1].state is TurnState.ANSWERING
        assert conversations.list()[0].state is TurnState.ANSWERING
        os.kill(process.pid, signal.SIGKILL)
    # … and after the kill, by the same one and later ones.
    for _ in range(2):
        first, second = conversations.turns(talk)
        assert (first.state, first.answer and first.answer.text) == (
            TurnState.ANSWERED,
            "二メートル",
        )
        assert (second.state, second.draft) == (TurnState.INTERRUPTED, ("十二", "人"))
        assert second.query == Query("定員は？")
    with Conversations.open(workspace) as later:
        assert later.get(talk).state is TurnState.INTERRUPTED
        assert later.list()[0].title == "水位は？"
    assert list(workspace.conversations.with_suffix(".locks").iterdir()) == []


def test_what_was_being_answered_when_it_was_closed(workspace: Workspace) -> None:
    with Conversations.open(workspace) as leaving:
        talk = leaving.new()
        leaving.begin(talk.id, Query("問い"), "main", "", "")
        assert leaving.turns(talk.id)[0].state is TurnState.ANSWERING
    with Conversations.open(workspace) as later:
        assert later.turns(talk.id)[0].state is TurnState.INTERRUPTED
        # Another process can still answer it, as a new question.
        later.begin(talk.id, Query("問い"), "main", "", "")
        assert [turn.state for turn in later.turns(talk.id)] == [
            TurnState.INTERRUPTED,
            TurnState.ANSWERING,
        ]


def test_two_workbenches_write_into_one_file(
    conversations: Conversations, workspace: Workspace, answer: MakeAnswer
) -> None:
    with Conversations.open(workspace) as other:
        talk = conversations.new()
        mine = conversations.begin(talk.id, Query("甲"), "main", "", "")
        theirs = other.begin(talk.id, Query("乙"), "main", "", "")
        assert [turn.state for turn in other.turns(talk.id)] == [TurnState.ANSWERING] * 2
        conversations.finish(mine.id, answer(), 1)
        other.cancel(theirs.id)
        assert conversations.turns(talk.id) == other.turns(talk.id)


def test_a_file_that_is_locked_for_long(
    file: Database,
    conversations: Conversations,
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(database, "_PATIENCE", 50)
    with file.transaction(), Conversations.open(workspace) as other:
        assert other.list() == []
        with pytest.raises(BusyError, match="Another process"):
            other.new()


@pytest.mark.parametrize(("table", "column"), [("answers", "body"), ("turns", "query")])
def test_what_another_program_wrote(
    file: Database, conversations: Conversations, answer: MakeAnswer, table: str, column: str
) -> None:
    """The result is valid JSON and must still be refused."""
    talk = conversations.new()
    for text in ("水位は？", "水位は何か"):
        turn = conversations.begin(talk.id, Query(text), "main", "", "")
        conversations.finish(turn.id, answer(text="水位は二メートル"), 1)
    key = "turn" if table == "answers" else "id"
    file.write(
        f"UPDATE {table} SET {column} = replace({column}, '水', '氷') WHERE {key} = ?", (turn.id,)
    )
    first, second = conversations.turns(talk.id)
    assert first.answer is not None
    assert second.answer is None
    assert "is damaged" in second.cause
    assert "氷" not in second.query.text
    assert conversations.questions(5)[0] == "水位は？"


@pytest.mark.parametrize("word", ["水位は？", "二メートル"])
def test_a_letter_that_became_another_one_in_the_file(
    conversations: Conversations, workspace: Workspace, answer: MakeAnswer, word: str
) -> None:
    """The result is valid JSON and must still be refused."""
    talk = conversations.new()
    turn = conversations.begin(talk.id, Query("水位は？"), "main", "", "")
    conversations.finish(turn.id, answer(text="水位は二メートル"), 1)
    conversations.close()
    content = workspace.conversations.read_bytes()
    changed = content.replace(word.encode(), b"\xe6\xb0\xb7" + word.encode()[3:])
    assert changed != content
    workspace.conversations.write_bytes(changed)
    with (
        Conversations.open(workspace) as reopened,
        pytest.raises(StoreError, match="its content has changed since it was written"),
    ):
        reopened.turns(talk.id)


def test_a_damaged_answer_hides_no_other_one(
    conversations: Conversations, workspace: Workspace, answer: MakeAnswer
) -> None:
    talk = conversations.new()
    for text in ("二メートル", "三メートル" * 3000, "四メートル"):
        turn = conversations.begin(talk.id, Query("水位は？"), "main", "", "")
        conversations.finish(turn.id, answer(text=text), 1)
    conversations.close()
    content = workspace.conversations.read_bytes()
    place = content.index("三メートル".encode(), len(content) * 3 // 4)
    workspace.conversations.write_bytes(content[:place] + b"\0" + content[place + 1 :])
    with Conversations.open(workspace) as reopened:
        first, second, third = reopened.turns(talk.id)
        assert reopened.check()
    assert (first.answer and first.answer.text, second.answer) == ("二メートル", None)
    assert "is damaged" in second.cause
    assert third.answer is not None


def test_what_another_process_reads_cannot_be_forgotten(
    conversations: Conversations, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = conversations.new("渡し舟")
    conversations.close()
    monkeypatch.setattr(database, "_PATIENCE", 50)
    with closing(database.connect_to_read(workspace.conversations)) as reader:
        for statement in ("BEGIN", "SELECT count(*) FROM turns"):
            reader.execute(statement).fetchall()
        with Conversations.open(workspace) as open_:
            open_.new("その後")
            with pytest.raises(BusyError, match="is reading"):
                open_.forget(talk.id)
            assert open_.get(talk.id).title == "渡し舟"
        reader.execute("COMMIT")
    with Conversations.open(workspace) as open_:
        open_.forget(talk.id)
    assert "渡し舟".encode() not in workspace.conversations.read_bytes()


def test_forgetting_that_was_stopped_is_finished_by_the_next(
    conversations: Conversations, workspace: Workspace
) -> None:
    for number in range(30):
        talk = conversations.new(f"秘密{number}" * 300)
    conversations.delete(talk.id)
    with pytest.raises(NotFoundError):
        conversations.forget(talk.id)
    conversations.close()
    assert "秘密29".encode() not in workspace.conversations.read_bytes()


def test_a_file_that_an_earlier_version_has_open_is_not_lifted(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.home.mkdir()
    monkeypatch.setattr(database, "_PATIENCE", 50)
    with closing(apsw.Connection(str(workspace.conversations))) as old:
        old.execute("PRAGMA journal_mode = WAL")
        CONVERSATIONS.upgrade(old, until=1)
        with pytest.raises(BusyError, match="Another process"):
            Conversations.open(workspace)
        assert database.version(old) == 1
    with Conversations.open(workspace) as lifted:
        assert lifted.check() == []


def test_a_file_of_the_first_version_is_lifted(workspace: Workspace, answer: MakeAnswer) -> None:
    workspace.home.mkdir()
    with closing(apsw.Connection(str(workspace.conversations))) as old:
        CONVERSATIONS.upgrade(old, until=1)
        old.execute("INSERT INTO conversations VALUES (1, '水位', '2026', '2026', '水位')")
        old.execute(
            "INSERT INTO turns (conversation, state, owner, corpus, method, model, asked, query,"
            " words) VALUES (1, 'answered', '', 'main', '', '', '2026', ?, '')",
            (query_as_kept(Query("水位は？")),),
        )
        body = answer_as_kept(answer(text="二メートル"))
        old.execute("INSERT INTO answers VALUES (1, ?)", (body,))
    with Conversations.open(workspace) as lifted:
        [turn] = lifted.turns(1)
    assert turn.query == Query("水位は？")
    assert turn.answer is not None
    assert turn.answer.text == "二メートル"


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ('{"version": 4, "answer": "of another kind"}', "A newer localrag wrote this answer"),
        ('{"version": 1, "answer": {"text": "x"}}', "This answer is damaged"),
        ("", "This answer is damaged"),
        ("\x00\x00", "This answer is damaged"),
    ],
)
def test_an_answer_that_cannot_be_read_hides_no_other(
    file: Database, conversations: Conversations, answer: MakeAnswer, body: str, cause: str
) -> None:
    talk = conversations.new()
    for text in ("甲", "乙"):
        turn = conversations.begin(talk.id, Query(text), "main", "", "")
        conversations.finish(turn.id, answer(), 1)
    file.write("UPDATE answers SET body = ? WHERE turn = ?", (body, turn.id))
    first, second = conversations.turns(talk.id)
    assert first.answer is not None
    assert (second.state, second.answer) == (TurnState.ANSWERED, None)
    assert second.query == Query("乙")
    assert cause in second.cause
    assert second.cure


def test_fields_of_later_days_are_passed_over(answer: MakeAnswer) -> None:
    written = answer_as_kept(answer()).replace('"label"', '"mood":"calm","label"')
    assert kept_answer(written).label == "b"


def test_what_was_supported_before_claims_were_checked_no_longer_is(answer: MakeAnswer) -> None:
    def read(**parts: object) -> Answer:
        supported = answer(**{"status": Status.SUPPORTED, "label": "", "derivation": None} | parts)
        now = answer_as_kept(supported)
        assert kept_answer(now).status is Status.SUPPORTED
        return kept_answer(now.replace('"version":3', '"version":1'))

    assert read(claims=()).status is Status.QUOTED
    unchecked = read(doubts=())
    assert unchecked.status is Status.UNSUPPORTED
    assert unchecked.doubts == (Fact(FactKind.UNCHECKED),)
    assert read(label="b").status is Status.SUPPORTED, "an option was chosen as it is today"


def test_the_words_that_the_second_version_stored_are_told(answer: MakeAnswer) -> None:
    now = json.loads(answer_as_kept(answer(doubts=())))
    now["version"] = 2
    now["answer"]["doubt"] = "query {1} was not asked"
    now["answer"]["citations"][1]["problem"] = "the quotation is empty"
    now["answer"]["trace"]["stages"][0]["events"] = ["left out"]
    read = kept_answer(json.dumps(now))
    assert told(read.doubts) == "query {1} was not asked"
    assert str(read.citations[1].problem) == "the quotation is empty"
    assert told(read.trace.events) == "left out"


def test_a_question_that_cannot_be_read_is_told(
    file: Database, conversations: Conversations
) -> None:
    talk = conversations.new()
    conversations.begin(talk.id, Query("甲"), "main", "", "")
    file.write("UPDATE turns SET query = '{', draft = '[1'")
    [turn] = conversations.turns(talk.id)
    assert (turn.query, turn.cause) == (Query(""), "This question is damaged.")


def test_a_newer_file_is_refused(conversations: Conversations, workspace: Workspace) -> None:
    conversations.close()
    with closing(connect(workspace.conversations)) as connection:
        connection.execute(f"PRAGMA user_version = {CONVERSATIONS.version + 1}")
    with pytest.raises(StoreError, match=r"file of conversations .* version 3.*newer localrag"):
        Conversations.open(workspace)


def test_a_damaged_file_is_told_and_stays(workspace: Workspace) -> None:
    workspace.home.mkdir()
    workspace.conversations.write_bytes(b"no database at all " * 100)
    with pytest.raises(StoreError, match=r"file of conversations .* damaged.*begin with none"):
        Conversations.open(workspace)
    assert workspace.conversations.stat().st_size == 1900


def test_a_full_disk_loses_nothing_that_was_written(
    file: Database, conversations: Conversations, answer: MakeAnswer
) -> None:
    talk = conversations.new()
    turn = conversations.begin(talk.id, Query("甲"), "main", "", "")
    conversations.draft(turn.id, ["書きかけ"])
    pages = file.rows("PRAGMA page_count")[0][0]
    file.rows(f"PRAGMA max_page_count = {pages}")
    long = answer(text="長" * 50_000)
    with pytest.raises(StorageError, match="is full"):
        conversations.finish(turn.id, long, 1)
    with pytest.raises(StorageError, match="is full"):
        conversations.begin(talk.id, Query("問" * 50_000), "main", "", "")
    [read] = conversations.turns(talk.id)
    assert (read.state, read.draft) == (TurnState.ANSWERING, ("書きかけ",))
    file.rows("PRAGMA max_page_count = 1000000")
    conversations.finish(turn.id, long, 1)
    assert conversations.turns(talk.id)[0].answer is not None


def test_a_place_that_cannot_be_written(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="--home"):
        Conversations.open(Workspace(tmp_path / "file" / "home"))
    with Conversations.open(workspace) as conversations:
        talk = conversations.new()
        # Replaces a folder closed to writing, as root can always write.
        workspace.conversations.with_suffix(".locks").write_text("")
        with pytest.raises(StorageError, match="cannot be written"):
            conversations.begin(talk.id, Query("甲"), "main", "", "")
        assert conversations.turns(talk.id) == []


def test_a_file_that_cannot_be_written_can_be_read(
    file: Database, conversations: Conversations
) -> None:
    talk = conversations.new("題")
    conversations.begin(talk.id, Query("甲"), "main", "", "")
    file.rows("PRAGMA query_only = 1")
    with pytest.raises(StorageError, match="readonly"):
        conversations.rename(talk.id, "別の題")
    assert [found.title for found in conversations.list("甲")] == ["題"]
