"""Cases of `kill.py` with models: vectors, layers, a batch, an evaluation, an optimisation."""

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from importlib import import_module
from operator import eq
from pathlib import Path
from typing import Any

from bench.corpora import write_questions
from bench.evaluation import essence, rows
from bench.options import law_files
from bench.own_process import EachRound, Note, OneRun, last_stage, told
from bench.prepare import CATEGORIES, reader
from bench.rates import rate
from tiny_models.chat import write_chat_gguf
from tiny_models.hashing import HashingEmbedder
from typing_extensions import override

from localrag import sample
from localrag.answer.types import UNWATCHED, Answer, Watch
from localrag.corpus.config import Config, load
from localrag.corpus.ingest.add import add
from localrag.corpus.ingest.events import EMBEDDING, Event
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace
from localrag.evaluation import runner, statistics
from localrag.evaluation.datasets import loading
from localrag.evaluation.optimize.folder import RunFolder
from localrag.evaluation.optimize.optimise import optimise
from localrag.evaluation.optimize.types import Event as OptimisationEvent
from localrag.evaluation.optimize.types import (
    OptimisationOutcome,
    OptimisationPlan,
    OptimisationProgress,
)
from localrag.evaluation.planning import Plan, plan
from localrag.methods import answering
from localrag.methods.answering import Answerer
from localrag.ops import batch
from localrag.prepare.index import LayerIndex
from localrag.prepare.layers import LAYERS, SEARCHED, DerivedLayer, DerivedRow, FoundText
from localrag.prepare.preparing import PHASES, LayerReport, Listener, prepare
from localrag.search.indexing.index import IndexState, index
from localrag.search.types import Filters, Query
from localrag.search.units import vector_state
from localrag.text.progress import Progress, ignore
from localrag_indexes.errors import IndexingError
from localrag_indexes.manifest import current
from localrag_indexes.vectors import Scored, VectorIndex, layout
from localrag_models.store import ModelStore

_SUBJECTS = (
    "渡し舟",
    "渡し守",
    "灯籠",
    "水位",
    "風速",
    "講習",
    "届出",
    "Fennimore",
    "観測所",
    "登録",
)
_ASKED = (
    "{}の基準は何か。",
    "{}の資格は何か。",
    "{}はいつ行うか。",
    "{}をしてはならないのはどのような場合か。",
    "Who is responsible for {}?",
)
MODEL = "tiny-random"
# Sampled: the likeliest tokens of random weights are the same for every question.
SETTINGS = {
    "chat.model": MODEL,
    "chat.temperature": 1.0,
    "chat.max_tokens": 512,
    "runtime.threads": 1,
}


class Embedding(EachRound):
    """The vectors in the base are of half of its documents, and are asked all the time.

    The embedder hashes pairs of characters, and graphs begin at ``--graph-from`` vectors, so that a
    round takes seconds.
    """

    size = 20
    asked = 0
    model = HashingEmbedder(dimension=64, window=120)
    questions = model.embed_queries(
        (
            "届出をしなければならない",
            "許可の取消し",
            "罰金に処する",
            "主務大臣は、政令で定める",
            "会社の取締役",
        )
    )

    @override
    def prepare(self) -> None:
        layout.EXACT_NUMBERS = self.chosen.graph_from * 64
        files = law_files(self.chosen.data)
        some = self.chance.sample(files[: len(files) * 3 // 4], self.count)
        workspace = Workspace.locate(self.base)
        workspace.init()
        add(workspace, "main", some[::2])
        index(workspace, "main", embedder=self.model)
        add(workspace, "main", some)
        index(workspace, "main")

    @override
    def work(self, home: Path, note: Note) -> None:
        known = len(self.model.embedded)

        def tell(event: Event) -> None:
            nonlocal known
            if isinstance(event, Progress):
                kept = self.model.embedded[known:] if event.phase == EMBEDDING else []
                known += len(kept)
                note({"at": event.phase.name, "kept": kept})

        index(Workspace.locate(home), "main", embedder=self.model, on_event=tell)
        note({"at": "end", "kept": []})

    @override
    def undisturbed(self, home: Path, lines: list[Any]) -> None:
        self.needed, self.truth = set(kept_windows(lines)), self.vectors(home)

    @override
    def meanwhile(self, home: Path) -> None:
        with self.answering(home) as vectors:
            for question in self.questions:
                right = vectors.search(question, 10, exact=True)
                assert len(right) == 10
                assert len(set(right) & set(vectors.search(question, 10))) >= 9
        self.asked += 1

    @override
    def left(self, home: Path, lines: list[Any]) -> str:
        self.meanwhile(home)
        return last_stage(lines)

    @override
    def completed(self, home: Path, before: list[Any], after: list[Any]) -> None:
        # What was embedded but not told when it was killed may be in neither list.
        first, second = set(kept_windows(before)), set(kept_windows(after))
        assert not first & second, "something acknowledged was embedded again"
        assert first | second <= self.needed
        assert self.vectors(home) == self.truth
        self.meanwhile(home)

    @override
    def run(self) -> None:
        super().run()
        print(f"{self.asked:,} answers of the vectors in use, all right")

    def answering(self, home: Path) -> VectorIndex:
        """Open the vectors in use, or those that replace them at this moment."""
        place = Workspace.locate(home).corpus("main")
        while True:
            folder = current(place.vectors)
            assert folder is not None
            try:
                return VectorIndex.open(folder, model=self.model.id, deep=True)
            except IndexingError:
                if current(place.vectors) == folder:
                    raise

    def vectors(self, home: Path) -> tuple[dict[bytes, bytes], list[list[Scored]]]:
        """Every vector by its digest, and the answers; only one fresh generation may be left."""
        place = Workspace.locate(home).corpus("main")
        with CorpusStore.open(place.store, read_only=True) as store:
            assert vector_state(place, store, deep=True) is IndexState.FRESH
        assert len(list(place.vectors.iterdir())) == 2
        with self.answering(home) as found:
            vectors = dict(zip(found.digests(), map(bytes, found.vectors), strict=True))
            return vectors, [found.search(one, 50, exact=True) for one in self.questions]


def kept_windows(lines: list[Any]) -> list[str]:
    """The windows noted; none may be noted twice."""
    windows = [window for line in lines for window in line["kept"]]
    assert len(windows) == len(set(windows))
    return windows


class Preparing(EachRound):
    """The base has layers of half of the paragraphs, and one paragraph has changed."""

    size = 60
    texts = ("the first of them", "born in the city", "its music and film")

    @override
    def prepare(self) -> None:
        path = self.chosen.data / "multihop" / "hotpotqa.json"
        contexts = (
            (title, "".join(sentences))
            for record in json.loads(path.read_text(encoding="utf-8"))
            for title, sentences in record["context"]
        )
        paragraphs = list(dict.fromkeys(contexts))[: self.count]
        Workspace.locate(self.base).init()
        self.enter(paragraphs[: len(paragraphs) // 2])
        make_layers(self.base)
        title, text = paragraphs[0]
        self.enter([(title, f"{text} It is told so."), *paragraphs[1:]])
        self.before = layer_rows(self.base)

    def enter(self, some: Sequence[tuple[str, str]]) -> None:
        """Add paragraphs to the base."""
        table, workspace = self.folder / "paragraphs.jsonl", Workspace.locate(self.base)
        texts = ({"id": f"p{n}", "title": t, "text": one} for n, (t, one) in enumerate(some))
        table.write_text("".join(json.dumps(text) + "\n" for text in texts), encoding="utf-8")
        add(workspace, "main", [table])
        index(workspace, "main")

    @override
    def work(self, home: Path, note: Note) -> None:
        def tell(event: Progress) -> None:
            note({"at": event.phase.name, "made": event.done - event.earlier})

        made = sum(report.made for report in make_layers(home, tell))
        note({"at": "end", "made": made})

    @override
    def undisturbed(self, home: Path, lines: list[Any]) -> None:
        self.truth, self.answers = layer_rows(home), self.found(home)
        print(f"{sum(map(len, self.truth.values())):,} rows of {len(LAYERS)} layers")

    @override
    def moment(self, seconds: float) -> tuple[Callable[[list[Any]], bool], float]:
        layer = self.chosen.layer
        if not layer:
            return super().moment(seconds)
        most = len(set(self.truth[layer]) - set(self.before[layer]))
        last = {"at": PHASES[layer].name, "made": self.chance.randrange(1, most + 1)}
        # Within a hundredth of a second the next one or two rows are made.
        return (lambda lines: last in lines), self.chance.uniform(0, 0.01)

    @override
    def left(self, home: Path, lines: list[Any]) -> str:
        self.there = layer_rows(home)
        for layer in LAYERS:
            told = [line["made"] for line in lines if line["at"] == PHASES[layer].name]
            new = len(set(self.there[layer]) - set(self.before[layer]))
            assert new >= max(told, default=0), "a row told is lost"
        return last_stage(lines)

    @override
    def completed(self, home: Path, before: list[Any], after: list[Any]) -> None:
        now, standing = layer_rows(home), 0
        for layer in LAYERS:
            by_place = {row.place: row for row in now[layer]}
            assert len(by_place) == len(now[layer]), "something has two rows"
            assert without_time(now[layer]) == without_time(self.truth[layer])
            good = [row for row in self.there[layer] if by_place[row.place].made_of == row.made_of]
            assert all(by_place[row.place] == row for row in good), "a row was made again"
            standing += len(good)
        assert after[-1]["made"] == sum(map(len, self.truth.values())) - standing
        assert self.found(home) == self.answers, "the index finds something else"

    def found(self, home: Path) -> list[set[FoundText]]:
        """What the index of each layer holds of some words."""
        workspace = Workspace.locate(home)
        with (
            CorpusStore.open(workspace.corpus("main").store, read_only=True) as store,
            LayerIndex.open(workspace, "main", Config(), store) as found,
        ):
            assert not found.is_behind
            # As many as there can be: of those with the same score another one may come first.
            asked = partial(found.by_words, store, k=100_000, filters=Filters())
            return [set(asked(text, layer=layer)) for layer in SEARCHED for text in self.texts]


def make_layers(home: Path, on_event: Listener = ignore) -> list[LayerReport]:
    """Make all layers, as the command does."""
    workspace, model = Workspace.locate(home), reader()
    made = prepare(
        workspace,
        "main",
        Config(),
        LAYERS,
        categories=CATEGORIES,
        least=20,
        on_event=on_event,
        opener=lambda *_: model,
    )
    return list(made)


def layer_rows(home: Path) -> dict[str, list[DerivedRow]]:
    """The rows of all layers, in the order in which they were written."""
    place = Workspace.locate(home).corpus("main")
    return {layer: list(DerivedLayer(place, layer).rows()) for layer in LAYERS}


def without_time(some: Sequence[DerivedRow]) -> set[DerivedRow]:
    """Rows in any order, without the time that they took."""
    return {replace(row, seconds=0.0) for row in some}


def with_sample(home: Path) -> Workspace:
    """A workspace with the sample corpus, indexed."""
    workspace = Workspace.locate(home)
    workspace.init()
    add(workspace, "main", [sample.FOLDER])
    index(workspace, "main")
    return workspace


class Batching(OneRun):
    """Made-up questions over the sample corpus are answered by a batch."""

    size = 2_000
    wait = 0.02

    @override
    def prepare(self) -> None:
        prepare_batch(self.base, self.chosen)
        made_up(self.base / "questions.jsonl", self.count, self.chance)

    @override
    def run(self) -> None:
        self.kept: set[str] = set()
        super().run()

    @override
    def work(self, home: Path, note: Note) -> None:
        class Counted(Answerer):
            """Answers as ever, after noting the question in a log that survives a kill."""

            def answer(self, query: Query, watch: Watch = UNWATCHED) -> Answer:
                note(query.text)
                return super().answer(query, watch)

        answering.Answerer = Counted  # type: ignore[misc]
        workspace = Workspace.locate(home)
        questions, answered = home / "questions.jsonl", home / "answers.jsonl"
        batch.run(workspace, "main", load(workspace), questions, answered)

    @override
    def killed(self, home: Path, before: list[Any], since: list[Any]) -> None:
        assert not set(since) & self.kept, "asked again though answered"
        now = {row["question"] for row in told(home / "answers.jsonl")}
        assert self.kept <= now, "lost"
        self.kept = now

    @override
    def compare(self, whole: Path, broken: Path, lines: list[Any], kills: int) -> str:
        truth, found = (told(home / "answers.jsonl") for home in (whole, broken))
        assert [row["question"] for row in found] == [row["question"] for row in truth], "order"
        same = sum(map(eq, map(essence_of_row, found), map(essence_of_row, truth)))
        again = len(lines) - len(truth)
        assert again <= kills
        statuses = dict(Counter(row["status"] for row in truth))
        return f"{statuses}; as undisturbed {rate(same, len(truth))}; {again} calls begun again"


def made_up(path: Path, count: int, chance: random.Random) -> list[str]:
    """Write so many different questions to a file, and return them."""
    texts = [
        _ASKED[number % 5].format(chance.choice(_SUBJECTS)) + f" ({number})"
        for number in range(count)
    ]
    path.write_text("".join(json.dumps({"question": text}) + "\n" for text in texts))
    return texts


def prepare_batch(home: Path, chosen: argparse.Namespace) -> None:
    """Make a workspace with the sample corpus, and with a model if one is named."""
    workspace = with_sample(home)
    if not chosen.model:
        return
    path = Path(chosen.model)
    if chosen.model == "tiny":
        path = home / "tiny.gguf"
        write_chat_gguf(path, context=8192)
    ModelStore(workspace.models).add(path, name=MODEL, kind="chat")
    workspace.settings.write_text(
        f'chat.model = "{MODEL}"\nchat.max_tokens = {chosen.tokens}\n'
        f"retrieval.k = {chosen.k}\nruntime.threads = 1\n"
    )


def essence_of_row(row: dict[str, object]) -> list[object]:
    """The part of a row that does not depend on time."""
    return [row.get(key) for key in ("row", "question", "status", "answer", "citations")]


class Evaluating(OneRun):
    """Made questions about the sample are answered by a method that needs no model."""

    size = 300
    wait = 0.05

    @override
    def prepare(self) -> None:
        workspace = with_sample(self.base)
        write_questions(workspace, workspace.home / "questions.jsonl", self.count)

    @override
    def run(self) -> None:
        # Import the slowest modules once, before the forks.
        statistics.require()
        self.kept: dict[str, list[object]] = {}
        super().run()

    @override
    def work(self, home: Path, note: Note) -> None:
        class Counted(Answerer):
            """Answers as ever, once the question is in a log that survives a kill."""

            def answer(self, query: Query, watch: Watch = UNWATCHED) -> Answer:
                note(query.text)
                return super().answer(query, watch)

        runner.Answerer = Counted  # type: ignore[attr-defined]
        runner.evaluate(planned(home), run="bench")

    @override
    def killed(self, home: Path, before: list[Any], since: list[Any]) -> None:
        assert not set(since) & set(self.kept), "asked again though answered"
        now = answers(home)
        assert all(now.get(text) == answer for text, answer in self.kept.items()), "lost"
        self.kept = now

    @override
    def compare(self, whole: Path, broken: Path, lines: list[Any], kills: int) -> str:
        truth, found = answers(whole), answers(broken)
        same = sum(found.get(text) == answer for text, answer in truth.items())
        under_way = len(lines) - len(found)
        assert found == truth
        assert under_way <= kills
        return f"as undisturbed {rate(same, len(truth))}; {under_way} under way when killed"


def planned(home: Path) -> Plan:
    """The plan of the evaluation."""
    workspace = Workspace.locate(home)
    questions = workspace.home / "questions.jsonl"
    made = loading.load(workspace, "lawqa", file=questions, corpus="main")
    return plan(workspace, made, "main", load(workspace), ["statute-lexical"])


def answers(home: Path) -> dict[str, list[object]]:
    """The result of each question that has one; each has one line."""
    made = planned(home)
    found = [row for setup in made.setups for row in rows(made, setup.folder)]
    by_question = {str(row["question"]): essence(row) for row in found}
    assert len(by_question) == len(found)
    return by_question


class Optimising(Evaluating):
    """A tiny model writes the queries and proposes the instructions; scores mean nothing."""

    size = 12
    wait = 0.3

    @override
    def prepare(self) -> None:
        super().prepare()
        path = self.base / f"{MODEL}.gguf"
        write_chat_gguf(path, context=32_768)
        ModelStore(Workspace.locate(self.base).models).add(path, name=MODEL, kind="chat", link=True)

    @override
    def run(self) -> None:
        for module in ("gepa.api", "llama_cpp", "localrag_models.backends.llama_cpp"):
            import_module(module)
        super().run()

    @override
    def work(self, home: Path, note: Note) -> None:
        def tell(event: OptimisationEvent) -> None:
            if isinstance(event, OptimisationProgress) and not event.replayed:
                note(event.calls)

        workspace = Workspace.locate(home)
        asked = OptimisationPlan(
            "bench",
            "lawqa",
            questions=workspace.home / "questions.jsonl",
            calls=self.chosen.calls,
            seed=self.chosen.seed,
        )
        optimise(workspace, "main", load(workspace, SETTINGS), asked, on_event=tell)

    @override
    def killed(self, home: Path, before: list[Any], since: list[Any]) -> None:
        pass  # The report is written at the end.

    @override
    def compare(self, whole: Path, broken: Path, lines: list[Any], kills: int) -> str:
        first, second = outcome(whole), outcome(broken)
        scores = ", ".join(f"{candidate.score:.3f}" for candidate in first.candidates)
        print(f"{first.calls} calls, ended by {first.end!r}; candidates {scores}")
        print(f"{first.validation} validation questions; refused {asdict(first.refused)}")
        for name in ("candidates", "best", "refused", "calls", "end"):
            if getattr(first, name) != getattr(second, name):
                sys.exit(f"{name} differ: {first}, {second}")
        return f"{len(first.candidates)} candidates, scores, refused proposals and calls are equal"


def outcome(home: Path) -> OptimisationOutcome:
    """The report of an optimisation."""
    found = RunFolder.of(Workspace.locate(home), "bench").outcome()
    assert found is not None
    return found
