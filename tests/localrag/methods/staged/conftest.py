"""A small invented world of triples and documents, and `staged` played on it.

- `staged_home`: an indexed workspace with triples and short articles (session; never write to it).
- `staged`: one question answered with scripted replies: ``staged(question, *replies)``. It also
  takes ``stages="2-1"`` and the arguments of `play`.
- `split`: the reply to the decomposition: ``split((text, subject, predicate), …)``, with the fields
  of the comparison.
- `make_home`: makes an indexed workspace of triples and articles.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from localrag.corpus.config import ChatConfig, Config, MethodConfig
from localrag.corpus.ingest.add import add
from localrag.corpus.workspace import Workspace
from localrag.search.indexing.index import index
from localrag.search.types import Query

Triples = Iterable[tuple[str, str, list[str]]]
MakeHome = Callable[[Triples, Mapping[str, str]], Path]

TRIPLES = [
    ("青い灯台", "監督", ["黒潮レン"]),
    ("青い灯台", "公開日", ["2003年5月10日"]),
    ("砂の時計 (映画)", "監督", ["青凪ハル"]),
    ("砂の時計 (映画)", "公開日", ["1999年8月1日"]),
    ("黒潮レン", "生年月日", ["1981年12月24日"]),
    ("黒潮レン", "職業", ["映画監督"]),
    ("青凪ハル", "生年月日", ["1970年4月2日"]),
    ("青凪ハル", "職業", ["映画監督", "作曲家"]),
    ("青凪ハル", "出身地", ["汐見県渡瀬市"]),
    ("汐見県", "知事", ["白波ソウタ"]),
]
ARTICLES = {
    "渡瀬市": "渡瀬市は汐見県の北にある市である。市の花は浜木綿である。人口は１２万 3456人である。",
    "帆風工房": "帆風工房は凧を作る会社である。黒潮レンが2012年に設立した。本社は渡瀬市にある。",
    "浜木綿": "浜木綿は海辺に生える草である。花は夏に咲き、白い。",
}


@pytest.fixture(scope="session")
def make_home(tmp_path_factory: pytest.TempPathFactory) -> MakeHome:
    """Makes an indexed workspace."""

    def make(triples: Triples, articles: Mapping[str, str]) -> Path:
        folder = tmp_path_factory.mktemp("world")
        lines = [
            json.dumps({"subject": s, "predicate": p, "object": o}, ensure_ascii=False)
            for s, p, o in triples
        ]
        if lines:
            (folder / "triples.jsonl").write_text("\n".join(lines), encoding="utf-8")
        for title, text in articles.items():
            (folder / f"{title}.txt").write_text(text, encoding="utf-8")
        workspace = Workspace.locate(tmp_path_factory.mktemp("staged") / "home")
        workspace.init()
        add(workspace, "main", [folder])
        index(workspace, "main")
        return workspace.home

    return make


@pytest.fixture(scope="session")
def staged_home(make_home: MakeHome) -> Path:
    """The invented world; never write to it."""
    return make_home(TRIPLES, ARTICLES)


@pytest.fixture
def staged(play: Callable[..., Any], staged_home: Path) -> Callable[..., Any]:
    """Plays `staged`; see the head of this file."""

    def run(
        question: str | Query,
        *replies: Any,
        stages: str = "1-2-3",
        home: Path = staged_home,
        config: Config = Config(chat=ChatConfig(max_tokens=100)),  # noqa: B008 - immutable
        **others: Any,
    ) -> Any:
        query = question if isinstance(question, Query) else Query(question)
        ordered = MethodConfig.model_validate({"stages": stages})
        config = config.model_copy(update={"method": ordered})
        return play("staged", query, *replies, config=config, home=home, **others)

    return run


@pytest.fixture
def split() -> Callable[..., dict[str, Any]]:
    """Makes the reply that splits a question; see the head of this file."""

    def make(
        *queries: tuple[str, str, str],
        comparison: str | None = None,
        sides: Mapping[int, str] | None = None,
        claimed: int = 0,
        condition: str = "",
    ) -> dict[str, Any]:
        names = ("query", "subject", "predicate")
        return {
            "queries": [dict(zip(names, query, strict=True)) for query in queries],
            "comparison": comparison,
            "sides": [{"query": query, "name": name} for query, name in (sides or {}).items()],
            "claimed": claimed,
            "condition": condition,
        }

    return make
