"""Binding a reply to a JSON schema: every server spells it differently and ignores the others.

A server that does not know a spelling mostly says nothing and generates freely. So it is asked
once for a value that no model would give of itself; the first spelling that brings it is used.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from localrag_models.backends.servers.http import BadRequest, Json
from localrag_models.errors import SchemaUnsupported, ServerBroke, ServerBusy, ServerRefused
from localrag_models.grammar import grammar_of

Schema = Mapping[str, Any]
Spelling = Callable[[Schema], Json]


def _grammar(schema: Schema) -> Json:
    return {"grammar": grammar_of(schema)}


def _json_schema(schema: Schema) -> Json:
    wrapped = {"name": "reply", "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": wrapped}}


def _json_object(schema: Schema) -> Json:
    return {"response_format": {"type": "json_object", "schema": schema}}


def _structured_outputs(schema: Schema) -> Json:
    return {"structured_outputs": {"json": schema}}


def _guided_json(schema: Schema) -> Json:
    return {"guided_json": schema}


SPELLINGS: tuple[Spelling, ...] = (
    _grammar,  # llama-server, llama_cpp.server: exact, made by us
    _json_schema,  # OpenAI's own: vLLM, LM Studio, llama-server
    _json_object,  # llama_cpp.server, llama-server, some hosted ones
    _structured_outputs,  # vLLM since 0.11
    _guided_json,  # vLLM before
)

_ODD = "q7-zx"
_PROBE: Schema = {
    "type": "object",
    "properties": {"p": {"type": "string", "enum": [_ODD]}},
    "required": ["p"],
    "additionalProperties": False,
}
_PROBE_TOKENS = 48
_CURE = "Use a server that binds replies to one: llama-server, vLLM, LM Studio, Ollama."


def binding_spelling(ask: Callable[[Json], str], server: str) -> Spelling:
    """The first spelling that a server obeys.

    Args:
        ask: sends a chat request with these fields and gives back the text of the reply.
        server: its address, for the message.

    Raises:
        SchemaUnsupported: it obeys none.
        ServerRefused: it refused all of them, in its own words: they may be about something else.
        ModelError: it refuses the caller, nobody answers, or it failed in passing.
    """
    refusals: list[BadRequest] = []
    trouble: ServerBusy | ServerBroke | None = None
    for spelling in SPELLINGS:
        fields = {
            "messages": [{"role": "user", "content": "Say hello."}],
            "max_tokens": _PROBE_TOKENS,
            "temperature": 0.0,
            **spelling(_PROBE),
        }
        try:
            if _obeyed(ask(fields)):
                return spelling
        except BadRequest as error:
            refusals.append(error)
        except (ServerBusy, ServerBroke) as error:
            trouble = error
    if trouble is not None:
        raise trouble
    if len(refusals) == len(SPELLINGS):
        # What it says of OpenAI's own spelling, which all have heard of, tells the most.
        refusal = refusals[SPELLINGS.index(_json_schema)]
        raise ServerRefused(refusal.cause, f"If that is about the JSON schema: {_CURE}")
    raise SchemaUnsupported(
        f"The model server at {server} binds no reply to a JSON schema in any known spelling.",
        _CURE,
    )


def _obeyed(text: str) -> bool:
    try:
        return bool(json.loads(text) == {"p": _ODD})
    except (ValueError, RecursionError):
        return False
