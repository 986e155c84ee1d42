"""Corpora for benchmarks, made from the shared data and kept in a work folder between runs."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from localrag.config import load
from localrag.corpus.model import ARTICLES, Locator
from localrag.corpus.readers import read
from localrag.ingest.add import add
from localrag.ingest.index import index
from localrag.retrieval.pipeline import Retriever
from localrag.statutes.format import cite
from localrag.workspace import Workspace

WORKERS = 2


def open_corpus(work: Path, name: str, paths: Sequence[Path]) -> Retriever:
    """Add the files to a corpus of a workspace in `work`, index it where needed, and open it.

    What is not entered is told (the second state of a law is refused); a failed index ends the
    run, for figures without references would mislead.
    """
    workspace = Workspace(work / "home")
    workspace.init()
    added = add(workspace, name, paths, workers=WORKERS)
    if added.failed:
        print(f"{len(added.failed)} documents not entered; the first: {added.failed[0]}")
    indexed = index(workspace, name, workers=WORKERS)
    if indexed.failed:
        first = indexed.failed[0]
        sys.exit(f"{len(indexed.failed)} failed; the first: {first}\nDelete {work}, run it again.")
    return Retriever.open(workspace, name, load(workspace))


def write_excerpts(data: Path, work: Path) -> Path:
    """The passages of ``lawqa/contexts_missing.jsonl`` as documents of their own.

    The document id is ``<law id, else title>|<article>|<number>``: `article_of` of the recall
    benchmark reads it back.
    """
    folder = work / "excerpts"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "excerpts.jsonl"
    lines = (data / "lawqa" / "contexts_missing.jsonl").read_text(encoding="utf-8").splitlines()
    with path.open("w", encoding="utf-8") as out:
        for number, line in enumerate(lines):
            row = json.loads(line)
            title, article = row["law_title"], row["article"] or ""
            place = cite(title, Locator(article=article)) if row["law_id"] else f"{title} {article}"
            document = {
                "id": f"{row['law_id'] or title}|{article}|{number}",
                "title": place.strip(),
                "text": row["text"],
            }
            out.write(json.dumps(document, ensure_ascii=False) + "\n")
    return path


def write_main_provisions(data: Path, work: Path) -> Path:
    """The articles of the main provisions of the XML laws, as a file of statutes in JSON lines."""
    folder = work / "main-provisions"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "main.jsonl"
    if path.exists():
        return path
    with path.open("w", encoding="utf-8") as out:
        for file in sorted((data / "egov" / "xml").glob("*.xml")):
            for law in read(file):
                articles = [
                    {
                        "num": article.locator.article,
                        "caption": "",
                        "title": article.header.removeprefix(law.title).strip(),
                        "paragraphs": [{"num": "1", "text": article.text}],
                    }
                    for article in law.passages
                    if article.layer == ARTICLES and not article.locator.division
                ]
                row = {"law_id": law.id, "title": law.title, "law_num": "", "articles": articles}
                out.write(json.dumps(row | {"date": ""}, ensure_ascii=False) + "\n")
    return path


def json_lines(path: Path) -> Iterator[dict[str, object]]:
    """The objects of a JSONL file."""
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
