"""The speed of models on this machine: tokens and seconds of the last replies, in a small file.

It holds names of models and numbers only, no text of questions or answers.
"""

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from localrag.corpus.config import HasModels
from localrag.corpus.durable import replace_text
from localrag.errors import LocalragError

_FILE = "speeds.json"
_FEW_TOKENS = 16
"""Shorter replies say nothing about the speed."""
_MOST_REPLIES = 32
"""With more, older replies count half."""
_MOST_MODELS = 64


class _Call(Protocol):
    """The part of a call of a model needed here."""

    @property
    def model(self) -> str: ...
    @property
    def completion(self) -> int: ...
    @property
    def seconds(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Speed:
    """Tokens written, and seconds of those replies with the reading of their prompts."""

    replies: int = 0
    tokens: int = 0
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Tokens a second."""
        return self.tokens / self.seconds if self.seconds else 0.0


def speeds(workspace: HasModels) -> dict[str, Speed]:
    """The speeds measured here, by the id of the model; empty if none were."""
    try:
        kept: Any = json.loads(_path(workspace).read_text("utf-8"))
        return {str(model): Speed(**told) for model, told in kept.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def note_speeds(workspace: HasModels, calls: Iterable[_Call]) -> None:
    """Add the replies of an answer; a read-only workspace keeps none."""
    long = [call for call in calls if call.completion >= _FEW_TOKENS and call.seconds > 0]
    if not long:
        return
    kept = speeds(workspace)
    for call in long:
        kept[call.model] = _added(kept.pop(call.model, Speed()), call)
    newest = dict(list(kept.items())[-_MOST_MODELS:])
    told = {
        model: {"replies": one.replies, "tokens": one.tokens, "seconds": round(one.seconds, 3)}
        for model, one in newest.items()
    }
    with suppress(LocalragError, OSError):
        replace_text(_path(workspace), json.dumps(told, ensure_ascii=False, indent=1))


def _added(speed: Speed, call: _Call) -> Speed:
    if speed.replies >= _MOST_REPLIES:
        speed = Speed(speed.replies // 2, speed.tokens // 2, speed.seconds / 2)
    return Speed(speed.replies + 1, speed.tokens + call.completion, speed.seconds + call.seconds)


def _path(workspace: HasModels) -> Path:
    return workspace.models.parent / _FILE
