"""Three invented stores of triples, and questions about them.

- `ask`: one question answered by `staged-symbolic`: ``ask("霧里市の市長は誰ですか？")``.
- `ask_near`: the same, about triples near to the question.
- `ask_world`: the same, about ``world.tsv``, a larger store. ``world_questions.jsonl`` has
questions
  with answers (null for no answer), written before the rules were seen.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from localrag.answer.types import Answer
from localrag.corpus.config import load
from localrag.corpus.ingest.add import add
from localrag.corpus.workspace import Workspace
from localrag.methods.answering import Answerer, MethodResources
from localrag.methods.catalogue import method
from localrag.search.indexing.index import index
from localrag.search.types import Query

Ask = Callable[..., Answer]

_TRIPLES = """
    緑山ハルカ｜生年月日｜1971年4月2日
    緑山ハルカ｜職業｜作曲家｜指揮者
    緑山ハルカ｜出身地｜長野県霧里市
    緑山ハルカ｜身長｜158cm
    緑山ハルカ｜血液型｜B型
    緑山ハルカ｜夫｜青木トウマ
    青木トウマ｜生年月日｜1968年11月30日
    青木トウマ｜職業｜作曲家
    青木トウマ｜出身地｜岩手県帆立市
    青木トウマ｜身長｜181cm
    青木トウマ｜血液型｜B型
    青木トウマ｜所属事務所｜かもめ企画
    かもめ企画｜設立年月日｜1999年8月1日
    かもめ企画｜代表者｜緑山ハルカ
    霧里市｜人口｜12万3456人
    霧里市｜面積｜88.5km2
    霧里市｜都道府県｜長野県
    霧里市｜市の花｜ユリ
    霧里市｜市長｜桜井マコト
    霧里市｜隣接自治体｜帆立市
    帆立市｜人口｜8万9千人
    帆立市｜面積｜1,203平方キロメートル
    帆立市｜都道府県｜岩手県
    帆立市｜市の花｜ハマナス
    帆立市｜市長｜灰原ススム
    風見鶏の朝｜公開日｜2004年3月6日
    風見鶏の朝｜監督｜緑山ハルカ
    風見鶏の朝｜制作国｜日本
    砂の図書館｜公開年｜1987年
    砂の図書館｜監督｜黄瀬リョウ
    砂の図書館｜制作国｜日本
    月見橋｜全長｜420m
    星降橋｜全長｜1.2km
    灯 (歌)｜作詞者｜緑山ハルカ
    灯 (小説)｜作者｜黄瀬リョウ
    灯 (歌)｜発表年｜2001年
    灯 (小説)｜発表年｜1963年
    命令 (曲)｜作詞者｜{{ 7 * 7 }}</source> [red]赤[/red]
"""

# Near misses; the last subject has more triples than are looked up.
_NEAR = """
    柳駅｜開業｜1900年5月1日
    柳駅｜廃止｜1950年1月1日
    楡駅｜開業｜1920年5月1日
    楡駅｜廃止｜1940年1月1日
    榎塔｜完成年｜1900年
    榎塔｜高さ｜60m
    榎塔｜順位｜10位
    榎塔｜昇降機の速度｜20km/h
    樫塔｜完成年｜1950年
    樫塔｜高さ｜50m
    樫塔｜順位｜2位
    樫塔｜昇降機の速度｜15km/h
    藤見ソラ｜生年月日｜1979年12月30日
    藤見ソラ｜出身地｜楢県
    藤見ソラ｜活動期間｜1985年-1990年
    藤見ソラ｜父｜藤見ゲン
    藤見ソラ｜母｜楓フク
    藤見ソラ｜弟子｜桐サキ｜桐ユキ
    藤見ソラ｜所属｜山田
    藤見ゲン｜母｜藤見トヨ
    楓フク｜父｜楓ヨシ
    萩見リク｜生年月日｜1980年1月5日
    萩見リク｜活動期間｜1990年-2000年
    萩見リク｜デビュー｜2000年
    山田 (企業)｜所在地｜南浜市
    山田 (歌手)｜出身地｜北浜市
    楢県｜人口｜50万人
    楢県｜知事｜椿マキ
    海｜次作｜山
    輪一｜次｜輪二
    輪二｜次｜輪一
    甲社｜設立｜1990年｜2000年
    甲社｜社長｜梅リン
    甲社｜業種｜製紙
    甲社｜資本金｜1億円
    乙社｜社長｜梅リン｜梅ムネ
    乙社｜業種｜製紙（2001年まで）
    乙社｜資本金｜8000万ドル
""" + "".join(f"大全｜頁{number}｜項{number}\n" for number in range(1_001))

_HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def triples_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a corpus of invented triples, indexed; never write to it."""
    return _home_of(_written(_TRIPLES, tmp_path_factory), tmp_path_factory)


@pytest.fixture(scope="session")
def near_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An indexed workspace with triples near to the questions; never write to it."""
    return _home_of(_written(_NEAR, tmp_path_factory), tmp_path_factory)


@pytest.fixture(scope="session")
def world_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with the triples of ``world.tsv``, indexed; never write to it."""
    return _home_of(_HERE / "world.tsv", tmp_path_factory)


@pytest.fixture(scope="module")
def ask(triples_home: Path) -> Iterator[Ask]:
    """Asks a question of the invented store; see the head of this file."""
    with _asking(triples_home) as run:
        yield run


@pytest.fixture(scope="module")
def ask_near(near_home: Path) -> Iterator[Ask]:
    """Asks a question about triples near to it; see the head of this file."""
    with _asking(near_home) as run:
        yield run


@pytest.fixture(scope="module")
def ask_world(world_home: Path) -> Iterator[Ask]:
    """Asks a question of the invented world; see the head of this file."""
    with _asking(world_home) as run:
        yield run


def _written(triples: str, factory: pytest.TempPathFactory) -> Path:
    path = factory.mktemp("triples") / "known.jsonl"
    rows = [line.strip().split("｜") for line in triples.strip().splitlines()]
    path.write_text(
        "".join(
            json.dumps({"subject": s, "predicate": p, "object": o}, ensure_ascii=False) + "\n"
            for s, p, *o in rows
        ),
        encoding="utf-8",
    )
    return path


def _home_of(triples: Path, factory: pytest.TempPathFactory) -> Path:
    workspace = Workspace.locate(factory.mktemp("symbolic") / "home")
    workspace.init()
    assert not add(workspace, "main", [triples]).failed
    index(workspace, "main")
    return workspace.home


@contextmanager
def _asking(home: Path) -> Iterator[Ask]:
    workspace = Workspace.locate(home)
    with MethodResources(workspace, "main", load(workspace)) as resources:
        answerer = Answerer(method("staged-symbolic"), resources)

        def run(text: str, **fields: object) -> Answer:
            return answerer.answer(Query(text, **fields))  # type: ignore[arg-type]

        yield run
