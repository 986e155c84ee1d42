"""Cost of streaming: CPU seconds a token of LlamaCppChat beside llama-cpp-python's own ways.

With a tiny random model, the work around the model is measured. Its text is mostly invalid UTF-8,
the worst case for the library's streaming.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from bench.options import parser
from tiny_models.chat import write_chat_gguf

from localrag_models.backends.llama_cpp.chat import LlamaCppChat
from localrag_models.chat import ChatRequest, Message

WITHOUT_END = 1
"""Seed of weights with which the greedy reply to PROMPT never ends of its own accord."""

QUESTION = "渡し舟の安全"
PROMPT = f"<|im_start|>user\n{QUESTION}<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"


def main() -> None:
    """Print one row per way to generate."""
    options = parser(__doc__, data=False)
    options.add_argument("--tokens", type=int, default=2000, metavar="N", help="of a reply (2000)")
    options.add_argument("--runs", type=int, default=5, metavar="N", help="of each way (5)")
    options.add_argument(
        "--library-streaming",
        action="store_true",
        help="the library's streaming too, which takes minutes",
    )
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tiny.gguf"
        write_chat_gguf(path, seed=WITHOUT_END)
        measure(path, arguments.tokens, arguments.runs, arguments.library_streaming)


def measure(path: Path, tokens: int, runs: int, library_streaming: bool) -> None:
    """Generate in every way, and set each against the library's plain generation."""
    from llama_cpp import Llama

    request = ChatRequest(messages=(Message("user", QUESTION),), max_tokens=tokens)
    pieces: list[str] = []
    context = tokens + 256
    llama = Llama(str(path), n_ctx=context, n_threads=1, n_threads_batch=1, verbose=False)
    prompt = llama.tokenize(PROMPT.encode(), add_bos=False, special=True)

    def stream() -> None:
        for _ in llama.create_completion(prompt, max_tokens=tokens, temperature=0.0, stream=True):
            pass

    with LlamaCppChat(path, context=context, threads=1) as model:
        ways: dict[str, Callable[[], object]] = {
            "Llama.generate, tokens only": lambda: list(
                islice(llama.generate(prompt, temp=0.0), tokens)
            ),
            "Llama.create_completion": lambda: llama.create_completion(
                prompt, max_tokens=tokens, temperature=0.0
            ),
            "LlamaCppChat": lambda: model.chat(request),
            "LlamaCppChat, streamed": lambda: model.chat(request, pieces.append),
        }
        if library_streaming:
            ways["Llama.create_completion, streamed"] = stream
        print(f"n = {runs} replies of up to {tokens:,} tokens; median CPU seconds of a reply")
        base = 0.0
        for name, way in ways.items():
            way()
            seconds = statistics.median(cpu_seconds(way) for _ in range(runs))
            base = base or seconds
            print(f"{name:<36}{seconds:8.3f} s   {seconds / base:6.2f} ×")
    llama.close()


def cpu_seconds(way: Callable[[], object]) -> float:
    """CPU seconds of this process for one call."""
    started = time.process_time()
    way()
    return time.process_time() - started


if __name__ == "__main__":
    main()
