"""Orders of the options, and labels mapped back."""

from hypothesis import given
from hypothesis import strategies as st

from localrag.evaluation.types import MOST, in_dataset_order, rotated
from localrag.methods.catalogue import LABELS
from localrag.search.types import Query

options = st.lists(st.text(min_size=1), min_size=2, max_size=8, unique=True)


def test_each_option_stands_once_at_each_place() -> None:
    query = Query("which?", ("one", "two", "three", "four"))
    shown = [rotated(query, order).options for order in range(MOST)]
    assert shown[0] == query.options
    for place in range(4):
        assert {one[place] for one in shown} == set(query.options)


@given(options, st.integers(0, MOST - 1), st.data())
def test_labels_are_mapped_back(texts: list[str], order: int, data: st.DataObject) -> None:
    query = rotated(Query("which?", tuple(texts)), order)
    chosen = data.draw(st.integers(0, len(texts) - 1))
    label = in_dataset_order(LABELS[chosen], order, len(texts))
    assert texts[LABELS.index(label)] == query.options[chosen]


def test_without_options_there_is_one_order() -> None:
    query = Query("where?")
    assert rotated(query, 3) == query
