"""Text into a prompt and out of a reply: control tokens, reasoning, stops.

A template is tokenised together with the messages in it, so a document that spells ``<|im_end|>``
would end its own turn. A word joiner (U+2060: invisible, allows no line break) after the first
bracket of each such spelling makes plain text of it. Taken out of a reply again, it leaves
quotations verbatim.
"""

import codecs
import re
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from itertools import pairwise

_THINK, _ANSWER = "<think>", "</think>"
_JOINER = "\u2060"
_OPENERS = "<["

_KNOWN = (
    r"<\|[^<>|\s]{1,64}\|>",
    r"</?(?:s|unk|pad|mask|bos|eos|sep|cls|think|thinking|reasoning|start_of_turn|end_of_turn"
    r"|tool_call|tool_response|tools)>",
    r"\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|THINK)\]",
    r"<</?SYS>>",
)
"""Spellings in the formats in use: ChatML, Llama 2 to 4, Mistral, Gemma, Phi, reasoning models."""

_OPENER = f"[{re.escape(_OPENERS)}]"
_OWN = re.compile(f"({_OPENER})(?={_JOINER})")
_BROKEN = re.compile(f"({_OPENER}){_JOINER}")


def neutralise(text: str, tokens: Collection[str] = ()) -> str:
    """Break every spelling of a control token.

    Args:
        text: what a message holds.
        tokens: spellings that the vocabulary of the model has besides the known ones; those
            without ``<`` or ``[`` are left alone.
    """
    # A document's own joiner in that place gets a second one, so that exactly the document returns.
    text = _OWN.sub(rf"\1{_JOINER}", text)
    cuts = sorted({_after_opener(match) for match in _spellings(frozenset(tokens)).finditer(text)})
    return _JOINER.join(text[start:end] for start, end in pairwise([0, *cuts, len(text)]))


def restore(text: str) -> str:
    """Take out what `neutralise` put in: ``restore(neutralise(text)) == text`` for every text."""
    return _BROKEN.sub(r"\1", text)


class Restorer:
    """`restore` for a text that comes in pieces."""

    def __init__(self) -> None:
        self._before = ""

    def __call__(self, piece: str) -> str:
        """The piece without what `neutralise` put in; pieces joined are the text restored."""
        before, self._before = self._before, piece[-1:] or self._before
        if _JOINER not in piece:
            return piece
        return restore(before + piece)[len(before) :]


@lru_cache(maxsize=8)
def _spellings(tokens: frozenset[str]) -> re.Pattern[str]:
    """Matches, without consuming it, each place where a spelling starts."""
    own = [token for token in tokens if _OPENERS[0] in token[:-1] or _OPENERS[1] in token[:-1]]
    alternatives = [*map(re.escape, sorted(own, key=len, reverse=True)), *_KNOWN]
    first = "".join(sorted({token[0] for token in own} | set(_OPENERS)))
    return re.compile(f"(?=[{re.escape(first)}])(?=({'|'.join(alternatives)}))")


def _after_opener(match: re.Match[str]) -> int:
    opener = re.search(_OPENER, match[1])
    assert opener is not None
    return match.start() + opener.end()


class ThinkingSplitter:
    """Tells a leading ``<think>…</think>`` from the answer after it.

    Attributes:
        thinking: the reasoning that has come so far.
    """

    def __init__(self) -> None:
        self.thinking = ""
        self._take = self._head
        self._held = ""

    def __call__(self, piece: str) -> str:
        """The part of the reply that, with this piece, is known to be answer."""
        return self._take(piece)

    def end(self) -> str:
        """What was held back, where it turns out to be answer; nothing more comes."""
        held, self._held = self._held, ""
        if self._take == self._inside:
            self.thinking += held
            return ""
        return held

    def _head(self, piece: str) -> str:
        self._held += piece
        start = self._held.lstrip()
        if start.startswith(_THINK):
            self._held, self._take = "", self._inside
            return self._inside(start.removeprefix(_THINK))
        if _THINK.startswith(start):
            return ""
        return self._release()

    def _inside(self, piece: str) -> str:
        reasoning, closed, answer = (self._held + piece).partition(_ANSWER)
        if closed:
            self.thinking = (self.thinking + reasoning).strip()
            self._held, self._take = "", self._between
            return self._between(answer)
        # Only the tail can be the beginning of the closing tag.
        self.thinking += reasoning[: -len(_ANSWER)]
        self._held = reasoning[-len(_ANSWER) :]
        return ""

    def _between(self, piece: str) -> str:
        """Blank lines between the reasoning and the answer belong to neither."""
        answer = piece.lstrip()
        if answer:
            self._take = self._answer
        return answer

    def _answer(self, piece: str) -> str:
        return piece

    def _release(self) -> str:
        held, self._held = self._held, ""
        self._take = self._answer
        return held


class AnswerStream:
    """The answer as it comes: reasoning kept apart, control tokens restored, stops found.

    Args:
        on_text: called with each piece that is certain to be answer.
        stop: texts that end it.
        thinks: whether reasoning may come first.

    Attributes:
        stopped: one of the stops has come; it and what follows are left out.
    """

    def __init__(
        self, on_text: Callable[[str], None], stop: Sequence[str] = (), *, thinks: bool = True
    ) -> None:
        self.stopped = False
        self._on_text = on_text
        self._stop = stop
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._thinking = ThinkingSplitter()
        self._split = self._thinking if thinks else str
        self._restore = Restorer()
        self._held = ""
        self._pieces: list[str] = []

    @property
    def text(self) -> str:
        """What `on_text` was given, joined."""
        return "".join(self._pieces)

    @property
    def thinking(self) -> str:
        """Reasoning that came before it."""
        return restore(self._thinking.thinking)

    def take(self, piece: bytes | str) -> None:
        """Add a piece of the reply; bytes, those of a token, may end inside a character."""
        text = self._decoder.decode(piece) if isinstance(piece, bytes) else piece
        self._look(self._restore(self._split(text)))

    def end(self) -> None:
        """Give out what was held back; an unfinished character becomes U+FFFD."""
        self._look(self._restore(self._split(self._decoder.decode(b"", True))))
        self._look(self._restore(self._thinking.end()))
        self._say(self._held)

    def _look(self, piece: str) -> None:
        """Give out what no stop can begin in any more."""
        if self.stopped or not piece:
            return
        if not self._stop:
            self._say(piece)
            return
        text = self._held + piece
        found = [place for stop in self._stop if (place := text.find(stop)) >= 0]
        self.stopped = bool(found)
        certain = min(found) if found else len(text) - self._open(text)
        self._held = "" if found else text[certain:]
        self._say(text[:certain])

    def _open(self, text: str) -> int:
        """Length of the longest end of a text that a stop begins with."""
        return max(
            (
                length
                for stop in self._stop
                for length in range(1, min(len(stop), len(text) + 1))
                if text.endswith(stop[:length])
            ),
            default=0,
        )

    def _say(self, piece: str) -> None:
        if piece:
            self._pieces.append(piece)
            self._on_text(piece)
