"""Replies as objects: a schema made of a pydantic model, the reply validated against it."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from localrag_models.chat import ChatModel, ChatRequest, Finish, Reply, ignore, never, overlook
from localrag_models.errors import ReplyInvalid
from localrag_models.schema import check_bounds

T = TypeVar("T", bound=BaseModel)


def generate(
    model: ChatModel,
    request: ChatRequest,
    shape: type[T],
    on_text: Callable[[str], None] = ignore,
    cancelled: Callable[[], bool] = never,
    on_read: Callable[[int, int], None] = overlook,
) -> tuple[T, Reply]:
    """Have a model fill in an object.

    Args:
        model: what answers.
        request: what is asked; its schema is taken from `shape`.
        shape: bounds every string and list it holds.
        on_text: called with each piece of the JSON text as it comes.
        cancelled: as in `ChatModel.chat`.
        on_read: as in `ChatModel.chat`.

    Returns:
        The object, and the reply it was read from.

    Raises:
        SchemaUnsupported: `shape` cannot be enforced; nothing was generated.
        ReplyInvalid: the reply was cut short, cancelled, or does not fit.
        ModelError: as `ChatModel.chat` says.
    """
    schema = shape.model_json_schema()
    check_bounds(schema)
    reply = model.chat(replace(request, schema=schema), on_text, cancelled, on_read)
    if reply.finish is Finish.CANCELLED:
        raise ReplyInvalid(f"The reply of {model.id} was cancelled.", reply=reply)
    if reply.finish is Finish.LENGTH:
        raise ReplyInvalid(
            f"The reply of {model.id} was cut short after {request.max_tokens:,} tokens.",
            "Allow more tokens, or ask for less.",
            reply=reply,
        )
    try:
        return shape.model_validate_json(reply.text), reply
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the whole"
        raise ReplyInvalid(
            f"The reply of {model.id} is no {shape.__name__}: {first['msg']} ({place}).",
            "Ask again, or choose a larger model.",
            reply=reply,
        ) from error
