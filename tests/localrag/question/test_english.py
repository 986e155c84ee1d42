import pytest

from localrag.question.laws import LawNamed, english_citations


def cited(text: str, *names: str) -> list[tuple[str, str]]:
    laws = [LawNamed(name, text.index(name), text.index(name) + len(name), ()) for name in names]
    return [(one.law.words, one.place) for one in english_citations(text, laws)]


@pytest.mark.parametrize(
    ("citation", "place"),
    [
        ("Article 27-2", "第27条の2"),
        ("article 27-2-3", "第27条の2の3"),
        ("Art. 2, paragraph (1)", "第2条第1項"),
        ("Article 2 para. 1 item 3", "第2条第1項第3号"),
        ("Article 2(1)", "第2条第1項"),
        ("Article 2, paragraph (2), item (xiv)", "第2条第2項第14号"),
        ("Article 2, item (ix)", "第2条第9号"),
    ],
)
def test_an_article_is_read_as_statutes_cite_it(citation: str, place: str) -> None:
    assert cited(f"What does {citation} of the FIEA say?", "FIEA") == [("FIEA", place)]


def test_each_citation_is_of_the_law_that_follows_or_of_the_last() -> None:
    text = "Does Article 5 of the APPI limit Article 9 of the FIEA? And Article 3?"
    laws = ("APPI", "FIEA")
    assert cited(text, *laws) == [("APPI", "第5条"), ("FIEA", "第9条"), ("FIEA", "第3条")]


def test_without_a_law_or_a_number_nothing_is_cited() -> None:
    assert cited("Article 5 of what?") == []
    assert cited("an article of the FIEA, particle 9, Articles of incorporation", "FIEA") == []
