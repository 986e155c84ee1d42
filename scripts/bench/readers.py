"""Law files: read without error, with every article complete.

For every ``Article`` element the text of the XML (without ruby readings) is compared with its
passage (without figure references), ignoring white space. Article numbers are compared with the
manifest. Exits 1 if anything differs.
"""

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.options import parser
from bench.rates import rate
from lxml import etree

from localrag.corpus.readers import read
from localrag.corpus.types import ARTICLES, Document

_FIGURE = re.compile("［図：[^］]*］")


def main() -> int:
    """Compare every file; return the exit code."""
    egov = parser(__doc__).parse_args().data / "egov"
    lines = (egov / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    manifest = [json.loads(line) for line in lines]
    problems: list[str] = []
    totals: Counter[str] = Counter()
    cpu = 0.0
    wall = time.perf_counter()
    for entry in manifest:
        path = egov / entry["file"]
        started = time.process_time()
        outcomes = list(read(path))
        cpu += time.process_time() - started
        if len(outcomes) != 1 or not isinstance(outcomes[0], Document):
            problems.append(f"{entry['file']}: {outcomes}")
            continue
        document = outcomes[0]
        totals["files"] += 1
        totals["characters"] += len(document.text)
        for passage in document.passages:
            totals[passage.layer] += 1
        differences = list(_differences(document, entry, path, totals))
        totals["sound"] += not differences
        problems += [f"{entry['file']}: {difference}" for difference in differences]
    wall = time.perf_counter() - wall
    print(
        f"files without a difference: n = {len(manifest)}, {rate(totals['sound'], len(manifest))}"
    )
    complete, compared = totals["complete"], totals["compared"]
    print(f"articles complete: n = {compared:,}, {rate(complete, compared)}")
    print(
        ", ".join(
            f"{name} {totals[name]:,}" for name in ("characters", "articles", "paragraphs", "items")
        )
    )
    print(f"reading: {cpu:.1f} s CPU; all with the comparison: {wall:.1f} s wall")
    print(f"failures {len(problems)}", *problems[:20], sep="\n")
    return 1 if problems else 0


def _differences(
    document: Document, entry: dict[str, object], path: Path, totals: Counter[str]
) -> Iterator[str]:
    main, supplementary = _articles(path)
    if (len(main), len(supplementary)) != (entry["articles_main"], entry["articles_suppl"]):
        yield "the manifest counts other articles"
    for key in ("law_id", "title"):
        found = document.id if key == "law_id" else document.title
        if found != entry[key]:
            yield f"{key} is {found!r}"
    passages = [p for p in document.passages if p.layer == ARTICLES and p.locator.article]
    in_main = [p for p in passages if not p.locator.division]
    in_supplements = [p for p in passages if p.locator.division]
    for expected, found_passages in ((main, in_main), (supplementary, in_supplements)):
        if len(expected) != len(found_passages):
            yield f"{len(found_passages)} articles instead of {len(expected)}"
            continue
        for article, passage in zip(expected, found_passages, strict=True):
            totals["compared"] += 1
            if _content(article) == "".join(_FIGURE.sub("", passage.text).split()):
                totals["complete"] += 1
            else:
                yield f"{passage.id} is not complete"
            if document.text[passage.start : passage.end] != passage.text:
                yield f"{passage.id} is not in its place"
    if len({passage.id for passage in document.passages}) != len(document.passages):
        yield "ids repeat"


def _articles(path: Path) -> tuple[list[etree._Element], list[etree._Element]]:
    body = etree.parse(path).getroot().find("LawBody")
    assert body is not None
    provisions = {tag: body.findall(tag) for tag in ("MainProvision", "SupplProvision")}
    main, supplementary = (
        [article for provision in found for article in provision.iter("Article")]
        for found in provisions.values()
    )
    return main, supplementary


def _content(article: etree._Element) -> str:
    etree.strip_elements(article, "Rt", with_tail=False)
    return "".join("".join(map(str, article.itertext())).split())


if __name__ == "__main__":
    sys.exit(main())
