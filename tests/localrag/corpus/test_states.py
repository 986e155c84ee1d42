"""A law in several states: one is shown, shared text is stored once, and any may be removed."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from itertools import permutations
from pathlib import Path

import pytest

from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ARTICLES, Document, Locator
from localrag.errors import UsageError

MakeLaw = Callable[..., Document]
ID = "A"
DATES = ("2015-12-27", "2020-04-01", "2025-06-01")
PLACES = {
    "2015-12-27": ["1", "1.1", "2", "3"],
    "2020-04-01": ["1", "1.1", "1_2", "2", "3"],
    "2025-06-01": ["1", "1.1", "1_2", "3"],
}


@pytest.fixture
def states(make_law: MakeLaw) -> dict[str, Document]:
    """Three states of one law; article 2 goes with the last, article 1の2 comes with the second."""

    def state(day: str) -> Document:
        law = make_law(ID, "渡し舟法", PLACES[day])
        return replace(law, metadata={**law.metadata, "date": day})

    return {day: state(day) for day in DATES}


def shown(path: Path, day: str) -> CorpusStore:
    return CorpusStore.open(path, read_only=True, as_of=date.fromisoformat(day))


@pytest.mark.parametrize("order", list(permutations(DATES)))
def test_each_day_shows_the_state_in_force(
    store: CorpusStore, states: dict[str, Document], order: tuple[str, ...]
) -> None:
    for day in order:
        store.add(states[day])
    assert store.check() == []
    for day, found in (
        ("2015-12-27", DATES[0]),
        ("2020-03-31", DATES[0]),
        ("2020-04-01", DATES[1]),
        ("2025-05-31", DATES[1]),
        ("2025-06-01", DATES[2]),
        ("9999-12-31", DATES[2]),
    ):
        with shown(store.path, day) as other:
            assert other.read(ID) == states[found]
            info = other.document(ID)
            assert (info.state_id, info.not_yet) == (f"{ID}@{found}", False)
            assert info.followed == dict(zip(DATES, (*DATES[1:], ""), strict=True))[found]
            assert [law.law_id for law in other.laws()] == [ID]
            assert [state.state_id for state in other.states(ID)] == [f"{ID}@{d}" for d in DATES]
            assert other.extent().documents == 1


def test_before_its_first_state_a_law_is_shown_as_not_yet_in_force(
    store: CorpusStore, states: dict[str, Document]
) -> None:
    store.add(states[DATES[0]])
    with shown(store.path, "2015-12-26") as other:
        assert other.document(ID).not_yet
        assert other.read(ID) == states[DATES[0]]


def test_a_state_is_found_by_its_own_id_whatever_the_day(
    store: CorpusStore, states: dict[str, Document]
) -> None:
    for state in states.values():
        store.add(state)
    with shown(store.path, "2016-01-01") as other:
        assert other.read(f"{ID}@2025-06-01") == states["2025-06-01"]
        assert other.by_id(f"{ID}@2025-06-01#1_2") is not None
        assert other.by_id(f"{ID}#1_2") is None


def test_what_states_share_is_stored_and_indexed_once(
    store: CorpusStore, states: dict[str, Document]
) -> None:
    for state in states.values():
        store.add(state)
    # Articles 1, 2, 3 of the first state, and 1の2 of the second.
    assert store.count([ARTICLES]) == 4
    indexed = {passage.locator.path: key for _, key, passage in store.distinct_passages([ARTICLES])}
    with shown(store.path, "2025-06-01") as other:
        keys = other.shown(indexed.values())
        found = {path: keys.get(key) for path, key in indexed.items()}
        assert found["2"] is None
        passages = other.by_keys(key for key in found.values() if key)
        assert {one.text for one in passages.values()} == {
            "1 舟を出す。",
            "1_2 舟を出す。",
            "3 舟を出す。",
        }
    with shown(store.path, "2016-01-01") as other:
        keys = other.shown(indexed.values())
        assert {path for path, key in indexed.items() if key in keys} == {"1", "2", "3"}


@pytest.mark.parametrize("gone", DATES)
@pytest.mark.parametrize("order", list(permutations(DATES)))
def test_any_state_can_go_and_the_others_keep_their_text(
    store: CorpusStore, states: dict[str, Document], order: tuple[str, ...], gone: str
) -> None:
    for day in order:
        store.add(states[day])
    store.remove(f"{ID}@{gone}")
    assert store.check() == []
    left = [day for day in DATES if day != gone]
    for day in left:
        assert store.read(f"{ID}@{day}") == states[day]
    articles = {path for day in left for path in PLACES[day] if "." not in path}
    assert store.count([ARTICLES]) == len(articles)
    store.remove(ID)
    assert (store.check(), list(store.documents())) == ([], [])


def test_a_state_that_is_replaced_shares_anew(
    store: CorpusStore, states: dict[str, Document], make_law: MakeLaw
) -> None:
    for state in states.values():
        store.add(state)
    other = make_law(ID, "渡し舟法", ["1", "2"], filler="橋を渡る。")
    other = replace(other, metadata={**other.metadata, "date": DATES[0]})
    store.replace(other)
    assert store.check() == []
    assert store.read(f"{ID}@{DATES[0]}") == other
    assert store.read(f"{ID}@{DATES[1]}") == states[DATES[1]]
    assert store.count([ARTICLES]) == 6


def test_a_state_is_entered_once(store: CorpusStore, states: dict[str, Document]) -> None:
    store.add(states[DATES[0]])
    with pytest.raises(UsageError, match="already has a document 'A@2015-12-27'"):
        store.add(states[DATES[0]])


def test_references_lead_to_the_state_of_the_day(
    store: CorpusStore, states: dict[str, Document]
) -> None:
    for state in states.values():
        store.add(state)
    with shown(store.path, "2020-05-01") as other:
        assert other.provision_exists(ID, Locator(article="1_2"))
        assert other.at(ID, Locator(article="1_2"), ARTICLES) is not None
    with shown(store.path, "2016-05-01") as other:
        assert not other.provision_exists(ID, Locator(article="1_2"))
