"""Preparing thousands of passages: rows a second, memory, five kills, the forecast.

The passages are the 6,119 of 2WikiMultiHopQA, then those of the other multi-hop sets and JSQuAD. A
dry run forecasts the time. Then a process makes the layer, killed (-9) at random moments and
started again, until it ends. The forecast is compared with the time of the rows, without the dry
run's.

Without ``--model`` the model has random weights and malformed replies: the figures are of the code
around it. `make lab` has a real small model. ``scripted`` replies follow from the prompt, after a
millisecond for each thousand characters: ten thousand documents take minutes.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from bench.corpora import make_searchable
from bench.options import parser
from tiny_models.scripted import ScriptedChat, rewriting

from localrag.corpus.config import Config, EmbeddingConfig
from localrag.corpus.workspace import Workspace
from localrag.prepare.layers import DECONTEXTUALIZED, METADATA, SYNTHETIC_QA, DerivedLayer
from localrag.prepare.metadata import Category, as_toml
from localrag.prepare.preparing import prepare
from localrag_models.store import ModelStore

NAME = "wiki"
SCRIPTED = "scripted"
"""Names the model with replies that follow from the prompt."""
_DOCUMENT = re.compile(r'name="(?:document|文書) (.*?)">')
_SENTENCE = re.compile(r'name="(?:sentence|文)">\s*(.*?)\s*</', re.DOTALL)
_REWRITTEN = re.compile(r'name="(?:rewritten sentence|書き直した文)">\s*(.*?)\s*</', re.DOTALL)
_PRONOUN = re.compile(r"(?:He|She|It|They|His|Her|Its|Their|This|These)\b")
_NUMBERED = re.compile(r'name="(.*?)">\s*1: (\S+)')
_ITEM = re.compile(r"^- (.*)$", re.MULTILINE)
CATEGORIES = {
    "length": Category(about="The length of the title", values=("short", "medium", "long")),
}
_KANA = str.maketrans("0123456789", "まみむめもやゆよらり")


def main() -> None:
    """Print the figures, or after ``--child`` make a layer."""
    if sys.argv[1:2] == ["--child"]:
        child(Path(sys.argv[2]), sys.argv[3], dry_run="--dry-run" in sys.argv)
        return
    options = parser(__doc__, work=True)
    options.add_argument("--model", default="", help="installed, a file of one, or: scripted")
    options.add_argument("--first", type=int, default=6119, metavar="N", help="passages (6,119)")
    options.add_argument(
        "--layer", default=DECONTEXTUALIZED, choices=(DECONTEXTUALIZED, METADATA, SYNTHETIC_QA)
    )
    options.add_argument("--max-tokens", type=int, default=64, help="of a reply")
    options.add_argument("--kills", type=int, default=5, metavar="N", help="of the process (5)")
    options.add_argument("--seed", type=int, default=1, help="of the moments")
    chosen = options.parse_args()
    home = _corpus(chosen)
    dry, _ = _ended(_begun(home, chosen, "--dry-run"))
    sampled, forecast = dry["made"], dry["forecast_seconds"]
    print(f"dry run: {sampled:,} rows, forecast {forecast:,.0f} s", flush=True)
    chance = random.Random(chosen.seed)
    moments = sorted(chance.uniform(0, 0.8 * forecast) for _ in range(chosen.kills))
    waits = [moment - before for before, moment in zip([0.0, *moments], moments, strict=False)]
    peaks = [_killed(_begun(home, chosen), wait) for wait in waits]
    report, last = _ended(_begun(home, chosen))
    peaks.append(last)
    rows = list(DerivedLayer(Workspace(home).corpus(NAME), chosen.layer).rows())
    assert len({row.place for row in rows}) == len(rows), "a row was made twice"
    assert len(rows) == report["jobs"], "a row is missing"
    if len(rows) == sampled:
        print("the dry run has made all of them: nothing is left to be forecast")
        return
    took = sum(row.seconds for row in rows[sampled:])
    # An undisturbed run also gives the time of the code around the model.
    whole = took if chosen.kills else report["seconds"]
    print(
        f"{chosen.layer}: {len(rows):,} rows in {took:,.0f} s of the model: "
        f"{len(rows[sampled:]) / took:.1f} a second; "
        f"forecast {forecast / whole:.2f} of what it took"
    )
    print(f"killed {chosen.kills} times: none lost, none made twice")
    print("memory, MB, at the end of each process:", *(f"{peak / 1e6:,.0f}" for peak in peaks))


def child(home: Path, layer: str, *, dry_run: bool) -> None:
    """Make a layer with the scripted model, and print the report."""
    model = reader()
    reply = model.chat

    def read_and_reply(request: Any, *args: Any) -> Any:
        time.sleep(sum(len(message.content) for message in request.messages) / 1e6)
        model.requests.clear()
        return reply(request, *args)

    model.chat = read_and_reply  # type: ignore[assignment,method-assign]
    (report,) = prepare(
        Workspace(home),
        NAME,
        Config(embedding=EmbeddingConfig(model="off")),
        [layer],
        categories=CATEGORIES,
        dry_run=dry_run,
        opener=lambda *_: model,
    )
    told = {name: getattr(report, name) for name in ("jobs", "made", "left", "refused", "seconds")}
    print(json.dumps([{**told, "forecast_seconds": report.forecast}]))


def _corpus(chosen: argparse.Namespace) -> Path:
    work = chosen.work.resolve() / f"prepare-{chosen.first}"
    work.mkdir(parents=True, exist_ok=True)
    source = work / "passages.jsonl"
    with source.open("w", encoding="utf-8") as out:
        for number, (title, text) in enumerate(islice(_passages(chosen.data), chosen.first)):
            out.write(json.dumps({"id": f"p{number}", "title": title, "text": text}) + "\n")
    workspace, _ = make_searchable(work, NAME, [source])
    shutil.rmtree(workspace.corpus(NAME).layers, ignore_errors=True)
    return workspace.home


def _passages(data: Path) -> Iterator[tuple[str, str]]:
    for name in ("2wikimultihopqa", "musique", "hotpotqa"):
        path = data / "multihop" / f"{name}_corpus.json"
        if path.exists():
            held = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(held, dict):  # HotpotQA's: the sentences by title.
                yield from ((title, "".join(sentences)) for title, sentences in held.items())
            else:
                yield from ((one["title"], one["text"]) for one in held)
    path = data / "jsquad" / "valid-v1.3.json"
    for page in json.loads(path.read_text(encoding="utf-8"))["data"] if path.exists() else ():
        for paragraph in page["paragraphs"]:
            yield page["title"], paragraph["context"]


def _model(home: Path, named: str) -> str:
    """The name of the model, installed where it is not."""
    store = ModelStore(Workspace(home).models)
    if named in store.names():
        return named
    path = Path(named)
    if not named:
        from tiny_models.chat import write_chat_gguf

        path = home / "tiny.gguf"
        write_chat_gguf(path, context=16_384)
    return store.find(path.stem).name if path.stem in store.names() else store.add(path).name


def _begun(home: Path, chosen: argparse.Namespace, *options: str) -> "subprocess.Popen[bytes]":
    if chosen.model == SCRIPTED:
        words = [sys.executable, "-m", "bench.prepare", "--child", str(home), chosen.layer]
        return subprocess.Popen([*words, *options], stdout=subprocess.PIPE)
    categories = home / "categories.toml"
    categories.write_text(as_toml(CATEGORIES), encoding="utf-8")
    layer = ["--layers", chosen.layer, "--categories", str(categories)]
    verb = ["prepare", "--corpus", NAME, *layer, "--json", *options]
    settings = [
        f"chat.max_tokens={chosen.max_tokens}",
        "embedding.model=off",
        f"chat.model={_model(home, chosen.model)}",
        # More threads wait for each other beside anything else that runs.
        "runtime.threads=1",
    ]
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "localrag", "--home", str(home)),
            *(word for one in settings for word in ("--set", one)),
            *verb,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _ended(process: "subprocess.Popen[bytes]") -> tuple[dict[str, Any], int]:
    """The report of a process that runs to its end, and its highest memory in bytes."""
    assert process.stdout is not None
    written = process.stdout.read()
    peak = _waited(process)
    assert process.returncode == 0, written
    return json.loads(written)[0], peak


def _killed(process: "subprocess.Popen[bytes]", seconds: float) -> int:
    """Kill a process after some seconds; its highest memory in bytes."""
    time.sleep(seconds)
    # By its number: `Popen.kill` would reap the ended process.
    os.kill(process.pid, signal.SIGKILL)
    return _waited(process)


def _waited(process: "subprocess.Popen[bytes]") -> int:
    assert process.stdout is not None
    process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss * 1024


def reader() -> ScriptedChat:
    """The model of all runs."""

    class ScriptedReader(ScriptedChat):
        def chat(self, request: Any, *args: Any, **kwargs: Any) -> Any:
            self._replies = [reply_to(request.messages[-1].content)]
            return super().chat(request, *args, **kwargs)

    return ScriptedReader()


def reply_to(prompt: str) -> str:
    """What the model says."""
    if rewritten := _REWRITTEN.search(prompt):
        name, _, rest = rewritten[1].partition(" ")
        return json.dumps({"pairs": [{"question": f"What {rest[:200]}?", "answer": name}]})
    if items := _ITEM.findall(prompt):
        return json.dumps({"summary": items[0]})
    if first := _NUMBERED.search(prompt):
        # In kana, to share no English word and no figure with the answer.
        number = str(sum(map(ord, first[1]))).translate(_KANA)
        pair = {"sentences": [1], "question": f"{number}のはじめは何か", "answer": first[2]}
        return json.dumps({"pairs": [pair]})
    title, sentence = _DOCUMENT.search(prompt), _SENTENCE.findall(prompt)
    assert title
    if not sentence:
        length = CATEGORIES["length"].values[min(len(title[1]) // 10, 2)]
        return json.dumps({"length": [length]})
    return rewriting(sentence[-1], _PRONOUN.sub(title[1], sentence[-1], count=1))


if __name__ == "__main__":
    main()
