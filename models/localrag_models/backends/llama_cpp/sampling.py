"""Sampling the next token from its logits, free or bound by a grammar.

To ask a grammar about every token of a vocabulary of 150,000 costs more than to evaluate a small
model. So tokens are drawn first and the grammar is asked about those alone; it sees the whole
vocabulary only when none of them fits. Drawing until a token fits is rejection sampling: it has
exactly the distribution of masking first and drawing then.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from localrag_models.errors import N_, Cure, ModelDamaged, SchemaUnsupported

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Logits = NDArray[np.float32]
    Tokens = NDArray[np.int32]

_TRIES = (1, 63)
"""Tokens drawn at a time. A model that writes the format asked for mostly needs the first."""

_LIKELY = 1024
"""A nucleus is looked for among so many tokens before the whole vocabulary is sorted."""


class Constraint(Protocol):
    """Says which tokens may come next."""

    def allowed(self, tokens: "Tokens") -> "NDArray[np.bool_]":
        """Which of the tokens may come, one truth value each; a token may still fail `fits`."""
        ...

    def allowed_of_all(self) -> "NDArray[np.bool_]":
        """Which tokens of the vocabulary may come, shape ``(vocabulary,)``."""
        ...

    def fits(self, token: int) -> bool:
        """Whether an allowed token really may come."""
        ...


class Sampler:
    """Draws tokens.

    Args:
        temperature: logits are divided by it; 0 takes the likeliest token every time.
        top_p: only the likeliest tokens that together have this probability are drawn
            (Holtzman et al. 2020, The Curious Case of Neural Text Degeneration, section 3.1).
        seed: same seed and logits, same tokens.
    """

    def __init__(self, temperature: float, top_p: float, seed: int) -> None:
        import numpy as np

        self._temperature = temperature
        self._top_p = top_p
        self._random = np.random.default_rng(seed % 2**64)

    def next(self, logits: "Logits", constraint: Constraint | None = None) -> int:
        """Draw a token.

        Args:
            logits: shape ``(vocabulary,)``.
            constraint: what the token has to fulfil.

        Raises:
            ModelDamaged: the logits are no numbers.
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

    def _next_of_all(self, logits: "Logits", constraint: Constraint) -> int:
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
        """A function that gives so many tokens, the one to take first in front."""
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
    """Go on only with logits that are numbers.

    Raises:
        ModelDamaged: they are none.
    """
    if not math.isfinite(logits.max()):
        raise ModelDamaged(N_("The model computes values that are no numbers."), Cure.CHECK_FILES)


def likeliest(logits: "Logits", count: int) -> "Tokens":
    """The likeliest tokens, `count` or all there are, likeliest first."""
    import numpy as np

    if count == 1:
        return np.array([logits.argmax()], np.int32)
    count = min(count, len(logits))
    some = np.argpartition(logits, -count)[-count:]
    return some[np.argsort(-logits[some], kind="stable")].astype(np.int32)


def _nucleus(weights: "Logits", top_p: float) -> "Logits":
    """The weights with those outside the nucleus set to 0."""
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
