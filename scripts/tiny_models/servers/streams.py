"""Asking a tiny model as a server would, its reply as a stream of messages."""

import queue
import threading
from collections.abc import Callable, Iterator

from localrag_models.chat import ChatModel, ChatRequest, Message, Reply
from localrag_models.errors import ModelError

Piece = str | Reply | ModelError


def messages_of(body: dict[str, object]) -> tuple[Message, ...]:
    """The conversation in the body of a request."""
    listed = body["messages"]
    assert isinstance(listed, list)
    return tuple(Message(each["role"], each["content"]) for each in listed)


def generated(model: ChatModel, request: ChatRequest) -> Iterator[Piece]:
    """The pieces of a reply, and the reply or the error at the end.

    A reader that stops early stops the model.
    """
    pieces: queue.Queue[Piece] = queue.Queue()
    left = threading.Event()

    def run() -> None:
        try:
            pieces.put(model.chat(request, pieces.put, left.is_set))
        except ModelError as error:
            pieces.put(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        while isinstance(piece := pieces.get(), str):
            yield piece
        yield piece
    finally:
        left.set()
        thread.join()


def stream(
    model: ChatModel, request: ChatRequest, write: Callable[[Piece], bytes]
) -> Iterator[bytes]:
    """The reply as the chunks of an answer."""
    for piece in generated(model, request):
        yield write(piece)
