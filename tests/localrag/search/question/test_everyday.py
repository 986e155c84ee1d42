from collections import Counter

import pytest

from localrag.search.question.everyday import entries, wordings
from localrag_indexes.analysis import Analyzer

from ....rows import each


def said(question: str) -> list[str]:
    return [wording.said for wording in wordings(question)]


def test_every_entry_of_the_vocabulary_says_something_in_the_law() -> None:
    for entry in entries():
        assert all(entry.said)
        for phrase in entry.phrases:
            assert Analyzer().terms(phrase), entry


def test_no_word_of_the_vocabulary_stands_in_two_entries() -> None:
    analyzer = Analyzer()
    forms: Counter[str] = Counter()
    for entry in entries():
        # English words are one in all their inflections.
        forms.update(
            {" ".join(analyzer.terms(word)) if word.isascii() else word for word in entry.said}
        )
    assert [word for word, count in forms.items() if count > 1 or not word] == []


def test_every_word_of_the_vocabulary_is_found_in_a_question() -> None:
    for entry in entries():
        for word in entry.said:
            # Two lines can have a word with other particles: 相続放棄, 相続を放棄.
            phrases = [set(wording.phrases) for wording in wordings(word)]
            assert any(set(entry.phrases) <= some for some in phrases), word


@each(
    ("question", "words"),
    [
        ("インサイダー取引の罰則", ["インサイダー取引"]),
        ("誇大広告 禁止", ["誇大広告"]),
        ("誇大 広告は", ["誇大 広告"]),
        ("クーリング・オフとは", ["クーリング・オフ"]),
        ("ﾊﾟﾜﾊﾗとは", ["ﾊﾟﾜﾊﾗ"]),
        ("残業代と残業の上限", ["残業代", "残業の上限"]),
        # 家賃の値上げ, 会社を辞め and 年金が払えない stand in the vocabulary.
        ("家賃を値上げすると言われた", ["家賃を値上げ"]),
        ("会社辞めたい", ["会社辞め"]),
        ("年金は払えない", ["年金は払えない"]),
        ("Is insider trading punished?", ["insider trading"]),
        ("third parties and personal data", ["third parties", "personal data"]),
        ("渡し守の服装", []),
        ("", []),
    ],
)
def test_everyday_words_are_found_as_people_write_them(question: str, words: list[str]) -> None:
    assert said(question) == words


@each("question", ["デパートの開店", "自動車の登録", "国家の財政", "教室の妻子"])
def test_a_part_of_a_longer_word_is_no_word(question: str) -> None:
    assert not {"パート", "車", "家", "妻"} & set(said(question))


def test_spans_are_those_of_the_question_as_it_was_written() -> None:
    question = "ｲﾝｻｲﾀﾞｰ取引と ㍻の残業代"
    for wording in wordings(question):
        assert question[wording.start : wording.end] == wording.said
    assert said(question) == ["ｲﾝｻｲﾀﾞｰ取引", "残業代"]


def test_the_longest_word_at_a_place_is_meant() -> None:
    (breach,) = wordings("personal data breach")
    assert any("漏えい" in phrase for phrase in breach.phrases)


def test_a_name_holds_no_everyday_word() -> None:
    question = "公務員法の残業"
    assert said(question) == ["公務員", "残業"]
    assert [wording.said for wording in wordings(question, [(0, 4)])] == ["残業"]


def test_a_plain_word_is_told_from_a_word_of_the_law() -> None:
    by_word = {wording.said: wording.is_plain for wording in wordings("残業 返してほしい")}
    assert by_word == {"残業": False, "返して": True}


@each(
    ("question", "words"),
    [
        ("公訴時効は何年ですか", ["公訴時効"]),
        ("取得時効は何年か", ["取得時効"]),
        ("時効は何年か", ["時効は何年"]),
        ("衆議院議員の任期は何年か", ["議員の任期"]),
    ],
)
def test_a_compound_is_not_read_from_its_middle(question: str, words: list[str]) -> None:
    assert said(question) == words


@pytest.mark.parametrize("question", ["監査役の任期は何年か", "有給休暇は何日もらえるか"])
def test_what_every_office_or_benefit_has_names_none_of_them(question: str) -> None:
    phrases = {phrase for wording in wordings(question) for phrase in wording.phrases}
    assert not {"議員の任期は、四年", "所定給付日数"} & phrases
