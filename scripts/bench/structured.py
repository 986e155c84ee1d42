"""Replies under a schema: how many parse and validate, and the cost of the grammar.

Random weights are the hardest writers: they write anything the grammar allows. ``--vocabulary``
generates a part with the vocabulary of Qwen2.
"""

import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.options import parser
from bench.rates import rate
from jsonschema import Draft202012Validator, ValidationError
from tiny_models.chat import write_chat_gguf, write_chat_gguf_with_vocabulary

from localrag_models.backends.llama_cpp.chat import LlamaCppChat
from localrag_models.chat import ChatRequest, Finish, Message
from localrag_models.grammar import grammar_of

STRING = {"type": "string", "minLength": 2000, "maxLength": 2000}
JAPANESE = {"type": "string", "minLength": 1, "maxLength": 30}


def record(**properties: Any) -> dict[str, Any]:
    """An object that requires all its properties."""
    return {"type": "object", "properties": properties, "required": list(properties)}


SCHEMAS: dict[str, dict[str, Any]] = {
    "choice": record(label={"enum": ["支持", "反対", "不明"]}),
    "integers": record(
        article={"type": "integer", "minimum": 1, "maximum": 1050},
        change={"type": "integer", "minimum": -37, "maximum": 8},
        year={"type": "integer", "exclusiveMinimum": 1867, "maximum": 2106},
    ),
    "strings": record(
        answer=JAPANESE,
        name={"type": "string", "pattern": "^(第[0-9]{1,3}条(の[0-9]{1,2}){0,2}|附則)$"},
        note={"type": ["string", "null"], "maxLength": 5},
    ),
    "lists": record(
        citations={
            "type": "array",
            "items": {"type": "integer", "minimum": 1, "maximum": 9},
            "minItems": 1,
            "maxItems": 4,
        },
        words={"type": "array", "items": {"type": "string", "maxLength": 6}, "maxItems": 3},
    ),
    "nested": record(
        claims={
            "type": "array",
            "maxItems": 2,
            "items": record(
                text=JAPANESE,
                quotes={
                    "type": "array",
                    "maxItems": 2,
                    "items": record(passage={"type": "integer", "minimum": 1, "maximum": 20}),
                },
            ),
        },
        status={"enum": ["supported", "not_found"]},
    ),
    "optional": {
        "type": "object",
        "properties": {
            "a": {"type": "boolean"},
            "b": {"type": "number", "minimum": 0, "maximum": 1},
            "c": {"const": {"版": ["1", None]}},
            "d": {"type": "string", "maxLength": 3},
        },
        "required": ["c"],
    },
    "union": {
        "anyOf": [{"$ref": "#/$defs/found"}, {"type": "null"}, {"$ref": "#/$defs/pair"}],
        "$defs": {
            "found": record(kind={"const": "found"}, text=JAPANESE),
            "pair": {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 2},
        },
    },
}


def main() -> None:
    """Generate, count, and print one row per schema."""
    options = parser(__doc__, data=False)
    options.add_argument("--replies", type=int, default=500, metavar="N", help="in all (500)")
    options.add_argument(
        "--vocabulary",
        type=Path,
        default=os.environ.get("LOCALRAG_TEST_VOCABULARY"),
        metavar="FOLDER",
        help="that holds the vocabulary of Qwen2 and the template of Qwen3; without it "
        "LOCALRAG_TEST_VOCABULARY",
    )
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bytes.gguf"
        write_chat_gguf(path)
        models = {"290 tokens": path}
        if arguments.vocabulary:
            path = Path(folder) / "real.gguf"
            write_chat_gguf_with_vocabulary(
                path,
                arguments.vocabulary / "ggml-vocab-qwen2.gguf",
                arguments.vocabulary / "Qwen-Qwen3-0.6B.jinja",
            )
            models["151,936 tokens"] = path
        measure(models, arguments.replies)


def measure(models: dict[str, Path], replies: int) -> None:
    """Share the replies out: nine in ten to the small vocabulary, the rest to the real one."""
    outcomes: Counter[str] = Counter()
    shares = [replies] if len(models) == 1 else [replies - replies // 10, replies // 10]
    for (vocabulary, path), share in zip(models.items(), shares, strict=True):
        with LlamaCppChat(path, threads=1) as model:
            print(f"vocabulary of {vocabulary}")
            for place, (name, schema) in enumerate(SCHEMAS.items()):
                n = share // len(SCHEMAS) + (place < share % len(SCHEMAS))
                outcomes += judge(model, name, schema, n)
            free(model, path)
    for what, count in outcomes.items():
        print(f"{what}: {count:,}")
    print(f"n = {replies}: valid {rate(outcomes['valid'], replies)}")


def judge(model: LlamaCppChat, name: str, schema: dict[str, Any], n: int) -> Counter[str]:
    """Outcomes of `n` replies with as many seeds."""
    validator = Draft202012Validator(schema)
    outcomes: Counter[str] = Counter()
    tokens = 0
    started = time.process_time()
    for seed in range(n):
        reply = model.chat(
            ChatRequest(
                messages=(Message("user", f"事例{seed}を判定せよ。"),),
                schema=schema,
                max_tokens=1000,
                temperature=1.0,
                top_p=1.0 if seed % 2 else 0.9,
                seed=seed,
            )
        )
        tokens += reply.usage.completion
        outcomes[verdict(validator, reply.text, reply.finish)] += 1
    seconds = time.process_time() - started
    per_token = seconds / max(tokens, 1)
    print(f"  {name:<10} n = {n:3d}  {tokens:6,} tokens  {per_token * 1000:6.2f} CPU ms each")
    return outcomes


def verdict(validator: Draft202012Validator, text: str, finish: Finish) -> str:
    """What became of a reply."""
    if finish is not Finish.STOP:
        return f"ended by {finish}"
    try:
        validator.validate(json.loads(text))
    except json.JSONDecodeError:
        return "no JSON"
    except ValidationError:
        return "JSON of another schema"
    return "valid"


def free(model: LlamaCppChat, path: Path) -> None:
    """Cost of a token without a schema, and under one that forbids little, in three ways."""
    from llama_cpp import Llama
    from llama_cpp.llama_grammar import LlamaGrammar

    request = ChatRequest(messages=(Message("user", "。"),), max_tokens=200, temperature=1.0)
    bound = replace(request, schema=STRING)
    cost("no schema", lambda: model.chat(request).usage.completion)
    cost("one string", lambda: model.chat(bound).usage.completion)
    llama = Llama(str(path), n_ctx=512, n_threads=1, n_threads_batch=1, verbose=False)
    grammar = LlamaGrammar.from_string(grammar_of(STRING), verbose=False)

    def completed() -> int:
        completion = llama.create_completion(
            [0], max_tokens=200, temperature=1.0, top_p=1.0, min_p=0.0, grammar=grammar
        )
        assert isinstance(completion, dict)
        return completion["usage"]["completion_tokens"]

    cost("the same in llama-cpp-python, which asks about the whole vocabulary", completed)
    llama.close()


def cost(name: str, generate: Callable[[], int]) -> None:
    """Print what a token costs."""
    generate()
    started = time.process_time()
    tokens = sum(generate() for _ in range(3))
    seconds = time.process_time() - started
    print(f"  {name}: n = {tokens:,} tokens, {seconds / tokens * 1000:.2f} CPU ms each")


if __name__ == "__main__":
    main()
