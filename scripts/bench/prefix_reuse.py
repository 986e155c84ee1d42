"""Prefix reuse: tokens evaluated for many sentences against one document, or separately."""

import json
import tempfile
import time
from pathlib import Path

from bench.options import parser
from tiny_models.chat import Shape, write_chat_gguf

from localrag_models.backends.llama_cpp.chat import LlamaCppChat
from localrag_models.chat import ChatRequest, Message, Reply

SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"enum": ["支持", "反対", "不明"]}},
    "required": ["verdict"],
}
ARTICLE = "第{}条　船長は、渡し舟に乗る者の数が定員を超えないようにしなければならない。\n"


def main() -> None:
    """Judge every sentence twice: after one another, and each with nothing to take over."""
    options = parser(__doc__, data=False)
    options.add_argument("--sentences", type=int, default=20, metavar="N", help="to judge (20)")
    options.add_argument(
        "--document", type=int, default=2000, metavar="TOKENS", help="length (2000)"
    )
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tiny.gguf"
        write_chat_gguf(path, shape=Shape(layers=4, width=256, heads=8, kv_heads=4, head_width=32))
        with LlamaCppChat(path, threads=1) as model:
            measure(model, arguments.sentences, arguments.document)


def measure(model: LlamaCppChat, sentences: int, length: int) -> None:
    """Print both totals, their ratio, and whether the verdicts are the same."""
    document = ""
    article = 1
    while model.count((Message("system", document),)) < length:
        document += ARTICLE.format(article)
        article += 1
    requests = [
        ChatRequest(
            messages=(
                Message("system", document),
                Message("user", f"文{number}：渡し舟の定員は{number}人である。"),
            ),
            schema=SCHEMA,
            max_tokens=64,
        )
        for number in range(1, sentences + 1)
    ]
    forget = ChatRequest(messages=(Message("user", "。"),), max_tokens=1)

    def separately(request: ChatRequest) -> Reply:
        model.chat(forget)
        return model.chat(request)

    totals = []
    verdicts = []
    for name, ask in (("separate", separately), ("reusing", model.chat)):
        model.chat(forget)
        started = time.process_time()
        replies = [ask(request) for request in requests]
        seconds = time.process_time() - started
        evaluated = sum(reply.usage.prompt - (reply.usage.cached or 0) for reply in replies)
        totals.append(evaluated)
        verdicts.append([json.loads(reply.text) for reply in replies])
        print(f"{name:<10}{evaluated:8,} prompt tokens evaluated, {seconds:6.2f} CPU s")
    prompt = model.count((Message("system", document),))
    print(
        f"n = {sentences} sentences, document of {prompt:,} tokens: ratio "
        f"{totals[1] / totals[0]:.3f}; same verdicts: {verdicts[0] == verdicts[1]}"
    )


if __name__ == "__main__":
    main()
