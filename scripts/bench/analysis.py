"""Speed of text analysis on statutes: characters per CPU second of one process.

The text is the first laws of ``egov/all_laws.jsonl.xz``.
"""

import json
import lzma
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from bench.options import parser

from localrag_indexes.analysis import Analyzer
from localrag_indexes.analysis.analyzer import split_sentences
from localrag_indexes.analysis.normalize import normalize, normalize_with_offsets


def main() -> None:
    """Print one row per step."""
    options = parser(__doc__)
    options.add_argument("--laws", type=int, default=150, metavar="N", help="laws to read (150)")
    arguments = options.parse_args()
    paragraphs = _paragraphs(arguments.data / "egov" / "all_laws.jsonl.xz", arguments.laws)
    characters = sum(map(len, paragraphs))
    print(f"n = {len(paragraphs):,} paragraphs, {characters / 1e6:.1f} million characters")
    analyzer = Analyzer()
    analyzer.terms("辞書")
    steps: dict[str, Callable[[str], object]] = {
        "terms": analyzer.terms,
        "tokens (with offsets)": analyzer.tokens,
        "normalize": normalize,
        "normalize_with_offsets": normalize_with_offsets,
        "split_sentences": split_sentences,
    }
    for name, step in steps.items():
        started = time.process_time()
        for paragraph in paragraphs:
            step(paragraph)
        seconds = time.process_time() - started
        print(f"{name:<24}{characters / seconds / 1e6:6.2f} million characters/s")


def _paragraphs(path: Path, laws: int) -> list[str]:
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        return [
            paragraph["text"]
            for line in islice(lines, laws)
            for article in json.loads(line)["articles"]
            for paragraph in article["paragraphs"]
        ]


if __name__ == "__main__":
    main()
