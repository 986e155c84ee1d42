"""Servers that behave as reports say: each reply is read rightly, or refused with cause and cure.

The reports are those of Ollama (issues 14645, 14850, 15260, 17871: ``format`` is ignored if
``think`` is false), LM Studio (1698, 1773: the reply is in ``reasoning_content``; 1555: a grammar
garbles Harmony) and llama.cpp (22537: a grammar binds the thought).
"""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from tiny_models.servers import Answer, End, OpenAIDouble
from tiny_models.servers.openai import Dialect
from tiny_models.servers.streams import obeyed

from localrag_models.backends.llama_cpp.chat import LlamaCppChat
from localrag_models.chat import Finish, Remark
from localrag_models.errors import Cure, ModelError, ReplyInvalid, ServerBroke, ServerTimeout
from localrag_models.thinking import Thinking

from .conftest import Served, ask_for

pytestmark = pytest.mark.usefixtures("quick_retries")

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 20}},
    "required": ["n"],
    "additionalProperties": False,
}
GOOD, BAD = '{"n": 7}', '{"n": 99}'
PROSE = "第七条による。"
THOUGHT = '一は {"n": 1} だが七か。'


@dataclass(frozen=True)
class Sent:
    """What a server makes of a request.

    Attributes:
        schema: that it is told to bind the reply to.
        thinks: as it was told; None without an order.
        words: of the last message.
        limit: tokens of thought and reply.
        seed: of the sampling.
    """

    schema: Any
    thinks: bool | None
    words: str
    limit: int
    seed: int

    @property
    def value(self) -> str:
        """The JSON that is asked for: to a probe, or else `GOOD`."""
        return obeyed(ask_for("", self.schema)) if self.schema not in (None, SCHEMA) else GOOD

    @property
    def in_words(self) -> bool:
        """Whether the schema is in the prompt."""
        return "JSON schema" in self.words


@dataclass(frozen=True)
class Said:
    """What it answers; `thinking` is in a field of its own."""

    content: str = ""
    thinking: str = ""
    reason: str = "stop"


Habit = Callable[[Sent], Said]


def sent(body: dict[str, Any]) -> Sent:
    options = body.get("options", body)
    switches = body.get("chat_template_kwargs", {})
    wrapped = body.get("response_format", {})
    bound = wrapped.get("json_schema", {}).get("schema")
    schema = bound or (body["format"] if isinstance(body.get("format"), dict) else None)
    thinks = body.get("think", switches.get("enable_thinking"))
    limit = options.get("num_predict") or options.get("max_tokens")
    return Sent(schema, thinks, body["messages"][-1]["content"], limit, options["seed"])


def behave(served: Served, habit: Habit, *, harmony: bool = False) -> None:
    """Let a server answer every chat request by its habit."""

    def answer(path: str, body: dict[str, Any]) -> Answer | None:
        if path != served.path:
            return described(path) if harmony else None
        said = habit(sent(body))
        field = "thinking" if served.protocol == "ollama" else "reasoning_content"
        pieces = [served.line(**{field: piece}) for piece in halves(said.thinking)]
        pieces += [served.line(piece) for piece in halves(said.content)]
        return Answer([*pieces, served.last(prompt=60, reason=said.reason)])

    served.double.before = answer


def described(path: str) -> Answer | None:
    """The card of a model that writes Harmony, of Ollama and of llama-server."""
    info = {"general.architecture": "gptoss", "gptoss.context_length": 4096}
    match path:
        case "/api/show":
            return Answer.json({"model_info": info, "capabilities": ["completion", "thinking"]})
        case "/props":
            template = "<|start|>{{ role }}<|channel|>final<|message|>"
            settings = {"n_ctx": 4096}
            return Answer.json({"chat_template": template, "default_generation_settings": settings})
    return None


def can_think(served: Served) -> None:
    """Let Ollama say so of the next model."""
    if served.protocol == "ollama":
        card = {"model_info": {}, "capabilities": ["completion", "thinking"]}
        served.double.before = lambda path, _: Answer.json(card) if path == "/api/show" else None


def halves(text: str) -> list[str]:
    middle = len(text) // 2
    return [half for half in (text[:middle], text[middle:]) if half]


def ignores_format(sent: Sent) -> Said:
    return Said(f"承知しました。\n```json\n{GOOD}\n```" if sent.in_words else PROSE)


def ignores_format_unless_it_thinks(sent: Sent) -> Said:
    if sent.thinks is False:
        return Said(PROSE)
    return Said(sent.value if sent.schema else PROSE, THOUGHT)


def harmony(sent: Sent) -> Said:
    assert sent.schema is None
    final = f"<|start|>assistant<|channel|>final <|constrain|>json<|message|>{GOOD}<|return|>"
    return Said(f"<|channel|>analysis<|message|>{THOUGHT}<|end|>{final}")


def parsed_harmony(sent: Sent) -> Said:
    assert sent.schema is None
    return Said(GOOD, THOUGHT)


def wraps(before: str, after: str) -> Habit:
    return lambda sent: Said(
        f"{before}{sent.value}{after}" if sent.schema or sent.in_words else PROSE
    )


def puts_reply_into_thought(sent: Sent) -> Said:
    return Said("", sent.value) if sent.schema else Said(PROSE)


def thinks_until_it_has_room(sent: Sent) -> Said:
    return Said(sent.value, THOUGHT) if sent.limit > 1024 else Said("", THOUGHT, "length")


def is_wrong_first(sent: Sent) -> Said:
    if not sent.in_words:
        return Said(PROSE)
    return Said(GOOD if "does not fulfil" in sent.words else f"答えは {BAD}")


def keeps_to_probes_only(sent: Sent) -> Said:
    return Said(BAD if sent.schema == SCHEMA else sent.value)


OFF_IGNORED = (Remark.THINKS_ANYWAY,)
READ = {
    "format ignored": (ignores_format, "", (Remark.UNBOUND, Remark.LENIENT)),
    "thought in the reply": (wraps(f"<think>\n{THOUGHT}\n</think>\n\n", ""), THOUGHT, OFF_IGNORED),
    "thought of Gemma": (
        wraps(f"<|channel>thought\n{THOUGHT}<channel|>", ""),
        THOUGHT,
        OFF_IGNORED,
    ),
    "thought of Magistral": (wraps(f"[THINK]{THOUGHT}[/THINK]", ""), THOUGHT, OFF_IGNORED),
    "thought opened by the prompt": (wraps(f"{THOUGHT}</think>\n\n", ""), THOUGHT, ()),
    "thought in a field": (lambda sent: Said(sent.value, THOUGHT), THOUGHT, OFF_IGNORED),
    "an empty thought": (wraps("<think>\n\n</think>\n\n", ""), "", ()),
    "in a fence": (wraps("```json\n", "\n```"), "", (Remark.UNBOUND, Remark.LENIENT)),
    "in reasoning_content": (puts_reply_into_thought, "", (Remark.IN_THOUGHT,)),
    "thinks without room": (thinks_until_it_has_room, THOUGHT, OFF_IGNORED),
    "wrong at first": (is_wrong_first, "", (Remark.UNBOUND, Remark.REPAIRED)),
}


@pytest.mark.parametrize("name", READ)
def test_a_reply_is_read(served: Served, ask: Callable[..., Any], name: str) -> None:
    habit, thinking, remarks = READ[name]
    with served.model() as model:
        behave(served, habit)
        heard: list[str] = []
        reply = model.chat(ask(schema=SCHEMA), heard.append)
        assert (reply.text, reply.thinking, reply.finish) == (GOOD, thinking, Finish.STOP)
        assert "".join(heard) == GOOD
        assert {*remarks} <= {*reply.remarks}
        assert (reply.usage.thought > 0) == bool(thinking)
        assert model.context <= 4096 - 1024 * (Remark.THINKS_ANYWAY in remarks)


def test_ollama_keeps_to_a_format_only_if_it_thinks(
    ollama_served: Served, ask: Callable[..., Any]
) -> None:
    """The pair that breaks is found by the probe, and is not sent again."""
    can_think(ollama_served)
    with ollama_served.model() as model:
        behave(ollama_served, ignores_format_unless_it_thinks)
        model.chat(ask())
        ollama_served.double.requests.clear()
        reply = model.chat(ask(schema=SCHEMA, max_tokens=64))
        assert (reply.text, reply.thinking) == (GOOD, THOUGHT)
        assert Remark.THINKS_ANYWAY in reply.remarks
        (body,) = ollama_served.asked
        assert (body["think"], body["format"]) == (True, SCHEMA)
        assert body["options"]["num_predict"] == 64 + 2048


@pytest.mark.parametrize("habit", [harmony, parsed_harmony])
@pytest.mark.parametrize(("thinking", "level"), [("off", "low"), ("on", "high")])
def test_harmony_gets_no_grammar(
    served: Served, ask: Callable[..., Any], habit: Habit, thinking: Thinking, level: str
) -> None:
    if served.protocol == "openai":
        served.double.dialect = "llama-server"  # type: ignore[attr-defined]
    behave(served, habit, harmony=True)
    with served.model(thinking=thinking, effort="high") as model:
        reply = model.chat(ask(schema=SCHEMA, max_tokens=64))
        assert (reply.text, reply.thinking) == (GOOD, THOUGHT)
        assert (Remark.THINKS_ANYWAY in reply.remarks) == (thinking == "off")
        (body,) = served.asked
        assert body.get("think", body.get("reasoning_effort")) == level
        assert not {"format", "grammar", "response_format", "tools"} & body.keys()


@pytest.mark.parametrize(("thinking", "told"), [("off", False), ("on", True), ("auto", None)])
def test_how_a_model_is_told_to_think(
    served: Served, ask: Callable[..., Any], thinking: Thinking, told: bool | None
) -> None:
    """Room for a thought is beside that of the reply, and is no part of the context."""
    can_think(served)
    with served.model(thinking=thinking, effort="low", context=4096) as model:
        seen: list[Sent] = []

        def thinks(one: Sent) -> Said:
            seen.append(one)
            return Said("はい", THOUGHT if one.thinks is not False else "")

        behave(served, thinks)
        reply = model.chat(ask(max_tokens=64))
        assert seen[-1].thinks is told
        assert (reply.text, bool(reply.thinking)) == ("はい", thinking != "off")
        assert model.context == (4096 if thinking == "off" else 3072)
        model.chat(ask(max_tokens=64))
        assert seen[-1].limit == (64 if thinking == "off" else 64 + 1024)


def test_an_open_thought_in_free_text_is_kept_back(served: Served, ask: Callable[..., Any]) -> None:
    """The prompt has opened the thought, so its first mark is the closing one."""
    with served.model(thinking="on") as model:
        behave(served, lambda _: Said(f"{THOUGHT}</think>\n\n{PROSE}"))
        heard: list[str] = []
        reply = model.chat(ask(), heard.append)
        assert (reply.text, reply.thinking, "".join(heard)) == (PROSE, THOUGHT, PROSE)
        behave(served, lambda _: Said(PROSE))
        assert model.chat(ask()).text == PROSE


def refused(content: str = "", thinking: str = "") -> Habit:
    return lambda sent: Said(content, thinking)


REFUSED: dict[str, tuple[Habit, str, str | None]] = {
    "never JSON": (refused(PROSE), "binds no reply of tiny", None),
    "never closed": (refused(f"<think>{THOUGHT}"), "a thought and no answer", Cure.LESS_THOUGHT),
    "only a draft in thought": (
        refused("", THOUGHT),
        "a thought and no answer",
        Cure.LESS_THOUGHT,
    ),
    "empty": (refused(), "an empty reply", None),
    "another value": (keeps_to_probes_only, "does not match its schema: at \\$.n", None),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_reply_is_refused(served: Served, ask: Callable[..., Any], name: str) -> None:
    habit, cause, cure = REFUSED[name]
    with served.model() as model:
        behave(served, habit)
        with pytest.raises(ReplyInvalid, match=cause) as caught:
            model.chat(ask(schema=SCHEMA))
    of_server = "Ollama" if served.protocol == "ollama" else "llama-server"
    assert caught.value.cure == cure if cure else of_server in caught.value.cure


@pytest.mark.parametrize(
    ("dialect", "cure"),
    [
        ("llama-server", "--jinja"),
        ("vllm", "--reasoning-parser"),
        ("lm-studio", "Update LM Studio"),
        ("strict", "Use a server that binds"),
    ],
)
def test_the_cure_is_for_this_server(
    tiny: LlamaCppChat, ask: Callable[..., Any], loopback: None, dialect: Dialect, cure: str
) -> None:
    with OpenAIDouble(tiny, dialect) as double:
        served = Served("openai", double)
        with served.model() as model:
            behave(served, refused(PROSE))
            with pytest.raises(ReplyInvalid, match="binds no reply of tiny") as caught:
                model.chat(ask(schema=SCHEMA))
    assert cure in caught.value.cure


def test_a_choice_of_a_model_that_thinks_is_its_first_word_after_the_thought(
    served: Served, ask: Callable[..., Any]
) -> None:
    if served.protocol == "openai":
        served.double.dialect = "llama-server"  # type: ignore[attr-defined]
    served.double.before = lambda path, _: described(path)
    listed = [{"token": word, "logprob": -1.0, "bytes": None} for word in ("no", "yes")]
    with served.model(context=4096) as model:
        field = "thinking" if served.protocol == "ollama" else "reasoning_content"
        told = [{"top_logprobs": listed}]
        lines = [served.line(**{field: THOUGHT}), served.listing(told), served.last()]
        served.answers(Answer(lines))
        choice = model.choose(ask().messages, ["yes", "no"])
        assert choice is not None
        assert choice.probabilities == {"yes": 0.5, "no": 0.5}
        assert sent(served.asked[-1]).limit == 1 + 2048


@pytest.mark.parametrize("listens", [False, True])
def test_a_thought_alone_is_no_answer(
    served: Served, ask: Callable[..., Any], listens: bool
) -> None:
    heard: list[str] = []
    with served.model() as model:
        behave(served, refused(f"<think>{THOUGHT}"))
        with pytest.raises(ReplyInvalid, match="a thought and no answer"):
            model.chat(ask(), heard.append) if listens else model.chat(ask())
    assert not heard


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("model runner has stopped", "model runner has stopped"),
        ({"message": "CUDA out of memory", "type": "x"}, "out of memory"),
        ({"message": "context size exceeded: 9000 of 4096", "code": 400}, "context size"),
    ],
)
def test_200_with_an_error(
    served: Served, ask: Callable[..., Any], error: object, words: str
) -> None:
    line = json.dumps({"error": error}).encode()
    answers = [Answer([line + b"\n"])] if served.protocol == "ollama" else [Answer([line])]
    with served.model() as model:
        served.answers(*answers * 4)
        with pytest.raises(ModelError, match=words) as caught:
            model.chat(ask())
    assert caught.value.cure
    assert "middle of a reply" not in caught.value.cause


@pytest.mark.parametrize("served", ["openai"], indirect=True)
def test_a_server_that_does_not_stream(served: Served, ask: Callable[..., Any]) -> None:
    """Without a stream, Ollama's reply is one line of it."""
    message = {"role": "assistant", "content": PROSE, "reasoning_content": THOUGHT}
    value = {"choices": [{"message": message, "finish_reason": "stop"}]}
    with served.model() as model:
        served.answers(Answer([json.dumps(value, indent=1).encode()]))
        reply = model.chat(ask())
    assert (reply.text, reply.thinking) == (PROSE, THOUGHT)


def test_truncated(served: Served, ask: Callable[..., Any]) -> None:
    with served.model() as model:
        behave(served, lambda sent: Said(sent.value[:5], reason="length"))
        reply = model.chat(ask())
        assert (reply.finish, reply.text) == (Finish.LENGTH, GOOD[:5])
        served.double.before = lambda *_: None
        served.answers(*[Answer([served.line(PROSE)], end=End.DIES)] * 4)
        with pytest.raises(ServerBroke, match="broke off"):
            model.chat(ask())


def test_a_slow_first_token(served: Served, ask: Callable[..., Any]) -> None:
    """It is waited for as long as the timeout; the call can be left meanwhile."""
    asked, looks = threading.Event(), 0

    class Slow:
        def __iter__(self) -> Iterator[bytes]:
            asked.wait()
            return iter([served.line(PROSE), served.last()])

    def look() -> bool:
        nonlocal looks
        looks += 1
        if looks > 3:
            asked.set()
        return False

    with served.model() as model:
        served.answers(Answer(Slow()))
        assert model.chat(ask(), cancelled=look).text == PROSE
    with served.model(timeout=1.0) as model:
        served.answers(Answer(end=End.HANGS))
        with pytest.raises(ServerTimeout, match="sent nothing for 1 s"):
            model.chat(ask())
