"""What is sent to a server, and what becomes of its reply."""

import json
import threading

import pytest
from tiny_models.servers import Answer, End, OpenAIDouble

from localrag_models.backends.openai import OpenAIChat
from localrag_models.chat import ChatRequest, Finish, Message
from localrag_models.errors import ProbabilitiesMissing, ReplyInvalid

from ...patience import PATIENCE
from ...rows import each

pytestmark = pytest.mark.usefixtures("quick_retries")

JOINER = "\u2060"
SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 20}},
    "required": ["n"],
    "additionalProperties": False,
}


def test_pieces_joined_are_the_text(served, ask):
    served.answers(served.reply("第", "一", "条"))
    heard: list[str] = []
    with served.model() as model:
        reply = model.chat(ask(), heard.append)
    assert heard == ["第", "一", "条"]
    assert reply.text == "第一条"
    assert reply.finish is Finish.STOP
    assert (reply.usage.prompt, reply.usage.cached, reply.usage.completion) == (10, None, 7)


@each("character", ["\x85", "\u2028", "\u2029", "\x0b", "\x1c", "\u3000", "𠮷"])
def test_characters_that_some_take_for_the_end_of_a_line(served, ask, character):
    served.answers(served.reply(f"第{character}条"))
    with served.model() as model:
        assert model.chat(ask()).text == f"第{character}条"


def test_lines_split_anywhere(served, ask):
    whole = b"".join(served.reply("第一", "条").content)
    served.answers(Answer([whole[place : place + 1] for place in range(len(whole))]))
    with served.model() as model:
        assert model.chat(ask()).text == "第一条"


def test_cut_by_the_limit_of_tokens(served, ask):
    served.answers(Answer([served.line("第一"), served.last(reason="length")]))
    with served.model() as model:
        assert model.chat(ask()).finish is Finish.LENGTH


@each(
    "pieces",
    [["<think>", "まず", "</think>", "\n\n", "はい"], ["\n<th", "ink>まず</thi", "nk>", "はい"]],
)
def test_reasoning_at_the_head_is_kept_apart(served, ask, pieces):
    served.answers(served.reply(*pieces))
    heard: list[str] = []
    with served.model() as model:
        reply = model.chat(ask(), heard.append)
    assert (reply.text, reply.thinking) == ("はい", "まず")
    assert "".join(heard) == "はい"


def test_reasoning_the_server_keeps_apart(served, ask):
    field = "thinking" if served.protocol == "ollama" else "reasoning_content"
    served.answers(Answer([served.line(**{field: "まず"}), served.line("はい"), served.last()]))
    with served.model() as model:
        reply = model.chat(ask())
    assert (reply.text, reply.thinking) == ("はい", "まず")


def test_control_tokens_are_sent_broken_and_come_back_whole(served, ask):
    served.answers(served.reply("<", JOINER, "|im_end|>と", f"<{JOINER}/s>"))
    with served.model() as model:
        reply = model.chat(ask("文中の<|im_end|>と</s>"))
    (body,) = served.asked
    assert body["messages"][0]["content"] == f"文中の<{JOINER}|im_end|>と<{JOINER}/s>"
    assert reply.text == "<|im_end|>と</s>"


def test_half_a_surrogate_pair_can_be_sent(served, ask):
    served.answers(served.reply("はい"))
    with served.model() as model:
        assert model.chat(ask("第\ud842条")).text == "はい"
    assert served.asked[0]["messages"][0]["content"] == "第?条"


def test_thinking_off_and_sampling_as_asked(served, ask):
    served.answers(served.reply("はい"))
    with served.model(context=2048) as model:
        model.chat(ask(max_tokens=9, temperature=0.25, top_p=0.5, seed=3, stop=("。",)))
    (body,) = served.asked
    options = body["options"] if served.protocol == "ollama" else body
    assert body["stream"] is True
    assert (options["temperature"], options["top_p"], options["seed"]) == (0.25, 0.5, 3)
    assert options["stop"] == ["。"]
    assert options["repeat_penalty"] == 1.0
    if served.protocol == "ollama":
        assert (options["num_predict"], options["num_ctx"]) == (9, 2048)
        assert (body["truncate"], body["shift"]) == (False, False)
    else:
        assert body["max_tokens"] == 9
        assert body["chat_template_kwargs"] == {"enable_thinking": False, "thinking": False}
        assert body["stream_options"] == {"include_usage": True}


def test_nothing_comes_from_the_environment(served, ask, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "OLLAMA_HOST", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "http://192.0.2.1:1")
    monkeypatch.setenv("OLLAMA_API_KEY", "secret")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    served.answers(served.reply("はい"))
    with served.model() as model:
        assert model.chat(ask()).text == "はい"
    assert "secret" not in str(served.double.headers)


def test_a_reply_against_its_schema_is_asked_for_once_more(ollama_served, ask):
    ollama_served.answers(ollama_served.reply('{"n": 99}'), ollama_served.reply('{"n": 7}'))
    with ollama_served.model() as model:
        assert model.chat(ask(schema=SCHEMA, seed=4)).text == '{"n": 7}'
    first, second = ollama_served.asked
    assert first["format"] == second["format"] == SCHEMA
    assert (first["options"]["seed"], second["options"]["seed"]) == (4, 5)
    assert first["options"]["temperature"] < second["options"]["temperature"]


@each("text", ['{"n": 99}', "ここに答え", '{"n": 99} です', "", "[" * 100_000])
def test_a_reply_against_its_schema_twice(ollama_served, ask, text):
    ollama_served.answers(*[ollama_served.reply(text)] * 2)
    with ollama_served.model() as model, pytest.raises(ReplyInvalid) as raised:
        model.chat(ask(schema=SCHEMA))
    assert raised.value.reply.text == text


def test_a_reply_somebody_has_seen_is_not_replaced(ollama_served, ask):
    ollama_served.answers(ollama_served.reply('{"n": 99}'))
    with ollama_served.model() as model, pytest.raises(ReplyInvalid, match=r"\$\.n"):
        model.chat(ask(schema=SCHEMA), lambda piece: None)


def test_four_at_a_time(served, ask):
    together = threading.Barrier(4, timeout=PATIENCE)

    class Waiting:
        def __iter__(self):
            together.wait()
            return iter([served.line("はい"), served.last()])

    served.answers(*[Answer(Waiting())] * 8)
    with served.model(parallel=4) as model:
        assert model.parallel == 4
        replies: list[str] = []
        threads = [
            threading.Thread(target=lambda: replies.append(model.chat(ask()).text))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert replies == ["はい"] * 8


def test_several_messages_keep_their_order_and_roles(served):
    served.answers(served.reply("はい"))
    messages = (Message("system", "法"), Message("assistant", "一"), Message("user", "二"))
    with served.model() as model:
        model.chat(ChatRequest(messages=messages, max_tokens=8))
    sent = [(each["role"], each["content"]) for each in served.asked[0]["messages"]]
    assert sent == [(message.role, message.content) for message in messages]


def test_a_stream_left_open_is_closed_when_cancelled_at_a_piece(served, ask):
    served.answers(Answer([served.line(str(n)) for n in range(50)], end=End.HANGS))
    heard: list[str] = []
    with served.model() as model:
        reply = model.chat(ask(), heard.append, lambda: len(heard) == 3)
    assert reply.finish is Finish.CANCELLED
    assert reply.text == "012"
    assert heard == ["0", "1", "2"]


def test_options_are_weighed_by_what_the_server_lists(served, ask):
    model = served.model()
    listed = [
        {"token": "Yes", "logprob": -0.5, "bytes": [89, 101, 115]},
        {"token": "no", "logprob": -1.5, "bytes": None},
        {"token": "", "logprob": -1.6},
        {"token": "Maybe", "logprob": -1.7},
    ]
    told = [{"token": "Yes", "logprob": -0.5, "top_logprobs": listed}]
    served.answers(Answer([served.listing(told), served.last()]))
    with model:
        choice = model.choose(ask().messages, ["yes", "no"])
    assert choice.probabilities == pytest.approx({"yes": 0.7311, "no": 0.2689}, abs=1e-4)
    assert choice.covered == pytest.approx(0.8297, abs=1e-4)
    (sent,) = served.asked
    assert sent["logprobs"] is True
    assert sent["top_logprobs"] == 20
    assert sent.get("max_tokens") == 1 or sent["options"]["num_predict"] == 1


@each(
    "told",
    [None, [], {}, "no", [None], [{"token": "no", "logprob": -1}], [{"top_logprobs": None}],
     [{"top_logprobs": [None, 1, {"token": 1, "logprob": -1}, {"token": "no"},
       {"token": "no", "logprob": "x"}, {"token": "no", "logprob": 3}]}]],
)  # fmt: skip
def test_a_server_that_lists_no_probabilities(served, ask, told):
    model = served.model()
    served.answers(Answer([served.listing(told), served.last()]))
    with model, pytest.raises(ProbabilitiesMissing, match="gives no probabilities") as caught:
        model.choose(ask().messages, ["yes", "no"])
    assert "logprobs" in caught.value.cure


def test_bytes_that_are_none(served, ask):
    model = served.model()
    listed = [
        {"token": "yes", "logprob": -0.1, "bytes": [7, "x"]},
        {"token": "no", "logprob": -0.5, "bytes": [110, 111]},
        {"token": "yes", "logprob": -1, "bytes": [999]},
    ]
    served.answers(Answer([served.listing([{"top_logprobs": listed}]), served.last()]))
    with model:
        assert model.choose(ask().messages, ["yes", "no"]).probabilities == {"yes": 0, "no": 1}


@each(
    ("message", "status"),
    [
        ("logprobs is not supported for models created with logits_all=False", 500),
        ("Unrecognized request argument supplied: top_logprobs", 400),
    ],
)
def test_a_server_that_refuses_to_list_probabilities(served, ask, message, status):
    model = served.model()
    served.answers(Answer.error(message, status))
    with model, pytest.raises(ProbabilitiesMissing, match="logprobs"):
        model.choose(ask().messages, ["yes", "no"])
    assert len(served.asked) == 1


def test_how_far_llama_server_has_read(tiny, ask, loopback):
    told = []
    with OpenAIDouble(tiny) as double, OpenAIChat("tiny", server=double.address) as model:
        reply = model.chat(ask("舟" * 200), on_read=lambda *step: told.append(step))
        assert len(told) > 2
        assert told[-1] == (reply.usage.prompt, reply.usage.prompt)
        for wrong in ({"processed": 1}, {"total": True, "processed": 3}, [], "half", None):
            chunk = {"choices": [], "prompt_progress": wrong}
            end = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
            lines = [f"data: {json.dumps(each)}\n\n".encode() for each in (chunk, end)]
            double.instead("/v1/chat/completions", Answer(lines))
            told.clear()
            model.chat(ask(), on_read=lambda *step: told.append(step))
            assert not told
