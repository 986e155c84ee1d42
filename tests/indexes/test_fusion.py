import pytest

from localrag_indexes.fusion import convex_combination, reciprocal_rank_fusion


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


def test_scores_keep_how_far_one_is_ahead() -> None:
    fused = convex_combination([{1: 10.0, 2: 9.0, 3: 1.0}, {3: 0.9, 2: 0.8}], [1, 1], [0.0, None])
    assert fused == pytest.approx({3: 0.55, 1: 0.5, 2: 0.45})
    assert list(fused) == [3, 1, 2]


def test_only_the_proportions_of_weights_matter() -> None:
    searches = [{"a": 3.0, "b": 1.0}, {"b": 2.0}]
    assert convex_combination(searches, [1, 3], [0.0, 0.0]) == pytest.approx(
        convex_combination(searches, [2, 6], [0.0, 0.0])
    )


def test_equal_scores_count_one() -> None:
    assert convex_combination([{"a": 0.7, "b": 0.7}, {}], [1, 1], [None, None]) == {
        "a": 0.5,
        "b": 0.5,
    }


def test_without_weight_nothing_is_found() -> None:
    assert convex_combination([{"a": 1.0}], [0], [0.0]) == {}
    assert convex_combination([], [], []) == {}


def test_every_search_needs_a_weight_and_a_floor() -> None:
    with pytest.raises(ValueError, match="zip"):
        convex_combination([{1: 1.0}, {2: 1.0}], [1.0], [0.0, 0.0])
