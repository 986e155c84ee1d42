"""One byte of a workspace flipped: a named error, or a wrong answer.

Each round copies a workspace with the sample corpus, a conversation and settings, and changes a
byte of one part: store, index of words, vectors, conversations or settings. A process then
searches, asks, shows, lists, reads the conversation, prints the settings, and runs `doctor`. The
results are compared with those of the whole workspace:

no effect     every answer is the same
told          each difference is an error with an exit code and a cure
wrong         an answer differs without an error
traceback     an unexpected error
died          ended by a signal, or not within a minute

`doctor` counts if it calls the part broken, of rounds with an effect; mended if ``localrag index
--rebuild`` restores every answer. Needs a system with ``fork``. Vectors only with ``--embedder``.
"""

import argparse
import io
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import partial
from importlib import import_module
from pathlib import Path

from bench.options import parser
from bench.own_process import Died, result_of
from bench.rates import rate
from bench.sockets import without_times

from localrag.corpus.workspace import Workspace
from localrag.doors.cli.main import run
from localrag.doors.session import open as open_workspace
from localrag.errors import LocalragError
from localrag.ops.conversations.store import Conversations
from localrag.sample import QUESTION
from localrag.search.types import Query
from localrag_models.store import ModelStore

PARTS = {
    "store": "corpora/main/corpus.sqlite",
    "words": "indexes/main/bm25",
    "vectors": "indexes/main/vectors",
    "conversations": "conversations.sqlite",
    "settings": "localrag.toml",
}
DERIVED = ("words", "vectors")
CHECKED_AS = {
    "store": "store main",
    "words": "index main",
    "vectors": "vectors main",
    "conversations": "conversations",
}
"""What `doctor` calls them, settings excepted."""
PROBES = {
    "search": ["search", "渡し守の資格", "--json"],
    "search again": ["search", "運航 してはならない 水位", "--json", "-k", "20"],
    "ask": ["ask", QUESTION, "--json"],
    "show": ["show", "渡し舟法8条", "--json"],
    "list": ["list", "main", "--json"],
    "config": ["config", "--json"],
}
SETTINGS = """language = "en"
corpus = "main"
[retrieval]
k = 7
dense = "auto"
[ingest]
workers = 1
max_file_mb = 120
[chat]
context = 4096
max_tokens = 512
[runtime]
threads = 1
[tui]
theme = "auto"
"""
OUTCOMES = ("no effect", "told", "wrong", "traceback", "died")
_PATIENCE = 60
Said = dict[str, tuple[int, str, str]]
"""By probe its exit code, and what it wrote to standard output and standard error."""


def main() -> None:
    """Flip bytes in every part, and print a line for each."""
    options = parser(__doc__, embedder=True)
    options.add_argument("--rounds", type=int, default=200, metavar="N", help="of each part (200)")
    options.add_argument("--parts", nargs="+", choices=PARTS, help="these alone")
    options.add_argument("--seed", type=int, default=1, metavar="N", help="of the places (1)")
    options.add_argument("--show", action="store_true", help="print what was wrong")
    chosen = options.parse_args()
    chance = random.Random(chosen.seed)
    parts = chosen.parts or [name for name in PARTS if name != "vectors" or chosen.embedder]
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "base"
        # In its own process: threads of llama.cpp do not survive a fork.
        result_of(partial(prepare, base, chosen.embedder), lambda: True)
        # Another folder, because the first one is cached in memory.
        shutil.copytree(base, trial := base.with_name("trial"), symlinks=True)
        for name in result_of(partial(imports, trial), lambda: True):
            # Imported once here, and not in hundreds of processes.
            with suppress(Exception):
                import_module(name)
        whole = looked(base)
        assert whole is not None
        assert [one for one in whole.values() if one[0]] == [], whole
        print(
            f"{'part':<15}{'n':>5}{''.join(f'{name:>11}' for name in OUTCOMES)}  by doctor; mended"
        )
        for part in parts:
            flips(part, base, whole, chosen, chance)


def imports(home: Path) -> list[str]:
    """The modules that looking at a workspace needs."""
    look(home, ["index", "--rebuild"])
    return list(sys.modules)


def flips(
    part: str, base: Path, whole: Said, chosen: argparse.Namespace, chance: random.Random
) -> None:
    """Flip bytes of a part, and print what became of it."""
    outcomes: Counter[str] = Counter()
    named = mended = 0
    for number in range(chosen.rounds):
        home = base.with_name(f"{part}-{number}")
        shutil.copytree(base, home, symlinks=True)
        place = flip(home / PARTS[part], chance)
        said = looked(home)
        outcome, example = judged(whole, said)
        outcomes[outcome] += 1
        broken = part in CHECKED_AS and CHECKED_AS[part] in broken_checks(said)
        named += broken and outcome != "no effect"
        if part in DERIVED:
            again = looked(home, ["index", "--rebuild"])
            mended += again is not None and judged(whole, again)[0] == "no effect"
        if chosen.show and (outcome in OUTCOMES[2:] or (outcome == "told" and number < 3)):
            print(f"  {outcome}: {place.relative_to(home)}: {example}", flush=True)
        shutil.rmtree(home)
    n = chosen.rounds
    told = "".join(f"{outcomes[name]:>11}" for name in OUTCOMES)
    by_doctor = rate(named, n - outcomes["no effect"]) if part in CHECKED_AS else "not looked at"
    after = rate(mended, n) if part in DERIVED else "–"
    print(f"{part:<15}{n:>5}{told}  {by_doctor}; {after}", flush=True)


def prepare(home: Path, embedder: str) -> None:
    """Make a workspace with the sample corpus, a conversation with two answers, and settings."""
    workspace = Workspace.locate(home)
    workspace.init()
    workspace.settings.write_text(SETTINGS, encoding="utf-8")
    if embedder:
        ModelStore(workspace.models).add(Path(embedder), name="embedder", link=True)
    for arguments in (["add", "--sample"], ["index"]):
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            code = run(["--home", str(home), *arguments])
        assert code == 0, arguments
    with Conversations.open(workspace) as kept, open_workspace(home).corpus("main") as corpus:
        conversation = kept.new()
        for question in (QUESTION, "渡し守の資格は何か。"):
            turn = kept.begin(conversation.id, Query(question), "main", "", "")
            kept.finish(turn.id, corpus.ask(question), 1.0)


def flip(part: Path, chance: random.Random) -> Path:
    """Put another byte at a random place of a file, or of the files of a folder."""
    files = [part] if part.is_file() else sorted(p for p in part.rglob("*") if p.is_file())
    sizes = [path.stat().st_size for path in files]
    path = chance.choices(files, sizes)[0]
    with path.open("r+b") as file:
        place = chance.randrange(path.stat().st_size)
        file.seek(place)
        byte = file.read(1)[0]
        file.seek(place)
        file.write(bytes([byte ^ chance.randrange(1, 256)]))
    return path


def looked(home: Path, first: Sequence[str] = ()) -> Said | None:
    """Output of a process on a workspace, after the verb `first`; None if it died."""
    until = time.monotonic() + _PATIENCE
    try:
        said = result_of(partial(look, home, first), lambda: time.monotonic() < until)
    except Died:
        return None
    return {name: (code, out, err) for name, (code, out, err) in said.items()}


def look(home: Path, first: Sequence[str]) -> Said:
    """Run all probes in this process."""
    if first:
        called(home, first)
    said = {name: called(home, arguments) for name, arguments in PROBES.items()}
    said["conversation"] = conversation(home)
    said["doctor"] = called(home, ["doctor", "--json"])
    return said


def called(home: Path, arguments: Sequence[str]) -> tuple[int, str, str]:
    """Exit code and output of a verb."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(["--home", str(home), "--lang", "en", *arguments])
    told = without_times(out.getvalue()).replace(str(home), "HOME")
    return code, told, err.getvalue().replace(str(home), "HOME")


def conversation(home: Path) -> tuple[int, str, str]:
    """The stored conversation, as the workbench reads it."""
    try:
        with Conversations.open(Workspace.locate(home)) as kept:
            turns = [turn for one in kept.list() for turn in kept.turns(one.id)]
            told = [f"{one.title} {one.turns}" for one in kept.list()]
    except LocalragError as error:
        return error.exit_code, "", str(error)
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        return 1, "", f"{type(error).__name__}: {error}"
    # An unreadable answer is replaced by its error.
    causes = [turn.cause for turn in turns if turn.cause]
    told += [f"{turn.query} {turn.answer and turn.answer.text}" for turn in turns]
    return (5 if causes else 0), "\n".join(told), " ".join(causes)


def judged(whole: Said, said: Said | None) -> tuple[str, str]:
    """What became of a round, the worst of its probes, and an example."""
    if said is None:
        return "died", ""
    worst, example = "no effect", ""
    for name, (code, out, err) in said.items():
        if [code, out] == [whole[name][0], whole[name][1]] or name == "doctor":
            outcome = "traceback" if code == 1 else "no effect"
        elif code == 1 or "Traceback" in err:
            outcome = "traceback"
        elif code in (0, 3) and "damaged" not in err:
            outcome = "wrong"
        else:
            outcome = "told"
        if OUTCOMES.index(outcome) > OUTCOMES.index(worst):
            worst, example = (
                outcome,
                f"{name} ({code}): {err.strip() or _other(whole[name][1], out)}",
            )
    return worst, " ".join(example[:300].split())


def _other(whole: str, said: str) -> str:
    """The first difference of two texts, with its surroundings."""
    both = zip(whole, said, strict=False)
    at = next((place for place, (one, other) in enumerate(both) if one != other), 0)
    around = slice(max(at - 60, 0), at + 60)
    return f"{said[around]} in place of {whole[around]}"


def broken_checks(said: Said | None) -> set[str]:
    """What `doctor` calls broken."""
    if said is None:
        return set()
    try:
        findings = json.loads(said["doctor"][1])
    except ValueError:
        return set()
    return {finding["check"] for finding in findings if finding["health"] == "broken"}


if __name__ == "__main__":
    main()
