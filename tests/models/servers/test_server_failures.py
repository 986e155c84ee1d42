"""What can go wrong between a chat model and its server, each with its typed error."""

import re
import socket
import threading
from itertools import count

import pytest
from tiny_models.servers import Answer, End

from localrag_models.backends.ollama import OllamaChat
from localrag_models.backends.openai import OpenAIChat
from localrag_models.backends.servers.http import warn
from localrag_models.chat import Finish
from localrag_models.errors import (
    ContextExceeded,
    Cure,
    ModelError,
    ModelMissing,
    OutOfMemory,
    ServerBroke,
    ServerBusy,
    ServerRefused,
    ServerTimeout,
    ServerUnreachable,
)

from ...patience import PATIENCE, wait_for
from ...rows import each

pytestmark = pytest.mark.usefixtures("quick_retries")


@pytest.fixture
def nobody(loopback) -> str:
    """An address where nobody answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


@pytest.mark.parametrize("kind", [OllamaChat, OpenAIChat])
def test_nobody_answers(kind, nobody):
    with pytest.raises(ServerUnreachable, match=nobody) as raised:
        kind("tiny", server=nobody)
    assert raised.value.cure.startswith("Start")
    assert raised.value.transient


@each("kind", [OllamaChat, OpenAIChat])
@each(
    "address",
    [
        "", "127.0.0.1:8080", "ftp://127.0.0.1/", "file:///x", "http://", "http://[", "http://:80",
        "http://h:99999", "http://h/?a", "http://h/#a", "http://me:secret@h/", "http://a b/",
        "http://x\x00/", "http://a..b/", "http://\u200ex/",
    ],
)  # fmt: skip
def test_what_is_no_address(kind, address):
    with pytest.raises(ServerRefused) as raised:
        kind("tiny", server=address)
    assert raised.value.cure == Cure.SERVER_ADDRESS


@each(
    ("address", "shown"),
    [
        ("http://u:secret@h/", "'http://…@h/'"),
        ("http://u:se/c@r?e#t@h:80/v1", "'http://…@h:80/v1'"),
        (" https://secret@h?key=secret", "' https://…@h?…'"),
        ("u:secret@h", "'…@h'"),
        ("http://u:secret＠h/", "'http://…＠h/'"),
        ("http://h/#secret", "'http://h/#…'"),
    ],
)
@each("kind", [OllamaChat, OpenAIChat])
def test_passwords_are_not_told(kind, address, shown):
    with pytest.raises(ServerRefused, match="no user, password, query or fragment") as raised:
        kind("tiny", server=address)
    assert raised.value.cause.startswith(f"{shown} is not the address")


def test_a_log_of_keys_that_cannot_be_written(monkeypatch, tmp_path):
    log = tmp_path / "missing" / "log"
    monkeypatch.setenv("SSLKEYLOGFILE", str(log))
    with pytest.raises(ServerRefused, match=re.escape(str(log))) as raised:
        OpenAIChat("tiny", server="https://127.0.0.1:1")
    assert "SSLKEYLOGFILE" in raised.value.cure


def test_unknown_model(served):
    kind = OllamaChat if served.protocol == "ollama" else OpenAIChat
    with pytest.raises(ModelMissing) as raised:
        kind("nosuch", server=served.double.address)
    expected = "ollama pull nosuch" if served.protocol == "ollama" else "such as tiny"
    assert expected in raised.value.cure


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_server_in_trouble_is_tried_again(served, ask, status):
    served.answers(Answer.error("overloaded", status), served.reply("は", "い"))
    with served.model() as model:
        assert model.chat(ask()).text == "はい"
    (retry,) = served.retries
    assert isinstance(retry.error, ServerBusy)
    assert "overloaded" in str(retry)


def test_trouble_that_stays_is_raised(served, ask):
    served.answers(*[Answer.error("still loading the model", 503)] * 4)
    with served.model() as model, pytest.raises(ServerBusy, match="still loading"):
        model.chat(ask())
    assert [retry.attempt for retry in served.retries] == [1, 2, 3]


def test_unless_told_otherwise_retries_go_to_the_log(served, ask, caplog):
    served.answers(Answer.error("overloaded", 503), served.reply("はい"))
    with served.model(on_retry=warn) as model:
        model.chat(ask())
    (record,) = [each for each in caplog.records if each.name == "localrag_models"]
    assert record.levelname == "WARNING"
    assert "Attempt 2 follows" in record.getMessage()


def test_refusal_is_final(served, ask):
    served.answers(Answer.error("temperature must be a number", 400))
    with served.model() as model, pytest.raises(ServerRefused, match="must be a number"):
        model.chat(ask())
    assert not served.retries


@each("status", [301, 302, 307, 308])
def test_redirects_are_not_followed(served, ask, status):
    served.answers(Answer([b""], status, headers={"Location": "http://192.0.2.1/"}))
    with served.model() as model, pytest.raises(ServerRefused, match="Redirects"):
        model.chat(ask())


def test_stop_in_the_middle_is_not_repeated_once_text_was_heard(served, ask):
    served.answers(Answer([served.line("第一"), served.line("条")], end=End.DIES))
    heard: list[str] = []
    with served.model() as model, pytest.raises(ServerBroke):
        model.chat(ask(), heard.append)
    assert heard == ["第一", "条"]
    assert not served.retries


def test_stop_before_any_text_is_tried_again(served, ask):
    served.answers(Answer(end=End.DIES), served.reply("はい"))
    with served.model() as model:
        assert model.chat(ask()).text == "はい"
    assert len(served.retries) == 1


def test_end_without_an_end(served, ask):
    served.answers(Answer([served.line("第一")]))
    with served.model() as model, pytest.raises(ServerBroke, match="in the middle of a reply"):
        model.chat(ask())


@each(
    "garbage",
    [b"<html>", b"[1]", b"null", b'{"a":', b"[" * 100_000, b'{"a": "\xed\xa0\x80"}'],
)  # fmt: skip
def test_garbage(served, ask, garbage):
    line = garbage if served.protocol == "ollama" else b"data: " + garbage
    served.answers(Answer([served.line("第"), line + b"\n"]))
    with served.model() as model, pytest.raises(ServerBroke):
        model.chat(ask(), lambda piece: None)


@each(
    "shape",
    ['{"message": 3, "choices": 3}', '{"message": {"content": [1]}, "choices": [7]}',
     '{"choices": [{"delta": null}], "message": null, "usage": []}', "{}"],
)  # fmt: skip
def test_json_of_another_shape_is_no_text(served, ask, shape):
    line = shape.encode() if served.protocol == "ollama" else b"data: " + shape.encode()
    served.answers(Answer([line + b"\n", served.line("はい"), served.last()]))
    with served.model() as model:
        assert model.chat(ask()).text == "はい"


def test_bad_utf8(served, ask):
    served.answers(Answer([served.line("第"), served.line("X条").replace(b"X", b"\xff")]))
    with served.model() as model, pytest.raises(ServerBroke, match="UTF-8"):
        model.chat(ask())


def test_a_line_without_end(served, ask):
    served.answers(Answer([served.line("第"), *[b"x" * 2**20] * 12]))
    with served.model() as model, pytest.raises(ServerBroke, match="without end"):
        model.chat(ask(), lambda piece: None)


def test_error_inside_the_stream(served, ask):
    error = b'{"error": "llama runner process has terminated"}\n'
    line = error if served.protocol == "ollama" else b"data: " + error
    served.answers(Answer([served.line("第"), line]))
    with served.model() as model, pytest.raises(ServerBusy, match="runner process"):
        model.chat(ask(), lambda piece: None)


def test_server_without_memory(served, ask):
    message = "model requires more system memory (9.2 GiB) than is available (7.1 GiB)"
    served.answers(Answer.error(message, 500))
    with served.model() as model, pytest.raises(OutOfMemory):
        model.chat(ask())


@each("heard", [(), ("第",)])
def test_a_server_that_hangs(served, ask, heard):
    served.answers(Answer(list(map(served.line, heard)), end=End.HANGS))
    with served.model(timeout=1.0) as model, pytest.raises(ServerTimeout, match=r" 1 s"):
        model.chat(ask())
    assert not served.retries


@pytest.mark.parametrize("heard", [(), ("第", "一")])
def test_cancelling_while_the_server_is_silent(served, ask, heard):
    served.answers(Answer(list(map(served.line, heard)), end=End.HANGS))
    pieces: list[str] = []
    silent = count(1)

    def cancelled() -> bool:
        return bool(served.asked) and "".join(pieces) == "".join(heard) and next(silent) > 3

    with served.model(timeout=PATIENCE) as model:
        reply = model.chat(ask(), pieces.append, cancelled)
    assert reply.finish is Finish.CANCELLED
    assert reply.text == "".join(pieces) == "".join(heard)
    wait_for(lambda: served.double.abandoned == 1)


def test_cancelling_between_attempts(served, ask, monkeypatch):
    monkeypatch.setattr("localrag_models.backends.servers.http._FIRST_WAIT", 3600)
    served.answers(Answer.error("busy", 503))
    with served.model() as model:
        reply = model.chat(ask(), cancelled=lambda: bool(served.retries))
    assert reply.finish is Finish.CANCELLED


def test_cancelling_while_others_are_served(served, ask):
    served.answers(Answer(end=End.HANGS))
    first_ends = threading.Event()
    with served.model() as model:
        first = threading.Thread(
            target=model.chat, args=(ask(),), kwargs={"cancelled": first_ends.is_set}
        )
        first.start()
        wait_for(lambda: len(served.asked) == 1)
        assert model.chat(ask(), cancelled=lambda: True).finish is Finish.CANCELLED
        assert len(served.asked) == 1
        first_ends.set()
        first.join()


def test_what_on_text_raises_passes_through(served, ask):
    served.answers(Answer([served.line("第")], end=End.HANGS), served.reply("はい"))

    def stumble(piece: str) -> None:
        raise ZeroDivisionError(piece)

    with served.model() as model:
        with pytest.raises(ZeroDivisionError):
            model.chat(ask(), stumble)
        assert model.chat(ask()).text == "はい"
    wait_for(lambda: served.double.abandoned == 1)


def test_a_prompt_that_does_not_fit_is_never_sent(served, ask):
    with served.model(context=256) as model, pytest.raises(ContextExceeded) as raised:
        model.chat(ask("条" * 250, max_tokens=64))
    assert raised.value.needed > raised.value.available == 256
    assert not served.asked


@each(
    "message",
    [
        "request (351 tokens) exceeds the available context size (256 tokens), try increasing it",
        "This model's maximum context length is 256 tokens. However, you requested 351 tokens",
        "the number of tokens to keep from the prompt (351) is greater than the context (256)",
        '{"error":{"code":400,"message":"request (351 tokens) exceeds the available context size '
        '(256 tokens)","type":"exceed_context_size_error","n_prompt_tokens":351,"n_ctx":256}}',
    ],
)
def test_a_server_that_finds_the_prompt_too_long(served, ask, message):
    served.answers(Answer.error(message, 400))
    with served.model() as model, pytest.raises(ContextExceeded) as raised:
        model.chat(ask())
    assert raised.value.available == 256


def test_no_answer_over_a_prompt_that_filled_the_context(served, ask):
    """Servers that cut in silence report a prompt exactly as large as their context."""
    served.answers(served.reply("はい", prompt=512))
    with served.model(context=512) as model, pytest.raises(ContextExceeded, match="512"):
        model.chat(ask())


def test_no_answer_over_a_prompt_that_was_cut(served, ask):
    served.answers(served.reply("はい", prompt=100))
    long = "".join(chr(0x4E00 + place) for place in range(2000))
    with served.model(context=4096) as model, pytest.raises(ContextExceeded, match="cut it"):
        model.chat(ask(long))


def test_a_closed_model(served, ask):
    model = served.model()
    model.close()
    model.close()
    with pytest.raises(ModelError, match="closed"):
        model.chat(ask())
