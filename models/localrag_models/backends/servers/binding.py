"""How a server binds a reply to a JSON schema: found by a probe, and remembered.

Each server spells the binding differently, and mostly ignores an unknown spelling in silence. Some
ignore a known one as well: Ollama drops ``format`` if ``think`` is false, for several families. So
each way is tried once with two schemas of unlikely values. A way is kept with the version of its
server. If nothing binds, the schema is in the prompt, and the reply is read leniently.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from localrag_models.backends.servers.http import BadRequest, Json, excerpt
from localrag_models.chat import ChatRequest, Message
from localrag_models.errors import ServerBroke, ServerBusy, WrongKind
from localrag_models.thinking import THINK, Thinking

Schema = Mapping[str, Any]

PROBE = "Say hello."
EASY_TOKENS, HARD_TOKENS = 48, 160
"""Tokens for the replies to a probe, byte by byte."""
_ODD = "q7-zx"
EASY: Schema = {
    "type": "object",
    "properties": {"p": {"type": "string", "enum": [_ODD]}},
    "required": ["p"],
    "additionalProperties": False,
}
HARD: Schema = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "enum": ["kz-4", "kz-9"]},
        "rows": {
            "type": "array",
            "minItems": 2,
            "maxItems": 2,
            "items": {
                "type": "object",
                "properties": {
                    "n": {"type": "integer", "minimum": 300, "maximum": 320},
                    "w": {"anyOf": [{"type": "string", "maxLength": 6}, {"type": "null"}]},
                },
                "required": ["n", "w"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["kind", "rows"],
    "additionalProperties": False,
}
"""Nested, with numbers in a range and a list of exact length."""

_WORDS = (
    "Reply with one JSON value and nothing else: no other words, no code fence. "
    "It must fulfil this JSON schema:\n{schema}"
)
_REPAIR = (
    "That reply does not fulfil the JSON schema: {flaw}. "
    "Write the whole JSON value once more, corrected, and nothing else."
)
_LONGEST_FLAW = 200
_LONGEST_REPAIRED = 4000
_FENCE = re.compile(r"```[\w-]*\s*\n?(.*?)(?:```|\Z)", re.DOTALL)
_MOST_STARTS = 20


class Binds(StrEnum):
    """The means of a server to bind a reply."""

    SCHEMA = "schema"
    TOOL = "tool call"
    JSON = "JSON"
    """A JSON value, but of any form."""
    NOTHING = "nothing"


def _nothing(schema: Schema) -> Json:
    del schema
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A way to ask a server for a reply of a certain form.

    Attributes:
        name: stored code.
        thinking: as the model is asked to think.
        binds: the means of the server.
        spelled: the fields of a request.
    """

    name: str
    thinking: Thinking
    binds: Binds = Binds.NOTHING
    spelled: Callable[[Schema], Json] = _nothing

    @property
    def is_strict(self) -> bool:
        """The reply is the value and nothing else."""
        return self.binds in (Binds.SCHEMA, Binds.TOOL)

    def worded(self, request: ChatRequest) -> ChatRequest:
        """The request, with its schema in the prompt if nothing binds the reply to it."""
        if self.is_strict or request.schema is None:
            return request
        *others, last = request.messages
        words = _WORDS.format(schema=json.dumps(_bare(request.schema), ensure_ascii=False))
        return replace(
            request, messages=(*others, replace(last, content=f"{last.content}\n\n{words}"))
        )


def free(thinking: Thinking) -> Way:
    """The last resort: nothing binds the reply."""
    return Way(name="free", thinking=thinking)


def repairing(request: ChatRequest, reply: str, flaw: str) -> ChatRequest:
    """The request for a corrected reply."""
    turns = (
        Message("assistant", reply[:_LONGEST_REPAIRED] or "…"),
        Message("user", _REPAIR.format(flaw=flaw)),
    )
    return replace(request, messages=(*request.messages, *turns))


def _bare(schema: Any) -> Any:
    """A schema without its titles: a model needs none."""
    if isinstance(schema, list):
        return [_bare(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    # A property may be called "title".
    return {
        key: _bare(value)
        for key, value in schema.items()
        if key != "title" or not isinstance(value, str)
    }


def binding_way(ways: Sequence[Way], last: Way, ask: Callable[[Way, Schema], str]) -> Way:
    """The first obeyed way; `last` without one.

    A way failing at the hard schema is used only if no other is better.

    Args:
        ways: best first.
        last: needs no binding.
        ask: sends the probe in a way with a schema, and returns the reply.

    Raises:
        ServerRefused: it refused all of them; its words may be about something else.
        ModelError: it refuses the caller, does not answer, or has a transient failure.
    """
    half: Way | None = None
    refused = 0
    trouble: ServerBusy | ServerBroke | None = None
    for way in ways:
        try:
            if way.binds is Binds.JSON:
                if half is None and _is_object(ask(way, EASY)):
                    return way
            elif not flaw_of(EASY, ask(way, EASY)):
                if not flaw_of(HARD, ask(way, HARD)):
                    return way
                half = half or way
        except (BadRequest, WrongKind):  # A model that cannot think may refuse the order.
            refused += 1
        except (ServerBusy, ServerBroke) as error:
            trouble = error
    if half is None and trouble is not None:
        raise trouble
    if half is None and refused == len(ways):
        ask(last, EASY)
    return half or last


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def flaw_of(schema: Schema, text: str) -> str:
    """The fault of a text as JSON of a schema; empty without one."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"it is no JSON ({error})" if text.strip() else "it is empty"
    worst = best_match(Draft202012Validator(schema).iter_errors(value))
    return "" if worst is None else f"at {worst.json_path}, {worst.message[:_LONGEST_FLAW]}"


def json_in(schema: Schema, text: str) -> str | None:
    """The first JSON value of a schema in a text, perhaps in a fence or among other words.

    It is returned as it is written.
    """
    for candidate in _values(text):
        if not flaw_of(schema, candidate):
            return candidate
    return None


def json_of_thought(schema: Schema, thinking: str) -> str | None:
    """The reply in the field for thought: all of it, or all after a closing mark.

    Drafts within a thought are not replies.
    """
    whole = thinking.rpartition(THINK.closing)[2].strip()
    fenced = _FENCE.fullmatch(whole)
    text = fenced[1].strip() if fenced else whole
    return text if text and not flaw_of(schema, text) else None


def _values(text: str) -> Iterator[str]:
    """The JSON values in a text: those in fences first, then from each bracket."""
    for fenced in _FENCE.finditer(text):
        yield fenced[1].strip()
    decoder = json.JSONDecoder()
    for start in [found.start() for found in re.finditer(r"[{\[]", text)][:_MOST_STARTS]:
        with suppress(ValueError, RecursionError):
            _, end = decoder.raw_decode(text, start)
            yield text[start:end]


_BEGINNINGS = {"object": "{", "array": "["}


class Gate:
    """Lets a bound reply through from its first bracket, and keeps everything else back.

    Args:
        on_text: called with each piece let through.
        schema: of the reply; None keeps all of it back.

    Attributes:
        heard: something was let through.
    """

    def __init__(self, on_text: Callable[[str], None], schema: Schema | None) -> None:
        self.heard = False
        self._on_text = on_text
        self._opens = schema is not None
        self._beginning = _BEGINNINGS.get(str(schema.get("type")), "") if schema else ""
        self._held = ""

    def __call__(self, piece: str) -> None:
        if self.heard:
            self._on_text(piece)
            return
        self._held += piece
        text = self._held.lstrip()
        if self._opens and text and text.startswith(self._beginning):
            self.heard = True
            self._on_text(self._held)


class RememberedWays:
    """The names of the ways found on servers, in a file for all processes.

    Args:
        path: the file; None keeps nothing. It can be deleted: the servers are probed again.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def get(self, key: str) -> str:
        """The name under a key; empty if there is none."""
        return self._read().get(key, "")

    def put(self, key: str, name: str) -> None:
        """Keep a name, or forget it with an empty one; without effect if the disk refuses."""
        if self._path is None:
            return
        with _WRITING, suppress(OSError):
            known = self._read()
            known.pop(key, None)
            if name:
                known[key] = name
            kept = dict(list(known.items())[-_MOST_KEPT:])
            with NamedTemporaryFile(
                "w", dir=self._path.parent, prefix=".servers-", encoding="utf-8", delete=False
            ) as file:
                json.dump(kept, file, ensure_ascii=False, indent=1)
            Path(file.name).replace(self._path)

    def _read(self) -> dict[str, str]:
        try:
            told = json.loads(self._path.read_bytes()) if self._path else {}
        except (OSError, ValueError, RecursionError):
            return {}
        pairs = told.items() if isinstance(told, dict) else ()
        return {key: name for key, name in pairs if isinstance(name, str)}


_WRITING = threading.Lock()
_MOST_KEPT = 500


def said_in(error: object) -> tuple[int, str]:
    """Status and words of an error in an answer with status 200; 500 if it names no status."""
    told = error if isinstance(error, dict) else {}
    status = told.get("code", told.get("status"))
    words = told.get("message", error)
    text = words if isinstance(words, str) else json.dumps(words, ensure_ascii=False)
    if not isinstance(status, int) or not 400 <= status < 600:
        status = 500
    return status, excerpt(text)
