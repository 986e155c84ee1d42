import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from localrag_indexes.analysis.normalize import PlainText, normalize, parse_numeral, plain

from ...rows import each

AWKWARD = (
    "㍻㈱ｶﾞﾊﾟが゛①⑱ﬁ葛\U000e0100\u200b\u0301\u3099, 、，・･-－―ーサビ"
    "民⺠⾦規則一○年月(法)第条２７号［］\n"
)


@each(
    ("written", "read"),
    [
        ("⾦商法", "金商法"),
        ("⺠法と会社法の⻑", "民法と会社法の長"),
        ("⼾籍と⿊⿈⾭", "戸籍と黒黄青"),
        ("㊎\uf90a", "金金"),
        ("民\u200b法\ufeff第\u00ad七\u2060百\u202e九条", "民法第七百九条"),
        ("葛\U000e0100飾\ufe00区", "葛飾区"),
        ("か\u3099ｶﾞカﾞe\u0301", "がガガé"),
        ("㋿８年㍻元年㈱㍿", "令和８年平成元年（株）株式会社"),
        ("医薬品，医療機器､医師﹐歯科医師︐薬剤師", "医薬品、医療機器、医師、歯科医師、薬剤師"),
        ("医薬品, 医療機器", "医薬品、医療機器"),
        ("甲･乙·丙•丁‧戊∙己⋅庚", "甲・乙・丙・丁・戊・己・庚"),
        ("5‐6‑7⁃8", "5-6-7-8"),
        ("5–6—7‒8─9", "5―6―7―8―9"),
        ("709ー724条", "709―724条"),
        ("5∼6〰7", "5〜6〜7"),
        ("民法(明治29年)", "民法（明治29年）"),
        ("民法﹙明治29年﹚︵同︶", "民法（明治29年）（同）"),
        ("｢甲｣﹁乙﹂﹃丙﹄", "「甲」「乙」『丙』"),
        ("民法［明治29年法律第89号］5条", "民法（明治29年法律第89号）5条"),
        ("【民法】5条の《商法》第6条", "「民法」5条の「商法」第6条"),
        ("第⑱条②項", "第18条2項"),
        ("第❷条", "第2条"),
        ("令和⑧年⑪月㉓日", "令和8年11月23日"),
        ("二○二六年", "二〇二六年"),
        ("サ－ビス", "サービス"),
        ("人事院規則一〇－四", "人事院規則一〇―四"),
        ("民\u00a0法\u2003第", "民 法 第"),
        ("𝟕𝟎𝟗条", "709条"),
    ],
)
def test_each_character_is_read_as_the_common_one_that_it_looks_like(
    written: str, read: str
) -> None:
    assert plain(written) == read


@each(
    "text",
    [
        "第２７条　ＡＢＣ", "356①二", "会社Ⅳ", "民法709条²", "①条件 ②項目 ③日本",
        "1,000円と1，000円", "五，〇〇〇円", "イ－ハ", "メチル―エチル", "Code (民法) art. 5, 6",
        "【重要】[民法](5)", "甲…乙", "´ ¨", "½",
    ],
)  # fmt: skip
def test_what_readers_tell_apart_stays(text: str) -> None:
    assert plain(text) == text


@given(st.text(alphabet=st.one_of(st.sampled_from(AWKWARD), st.characters())))
def test_spans_are_of_the_text_as_it_is(text: str) -> None:
    read = PlainText(text)
    assert plain(read.text) == read.text
    assert len(read.offsets) == len(read.text) + 1
    assert list(read.offsets) == sorted(read.offsets)
    assert read.span(0, len(read.text))[0] <= len(text)
    for position in range(len(read.text)):
        start, end = read.span(position, position + 1)
        assert 0 <= start < end <= len(text)
        assert read.written(position, position + 1) == text[start:end]
        assert read.place(start) <= position


def test_a_span_has_no_invisible_end_but_its_variation_selector() -> None:
    read = PlainText("葛\U000e0100\u200b飾\ufeff区")
    assert read.text == "葛飾区"
    assert [read.written(at, at + 1) for at in range(3)] == ["葛\U000e0100", "飾", "区"]


def test_every_radical_has_a_form_that_words_are_compared_in() -> None:
    radicals = [chr(code) for code in range(0x2E80, 0x2FE0) if unicodedata.name(chr(code), "")]
    lone = [one for one in radicals if plain(one) == one]
    # Unicode names no ideograph for one of them.
    assert lone == ["\u2e80"]
    assert [one for one in radicals if normalize(one) != normalize(plain(one))] == []


@each(
    ("numeral", "number"),
    [("⑱", 18), ("⼗⼋", 18), ("１８", 18), ("1\u200b8", 18), ("𝟏𝟖", 18), ("㉟", 35)],
)
def test_numerals_are_read_in_every_form(numeral: str, number: int) -> None:
    assert parse_numeral(numeral) == number
