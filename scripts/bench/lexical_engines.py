"""Lexical engines side by side on the same tokens: build, query time, recall, memory.

JSQuAD questions over their paragraphs with statute articles as distractors. Every engine runs in
a process of its own; memory is what it adds to the input, which all of them hold.

SQLite's trigram tokenizer works on the raw text and is asked for any trigram of the question; all
others get the tokens of `localrag_indexes.analysis`.
"""

import json
import lzma
import pickle
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

from bench.options import parser
from bench.peak_memory import PeakMemory
from bench.rates import latency, rate

from localrag_indexes.analysis import Analyzer
from localrag_indexes.bm25 import BM25Index, TextEntry, build

K = 10


@dataclass(frozen=True)
class Text:
    """A text as it is and as its terms."""

    raw: str
    terms: list[str]


@dataclass(frozen=True)
class Task:
    """Documents as header and body, and questions with the number of the right document."""

    documents: list[tuple[Text, Text]]
    questions: list[tuple[Text, int]]


@dataclass(frozen=True)
class Outcome:
    """What one engine did."""

    build_seconds: float
    query_seconds: list[float]
    found: list[list[int]]
    added_bytes: int


Search = Callable[[Text], list[int]]


class Split:
    """An analyzer for text that is already terms joined by blanks."""

    id = "split"

    def terms(self, text: str) -> list[str]:
        """Split at blanks."""
        return text.split()


def tantivy(task: Task, folder: Path) -> Search:
    """Search with the BM25 index of localrag, its defaults."""
    entries = (
        TextEntry(key, " ".join(header.terms), " ".join(body.terms), {})
        for key, (header, body) in enumerate(task.documents)
    )
    build(folder, entries, analyzer=Split(), attributes=[])
    index = BM25Index.open(folder)
    return lambda question: [hit.key for hit in index.search(question.terms, K)]


def bm25s(task: Task, _folder: Path) -> Search:
    """Search with bm25s: scores computed when building, kept as sparse matrices."""
    import bm25s

    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    index.index([header.terms + body.terms for header, body in task.documents], show_progress=False)

    def search(question: Text) -> list[int]:
        known = [term for term in question.terms if term in index.vocab_dict]
        if not known:
            return []
        return list(index.retrieve([known], k=K, show_progress=False).documents[0])

    return search


def rank_bm25(task: Task, _folder: Path) -> Search:
    """Search with rank-bm25: every document scored for every question."""
    import numpy as np
    from rank_bm25 import BM25Okapi

    index = BM25Okapi([header.terms + body.terms for header, body in task.documents], k1=1.2)

    def search(question: Text) -> list[int]:
        scores = index.get_scores(question.terms)
        return [int(number) for number in np.argsort(-scores, kind="stable")[:K]]

    return search


def sqlite_trigram(task: Task, folder: Path) -> Search:
    """Search with SQLite FTS5 on the raw text, cut into trigrams."""
    texts = (f"{header.raw} {body.raw}" for header, body in task.documents)
    search = _fts5(folder, "trigram", texts)
    return lambda question: search([question.raw[i : i + 3] for i in range(len(question.raw) - 2)])


def sqlite_terms(task: Task, folder: Path) -> Search:
    """Search with SQLite FTS5 on the same tokens."""
    texts = (" ".join(header.terms + body.terms) for header, body in task.documents)
    search = _fts5(folder, "unicode61", texts)
    return lambda question: search(question.terms)


ENGINES = {
    "tantivy (ours)": tantivy,
    "bm25s": bm25s,
    "rank-bm25": rank_bm25,
    "FTS5 trigram": sqlite_trigram,
    "FTS5 unicode61": sqlite_terms,
}


def main() -> None:
    """Print one row per engine."""
    if sys.argv[1:2] == ["--one"]:
        _run_here(*sys.argv[2:])
        return
    options = parser(__doc__)
    options.add_argument(
        "--articles", type=int, default=28_001, metavar="N", help="articles to add (28001)"
    )
    options.add_argument(
        "--limit", type=int, default=1000, metavar="N", help="questions, evenly spread (1000)"
    )
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        task = _task(arguments.data, arguments.articles, arguments.limit)
        (folder / "task").write_bytes(pickle.dumps(task))
        print(f"{len(task.documents):,} documents, n = {len(task.questions):,} questions")
        for engine in ENGINES:
            command = [sys.executable, __file__, "--one", engine, name]
            subprocess.run(command, check=True)
            told = json.loads((folder / "outcome").read_text(encoding="utf-8"))
            _print(engine, Outcome(**told), task)


def _print(engine: str, outcome: Outcome, task: Task) -> None:
    gold = [answer for _, answer in task.questions]
    first = sum(found[:1] == [g] for found, g in zip(outcome.found, gold, strict=True))
    among = sum(g in found for found, g in zip(outcome.found, gold, strict=True))
    print(
        f"{engine:<15} build {outcome.build_seconds:5.1f} s  "
        f"query {latency(outcome.query_seconds)}  "
        f"recall@1 {rate(first, len(gold))}  recall@10 {rate(among, len(gold))}  "
        f"+{outcome.added_bytes / 1e6:.0f} MB"
    )


def _run_here(engine: str, folder: str) -> None:
    task: Task = pickle.loads((Path(folder) / "task").read_bytes())
    with PeakMemory() as before:
        time.sleep(0.3)
    with PeakMemory() as after, tempfile.TemporaryDirectory(dir=folder) as own:
        started = time.perf_counter()
        search = ENGINES[engine](task, Path(own))
        build_seconds = time.perf_counter() - started
        found, seconds = [], []
        for question, _ in task.questions:
            started = time.perf_counter()
            found.append(search(question))
            seconds.append(time.perf_counter() - started)
    keys = [[int(key) for key in some] for some in found]
    outcome = Outcome(build_seconds, seconds, keys, after.bytes - before.bytes)
    (Path(folder) / "outcome").write_text(json.dumps(asdict(outcome)), encoding="utf-8")


def _fts5(folder: Path, tokenizer: str, texts: Iterator[str]) -> Callable[[list[str]], list[int]]:
    database = sqlite3.connect(folder / "fts.sqlite")
    database.execute(f"CREATE VIRTUAL TABLE fts USING fts5(text, tokenize='{tokenizer}')")
    database.executemany("INSERT INTO fts(rowid, text) VALUES (?, ?)", enumerate(texts))
    database.commit()

    def search(terms: list[str]) -> list[int]:
        quoted = " OR ".join('"' + term.replace('"', '""') + '"' for term in dict.fromkeys(terms))
        if not quoted:
            return []
        rows = database.execute(
            "SELECT rowid FROM fts WHERE fts MATCH ? ORDER BY rank LIMIT ?", (quoted, K)
        )
        return [row[0] for row in rows]

    return search


def _task(data: Path, articles: int, limit: int) -> Task:
    analyzer = Analyzer()

    def text(raw: str) -> Text:
        return Text(raw, analyzer.terms(raw))

    documents: list[tuple[Text, Text]] = []
    questions: list[tuple[str, int]] = []
    squad = json.loads((data / "jsquad" / "valid-v1.3.json").read_text(encoding="utf-8"))
    for page in squad["data"]:
        for paragraph in page["paragraphs"]:
            asked = [(question["question"], len(documents)) for question in paragraph["qas"]]
            questions.extend(asked)
            body = paragraph["context"].partition(" [SEP] ")[2]
            documents.append((text(page["title"]), text(body)))
    statutes = _statutes(data / "egov" / "all_laws.jsonl.xz")
    documents.extend((text(title), text(body)) for title, body in islice(statutes, articles))
    step = max(1, len(questions) // limit)
    return Task(documents, [(text(raw), gold) for raw, gold in questions[::step][:limit]])


def _statutes(path: Path) -> Iterator[tuple[str, str]]:
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            law = json.loads(line)
            for article in law["articles"]:
                if not article.get("suppl"):
                    body = "\n".join(paragraph["text"] for paragraph in article["paragraphs"])
                    yield f"{law['title']} {article['title'] or ''}", body


if __name__ == "__main__":
    main()
