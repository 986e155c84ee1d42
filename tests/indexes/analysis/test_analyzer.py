from hypothesis import given
from hypothesis import strategies as st

from localrag_indexes.analysis import Analyzer
from localrag_indexes.analysis.analyzer import morphemes, sounds

from ...growth import assert_linear
from ...rows import each

ANALYZER = Analyzer()


@each(
    ("spellings", "terms"),
    [
        (
            ["第二十七条の三十六", "第27条の36", "第２７条の３６", "27条の36", "第２７条 の ３６"],
            ["第27条の36"],
        ),
        (
            ["第二十七条の三十六第一項第二号", "第27条の36第1項第2号", "27条の36 1項 2号"],
            ["第27条の36", "第1項", "第2号"],
        ),
        (["第三号の二", "第3号の2"], ["第3号の2"]),
        (["別表第二", "別表第2", "別表２"], ["別表第2"]),
        (["第三章の二", "第３章の２"], ["第3章の2"]),
        (["平成三年", "平成3年", "㍻３年", "1991年", "一九九一年", "千九百九十一年"], ["1991年"]),
        (["令和元年", "令和一年", "2019年"], ["2019年"]),
        (["昭和二十二年", "昭和22年"], ["1947年"]),
        (["三十日", "30日", "３０日"], ["30", "日"]),
        (["二千万円", "2000万円", "20,000,000円", "２，０００万円"], ["20000000", "円"]),
        (["第二次世界大戦", "第2次世界大戦"], ["第2次", "世界", "大戦"]),
        (["Running studies", "run study", "RUNS, STUDIED"], ["run", "studi"]),
        (["the cat's", "Ｃat’s"], ["cat"]),
    ],
)
def test_spellings_of_one_thing_give_one_term(spellings: list[str], terms: list[str]) -> None:
    for spelling in spellings:
        assert ANALYZER.terms(spelling) == terms, spelling


@each("word", ["一般", "千葉", "第三者", "四国", "百貨店", "万国"])
def test_numerals_inside_words_stay(word: str) -> None:
    assert not any(character.isascii() for term in ANALYZER.terms(word) for character in term)


def test_different_places_give_different_terms() -> None:
    places = ["第27条", "第27条の36", "第36条", "第27項", "第27号", "第27章", "別表第27"]
    assert len({tuple(ANALYZER.terms(place)) for place in places}) == len(places)


def test_particles_punctuation_and_question_words_are_dropped() -> None:
    assert ANALYZER.terms("渡し舟の船頭は、どこに届け出ますか？") == ["渡し舟", "船頭", "届け出"]
    assert ANALYZER.terms("What is the duty of a ferryman?") == ["duti", "ferryman"]
    assert ANALYZER.terms("。、！？ … \n　「」") == []
    assert ANALYZER.terms("") == []


def test_spans_point_into_the_original_text() -> None:
    text = "㍻三年の㈱ミナト、ｶﾞﾗｽ第２７条の３６。Ferries’ rules"
    spans = [(token.term, text[token.start : token.end]) for token in ANALYZER.tokens(text)]
    assert spans == [
        ("1991年", "㍻三年"),
        ("株", "㈱"),
        ("ミナト", "ミナト"),
        ("ガラス", "ｶﾞﾗｽ"),
        ("第27条の36", "第２７条の３６"),
        ("ferri", "Ferries"),
        ("rule", "rules"),
    ]


@given(
    st.text(
        alphabet=st.one_of(
            st.sampled_from("第二十七条の三十六項号平成年0159.,a’s日円 　。がｶﾞ㍻株式会社別表5"),
            st.characters(),
        )
    )
)
def test_terms_and_tokens_agree_on_any_text(text: str) -> None:
    tokens = ANALYZER.tokens(text)
    assert [token.term for token in tokens] == ANALYZER.terms(text)
    assert all(0 <= token.start < token.end <= len(text) for token in tokens)
    assert [token.start for token in tokens] == sorted(token.start for token in tokens)
    assert all(len(token.term.split()) == 1 for token in tokens)


def test_text_of_any_length_is_analysed_piece_by_piece() -> None:
    text = "渡し舟の船頭は川開きの日までに届け出る。" * 5000
    assert ANALYZER.terms(text) == ANALYZER.terms(text[:20]) * 5000


@each("character", "あ5a第")
def test_hostile_text_takes_linear_time(character: str) -> None:
    assert_linear(lambda size: ANALYZER.terms(character * size), 20_000)


def test_nul_and_lone_surrogates_hide_nothing() -> None:
    assert ANALYZER.terms("船頭\x00届け出\ud800川開き") == ANALYZER.terms("船頭届け出川開き")


def test_morphemes_tell_what_the_dictionary_says_of_each_word():
    text = "三重県で 三人が\n行わなかった。"
    found = morphemes(text)
    assert all(text[one.start : one.end] == one.surface for one in found)
    kinds = {one.surface: one.kind for one in found}
    assert kinds["三重"].startswith("名詞-固有名詞")
    assert kinds["三"] == "名詞-数詞"
    assert next(one.lemma for one in found if one.surface == "行わ") == "行う"
    assert morphemes("") == []


def test_a_word_sounds_as_it_can_be_read():
    assert "ミンポー" in sounds("民放") & sounds("民法")
    assert "トッキョホー" in sounds("特許方") & sounds("特許法")
    assert sounds("刑事").isdisjoint(sounds("刑法"))
    assert sounds("民亊") == frozenset()


def test_morphemes_of_a_long_text_keep_their_places():
    text = "渡し舟は川を渡る。" * 2_000
    found = morphemes(text)
    assert "".join(one.surface for one in found) == text
    assert found[-1].end == len(text)
