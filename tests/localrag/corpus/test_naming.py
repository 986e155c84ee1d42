"""Names are the same however they are written, and a folded text finds its way back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.corpus.readers.triples import triples_document
from localrag.corpus.rows import FoldedText, bare, fold
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Triple

from ...rows import each

SAME = [
    ("ＡＢＣホール", "abcホール"),
    ("ｶﾞﾗｽの靴", "ガラスの靴"),
    ("黒澤 濱子", "黒沢浜子"),
    ("渡邊齋", "渡辺斎"),
    ("渡邉", "渡辺"),
    ("髙﨑", "高崎"),
    ("霞ヶ丘", "霞ケ丘"),
    ("第十三回舟唄大会", "第１３回 舟唄大会"),
    ("二〇二一年の風", "2021年の風"),
    ("〇〇七号", "007号"),
    ("二千万の石", "20000000の石"),
    ("『舟 の 歌』", "舟の歌"),
    ("“舟”の'歌'", "舟の歌"),
    ("アン・リー＝ロウ", "アンリーロウ"),
    ("ス－パ－舟", "スーパー舟"),
    ("F-15", "f15"),
    ("舟〜旅立ち〜", "舟 旅立ち"),
    ("杏（女優）", "杏 (女優)"),
    ("葛\U000e0100城", "葛城"),
    ("Ｃ♯", "C#"),
]


@each(("one", "other"), SAME)
def test_spellings_of_a_name_are_the_same(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@each(
    ("one", "other"),
    [
        ("三菱舟", "四菱舟"),
        ("舟の歌", "船の歌"),
        ("アン", "アーン"),
        ("十", "百"),
        ("万", "千"),
        ("C", "C#"),
        ("C", "C++"),
        ("R&B", "RB"),
    ],
)
def test_other_names_stay_apart(one: str, other: str) -> None:
    assert fold(one) != fold(other)


def test_a_name_of_nothing_but_marks_is_itself() -> None:
    assert fold("・・・") == "・・・"
    assert fold("\u200b\ud800") == ""
    assert fold("") == ""


def test_the_disambiguator_is_what_ends_a_name_in_brackets() -> None:
    assert bare(fold("杏 (女優)")) == "杏"
    assert bare(fold("舟（波の曲）")) == "舟"
    assert bare(fold("(仮)")) == ""
    assert bare(fold("(仮)の舟")) == ""
    assert bare(fold("舟")) == ""


@given(st.text(st.sampled_from("舟澤第十三〇1２aＡ-ーア・ 　『』()ｶﾞé\u0301㍻\ud800\x00")))
def test_a_text_and_a_name_fold_alike(text: str) -> None:
    folded = FoldedText(text)
    assert folded.folded == fold(text) or not folded.folded


@given(st.text(max_size=30), st.data())
def test_a_span_of_the_folded_text_leads_back_to_what_it_was_made_of(
    text: str, data: st.DataObject
) -> None:
    folded = FoldedText(text)
    if not folded.folded:
        return
    start = data.draw(st.integers(0, len(folded.folded) - 1))
    end = data.draw(st.integers(start + 1, len(folded.folded)))
    first, last = folded.span(start, end)
    assert 0 <= first < last <= len(text)
    # The previous character decides how some signs are folded: - is ー after kana.
    assert folded.folded[start:end] in FoldedText(text[:last]).folded


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Cの開発者は誰？", ["C"]),
        ("C#の開発者は誰？", []),
        ("Ｃ＃とＣ♯", []),
        ("C++とC", ["C"]),
        ("+Cや#C", []),
        ("Objective-CやC-3", []),
        ("C&Aのある町", []),
        ("C.NET", []),
        ("C'estの意味", []),
        ("C's author", ["C"]),
        ("『C』", ["C"]),
        ("C-", ["C"]),
        ("C & D", ["C"]),
        ("#" * 5_000 + "+C", []),
    ],
)
def test_signs_are_part_of_a_latin_name(text: str, named: list[str], store: CorpusStore) -> None:
    triples = [Triple("C", "種類", ("言語",))]
    store.add(triples_document("k", "覚書", "triples", "k", triples))
    assert [text[of.start : of.end] for of in store.knowledge.mentions(text)] == named


def test_a_name_with_signs_is_found(store: CorpusStore) -> None:
    triples = [Triple(name, "種類", ("言語",)) for name in ("C", "C#", "C++", "F-15")]
    store.add(triples_document("k", "覚書", "triples", "k", triples))
    found = store.knowledge.mentions("C♯とＣ＋＋とF‑15E、F15")
    assert [of.subjects for of in found] == [("C#",), ("C++",), ("F-15",)]
