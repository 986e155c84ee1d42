"""Facets: values without a model, and wrong labels."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import localrag
from localrag import language
from localrag.corpus import readers
from localrag.corpus.facets import heading_name, labels, ministries, read_label, read_labels
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Document, Label
from localrag.corpus.workspace import Workspace
from localrag.errors import NotFoundError, StoreError, UsageError
from localrag.search.types import Filters, Query

from ...rows import each


@each(
    ("number", "expected"),
    [
        ("平成十五年厚生労働省令第十二号", ["厚生労働省"]),
        ("平成二十年総務省・法務省・経済産業省令第一号", ["総務省", "法務省", "経済産業省"]),
        ("令和三年カジノ管理委員会規則・国土交通省令第一号", ["カジノ管理委員会", "国土交通省"]),
        ("昭和二十七年人事院規則一一―四", ["人事院"]),
        ("平成元年国家公安委員会規則第一号", ["国家公安委員会"]),
        ("大正十二年内務省・鉄道省令", ["内務省", "鉄道省"]),
        ("昭和二十年第一復員省令第三号", ["第一復員省"]),
        ("平成五年法律第八十八号", []),
        ("平成六年政令第二百六十五号", []),
        ("明治二十年勅令第四号", []),
        ("昭和五年閣令第一号", []),
        ("明治六年太政官布告第六十五号", []),
        ("昭和二十一年憲法", []),
        ("昭和五十一年十二月二十三日内閣総理大臣決定", []),
        ("", []),
        ("Ministry of Ferries", []),
    ],
)
def test_the_number_of_an_ordinance_names_who_made_it(number: str, expected: list[str]) -> None:
    assert list(ministries(number)) == expected


@each(
    ("title", "name"),
    [
        ("第二章の二　公開買付けに関する開示", "公開買付けに関する開示"),
        ("第六章　罰則", "罰則"),
        ("第百二款 特別 の定め", "特別 の定め"),
        ("附　則　（平成一一年一二月二二日法律第一六〇号）　抄", "附則"),
        ("附則", "附則"),
        ("第一章", "第一章"),
        ("Early life", "Early life"),
    ],
)
def test_headings_are_known_without_their_numbers(title: str, name: str) -> None:
    assert heading_name(title) == name


def test_the_answer_of_the_api_tells_the_field(tmp_path: Path) -> None:
    path = tmp_path / "599AC0000000009.xml"
    path.write_text(
        "<law_data_response><law_info><law_id>599AC0000000009</law_id></law_info>"
        "<revision_info><category>海運</category></revision_info><law_full_text>"
        '<Law Era="Reiwa" Year="99" Num="9" LawType="Act" Lang="ja">'
        "<LawNum>令和九十九年法律第九号</LawNum><LawBody><LawTitle>灯台法</LawTitle>"
        "<MainProvision><Paragraph Num='1'><ParagraphNum/><ParagraphSentence><Sentence>"
        "灯台は、光る。</Sentence></ParagraphSentence></Paragraph></MainProvision>"
        "</LawBody></Law></law_full_text></law_data_response>"
    )
    (law,) = (one for one in readers.read(path) if isinstance(one, Document))
    assert law.metadata["field"] == "海運"


@pytest.fixture
def store(sample_home: Path) -> Iterator[CorpusStore]:
    place = Workspace.locate(sample_home).corpus("main")
    with CorpusStore.open(place.store, read_only=True) as store:
        yield store


def matching(store: CorpusStore, **where: Any) -> set[str]:
    return set(store.facets.matching(labels(where)))


def test_of_one_facet_one_value_must_hold_and_of_each_facet_one(store: CorpusStore) -> None:
    acts, orders = matching(store, kind="Act"), matching(store, kind="CabinetOrder")
    assert acts
    assert orders
    assert not acts & orders
    assert matching(store, kind=["Act", "CabinetOrder"]) == acts | orders
    assert matching(store, kind=["act", "cabinet-order"]) == acts | orders
    assert matching(store, kind="Act", year="2117") == acts
    assert matching(store, kind="Act", ministry="国土交通省") == set()
    assert matching(store, chapter="罰則") <= acts


@each(
    ("label", "words"),
    [
        ("kin=Act", ["'kin'", "Did you mean kind?", "ministry"]),
        ("kid=政令", ["'kid'", "Did you mean kind?"]),
        ("law=民法", ["'law'", "--law", "--where takes: kind, ministry"]),
        ("法令名=民法", ["'法令名'", "--law", "kind, ministry"]),
        ("kind=Acta", ["kind=Acta", "Did you mean Act?", "CabinetOrder"]),
        ("kind=政例", ["kind=政例", "Did you mean CabinetOrder?"]),
        ("種別=Boat", ["種別=Boat", "There is: ", "CabinetOrder"]),
        ("ministry=国交省", ["ministry=国交省", "国土交通省"]),
        ("chapter=罰則則", ["罰則"]),
    ],
)
def test_what_is_not_there_is_told_with_what_is_like_it(
    store: CorpusStore, label: str, words: list[str]
) -> None:
    # An unknown facet is a slip of the pen; a value may be of another corpus.
    of_key = label.startswith(("kin=", "kid=", "law=", "法令名="))
    expected = UsageError if of_key else NotFoundError
    with pytest.raises(expected) as raised:
        store.facets.matching((read_label(label),))
    assert all(word in str(raised.value) for word in words)


@each(
    ("label", "cure"),
    [
        ("年=2050", "There is: 1950 to 1988."),
        ("year=19", "There is: 1950 to 1988."),
        ("year=1949年", "There is: 1950 to 1988."),
        ("year=1961", "Did you mean 1960, 1962? There is: 1950 to 1988."),
        (f"year={'9' * 5_000}", "There is: 1950 to 1988."),
        ("dock=12", "There is: 2, 10."),
        ("dock=9", "Did you mean 2, 10? There is: 2, 10."),
    ],
)
def test_of_numbers_only_neighbours_are_like_another(tmp_path: Path, label: str, cure: str) -> None:
    records = tmp_path / "boats.jsonl"
    row = '{"id": "%d", "title": "Boat", "text": "A boat.", "year": "%d", "dock": "%d"}\n'
    years = range(1950, 1990, 2)
    records.write_text("".join(row % (year, year, 10 if year % 4 else 2) for year in years))
    with localrag.open(tmp_path / "home").corpus("main") as corpus:
        corpus.add(records)
        with pytest.raises(NotFoundError) as raised:
            corpus.store.facets.canonical((read_label(label),))
    assert raised.value.cure == cure


def test_a_field_of_records_that_nobody_could_ask_for_is_no_facet(tmp_path: Path) -> None:
    records = tmp_path / "boats.jsonl"
    fields = '"dock": "2", "": "x", "a=b": "y", "chapter": "z"'
    records.write_text(f'{{"id": "1", "title": "Boat", "text": "A boat.", {fields}}}\n')
    with localrag.open(tmp_path / "home").corpus("main") as corpus:
        corpus.add(records)
        assert set(corpus.overview().facets) == {"kind", "dock"}


def test_several_labels_stand_between_semicolons() -> None:
    both = (Label("kind", "政令"), Label("chapter", "罰則"))
    assert read_labels("kind=政令; chapter=罰則") == both
    assert read_labels("kind＝政令；chapter＝罰則;") == both
    assert read_labels("note=a; b") == (Label("note", "a; b"),)


@each("text", ["", "kind", "=Act", "kind=", " = "])
def test_a_label_is_a_key_and_a_value(text: str) -> None:
    with pytest.raises(UsageError, match="KEY=VALUE"):
        read_label(text)


@each("language_in_use", ["en", "ja"])
@each(
    ("written", "meant"),
    [
        ("kind=政令", "kind=CabinetOrder"),
        ("kind=法律", "kind=Act"),
        ("kind=府省令", "kind=MinisterialOrdinance"),
        ("kind=省令", "kind=MinisterialOrdinance"),
        ("kind=Cabinet orders", "kind=CabinetOrder"),
        ("種別=政令", "kind=CabinetOrder"),
        ("文書の種類=政令", "kind=CabinetOrder"),
        ("省庁=国土交通省", "ministry=国土交通省"),
        ("府省=国土交通省", "ministry=国土交通省"),
        ("見出し=罰則", "chapter=罰則"),
        ("Heading=罰則", "chapter=罰則"),
        ("chapter＝第五章　罰則", "chapter=罰則"),
        ("年=令和99年", "year=2117"),
        ("year=令和九十九", "year=2117"),
        ("年=２１１７年", "year=2117"),
    ],
)
def test_words_of_every_language_are_understood(
    store: CorpusStore, written: str, meant: str, language_in_use: str
) -> None:
    language.use(language_in_use)
    try:
        facets = store.facets
        assert facets.canonical(read_labels(written)) == (read_label(meant),)
        assert facets.matching(read_labels(written)) == facets.matching((read_label(meant),))
    finally:
        language.use("en")


def test_what_is_there_is_named_in_the_language_in_use(store: CorpusStore) -> None:
    language.use("ja")
    try:
        with pytest.raises(NotFoundError) as raised:
            store.facets.canonical((read_label("kind=政例"),))
        with pytest.raises(UsageError) as slipped:
            store.facets.canonical((read_label("law=民法"),))
        assert all(word in raised.value.cure for word in ("政令 のこと", "法律", "府省令"))
        assert "CabinetOrder" not in raised.value.cure
        assert "kind（種別）, ministry（府省）" in slipped.value.cure
    finally:
        language.use("en")


def test_own_facets_of_records_keep_their_names(tmp_path: Path) -> None:
    records = tmp_path / "boats.jsonl"
    row = '{"id": "%s", "title": "%s", "text": "A boat.", "種別": "%s"}\n'
    records.write_text(row % ("a", "a", "政令") + row % ("b", "b", "Canoe"), encoding="utf-8")
    with localrag.open(tmp_path / "home").corpus("main") as corpus:
        corpus.add(records)
        facets = corpus.store.facets
        assert facets.canonical(read_labels("種別=政令")) == (Label("種別", "政令"),)
        assert len(facets.matching(read_labels("種別=政令"))) == 1
        assert [one.label for one in facets.like("政", 5)] == [Label("種別", "政令")]


@each(
    ("typed", "first"),
    [
        ("政", "kind=CabinetOrder"),
        ("国土", "ministry=国土交通省"),
        ("罰則", "chapter=罰則"),
        ("種別=法", "kind=Act"),
        ("kind=府", "kind=MinisterialOrdinance"),
        ("kind＝府", "kind=MinisterialOrdinance"),
    ],
)
def test_what_a_part_of_a_value_may_mean_is_offered(
    store: CorpusStore, typed: str, first: str
) -> None:
    label, documents = store.facets.like(typed, 3)[0]
    assert label == read_label(first)
    assert documents == store.facets.counts(label.key)[label.value]


def test_nothing_typed_offers_nothing_and_a_facet_alone_its_values(store: CorpusStore) -> None:
    assert store.facets.like("", 5) == store.facets.like("zzqx", 5) == []
    offered = [one.label.value for one in store.facets.like("kind=", 50)]
    assert offered == [value for value, _ in store.facets.counts("kind").most_common()]
    assert len(store.facets.like("kind=", 2)) == 2


def test_a_damaged_file_of_metadata_is_told(sample: Path) -> None:
    place = Workspace.locate(sample).corpus("main")
    place.layers.mkdir()
    (place.layers / "facets.json").write_text('{"for": 1, "documents": {"a": 3}}')
    with CorpusStore.open(place.store, read_only=True) as store, pytest.raises(StoreError) as told:
        _ = store.facets
    assert "--layers metadata" in told.value.cure


def test_a_model_does_not_gainsay_the_document(sample: Path) -> None:
    place = Workspace.locate(sample).corpus("main")
    place.layers.mkdir()
    law = "599AC0000000001"
    told = f'{{"for": 1, "documents": {{"{law}": [["kind", "Rule"], ["field", "海運"]]}}}}'
    (place.layers / "facets.json").write_text(told)
    with CorpusStore.open(place.store, read_only=True) as store:
        assert law in matching(store, kind="Act")
        assert "Rule" not in store.facets.counts("kind")
        assert matching(store, field="海運") == {law}


def test_only_what_stands_under_a_heading_is_found(sample_home: Path) -> None:
    with localrag.open(sample_home).corpus("main") as corpus:
        every = corpus.search("渡し舟の運航", 50).hits
        found = corpus.search("渡し舟の運航", 50, where={"chapter": "罰則"}).hits
        in_japanese = corpus.search("渡し舟の運航", 50, where={"見出し": "罰則"}).hits
        assert [hit.passage.id for hit in in_japanese] == [hit.passage.id for hit in found]
        spans = corpus.store.facets.spans((Label("chapter", "罰則"),)) or {}
        assert 0 < len(found) < len(every)
        for hit in found:
            passage = hit.passage
            assert any(start <= passage.start < end for start, end in spans[passage.document_id])


@each(
    ("documents", "where", "found"),
    [
        ((), {"chapter": "罰則", "kind": "Act"}, True),
        ((), {"chapter": "罰則", "kind": "CabinetOrder"}, False),
        (("599AC0000000001",), {"chapter": "罰則"}, True),
        (("599CO0000000002",), {"chapter": "罰則"}, False),
    ],
)
def test_headings_meet_other_filters(
    sample_home: Path, documents: tuple[str, ...], where: dict[str, str], found: bool
) -> None:
    with localrag.open(sample_home).corpus("main") as corpus:
        filters = Filters(documents=documents, where=labels(where))
        hits = corpus.search(Query("渡し舟の運航", filters=filters), 50).hits
        assert {hit.passage.document_id for hit in hits} == (
            {"599AC0000000001"} if found else set()
        )


@pytest.mark.parametrize("lexical", [True, False])
def test_filters_reach_words(sample_home: Path, lexical: bool) -> None:
    with localrag.open(sample_home).corpus("main") as corpus:
        wanted = Query("渡し舟", filters=Filters(where=(Label("kind", "CabinetOrder"),)))
        found = corpus.retriever.rank(wanted, 50, words=lexical, meaning=not lexical)
        documents = {hit.passage.document_id for hit in found.hits}
        assert documents
        assert documents <= corpus.store.facets.matching(wanted.filters.where)


def test_the_setting_holds_for_every_question(sample_home: Path) -> None:
    settings = {"retrieval.where": "kind=CabinetOrder; kind=Act"}
    with localrag.open(sample_home, settings).corpus("main") as corpus:
        kinds = {
            corpus.store.document(hit.passage.document_id).metadata.get("law_type")
            for hit in corpus.search("渡し舟", 50).hits
        }
        assert kinds == {"Act", "CabinetOrder"}
        sources = corpus.ask("渡し守の資格は何か。", where={"kind": "CabinetOrder"}).trace.stages
        assert sources[-1].hits


def test_where_on_the_command_line(cli: Callable[..., Any], sample_home: Path) -> None:
    home = ("--home", str(sample_home))
    found = cli(*home, "search", "渡し舟", "--where", "kind=CabinetOrder", "--json")
    assert found.code == 0
    assert '"where"' in found.out
    assert "599CO0000000002" in found.out
    assert '"599AC0000000001#' not in found.out
    japanese = cli(*home, "search", "渡し舟", "--where", "kind=政令")
    assert japanese.code == 0
    assert japanese.out == cli(*home, "search", "渡し舟", "--type", "政令").out
    bad = cli(*home, "search", "渡し舟", "--where", "kind=Boat")
    assert bad.code == 3
    assert "CabinetOrder" in bad.err
    assert cli(*home, "search", "渡し舟", "--where", "kind").code == 2
    for verb in ("search", "ask"):
        unknown = cli(*home, verb, "渡し舟", "--where", "boat=1")
        assert unknown.code == 2
        assert "There is: kind, ministry, era, year, chapter." in unknown.err
