"""Sampling the next token from its logits, free or bound by a grammar.

Asking a grammar about all 150,000 tokens of a vocabulary costs more than evaluating a small model.
So tokens are drawn first, and the grammar is asked only about them; it sees the whole vocabulary if
none fits. This is rejection sampling: the distribution is the same as with masking first.
"""

import codecs
import ctypes
import math
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from localrag_models.backends.llama_cpp.native import Model, runtime
from localrag_models.errors import N_, Cure, ModelDamaged, SchemaUnsupported
from localrag_models.thinking import MARKS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Logits = NDArray[np.float32]
    Tokens = NDArray[np.int32]
    import numpy as np
    from numpy.typing import NDArray


_TRIES = (1, 63)
"""Tokens drawn at a time. A model that writes the requested format mostly needs one."""

_LIKELY = 1024
"""The nucleus is searched among this many tokens before the whole vocabulary is sorted."""


class Sampler:
    """Draws tokens.

    Args:
        temperature: logits are divided by it; 0 always takes the most likely token.
        top_p: only the likeliest tokens with together this probability are drawn (Holtzman et al.
            2020, The Curious Case of Neural Text Degeneration, section 3.1).
        seed: same seed and logits, same tokens.
    """

    def __init__(self, temperature: float, top_p: float, seed: int) -> None:
        import numpy as np

        self._temperature = temperature
        self._top_p = top_p
        self._random = np.random.default_rng(seed % 2**64)

    def next(self, logits: "Logits", constraint: "GrammarConstraint | None" = None) -> int:
        """Draw a token that fulfils the constraint, from logits of shape ``(vocabulary,)``.

        Raises:
            ModelDamaged: the logits are not numbers.
            SchemaUnsupported: no token of the vocabulary fulfils the constraint.
        """
        demand_numbers(logits)
        draw = self._draw(logits)
        if constraint is None:
            return int(draw(1)[0])
        for tries in _TRIES:
            drawn = draw(tries)
            for token in drawn[constraint.allowed(drawn)]:
                if constraint.fits(int(token)):
                    return int(token)
        return self._next_of_all(logits, constraint)

    def _next_of_all(self, logits: "Logits", constraint: "GrammarConstraint") -> int:
        import numpy as np

        left = np.where(constraint.allowed_of_all(), logits, np.float32(-np.inf))
        while math.isfinite(left.max()):
            token = int(self._draw(left)(1)[0])
            # Rounding can lead to the last token, allowed or not.
            if math.isfinite(left[token]) and constraint.fits(token):
                return token
            left[token] = -np.inf
        raise SchemaUnsupported(
            N_("The vocabulary of the model has no token that the schema allows here."),
            N_("Choose another model, or a schema without unusual characters."),
        )

    def _draw(self, logits: "Logits") -> "Callable[[int], Tokens]":
        """A function that draws so many tokens, in the order of preference."""
        import numpy as np

        if self._temperature == 0:
            return lambda count: likeliest(logits, count)
        weights = np.exp((logits - logits.max()) / np.float32(self._temperature))
        if self._top_p < 1:
            weights = _nucleus(weights, self._top_p)
        sums = np.cumsum(weights, dtype=np.float64)
        last = len(sums) - 1

        def draw(count: int) -> "Tokens":
            points = self._random.random(count) * sums[-1]
            drawn: Tokens = np.searchsorted(sums, points, side="right").astype(np.int32)
            return np.minimum(drawn, last)

        return draw


def demand_numbers(logits: "Logits") -> None:
    """Make sure that logits are numbers.

    Raises:
        ModelDamaged: they are not.
    """
    if not math.isfinite(logits.max()):
        raise ModelDamaged(N_("The model computes values that are not numbers."), Cure.CHECK_FILES)


def likeliest(logits: "Logits", count: int) -> "Tokens":
    """The `count` most likely tokens, or all, likeliest first."""
    import numpy as np

    if count == 1:
        return np.array([logits.argmax()], np.int32)
    count = min(count, len(logits))
    some = np.argpartition(logits, -count)[-count:]
    return some[np.argsort(-logits[some], kind="stable")].astype(np.int32)


def _nucleus(weights: "Logits", top_p: float) -> "Logits":
    """The weights, with 0 outside the nucleus."""
    import numpy as np

    target = weights.sum(dtype=np.float64) * top_p
    for count in (min(_LIKELY, len(weights)), len(weights)):
        order = likeliest(weights, count)
        sums = np.cumsum(weights[order], dtype=np.float64)
        if sums[-1] >= target:
            break
    inside = order[: int(np.searchsorted(sums, target)) + 1]
    kept = np.zeros_like(weights)
    kept[inside] = weights[inside]
    return kept


class Vocabulary:
    """The control tokens of a vocabulary, and the bytes of all tokens.

    Attributes:
        control: spellings of control tokens, and of markers such as ``<think>``.
        marks: the tokens of the marks of a thought.
        silent: whether a token has no text and does not end a reply, shape ``(vocabulary,)``.
        begin: the token before every prompt; or None.
        begin_text: the spelling of the token that begins texts.
        end_text: the spelling of the token that ends a turn.
    """

    def __init__(self, model: Model) -> None:
        import numpy as np

        self._llama = llama = runtime()
        self._model = model
        self._handle = vocabulary = model.vocabulary
        kinds = np.fromiter(
            (llama.llama_vocab_get_attr(vocabulary, token) for token in range(model.tokens)),
            np.int32,
            model.tokens,
        )
        hidden = (kinds & (llama.LLAMA_TOKEN_ATTR_CONTROL | llama.LLAMA_TOKEN_ATTR_UNKNOWN)) != 0
        marked = (kinds & llama.LLAMA_TOKEN_ATTR_USER_DEFINED) != 0
        unspoken = np.flatnonzero(hidden).tolist()
        markers = map(self._spelling, np.flatnonzero(marked).tolist())
        self.control = frozenset([*map(self._spelling, unspoken), *filter(_is_tag, markers)])
        self.marks = frozenset(token for token in unspoken if self._spelling(token) in MARKS)
        self.silent = hidden
        self.silent[[token for token in unspoken if self.ends(token)]] = False
        begin = llama.llama_vocab_bos(vocabulary)
        self.begin = begin if llama.llama_vocab_get_add_bos(vocabulary) else None
        self.begin_text = self._spelling(begin)
        self.end_text = self._spelling(llama.llama_vocab_eos(vocabulary))

    def ends(self, token: int) -> bool:
        return bool(self._llama.llama_vocab_is_eog(self._handle, token))

    @cached_property
    def first_bytes(self) -> "NDArray[np.int16]":
        """First byte of each token, 256 for one without text; shape ``(vocabulary,)``."""
        return self._texts[0]

    @cached_property
    def single_bytes(self) -> "tuple[NDArray[np.int16], NDArray[np.int32]]":
        """The bytes that are tokens, and these tokens."""
        import numpy as np

        alone = np.flatnonzero(self._texts[1] == 1).astype(np.int32)
        return self.first_bytes[alone], alone

    @cached_property
    def _texts(self) -> "tuple[NDArray[np.int16], NDArray[np.int16]]":
        """First bytes and lengths of all tokens; slow, and not always needed."""
        import numpy as np

        pieces = [self._model.piece(token) for token in range(self._model.tokens)]
        first = np.fromiter((piece[0] if piece else 256 for piece in pieces), np.int16, len(pieces))
        return first, np.fromiter(map(len, pieces), np.int16, len(pieces))

    def _spelling(self, token: int) -> str:
        if token < 0:
            return ""
        text: bytes = self._llama.llama_vocab_get_text(self._handle, token)
        return text.decode("utf-8", "replace")


class GrammarConstraint:
    """Follows a grammar with the tokens of a reply.

    A forbidden token or an invalid grammar is a bug of the caller for llama.cpp, which ends the
    process. So `accept` only tokens that are `allowed`. `grammar` is GBNF with a rule ``root``.

    Raises:
        SchemaUnsupported: llama.cpp cannot parse the grammar.
    """

    def __init__(self, model: Model, grammar: str, vocabulary: Vocabulary) -> None:
        self._llama = runtime()
        self._model = model
        self._vocabulary = vocabulary
        self._characters = codecs.getincrementaldecoder("utf-8")("strict")
        self._sampler = self._llama.llama_sampler_init_grammar(
            model.vocabulary, grammar.encode(), b"root"
        )
        if not self._sampler:
            raise SchemaUnsupported(
                N_("llama.cpp cannot parse the grammar made of the schema."),
                N_("Simplify the schema."),
            )

    def allowed(self, tokens: "Tokens") -> "NDArray[np.bool_]":
        """Which of the tokens the grammar allows next."""
        import numpy as np

        candidates = np.zeros(len(tokens), [("id", "i4"), ("logit", "f4"), ("p", "f4")])
        candidates["id"] = tokens
        array = self._llama.llama_token_data_array(
            data=candidates.ctypes.data_as(self._llama.llama_token_data_p),
            size=len(tokens),
            selected=-1,
            sorted=False,
        )
        self._llama.llama_sampler_apply(self._sampler, ctypes.byref(array))
        # The grammar takes a control token for its spelling, but it adds nothing to the reply.
        fits: NDArray[np.bool_] = (
            np.isfinite(candidates["logit"]) & ~self._vocabulary.silent[tokens]
        )
        return fits

    def allowed_of_all(self) -> "NDArray[np.bool_]":
        """Which tokens of the whole vocabulary may come.

        The first byte excludes most: a token may only come where that byte may come as a token.
        """
        import numpy as np

        vocabulary = self._vocabulary
        # The last place is for tokens without text, which may end the reply.
        possible = np.ones(257, np.bool_)
        bytes_, tokens = vocabulary.single_bytes
        possible[bytes_] = self.allowed(tokens)
        some = np.flatnonzero(possible[vocabulary.first_bytes]).astype(np.int32)
        allowed = np.zeros(len(vocabulary.first_bytes), np.bool_)
        allowed[some] = self.allowed(some)
        return allowed

    def fits(self, token: int) -> bool:
        """Whether the bytes of an allowed token continue well-formed UTF-8.

        The grammar accepts over-long forms (E0 9F BF for U+07FF), which are not well-formed.
        """
        before = self._characters.getstate()
        try:
            self._characters.decode(self._model.piece(token))
        except UnicodeDecodeError:
            return False
        finally:
            self._characters.setstate(before)
        return True

    @property
    def complete(self) -> bool:
        import numpy as np

        end = self._llama.llama_vocab_eos(self._model.vocabulary)
        return bool(self.allowed(np.array([end], np.int32))[0])

    def accept(self, token: int) -> None:
        """Add a token that passed `allowed` and `fits` and does not end the reply."""
        self._llama.llama_sampler_accept(self._sampler, token)
        self._characters.decode(self._model.piece(token))

    def close(self) -> None:
        """Free the grammar; once."""
        self._llama.llama_sampler_free(self._sampler)


def _is_tag(text: str) -> bool:
    # Some vocabularies also define runs of blanks, but these are text.
    return text.startswith(("<", "[")) and text.endswith((">", "]"))
