"""A chat model that says what it is told to, for tests of what is made of its replies."""

from collections.abc import Callable, Sequence
from typing import Self

from localrag_models.chat import ChatRequest, Finish, Message, Reply, Usage, ignore, never


class ScriptedChat:
    """Answers with the given texts in turn, in pieces of three characters.

    Attributes:
        requests: what it was asked.
    """

    id = "scripted"
    parallel = 1

    def __init__(self, *replies: str | Exception, context: int = 8192) -> None:
        self.context = context
        self.requests: list[ChatRequest] = []
        self._replies = list(replies)

    def count(self, messages: Sequence[Message]) -> int:
        """One token a character."""
        return sum(len(message.content) for message in messages)

    def chat(
        self,
        request: ChatRequest,
        on_text: Callable[[str], None] = ignore,
        cancelled: Callable[[], bool] = never,
    ) -> Reply:
        """Give the next reply; an exception among them is raised."""
        self.requests.append(request)
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        for start in range(0, len(reply), 3):
            if cancelled():
                return self._reply(request, reply[:start], Finish.CANCELLED)
            on_text(reply[start : start + 3])
        return self._reply(request, reply, Finish.STOP)

    def close(self) -> None:
        """There is nothing to let go of."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _reply(self, request: ChatRequest, text: str, finish: Finish) -> Reply:
        usage = Usage(self.count(request.messages), 0, len(text))
        return Reply(text, usage, finish, seconds=0.01)
