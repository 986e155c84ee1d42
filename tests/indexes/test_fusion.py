import pytest

from localrag_indexes.fusion import reciprocal_rank_fusion


def test_scores_are_those_of_the_formula() -> None:
    fused = reciprocal_rank_fusion([[1, 2], [2, 3]])
    assert fused == pytest.approx({1: 1 / 61, 2: 1 / 62 + 1 / 61, 3: 1 / 62})


def test_results_come_in_the_order_of_their_scores() -> None:
    fused = reciprocal_rank_fusion([[5, 1, 9], [9, 4], [4, 9, 7]], weights=[1.0, 2.0, 0.5])
    assert list(fused.values()) == sorted(fused.values(), reverse=True)
    assert list(fused)[:2] == [9, 4]


def test_ties_come_in_the_order_of_the_rankings() -> None:
    assert list(reciprocal_rank_fusion([[8, 1], [3, 2]])) == [8, 3, 1, 2]


def test_a_key_repeated_in_a_ranking_counts_once() -> None:
    assert reciprocal_rank_fusion([[1, 1, 2]]) == reciprocal_rank_fusion([[1, 2]])


def test_nothing_fused_is_nothing() -> None:
    assert reciprocal_rank_fusion([]) == {}
    assert reciprocal_rank_fusion([[], []]) == {}


def test_weights_must_match_the_rankings() -> None:
    with pytest.raises(ValueError, match="zip"):
        reciprocal_rank_fusion([[1], [2]], weights=[1.0])
