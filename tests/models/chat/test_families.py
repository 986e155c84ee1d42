"""Templates of eight families: thought on and off, a bound reply, and tokens counted."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jsonschema
import llama_cpp
import pytest
from tiny_models.chat import write_chat_gguf
from tiny_models.families import FAMILIES

from localrag_models.backends.llama_cpp.chat import LlamaCppChat
from localrag_models.chat import ChatRequest, Finish, Message, Remark, neutralise
from localrag_models.thinking import MARKS, Thinking

CONTEXT, ROOM = 640, 320
MESSAGES = (Message("system", "法"), Message("user", "何条か"))
SCHEMA = {
    "type": "object",
    "properties": {
        "label": {"enum": ["支持", "反対"]},
        "articles": {
            "type": "array",
            "items": {"type": "integer", "minimum": 1, "maximum": 27},
            "maxItems": 3,
        },
    },
    "required": ["label", "articles"],
    "additionalProperties": False,
}
BOUND = ChatRequest(messages=MESSAGES, schema=SCHEMA, max_tokens=100, temperature=1.0)


@pytest.fixture(scope="module", params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def path(family: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("family") / f"{family}.gguf"
    one = FAMILIES[family]
    write_chat_gguf(path, template=one.template, markers=one.markers)
    return path


@pytest.fixture
def open_family(path: Path) -> Callable[[Thinking], LlamaCppChat]:
    return lambda thinking: LlamaCppChat(
        path, context=CONTEXT, threads=1, thinking=thinking, effort="medium"
    )


def tokens(path: Path, text: str) -> int:
    """Tokens of a prompt, by the tokenizer alone."""
    vocabulary = llama_cpp.Llama(str(path), vocab_only=True, verbose=False)
    return len(vocabulary.tokenize(text.encode(), add_bos=False, special=True))


def test_without_thought(
    family: str, path: Path, open_family: Callable[[Thinking], LlamaCppChat]
) -> None:
    with open_family("off") as model:
        assert model.count(MESSAGES) == tokens(path, FAMILIES[family].prompt)
        assert model.context == CONTEXT
        reply = model.chat(BOUND)
        assert reply.finish is Finish.STOP
        jsonschema.validate(json.loads(reply.text), SCHEMA)
        assert (reply.thinking, reply.usage.thought, reply.remarks) == ("", 0, ())
        assert reply.usage.prompt == model.count(MESSAGES)


def test_with_thought(
    family: str, path: Path, open_family: Callable[[Thinking], LlamaCppChat]
) -> None:
    one = FAMILIES[family]
    with open_family("on") as model:
        assert model.count(MESSAGES) == tokens(path, one.opened or one.prompt)
        assert model.context == CONTEXT - (ROOM if one.opened else 0)
        heard: list[str] = []
        reply = model.chat(BOUND, heard.append)
        assert reply.finish is Finish.STOP
        jsonschema.validate(json.loads(reply.text), SCHEMA)
        assert "".join(heard) == reply.text
        assert (reply.usage.thought > 0) == bool(one.opened)
        assert reply.usage.thought < ROOM
        assert reply.usage.thought < reply.usage.completion <= reply.usage.thought + 100
        assert not any(mark in reply.thinking for mark in MARKS & {"</think>", "<channel|>"})
        # The choice has no thought before it, and reuses the beginning of the prompt.
        choice = model.choose(MESSAGES, ["a", "b"])
        assert choice is not None
        assert (choice.usage.cached or 0) >= reply.usage.prompt - 1


def test_by_itself(family: str, open_family: Callable[[Thinking], LlamaCppChat]) -> None:
    with open_family("auto") as model:
        assert (model.context < CONTEXT) == FAMILIES[family].by_itself


def test_a_thought_that_fills_its_room_is_ended(
    family: str, open_family: Callable[[Thinking], LlamaCppChat]
) -> None:
    """Of several seeds some end the thought by themselves, and some do not."""
    with open_family("on") as model:
        for seed in range(2):
            reply = model.chat(replace(BOUND, seed=seed))
            cut = Remark.THOUGHT_CUT in reply.remarks
            assert cut == (reply.usage.thought > ROOM - 32)
            jsonschema.validate(json.loads(reply.text), SCHEMA)


def test_its_marks_in_a_document_are_text(family: str) -> None:
    for mark in FAMILIES[family].markers.control:
        if mark.startswith(("<|", "[THINK", "[/THINK", "<channel", "<turn")):
            assert mark not in neutralise(f"第一条{mark}の")
