"""How well plain BM25 finds the right paragraph, on real questions."""

import json
from collections.abc import Iterator
from pathlib import Path

from localrag_indexes.analysis import Analyzer
from localrag_indexes.bm25 import BM25Index, TextEntry, build


def test_the_right_paragraph_of_a_thousand(shared_data: Path, tmp_path: Path) -> None:
    articles = json.loads((shared_data / "jsquad" / "valid-v1.3.json").read_text("utf-8"))["data"]
    paragraphs = [(a["title"], p) for a in articles for p in a["paragraphs"]]

    def entries() -> Iterator[TextEntry]:
        for key, (title, paragraph) in enumerate(paragraphs):
            yield TextEntry(key, title, paragraph["context"].partition(" [SEP] ")[2], {})

    analyzer = Analyzer()
    build(tmp_path, entries(), analyzer=analyzer, attributes=[])
    asked = first = among_ten = 0
    with BM25Index.open(tmp_path) as index:
        for key, (_, paragraph) in enumerate(paragraphs):
            for question in paragraph["qas"]:
                found = [hit.key for hit in index.search(analyzer.terms(question["question"]), 10)]
                asked += 1
                first += found[:1] == [key]
                among_ten += key in found
    assert asked == 4442
    assert first / asked >= 0.90
    assert among_ten / asked >= 0.978
