"""Asking a model for a reply that code reads: bounded, checked, and asked for once more."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from pydantic import BaseModel

from localrag.answer.types import UNWATCHED, Drafting, Watch
from localrag.corpus.config import ChatConfig
from localrag.corpus.inference.opening import named
from localrag.search.types import ModelCall
from localrag.text.facts import Fact, FactKind
from localrag_models.chat import ChatModel, ChatRequest, Finish, Message, Reply, generate
from localrag_models.errors import ReplyInvalid

_SECOND_TEMPERATURE = 0.7

Shape = TypeVar("Shape", bound=BaseModel)


def ask(
    model: ChatModel,
    settings: ChatConfig,
    messages: Sequence[Message],
    shape: type[Shape],
    on_call: Callable[[ModelCall], None],
    purpose: str = "",
    watch: Watch = UNWATCHED,
    claims: Callable[[str], Sequence[str]] | None = None,
) -> Shape:
    """Have a model fill in an object; a malformed reply is asked for once more.

    Args:
        model: what answers.
        settings: of the model.
        messages: the prompt.
        shape: bounds every string and list it holds.
        on_call: told what each call cost, those with a malformed reply included.
        purpose: what the call is for ("verdict b").
        watch: follows what is read and written.
        claims: reads the claims out of the beginning of a reply, for the watch; None where the
            reply makes none.

    Raises:
        Cancelled: the reply is no longer wanted.
        ModelUnusable: the model failed, or its reply is malformed for the second time.
    """

    def call(reply: Reply, problem: Fact | None = None) -> ModelCall:
        usage = reply.usage
        counts = (usage.prompt, usage.cached, usage.completion)
        return ModelCall(model.id, *counts, reply.seconds, purpose, problem)

    request = ChatRequest(
        messages=tuple(messages),
        max_tokens=settings.max_tokens,
        temperature=settings.temperature,
        seed=settings.seed,
    )

    def write(asked: ChatRequest) -> tuple[Shape, Reply]:
        following = watch if claims is None or watch is UNWATCHED else Drafting(watch, claims)
        watch.reading(0, 0)
        return generate(model, asked, shape, following.wrote, watch.cancelled, watch.reading)

    with named():
        try:
            filled, reply = write(request)
        except ReplyInvalid as error:
            on_call(call(error.reply, _flaw(error, request)))
            watch.require()
            # The same request with the same seed would get the same malformed reply.
            other = replace(request, temperature=_SECOND_TEMPERATURE, seed=request.seed + 1)
            try:
                filled, reply = write(other)
            except ReplyInvalid as again:
                on_call(call(again.reply, _flaw(again, other)))
                watch.require()
                raise
    on_call(call(reply))
    return filled


def _flaw(error: ReplyInvalid, request: ChatRequest) -> Fact:
    """What is wrong with a reply."""
    if error.reply.finish is Finish.LENGTH:
        return Fact(FactKind.REPLY_CUT, n=request.max_tokens)
    return Fact(FactKind.REPLY_MALFORMED, flaw=error.cause)
