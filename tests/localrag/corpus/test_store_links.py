from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import pytest

from localrag.corpus.links import Definition, Reference, ReferenceRow
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Document, Locator

from ...rows import each

MakeLaw = Callable[..., Document]


def reference(
    document: str, source: str, law: str, target: str, end: str | None = None, start: int = 0
) -> Reference:
    last = None if end is None else Locator.parse(end)
    return Reference(
        document,
        Locator.parse(source),
        start,
        start + 3,
        "refers",
        law,
        "甲法",
        Locator.parse(target),
        last,
    )


def derive(
    store: CorpusStore, references: Iterable[Reference], definitions: Iterable[Definition] = ()
) -> tuple[int, int]:
    """Store these as all references of the laws."""
    terms = list(definitions)

    def found() -> Iterator[tuple[int, list[ReferenceRow], list[Definition]]]:
        keys = {store.read(key).id: key for key in store.law_states()}
        of: dict[str, list[ReferenceRow]] = {id_: [] for id_ in keys}
        for reference in references:
            of[reference.document_id].append(ReferenceRow.of(reference))
        for id_, key in keys.items():
            yield key, of[id_], [term for term in terms if term.document_id == id_]

    return store.replace_links(found(), everything=True)


@pytest.fixture
def linked(store: CorpusStore, make_law: MakeLaw) -> CorpusStore:
    places = ["1", "1.1", "1.2", "1_2", "1_2.1", "2", "2.1", "3", "3.1", "10", "10.1", "suppl1/1"]
    store.add(make_law("A", "甲法", places))
    store.add(make_law("B", "甲法施行令", ["1", "1.1", "2", "2.1"]))
    return store


def targets(found: list[Reference]) -> list[str]:
    return [f"{r.document_id} {r.source.path} > {r.target.path}" for r in found]


def test_references_go_both_ways(linked: CorpusStore) -> None:
    given = [
        reference("A", "1.2", "A", "2", start=9),
        reference("A", "1.1", "A", "10.1", start=5),
        reference("A", "suppl1/1", "A", "1"),
        reference("B", "1.1", "A", "1.2"),
        reference("B", "2.1", "A", ""),
        reference("B", "2.1", "", "5"),
    ]
    assert derive(linked, given) == (6, 0)
    assert linked.references_from("A", Locator(article="1")) == [given[1], given[0]]
    assert linked.references_from("A", Locator("", "1", "2")) == [given[0]]
    assert linked.references_from("A", Locator()) == [given[2], given[1], given[0]]
    assert linked.references_from("B", Locator(article="2")) == [given[4], given[5]]
    assert targets(linked.references_to("A", Locator(article="1"))) == [
        "A suppl1/1 > 1",
        "B 1.1 > 1.2",
    ]
    assert targets(linked.references_to("A", Locator(article="10"))) == ["A 1.1 > 10.1"]
    assert linked.references_to("A", Locator(article="1_2")) == []
    assert len(linked.references_to("A", Locator())) == 5
    assert linked.references_to("B", Locator()) == []


@each(
    ("first", "last", "reached"),
    [
        ("1", "3", ["1", "1_2", "2", "3"]),
        ("1_2", "2", ["1_2", "2"]),
        ("1.1", "1.2", ["1.1", "1.2"]),
        ("2", "99", ["2"]),  # the law has no article 99: only the ends count
        ("3", "1", ["1", "3"]),  # printed the wrong way round: only the ends count
    ],
)
def test_a_range_reaches_what_the_law_really_has(
    linked: CorpusStore, first: str, last: str, reached: list[str]
) -> None:
    given = reference("B", "1", "A", first, last)
    derive(linked, [given])
    places = ["1", "1.1", "1.2", "1_2", "2", "3", "10", "suppl1/1"]
    found = [
        place
        for place in places
        if "." in place or "." not in first
        if linked.references_to("A", Locator.parse(place)) == [given]
    ]
    assert found == reached


def test_definitions(linked: CorpusStore) -> None:
    first = Definition("A", Locator.parse("2.1"), "渡し舟", 5, 8)
    second = Definition("B", Locator.parse("1"), "渡し舟", 1, 4, "この条")
    third = Definition("A", Locator.parse("3.1"), "桟橋", 20, 22)
    assert derive(linked, [], [first, third, second]) == (0, 3)
    assert linked.definitions_of("渡し舟") == [first, second]
    assert linked.definitions_of("舟") == []
    assert linked.definitions_in("A") == [first, third]


def test_deriving_again_replaces_everything_or_nothing(linked: CorpusStore) -> None:
    old = reference("A", "1", "A", "2")
    derive(linked, [old])
    generation = linked.generation
    assert linked.links_generation == generation

    def interrupted() -> Iterator[Reference]:
        yield reference("A", "1", "A", "3")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        derive(linked, interrupted())
    assert linked.references_from("A", Locator()) == [old]
    new = replace(old, target=Locator(article="3"))
    derive(linked, [new])
    assert linked.references_from("A", Locator()) == [new]
    assert linked.references_to("A", Locator(article="2")) == []
    assert linked.generation == generation


def test_links_follow_their_documents(linked: CorpusStore, make_law: MakeLaw) -> None:
    given = [reference("A", "1", "B", "1"), reference("B", "1", "A", "1")]
    derive(linked, given, [Definition("A", Locator(article="1"), "舟", 0, 1)])
    linked.replace(make_law("A", "甲法", ["1"]))
    assert linked.links_generation < linked.generation
    assert linked.references_from("A", Locator()) == []
    assert linked.definitions_of("舟") == []
    assert linked.references_to("A", Locator()) == [given[1]]
    linked.remove("A")
    assert linked.references_from("B", Locator()) == [replace(given[1], law_id="")]
    assert linked.check() == []
