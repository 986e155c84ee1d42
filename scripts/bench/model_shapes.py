"""Speed and memory of real model shapes, Qwen3-8B and multilingual-E5-small, with random weights.

What the weights are changes nothing about the speed. Each model is written, measured in a process
of its own and deleted. Set LOCALRAG_TEST_VOCABULARY for the vocabulary of Qwen2.
"""

import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.options import parser

from localrag_models.chat import ChatRequest, Message

SENTENCE = "渡し守の資格は、別表に掲げる会社又は株式会社の使用人に限る。"
SCHEMA = {
    "type": "object",
    "properties": {"claim": {"type": "string", "minLength": 2000, "maxLength": 2000}},
    "required": ["claim"],
}
PASSAGE_TOKENS = (200, 480)


@dataclass(frozen=True, slots=True)
class ShapeOptions:
    """What the command line says of all measurements."""

    threads: int
    gpu_layers: int
    prompt: int
    generate: int
    passages: int


class Stopwatch:
    """Wall and CPU seconds of a block."""

    def __enter__(self) -> "Stopwatch":
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall = time.perf_counter() - self._wall
        self.cpu = time.process_time() - self._cpu


def measure_chat(path: Path, options: ShapeOptions) -> list[str]:
    """Cells of one row: load, prompt, generation free and under a schema, memory."""
    from localrag_models.backends.llama_cpp.chat import LlamaCppChat

    context = options.prompt + options.generate + 512
    with Stopwatch() as load:
        model = LlamaCppChat(
            path, context=context, threads=options.threads, gpu_layers=options.gpu_layers
        )
    with model:
        text = SENTENCE
        while model.count([Message("user", text)]) < options.prompt:
            text += SENTENCE
        request = ChatRequest(messages=(Message("user", text),), max_tokens=1, temperature=1.0)
        first = model.chat(request)
        longer = replace(request, max_tokens=options.generate)
        replies = [model.chat(longer), model.chat(replace(longer, schema=SCHEMA))]
    return [
        f"{load.wall:.1f}",
        f"{first.usage.prompt / first.seconds:.1f} (n = {first.usage.prompt:,})",
        *(
            f"{reply.usage.completion / reply.seconds:.2f} (n = {reply.usage.completion})"
            for reply in replies
        ),
        peak(),
    ]


def measure_llama_cpp(path: Path, options: ShapeOptions) -> list[str]:
    """Cells of one row: load, passages of each length, memory."""
    from localrag_models.backends.llama_cpp.encoder import LlamaCppEmbedder

    return _measure_embedder(
        lambda: LlamaCppEmbedder(path, threads=options.threads, gpu_layers=options.gpu_layers),
        options,
    )


def measure_sentence_transformers(folder: Path, options: ShapeOptions) -> list[str]:
    """Cells of one row, as `measure_llama_cpp`."""
    from localrag_models.backends.sentence_transformers import SentenceTransformersEmbedder

    device = "auto" if options.gpu_layers else "cpu"
    return _measure_embedder(
        lambda: SentenceTransformersEmbedder(folder, device=device, threads=options.threads),
        options,
    )


def _measure_embedder(start: Callable[[], Any], options: ShapeOptions) -> list[str]:
    with Stopwatch() as load:
        embedder = start()
    cells = [f"{load.wall:.1f}"]
    with embedder:
        whole, *_ = embedder.windows(SENTENCE * 100)
        embedder.embed_passages([SENTENCE])
        for tokens in PASSAGE_TOKENS:
            # The longest window has about 500 tokens; a share of it has its share of them.
            passage = (whole * 2)[: len(whole) * tokens // 500]
            with Stopwatch() as run:
                embedder.embed_passages([passage] * options.passages)
            cells.append(
                f"{options.passages / run.wall:.2f} (n = {options.passages}, CPU {run.cpu:.1f} s)"
            )
    return [*cells, peak()]


def peak() -> str:
    """GiB of memory this process had at most, weights included (Linux)."""
    # Not from resource.getrusage, which includes the parent's memory.
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return f"{int(lines['VmHWM'].split()[0]) / 2**20:.2f}"


def alone(
    measure: Callable[[Path, ShapeOptions], list[str]], path: Path, options: ShapeOptions
) -> list[str]:
    """The cells that `measure` gives in a process of its own."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        return pool.submit(measure, path, options).result()


def chat_rows(work: Path, layers: int, options: ShapeOptions) -> Iterator[list[str]]:
    """One row for the chat model."""
    from tiny_models.full_size import QWEN3_8B, write_q4_k_m

    shape = replace(QWEN3_8B, layers=layers or QWEN3_8B.layers)
    named = os.environ.get("LOCALRAG_TEST_VOCABULARY")
    vocabulary = Path(named) / "ggml-vocab-qwen2.gguf" if named else None
    path = work / f"qwen3-8b-{shape.layers}-layers.gguf"
    if not path.exists():
        write_q4_k_m(path, shape, vocabulary)
    name = f"Qwen3-8B, {shape.layers} of {QWEN3_8B.layers} layers"
    yield [name, "Q4_K_M", gigabytes(path), *alone(measure_chat, path, options)]


def embedder_rows(work: Path, options: ShapeOptions) -> Iterator[list[str]]:
    """One row for each runtime and precision of the embedder."""
    from tiny_models.encoder import E5_SMALL, write_embedder, write_gguf

    folder = work / "e5-small"
    if not folder.exists():
        write_embedder(folder, E5_SMALL)
    cells = alone(measure_sentence_transformers, folder, options)
    yield ["sentence-transformers", "F32", gigabytes(folder / "model.safetensors"), *cells]
    for weights in ("F32", "F16", "Q8_0"):
        path = work / f"e5-small-{weights}.gguf"
        if not path.exists():
            write_gguf(folder, path, pooling="MEAN", weights=weights)
        cells = alone(measure_llama_cpp, path, options)
        yield ["llama.cpp", weights, gigabytes(path), *cells]


def gigabytes(path: Path) -> str:
    """The size of a file."""
    return f"{path.stat().st_size / 1e9:.2f}"


@contextmanager
def folder_for_models(kept: Path | None) -> Iterator[Path]:
    """The folder the models are written to, deleted afterwards unless it is to be kept."""
    if kept:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)


def table(head: list[str], rows: Iterator[list[str]]) -> None:
    """Print a Markdown table, row by row."""
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head), flush=True)
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def main() -> None:
    """Measure the shapes asked for."""
    wanted = parser(__doc__, data=False)
    wanted.add_argument("--shape", choices=["qwen3-8b", "e5-small"], help="one of them (both)")
    wanted.add_argument(
        "--layers", type=int, default=0, metavar="N", help="of the chat model (all 36)"
    )
    wanted.add_argument("--threads", type=int, default=0, metavar="N", help="(one a core)")
    wanted.add_argument(
        "--gpu-layers", type=int, default=-1, metavar="N", help="on a GPU, if there is one (all)"
    )
    wanted.add_argument("--prompt", type=int, default=512, metavar="TOKENS", help="(512)")
    wanted.add_argument("--generate", type=int, default=32, metavar="TOKENS", help="(32)")
    wanted.add_argument("--passages", type=int, default=24, metavar="N", help="per length (24)")
    wanted.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="write the models there and leave them"
    )
    given = wanted.parse_args()
    options = ShapeOptions(
        given.threads, given.gpu_layers, given.prompt, given.generate, given.passages
    )
    with folder_for_models(given.keep) as work:
        if given.shape != "e5-small":
            speeds = ["prompt tokens/s", "generated tokens/s", "the same under a schema"]
            head = ["model", "weights", "file GB", "load s", *speeds, "peak GiB"]
            table(head, chat_rows(work, given.layers, options))
            print()
        if given.shape != "qwen3-8b":
            speeds = [f"passages/s of {tokens} tokens" for tokens in PASSAGE_TOKENS]
            head = ["E5-small by", "weights", "file GB", "load s", *speeds, "peak GiB"]
            table(head, embedder_rows(work, options))


if __name__ == "__main__":
    main()
