"""Speed of reading a prompt in batches of different sizes.

Processor seconds are counted, so other work hardly matters. The sizes take turns.
"""

import time
from collections import defaultdict
from pathlib import Path
from statistics import median

from bench.options import parser

from localrag_models.backends.llama_cpp.native import Model, runtime

SIZES = (32, 64, 128, 256, 512)
SENTENCE = "渡し守の資格は、別表に掲げる会社又は株式会社の使用人に限る。"


def seconds(model: Model, prompt: list[int], size: int) -> float:
    """Seconds of the processor that a prompt takes in batches of this size, on one thread."""
    import ctypes

    llama = runtime()
    context = model.context(len(prompt), threads=1, n_batch=size, n_ubatch=size)
    started = time.process_time()
    for start in range(0, len(prompt), size):
        batch = prompt[start : start + size]
        tokens = (ctypes.c_int32 * len(batch))(*batch)
        llama.llama_decode(context.handle, llama.llama_batch_get_one(tokens, len(batch)))
    took = time.process_time() - started
    context.close()
    return took


def main() -> None:
    """Measure and print a table."""
    made = parser(__doc__, data=False)
    made.add_argument("model", type=Path, help="a chat model in a GGUF file")
    made.add_argument("--tokens", type=int, default=512, help="of the prompt")
    made.add_argument("--rounds", type=int, default=5)
    options = made.parse_args()
    model = Model(options.model, "chat", gpu_layers=0)
    prompt = model.tokenize(SENTENCE * options.tokens)[: options.tokens]
    rates: dict[int, list[float]] = defaultdict(list)
    for _ in range(options.rounds):
        for size in SIZES:
            rates[size].append(options.tokens / seconds(model, prompt, size))
    print(f"{model.header.name}, {options.tokens} tokens, n = {options.rounds}")
    print("batch  tokens a second of one processor: median (least to most)")
    for size in SIZES:
        found = rates[size]
        print(f"{size:5}  {median(found):.1f} ({min(found):.1f} to {max(found):.1f})")


if __name__ == "__main__":
    main()
