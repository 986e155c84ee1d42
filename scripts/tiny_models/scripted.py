"""A chat model with scripted replies, for tests."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from localrag.prepare.decontextualized import to_be_named
from localrag_models.chat import (
    ChatRequest,
    Choice,
    Finish,
    Message,
    Reply,
    Usage,
    ignore,
    never,
    overlook,
)


def rewriting(sentence: str, text: str, **names: str) -> str:
    """The reply of a model that rewrites a sentence.

    Args:
        sentence: as in its document.
        text: as rewritten.
        names: meanings of words in the sentence; others are unknown to the model.
    """
    reply: dict[str, Any] = {"sentence": text}
    if pointing := to_be_named(sentence):
        reply = {"names": {word: names.get(word, "?") for word in pointing}, **reply}
    return json.dumps(reply, ensure_ascii=False)


class ScriptedChat:
    """Replies with the given texts in turn, in pieces of three characters.

    A mapping among them gives probabilities of the options offered.
    """

    id = "scripted"
    parallel = 1

    def __init__(
        self, *replies: str | Mapping[str, float] | Exception, context: int = 8192
    ) -> None:
        self.context = context
        self.requests: list[ChatRequest] = []
        self.offered: list[tuple[Sequence[Message], Sequence[str]]] = []
        self._replies = list(replies)

    def count(self, messages: Sequence[Message]) -> int:
        """One token a character."""
        return sum(len(message.content) for message in messages)

    def chat(
        self,
        request: ChatRequest,
        on_text: Callable[[str], None] = ignore,
        cancelled: Callable[[], bool] = never,
        on_read: Callable[[int, int], None] = overlook,
    ) -> Reply:
        """Read the prompt in two halves and give the next reply; an exception is raised."""
        self.requests.append(request)
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        assert isinstance(reply, str), "the script has probabilities where a text is asked for"
        total = self.count(request.messages)
        for done in (total // 2, total):
            if cancelled():
                return self._reply(request, "", Finish.CANCELLED)
            on_read(done, total)
        for start in range(0, len(reply), 3):
            if cancelled():
                return self._reply(request, reply[:start], Finish.CANCELLED)
            on_text(reply[start : start + 3])
        return self._reply(request, reply, Finish.STOP)

    def choose(
        self,
        messages: Sequence[Message],
        options: Sequence[str],
        cancelled: Callable[[], bool] = never,
    ) -> Choice | None:
        """Give the next probabilities; an exception in their place is raised."""
        self.offered.append((messages, options))
        weights = self._replies.pop(0)
        if isinstance(weights, Exception):
            raise weights
        assert not isinstance(weights, str), "the script has a text where options are offered"
        assert set(weights) == set(options), "the script knows other options"
        if cancelled():
            return None
        usage = Usage(self.count(messages), 0, 0)
        return Choice({each: weights[each] for each in options}, 1.0, usage, seconds=0.01)

    def close(self) -> None:
        """There is nothing to let go of."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _reply(self, request: ChatRequest, text: str, finish: Finish) -> Reply:
        usage = Usage(self.count(request.messages), 0, len(text))
        return Reply(text, usage, finish, seconds=0.01)


def searches(*words: str, law: str = "") -> dict[str, list[dict[str, str]]]:
    """The reply of a model that writes searches (`localrag.methods.searches`)."""
    return {"searches": [{"law": law, "words": one} for one in words]}
