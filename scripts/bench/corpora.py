"""Corpora for benchmarks, made from the shared data and kept in a work folder between runs."""

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path

from localrag.corpus import readers
from localrag.corpus.config import OFF, Config, load
from localrag.corpus.inference.opening import open_embedder
from localrag.corpus.ingest.add import add
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ARTICLES, Document, Locator
from localrag.corpus.workspace import Workspace
from localrag.evaluation.datasets.acquiring import as_documents
from localrag.evaluation.datasets.readers import Sources, read
from localrag.evaluation.types import Question
from localrag.search.indexing.index import index_as_set
from localrag.search.pipeline import Retriever
from localrag_models.embedding import Embedder
from localrag_models.manifest import Kind
from localrag_models.store import ModelStore, name_for

WORKERS = 2
LAWS = "laws"


def open_corpus(work: Path, name: str, paths: Sequence[Path], embedder: str = "") -> Retriever:
    """Open a corpus of a workspace in `work` that holds the files; see `make_searchable`."""
    workspace, config = make_searchable(work, name, paths, embedder)
    return Retriever.open(workspace, name, config)


def make_searchable(
    work: Path, name: str, paths: Sequence[Path], embedder: str = ""
) -> tuple[Workspace, Config]:
    """Add files to a corpus of a workspace in `work`, and index it if needed.

    Documents not entered are reported (the second state of a law is refused). A failed index ends
    the run, because figures without references would mislead.

    Args:
        work: holds the workspace, in ``home``.
        name: of the corpus.
        paths: files and folders.
        embedder: an installed model, or its file or folder; "" searches by words only.
    """
    workspace = Workspace(work / "home")
    workspace.init()
    model = installed(workspace, embedder, "embedder")
    config = load(workspace, {"embedding.model": model or OFF, "ingest.workers": WORKERS})
    added = add(workspace, name, paths, workers=WORKERS)
    if added.failed:
        print(f"{len(added.failed)} documents not entered; the first: {added.failed[0]}")
    indexed = index_as_set(workspace, name, config)
    if indexed.failed:
        first = indexed.failed[0]
        sys.exit(f"{len(indexed.failed)} failed; the first: {first}\nDelete {work}, run it again.")
    return workspace, config


def installed(workspace: Workspace, model: str, kind: Kind) -> str:
    """The name of a model in the workspace; one that is named by its path is installed."""
    path = Path(model)
    store = ModelStore(workspace.models)
    if not model or not path.exists():
        return model
    name = name_for(path.stem if path.is_file() else path.name)
    return name if name in store.names() else store.add(path, kind=kind).name


def open_model(work: Path, embedder: str) -> Embedder:
    """Open an embedder by itself: one installed in the workspace, or the file or folder of one."""
    workspace = Workspace(work / "home")
    config = load(workspace, {"embedding.model": installed(workspace, embedder, "embedder")})
    opened = open_embedder(workspace, config)
    assert opened is not None, embedder
    return opened


def open_laws(data: Path, work: Path) -> Retriever:
    """The corpus of the 327 laws, with their missing gold passages."""
    return open_corpus(work, LAWS, [data / "egov" / "xml", write_excerpts(data, work)])


def law_questions(path: Path) -> tuple[Question, ...]:
    """The four-choice questions of a file in the form of ``lawqa/train.jsonl``."""
    return read("lawqa", str(path), path.read_bytes(), Sources())


def write_excerpts(data: Path, work: Path) -> Path:
    """The passages of ``lawqa/contexts_missing.jsonl`` as documents of their own."""
    folder = work / "excerpts"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "excerpts.jsonl"
    missing = data / "lawqa" / "contexts_missing.jsonl"
    path.write_text(as_documents(str(missing), missing.read_bytes()), encoding="utf-8")
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
            for law in readers.read(file):
                assert isinstance(law, Document), law
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


def write_questions(workspace: Workspace, path: Path, count: int) -> None:
    """Write questions about articles of a corpus, in the format of lawqa_jp."""
    with CorpusStore.open(workspace.corpus("main").store, read_only=True) as store:
        articles = [
            (law.law_id, number, passage)
            for law in store.laws()
            for number in store.articles(law.law_id)
            if (passage := store.at(law.law_id, Locator(article=number), ARTICLES))
        ]
    rows = (
        {
            "id": f"q{number:04}",
            "question": f"設問{number:04}「{passage.text.split()[0][:40]}」に続くのはどれか。",
            "options": ["一番目の選択肢", "二番目の選択肢"],
            "answer": "a",
            "context": f"### {passage.header}\n{passage.text}",
            "gold": [{"law_id": law_id, "article": article}],
        }
        for number, (law_id, article, passage) in enumerate(islice(cycle(articles), count))
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def json_lines(path: Path) -> Iterator[dict[str, object]]:
    """The objects of a JSONL file."""
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
