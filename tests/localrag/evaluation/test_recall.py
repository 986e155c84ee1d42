"""Gold places and ranked passages."""

from localrag.evaluation.datasets.acquiring import as_documents
from localrag.evaluation.recall import all_at, any_at, excerpted_law, place_of, ranks
from localrag.evaluation.types import Gold

from ...rows import each

LAW = "599AC0000000001"


@each(
    ("passage_id", "place"),
    [
        (f"{LAW}#27_36", Gold(LAW, "27_36")),
        (f"{LAW}#27_36.1.2", Gold(LAW, "27_36")),
        (f"{LAW}_20260401_000#5.1", Gold(LAW, "5")),
        (f"{LAW}#suppl3/2.1", Gold(LAW, "suppl/2")),
        (f"{LAW}#appendix1/", Gold(LAW, "appendix/")),
        (f"{LAW}|27_36|5#1", Gold(LAW, "27_36")),
        ("渡し舟Ｑ＆Ａ|問1 > 答|7#1.2", Gold("渡し舟q&a", "問1 > 答")),
        ("pages/a#b.md#3", Gold("pages/a#b.md", "3")),
        ("no place at all", Gold("", "no place at all")),
    ],
)
def test_where_a_passage_stands(passage_id: str, place: Gold) -> None:
    assert place_of(passage_id) == place


def test_the_first_hit_counts_and_parts_of_an_article_count_for_it() -> None:
    hits = [f"{LAW}#4.1", f"{LAW}#5.2.1", f"{LAW}#5", "599CO0000000002#5"]
    gold = (Gold(LAW, "5"), Gold("599CO0000000002", "5"), Gold(LAW, "6"))
    assert ranks(gold, hits) == (2, 4, 0)
    assert ranks((), hits) == ()
    assert ranks(gold, []) == (0, 0, 0)


def test_another_state_of_a_law_is_the_same_law() -> None:
    gold = (Gold(f"{LAW}_20260401_000000000000000", "5"),)
    assert ranks(gold, [f"{LAW}#4", f"{LAW}|5|12#1"]) == (2,)


def test_an_article_of_the_supplement_is_none_of_the_main_provisions() -> None:
    assert ranks((Gold(LAW, "2"),), [f"{LAW}#suppl1/2"]) == (0,)
    assert ranks((Gold(LAW, "suppl/2"),), [f"{LAW}#2", f"{LAW}#suppl1/2.1"]) == (2,)


def test_what_is_no_statute_is_found_by_its_title_in_any_spelling() -> None:
    gold = (Gold("渡し舟の運航に関するＱ＆Ａ"),)
    assert ranks(gold, ["渡し舟の運航に関する Q&A|問3|0#1"]) == (1,)
    assert ranks(gold, ["渡し舟の運航|問3|0#1"]) == (0,)


def test_any_and_all_at_a_cutoff() -> None:
    found = [(1, 7), (0, 3), (0, 0), ()]
    assert [any_at(found, k) for k in (1, 3, 10)] == [1, 2, 2]
    assert [all_at(found, k) for k in (5, 10)] == [0, 1]


def test_excerpts_are_found_where_they_were_taken_from() -> None:
    row = f'{{"law_id": "{LAW}", "law_title": "渡し舟法", "article": "6_2", "text": "渡し守は"}}\n'
    other = '{"law_id": null, "law_title": "手引", "article": null, "text": "櫂について"}\n'
    first, second = as_documents("x.jsonl", (row + other).encode()).splitlines()
    assert f'"id": "{LAW}|6_2|0"' in first
    assert '"title": "渡し舟法第六条の二"' in first
    assert excerpted_law(f"{LAW}|6_2|0", "渡し舟法第六条の二") == (LAW, "渡し舟法")
    assert '"id": "手引||1"' in second
    assert excerpted_law("手引||1", "手引") is None
    assert excerpted_law(LAW, "渡し舟法") is None
