"""Control tokens spelled out in a document, made harmless in a prompt and made whole in a reply.

A template is tokenised together with the messages in it, so a document that spells ``<|im_end|>``
would end its own turn. A word joiner (U+2060: invisible, allows no line break) after the first
bracket of each such spelling makes plain text of it. Taken out of a reply again, it leaves
quotations verbatim.
"""

import re
from collections.abc import Collection
from functools import lru_cache
from itertools import pairwise

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
