"""Wikipedia from a dump to the store: rate, memory, and the cost of `kill -9`.

The dump is made from a seed in the form of CirrusSearch: invented articles, 2 KB in the median with
a long tail, each with wikitext, half with a box, some with redirects. Printed are articles and
megabytes a second, and memory of all processes at a tenth, a half and the end. Then the file is
entered in several runs, each but the last killed at a random moment. The store must be equal;
articles parsed twice, between the last note and the kill, are counted.
"""

import argparse
import gzip
import json
import os
import random
import tempfile
import time
from functools import partial
from hashlib import sha256
from pathlib import Path

from bench.options import parser
from bench.own_process import killed_once, noting, told
from bench.peak_memory import PeakMemory

from localrag.corpus.ingest.add import AddReport, add
from localrag.corpus.ingest.events import DocumentsStored, Event, FileResumed
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import PASSAGES, TRIPLES
from localrag.corpus.workspace import Workspace

WORDS = (
    "港", "灯台", "渡し舟", "運河", "岬", "潮流", "船頭", "桟橋", "漁村", "航路", "石垣", "水門",
    "市場", "祭礼", "街道", "酒蔵", "織物", "工房", "学校", "図書館", "鉄道", "駅舎", "橋梁",
    "堤防", "観測所", "気象", "地図", "測量", "歌謡", "演劇", "楽団", "画家", "詩人", "監督",
    "選手", "大会", "記録", "協会", "会社", "工場",
)  # fmt: skip
VERBS = ("開いた", "造った", "渡った", "記した", "守った", "広めた", "始めた", "改めた", "支えた")
PLACES = ("東", "西", "南", "北", "上", "下", "奥", "浜", "島", "川")
MEDIAN_CHARACTERS = 700
"""Of Japanese text: 2 KB in UTF-8."""


def main() -> None:
    """Make a dump, and enter it undisturbed and with kills."""
    options = parser(__doc__, data=False)
    options.add_argument(
        "--articles", type=int, default=100_000, metavar="N", help="of the dump (100000)"
    )
    options.add_argument("--kills", type=int, default=5, metavar="N", help="goes cut short (5)")
    options.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, metavar="N", help="processes"
    )
    options.add_argument(
        "--seed", type=int, default=1, metavar="N", help="of the articles and the kills (1)"
    )
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench(chosen, Path(folder))


def bench(chosen: argparse.Namespace, folder: Path) -> None:
    """Make the dump, enter it undisturbed and disturbed, and print what came of it."""
    dump = folder / "jawiki-20260101-cirrussearch-content.json.gz"
    started = time.perf_counter()
    unpacked = write_dump(dump, chosen.articles, random.Random(chosen.seed))
    print(
        f"{chosen.articles:,} articles, {unpacked / 1e6:,.0f} MB, packed "
        f"{dump.stat().st_size / 1e6:,.0f} MB, made in {time.perf_counter() - started:.0f} s"
    )
    whole = folder / "whole"
    undisturbed(whole, dump, unpacked, chosen)
    if chosen.kills:
        disturbed(folder / "killed", dump, chosen)
        assert contents(whole) == contents(folder / "killed"), "the stores differ"
        print("  documents, passages and triples as without any kill")


def undisturbed(home: Path, dump: Path, unpacked: int, chosen: argparse.Namespace) -> None:
    """Enter the dump in one go, then once more."""
    shares = {0.1: 0, 0.5: 0, 1.0: 0}
    done = 0

    def listen(event: Event) -> None:
        nonlocal done
        if isinstance(event, DocumentsStored):
            done += len(event.added)
            for share in shares:
                if not shares[share] and done >= share * chosen.articles:
                    shares[share] = peak.bytes

    cpu = sum(os.times()[:4])
    with PeakMemory() as peak:
        report = add(
            Workspace.locate(home), "jawiki", [dump], workers=chosen.workers, on_event=listen
        )
    cpu = sum(os.times()[:4]) - cpu
    check(report)
    with CorpusStore.open(store_of(home)) as store:
        passages, triples = store.count([PASSAGES]), store.count([TRIPLES])
        assert store.check() == []
    print(
        f"  {report.seconds:.1f} s with {chosen.workers} workers ({cpu:.1f} s CPU): "
        f"{report.added / report.seconds:,.0f} articles/s, {unpacked / 1e6 / report.seconds:.1f} "
        f"MB/s; {passages:,} passages, {triples:,} triples, store "
        f"{store_of(home).stat().st_size / 1e6:,.0f} MB"
    )
    at = ", ".join(f"{share:.0%}: {size / 1e6:.0f} MB" for share, size in shares.items())
    print(f"  peak memory when so much is entered: {at}")
    again = add(Workspace.locate(home), "jawiki", [dump])
    assert again.files_unchanged == 1
    print(f"  added again, unchanged: {again.seconds:.1f} s")


def disturbed(home: Path, dump: Path, chosen: argparse.Namespace) -> None:
    """Enter the dump in several goes that are killed, then to its end."""
    chance = random.Random(chosen.seed)
    stored = 0
    for reached in sorted(chance.randrange(chosen.articles) for _ in range(chosen.kills)):
        log = home.with_suffix(f".{reached}")
        ready = partial(acknowledged, log, reached - stored)
        killed_once(ready, chance.uniform(0, 1), partial(child, home, dump, chosen.workers, log))
        total = stored + sum(told(log))
        with CorpusStore.open(store_of(home), create=True) as store:
            assert store.check() == []
            files = store.files.all().values()
            stored = sum(1 for _ in store.documents())
        assert all(file.complete or file.line == 2 * stored for file in files), "wrongly noted"
        print(f"  killed after {total:,} articles were acknowledged, {stored:,} are stored")
        assert stored >= total, "what was acknowledged is lost"
    seen: list[Event] = []
    report = add(
        Workspace.locate(home), "jawiki", [dump], workers=chosen.workers, on_event=seen.append
    )
    check(report)
    assert report.added == chosen.articles - stored, "an article that is stored was read again"
    resumed = sum(event.line for event in seen if isinstance(event, FileResumed))
    assert resumed == 2 * stored or stored == chosen.articles
    batches = (len(event.added) for event in seen if isinstance(event, DocumentsStored))
    largest = max(batches, default=0)
    print(
        f"  {chosen.kills} kills, then to the end: {report.added:,} articles in "
        f"{report.seconds:.1f} s; what a kill has parsed again is a batch ({largest:,} articles at "
        "most) and the pieces that were under way"
    )


def child(home: Path, dump: Path, workers: int, log: Path) -> None:
    """Enter the dump until killed, and note the articles of each batch."""
    note = noting(log)

    def tell(event: Event) -> None:
        if isinstance(event, DocumentsStored):
            note(len(event.added))

    add(Workspace.locate(home), "jawiki", [dump], workers=workers, on_event=tell)


def acknowledged(log: Path, articles: int) -> bool:
    """Whether so many articles are noted."""
    return bool(sum(told(log)) >= articles)


def check(report: AddReport) -> None:
    """Fail unless everything was entered."""
    assert not report.failed, report.failed[:3]
    assert not report.duplicates


def store_of(home: Path) -> Path:
    """The store of the corpus."""
    return Workspace.locate(home).corpus("jawiki").store


def contents(home: Path) -> str:
    """A digest of everything that was entered, in order."""
    digest = sha256()
    with CorpusStore.open(store_of(home)) as store:
        for info in store.documents():
            digest.update(f"{info} {store.text(info.id)}".encode())
        for _, passage in store.passages():
            digest.update(repr(passage).encode())
    return digest.hexdigest()


def write_dump(path: Path, articles: int, chance: random.Random) -> int:
    """Write the dump; returns its bytes before they were packed."""
    written = 0
    with gzip.open(path, "wb", compresslevel=3) as file:
        for number in range(1, articles + 1):
            action = {"index": {"_type": "_doc", "_id": str(number)}}
            for line in (action, page(number, chance)):
                written += file.write(
                    f"{json.dumps(line, ensure_ascii=False, separators=(',', ':'))}\n".encode()
                )
    return written


def page(number: int, chance: random.Random) -> dict[str, object]:
    """An invented article with the fields that a dump has."""
    title = f"{chance.choice(PLACES)}{chance.choice(WORDS)}{number}"
    length = MEDIAN_CHARACTERS * chance.lognormvariate(0, 0.9)
    sentences = [f"{title}は{chance.choice(WORDS)}である。"]
    while sum(map(len, sentences)) < min(length, 60_000):
        first, second, third = chance.choices(WORDS, k=3)
        sentences.append(
            f"{chance.randint(1600, 2020)}年、{first}の{second}が{third}を{chance.choice(VERBS)}。"
        )
    text = "".join(sentences)
    redirects = [
        {"namespace": 0, "title": f"{title}の別称{n}"} for n in range(chance.choice((0, 0, 1, 2)))
    ]
    return {
        "template": ["Template:Reflist"],
        "content_model": "wikitext",
        "opening_text": sentences[0],
        "wiki": "jawiki",
        "auxiliary_text": [],
        "language": "ja",
        "title": title,
        "version": 90_000_000 + number,
        "external_link": ["https://example.org/"],
        "namespace_text": "",
        "namespace": 0,
        "text_bytes": len(text.encode()),
        "incoming_links": chance.randint(0, 300),
        "text": text,
        "category": [f"{chance.choice(PLACES)}の{chance.choice(WORDS)}"],
        "outgoing_link": list(chance.choices(WORDS, k=20)),
        "timestamp": "2026-01-01T00:00:00Z",
        "redirect": redirects,
        "wikibase_item": f"Q{number}",
        "heading": ["歴史", "脚注"],
        "source_text": f"{box(chance) if number % 2 else ''}{wikitext(sentences)}",
        "popularity_score": chance.random() / 1e5,
        "create_timestamp": "2010-01-01T00:00:00Z",
    }


def box(chance: random.Random) -> str:
    """An invented box with the constructions that real ones have."""
    first, second, third, fourth = chance.sample(WORDS, k=4)
    year, month, day = chance.randint(1850, 2005), chance.randint(1, 12), chance.randint(1, 28)
    return (
        f"{{{{Infobox 施設\n| 名称 = [[{first}]]館\n| 画像 = [[ファイル:{first}.jpg|220px]]\n"
        f"| 所在地 = {{{{JPN}}}}・[[{second}県]][[{third}市]]<ref>[[{second}]]、{year}年。</ref>\n"
        f"| 開業日 = {{{{開始年月日|{year}|{month}|{day}}}}}\n"
        f"| 設計者 = [[{third}]]<br />[[{fourth}]]\n"
        f"| 用途 = [[{first}]]・[[{fourth}]]\n| 面積 = {{{{formatnum:{year * 7}}}}}平方メートル\n"
        f"| 備考 = <!-- 未記入 -->\n| 管理者 = {{{{Plainlist|\n* [[{second}]]\n* {third}\n}}}}\n"
        f"| 背景色 = #ffcc00\n| 人口 = {year * 31:,}人\n}}}}\n"
    )


def wikitext(sentences: list[str]) -> str:
    """The article's text with markup."""
    half = len(sentences) // 2
    return (
        f"'''{sentences[0]}'''\n\n== 歴史 ==\n"
        + "".join(f"{s}<ref>{{{{Cite book|title={s}}}}}</ref>" for s in sentences[1:half])
        + "\n\n== 脚注 ==\n{{Reflist}}\n"
        + "".join(sentences[half:])
    )


if __name__ == "__main__":
    main()
