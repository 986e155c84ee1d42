"""An invented world of triples and articles, and a `bench` that asks `staged` questions on it.

The path of each question through the stages is known:

- lighthouse: two queries, both found among the triples: answer and derivation right.
- workshop: the first query is not among the triples and read from an article, the second found:
  answer and derivation right.
- directors: the second query is given the triple of the first: the answer is right all the same.
- grave: found nowhere: not answered.

The model plays each role of `staged`, and the judges: `bench.model`.
"""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_models.scripted import ScriptedChat

from localrag.corpus.config import load
from localrag.corpus.ingest.add import add
from localrag.corpus.types import Triple
from localrag.corpus.workspace import Workspace
from localrag.evaluation.planning import Plan, plan
from localrag.evaluation.runner import Finished, evaluate
from localrag.evaluation.types import Dataset, Event, Question, Questions
from localrag.search.indexing.index import index
from localrag.search.types import Query
from localrag_models.chat import ChatRequest, Reply, ignore, never, overlook
from localrag_models.store import ModelStore

TRIPLES = (
    ("青い灯台", "監督", "黒潮レン"),
    ("砂の時計", "監督", "青凪ハル"),
    ("黒潮レン", "生年月日", "1981年12月24日"),
    ("青凪ハル", "生年月日", "1970年4月2日"),
)
ARTICLE = "帆風工房は凧を作る会社である。黒潮レンが2012年に帆風工房を設立した。"

_FOUNDED = ("帆風工房", "設立者", "黒潮レン")
_ASKED = {
    "lighthouse": ("青い灯台の監督の生年月日はいつですか？", "1981年12月24日", (0, 2)),
    "workshop": ("帆風工房の設立者の生年月日はいつですか？", "1981年12月24日", (_FOUNDED, 2)),
    "directors": ("青い灯台と砂の時計の監督は同じですか？", "NO", (0, 1)),
    "grave": ("青凪ハルの墓所はどこですか？", "汐見寺", (("青凪ハル", "墓所", "汐見寺"),)),
}
_QUERIES = {
    "青い灯台の監督の": (("青い灯台", "監督"), ("Answer1", "生年月日")),
    "帆風工房の": (("帆風工房", "設立者"), ("Answer1", "生年月日")),
    "青い灯台と": (("青い灯台", "監督"), ("砂の時計", "監督")),
    "青凪ハルの墓所": (("青凪ハル", "墓所"),),
}
_SOURCE = re.compile(r'name="(?:知識|資料|文書)[^"]*?(\d+)">\n(.*?)\n</', re.DOTALL)


def questions() -> Questions:
    """The questions, as those of a dataset measured like JEMHopQA."""
    dataset = Dataset("lights", "灯台の問い", "nowhere", "CC0", "jemhopqa", (), measure="jemhopqa")
    asked = tuple(
        Question(
            id_,
            Query(text),
            answer,
            groups={
                "type": "comparison" if answer == "NO" else "compositional",
                "answer": "YES/NO" if answer == "NO" else "other",
            },
            derivation=tuple(
                Triple(subject, predicate, (one,))
                for subject, predicate, one in (
                    TRIPLES[step] if isinstance(step, int) else step for step in steps
                )
            ),
        )
        for id_, (text, answer, steps) in _ASKED.items()
    )
    return Questions(dataset, "dev", "0" * 64, asked)


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory, tiny_chat: Path) -> Path:
    """A workspace with the world as its corpus `main`, and a tiny model; never write to it."""
    folder = tmp_path_factory.mktemp("world")
    lines = (
        json.dumps({"subject": s, "predicate": p, "object": [o]}, ensure_ascii=False)
        for s, p, o in TRIPLES
    )
    (folder / "triples.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "帆風工房.txt").write_text(ARTICLE, encoding="utf-8")
    workspace = Workspace.locate(folder / "home")
    workspace.init()
    add(workspace, "main", [folder / "triples.jsonl", folder / "帆風工房.txt"])
    index(workspace, "main")
    ModelStore(workspace.models).add(tiny_chat, name="tiny", kind="chat")
    return workspace.home


class Playing(ScriptedChat):
    """Plays each role of `staged`, and the judges, as the head of this file says.

    Attributes:
        agrees: what a judge says that does.
        judging: what the judges say of whatever they are asked; called with the prompt.
        judged: the prompts of the judges, as they came.
        asked: how many calls were none of theirs.
    """

    def __init__(self) -> None:
        super().__init__()
        self.agrees = json.dumps({"reason": "so", "verdict": "right"})
        self.judging: Callable[[str], str] = lambda _: self.agrees
        self.judged: list[str] = []
        self.asked = 0

    def chat(
        self,
        request: ChatRequest,
        on_text: Callable[[str], None] = ignore,
        cancelled: Callable[[], bool] = never,
        on_read: Callable[[int, int], None] = overlook,
    ) -> Reply:
        said = request.messages[-1].content
        fields = set((request.schema or {})["properties"])
        if "verdict" in fields:
            self.judged.append(said)
            reply = self.judging(said)
        else:
            self.asked += 1
            reply = json.dumps(_played(fields, said))
        self._replies = [reply]
        return super().chat(request, on_text, cancelled, on_read)


def _played(fields: set[str], said: str) -> dict[str, object]:
    if "queries" in fields:
        wanted = next(queries for begin, queries in _QUERIES.items() if begin in said)
        return {
            "queries": [
                {"query": f"{subject}の{predicate}は？", "subject": subject, "predicate": predicate}
                for subject, predicate in wanted
            ],
            "comparison": None,
            "sides": [],
            "claimed": 0,
            "condition": "",
        }
    if "hit" in fields:
        return _chosen(said, of_triples="object" in fields)
    if fields == {"triple"}:
        return {"triple": None}
    return {"answer": "NO" if "砂の時計" in said else "1981年12月24日"}


def _chosen(said: str, *, of_triples: bool) -> dict[str, object]:
    wanted = {
        "青い灯台の監督は？": "青い灯台の監督は黒潮レン。",
        # The triple of the other film.
        "砂の時計の監督は？": "青い灯台の監督は黒潮レン。",
        "黒潮レンの生年月日は？": "黒潮レンの生年月日は1981年12月24日。",
        "帆風工房の設立者は？": "黒潮レンが2012年に帆風工房を設立した。",
    }
    sought = next((text for query, text in wanted.items() if query in said), "nothing")
    hit = next((int(n) for n, text in _SOURCE.findall(said) if sought in text), 0)
    if of_triples:
        return {"hit": hit, "object": sought.partition("は")[2].strip("。") if hit else ""}
    triple = dict(zip(("subject", "predicate", "object"), _FOUNDED, strict=True))
    return {"hit": hit, "triple": triple if hit else None}


class Bench:
    """Evaluations of `staged` over the world.

    Attributes:
        events: of the last one.
    """

    def __init__(self, workspace: Workspace, model: Playing) -> None:
        self.workspace = workspace
        self.model = model
        self.questions = questions()
        self.events: list[Event] = []

    def plan(self, *methods: str, **options: Any) -> Plan:
        settings = {"chat.model": "tiny", "chat.max_tokens": 400}
        config = load(self.workspace, settings)
        asked = methods or ("staged",)
        return plan(self.workspace, self.questions, "main", config, asked, **options)

    def run(self, *methods: str, retry_failed: bool = False, **options: Any) -> Finished:
        self.events.clear()
        self.model.judged.clear()
        planned = self.plan(*methods, **options)
        return evaluate(planned, retry_failed=retry_failed, on_event=self.events.append)


@pytest.fixture
def bench(world: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Four questions; see the head of this file."""
    pytest.importorskip("llama_cpp")
    pytest.importorskip("scipy")
    shutil.copytree(world, home)
    model = Playing()
    for room in ("methods.answering", "evaluation.judging"):
        monkeypatch.setattr(f"localrag.{room}.open_chat", lambda *_: model)
    return Bench(Workspace.locate(home), model)
