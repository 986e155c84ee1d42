"""Lookup of subjects among millions of triples: speed, quality, cost.

The 2,186 triples of ``jemhopqa/triples.jsonl`` are in the middle of made ones (from a seed, 4 a
subject on average). Half of the made subjects share part of their name with another: a
disambiguator, a longer name, or another width or form of characters. Subjects of the shared
questions' derivations are looked up, exactly and in other spellings; the questions are searched for
mentions. The stage `subject` succeeds if the gold triple with all objects is among its first ten.
"""

import json
import random
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.options import parser
from bench.peak_memory import PeakMemory
from bench.rates import latency, rate

from localrag.corpus.ingest.add import add
from localrag.corpus.knowledge import Knowledge
from localrag.corpus.readers.triples import triple
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Triple
from localrag.corpus.workspace import Workspace
from localrag.search.indexing.index import index
from localrag.search.predicates import triples_of
from localrag.search.types import Filters
from localrag.search.units import Admission

SEED = 20
FIRST = 10
# fmt: off
SURNAMES = (
    "佐藤", "鈴木", "高橋", "田中", "渡辺", "伊藤", "山本", "中村", "小林", "加藤", "吉田",
    "山田", "佐々木", "山口", "松本", "井上", "木村", "林", "斎藤", "清水", "山崎", "森",
    "池田", "橋本", "阿部", "石川", "小川", "前田", "藤田", "岡田", "黒沢", "滝川", "桜井",
    "広瀬", "国分", "沢村", "浜口", "渡部", "長谷川", "三宅",
)
SYLLABLES = (
    "一二三四五六八九太郎次介助平吉夫男美子恵香里奈緒真由希央海空花月陽翔蓮葵悠颯斗凛"
    "結愛心咲彩千春夏秋冬"
)
KATAKANA = (
    "アイウエオカキクケコサシスセソタチツテトナニハヒフヘホマミムメモラリルレロワンガ"
    "ギグゲゴザジズダデドバビブベボ"
)
WORDS = (
    "物語", "伝説", "日記", "冒険", "革命", "劇場", "学園", "高校", "大学", "鉄道", "株式会社",
    "公園", "寺", "神社", "城", "川", "山", "島", "市", "町",
)
KINDS = (
    "俳優", "歌手", "政治家", "曲", "映画", "小説", "アルバム", "企業", "漫画", "野球選手",
    "サッカー選手", "テレビドラマ", "架空の人物",
)
PREDICATES = (
    "生年月日", "没年月日", "出身地", "職業", "血液型", "身長", "所属事務所", "国籍", "所在地",
    "設立", "代表者", "売上高", "従業員数", "監督", "脚本", "主演", "公開日", "放送局", "作者",
    "出版社", "ジャンル", "発売日", "レーベル", "作詞者", "作曲者", "面積", "人口", "別名",
    "開業", "路線",
)
# fmt: on
OLD_FORMS = str.maketrans("沢辺斎桜広国浜滝学真恵黒", "澤邊齋櫻廣國濱瀧學眞惠黑")
KANJI_DIGITS = str.maketrans("0123456789", "〇一二三四五六七八九")


def main() -> None:
    """Build the store where it is missing, look up, and print."""
    options = parser(__doc__, work=True)
    options.add_argument(
        "--triples", type=int, default=5_000_000, metavar="N", help="made ones (5,000,000)"
    )
    options.add_argument("--index", action="store_true", help="build the BM25 index as well")
    chosen = options.parse_args()
    shared = chosen.data / "jemhopqa"
    place = Workspace(chosen.work.resolve() / f"knowledge-{chosen.triples}").corpus("knowledge")
    if not place.store.exists():
        build(place.store.parents[2], shared / "triples.jsonl", chosen.triples)
    print(f"store: {megabytes(place.store.stat().st_size)}")
    if chosen.index:
        measured("index", lambda: index(Workspace(place.store.parents[2]), "knowledge"))
    with CorpusStore.open(place.store, read_only=True) as store:
        questions = json.loads((shared / "train.json").read_text(encoding="utf-8"))
        stored = lines(shared / "triples.jsonl")
        look_up(store.knowledge, sorted({said.subject for said in stored}))
        print(f"mentions in the questions: {latency([*mentions(store.knowledge, questions)])}")
        long = "".join(question["question"] for question in questions)[:10_000]
        started = time.perf_counter()
        found = len(store.knowledge.mentions(long))
        print(f"mentions in 10,000 characters: {time.perf_counter() - started:.2f} s, {found:,}")
        gold = sorted(set(derived(questions)) & set(stored), key=str)
        for name, vary in (("exact", str), ("varied", varied)):
            ranks, seconds = search(store, gold, vary)
            first = sum(rank == 1 for rank in ranks)
            print(
                f"stage subject, {name}: n = {len(ranks):,}, gold first "
                f"{rate(first, len(ranks))}, in the first {FIRST} "
                f"{rate(sum(0 < rank <= FIRST for rank in ranks), len(ranks))}; {latency(seconds)}"
            )


def build(home: Path, shared: Path, made: int) -> None:
    """Write the file of triples and add it to a fresh corpus."""
    home.mkdir(parents=True, exist_ok=True)
    file = home / "triples.jsonl"
    with file.open("w", encoding="utf-8") as out:
        written = 0
        for said in made_triples(made):
            out.write(json.dumps(said, ensure_ascii=False) + "\n")
            written += 1
            if written == made // 2:
                out.write(shared.read_text(encoding="utf-8"))
    print(f"file: {megabytes(file.stat().st_size)}, {written:,} made triples and the shared ones")
    seconds = measured("add", lambda: add(Workspace(home), "knowledge", [file]))
    print(f"{written / seconds:,.0f} triples/s")
    file.unlink()


def measured(what: str, work: Callable[[], object]) -> float:
    """Run a step, print what it cost, and return its seconds."""
    started = time.perf_counter()
    with PeakMemory() as peak:
        result = work()
    seconds = time.perf_counter() - started
    print(f"{what}: {seconds:.0f} s, peak memory {megabytes(peak.bytes)}")
    if failed := getattr(result, "failed", ()):
        sys.exit(f"{len(failed)} failed; the first: {failed[0]}")
    return seconds


def made_triples(count: int) -> Iterator[dict[str, object]]:
    """Triples of made subjects; those of a subject are consecutive."""
    chance = random.Random(SEED)
    written = 0
    while written < count:
        subject = made_name(chance)
        for predicate in chance.sample(PREDICATES, min(chance.randint(1, 7), count - written)):
            objects = [made_object(chance) for _ in range(chance.choice((1, 1, 1, 2)))]
            yield {"subject": subject, "predicate": predicate, "object": objects}
            written += 1


def made_name(chance: random.Random) -> str:
    """A name as titles of an encyclopaedia are, half of them like another one."""
    kind = chance.random()
    if kind < 0.5:
        name = chance.choice(SURNAMES) + "".join(chance.choices(SYLLABLES, k=chance.randint(1, 3)))
    elif kind < 0.8:
        name = "".join(chance.choices(KATAKANA, k=chance.randint(2, 7)))
        name += chance.choice(("", "・" + "".join(chance.choices(KATAKANA, k=4))))
    else:
        name = "".join(chance.choices(SYLLABLES, k=2)) + chance.choice(WORDS)
    match chance.randrange(10):
        case 0 | 1:
            return f"{name} ({chance.choice(KINDS)})"
        case 2:
            return name + chance.choice(WORDS)
        case 3:
            return name.translate(OLD_FORMS)
        case 4:
            return f"{name} {chance.choice(WORDS)}{chance.randint(1, 99)}"
        case _:
            return name


def made_object(chance: random.Random) -> str:
    """A date, a quantity, or a name."""
    match chance.randrange(3):
        case 0:
            year, month, day = chance.randint(1900, 2023), chance.randint(1, 12), 28
            return f"{year}年{month}月{chance.randint(1, day)}日"
        case 1:
            return f"{chance.randint(1, 99_999):,}{chance.choice(('人', 'm', '円', 'km2'))}"
        case _:
            return made_name(chance)


def lines(path: Path) -> list[Triple]:
    """The triples of a JSONL file."""
    records = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [triple(of["subject"], of["predicate"], of["object"]) for of in records]


def derived(questions: list[dict[str, list[tuple[str, str, list[str]]]]]) -> Iterator[Triple]:
    """The triples of the derivations."""
    for question in questions:
        for subject, predicate, objects in question["derivations"]:
            yield triple(subject, predicate, objects)


def varied(name: str) -> str:
    """A name as somebody else would write it: width, brackets, quotation marks, forms, numerals."""
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in name)
    halved = unicodedata.normalize("NFKC", name).lower().replace("・", " ")
    spellings = (
        wide,
        f"『{halved}』",
        name.replace(" (", "（").replace(")", "）").translate(OLD_FORMS),
        name.translate(KANJI_DIGITS).replace("・", "＝"),
    )
    return spellings[sum(map(ord, name)) % len(spellings)]


def look_up(knowledge: Knowledge, names: list[str]) -> None:
    """Look names up exactly and varied; print how fast, and how often the subject comes first."""
    for what, vary in (("exact", str), ("varied", varied)):
        seconds, first = [], 0
        for name in names:
            started = time.perf_counter()
            subjects = knowledge.subjects(vary(name))
            seconds.append(time.perf_counter() - started)
            first += subjects[:1] == [name]
        print(f"look-up, {what}: {latency(seconds)}; the subject first {rate(first, len(names))}")


def mentions(knowledge: Knowledge, questions: list[dict[str, str]]) -> Iterator[float]:
    """The seconds of finding the mentions of each question."""
    for question in questions:
        started = time.perf_counter()
        knowledge.mentions(question["question"])
        yield time.perf_counter() - started


def search(
    store: CorpusStore, gold: list[Triple], vary: Callable[[str], str]
) -> tuple[list[int], list[float]]:
    """The rank of each gold triple in the stage `subject`, 0 where it is missing; and seconds."""
    ranks, seconds = [], []
    admission = Admission(store, Filters())
    for asked in gold:
        started = time.perf_counter()
        scores, _ = triples_of(store, vary(asked.subject), asked.predicate, admission)
        best = sorted(scores, key=lambda unit: -scores[unit])
        seconds.append(time.perf_counter() - started)
        found = [passage.triple for unit in best if (passage := store.by_id(unit))]
        ranks.append(found.index(asked) + 1 if asked in found else 0)
    return ranks, seconds


def megabytes(count: int) -> str:
    """A number of bytes in words."""
    return f"{count / 1e6:,.0f} MB"


if __name__ == "__main__":
    main()
