"""Asking a model for a reply that code reads: bounded, checked, and asked for once more."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from pydantic import BaseModel

from localrag.config import ChatConfig
from localrag.inference.failures import named
from localrag.retrieval.model import ModelCall
from localrag_models.chat import ChatModel, ChatRequest, Message, Reply, ignore
from localrag_models.errors import ReplyInvalid
from localrag_models.structured import generate

_SECOND_TEMPERATURE = 0.7

Shape = TypeVar("Shape", bound=BaseModel)


def ask(
    model: ChatModel,
    settings: ChatConfig,
    messages: Sequence[Message],
    shape: type[Shape],
    on_call: Callable[[ModelCall], None],
    purpose: str = "",
    on_text: Callable[[str], None] = ignore,
) -> Shape:
    """Have a model fill in an object; a malformed reply is asked for once more.

    Args:
        model: what answers.
        settings: of the model.
        messages: the prompt.
        shape: bounds every string and list it holds.
        on_call: told what each call cost, those with a malformed reply included.
        purpose: what the call is for ("verdict b").
        on_text: called with each piece of a reply as it comes.

    Raises:
        ModelUnusable: the model failed, or its reply is malformed for the second time.
    """

    def call(reply: Reply, problem: str = "") -> ModelCall:
        usage = reply.usage
        counts = (usage.prompt, usage.cached, usage.completion)
        return ModelCall(model.id, *counts, reply.seconds, purpose, problem)

    request = ChatRequest(
        messages=tuple(messages),
        max_tokens=settings.max_tokens,
        temperature=settings.temperature,
        seed=settings.seed,
    )
    with named():
        try:
            filled, reply = generate(model, request, shape, on_text)
        except ReplyInvalid as error:
            on_call(call(error.reply, error.cause))
            # The same request with the same seed would get the same malformed reply.
            other = replace(request, temperature=_SECOND_TEMPERATURE, seed=request.seed + 1)
            try:
                filled, reply = generate(model, other, shape, on_text)
            except ReplyInvalid as again:
                on_call(call(again.reply, again.cause))
                raise
    on_call(call(reply))
    return filled
