import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from localrag.corpus.rows import BLOCK, prepare
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ARTICLES, PARAGRAPHS, Document, LawRow, Locator, Passage
from localrag.errors import InputError, NotFoundError, UsageError

MakeLaw = Callable[..., Document]
MakeNote = Callable[[str, str], Document]
PLACES = ["1", "1.1", "1.2", "1_2", "1_2.1", "2", "2.1", "10", "10.1", "suppl1/1", "suppl1/1.1"]


def test_a_document_comes_back_as_it_went_in(store: CorpusStore, make_law: MakeLaw) -> None:
    law = make_law("L1", "渡し舟法", PLACES)
    store.add(law)
    assert store.read("L1") == law
    info = store.document("L1")
    assert (info.title, info.kind, info.source) == ("渡し舟法", "law", "L1.xml")
    assert (info.characters, info.passages) == (len(law.text), len(PLACES))
    assert info.metadata == law.metadata
    assert store.sections("L1") == list(law.sections)


def test_ordinary_documents_keep_section_and_page(store: CorpusStore, make_note: MakeNote) -> None:
    note = make_note("a#b/c.md", "本文。")
    store.add(note)
    assert store.read("a#b/c.md") == note
    assert store.by_id("a#b/c.md#1") == note.passages[0]


@given(
    text=st.text(st.characters(exclude_categories=["Cs"]), max_size=50),
    repeat=st.integers(1, 200),
    data=st.data(),
)
@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_every_span_of_every_text_is_exact(
    tmp_path: Path, text: str, repeat: int, data: st.DataObject
) -> None:
    whole = text * repeat
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, len(whole)))
    passage = Passage("d#1", "d", "passages", whole[start:end], "", Locator(page=1), start, end)
    with CorpusStore.open(tmp_path / "spans.sqlite", create=True) as store:
        document = Document("d", "", "text", whole, "d", (passage,))
        (store.replace if any(store.documents()) else store.add)(document)
        assert store.text("d") == whole
        assert store.text("d", start, end) == whole[start:end]
        assert store.text("d", start) == whole[start:]
        assert store.by_id("d#1") == passage
        assert [found for _, found in store.passages()] == [passage]


def test_text_is_kept_once_but_derived_text_is_kept_too(
    store: CorpusStore, make_note: MakeNote
) -> None:
    note = make_note("n", "彼はこれを渡した。" * BLOCK)
    derived = Passage(
        "n#d1", "n", "decontextualized", "太郎は舟を渡した。", "覚書", Locator(page=1), 0, 9, "n#1"
    )
    empty = _size(store)
    store.add(dataclasses.replace(note, passages=(*note.passages, derived)))
    assert store.by_id("n#d1") == derived
    assert len(note.text.encode()) < _size(store) - empty < 3 * len(note.text.encode())


def _size(store: CorpusStore) -> int:
    store.checkpoint()
    return store.path.stat().st_size


def test_passages_stream_in_reading_order(store: CorpusStore, make_law: MakeLaw) -> None:
    store.add(make_law("L2", "乙法", ["1", "1.1"]))
    store.add(make_law("L1", "甲法", ["1", "1.1", "2"]))
    ids = [passage.id for _, passage in store.passages()]
    assert ids == ["L2#1", "L2#1.1", "L1#1", "L1#1.1", "L1#2"]
    assert [p.id for _, p in store.passages(layer=ARTICLES)] == ["L2#1", "L1#1", "L1#2"]
    assert [p.id for _, p in store.passages(layer=PARAGRAPHS, document_id="L1")] == ["L1#1.1"]
    assert list(store.passages(layer="nothing")) == []
    assert store.count([ARTICLES]) == 3
    assert store.count([ARTICLES, PARAGRAPHS, "nothing"]) == 5


def test_by_keys_keeps_the_order_asked_for_and_leaves_out_what_is_gone(
    store: CorpusStore, make_law: MakeLaw
) -> None:
    store.add(make_law("L1", "甲法", ["1", "2", "3"]))
    keys = [key for key, _ in store.passages()]
    asked = [keys[2], 10**9, keys[0]]
    assert [p.id for p in store.by_keys(asked).values()] == ["L1#3", "L1#1"]
    assert list(store.by_keys(asked)) == [keys[2], keys[0]]
    headings = store.headings(asked)
    assert {key: id_ for key, (id_, _) in headings.items()} == {keys[2]: "L1#3", keys[0]: "L1#1"}
    assert headings[keys[0]][1] == store.by_keys(asked)[keys[0]].header
    assert store.key_of("L1#2") == keys[1]
    assert len(store.by_keys(range(5000))) == 3


def test_keys_are_never_used_again(store: CorpusStore, make_law: MakeLaw) -> None:
    law = make_law("L1", "甲法", ["1", "2"])
    store.add(law)
    old = {key for key, _ in store.passages()}
    store.replace(law)
    new = {key for key, _ in store.passages()}
    store.remove("L1")
    store.add(law)
    newest = {key for key, _ in store.passages()}
    assert not old & new
    assert not (old | new) & newest


def test_statute_places_are_found_exactly(store: CorpusStore, make_law: MakeLaw) -> None:
    store.add(make_law("L1", "渡し舟法", PLACES))

    def at(path: str, layer: str | None = None) -> str | None:
        passage = store.at("L1", Locator.parse(path), layer)
        return passage and passage.id

    assert at("1_2") == "L1#1_2"
    assert at("1_2", PARAGRAPHS) is None
    assert at("suppl1/1.1") == "L1#suppl1/1.1"
    assert at("1.1") == "L1#1.1"
    assert at("99") is None
    assert at("") is None
    assert store.at("unknown", Locator(article="1")) is None
    for path in PLACES:
        assert store.provision_exists("L1", Locator.parse(path))
    assert store.provision_exists("L1", Locator())
    assert not store.provision_exists("L1", Locator(article="3"))
    assert not store.provision_exists("L2", Locator())


@pytest.mark.parametrize(
    ("path", "paragraphs"),
    [
        ("1", ["1.1", "1.2"]),
        ("1.2", ["1.2"]),
        ("1_2", ["1_2.1"]),
        ("10", ["10.1"]),
        ("suppl1/", ["suppl1/1.1"]),
        ("", ["1.1", "1.2", "1_2.1", "2.1", "10.1", "suppl1/1.1"]),
        ("7", []),
    ],
)
def test_within_agrees_with_the_model(
    store: CorpusStore, make_law: MakeLaw, path: str, paragraphs: list[str]
) -> None:
    store.add(make_law("L1", "渡し舟法", PLACES))
    locator = Locator.parse(path)
    assert [p.locator.path for p in store.within("L1", locator, PARAGRAPHS)] == paragraphs
    everything = [p for _, p in store.passages(layer=PARAGRAPHS) if locator.contains(p.locator)]
    assert store.within("L1", locator, PARAGRAPHS) == everything


def test_articles_in_printed_order(store: CorpusStore, make_law: MakeLaw) -> None:
    store.add(make_law("L1", "渡し舟法", [*PLACES, "appendix1/"]))
    assert store.articles("L1") == ["1", "1_2", "2", "10"]
    assert store.articles("L1", "suppl1") == ["1"]
    assert store.articles("unknown") == []


def test_a_place_printed_twice_gives_the_first(store: CorpusStore, make_law: MakeLaw) -> None:
    law = make_law("L1", "渡し舟法", ["1", "2"])
    twin = dataclasses.replace(law.passages[1], id="L1#1~2", locator=Locator(article="1"))
    store.add(dataclasses.replace(law, passages=(law.passages[0], twin)))
    first = store.at("L1", Locator(article="1"))
    assert first == law.passages[0]
    assert store.by_id("L1#1") == law.passages[0]
    assert store.by_id("L1#1~2") == twin
    both = store.by_ids(["L1#1~2", "L1#nope", "nope#1", "nope", "L1#1"])
    assert list(both.items()) == [("L1#1~2", twin), ("L1#1", law.passages[0])]
    assert store.articles("L1") == ["1"]


def test_laws_lists_what_names_them(
    store: CorpusStore, make_law: MakeLaw, make_note: MakeNote
) -> None:
    store.add(make_law("L1", "渡し舟法", ["1"]))
    store.add(make_note("n", "本文"))
    assert store.laws() == [LawRow("L1", "渡し舟法", "令和百年法律第一号", "Act", "舟法")]
    assert [d.id for d in store.documents("markdown")] == ["n"]


def test_every_change_raises_the_generation_and_renews_the_stamp(
    store: CorpusStore, make_law: MakeLaw
) -> None:
    law = make_law("L1", "渡し舟法", ["1"])
    seen = [(store.generation, store.stamp)]
    for change in (lambda: store.add(law), lambda: store.replace(law), lambda: store.remove("L1")):
        change()
        seen.append((store.generation, store.stamp))
    assert [generation for generation, _ in seen] == sorted({g for g, _ in seen})
    assert len({stamp for _, stamp in seen}) == 4


def test_a_failed_change_changes_nothing(store: CorpusStore, make_law: MakeLaw) -> None:
    law = make_law("L1", "渡し舟法", ["1"])
    store.add(law)
    before = (store.generation, store.read("L1"))
    with pytest.raises(UsageError, match="already has"):
        store.add(law)
    with pytest.raises(NotFoundError, match="localrag list"):
        store.remove("L2")
    with pytest.raises(NotFoundError):
        store.replace(make_law("L2", "乙法", ["1"]))
    with pytest.raises(UsageError):
        remove_and_add_twice(store, law)
    assert (store.generation, store.read("L1")) == before
    assert store.check() == []


def remove_and_add_twice(store: CorpusStore, law: Document) -> None:
    with store.transaction():
        store.remove(law.id)
        store.add(law)
        store.add(law)


def test_documents_that_break_the_rules_are_refused(make_law: MakeLaw) -> None:
    law = make_law("L1", "渡し舟法", ["1", "2"])
    first, second = law.passages

    def refused(message: str, **changes: object) -> None:
        with pytest.raises(InputError, match=message):
            prepare(dataclasses.replace(law, **changes))  # type: ignore[arg-type]

    refused("no id", id="")
    refused("two passages", passages=(first, first))
    refused("is not of", passages=(dataclasses.replace(first, id="L2#1"),))
    refused("is not of", passages=(dataclasses.replace(first, document_id="L2"),))
    refused("outside the text", passages=(first, dataclasses.replace(second, end=10**6)))
    refused("UTF-8", text=law.text + "\ud800")


def test_unknown_documents_are_named(store: CorpusStore) -> None:
    for ask in (store.document, store.text, store.sections, store.read, store.definitions_in):
        with pytest.raises(NotFoundError, match="'nope'"):
            ask("nope")
    with pytest.raises(NotFoundError):
        store.references_to("nope", Locator())
    assert store.by_id("nope#1") is None
    assert store.by_id("nope") is None


def test_what_is_held_is_read_once_until_somebody_writes(tmp_path: Path, make_law: MakeLaw) -> None:
    path = tmp_path / "held.sqlite"
    with (
        CorpusStore.open(path, create=True) as writer,
        CorpusStore.open(path, read_only=True) as reader,
    ):
        writer.add(make_law("L1", "渡し舟法", ["1", "2"]))
        with reader.holding():
            first = reader.by_id("L1#1")
            assert first is not None
            assert reader.by_id("L1#1") is first
            assert reader.at("L1", Locator.parse("1")) is first
        with reader.holding():
            assert reader.by_id("L1#1") is first
        writer.replace(make_law("L1", "渡し舟法", ["1"], filler="漕ぐ。"))
        with reader.holding():
            changed = reader.by_id("L1#1")
            assert changed is not None
            assert changed.text == "1 漕ぐ。"
            assert reader.by_id("L1#2") is None


def test_who_writes_finds_what_was_written_at_once(store: CorpusStore, make_law: MakeLaw) -> None:
    assert store.by_id("L1#1") is None
    store.add(make_law("L1", "渡し舟法", ["1"]))
    assert store.by_id("L1#1") is not None
    store.remove("L1")
    assert store.by_id("L1#1") is None
