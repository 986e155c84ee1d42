"""Asks a model for a structured reply: bounded, validated, repeated once."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from pydantic import BaseModel

from localrag.answer.types import UNWATCHED, Drafting, Watch
from localrag.corpus.config import ChatConfig
from localrag.corpus.inference.opening import named
from localrag.search.types import ModelCall
from localrag.text.facts import Fact, FactKind
from localrag_models.chat import ChatModel, ChatRequest, Finish, Message, Remark, Reply, generate
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
    """Have a model fill in an object. A malformed reply is repeated once.

    Args:
        model: the chat model.
        settings: of the model.
        messages: the prompt.
        shape: a model that bounds every string and list.
        on_call: called with the cost of each call, malformed replies included.
        purpose: of the call ("verdict b").
        watch: follows reading and writing.
        claims: reads claims from the beginning of a reply, for the watch; None without claims.

    Raises:
        Cancelled: the reply is no longer wanted.
        ModelUnusable: the model failed, or its second reply is malformed, too.
    """

    def call(reply: Reply, problem: Fact | None = None) -> ModelCall:
        usage = reply.usage
        return ModelCall(
            model.id,
            usage.prompt,
            usage.cached,
            usage.completion,
            reply.seconds,
            purpose,
            problem,
            usage.thought,
            reply.thinking,
            _notes(model.id, reply),
        )

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
            # The same seed would repeat the malformed reply.
            other = replace(request, temperature=_SECOND_TEMPERATURE, seed=request.seed + 1)
            try:
                filled, reply = write(other)
            except ReplyInvalid as again:
                on_call(call(again.reply, _flaw(again, other)))
                watch.require()
                raise
    on_call(call(reply))
    return filled


_KINDS = {
    Remark.THINKS_ANYWAY: FactKind.MODEL_THINKS_ANYWAY,
    Remark.THOUGHT_CUT: FactKind.THOUGHT_CUT,
    Remark.UNBOUND: FactKind.REPLY_UNBOUND,
    Remark.LENIENT: FactKind.REPLY_LENIENT,
    Remark.IN_THOUGHT: FactKind.REPLY_IN_THOUGHT,
    Remark.REPAIRED: FactKind.REPLY_REPAIRED,
}


def _notes(model: str, reply: Reply) -> tuple[Fact, ...]:
    cut = {Remark.THOUGHT_CUT: {"n": reply.usage.thought}}
    return tuple(Fact(_KINDS[one], model=model, **cut.get(one, {})) for one in reply.remarks)


def _flaw(error: ReplyInvalid, request: ChatRequest) -> Fact:
    if error.reply.finish is Finish.LENGTH:
        return Fact(FactKind.REPLY_CUT, n=request.max_tokens)
    return Fact(FactKind.REPLY_MALFORMED, flaw=error.cause)
