from localrag.search.question.everyday import english_citations
from localrag.search.question.laws import LawNamed

from ....rows import each


def cited(text: str, *names: str) -> list[tuple[str, str]]:
    laws = [LawNamed(name, text.index(name), text.index(name) + len(name), ()) for name in names]
    return [(one.law.words, one.place) for one in english_citations(text, laws)]


@each(
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


@each(
    ("text", "expected"),
    [
        ("Penal Code art. 199 and Civil Code art. 709", [("P", 199), ("C", 709)]),
        ("Civil Code art. 709 and Penal Code art. 199", [("C", 709), ("P", 199)]),
        ("Civil Code, Article 709, Penal Code, Article 199", [("C", 709), ("P", 199)]),
        ("Article 199 Penal Code, Article 709 Civil Code", [("P", 199), ("C", 709)]),
        (
            "Article 199 of the Penal Code and Article 709 of the Civil Code",
            [("P", 199), ("C", 709)],
        ),
        ("Civil Code art. 709 and Article 199 of the Penal Code", [("C", 709), ("P", 199)]),
        ("Article 709 of Japan's Civil Code and Penal Code art. 199", [("C", 709), ("P", 199)]),
        ("the Penal Code punishes in Article 199, and the Civil Code", [("P", 199)]),
        ("Penal Code Art. 1, Civil Code Art. 2 and Art. 3", [("P", 1), ("C", 2), ("C", 3)]),
        (
            "Article 1 of the Penal Code, Article 2 and Article 3 of the Civil Code",
            [("P", 1), ("C", 2), ("C", 3)],
        ),
        ("Article 9 (1) and the Civil Code", [("C", 9)]),
    ],
)
def test_only_of_joins_a_number_to_the_law_behind_it(
    text: str, expected: list[tuple[str, int]]
) -> None:
    names = sorted(filter(text.count, ("Penal Code", "Civil Code")), key=text.index)
    assert [(law[0], place) for law, place in cited(text, *names)] == [
        (law, f"第{number}条") for law, number in expected
    ]


@each(
    ("text", "places"),
    [
        ("Articles 709 and 710 of the Civil Code", ["第709条", "第710条"]),
        ("Civil Code Articles 199 and 235", ["第199条", "第235条"]),
        ("arts. 709, 710 and 715-2 of the Civil Code", ["第709条", "第710条", "第715条の2"]),
        ("Articles 5(1), 6(2), or 7 under the Civil Code", ["第5条第1項", "第6条第2項", "第7条"]),
        ("Article 9 and Article 10 of the Civil Code", ["第9条", "第10条"]),
        ("Articles 5 and 6, 30 days after, of the Civil Code", ["第5条", "第6条"]),
        ("Article 5 and 3 ferries, says the Civil Code", ["第5条"]),
        ("Article 5, 6(2) and 7 of the Civil Code", ["第5条", "第6条第2項", "第7条"]),
        ("Article 5(1), (2) and (4) of the Civil Code", ["第5条第1項", "第5条第2項", "第5条第4項"]),
        ("Article 5(1)(iv) of the Civil Code", ["第5条第1項第4号"]),
        (
            "Article 5(1)(i), (ii) and (2)(ii) of the Civil Code",
            ["第5条第1項第1号", "第5条第1項第2号", "第5条第2項第2号"],
        ),
        (
            "Article 5, paragraphs (1) and (3), Civil Code",
            ["第5条第1項", "第5条第3項"],
        ),
        (
            "Articles 5, paras. 1 and 3, and 9(1) of the Civil Code",
            ["第5条第1項", "第5条第3項", "第9条第1項"],
        ),
        ("Article 5(1) and (2) whether a court, by the Civil Code, may", ["第5条第1項"]),
    ],
)
def test_each_number_of_a_list_is_cited(text: str, places: list[str]) -> None:
    assert cited(text, "Civil Code") == [("Civil Code", place) for place in places]


@each(
    ("text", "places"),
    [
        ("Articles 709 to 712 of the CC", ["第709条から第712条まで"]),
        ("Article 709 through 712 of the CC", ["第709条から第712条まで"]),
        ("Arts. 709–712 of the CC", ["第709条から第712条まで"]),
        ("Articles 709-712 of the CC", ["第709条から第712条まで"]),
        ("Articles 27-2 and 27-3 of the CC", ["第27条の2", "第27条の3"]),
        ("Article 27-36 of the CC", ["第27条の36"]),
        ("Articles 5, 7 to 9 and 12 of the CC", ["第5条", "第7条から第9条まで", "第12条"]),
        ("Articles 709-712 and 715 of the CC", ["第709条から第712条まで", "第715条"]),
        ("Articles 27-36 of the CC", ["第27条から第36条まで"]),
        ("Article 72-117 of the CC", ["第72条の117"]),
        ("Articles 2-3 to 2-9 of the CC", ["第2条の3から第2条の9まで"]),
        ("Articles 27-2 to 27-5 of the CC", ["第27条の2から第27条の5まで"]),
        ("Article 5 to 30 days of the CC", ["第5条"]),
        ("from Article 5 to Article 9 of the CC", ["第5条から第9条まで"]),
        ("Article 5 – Art. 9 and Article 12 of the CC", ["第5条から第9条まで", "第12条"]),
        ("Article 5(1) to (3) of the CC", ["第5条第1項から第5条第3項まで"]),
    ],
)
def test_a_range_is_cited_as_a_whole(text: str, places: list[str]) -> None:
    assert [place for _, place in cited(text, "CC")] == places


@each(
    ("text", "law"),
    [
        ("The CC applies. Article 5 of this Agreement does not.", "this Agreement"),
        (
            "The CC applies. Articles 5 and 6 of the Articles of Incorporation",
            "the Articles of Inc",
        ),
        ("Under the CC, see Article 5 of the Vienna Convention.", "the Vienna Convention"),
        ("Under the CC, see Article 5 hereof.", "hereof"),
        ("The CC applies. Article 5 of the same draft agreement", "the same draft agreement"),
        ("Under the CC, see Article 5 TFEU.", "TFEU"),
        ("Under the CC, see Article 5 of the German BGB.", "BGB"),
    ],
)
def test_what_is_of_no_law_is_of_none_that_is_named(text: str, law: str) -> None:
    assert all(one.startswith(law) for one, _ in cited(text, "CC"))
    assert cited(text, "CC")


def test_where_the_law_of_a_citation_stands_is_told() -> None:
    text = "Articles 1 and 2 of the CC apply, and Article 3. Article 4, too. CC art. 5, see art. 6."
    laws = [LawNamed("CC", at, at + 2, ()) for at in (text.index("CC"), text.rindex("CC"))]
    found = english_citations(text, laws)
    assert [(one.place, one.is_joined, one.is_in_sentence) for one in found] == [
        ("第1条", True, False),
        ("第2条", True, False),
        ("第3条", False, True),
        ("第4条", False, False),
        ("第5条", True, True),
        ("第6条", False, True),
    ]
