"""A full disk, in the middle of everything that writes.

A small disk in memory holds a workspace. Each round fills it except for a few bytes, and runs a
command that writes: add, index, embed, prepare, batch, an evaluation, an optimisation, an update, a
conversation. It must end with exit code 7 and a message about the disk, or complete if the space
was enough. The store must be sound. After room is made, the command must complete.

Needs the right to mount (root, or ``unshare --user --map-root-user --mount`` before the command).
Vectors only with ``--embedder``. The optimisation uses a tiny model with random weights.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from bench.corpora import write_questions
from bench.flipped import called
from bench.options import law_files, parser
from bench.own_process import Died, result_of
from bench.rates import rate
from tiny_models.chat import write_chat_gguf

from localrag import sample
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace
from localrag.doors.session import open as open_workspace
from localrag.errors import LocalragError
from localrag.ops.conversations.store import Conversations
from localrag.search.types import Query
from localrag_models.store import ModelStore

JOBS = (
    "add",
    "index",
    "embed",
    "prepare",
    "batch",
    "evaluation",
    "optimise",
    "update",
    "undo",
    "conversation",
)
TINY = "tiny"
OPTIMISED = (
    f"--set chat.model={TINY} --set chat.max_tokens=64 --set runtime.threads=1"
    " optimize queries lawqa --name found -c main --calls 30"
).split()
_PATIENCE = 300
Outcome = tuple[int, str, str]


def main() -> None:
    """Fill the disk under every job, and print a line for each."""
    options = parser(__doc__, embedder=True)
    options.add_argument("--rounds", type=int, default=20, metavar="N", help="of each (20)")
    options.add_argument("--jobs", nargs="+", choices=JOBS, help="these alone")
    options.add_argument("--megabytes", type=int, default=64, metavar="MB", help="of disk (64)")
    options.add_argument("--files", type=int, default=12, metavar="N", help="law files (12)")
    options.add_argument("--seed", type=int, default=1, metavar="N", help="of what is left (1)")
    chosen = options.parse_args()
    chance = random.Random(chosen.seed)
    jobs = chosen.jobs or [job for job in JOBS if job != "embed" or chosen.embedder]
    print(
        f"{'job':<14}{'n':>4}{'told, 7':>9}{'done':>6}{'other':>7}  completed after room was made"
    )
    with tempfile.TemporaryDirectory() as folder:
        base = prepared(Path(folder), chosen)
        for job in jobs:
            rounds(job, base, chosen, chance)


def rounds(job: str, base: Path, chosen: argparse.Namespace, chance: random.Random) -> None:
    """Run a job again and again, and print what became of it."""
    found: Counter[str] = Counter()
    completed, strange = 0, []
    for number in range(chosen.rounds):
        # From nothing at all to more than most jobs take.
        left = 0 if number == 0 else int(2 ** chance.uniform(10, 23))
        with small_disk(base.parent / "disk", chosen.megabytes) as disk:
            home = disk / "home"
            shutil.copytree(base, home, symlinks=True)
            before_job(job, home)
            fill(disk, left)
            outcome = run(job, home)
            kind = judged(outcome)
            found[kind] += 1
            if kind == "other":
                strange.append(
                    f"with {left:,} bytes left: {outcome[0]} {outcome[2].strip()[-200:]}"
                )
            (disk / "filling").unlink()
            with CorpusStore.open(Workspace.locate(home).corpus("main").store) as store:
                assert store.check() == []
            again = outcome if kind == "done" else run(job, home)
            if job == "undo" and again[0] == 3:
                # It was undone before, and only its index is still to be made.
                again = run("index", home)
            completed += again[0] == 0
            if again[0]:
                strange.append(f"again, after {left:,}: {again[0]} {again[2].strip()[-200:]}")
    told = "".join(
        f"{found[kind]:>{width}}" for kind, width in (("told", 9), ("done", 6), ("other", 7))
    )
    print(f"{job:<14}{chosen.rounds:>4}{told}  {rate(completed, chosen.rounds)}", flush=True)
    for line in strange[:5]:
        print(f"  {' '.join(line.split())}")


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """A disk in memory."""
    folder.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"no disk can be mounted: {done.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk: Path, left: int) -> None:
    """Fill a disk but for so many bytes, as nearly as its blocks allow."""
    free = shutil.disk_usage(disk).free
    with (disk / "filling").open("wb", buffering=0) as file, suppress(OSError):
        for size in (1 << 20, 1 << 12):
            while free - size >= left:
                free -= file.write(bytes(size))


def prepared(folder: Path, chosen: argparse.Namespace) -> Path:
    """A workspace with the sample corpus, and beside it what the jobs read."""
    home = folder / "home"
    workspace = Workspace.locate(home)
    workspace.init()
    models = ModelStore(workspace.models)
    if chosen.embedder:
        models.add(Path(chosen.embedder), name="embedder", link=True)
    write_chat_gguf(folder / "tiny.gguf", context=32_768)
    models.add(folder / "tiny.gguf", name=TINY, kind="chat", link=True)
    files = law_files(chosen.data)
    laws, inputs, corrected = folder / "laws", home / "inputs", home / "corrected"
    shutil.copytree(sample.FOLDER, laws)
    inputs.mkdir()
    corrected.mkdir()
    middle = len(files) // 2
    for path in files[middle : middle + chosen.files]:
        shutil.copy2(path, inputs)
    changed = next(sample.FOLDER.rglob("599AC0000000001*.xml"))
    text = changed.read_text(encoding="utf-8").replace("水位", "水かさ")
    (corrected / changed.name).write_text(text, encoding="utf-8")
    choice = {"question": sample.QUESTION, "options": ["三メートル", "五メートル"], "answer": "a"}
    rows = (json.dumps({"id": f"q{number}", **choice}) + "\n" for number in range(20))
    (home / "questions.jsonl").write_text("".join(rows), encoding="utf-8")
    for arguments in (["add", str(laws)], ["--set", "embedding.model=off", "index"]):
        code, _, err = called(home, arguments)
        assert code == 0, err
    write_questions(workspace, home / "asked.jsonl", 8)
    return home


def before_job(job: str, home: Path) -> None:
    """What has to be done before it, while there is room."""
    if job == "undo":
        assert call("update", home)[0] == 0


def run(job: str, home: Path) -> Outcome:
    """Run a job in a process of its own."""
    until = time.monotonic() + _PATIENCE
    try:
        code, out, err = result_of(partial(call, job, home), lambda: time.monotonic() < until)
    except Died as died:
        return -1, "", str(died)
    return code, out, err


def call(job: str, home: Path) -> Outcome:
    """Run a job in this process."""
    if job == "conversation":
        return converse(home)
    outcome: Outcome = 0, "", ""
    for arguments in verbs(job, home):
        outcome = called(home, arguments)
        if outcome[0]:
            break
    return outcome


def verbs(job: str, home: Path) -> list[Sequence[str]]:
    """The command lines of a job."""
    words = ("--set", "embedding.model=off")
    inputs, questions = str(home / "inputs"), str(home / "questions.jsonl")
    return {
        "add": [("add", inputs)],
        "index": [(*words, "index", "--rebuild")],
        "embed": [("index",)],
        "prepare": [(*words, "prepare", "--layers", "decontextualized", "--by", "statutes")],
        "batch": [("batch", questions, "--out", str(home / "answers.jsonl"))],
        "evaluation": [("eval", "run", questions, "--method", "statute-lexical")],
        "optimise": [(*words, *OPTIMISED, "--questions", str(home / "asked.jsonl"))],
        "update": [(*words, "update", inputs, str(home / "corrected"))],
        "undo": [(*words, "update", "--undo")],
    }[job]  # type: ignore[return-value]


def converse(home: Path) -> Outcome:
    """Ask and write down, as the workbench does."""
    try:
        with (
            open_workspace(home).corpus("main") as corpus,
            Conversations.open(Workspace.locate(home)) as kept,
        ):
            conversation = kept.new()
            for _ in range(10):
                turn = kept.begin(conversation.id, Query(sample.QUESTION), "main", "", "")
                kept.finish(turn.id, corpus.ask(sample.QUESTION), 0.1)
    except LocalragError as error:
        return error.exit_code, "", str(error)
    return 0, "", ""


def judged(outcome: Outcome) -> str:
    """Whether it told of the disk, came to its end, or did anything else."""
    code, _, err = outcome
    if code == 7 and ("space" in err or "full" in err):
        return "told"
    return "done" if code == 0 else "other"


if __name__ == "__main__":
    main()
