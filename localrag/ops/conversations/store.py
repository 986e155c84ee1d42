"""Stores the conversations of a workspace in one SQLite file shared by several workbenches."""

import builtins
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Self
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from localrag.answer.types import Answer, Nearest, Status
from localrag.corpus.database import Database, Row, Schema
from localrag.corpus.durable import is_locked, locked
from localrag.corpus.workspace import Workspace
from localrag.errors import BusyError, NotFoundError, StorageError, StoreError
from localrag.language import N_, _
from localrag.ops.conversations.types import Conversation, Turn, TurnState
from localrag.search.types import Query, Trace
from localrag.text.facts import Fact, FactKind
from localrag.text.harmless import cut

_VERSION = 3
_DRAFT = TypeAdapter(tuple[str, ...])
_QUERY = TypeAdapter(Query)


class _Doubt(BaseModel):
    doubt: str = ""


class _Version(BaseModel):
    version: int


class _Earlier(BaseModel):
    """Fields of versions 1 and 2: one doubt, in words."""

    answer: _Doubt


class _Kept(_Version):
    model_config = ConfigDict(ser_json_inf_nan="constants")

    answer: Answer


def answer_as_kept(answer: Answer) -> str:
    """Serialize an answer; passages of its trace lose their text: the corpus has it."""
    kept = _Kept(version=_VERSION, answer=replace(answer, trace=_without_texts(answer.trace)))
    return kept.model_dump_json(exclude_defaults=True)


def kept_answer(text: str) -> Answer:
    """Read an answer; raises `StoreError` if it is damaged or from a newer localrag."""
    with _damage(N_("answer")):
        version = _Version.model_validate_json(text).version
        if version > _VERSION:
            raise StoreError(
                N_("A newer localrag wrote this answer."),
                N_("Read it with that one."),
            )
        answer = _Kept.model_validate_json(text).answer
        if version < _VERSION and (doubt := _Earlier.model_validate_json(text).answer.doubt):
            answer = replace(answer, doubts=(Fact(FactKind.SAID, words=doubt),))
        return _of_first_version(answer) if version == 1 else answer


def query_as_kept(query: Query) -> str:
    """Serialize a question."""
    return _QUERY.dump_json(query, exclude_defaults=True).decode()


def kept_query(text: str) -> Query:
    """Read a question; raises `StoreError` if it is damaged."""
    with _damage(N_("question")):
        return _QUERY.validate_json(text)


def draft_as_kept(claims: Sequence[str]) -> str:
    """Serialize the claims of an unfinished answer."""
    return _DRAFT.dump_json(tuple(claims)).decode()


def kept_draft(text: str) -> tuple[str, ...]:
    """Read the claims of an unfinished answer; raises `StoreError` if they are damaged."""
    with _damage(N_("draft")):
        return _DRAFT.validate_json(text)


def _of_first_version(answer: Answer) -> Answer:
    """Convert an answer of version 1: its `supported` meant only found quotations."""
    if answer.status is not Status.SUPPORTED or answer.label or answer.derivation:
        return answer
    if answer.claims:
        doubts = answer.doubts or (Fact(FactKind.UNCHECKED),)
        return replace(answer, status=Status.UNSUPPORTED, doubts=doubts)
    return replace(answer, status=Status.QUOTED)


@contextmanager
def _damage(what: str) -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        raise _damaged(what) from error


def _damaged(what: str) -> StoreError:
    return StoreError(N_("This {what} is damaged."), N_("Ask the question again."), what=_(what))


def _sealed(text: str) -> str:
    """Append a digest to JSON; SQLite's checksums do not cover pages in the log."""
    return f"{text}\n{_digest(text)}"


def _unsealed(text: str, what: str) -> str:
    """Remove the digest, if there is one; raises `StoreError` if it does not match."""
    if not isinstance(text, str):
        raise _damaged(what)
    body, sealed, digest = text.partition("\n")
    if sealed and digest != _digest(body):
        raise _damaged(what)
    return body


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()


def _without_texts(trace: Trace) -> Trace:
    stages = tuple(
        replace(
            stage,
            hits=tuple(
                replace(hit, passage=replace(hit.passage, text="", triple=None))
                for hit in stage.hits
            ),
        )
        for stage in trace.stages
    )
    return replace(trace, stages=stages)


class Owner:
    """One process using the conversations; it holds a lock while it answers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held = ExitStack()
        self._mark = ""
        self._ended: set[str] = set()

    def mark(self) -> str:
        """The mark of this owner, valid until `release`; raises `StorageError`."""
        if not self._mark:
            mark = uuid4().hex
            self._held.enter_context(locked(self._lock(mark), BusyError(mark)))
            self._mark = mark
        return self._mark

    def lives(self, mark: str) -> bool:
        """Whether the owner of a mark still runs."""
        if mark == self._mark:
            return True
        if mark in self._ended:
            return False
        # A process removes its lock when it ends; a copied workspace has none.
        if is_locked(self._lock(mark)):
            return True
        self._ended.add(mark)
        with suppress(OSError):
            self._lock(mark).unlink(missing_ok=True)
        return False

    def release(self) -> None:
        """Give up the lock."""
        self._held.close()
        if self._mark:
            with suppress(OSError):
                self._lock(self._mark).unlink(missing_ok=True)
        self._mark = ""

    def _lock(self, mark: str) -> Path:
        return self._folder / f"{mark}.lock"


CONVERSATIONS = Schema(
    name=N_("file of conversations"),
    upgrades=tuple(sorted(Path(__file__).with_name("schema").glob("[0-9]*.sql"))),
    first=N_("Begin a conversation: localrag tui"),
    again=N_("begin with none: localrag tui"),
    lift=N_("Open it once to write: localrag tui"),
)
"""The tables of the conversations, an upgrade for each version in the folder ``schema``."""

# Width of a title made from a question, in cells.
_TITLE = 60

_CONVERSATION = (
    "SELECT id, title, created, changed,"
    " (SELECT count(*) FROM turns WHERE conversation = conversations.id),"
    " (SELECT state || ' ' || owner FROM turns WHERE conversation = conversations.id"
    "  ORDER BY id DESC LIMIT 1)"
    " FROM conversations"
)
# Every word is in the title or in the turns.
_HOLDS_WORDS = (
    "WHERE NOT EXISTS (SELECT 1 FROM json_each(?) AS word"
    " WHERE NOT instr(conversations.words, word.value)"
    " AND NOT EXISTS (SELECT 1 FROM turns AS other WHERE other.conversation = conversations.id"
    " AND instr(other.words, word.value)))"
)
_TURN = (
    "SELECT id, conversation, corpus, method, model, asked, state, owner, seconds, cause, cure,"
    " query, draft FROM turns"
)


class Conversations:
    """Reads and writes conversations; each call is durable when it returns.

    Use it from one thread. It raises the errors of `Database`. The disk may refuse writing
    (`read_only`).
    """

    def __init__(self, database: Database, owner: Owner, *, read_only: bool = False) -> None:
        self._db = database
        self._owner = owner
        self.read_only = read_only

    @classmethod
    def open(cls, workspace: Workspace, *, read_only: bool = False) -> Self:
        """Open the conversations of a workspace; a missing file is made unless `read_only`."""
        path = workspace.conversations
        owner = Owner(path.with_suffix(".locks"))
        if not read_only:
            try:
                return cls(Database(path, CONVERSATIONS, create=True), owner)
            except StorageError:
                # A full or read-only disk still allows reading.
                if not path.exists():
                    raise
        return cls(Database(path, CONVERSATIONS, read_only=True), owner, read_only=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; unfinished answers count as interrupted."""
        self._owner.release()
        self._db.close()

    @classmethod
    def mend(cls, workspace: Workspace) -> None:
        """Renew the checksums of all pages, if every question and answer is intact.

        Raises:
            StoreError: something is damaged, or the file is from an earlier version; nothing
                changes.
        """
        path = workspace.conversations
        read = Database(path, CONVERSATIONS, read_only=True, verified=False)
        with cls(read, Owner(path.with_suffix(".locks"))) as kept:
            if problems := kept.check():
                raise read.damage(" ".join(problems))
        with closing(Database(path, CONVERSATIONS, verified=False)) as database:
            database.write("VACUUM")
            database.checkpoint()

    def check(self) -> list[str]:
        """Return the faults of the file, one sentence each."""
        if problems := self._db.faults():
            return problems
        try:
            for query, draft in self._db.stream("SELECT query, draft FROM turns"):
                kept_query(_unsealed(query, N_("question")))
                kept_draft(draft)
            for (body,) in self._db.stream("SELECT body FROM answers"):
                kept_answer(_unsealed(body, N_("answer")))
        except StoreError as error:
            return [error.cause]
        return []

    # Conversations

    def list(
        self, search: str = "", most: int | None = None, skip: int = 0
    ) -> builtins.list[Conversation]:
        """List the conversations, the latest change first.

        `search` gives words in title, questions or answers; case and width do not matter.
        """
        words = json.dumps([*dict.fromkeys(_folded(search).split())])
        rows = self._db.rows(
            f"{_CONVERSATION} {_HOLDS_WORDS} ORDER BY changed DESC, id DESC LIMIT ? OFFSET ?",
            (words, -1 if most is None else most, skip),
        )
        return [self._conversation(row) for row in rows]

    def get(self, conversation_id: int) -> Conversation:
        """Find a conversation; raises `NotFoundError`, as every method with an id."""
        row = self._db.row(f"{_CONVERSATION} WHERE id = ?", (conversation_id,))
        if row is None:
            raise _no_conversation(conversation_id)
        return self._conversation(row)

    def new(self, title: str = "") -> Conversation:
        """Begin a conversation; without a title it takes its first question."""
        now, title = _now(), _encodable(title)
        return Conversation(
            self._db.write(
                "INSERT INTO conversations (title, created, changed, words) VALUES (?, ?, ?, ?)",
                (title, now, now, _folded(title)),
            ),
            title,
            now,
            now,
        )

    def rename(self, conversation_id: int, title: str) -> None:
        """Change the title; the order of conversations stays."""
        title = _encodable(title)
        with self._db.transaction():
            self.get(conversation_id)
            self._title(conversation_id, title)

    def delete(self, conversation_id: int) -> None:
        """Remove a conversation with all its turns."""
        with self._changing(conversation_id):
            self._db.write("DELETE FROM conversations WHERE id = ?", (conversation_id,))

    def forget(self, conversation_id: int) -> None:
        """Delete a conversation and overwrite its traces in the file; raises BusyError.

        It waits for answers being written.
        """
        self._db.empty_log()
        self._db.write("PRAGMA secure_delete = ON")
        try:
            self.delete(conversation_id)
        finally:
            # An interrupted run may have left words of a deleted conversation.
            self._db.write("VACUUM")
            self._db.empty_log()

    # Turns

    def turns(self, conversation_id: int) -> builtins.list[Turn]:
        """Return the turns of a conversation, in order."""
        self.get(conversation_id)
        rows = self._db.rows(f"{_TURN} WHERE conversation = ? ORDER BY id", (conversation_id,))
        return [self._turn(row) for row in rows]

    def questions(self, limit: int) -> builtins.list[str]:
        """Return the latest questions of all conversations, oldest first."""
        rows = self._db.rows("SELECT query FROM turns ORDER BY id DESC LIMIT ?", (limit,))
        found = []
        for (query,) in reversed(rows):
            # A damaged turn does not hide the others.
            with suppress(StoreError):
                found.append(kept_query(_unsealed(query, N_("question"))).text)
        return found

    def begin(
        self, conversation_id: int, query: Query, corpus: str, method: str, model: str
    ) -> Turn:
        """Store a question before this process answers it; invalid characters are replaced."""
        text = _encodable(query.text)
        query = replace(query, text=text, options=tuple(map(_encodable, query.options)))
        now, words = _now(), _folded("\n".join((text, *query.options)))
        owner = self._owner.mark()
        with self._changing(conversation_id):
            turn = self._db.write(
                "INSERT INTO turns (conversation, state, owner, corpus, method, model, asked,"
                " query, words) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(conversation_id, TurnState.ANSWERING, owner, corpus, method, model, now),
                    *(_sealed(query_as_kept(query)), words),
                ),
            )
            if not self.get(conversation_id).title:
                self._title(conversation_id, title_of(query))
        return Turn(turn, conversation_id, query, corpus, method, model, now)

    def draft(self, turn_id: int, claims: Sequence[str]) -> None:
        """Store the claims written so far; raises `NotFoundError`, as every method with a turn."""
        self._write(turn_id, "UPDATE turns SET draft = ? WHERE id = ?", draft_as_kept(claims))

    def finish(self, turn_id: int, answer: Answer, seconds: float) -> None:
        """Store the answer."""
        said = "\n".join((answer.text, *(claim.text for claim in answer.claims)))
        with self._db.transaction():
            self._write(
                turn_id,
                "UPDATE turns SET state = ?, seconds = ?, draft = '[]',"
                " words = words || char(10) || ? WHERE id = ?",
                TurnState.ANSWERED,
                seconds,
                _folded(said),
            )
            self._keep(turn_id, answer)

    def cancel(
        self, turn_id: int, claims: Sequence[str] = (), nearest: Sequence[Nearest] = ()
    ) -> None:
        """Store the cancellation, with the draft."""
        with self._db.transaction():
            self._write(
                turn_id,
                "UPDATE turns SET state = ?, draft = ? WHERE id = ?",
                TurnState.CANCELLED,
                draft_as_kept(claims),
            )
            self._keep_nearest(turn_id, nearest)

    def fail(
        self, turn_id: int, cause: str, cure: str = "", nearest: Sequence[Nearest] = ()
    ) -> None:
        """Store the error; the draft stays."""
        with self._db.transaction():
            self._write(
                turn_id,
                "UPDATE turns SET state = ?, cause = ?, cure = ? WHERE id = ?",
                TurnState.FAILED,
                _encodable(cause),
                _encodable(cure),
            )
            self._keep_nearest(turn_id, nearest)

    def _keep_nearest(self, turn_id: int, nearest: Sequence[Nearest]) -> None:
        if nearest:
            # Earlier versions ignore the answer of such a turn; the table stays.
            found = Answer("", (), Status.NOT_FOUND, Trace(), nearest=tuple(nearest))
            self._keep(turn_id, found)

    def _keep(self, turn_id: int, answer: Answer) -> None:
        self._db.write(
            "INSERT OR REPLACE INTO answers (turn, body) VALUES (?, ?)",
            (turn_id, _sealed(answer_as_kept(answer))),
        )

    def _write(self, turn_id: int, update: str, *values: str | float) -> None:
        row = self._db.row("SELECT conversation FROM turns WHERE id = ?", (turn_id,))
        if row is None:
            raise NotFoundError(
                N_("This question was deleted."),
                N_("Ask it again."),
            )
        with self._changing(row[0]):
            self._db.write(update, (*values, turn_id))

    def _title(self, conversation_id: int, title: str) -> None:
        self._db.write(
            "UPDATE conversations SET title = ?, words = ? WHERE id = ?",
            (title, _folded(title), conversation_id),
        )

    @contextmanager
    def _changing(self, conversation_id: int) -> Iterator[None]:
        with self._db.transaction():
            changed = self._db.rows(
                "UPDATE conversations SET changed = ? WHERE id = ? RETURNING id",
                (_now(), conversation_id),
            )
            if not changed:
                raise _no_conversation(conversation_id)
            yield

    def _conversation(self, row: Row) -> Conversation:
        number, title, created, changed, turns, last = row
        state = self._state(*last.split(" ")) if last else None
        return Conversation(number, title, created, changed, turns, state)

    def _turn(self, row: Row) -> Turn:
        turn, conversation, corpus, method, model, asked, *further = row
        state, owner, seconds, cause, cure, query, draft = further
        state = self._state(state, owner)
        base = Turn(
            *(turn, conversation, Query(""), corpus, method, model, asked, state, None),
            *(seconds, (), (), cause, cure),
        )
        try:
            asks = kept_query(_unsealed(query, N_("question")))
            base = replace(base, query=asks, draft=kept_draft(draft))
            # Read separately: if its page is damaged, the others stay readable.
            answer = self._db.row("SELECT body FROM answers WHERE turn = ?", (turn,))
            if base.state is not TurnState.ANSWERED and not answer:
                return base
            found = kept_answer(_unsealed(answer[0] if answer else "", N_("answer")))
            if base.state is not TurnState.ANSWERED:
                return replace(base, nearest=found.nearest)
            return replace(base, answer=found)
        except StoreError as error:
            return replace(base, cause=error.cause, cure=error.cure)

    def _state(self, state: str, owner: str) -> TurnState:
        if state == TurnState.ANSWERING and not self._owner.lives(owner):
            return TurnState.INTERRUPTED
        return TurnState(state)


def _no_conversation(conversation_id: int) -> NotFoundError:
    return NotFoundError(
        N_("There is no conversation {conversation_id}; it was deleted."),
        N_("Choose another one."),
        conversation_id=conversation_id,
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _encodable(text: str) -> str:
    return text.encode(errors="replace").decode()


def _folded(text: str) -> str:
    # Text analysis loads slowly; only writing and searching need it.
    from localrag_indexes.analysis.normalize import normalize

    return normalize(text)


def title_of(query: Query) -> str:
    """Make a title from the first question."""
    return cut(" ".join(query.text.split()), _TITLE)
