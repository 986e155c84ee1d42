"""Asking a tiny model as a server would, its reply as a stream of messages."""

import json
import math
import queue
import string
import threading
from collections.abc import Callable, Iterator
from typing import Any

from localrag_models.backends.servers.binding import EASY, HARD, PROBE
from localrag_models.chat import ChatModel, ChatRequest, Finish, Message, Reply, Usage
from localrag_models.errors import ModelError

Read = tuple[int, int]
"""Tokens of the prompt that have been read, and all of them."""

Piece = str | Read | Reply | ModelError


def messages_of(body: dict[str, object]) -> tuple[Message, ...]:
    """The conversation in the body of a request."""
    listed = body["messages"]
    assert isinstance(listed, list)
    return tuple(Message(each["role"], each["content"]) for each in listed)


def generated(model: ChatModel, request: ChatRequest) -> Iterator[Piece]:
    """How the prompt is read, the pieces of a reply, and the reply or the error at the end.

    A reader that stops early stops the model. A probe is answered without asking the model.
    """
    if obedient := obeyed(request):
        yield obedient
        usage = Usage(model.count(request.messages), 0, len(obedient))
        yield Reply(obedient, usage, Finish.STOP, 0.0)
        return
    pieces: queue.Queue[Piece] = queue.Queue()
    left = threading.Event()

    def read(done: int, total: int) -> None:
        pieces.put((done, total))

    def run() -> None:
        try:
            pieces.put(model.chat(request, pieces.put, left.is_set, read))
        except ModelError as error:
            pieces.put(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        while isinstance(piece := pieces.get(), str | tuple):
            yield piece
        yield piece
    finally:
        left.set()
        thread.join()


def obeyed(request: ChatRequest) -> str:
    """A reply to a probe, in the form of its schema if it has one; empty for another request."""
    if request.schema == EASY:
        return json.dumps({"p": "q7-zx"})
    if request.schema == HARD:
        return json.dumps({"kind": "kz-9", "rows": [{"n": 300, "w": None}, {"n": 320, "w": "a"}]})
    return "Hello." if request.messages[0].content.startswith(PROBE) else ""


def stream(
    model: ChatModel, request: ChatRequest, write: Callable[[Piece], bytes]
) -> Iterator[bytes]:
    """The reply as the chunks of an answer; a piece that the protocol does not tell is empty."""
    for piece in generated(model, request):
        if chunk := write(piece):
            yield chunk


def first_letters(model: ChatModel, body: dict[str, Any]) -> list[dict[str, Any]]:
    """The letters that a reply may begin with, as servers list the likeliest tokens of a reply."""
    choice = model.choose(messages_of(body), string.ascii_lowercase)
    assert choice is not None
    likely = sorted(choice.probabilities.items(), key=lambda each: -each[1])
    listed = [
        {"token": letter, "logprob": math.log(share * choice.covered), "bytes": [ord(letter)]}
        for letter, share in likely[: body["top_logprobs"]]
    ]
    return [{**listed[0], "top_logprobs": listed}]
