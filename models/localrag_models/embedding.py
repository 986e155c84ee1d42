"""Embedding models: what every back end takes and gives, what it promises, and the common part."""

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


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What a model was trained to see before a query and before a passage."""

    query: str = ""
    passage: str = ""


E5 = Prefixes("query: ", "passage: ")
"""Of the E5 family (Wang et al. 2024, Multilingual E5 Text Embeddings, section 4)."""


class Embedder(Protocol):
    """A model that turns texts into vectors.

    Promises of every back end:

    - Vectors are float32, of length 1 (L2), shape ``(n, dimension)``, in the order of the texts;
      no text, shape ``(0, dimension)``. None is zero, none holds a NaN: a failure is an error.
    - Queries and passages are told apart: the prefixes the model was trained with are added here,
      never by the caller.
    - A vector does not depend on the other texts of its call (to 1e-5), nor on their order.
    - Text longer than `max_tokens` is never cut: it is embedded window by window, and its vector
      is the mean of theirs, weighted by tokens and normalised.
    - Text that cannot be written as UTF-8 (lone surrogates) is embedded with U+FFFD in their place.
    - It may be used from several threads, which wait for each other.
    - Failures are `ModelError`; the process survives them.
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
        """Tokens one window may have, prefix included."""
        ...

    def windows(self, text: str, header: str = "") -> list[str]:
        """Split a text into windows that fit, at ends of sentences where there are any.

        Args:
            text: the text of a passage.
            header: put before each window, on a line of its own; shortened from its front if it
                would take more than half a window.

        Returns:
            At least one window, each ready for `embed_passages`; without their headers they
            join to `text`.
        """
        ...

    def embed_queries(self, texts: Sequence[str]) -> "Vectors":
        """Embed questions."""
        ...

    def embed_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] | None = None
    ) -> "Vectors":
        """Embed passages; `on_progress` is called with the number done, batch by batch."""
        ...

    def close(self) -> None:
        """Let go of memory and connections; calling it twice does no harm."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class WindowedEmbedder(Closing):
    """The part all back ends share: prefixes, windows, means and checks of the vectors.

    A back end says how many tokens a window has, and encodes windows that fit.

    Attributes:
        id: names model and weights.
        dimension: length of a vector.
        max_tokens: of one window, prefix included.
        prefixes: what is put before queries and passages.
    """

    _TEXTS_AT_ONCE = 256

    def __init__(self, id: str, dimension: int, max_tokens: int, prefixes: Prefixes) -> None:  # noqa: A002
        super().__init__(id)
        self.dimension = dimension
        self.max_tokens = max_tokens
        self.prefixes = prefixes

    @abstractmethod
    def _counts(self, texts: Sequence[str]) -> Sequence[int]:
        """Tokens of each text, special tokens included; on the high side where estimated."""

    @abstractmethod
    def _encode(self, windows: Sequence[str], tokens: Sequence[int]) -> "Vectors":
        """One vector of any length per window; `tokens` is what `_counts` says of them."""

    def windows(self, text: str, header: str = "") -> list[str]:
        """Split a text into windows that fit (see `Embedder.windows`)."""
        with self._lock:
            self._demand_open()
            head = shorten_front(
                header, lambda head: self._count(f"{head}\n"), self.max_tokens // 2
            )
            head = f"{head}\n" if head else ""
            parts = split(text, lambda part: self._count(head + part), self.max_tokens)
        return [head + part for part in parts]

    def embed_queries(self, texts: Sequence[str]) -> "Vectors":
        """Embed questions (see `Embedder`)."""
        return self._embed(self.prefixes.query, texts, None)

    def embed_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] | None = None
    ) -> "Vectors":
        """Embed passages (see `Embedder.embed_passages`)."""
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

    - Scores are float32 between 0 and 1 (the sigmoid of the model's logit), shape ``(n,)``, in the
      order of the passages.
    - A score does not depend on the other passages of the call (to 1e-5).
    - A passage too long for one window is scored window by window and gets the best of its scores;
      nothing is cut. A query that takes more than half a window raises `ContextExceeded`.
    - Text that cannot be written as UTF-8 (lone surrogates) is read with U+FFFD in their place.
    - It may be used from several threads, which wait for each other.
    - Failures are `ModelError`; the process survives them.
    """

    @property
    def id(self) -> str:
        """Names model and weights."""
        ...

    @property
    def max_tokens(self) -> int:
        """Tokens that query and passage may have together, special tokens included."""
        ...

    def scores(self, query: str, passages: Sequence[str]) -> "NDArray[np.float32]":
        """Score each passage for the query."""
        ...

    def close(self) -> None:
        """Let go of memory; calling it twice does no harm."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class WindowedReranker(Closing):
    """The part all back ends share: windows, best scores, the sigmoid and checks.

    A back end says how many tokens a text has, and scores pairs that fit.

    Attributes:
        id: names model and weights.
        max_tokens: of query and passage together, special tokens included.
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
        """One logit per window; `tokens` is how many each takes together with the query."""

    def scores(self, query: str, passages: Sequence[str]) -> "NDArray[np.float32]":
        """Score each passage for the query (see `Reranker`).

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
            cause = N_("{model} gave a score that is no number.")
            raise ModelDamaged(cause, Cure.CHECK_FILES, model=self.id)
        # The sigmoid in the form that cannot overflow.
        scores: NDArray[np.float32] = (0.5 * (1 + np.tanh(best / 2))).astype(np.float32)
        return scores

    def _taken_by(self, query: str) -> int:
        """Tokens of a pair that are no tokens of the passage."""
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
