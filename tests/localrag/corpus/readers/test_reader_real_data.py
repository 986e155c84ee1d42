"""Real files, if available."""

import json
from itertools import islice
from pathlib import Path

from localrag.corpus.readers import ResumePoint, read, stream
from localrag.corpus.types import ITEMS, PARAGRAPHS, Document


def law(shared_data: Path, name: str) -> Document:
    (document,) = read(shared_data / "egov" / "xml" / name)
    assert isinstance(document, Document)
    return document


def test_every_twentieth_law_agrees_with_the_manifest(shared_data: Path):
    with (shared_data / "egov" / "manifest.jsonl").open(encoding="utf-8") as file:
        entries = [json.loads(line) for line in file][::20]
    for entry in entries:
        (document,) = read(shared_data / "egov" / entry["file"])
        assert isinstance(document, Document), document
        articles = [p for p in document.passages if p.layer == "articles" and p.locator.article]
        main = [p for p in articles if not p.locator.division]
        assert (document.id, document.title) == (entry["law_id"], entry["title"])
        assert len(main) == entry["articles_main"]
        assert len(articles) - len(main) == entry["articles_suppl"]
        assert sum(p.layer == PARAGRAPHS for p in document.passages) >= entry["paragraphs"]


def test_a_famous_item(shared_data: Path):
    act = law(shared_data, "323AC0000000025_20151227.xml")
    item = next(p for p in act.passages if p.id == "323AC0000000025#2.1.1")
    assert (item.layer, item.text) == (ITEMS, "一　国債証券")
    assert item.header == "金融商品取引法 第二条 第一項 第一号"


def test_all_laws_from_the_middle_on(shared_data: Path):
    rest = stream(shared_data / "egov" / "all_laws.jsonl.xz", after=20)
    document, mark = islice(rest, 2)
    assert isinstance(document, Document)
    assert document.source == "all_laws.jsonl.xz:21"
    assert isinstance(mark, ResumePoint)
    assert mark.line == 21
    rest.close()


def test_squad_paragraphs(shared_data: Path):
    documents = list(read(shared_data / "jsquad" / "valid-v1.3.json"))
    assert len(documents) == 1145
    assert all(isinstance(d, Document) and len(d.passages) == 1 for d in documents)
