from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from localrag_models.backends.llama_cpp.sampling import Sampler
from localrag_models.errors import ModelDamaged, SchemaUnsupported

from ...rows import each

LOGITS = np.log(np.array([0.5, 0.25, 0.15, 0.06, 0.04], np.float32))


class Only:
    """Lets these tokens through, and counts how many it was asked about."""

    def __init__(self, *tokens: int, unfit: tuple[int, ...] = (), size: int = 5) -> None:
        self.tokens = np.array(tokens, np.int32)
        self.unfit = unfit
        self.size = size
        self.asked = 0

    def allowed(self, tokens: NDArray[np.int32]) -> NDArray[np.bool_]:
        self.asked += len(tokens)
        return np.isin(tokens, self.tokens)

    def allowed_of_all(self) -> NDArray[np.bool_]:
        self.asked += self.size
        return np.isin(np.arange(self.size), self.tokens)

    def fits(self, token: int) -> bool:
        return token not in self.unfit


def shares(
    constraint: Only | None, top_p: float = 1.0, temperature: float = 1.0, n: int = 8_000
) -> dict[int, float]:
    """How often each token is drawn."""
    sampler = Sampler(temperature, top_p, seed=5)
    drawn = Counter(sampler.next(LOGITS, constraint) for _ in range(n))
    return {token: count / n for token, count in drawn.items()}


def test_tokens_come_as_often_as_they_are_likely() -> None:
    assert shares(None) == pytest.approx(dict(enumerate(np.exp(LOGITS))), abs=0.02)


def test_a_temperature_flattens_or_sharpens() -> None:
    powers = np.exp(LOGITS) ** 2
    assert shares(None, temperature=0.5) == pytest.approx(
        dict(enumerate(powers / powers.sum())), abs=0.02
    )


def test_drawing_first_has_the_distribution_of_masking_first() -> None:
    allowed = np.exp(LOGITS[[1, 3, 4]])
    expected = dict(zip([1, 3, 4], allowed / allowed.sum(), strict=True))
    assert shares(Only(1, 3, 4)) == pytest.approx(expected, abs=0.02)


def test_a_nucleus_holds_the_likeliest_tokens() -> None:
    assert shares(None, top_p=0.7) == pytest.approx({0: 2 / 3, 1: 1 / 3}, abs=0.02)
    assert shares(None, top_p=0.01, n=500) == {0: 1.0}


def test_what_is_allowed_comes_even_from_outside_the_nucleus() -> None:
    assert shares(Only(3), top_p=0.7, n=500) == {3: 1.0}


def test_without_temperature_the_likeliest_allowed_token_comes() -> None:
    assert Sampler(0, 1, 0).next(LOGITS) == 0
    assert Sampler(0, 1, 0).next(LOGITS, Only(2, 3)) == 2
    assert Sampler(0, 1, 0).next(LOGITS, Only(2, 3, unfit=(2,))) == 3


def test_a_token_that_fits_at_once_costs_one_question() -> None:
    constraint = Only(0, 1, 2, 3, 4)
    Sampler(0, 1, 0).next(LOGITS, constraint)
    assert constraint.asked == 1


def test_the_whole_vocabulary_is_asked_about_only_when_nothing_else_fits() -> None:
    logits = np.zeros(100_000, np.float32)
    logits[:50] = 9
    few, all_ = Only(49, size=100_000), Only(99_999, size=100_000)
    assert Sampler(0, 1, 0).next(logits, few) == 49
    assert few.asked < 100
    assert Sampler(0, 1, 0).next(logits, all_) == 99_999


def test_the_same_seed_draws_the_same() -> None:
    flat = np.zeros(1000, np.float32)
    first, second, other = (
        [sampler.next(flat) for _ in range(9)]
        for sampler in (Sampler(1, 0.9, 3), Sampler(1, 0.9, 3), Sampler(1, 0.9, -4))
    )
    assert first == second != other


def test_no_token_at_all_is_an_error() -> None:
    with pytest.raises(SchemaUnsupported, match="no token"):
        Sampler(1, 1, 0).next(LOGITS, Only())


@each("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_no_numbers_are_an_error(value: float) -> None:
    with pytest.raises(ModelDamaged, match="not numbers"):
        Sampler(1, 1, 0).next(np.full(5, value, np.float32))
