"""Kill -9 at random moments of `prepare`: no row of a layer may be lost, and none made twice.

Half of the paragraphs that come with the first questions of HotpotQA are added and all layers are
made of them; then the other half is added, and a paragraph of the first half is another one now. In
each round a process makes the layers, telling every row that is written down, and is killed at a
random moment. Then every row told is there, and the same call, run to its end, keeps each row that
was there word for word, makes those that are missing and no other, and ends with the same rows and
the same answers of their index as a run that nobody killed.

The model puts the title in the place of the first pronoun of a sentence, and asks for it; it sorts
a document by the length of its title, asks what its first sentence begins with, and sums up by the
first question: what it says follows from the prompt alone.
"""

import argparse
import json
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.options import parser
from bench.own_process import carry_out, killed_once, noting, told

from localrag.config import Config
from localrag.corpus.store import CorpusStore
from localrag.ingest.add import add
from localrag.ingest.index import index
from localrag.prepare.index import LayerIndex
from localrag.prepare.layers import LAYERS, SEARCHED, DerivedLayer, DerivedRow
from localrag.prepare.metadata import Category
from localrag.prepare.preparing import PHASES, LayerReport, Listener, prepare
from localrag.prepare.texts import FoundText
from localrag.progress import Progress, ignore
from localrag.retrieval.types import Filters
from localrag.workspace import Workspace

if TYPE_CHECKING:
    from tiny_models.scripted import ScriptedChat

sys.path.append(str(Path(__file__).parents[1]))
_DOCUMENT = re.compile(r'name="(?:document|文書) (.*?)">')
_SENTENCE = re.compile(r'name="(?:sentence|文)">\s*(.*?)\s*</', re.DOTALL)
_REWRITTEN = re.compile(r'name="(?:rewritten sentence|書き直した文)">\s*(.*?)\s*</', re.DOTALL)
_PRONOUN = re.compile(r"(?:He|She|It|They|His|Her|Its|Their|This|These)\b")

_NUMBERED = re.compile(r'name="(.*?)">\s*1: (\S+)')
_ITEM = re.compile(r"^- (.*)$", re.MULTILINE)

CATEGORIES = {
    "length": Category(about="The length of the title", values=("short", "medium", "long")),
}
# Seconds after a row within which the next one or two are made.
_MOMENT = 0.01
LEAST = 20
"""Questions of a summary at least."""
_KANA = str.maketrans("0123456789", "まみむめもやゆよらり")
ASKED = ("the first of them", "born in the city", "its music and film")
Rows = dict[str, list[DerivedRow]]
"""By layer, what is written down, in the order in which it was."""


def main() -> None:
    """Run all rounds."""
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=100, metavar="N", help="kills (100)")
    options.add_argument("--paragraphs", type=int, default=60, metavar="N", help="of them (60)")
    options.add_argument(
        "--layer", default="", choices=LAYERS, help="kill while this one is made (at any moment)"
    )
    options.add_argument("--seed", type=int, default=1, metavar="N", help="of the moments (1)")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench(chosen, Path(folder))


def child(home: Path, log: Path) -> None:
    """Make the layers, noting how many rows are written down."""
    note = noting(log)

    def tell(event: Progress) -> None:
        note({"at": event.phase.name, "made": event.done - event.earlier})

    made = sum(report.made for report in make(home, tell))
    note({"at": "end", "made": made})


def make(home: Path, on_event: Listener = ignore) -> list[LayerReport]:
    """Make all layers, as the command does."""
    workspace, model = Workspace.locate(home), reader()
    return list(
        prepare(
            workspace,
            "main",
            Config(),
            LAYERS,
            categories=CATEGORIES,
            least=LEAST,
            on_event=on_event,
            opener=lambda *_: model,
        )
    )


def reader() -> "ScriptedChat":
    """The model of all runs."""
    from tiny_models.scripted import ScriptedChat

    class Reader(ScriptedChat):
        def chat(self, request: Any, *args: Any, **kwargs: Any) -> Any:
            self._replies = [reply_to(request.messages[-1].content)]
            return super().chat(request, *args, **kwargs)

    return Reader()


def reply_to(prompt: str) -> str:
    """What the model says."""
    if rewritten := _REWRITTEN.search(prompt):
        name, _, rest = rewritten[1].partition(" ")
        return json.dumps({"pairs": [{"question": f"What {rest[:200]}?", "answer": name}]})
    if items := _ITEM.findall(prompt):
        return json.dumps({"summary": items[0]})
    if first := _NUMBERED.search(prompt):
        # In kana, so that no English word of the answer stands in the question, and no figure.
        number = str(sum(map(ord, first[1]))).translate(_KANA)
        pair = {"sentences": [1], "question": f"{number}のはじめは何か", "answer": first[2]}
        return json.dumps({"pairs": [pair]})
    title, sentence = _DOCUMENT.search(prompt), _SENTENCE.findall(prompt)
    assert title
    if not sentence:
        length = CATEGORIES["length"].values[min(len(title[1]) // 10, 2)]
        return json.dumps({"length": [length]})
    from tiny_models.scripted import rewriting

    return rewriting(sentence[-1], _PRONOUN.sub(title[1], sentence[-1], count=1))


def bench(chosen: argparse.Namespace, folder: Path) -> None:
    """Run all rounds and print the outcome of each."""
    chance = random.Random(chosen.seed)
    base = prepared(chosen, folder)
    before = rows(base)

    home = folder / "undisturbed"
    shutil.copytree(base, home)
    log, started = folder / "whole", time.perf_counter()
    carry_out(partial(child, home, log))
    seconds, made = time.perf_counter() - started, told(log)[-1]["made"]
    truth, answers = rows(home), answers_of(home)
    count = sum(map(len, truth.values()))
    to_make = {layer: len(set(truth[layer]) - set(before[layer])) for layer in LAYERS}
    print(
        f"{chosen.paragraphs} paragraphs, {count:,} rows of {len(LAYERS)} layers, {made:,} of them "
        f"to make, {sum(map(len, answers)):,} texts found by words; undisturbed {seconds:.1f} s"
    )

    where: Counter[str] = Counter()
    while where.total() < chosen.rounds:
        home = folder / "round"
        shutil.copytree(base, home)
        if chosen.layer:
            last = {
                "at": PHASES[chosen.layer].name,
                "made": chance.randrange(1, to_make[chosen.layer] + 1),
            }
            lines = kill_child(home, partial(lines_hold, last), chance.uniform(0, _MOMENT))
        else:
            lines = kill_child(home, None, chance.uniform(0.0, seconds))
        there = rows(home)
        for layer, made in told_of(lines).items():
            assert len(set(there[layer]) - set(before[layer])) >= made, "a row told is lost"
        afterwards = sum(report.made for report in make(home))
        standing = examine(there, rows(home), truth)
        assert answers_of(home) == answers, "the index finds something else"
        assert afterwards == count - standing, "something was made again"
        shutil.rmtree(home)
        stage = lines[-1]["at"] if lines else "start"
        if stage == "end":
            # It was faster than the first time, and there was nothing left to kill.
            seconds *= 0.9
            continue
        where[stage] += 1
        print(
            f"  round {where.total():2}: killed in {stage!r}, {standing:,} rows stand, "
            f"{afterwards:,} made afterwards"
        )
    print(
        f"n = {chosen.rounds}, failures 0 (95 % upper bound {1 - 0.05 ** (1 / chosen.rounds):.1%});"
        f" killed in {dict(where)}"
    )


def prepared(chosen: argparse.Namespace, folder: Path) -> Path:
    """A workspace with layers of half of its paragraphs, one of which has changed since."""
    path = chosen.data / "multihop" / "hotpotqa.json"
    contexts = (
        (title, "".join(sentences))
        for record in json.loads(path.read_text(encoding="utf-8"))
        for title, sentences in record["context"]
    )
    paragraphs = list(dict.fromkeys(contexts))[: chosen.paragraphs]
    workspace = Workspace.locate(folder / "base")
    workspace.init()
    table = folder / "paragraphs.jsonl"

    def put(some: Sequence[tuple[str, str]]) -> None:
        texts = ({"id": f"p{n}", "title": t, "text": one} for n, (t, one) in enumerate(some))
        table.write_text("".join(json.dumps(text) + "\n" for text in texts), encoding="utf-8")
        add(workspace, "main", [table])
        index(workspace, "main")

    put(paragraphs[: len(paragraphs) // 2])
    make(workspace.home)
    title, text = paragraphs[0]
    put([(title, f"{text} It is told so."), *paragraphs[1:]])
    return workspace.home


def rows(home: Path) -> Rows:
    """The rows of all layers."""
    place = Workspace.locate(home).corpus("main")
    return {layer: list(DerivedLayer(place, layer).rows()) for layer in LAYERS}


def answers_of(home: Path) -> list[set[FoundText]]:
    """What the index of each layer holds of some words; it is that of the rows as they are."""
    workspace = Workspace.locate(home)
    with (
        CorpusStore.open(workspace.corpus("main").store, read_only=True) as store,
        LayerIndex.open(workspace, "main", Config(), store) as found,
    ):
        assert not found.is_behind
        # As many as there can be: of those with the same score another one may come first.
        asked = partial(found.by_words, store, k=100_000, filters=Filters())
        return [set(asked(text, layer=layer)) for layer in SEARCHED for text in ASKED]


def examine(there: Rows, now: Rows, truth: Rows) -> int:
    """Check what a killed and a second run have come to; returns the rows that stood in between."""
    standing = 0
    for layer in LAYERS:
        by_place = {row.place: row for row in now[layer]}
        assert len(by_place) == len(now[layer]), "something has two rows"
        assert substance(now[layer]) == substance(truth[layer])
        good = [row for row in there[layer] if by_place[row.place].made_of == row.made_of]
        assert all(by_place[row.place] == row for row in good), "a row was made again"
        standing += len(good)
    return standing


def substance(some: Sequence[DerivedRow]) -> set[DerivedRow]:
    """Rows in any order, without the time that they took."""
    return {replace(row, seconds=0.0) for row in some}


def told_of(lines: Sequence[Any]) -> dict[str, int]:
    """How many rows of each layer a child has told."""
    return {
        layer: max((line["made"] for line in lines if line["at"] == PHASES[layer].name), default=0)
        for layer in LAYERS
    }


def lines_hold(line: Any, lines: list[Any]) -> bool:
    """Whether a line is among those told."""
    return line in lines


def kill_child(home: Path, ready: Callable[[list[Any]], bool] | None, moment: float) -> list[Any]:
    """Kill the child so many seconds after it has told something; returns what it told.

    Args:
        home: of the workspace.
        ready: whether it has, by what it told; None where it need not tell anything.
        moment: the seconds.
    """
    log = home.with_suffix(".killed")
    killed_once(lambda: ready is None or ready(told(log)), moment, partial(child, home, log))
    lines = told(log)
    log.unlink(missing_ok=True)
    return lines


if __name__ == "__main__":
    main()
