"""Thinking: its switch, its marks in each family of models, and its room.

A family writes its thought between two marks, or a server keeps it in a field of its own. The marks
are from the published chat templates:

- ``<think>…</think>``: Qwen3 and later, DeepSeek R1, GLM 4.5, many others;
- ``[THINK]…[/THINK]``: Magistral;
- ``<|channel>thought…<channel|>``: Gemma 4;
- Harmony, of gpt-oss: messages in the channels ``analysis``, ``commentary`` and ``final``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Thinking = Literal["off", "auto", "on"]
"""Whether a model thinks before it answers; auto: as it does by itself."""

Effort = Literal["low", "medium", "high"]
"""How long it may think."""

_ROOM: Mapping[Effort, int] = {"low": 1024, "medium": 2048, "high": 4096}


def room_for(effort: Effort, context: int) -> int:
    """Tokens for a thought; at most half the context."""
    return min(_ROOM[effort], context // 2)


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of a family in the text of a model.

    Attributes:
        opening: begins a thought.
        closing: ends it.
        answer: comes between a closed thought and the answer.
    """

    opening: str
    closing: str
    answer: str = ""


THINK = Marks("<think>", "</think>", "\n\n")
MAGISTRAL = Marks("[THINK]", "[/THINK]")
GEMMA = Marks("<|channel>thought", "<channel|>")
HARMONY = Marks(
    "<|channel|>analysis<|message|>", "<|end|>", "<|start|>assistant<|channel|>final<|message|>"
)

FAMILIES = (THINK, MAGISTRAL, GEMMA, HARMONY)
MARKS = frozenset(
    {
        *("<think>", "</think>", "[THINK]", "[/THINK]", "<|channel>", "<channel|>"),
        *("<|start|>", "<|channel|>", "<|constrain|>", "<|message|>", "<|end|>"),
    }
)
"""The control tokens among the marks."""


def marks_of(template: str) -> Marks | None:
    """The marks in a chat template; None if its models do not think."""
    if "<|channel|>" in template and "<|message|>" in template:
        return HARMONY
    if "<|channel>" in template:
        return GEMMA
    tagged = (THINK, MAGISTRAL)
    return next(
        (each for each in tagged if each.opening in template or each.closing in template), None
    )


def speaks_harmony(name: str, template: str = "") -> bool:
    """Whether a model writes Harmony, by its name or architecture, or its template."""
    return bool(re.search(r"gpt[-_]?oss", name, re.I)) or marks_of(template) is HARMONY


_HEADER = re.compile(
    r"(?:(?:<\|start\|>\w+)?<\|channel\|>(?P<channel>\w+)[^<]*(?:<\|constrain\|>[^<]*)?)+<\|message\|>"
)
_UNFINISHED = re.compile(r"\s*(?:<\|start\|>\w+)?<\|channel\|>final\s*")
"""A header without its last mark: some servers drop it."""
_HEADERS = ("<|start|>assistant", "<|channel|>")
_LONGEST_HEADER = 200
_TAGGED = (THINK, MAGISTRAL, GEMMA)
_ENDINGS = (HARMONY.closing, "<|return|>")


class ThinkingSplitter:
    """Separates thought from the answer, whatever the family.

    Args:
        opened: the prompt may have opened a thought. The text is then kept back until a thought
            ends in it, or everything ends.

    Attributes:
        thinking: the thought so far.
    """

    def __init__(self, *, opened: bool = False) -> None:
        self.thinking = ""
        self._opened = opened
        self._closed = False
        self._closing = ""
        self._held = ""
        self._take = self._head

    @property
    def unclosed(self) -> bool:
        """A thought began and has not ended."""
        return self._take == self._inside

    def keep_apart(self) -> None:
        """The thought comes in a field of its own: the text is answer from its beginning."""
        self._opened = False

    def __call__(self, piece: str) -> str:
        """The part of the reply known to be answer after this piece."""
        return self._take(piece)

    def end(self) -> str:
        """The rest of the answer; nothing more comes."""
        if self._take == self._inside:
            self.thinking += self._held
            self._held = ""
        return self._release() if self._take == self._head else self._let_go()

    def _head(self, piece: str) -> str:
        self._held += piece
        start = self._held.lstrip()
        for marks in _TAGGED:
            if start.startswith(marks.opening):
                return self._think(marks.closing, start.removeprefix(marks.opening))
        if header := _HEADER.match(start):
            return self._channel(header["channel"], start[header.end() :])
        if _may_open(start):
            return ""
        if self._opened and not self._closed:
            self._take = self._perhaps_inside
            return self._perhaps_inside("")
        return self._release()

    def _channel(self, channel: str, rest: str) -> str:
        """Go on in a channel of Harmony."""
        if channel != "final":
            return self._think(HARMONY.closing, rest)
        self._held, self._take = "", self._final
        return self._final(rest)

    def _think(self, closing: str, rest: str) -> str:
        self.thinking += "\n" if self.thinking else ""
        self._closing, self._held, self._take = closing, "", self._inside
        return self._inside(rest)

    def _inside(self, piece: str) -> str:
        thought, closed, answer = (self._held + piece).partition(self._closing)
        if closed:
            return self._close(self.thinking + thought, answer)
        # Only the tail can be the beginning of the closing mark.
        self.thinking += thought[: -len(self._closing)]
        self._held = thought[-len(self._closing) :]
        return ""

    def _close(self, thought: str, answer: str) -> str:
        self.thinking, self._held = thought.strip(), ""
        self._closed, self._take = True, self._head
        return self._head(answer)

    def _perhaps_inside(self, piece: str) -> str:
        self._held += piece
        for marks in (THINK, MAGISTRAL):
            thought, closed, answer = self._held.partition(marks.closing)
            if closed:
                return self._close(thought, answer)
        return ""

    def _final(self, piece: str) -> str:
        """The final channel, without the mark at its end."""
        text = self._held + piece
        if ends := [place for ending in _ENDINGS if (place := text.find(ending)) >= 0]:
            self._held, self._take = "", _nothing
            return text[: min(ends)]
        certain = len(text) - max(_begun(text, ending) for ending in _ENDINGS)
        self._held = text[certain:]
        return text[:certain]

    def _answer(self, piece: str) -> str:
        return piece

    def _release(self) -> str:
        self._take = self._answer
        held = _UNFINISHED.sub("", self._let_go(), count=1)
        # Blanks after a thought belong to its mark.
        return held.lstrip() if self._closed else held

    def _let_go(self) -> str:
        held, self._held = self._held, ""
        return held


def _nothing(piece: str) -> str:
    del piece
    return ""


def _may_open(start: str) -> bool:
    """Whether a mark may still come to its end at the start of a reply."""
    if any(start.startswith(header) for header in _HEADERS):
        return len(start) < _LONGEST_HEADER and "<|message|>" not in start
    return any(mark.startswith(start) for mark in (*_HEADERS, *(one.opening for one in _TAGGED)))


def _begun(text: str, ending: str) -> int:
    """Length of the longest end of a text with the beginning of an ending."""
    lengths = range(min(len(text), len(ending) - 1), 0, -1)
    return next((length for length in lengths if ending.startswith(text[-length:])), 0)
