"""Embedders and rerankers: their promises, and the part that all back ends share.

Long texts are split into windows: at the end of a sentence, else of a clause, else anywhere outside
a character. Joined, the windows are the text.
"""

import re
import threading
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, Self

from localrag_models.errors import N_, ContextExceeded, Cure, ModelDamaged, ModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    """Shape ``(n, d)``: one row per text, each of length 1."""
    import numpy as np
    from numpy.typing import NDArray


Count = Callable[[str], int]
"""Tokens of a text, with everything that is put around it."""

LONGEST_WINDOW = 512
"""The most tokens of a window for models in this process, even if they could take more:
attention costs the square of the length."""

# A full stop ends a sentence only before a blank: "3.5" and "Art.5" go on.
_SENTENCE_ENDS = re.compile(r"(?:[。！？!?]|\.(?=\s))[」』）】〕”’)\]\"']*\s*|\n\s*")
_CLAUSE_ENDS = re.compile(r"[、，,;；:：]\s*|\s+")
_ZERO_WIDTH_JOINER = "\u200d"
_VARIANT_SELECTORS = frozenset("\ufe0e\ufe0f")
_LONGEST_CLUSTER = 16
_SURROGATES = re.compile("[\ud800-\udfff]")
# Longer texts are split before they are counted.
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
        """Free memory and connections."""

    def close(self) -> None:
        """Free memory and connections; a second call does no harm."""
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
        owners: for each window, the number of its text.
    """

    texts: list[str] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)


def divide(
    texts: Sequence[str], counts: Callable[[Sequence[str]], Sequence[int]], limit: int
) -> Windows:
    """Split each of `texts` with more than `limit` tokens; `counts` counts several texts."""
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
    """Split `text` so that ``count(window) <= limit``: at least one window, joined the text.

    The amount of text counted grows linearly with the length of `text`.

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
    """`text` if ``count(text) <= limit``, else as much of its end as fits."""
    low, high = -1, len(text)
    while high - low > 1:
        middle = (low + high) // 2 if low >= 0 else 0
        if count(text[middle:]) <= limit:
            high = middle
        else:
            low = middle
    return text[high:]


def well_formed(text: str) -> str:
    """`text` with U+FFFD for lone surrogates, which UTF-8 cannot hold."""
    return _SURROGATES.sub("\ufffd", text)


def nmt_nfkc(text: str) -> str:
    """Text as the tokenizers of XLM-R and T5 saw it in training, for all back ends.

    NFKC, without controls, with blanks for white space: the rule ``nmt_nfkc`` of SentencePiece
    (Kudo and Richardson 2018, section 3.3). Libraries read its table in models differently
    (half-width ｶﾞ becomes ガ, or カ with a loose mark), and old GGUF files do not have it.

    A blank breaks anything that looks like a control token (``</s>``): text is data.
    """
    parts = text.translate(_TABLE).split(_FULL_WIDTH_TILDE)
    normal = _FULL_WIDTH_TILDE.join(unicodedata.normalize("NFKC", part) for part in parts)
    return _CONTROL_TOKEN.sub("< ", normal)


def _reach(text: str, start: int, guess: int, count: Count, limit: int) -> int:
    """The end of the longest window from `start`, to a sixteenth of its length."""
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
    """The possible ends of a window from `start` to `reached`, best first."""
    for pattern in (_SENTENCE_ENDS, _CLAUSE_ENDS):
        # A closing bracket may follow right behind `reached`.
        ends = [match.end() for match in pattern.finditer(text, start, reached)]
        yield from [end for end in ends if end < reached][-1:]
    yield max(_start_of_cluster(text, reached), start + 1)
    yield reached


def _start_of_cluster(text: str, position: int) -> int:
    """`position`, moved back to the start of the character with its combining marks."""
    for at in range(position, max(position - _LONGEST_CLUSTER, 0), -1):
        marks = unicodedata.combining(text[at]) or text[at] in _VARIANT_SELECTORS
        if not marks and _ZERO_WIDTH_JOINER not in text[at - 1 : at + 1]:
            return at
    return position


@dataclass(frozen=True, slots=True)
class Prefixes:
    """The prefixes of queries and passages that a model was trained with."""

    query: str = ""
    passage: str = ""


E5 = Prefixes("query: ", "passage: ")
"""Of the E5 family (Wang et al. 2024, Multilingual E5 Text Embeddings, section 4)."""


class Embedder(Protocol):
    """A model that turns texts into vectors.

    Promises of every back end:

    - Vectors are float32, of length 1 (L2), shape ``(n, dimension)``, in the order of the texts. No
      vector is zero or holds a NaN.
    - The prefixes of queries and passages are added here, never by the caller.
    - A vector does not depend on the other texts of its call (to 1e-5), nor on their order.
    - Text longer than `max_tokens` is never cut. Its vector is the mean of its windows, weighted by
      tokens and normalised.
    - Lone surrogates, which UTF-8 cannot hold, are embedded as U+FFFD.
    - Threads may share it; they wait for each other.
    - Failures are `ModelError`, and the process survives them.
    """

    @property
    def id(self) -> str:
        """Names model and weights: vectors of embedders with the same id may be compared."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """Tokens of one window, prefix included."""
        ...

    def windows(self, text: str, header: str = "") -> list[str]:
        """Split a text into windows, at ends of sentences if possible.

        Args:
            text: of a passage.
            header: put before each window, on its own line. If it takes more than half a window,
                its front is cut.

        Returns:
            At least one window, ready for `embed_passages`; without headers they join to `text`.
        """
        ...

    def embed_queries(self, texts: Sequence[str]) -> "Vectors": ...

    def embed_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] | None = None
    ) -> "Vectors":
        """Embed passages; `on_progress` is called with the number done after each batch."""
        ...

    def close(self) -> None:
        """Free memory and connections; a second call does no harm."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class WindowedEmbedder(Closing):
    """The part that all back ends share: prefixes, windows, means and checks of the vectors.

    A back end counts the tokens of texts, and encodes windows that fit.
    """

    _TEXTS_AT_ONCE = 256

    def __init__(self, id: str, dimension: int, max_tokens: int, prefixes: Prefixes) -> None:  # noqa: A002
        super().__init__(id)
        self.dimension = dimension
        self.max_tokens = max_tokens
        self.prefixes = prefixes

    @abstractmethod
    def _counts(self, texts: Sequence[str]) -> Sequence[int]:
        """Tokens of each text, special tokens included; estimates are on the high side."""

    @abstractmethod
    def _encode(self, windows: Sequence[str], tokens: Sequence[int]) -> "Vectors":
        """One vector of any length per window; `tokens` are their counts."""

    def windows(self, text: str, header: str = "") -> list[str]:
        with self._lock:
            self._demand_open()
            head = shorten_front(
                header, lambda head: self._count(f"{head}\n"), self.max_tokens // 2
            )
            head = f"{head}\n" if head else ""
            parts = split(text, lambda part: self._count(head + part), self.max_tokens)
        return [head + part for part in parts]

    def embed_queries(self, texts: Sequence[str]) -> "Vectors":
        return self._embed(self.prefixes.query, texts, None)

    def embed_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] | None = None
    ) -> "Vectors":
        return self._embed(self.prefixes.passage, texts, on_progress)

    def _count(self, passage: str) -> int:
        return self._counts([self.prefixes.passage + well_formed(passage)])[0]

    def _embed(
        self, prefix: str, texts: Sequence[str], on_progress: Callable[[int], None] | None
    ) -> "Vectors":
        import numpy as np

        vectors = np.empty((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), self._TEXTS_AT_ONCE):
            some = texts[start : start + self._TEXTS_AT_ONCE]
            with self._lock:
                self._demand_open()
                vectors[start : start + len(some)] = self._means(prefix, some)
            if on_progress:
                on_progress(start + len(some))
        return vectors

    def _means(self, prefix: str, texts: Sequence[str]) -> "Vectors":
        """For each text, the mean of the vectors of its windows, weighted by tokens."""
        import numpy as np

        def counts(texts: Sequence[str]) -> Sequence[int]:
            return self._counts([prefix + text for text in texts])

        parts = divide([well_formed(text) for text in texts], counts, self.max_tokens)
        encoded = self._encode([prefix + part for part in parts.texts], parts.tokens)
        weights = np.asarray(parts.tokens, np.float32)[:, np.newaxis]
        sums = np.zeros((len(texts), self.dimension), np.float32)
        np.add.at(sums, parts.owners, weights * self._unit(encoded))
        return self._unit(sums)

    def _unit(self, vectors: "Vectors") -> "Vectors":
        import numpy as np

        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (np.isfinite(lengths) & (lengths > 0)).all():
            cause = N_("{model} gave a vector of zeros, or of no numbers at all.")
            raise ModelDamaged(cause, Cure.CHECK_FILES, model=self.id)
        unit: Vectors = vectors / lengths
        return unit


class Reranker(Protocol):
    """A model that reads a query together with a passage and scores how well they fit.

    Promises of every back end:

    - Scores are float32 between 0 and 1 (the sigmoid of the logit), shape ``(n,)``, in the order of
      the passages.
    - A score does not depend on the other passages of the call (to 1e-5).
    - A passage too long for one window gets the best score of its windows; nothing is cut. A query
      longer than half a window raises `ContextExceeded`.
    - Lone surrogates, which UTF-8 cannot hold, are read as U+FFFD.
    - Threads may share it; they wait for each other.
    - Failures are `ModelError`, and the process survives them.
    """

    @property
    def id(self) -> str:
        """Names model and weights."""
        ...

    @property
    def max_tokens(self) -> int:
        """Tokens of query and passage together, special tokens included."""
        ...

    def scores(self, query: str, passages: Sequence[str]) -> "NDArray[np.float32]": ...

    def close(self) -> None:
        """Free memory; a second call does no harm."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class WindowedReranker(Closing):
    """The part that all back ends share: windows, best scores, the sigmoid and checks.

    A back end counts the tokens of texts, and scores pairs that fit.
    """

    def __init__(self, id: str, max_tokens: int, special_tokens: int) -> None:  # noqa: A002
        super().__init__(id)
        self.max_tokens = max_tokens
        self._special_tokens = special_tokens

    @abstractmethod
    def _counts(self, texts: Sequence[str]) -> Sequence[int]:
        """Tokens of each text alone, without special tokens."""

    @abstractmethod
    def _logits(
        self, query: str, windows: Sequence[str], tokens: Sequence[int]
    ) -> "NDArray[np.float32]":
        """One logit per window; `tokens` are the counts of each pair."""

    def scores(self, query: str, passages: Sequence[str]) -> "NDArray[np.float32]":
        """Score each passage for the query.

        Raises:
            ContextExceeded: the query takes more than half a window.
        """
        import numpy as np

        with self._lock:
            self._demand_open()
            query = well_formed(query)
            taken = self._taken_by(query)
            parts = divide(
                [well_formed(passage) for passage in passages],
                self._counts,
                self.max_tokens - taken,
            )
            logits = self._logits(query, parts.texts, [taken + n for n in parts.tokens])
        best = np.full(len(passages), -np.inf)
        np.maximum.at(best, parts.owners, logits)
        if not np.isfinite(best).all():
            cause = N_("{model} gave a score that is not a number.")
            raise ModelDamaged(cause, Cure.CHECK_FILES, model=self.id)
        # This form of the sigmoid cannot overflow.
        scores: NDArray[np.float32] = (0.5 * (1 + np.tanh(best / 2))).astype(np.float32)
        return scores

    def _taken_by(self, query: str) -> int:
        """Tokens of a pair besides the passage."""
        taken = self._counts([query])[0] + self._special_tokens
        if taken > self.max_tokens // 2:
            raise ContextExceeded(
                N_(
                    "The question takes {needed:,} tokens; {model} has room for {available:,} "
                    "beside a passage."
                ),
                N_("Shorten the question."),
                needed=taken,
                available=self.max_tokens // 2,
                model=self.id,
            )
        return taken
