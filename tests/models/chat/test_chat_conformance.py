"""The promises of `ChatModel`, one test each, against every back end."""

import json
import string
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import jsonschema
import pytest
from pydantic import BaseModel, Field

from localrag_models.chat import ChatModel, ChatRequest, Finish, Message, generate
from localrag_models.errors import ContextExceeded, ModelError, ReplyInvalid, SchemaUnsupported

from ...rows import each

DOCUMENT = Message("system", "第一条　この法律は、渡し舟の安全を確保することを目的とする。" * 3)
FREE = ChatRequest(
    messages=(DOCUMENT, Message("user", "渡し舟とは何か。")),
    max_tokens=48,
    temperature=1.0,
    seed=7,
)
SCHEMA = {
    "type": "object",
    "properties": {
        "label": {"enum": ["支持", "反対", "不明"]},
        "reason": {"type": "string", "maxLength": 12},
        "articles": {
            "type": "array",
            "items": {"type": "integer", "minimum": 1, "maximum": 27},
            "maxItems": 3,
        },
    },
    "required": ["label", "reason", "articles"],
    "additionalProperties": False,
}
BOUND = replace(FREE, schema=SCHEMA, max_tokens=300)


class Verdict(BaseModel):
    label: str = Field(max_length=8)
    certain: bool


def test_it_is_named_and_says_how_much_it_takes(model: ChatModel) -> None:
    assert model.id
    assert model.context == 1024
    assert model.parallel >= 1


def test_a_prompt_is_never_counted_short(model: ChatModel) -> None:
    assert model.count(FREE.messages) >= model.chat(FREE).usage.prompt > 0


def test_the_pieces_joined_are_the_text(model: ChatModel) -> None:
    pieces: list[str] = []
    reply = model.chat(FREE, pieces.append)
    assert reply.text
    assert "".join(pieces) == reply.text
    assert len(pieces) > 1


def test_the_same_request_gives_the_same_reply(model: ChatModel) -> None:
    assert model.chat(FREE).text == model.chat(FREE).text


def test_another_seed_gives_another_reply(model: ChatModel) -> None:
    assert len({model.chat(replace(FREE, seed=seed)).text for seed in range(3)}) > 1


def test_without_temperature_the_seed_does_not_matter(model: ChatModel) -> None:
    greedy = replace(FREE, temperature=0.0)
    assert model.chat(greedy).text == model.chat(replace(greedy, seed=99)).text


def test_a_reply_ends_at_its_limit(model: ChatModel) -> None:
    reply = model.chat(replace(FREE, max_tokens=5))
    assert reply.finish is Finish.LENGTH
    assert reply.usage.completion == 5


def test_a_stop_ends_a_reply_and_is_no_part_of_it(model: ChatModel) -> None:
    text = model.chat(FREE).text
    printable = set(string.ascii_letters + string.digits + string.punctuation)
    stop = next(text[i : i + 2] for i in range(4, len(text)) if set(text[i : i + 2]) <= printable)
    pieces: list[str] = []
    reply = model.chat(replace(FREE, stop=("never comes", stop)), pieces.append)
    assert reply.finish is Finish.STOP
    assert reply.text == "".join(pieces) == text.partition(stop)[0]


def test_tokens_and_time_are_reported(model: ChatModel) -> None:
    first, second = model.chat(FREE), model.chat(FREE)
    assert 0 < first.usage.completion <= FREE.max_tokens
    assert first.seconds > 0
    assert second.usage.cached is None or 0 <= second.usage.cached <= second.usage.prompt


@each("seed", range(6))
def test_a_schema_binds(model: ChatModel, seed: int) -> None:
    reply = model.chat(replace(BOUND, seed=seed))
    assert reply.finish is Finish.STOP
    jsonschema.validate(json.loads(reply.text), SCHEMA)


def test_a_schema_binds_without_temperature(model: ChatModel) -> None:
    jsonschema.validate(json.loads(model.chat(replace(BOUND, temperature=0.0)).text), SCHEMA)


@each(
    "schema",
    [
        {"type": "string"},
        {"type": "array", "items": {"type": "boolean"}},
        {
            "type": "object",
            "properties": {"next": {"$ref": "#/$defs/node"}},
            "$defs": {"node": {"type": "object", "properties": {"on": {"$ref": "#/$defs/node"}}}},
        },
    ],
)
def test_a_schema_without_bounds_is_refused_before_any_token(
    model: ChatModel, schema: dict[str, object]
) -> None:
    pieces: list[str] = []
    request = replace(FREE, schema={"type": "object", "properties": {"a": schema}})
    with pytest.raises(SchemaUnsupported, match="#/"):
        model.chat(request, pieces.append)
    assert not pieces


def test_an_object_is_read_from_a_reply(model: ChatModel) -> None:
    verdict, reply = generate(model, replace(FREE, max_tokens=200), Verdict)
    assert Verdict.model_validate_json(reply.text) == verdict


def test_an_object_cut_short_is_an_error(model: ChatModel) -> None:
    with pytest.raises(ReplyInvalid, match="cut short") as caught:
        generate(model, replace(FREE, max_tokens=3), Verdict)
    assert caught.value.reply.text.startswith("{")


@each(
    "request_",
    [
        replace(FREE, messages=(Message("user", "長い。" * 2000),)),
        replace(FREE, max_tokens=1020),
    ],
)
def test_nothing_is_cut_in_silence(model: ChatModel, request_: ChatRequest) -> None:
    pieces: list[str] = []
    with pytest.raises(ContextExceeded) as caught:
        model.chat(request_, pieces.append)
    assert not pieces
    assert caught.value.needed > caught.value.available
    assert caught.value.cure


def test_control_tokens_in_a_message_are_plain_text(model: ChatModel) -> None:
    def prompt(content: str) -> int:
        return model.chat(
            replace(FREE, messages=(Message("user", content),), max_tokens=1)
        ).usage.prompt

    # As control tokens they would be one token each; as text they are several.
    assert prompt("舟" + "<|im_end|>" * 8) - prompt("舟") > 16


@each(
    "content",
    ["", "\0", "\ud800", "\u202e\u2066", "\r\n\t \u3000", "{{ messages }}{% if %}", "𠮷🏛"],
)
def test_any_text_can_be_a_message(model: ChatModel, content: str) -> None:
    request = replace(FREE, messages=(Message("user", content),), max_tokens=2)
    assert model.chat(request).usage.prompt > 0


def test_a_call_can_be_cancelled_before_it_begins(model: ChatModel) -> None:
    reply = model.chat(FREE, cancelled=lambda: True)
    assert reply.finish is Finish.CANCELLED
    assert reply.text == ""


def test_a_call_can_be_cancelled_at_any_token(model: ChatModel) -> None:
    pieces: list[str] = []
    reply = model.chat(FREE, pieces.append, lambda: len(pieces) >= 3)
    assert reply.finish is Finish.CANCELLED
    assert reply.text == "".join(pieces)
    assert model.chat(FREE).text.startswith(reply.text.rstrip("\ufffd"))


def test_what_the_listener_raises_passes_through(model: ChatModel) -> None:
    def broken(_: str) -> None:
        raise ZeroDivisionError

    before = model.chat(FREE).text
    with pytest.raises(ZeroDivisionError):
        model.chat(FREE, broken)
    assert model.chat(FREE).text == before


def test_it_is_told_how_much_of_the_prompt_is_read(model: ChatModel) -> None:
    told: list[tuple[int, int]] = []
    reply = model.chat(FREE, on_read=lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert {total for _, total in told} <= {reply.usage.prompt}
    # Servers need not tell.
    assert told or "server" in model.id or "Ollama" in model.id
    assert not told or told[-1] == (reply.usage.prompt, reply.usage.prompt)


def test_options_are_weighed_by_the_token_a_reply_begins_with(model: ChatModel) -> None:
    letters = model.choose(FREE.messages, string.ascii_lowercase)
    assert letters is not None
    assert list(letters.probabilities) == list(string.ascii_lowercase)
    assert sum(letters.probabilities.values()) == pytest.approx(1)
    assert 0 < letters.covered <= 1
    best, second = sorted(letters.probabilities, key=lambda each: -letters.probabilities[each])[:2]
    pair = model.choose(FREE.messages, [second, best])
    assert pair is not None
    shares = [letters.probabilities[each] for each in (second, best)]
    assert list(pair.probabilities.values()) == pytest.approx([s / sum(shares) for s in shares])
    assert pair.covered == pytest.approx(sum(shares) * letters.covered)


def test_a_choice_tells_tokens_and_time(model: ChatModel) -> None:
    choice = model.choose(FREE.messages, string.ascii_lowercase)
    assert choice is not None
    assert 0 < choice.usage.prompt <= model.count(FREE.messages)
    assert choice.usage.completion <= 1
    assert choice.seconds > 0


def test_a_choice_can_be_cancelled(model: ChatModel) -> None:
    assert model.choose(FREE.messages, ["yes", "no"], lambda: True) is None


def test_a_choice_needs_room_too(model: ChatModel) -> None:
    with pytest.raises(ContextExceeded):
        model.choose((Message("user", "長い。" * 2000),), ["yes", "no"])


def test_options_that_are_no_words_are_a_mistake_of_the_program(model: ChatModel) -> None:
    with pytest.raises(ValueError, match="option"):
        model.choose(FREE.messages, ["yes", "yes"])


def test_a_choice_changes_no_reply(model: ChatModel) -> None:
    before = model.chat(FREE).text
    model.choose((*FREE.messages, Message("user", "yes or no?")), string.ascii_lowercase)
    assert model.chat(FREE).text == before


def test_calls_of_several_threads_queue(model: ChatModel) -> None:
    requests = [replace(FREE, seed=seed, max_tokens=12) for seed in range(4)]
    alone = [model.chat(request).text for request in requests]
    with ThreadPoolExecutor(4) as threads:
        together = [reply.text for reply in threads.map(model.chat, requests)]
    assert together == alone


def test_closing_twice_does_no_harm_and_a_closed_model_says_so(
    open_model: Callable[..., ChatModel],
) -> None:
    with open_model() as model:
        model.close()
    with pytest.raises(ModelError):
        model.chat(FREE)
    with pytest.raises(ModelError):
        model.choose(FREE.messages, ["yes", "no"])
