"""Verdicts of a judge, kept beside the answers they are on, so that none is asked for twice.

A line of ``verdicts-<fingerprint>.jsonl`` holds a verdict, or why there is none. The fingerprint is
of what verdicts depend on: the model and its settings, the prompts, the code that asks.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Self

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from localrag import prompts
from localrag.batch.origin import Origin, weights
from localrag.config import Config
from localrag.durable import flush_folder
from localrag.errors import BusyError, StorageError, WorkspaceError
from localrag.evaluation import measures
from localrag.evaluation.answers import Answered
from localrag.evaluation.types import Question, Spent
from localrag.inference.opening import server_of
from localrag.locking import locked
from localrag.workspace import Workspace

_SETTINGS = ("temperature", "seed", "max_tokens", "context")


@dataclass(frozen=True, slots=True)
class Judge:
    """A model that judges answers.

    Attributes:
        name: of the model.
        config: settings that name it.
        made_with: by dotted name, what its verdicts depend on.
    """

    name: str
    config: Config
    made_with: Origin

    def journal(self, answers: Path) -> Path:
        """The file of its verdicts on the answers in a folder."""
        written = json.dumps(self.made_with, ensure_ascii=False, sort_keys=True)
        return answers / f"verdicts-{sha256(written.encode()).hexdigest()[:16]}.jsonl"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge said of an answer.

    Attributes:
        answer: digest of the question, the answer and its derivation, as `digest` gives it.
        verdict: "" where there is none.
        problem: why there is none.
        spent: on the judgement.
    """

    answer: str
    verdict: str
    problem: str
    spent: Spent


_verdict = TypeAdapter(Judgement)


def judge_of(workspace: Workspace, config: Config, model: str) -> Judge:
    """The judge that a model makes under these settings; opens nothing.

    Raises:
        ModelUnusable: it is not installed.
    """
    own = config.model_copy(update={"chat": config.chat.model_copy(update={"model": model})})
    chat = own.chat
    made_with = {
        "judge.model": model,
        **{f"judge.{name}": getattr(chat, name) for name in _SETTINGS},
        **server_of("judge", chat),
        **{
            name.replace("chat.", "judge."): value
            for name, value in weights(workspace, own, "chat").items()
        },
        "judge.prompts": _digest_of(Path(prompts.__file__).parent, "judge_*.jinja"),
        "judge.code": _digest_of(Path(measures.__file__).parent, "*.py"),
    }
    return Judge(model, own, made_with)


def digest(question: Question, answer: Answered) -> str:
    """What tells an answer to be judged from every other."""
    judged = [
        question.id,
        question.query.text,
        question.answer,
        to_jsonable_python(question.derivation),
        answer.text,
        to_jsonable_python(answer.derivation.triples),
    ]
    return sha256(json.dumps(judged).encode()).hexdigest()[:32]


def read(path: Path) -> dict[str, Judgement]:
    """The verdicts in a journal, by digest; the newest of each counts.

    Args:
        path: of the journal, which need not exist; a last line that was cut off is none.

    Raises:
        WorkspaceError: a line is damaged.
        StorageError: it cannot be read.
    """
    with _failures(path):
        try:
            lines = path.read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return {}
    found: dict[str, Judgement] = {}
    for number, line in enumerate(lines, 1):
        if not line.endswith(b"\n"):
            break
        try:
            verdict = _verdict.validate_json(line)
        except ValueError as error:
            raise WorkspaceError(
                f"{path}, line {number} is no verdict.",
                "Delete that line: the answer is judged anew.",
            ) from error
        found[verdict.answer] = verdict
    return found


class Journal:
    """A journal that is written; one process at a time."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path = path
        self._file = file

    @classmethod
    @contextmanager
    def opened(cls, path: Path) -> Iterator[Self]:
        """Open it to be added to; what a kill left unfinished is dropped.

        Raises:
            BusyError: another process judges the same answers.
            StorageError: it cannot be written.
        """
        busy = BusyError(
            f"Another process is writing {path}.", "Wait until it has finished, then go on."
        )
        with _failures(path), locked(path.with_suffix(".lock"), busy), path.open("a+b") as file:
            file.seek(0)
            whole = file.read().rpartition(b"\n")
            file.truncate(len(whole[0]) + len(whole[1]))
            flush_folder(path.parent)
            yield cls(path, file)

    def add(self, verdict: Judgement) -> None:
        """Write down a verdict; when this returns, no kill can lose it.

        Raises:
            StorageError: the disk is full; what was written before is kept.
        """
        line = json.dumps(asdict(verdict), ensure_ascii=False).encode(errors="backslashreplace")
        with _failures(self._path):
            self._file.write(line + b"\n")
            self._file.flush()


def _digest_of(folder: Path, pattern: str) -> str:
    found = sha256()
    for path in sorted(folder.glob(pattern)):
        found.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:16]


@contextmanager
def _failures(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"{path} cannot be read or written ({error.strerror}).",
            "Free some space or mend its permissions; the same command goes on.",
        ) from error
