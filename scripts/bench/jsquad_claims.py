"""JSQuAD answered by a real chat model: right and supported answers, tokens, seconds.

The 200 questions of ``valid`` with the lowest hashes of ids (SHA-256) are asked over the 1,145
paragraphs, five passages each. An answer is right if its claims contain a gold answer, without
widths and blanks. ``--against CHECKOUT`` answers every question with this code and another
checkout, in turn. ``--withheld`` never finds the paragraph with the answer. Answers are written at
once: a second run continues.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from bench.options import REPOSITORY, parser
from bench.squad import questions

QUESTIONS, PASSAGES = 200, 5


def main() -> None:
    """Answer open questions, and print the figures of all answers."""
    options = parser(__doc__, work=True)
    options.add_argument("--model", type=Path, required=True, metavar="GGUF", help="chat model")
    options.add_argument("--against", type=Path, metavar="CHECKOUT", help="other state of the code")
    options.add_argument("--withheld", action="store_true", help="never find the paragraph")
    options.add_argument(
        "--limit", type=int, default=QUESTIONS, metavar="N", help="questions (200)"
    )
    options.add_argument("--offset", type=int, default=0, metavar="N", help="leave out the first N")
    options.add_argument("--threads", type=int, default=0, metavar="N", help="of the model")
    options.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting, for this code"
    )
    options.add_argument("--child", metavar="NAME", help=argparse.SUPPRESS)
    arguments = options.parse_args()
    if arguments.child:
        answer_questions(arguments)
        return
    states = {"this": REPOSITORY}
    if arguments.against:
        states["other"] = arguments.against.resolve()
    every = questions(arguments.data / "jsquad" / "valid-v1.3.json")
    asked: list[dict[str, Any]] = [
        {"id": one.id, "question": one.text, "gold": sorted(one.answers), "context": one.context}
        for one in islice(every, arguments.offset, arguments.limit)
    ]
    held = "withheld" if arguments.withheld else "there"
    folder = arguments.work.resolve() / "jsquad-claims"
    folder.mkdir(parents=True, exist_ok=True)
    kept = {name: folder / f"{name}-{held}-{arguments.model.stem}.jsonl" for name in states}
    rows = {name: read(path) for name, path in kept.items()}
    children: dict[str, subprocess.Popen[str]] = {}
    for number, question in enumerate(asked, 1):
        for name, checkout in states.items():
            if question["id"] in rows[name]:
                continue
            if name not in children:
                children[name] = start(name, checkout, arguments)
            row = ask(children[name], question)
            rows[name][question["id"]] = row
            with kept[name].open("a", encoding="utf-8") as file:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
        print(f"\r{number} of {len(asked)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for child in children.values():
        child.communicate()
    ids = [question["id"] for question in asked]
    report({name: [by_id[id_] for id_ in ids] for name, by_id in rows.items()})


def read(path: Path) -> dict[str, dict[str, Any]]:
    """The answers written so far, by the id of their question."""
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}


def start(name: str, checkout: Path, arguments: argparse.Namespace) -> subprocess.Popen[str]:
    """Start a process that answers with the code of a checkout."""
    rooms = [str(checkout / room) for room in (".", "models", "indexes", "tui")]
    command = [sys.executable, __file__, "--child", name, "--model", str(arguments.model)]
    command += ["--data", str(arguments.data), "--work", str(arguments.work)]
    command += ["--threads", str(arguments.threads), *(["--withheld"] * arguments.withheld)]
    if name == "this":
        command += [f"--set={setting}" for setting in arguments.set]
    here = str(Path(__file__).parents[1])
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([*rooms, here])},
    )


def ask(child: subprocess.Popen[str], question: Mapping[str, Any]) -> dict[str, Any]:
    """Have a process answer a question."""
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(json.dumps(question) + "\n")
    child.stdin.flush()
    row: dict[str, Any] = json.loads(child.stdout.readline())
    return row


def answer_questions(arguments: argparse.Namespace) -> None:
    """Answer the questions that come, a line each, with the code this process has imported."""
    from localrag.corpus.config import load
    from localrag.corpus.ingest.add import add
    from localrag.corpus.workspace import Workspace
    from localrag.errors import ModelUnusable
    from localrag.methods.answering import open_answers
    from localrag.search.indexing.index import index
    from localrag.search.types import Query
    from localrag_models.store import ModelStore

    workspace = Workspace(arguments.work.resolve() / "jsquad-claims" / f"home-{arguments.child}")
    workspace.init()
    add(workspace, "main", [arguments.data / "jsquad" / "valid-v1.3.json"])
    index(workspace, "main")
    store = ModelStore(workspace.models)
    if "bench" not in {model.name for model in store.installed()}:
        store.add(arguments.model, name="bench", link=True)
    settings: dict[str, object] = {
        "chat.model": "bench",
        "chat.context": 8192,
        "retrieval.k": PASSAGES,
        "runtime.threads": arguments.threads,
        **dict(setting.split("=", 1) for setting in arguments.set),
    }
    context = ""
    if arguments.withheld:
        withhold(lambda: context)
    with open_answers(workspace, "main", load(workspace, settings)) as answerer:
        for line in sys.stdin:
            question = json.loads(line)
            context = question["context"]
            row = {key: question[key] for key in ("id", "question", "gold")}
            since = time.perf_counter()
            try:
                answer = answerer.answer(Query(question["question"]))
            except ModelUnusable as error:
                row |= {"status": "failed", "text": "", "error": error.cause, "calls": []}
            else:
                row |= {
                    "status": answer.status.value,
                    "text": answer.text if answer.claims else "",
                    "cited": [citation.quote for citation in answer.citations],
                    "mismatches": [
                        str(mismatch)
                        for claim in answer.claims
                        for mismatch in getattr(claim, "mismatches", ())
                    ],
                    "calls": [(call.prompt, call.completion) for call in answer.trace.calls],
                }
            row["seconds"] = time.perf_counter() - since
            print(json.dumps(row, ensure_ascii=False), flush=True)


def withhold(context: Any) -> None:
    """Have no search of this process find the paragraph of the question at hand."""
    from dataclasses import replace

    from bench.squad import is_paragraph

    from localrag.search.pipeline import Retriever

    search = Retriever.search

    def without(self: Retriever, *given: Any, **named: Any) -> Any:
        found = search(self, *given, **named)
        hits = [hit for hit in found.hits if not is_paragraph(hit.passage.text, context())]
        return replace(found, hits=tuple(hits))

    Retriever.search = without  # type: ignore[method-assign]


def report(states: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Print the figures of each state of the code, and how this one compares."""
    from bench.rates import rate

    for name, rows in states.items():
        supported = [row for row in rows if row["status"] == "supported"]
        right = [row for row in rows if is_right(row)]
        print(f"{name}: n = {len(rows)}")
        for status in ("supported", "quoted", "unsupported", "not_found", "failed"):
            print(f"  {status:<22}{rate(sum(r['status'] == status for r in rows), len(rows))}")
        print(f"  {'right of all':<22}{rate(len(right), len(rows))}")
        carried = sum(map(is_right, supported))
        print(f"  {'right of supported':<22}{rate(carried, len(supported))}")
        print(f"  {'completion tokens':<22}{written(rows)}, prompt tokens {prompted(rows)}")
        print(f"  {'seconds, median':<22}{statistics.median(r['seconds'] for r in rows):.1f}")
    if len(states) > 1:
        this, other = states["this"], states["other"]
        seconds = [statistics.median(row["seconds"] for row in rows) for rows in (this, other)]
        print(f"completion tokens: {written(this) / written(other):.2f} of the other")
        print(f"median seconds: {seconds[0] / seconds[1]:.2f} of the other")


def is_right(row: Mapping[str, Any]) -> bool:
    """Whether the claims contain a gold answer, without widths and blanks."""
    said = folded(row["text"])
    return any(folded(gold) in said for gold in row["gold"])


def folded(text: str) -> str:
    """A text without what may differ."""
    return "".join(unicodedata.normalize("NFKC", text).split()).casefold()


def written(rows: Sequence[Mapping[str, Any]]) -> int:
    """Completion tokens of all answers."""
    return sum(completion for row in rows for _, completion in row["calls"])


def prompted(rows: Sequence[Mapping[str, Any]]) -> int:
    """Prompt tokens of all answers."""
    return sum(prompt for row in rows for prompt, _ in row["calls"])


if __name__ == "__main__":
    main()
