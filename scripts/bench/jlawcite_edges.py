"""The graph of references beside that of jlawcite: shared edges, only ours, only theirs.

Both read the statutes of ``egov/xml``. An edge is a pair of articles of main provisions, counted
once. A range counts by its two ends, as in jlawcite. Differences go to ``differences.tsv`` in the
work folder; ``--draw`` prints some of ours with their text, to read.
"""

import json
import random
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from multiprocessing import get_context
from pathlib import Path
from shutil import rmtree
from typing import NamedTuple

from bench.options import parser
from bench.references import statutes

from localrag.corpus.links import APPLIES, DELEGATED_BY, REFERS
from localrag.corpus.types import Document, Locator
from localrag.law.names import LawNames
from localrag.law.notation import cite
from localrag.law.references import extract_references

_THEIR_ARTICLE = re.compile(r"(\w+?)_a(\d[\d-]*)(?:_p.*)?")
_AROUND = 160


class Edge(NamedTuple):
    """A pair of articles of main provisions, each with the id of its law."""

    law: str
    article: str
    to_law: str
    to_article: str

    @property
    def is_inside(self) -> bool:
        """Whether the article refers to itself (前項)."""
        return self[:2] == self[2:]


class Cost(NamedTuple):
    """What a piece of work took: seconds on the wall and of CPU, and bytes at most (Linux)."""

    wall: float
    cpu: float
    memory: int


# By edge, its first reference: our span, or their words.
Edges = Mapping[Edge, Sequence[int | str]]


def main() -> None:
    """Build both graphs, each in a process of its own, and compare them."""
    options = parser(__doc__, work=True)
    options.add_argument("--draw", type=int, default=0, metavar="N", help="differences to print")
    options.add_argument("--seed", type=int, default=1, help="by which they are drawn")
    arguments = options.parse_args()
    data, work = arguments.data / "egov" / "xml", arguments.work / "jlawcite"
    rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)

    costs = {
        "localrag": _measured(_build_ours, data, work / "ours.json"),
        "jlawcite": _measured(_build_theirs, data, work),
    }
    documents = {document.id: document for document in statutes(data)}
    ours, theirs = _ours(work / "ours.json"), _theirs(work / "graph" / "jp_cites_edges.jsonl")
    only_ours = [edge for edge in ours if edge not in theirs]
    only_theirs = [edge for edge in theirs if edge not in ours]
    common = [edge for edge in ours if edge in theirs]

    print(f"{len(documents)} laws")
    for name, cost in costs.items():
        print(f"  {name}: {cost.wall:.1f} s, {cost.cpu:.1f} s CPU, {cost.memory / 2**20:.0f} MiB")
    for title, edges in (
        ("in common", common),
        ("only localrag", only_ours),
        ("only jlawcite", only_theirs),
    ):
        between = sum(not edge.is_inside for edge in edges)
        print(f"  {title:14} {len(edges):7,} edges, {between:7,} between two articles")
    lines = [
        *(_line("localrag", e, _words(documents[e.law], ours[e]), documents) for e in only_ours),
        *(_line("jlawcite", e, str(theirs[e][0]), documents) for e in only_theirs),
    ]
    (work / "differences.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")

    drawn = random.Random(arguments.seed).sample(only_ours, min(arguments.draw, len(only_ours)))
    for number, edge in enumerate(drawn, start=1):
        document, (start, end) = documents[edge.law], map(int, ours[edge])
        text = document.text
        before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
        print(f"\n{number}. {_cite(edge, documents)}\n{before}【{text[start:end]}】{after}")


def _measured(work: Callable[..., None], *given: Path) -> Cost:
    """Do it in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(_costing, work, *given).result()


def _costing(work: Callable[..., None], *given: Path) -> Cost:
    began = time.monotonic()
    work(*given)
    wall = time.monotonic() - began
    status = Path("/proc/self/status").read_text()
    _, _, peak = status.partition("VmHWM:")
    return Cost(wall, time.process_time(), int(peak.split()[0]) * 1024)


def _build_ours(data: Path, out: Path) -> None:
    """Write the edges, each with the span of its first reference."""
    rows, articles = [], {}
    for document in statutes(data):
        about = document.metadata
        number, kind = about.get("law_num", ""), about.get("law_type", "")
        rows.append((document.id, document.title, number, kind, about.get("abbreviations", "")))
        articles[document.id] = frozenset(passage.locator for passage in document.passages)
    names = LawNames.from_rows(rows)
    found: dict[Edge, tuple[int, int]] = {}
    for document in statutes(data):
        for reference in extract_references(document, names):
            source, law = reference.source, reference.law_id
            if (
                reference.kind not in (REFERS, APPLIES, DELEGATED_BY)
                or not law
                or source.division
                or not source.article
            ):
                continue
            for target in filter(None, (reference.target, reference.target_end)):
                article = Locator(target.division, target.article)
                if target.article and not target.division and article in articles[law]:
                    edge = Edge(document.id, source.article, law, target.article)
                    found.setdefault(edge, (reference.start, reference.end))
    lines = (json.dumps([*edge, *span]) for edge, span in found.items())
    out.write_text("\n".join(lines), encoding="utf-8")


def _build_theirs(data: Path, work: Path) -> None:
    from jlawcite.pipeline import ingest_full

    # Each law in a folder of its own name, as in the archive that e-Gov offers.
    for path in sorted(data.glob("*.xml")):
        folder = work / "laws" / path.stem
        folder.mkdir(parents=True)
        (folder / path.name).symlink_to(path)
    given = ["--input", str(work / "laws"), "--output", str(work / "graph")]
    sys.argv = ["jlawcite", *given]
    with (work / "log").open("w") as log, redirect_stdout(log), redirect_stderr(log):
        ingest_full.main()


def _ours(path: Path) -> Edges:
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {Edge(*row[:4]): row[4:] for row in rows}


def _theirs(path: Path) -> Edges:
    found: dict[Edge, tuple[str]] = {}
    for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        ends = [_THEIR_ARTICLE.fullmatch(row[end]) for end in ("source", "target")]
        if all(ends):
            law, article, to_law, to_article = (
                part.replace("-", "_") for end in ends if end for part in end.groups()
            )
            found.setdefault(Edge(law, article, to_law, to_article), (row["raw"],))
    return found


def _words(document: Document, span: Sequence[int | str]) -> str:
    start, end = map(int, span)
    return document.text[start:end]


def _line(whose: str, edge: Edge, words: str, documents: Mapping[str, Document]) -> str:
    return "\t".join((whose, *edge, _cite(edge, documents), words))


def _cite(edge: Edge, documents: Mapping[str, Document]) -> str:
    law, article, to_law, to_article = edge
    source = cite(documents[law].title, Locator(article=article))
    return f"{source} → {cite(documents[to_law].title, Locator(article=to_article))}"


if __name__ == "__main__":
    main()
