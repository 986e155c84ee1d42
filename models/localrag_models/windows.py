"""What embedders and rerankers share: text prepared for them, cut into windows, one call at a time.

Windows have at most so many tokens, whatever the tokenizer. They end at the last end of a sentence
that fits, else at the last end of a clause, else anywhere but inside a character with its combining
marks. Joined, they are the text.
"""

import re
import threading
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

from localrag_models.errors import N_, ContextExceeded, ModelError

Count = Callable[[str], int]
"""Tokens of a text, together with everything that is put around it."""

LONGEST_WINDOW = 512
"""Tokens beyond which the models run in this process get windows, even if they could take more:
the cost of attention grows with the square of the length."""

# A full stop ends a sentence only before a blank: "3.5" and "Art.5" go on.
_SENTENCE_ENDS = re.compile(r"(?:[。！？!?]|\.(?=\s))[」』）】〕”’)\]\"']*\s*|\n\s*")
_CLAUSE_ENDS = re.compile(r"[、，,;；:：]\s*|\s+")
_ZERO_WIDTH_JOINER = "\u200d"
_VARIANT_SELECTORS = frozenset("\ufe0e\ufe0f")
_LONGEST_CLUSTER = 16
_SURROGATES = re.compile("[\ud800-\udfff]")
# Longer texts are split without being counted as a whole first.
_CHARACTERS_PER_TOKEN = 16
_REMOVED = (*range(0x1, 0x9), 0xB, *range(0xE, 0x20), 0x7F, 0x8F, 0x9F)
_BLANKS = "\t\n\f\r\u061c\u1680\u200b\u200c\u200e\u200f\u2028\u2029\u2581\ufeff\ufffd"
_TABLE = dict.fromkeys(_REMOVED) | dict.fromkeys(map(ord, _BLANKS), " ")
_FULL_WIDTH_TILDE = "～"
_CONTROL_TOKEN = re.compile(r"<(?=/?(?:s|pad|unk|mask|extra_id_\d+)>)")


class Closing(ABC):
    """A model that is used under a lock until it is closed.

    Attributes:
        id: names model and weights.
    """

    def __init__(self, id: str) -> None:  # noqa: A002
        self.id = id
        self._lock = threading.RLock()
        self._closed = False

    @abstractmethod
    def _release(self) -> None:
        """Let go of memory and connections."""

    def close(self) -> None:
        """Let go of memory and connections; calling it twice does no harm."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _demand_open(self) -> None:
        if self._closed:
            raise ModelError(N_("{model} has been closed."), N_("Open it again."), model=self.id)


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows of several texts, in their order.

    Attributes:
        texts: of the windows.
        tokens: of each window.
        owners: for each window, the number of the text it is part of.
    """

    texts: list[str] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)


def divide(
    texts: Sequence[str], counts: Callable[[Sequence[str]], Sequence[int]], limit: int
) -> Windows:
    """Split those of `texts` that take more than `limit` tokens.

    Args:
        texts: well formed.
        counts: tokens of each of the texts it is given, as `Count` is for one.
        limit: tokens one window may have.
    """
    short = [at for at, text in enumerate(texts) if len(text) <= _CHARACTERS_PER_TOKEN * limit]
    known = dict(zip(short, counts([texts[at] for at in short]), strict=True))
    windows = Windows()
    for owner, text in enumerate(texts):
        parts, tokens = [text], [known.get(owner, limit + 1)]
        if tokens[0] > limit:
            parts = split(text, lambda window: counts([window])[0], limit)
            tokens = list(counts(parts))
        windows.texts.extend(parts)
        windows.tokens.extend(tokens)
        windows.owners.extend([owner] * len(parts))
    return windows


def split(text: str, count: Count, limit: int) -> list[str]:
    """Split `text` so that ``count(window) <= limit``: at least one window, together the text.

    How much is counted altogether grows linearly with the length of `text`.

    Raises:
        ContextExceeded: a single character takes more than `limit` tokens.
    """
    windows: list[str] = []
    start, guess = 0, limit
    while True:
        reached = _reach(text, start, guess, count, limit)
        end = reached
        if reached < len(text):
            ends = _ends(text, start, reached)
            end = next(end for end in ends if count(text[start:end]) <= limit)
        windows.append(text[start:end])
        if end == len(text):
            return windows
        start, guess = end, reached - start


def shorten_front(text: str, count: Count, limit: int) -> str:
    """`text` where ``count(text) <= limit``, else as much of its end as fits."""
    low, high = -1, len(text)
    while high - low > 1:
        middle = (low + high) // 2 if low >= 0 else 0
        if count(text[middle:]) <= limit:
            high = middle
        else:
            low = middle
    return text[high:]


def well_formed(text: str) -> str:
    """`text` with lone surrogates, which UTF-8 cannot hold, replaced by U+FFFD."""
    return _SURROGATES.sub("\ufffd", text)


def nmt_nfkc(text: str) -> str:
    """Text as the tokenizers of XLM-R and T5 saw it in training, done once for all back ends.

    It is in NFKC, controls left out, white space and the like as blanks. SentencePiece (Kudo and
    Richardson 2018, section 3.3) calls the rule ``nmt_nfkc``. Its table, which models carry along,
    is read differently by different libraries: half-width ｶﾞ becomes ガ in one and カ with a loose
    mark in the other, and old GGUF files do not hold it at all.

    What would be read as a control token (``</s>``) is broken by a blank: text is data.
    """
    parts = text.translate(_TABLE).split(_FULL_WIDTH_TILDE)
    normal = _FULL_WIDTH_TILDE.join(unicodedata.normalize("NFKC", part) for part in parts)
    return _CONTROL_TOKEN.sub("< ", normal)


def _reach(text: str, start: int, guess: int, count: Count, limit: int) -> int:
    """How far a window from `start` can go, to a sixteenth of its length, beginning at a guess."""
    low, high = start, min(start + guess, len(text))
    while (needed := count(text[start:high])) <= limit:
        if high == len(text):
            return high
        low, high = high, min(high + max((high - start) // 4, 1), len(text))
    while high - low > max((low - start) // 16, 1):
        middle = (low + high) // 2
        if (tokens := count(text[start:middle])) <= limit:
            low = middle
        else:
            high, needed = middle, tokens
    if low == start:
        raise ContextExceeded(
            N_("The character {text!a} does not fit into {available} tokens."),
            needed=needed,
            available=limit,
            text=text[start:high],
        )
    return low


def _ends(text: str, start: int, reached: int) -> Iterator[int]:
    """Where a window that can go from `start` to `reached` might end, best first."""
    for pattern in (_SENTENCE_ENDS, _CLAUSE_ENDS):
        # What ends right at `reached` might go on behind it, with a bracket that closes.
        ends = [match.end() for match in pattern.finditer(text, start, reached)]
        yield from [end for end in ends if end < reached][-1:]
    yield max(_start_of_cluster(text, reached), start + 1)
    yield reached


def _start_of_cluster(text: str, position: int) -> int:
    """`position`, moved back to where the character with its combining marks begins."""
    for at in range(position, max(position - _LONGEST_CLUSTER, 0), -1):
        marks = unicodedata.combining(text[at]) or text[at] in _VARIANT_SELECTORS
        if not marks and _ZERO_WIDTH_JOINER not in text[at - 1 : at + 1]:
            return at
    return position
