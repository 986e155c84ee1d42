"""Subjects are found under all their names, and leave nothing behind when they go."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from localrag.corpus.database import connect
from localrag.corpus.readers.triples import triples_document
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ALIAS, TRIPLES, Document, Triple
from localrag.errors import InputError

from ...rows import each

ACTRESS = Triple("凪 (女優)", "生年月日", ("1986年4月14日",), "Wikidata Q1", "2021-08-23")
KNOWN = [
    ACTRESS,
    Triple("凪 (女優)", ALIAS, ("波野 凪", "なぎ")),
    Triple("凪 (女優)", "職業", ("女優", "歌手")),
    Triple("凪 (曲)", "作曲者", ("黒澤濱子",)),
    Triple("凪物語", "種類", ("小説",)),
    Triple("黒澤濱子", "生年月日", ("1936年2月20日",)),
    Triple("第13回M-1舟唄大会", "開催地", ("霞ヶ丘",)),
    Triple("AI", "種類", ("学問",)),
    Triple("なぎ", "種類", ("犬",)),
]


def document(id_: str, triples: Sequence[Triple]) -> Document:
    return triples_document(id_, "覚書", "triples", id_, triples)


def rows(store: CorpusStore, table: str) -> int:
    with closing(connect(store.path)) as file:
        count: int = file.execute(f"SELECT count(*) FROM {table}").get
    return count


@pytest.fixture
def known(store: CorpusStore) -> CorpusStore:
    store.add(document("k", KNOWN))
    return store


def test_a_document_of_triples_comes_back_as_it_went_in(known: CorpusStore) -> None:
    entered = document("k", KNOWN)
    assert known.read("k") == entered
    assert known.by_id("k#1") == entered.passages[0]
    assert [of.triple for _, of in known.passages(layer=TRIPLES)] == KNOWN


def test_what_is_known_of_a_subject_keeps_its_order_and_names_its_passage(
    known: CorpusStore,
) -> None:
    known.add(document("later", [Triple("凪 (女優)", "身長", ("174cm",))]))
    found = known.knowledge.about("凪 (女優)")
    assert [of.triple for of in found] == [*KNOWN[:3], Triple("凪 (女優)", "身長", ("174cm",))]
    assert [of.passage_id for of in found] == ["k#1", "k#2", "k#3", "later#1"]
    assert known.knowledge.about("凪（女優）") == []
    assert known.knowledge.about("\ud800") == []


@each(
    ("name", "subjects"),
    [
        ("凪 (女優)", ["凪 (女優)"]),
        ("凪（女優）", ["凪 (女優)"]),
        ("凪", ["凪 (女優)", "凪 (曲)"]),
        ("凪 (俳優)", []),
        ("波野凪", ["凪 (女優)"]),
        ("なぎ", ["なぎ", "凪 (女優)"]),
        ("なぎ (犬)", ["なぎ", "凪 (女優)"]),
        ("『黒沢 浜子』", ["黒澤濱子"]),
        ("第十三回Ｍ－１舟唄大会", ["第13回M-1舟唄大会"]),
        ("ai", ["AI"]),
        ("波", []),
        ("", []),
        ("\ud800\x00", []),
    ],
)
def test_a_name_leads_to_its_subjects_the_likeliest_first(
    known: CorpusStore, name: str, subjects: list[str]
) -> None:
    assert known.knowledge.subjects(name) == subjects


def test_the_spelling_asked_for_comes_before_another_one(store: CorpusStore) -> None:
    one, other = Triple("広沢", "種類", ("町", "村")), Triple("廣澤", "種類", ("苗字",))
    store.add(document("k", [one, replace(one, predicate="面積"), other]))
    assert store.knowledge.subjects("廣澤") == ["廣澤", "広沢"]
    assert store.knowledge.subjects("広沢") == ["広沢", "廣澤"]
    assert store.knowledge.subjects("廣沢") == ["広沢", "廣澤"]


@each(
    ("text", "found"),
    [
        ("凪物語の種類は？", [("凪物語", "凪物語")]),
        ("凪の職業は？", [("凪", "凪 (女優)")]),
        (
            "『黒沢 浜子』と「凪（女優）」、年上はどちら？",
            [("黒沢 浜子", "黒澤濱子"), ("凪（女優）", "凪 (女優)")],
        ),
        ("第十三回『M-1舟唄大会』はどこで？", [("第十三回『M-1舟唄大会", "第13回M-1舟唄大会")]),
        ("第百十三回M-1舟唄大会", []),
        ("RAIDとAIの違い", [("AI", "AI")]),
        ("", []),
        ("。、・", []),
        ("\ud800凪\x00", [("凪\x00", "凪 (女優)")]),
    ],
)
def test_mentions_stand_where_the_text_names_a_subject(
    known: CorpusStore, text: str, found: list[tuple[str, str]]
) -> None:
    mentions = known.knowledge.mentions(text)
    assert [(text[of.start : of.end], of.subjects[0]) for of in mentions] == found


def test_mentions_overlap_the_longest_first_at_each_place(store: CorpusStore) -> None:
    names = ["黒沢", "黒沢浜子", "浜子", "浜子物語"]
    store.add(document("k", [Triple(name, "種類", ("名",)) for name in names]))
    text = "黒沢浜子物語"
    found = [text[of.start : of.end] for of in store.knowledge.mentions(text)]
    assert found == ["黒沢浜子", "黒沢", "浜子物語", "浜子"]


def test_a_very_long_text_is_searched_to_its_end(known: CorpusStore) -> None:
    text = "黒" * 20_000 + "黒澤濱子"
    (mention,) = known.knowledge.mentions(text)
    assert (mention.start, mention.end) == (20_000, 20_004)


def test_what_is_removed_leaves_nothing_behind(known: CorpusStore) -> None:
    known.add(document("other", [KNOWN[3], ACTRESS]))
    known.remove("k")
    assert known.knowledge.subjects("黒沢浜子") == []
    assert known.knowledge.subjects("凪") == ["凪 (曲)", "凪 (女優)"]
    known.remove("other")
    assert (rows(known, "triples"), rows(known, "names")) == (0, 0)
    assert known.knowledge.mentions("凪物語") == []
    assert known.check() == []


def test_what_is_replaced_is_known_as_it_is_now(known: CorpusStore) -> None:
    known.replace(document("k", [replace(ACTRESS, objects=("1986年",))]))
    assert [of.triple.objects for of in known.knowledge.about("凪 (女優)")] == [("1986年",)]
    assert (rows(known, "triples"), rows(known, "names")) == (1, 2)
    assert known.check() == []


def test_a_subject_that_cannot_be_seen_is_kept_and_named_by_nothing(store: CorpusStore) -> None:
    unseen = Triple("\u200b", "種類", ("霧",))
    store.add(document("k", [unseen]))
    assert [of.triple for of in store.knowledge.about("\u200b")] == [unseen]
    assert store.knowledge.subjects("\u200b") == []
    assert store.knowledge.mentions("霧の種類") == []
    assert store.check() == []


@pytest.mark.parametrize(
    "hostile",
    [
        Triple("'; DROP TABLE names; --", "の", ("は", "。", "、")),
        Triple("%_*", "a\u3000b", (",", "1,2", "は。")),
        Triple("𠮷" * 200, "長" * 500, tuple("あいうえお" * 20)),
    ],
)
def test_hostile_text_is_kept_as_it_is(store: CorpusStore, hostile: Triple) -> None:
    store.add(document("k", [hostile]))
    assert store.knowledge.subjects(hostile.subject) == [hostile.subject]
    assert store.knowledge.about(hostile.subject)[0].triple == hostile


@each(
    "change",
    [
        {"header": "別人"},
        {"text": "凪 (女優)の生年月日は1986年。"},
        {"triple": None},
        {"layer": "passages"},
        {"triple": replace(ACTRESS, objects=())},
    ],
)
def test_a_passage_that_does_not_say_its_triple_is_refused(
    store: CorpusStore, change: dict[str, str]
) -> None:
    whole = document("k", [ACTRESS])
    broken = replace(whole.passages[0], **change)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"'k#1' does not say its triple"):
        store.add(replace(whole, passages=(broken,)))
    assert list(store.documents()) == []


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ("DELETE FROM triples WHERE passage = 1", "1 passages of triples without a triple"),
        ("DELETE FROM names WHERE rank = 0", "triples without a name"),
        ("UPDATE names SET last = 99 WHERE last = 9", "names of no triple"),
    ],
)
def test_a_check_finds_what_is_missing(known: CorpusStore, damage: str, told: str) -> None:
    with closing(connect(known.path)) as file:
        file.execute(damage)
    assert any(told in problem for problem in known.check())


def test_looking_up_needs_no_index_and_no_writing(known: CorpusStore, tmp_path: Path) -> None:
    with CorpusStore.open(tmp_path / "corpus.sqlite", read_only=True) as reading:
        assert reading.knowledge.about("凪 (女優)")[0].triple == ACTRESS


def test_a_bare_name_surely_means_its_only_subject(known: CorpusStore) -> None:
    (subject, *others) = known.knowledge.subjects("凪")
    assert known.knowledge.surely("凪", subject) is not bool(others)
    assert known.knowledge.surely("凪 (女優)", "凪 (女優)")
    assert known.knowledge.surely("凪（女優）", "凪 (女優)")
    assert not known.knowledge.surely("凪", "誰でもない")


def test_no_more_triples_are_loaded_than_asked_for(known: CorpusStore) -> None:
    everything = known.knowledge.about("凪 (女優)")
    assert known.knowledge.about("凪 (女優)", 1) == everything[:1]
    assert known.knowledge.about("凪 (女優)", 0) == []
