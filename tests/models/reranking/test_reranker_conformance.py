"""What `Reranker` promises, one test per promise, for every back end."""

import threading
from collections.abc import Callable

import numpy as np
import pytest
from tiny_models.encoder import NASTY_TEXTS

from localrag_models.embedding import Reranker
from localrag_models.errors import ContextExceeded, ModelError

from ...rows import each

QUERY = "個人情報の定義は何ですか"
PASSAGES = ["個人情報とは", "The controller shall", "", "渡し守の資格は、別表に掲げる。"]
SENTENCES = [f"第{number}条 個人情報は、第{number}項の目的に限る。" for number in range(1, 121)]


def test_scores_are_float32_between_0_and_1_one_per_passage(reranker: Reranker) -> None:
    scores = reranker.scores(QUERY, PASSAGES)
    assert scores.shape == (4,)
    assert scores.dtype == np.float32
    assert ((scores > 0) & (scores < 1)).all()
    assert len(set(scores.tolist())) == 4


def test_no_passage_gives_no_score(reranker: Reranker) -> None:
    assert reranker.scores(QUERY, []).shape == (0,)


@each("text", NASTY_TEXTS)
def test_whatever_the_passage_it_gets_a_score(reranker: Reranker, text: str) -> None:
    [score] = reranker.scores(QUERY, [text])
    assert 0 < score < 1


def test_an_empty_query_gets_scores(reranker: Reranker) -> None:
    assert np.isfinite(reranker.scores("", PASSAGES)).all()


def test_a_score_depends_on_its_passage_alone(reranker: Reranker) -> None:
    passages = [*PASSAGES, "".join(SENTENCES), *SENTENCES[:40]]
    together = reranker.scores(QUERY, passages)
    alone = np.concatenate([reranker.scores(QUERY, [passage]) for passage in passages])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(together, reranker.scores(QUERY, passages[::-1])[::-1], atol=1e-5)


def test_the_query_counts(reranker: Reranker) -> None:
    one, other = (reranker.scores(query, PASSAGES) for query in (QUERY, "Who may ferry a fox?"))
    assert np.abs(one - other).max() > 1e-4


def test_a_long_passage_gets_the_best_score_of_its_windows(reranker: Reranker) -> None:
    # Sentences so long that each is a window of its own.
    parts = [f"{'渡し守、' * 80}{sentence}" for sentence in SENTENCES[:6]]
    best = reranker.scores(QUERY, parts).max()
    [whole] = reranker.scores(QUERY, ["".join(parts)])
    np.testing.assert_allclose(whole, best, atol=1e-6)


def test_a_query_over_half_a_window_is_refused(reranker: Reranker) -> None:
    with pytest.raises(ContextExceeded) as caught:
        reranker.scores(QUERY * 40, PASSAGES)
    assert caught.value.needed > caught.value.available == reranker.max_tokens // 2
    assert caught.value.cure


def test_what_utf8_cannot_hold_is_replaced(reranker: Reranker) -> None:
    lone, marked = reranker.scores(f"{QUERY}\ud800", ["個人\ud800情報", "個人\ufffd情報"])
    np.testing.assert_allclose(lone, marked, atol=1e-6)


def test_threads_wait_for_each_other(reranker: Reranker) -> None:
    expected = reranker.scores(QUERY, SENTENCES)
    found: list[bool] = []

    def score() -> None:
        found.append(np.allclose(reranker.scores(QUERY, SENTENCES), expected, atol=1e-5))

    threads = [threading.Thread(target=score) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 4


def test_the_id_names_the_weights(open_reranker: Callable[..., Reranker]) -> None:
    with open_reranker() as one, open_reranker() as same, open_reranker(id="mine") as named:
        assert one.id == same.id
        assert one.id.startswith("tiny-rank")
        assert named.id == "mine"


def test_closed_twice_it_says_that_it_is_closed(open_reranker: Callable[..., Reranker]) -> None:
    reranker = open_reranker()
    reranker.close()
    reranker.close()
    with pytest.raises(ModelError, match="closed"):
        reranker.scores(QUERY, PASSAGES)
