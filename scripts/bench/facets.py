"""Filters by metadata: every combination counted against SQL, and the cost of a filter.

Facets are kind, ministry, era, year, field and heading. For combinations of kind, ministry, era and
field, of kind and year, and of kind and frequent heading, their documents are compared with those
of an SQL query on the store's tables.

Then the questions of lawqa are searched in turn without a filter and with several. Counted is
processor time, because other work disturbs it least. The interval of the ratio of 95th percentiles
is a bootstrap over questions.
"""

import argparse
import random
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from time import process_time

from bench.corpora import LAWS, law_questions, open_corpus, write_excerpts
from bench.options import parser
from bench.rates import latency

from localrag.corpus.facets import CHAPTER, ERA, FIELD, KIND, MINISTRY, YEAR, Where, labels
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Label
from localrag.search.pipeline import Retriever
from localrag.search.types import Filters, Query
from localrag_indexes.analysis.normalize import YEAR_BEFORE

FILTERS: Mapping[str, Where] = {
    "kind": {KIND: "Act"},
    "kind and era": {KIND: ["Act", "CabinetOrder"], ERA: "昭和"},
    "ministry": {MINISTRY: ["大蔵省", "総務省", "厚生省", "内閣府"]},
    "heading": {CHAPTER: "罰則"},
    "kind and heading": {KIND: "Act", CHAPTER: ["総則", "雑則"]},
}
_LONGEST_ERA = 99
_DRAWS = 1000
# Laws with a heading, for it to be counted.
_FREQUENT = 5


def main() -> None:
    """Print the counts and the times."""
    options = parser(__doc__, work=True, embedder=True)
    options.add_argument("--questions", type=int, default=100, metavar="N", help="searched (100)")
    options.add_argument("--laws", type=int, default=None, metavar="N", help="of them (all)")
    chosen = options.parse_args()
    with _opened(chosen) as retriever:
        counts(retriever.store)
        times(retriever, chosen)


def _opened(chosen: argparse.Namespace) -> Retriever:
    files = sorted((chosen.data / "egov" / "xml").glob("*.xml"))[: chosen.laws]
    name = f"facets-{len(files)}" if chosen.laws else LAWS
    # With the missing gold passages it is the corpus of the other benches.
    others = [] if chosen.laws else [write_excerpts(chosen.data, chosen.work)]
    paths = files if chosen.laws else [chosen.data / "egov" / "xml"]
    if chosen.embedder and not chosen.laws:
        name = "laws-meaning"
    return open_corpus(chosen.work, name, [*paths, *others], chosen.embedder)


def counts(store: CorpusStore) -> None:
    """Compare every combination with the tables."""
    facets = store.facets
    told = {
        key: facets.counts(key) if key in facets.keys else ()
        for key in (KIND, MINISTRY, ERA, FIELD, YEAR)
    }
    values = {key: ("", *found) for key, found in told.items()}
    frequent = facets.counts(CHAPTER)
    headings = [name for name, n in frequent.items() if n >= _FREQUENT]
    asked: list[tuple[Label, ...]] = []
    for keys in ((KIND, MINISTRY, ERA, FIELD), (KIND, YEAR)):
        every = product(*(values[key] for key in keys))
        asked += [labels(dict(_named(keys, combination))) for combination in every]
    asked += [labels(dict(_named((KIND, CHAPTER), one))) for one in product(values[KIND], headings)]
    different = found = empty = 0
    for where in filter(None, asked):
        ours, theirs = facets.matching(where), direct(store, where)
        different += ours != theirs
        found += len(theirs)
        empty += not theirs
    n = sum(map(bool, asked))
    documents = store.extent().documents
    print(
        f"{documents} documents, n = {n:,} combinations ({empty:,} of no document, {found:,} "
        f"documents in all the others): {different:,} differ from the query of the tables",
        flush=True,
    )
    assert not different


def _named(keys: Sequence[str], values: Sequence[str]) -> Iterator[tuple[str, str]]:
    return ((key, value) for key, value in zip(keys, values, strict=True) if value)


def direct(store: CorpusStore, where: Sequence[Label]) -> frozenset[str]:
    """The documents by the tables alone."""
    conditions, values = ["1"], list[str]()
    for key, value in where:
        condition, given = _condition(key, value)
        conditions.append(condition)
        values += given
    # The store's own connection, for the states of its day.
    query = f"SELECT id FROM shown WHERE {' AND '.join(conditions)}"
    return frozenset(id_ for (id_,) in store._db.rows(query, tuple(values)))


def _condition(key: str, value: str) -> tuple[str, list[str]]:
    """A label as SQL, from the columns and the number as printed."""
    if key == KIND:
        law_type = "json_extract(metadata, '$.law_type')"
        return f"CASE kind WHEN 'law' THEN {law_type} ELSE kind END = ?", [value]
    if key == FIELD:
        return "json_extract(metadata, '$.law_type') = 'Constitution' AND ? = '憲法'", [value]
    number = "ifnull(json_extract(metadata, '$.law_num'), '')"
    if key == ERA:
        return f"kind = 'law' AND {number} LIKE ?", [f"{value}%"]
    if key == YEAR:
        names = [
            f"{era}{_kanji(int(value) - before)}年%"
            for era, before in YEAR_BEFORE.items()
            if 0 < int(value) - before <= _LONGEST_ERA
        ]
        return f"({' OR '.join([f'{number} LIKE ?'] * len(names))})", names
    if key == MINISTRY:
        ends = ("令", "規則", "・", "規則・")
        shapes = [f"%{before}{value}{after}%" for before in "年・" for after in ends]
        return f"({' OR '.join([f'{number} LIKE ?'] * len(shapes))})", shapes
    title = "SELECT 1 FROM sections WHERE document = shown.key AND title"
    if value == "附則":
        return f"EXISTS ({title} LIKE ? OR document = shown.key AND title LIKE ?)", [
            "附則%",
            "附　則%",
        ]
    blanks = "replace(replace(title, '　', ''), ' ', '')"
    words = "".join(value.split())
    return (
        f"EXISTS ({title} IS NOT NULL AND ({blanks} = ? OR {blanks} GLOB ? ))",
        [words, f"第*[編章節款目一二三四五六七八九十]{words}"],
    )


def _kanji(year: int) -> str:
    digits = "〇一二三四五六七八九"
    if year == 1:
        return "元"
    tens, ones = divmod(year, 10)
    head = ("" if tens == 1 else digits[tens]) + "十" if tens else ""
    return head + (digits[ones] if ones else "")


def times(retriever: Retriever, chosen: argparse.Namespace) -> None:
    """Search with filters and without, in turn."""
    path = chosen.data / "lawqa" / "train.jsonl"
    questions = [one.query for one in law_questions(path)[: chosen.questions]]
    ways = {"no filter": Filters()} | {
        name: Filters(where=labels(where))
        for name, where in FILTERS.items()
        if _is_there(retriever.store, labels(where))
    }
    _searched(retriever, questions[:3], ways)
    seconds = _searched(retriever, questions, ways)
    print(f"searched by words{' and meaning' if retriever.has_dense else ''}")
    for name, taken in seconds.items():
        print(f"{name:<18} {latency(taken)}{_ratio(taken, seconds['no filter'])}")


def _is_there(store: CorpusStore, where: tuple[Label, ...]) -> bool:
    facets = store.facets
    return all(
        label.key in facets.keys and label.value in facets.counts(label.key) for label in where
    )


def _searched(
    retriever: Retriever, questions: Sequence[Query], ways: Mapping[str, Filters]
) -> dict[str, list[float]]:
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    order = random.Random(1)
    for question in questions:
        for name in order.sample(list(ways), len(ways)):
            asked = replace(question, filters=ways[name])
            started = process_time()
            retriever.search(asked)
            seconds[name].append(process_time() - started)
    return seconds


def _ratio(taken: Sequence[float], unfiltered: Sequence[float]) -> str:
    """The ratio of the 95th percentiles with its interval."""
    if taken is unfiltered or len(taken) < 2:
        return ""
    chance = random.Random(1)
    n = len(taken)
    ratios = []
    for _ in range(_DRAWS):
        drawn = chance.choices(range(n), k=n)
        ratios.append(_p95([taken[i] for i in drawn]) / _p95([unfiltered[i] for i in drawn]))
    ratios.sort()
    low, high = ratios[int(0.025 * _DRAWS)], ratios[int(0.975 * _DRAWS) - 1]
    return f", p95 {_p95(taken) / _p95(unfiltered):.2f} [{low:.2f}, {high:.2f}] of that without"


def _p95(seconds: Sequence[float]) -> float:
    return statistics.quantiles(seconds, n=20)[18]


if __name__ == "__main__":
    main()
