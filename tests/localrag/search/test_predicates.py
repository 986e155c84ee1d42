"""How alike predicates are: synonyms, stems, shared words, and what has nothing in common."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.search.predicates import SAID, heard, likeness, terms

from ...rows import each


@each(
    ("asked", "predicate"),
    [
        ("生年月日", "誕生日"),
        ("没年月日", "死没"),
        ("妻", "配偶者"),
        ("母校", "最終学歴"),
        ("本社", "本社所在地"),
        ("原作者", "作者"),
        ("創業", "設立年"),
        ("リリース日", "発売日"),
        ("主題歌を歌った歌手", "主題歌の歌手"),
        ("始まった年", "始まり"),
    ],
)
def test_what_goes_by_several_names_is_alike(asked: str, predicate: str) -> None:
    assert likeness(asked, predicate) > 0.7
    assert likeness(asked, predicate) == pytest.approx(likeness(predicate, asked))


@each(
    ("asked", "predicate"),
    [("血液型", "設立年"), ("身長", "人口"), ("監督", "終点"), ("", "人口"), ("、。", "人口")],
)
def test_what_has_nothing_in_common_is_not(asked: str, predicate: str) -> None:
    assert likeness(asked, predicate) == 0.0


def test_spelling_does_not_matter() -> None:
    assert likeness("ＣＯＯ", "coo") == 1.0


def test_the_nearer_predicate_is_more_alike() -> None:
    assert likeness("父の職業", "父の職業") == 1.0
    assert likeness("父の職業", "職業") > likeness("父の職業", "身長")
    assert likeness("生年月日", "誕生日") > likeness("生年月日", "没年月日")


def test_light_words_say_little() -> None:
    assert heard(terms("市長の名前"), terms("市長は")) == 1.0
    assert heard(terms("名前"), terms("名前は")) == 1.0
    assert heard(terms("市長の名前"), terms("寺の名前")) < 0.5


def test_words_that_were_used_are_worth_less() -> None:
    words = terms("父の父は")
    assert heard(terms("父"), words, [0.5, 0.5]) == 0.5
    assert heard(terms("父"), words, [0.5, 1.0]) == 1.0
    assert heard((), words) == 0.0


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_has_a_likeness_between_0_and_1(one: str, other: str) -> None:
    assert 0.0 <= likeness(one, other) <= 1.0 + 1e-9


@each(
    ("asked", "predicate"),
    [
        ("長いのは", "長さ"),
        ("重かった", "重さ"),
        ("どれほど深く", "深さ"),
        ("造った人", "建造者"),
        ("彫られた", "彫刻"),
        ("植えた人", "植樹"),
        ("築かれた", "築城年"),
    ],
)
def test_verbs_and_qualities_are_alike_to_their_nouns(asked: str, predicate: str) -> None:
    assert heard(terms(predicate), terms(asked)) >= SAID


@each(
    ("asked", "predicate"),
    [
        ("長いのは", "町長"),
        ("出身校", "出身地"),
        ("人口密度", "人口"),
        ("長男", "次男"),
        ("造った人", "建造年"),
        ("造られた年", "建造者"),
    ],
)
def test_what_only_shares_characters_is_not_said(asked: str, predicate: str) -> None:
    assert heard(terms(predicate), terms(asked)) < SAID
