"""Verdicts of a judge, kept beside the answers they are on, so that none is asked for twice.

A line of ``verdicts-<fingerprint>.jsonl`` holds a verdict, or why there is none. The fingerprint is
of what verdicts depend on: the model and its settings, the prompts, the code that asks.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from localrag import prompts
from localrag.batch.origin import Origin, weights
from localrag.config import Config
from localrag.durable import storing
from localrag.errors import BusyError, WorkspaceError
from localrag.evaluation.answers import Answered
from localrag.evaluation.types import Question, Spent
from localrag.inference.opening import server_of
from localrag.journal import Journal
from localrag.language import N_
from localrag.locking import locked
from localrag.workspace import Workspace

_HERE = Path(__file__).parent
_PROMPTS = Path(prompts.__file__).parent
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
        return answers / f"verdicts-{fingerprint(self.made_with)}.jsonl"


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


_JUDGEMENTS = TypeAdapter(Judgement)


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
        "judge.prompts": digest_of(_PROMPTS, _PROMPTS.glob("judge_*.jinja")),
        "judge.code": digest_of(_HERE, (_HERE / "judging.py", *_HERE.glob("measures/*.py"))),
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
    return {line.row.answer: line.row for line in _journal(path).lines()}


@contextmanager
def opened(path: Path) -> Iterator[Journal[Judgement]]:
    """Open a journal to be added to; what a kill left unfinished is dropped.

    Raises:
        BusyError: another process judges the same answers.
        StorageError: it cannot be written.
    """
    busy = BusyError(
        N_("Another process is writing {path}."),
        N_("Wait until it has finished, then go on."),
        path=path,
    )
    with ExitStack() as held:
        goes_on = N_("Free some space or mend its permissions; the same command goes on.")
        with storing(path, goes_on):
            held.enter_context(locked(path.with_suffix(".lock"), busy))
        yield held.enter_context(_journal(path))


def _journal(path: Path) -> Journal[Judgement]:
    return Journal(path, _JUDGEMENTS, partial(_damaged, path))


def _damaged(path: Path, number: int) -> WorkspaceError:
    return WorkspaceError(
        N_("{path}, line {n} is no verdict."),
        N_("Delete that line: the answer is judged anew."),
        path=path,
        n=number,
    )


def digest_of(root: Path, files: Iterable[Path]) -> str:
    """What tells the content of files, named below `root`, from every other."""
    found = sha256()
    for path in sorted(files):
        name = path.relative_to(root).as_posix()
        found.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:16]


def fingerprint(made_with: Origin) -> str:
    """What stands for all that something depends on, in the name of a file."""
    written = json.dumps(made_with, ensure_ascii=False, sort_keys=True)
    return sha256(written.encode()).hexdigest()[:16]
