from pathlib import Path

import pytest

from localrag.corpus.config import load
from localrag.corpus.ingest.add import add
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace
from localrag.errors import IndexUnusable, UsageError
from localrag.search import MAX_CHARACTERS
from localrag.search.pipeline import Retriever
from localrag.search.reading import Retrieval
from localrag.search.types import Filters, Hit, Query

from ...rows import each

ACT, ORDER, ORDINANCE = "599AC0000000001", "599CO0000000002", "599M60000800003"


def ids(retrieval: Retrieval) -> list[str]:
    return [hit.passage.id for hit in retrieval.hits]


def test_every_stage_leaves_its_record_in_order(retriever: Retriever) -> None:
    retrieval = retriever.search(Query("渡し守の資格は何か。"))
    assert [stage.stage for stage in retrieval.trace.stages] == [
        "resolve",
        "lexical",
        "fuse",
        "expand",
    ]
    assert all(stage.seconds >= 0 for stage in retrieval.trace.stages)
    assert retrieval.trace.stages[-1].hits == retrieval.hits
    assert [hit.rank for hit in retrieval.hits] == list(range(1, len(retrieval.hits) + 1))
    scores = [hit.score for hit in retrieval.hits]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    "question",
    [
        "渡し舟の安全及び活用に関する法律第六条の二は何を定めるか。",
        "渡し舟の安全及び活用に関する法律第6条の2は何を定めるか。",
        "渡し舟の安全及び活用に関する法律　第６条の２　は何を定めるか。",
    ],
)
def test_a_provision_named_in_any_spelling_comes_first(retriever: Retriever, question: str) -> None:
    first = retriever.search(Query(question)).hits[0]
    assert first.passage.id == f"{ACT}#6_2"
    assert str(first.reason).startswith("named: ")


def test_a_delegation_is_followed_to_the_order_that_fills_it_in(retriever: Retriever) -> None:
    retrieval = retriever.search(Query(f"{title(retriever, ACT)}第八条第一項の基準"), 5)
    order = next(hit for hit in retrieval.hits if hit.passage.id == f"{ORDER}#4")
    assert str(order.reason).startswith("implements 渡し舟の安全及び活用に関する法律 第八条")


def test_a_provision_named_in_an_option_is_found(retriever: Retriever) -> None:
    question = "事故の報告について定める条文はどれか。"
    options = (f"{title(retriever, ACT)}第十条", f"{title(retriever, ORDER)}第二条")
    resolved = retriever.search(Query(question, options)).trace.stages[0].hits
    assert {hit.passage.id for hit in resolved} == {f"{ACT}#10", f"{ORDER}#2"}
    assert ids(retriever.search(Query(question, options), 1)) == [f"{ACT}#10"]


def test_an_option_s_bare_article_is_of_the_law_the_question_names(retriever: Retriever) -> None:
    query = Query(f"{title(retriever, ACT)}のうち罰則を定めるのはどれか。", ("第三条", "第四条"))
    resolved = retriever.search(query).trace.stages[0].hits
    assert {hit.passage.id for hit in resolved} == {f"{ACT}#3", f"{ACT}#4"}


def test_a_citation_that_leads_nowhere_is_said(retriever: Retriever) -> None:
    retrieval = retriever.search(Query(f"{title(retriever, ACT)}第九百条の罰則は何か。"))
    assert any("第九百条" in str(event) for event in retrieval.trace.events)


@each(
    ("filters", "allowed"),
    [
        (Filters(documents=(ORDER,)), {ORDER}),
        (Filters(law_types=("CabinetOrder",)), {ORDER}),
        (Filters(kinds=("law",)), {ACT, ORDER, ORDINANCE}),
        (Filters(kinds=("law",), law_types=("Act",)), {ACT}),
        (Filters(date_from="1900-01-01"), {ACT, ORDER, ORDINANCE}),
    ],
)
def test_filters_hold_in_every_stage(
    retriever: Retriever, filters: Filters, allowed: set[str]
) -> None:
    question = f"{title(retriever, ACT)}第八条の政令で定める基準"
    retrieval = retriever.search(Query(question, filters=filters), 50)
    found = {hit.passage.document_id for stage in retrieval.trace.stages for hit in stage.hits}
    assert found
    assert found <= allowed


def test_a_layer_filter_keeps_statutes_out(retriever: Retriever) -> None:
    question = f"{title(retriever, ACT)}第八条と渡しの運航"
    retrieval = retriever.search(Query(question, filters=Filters(layers=("passages",))), 50)
    assert retrieval.hits
    assert {hit.passage.layer for hit in retrieval.hits} == {"passages"}


def test_filters_that_allow_nothing_find_nothing(retriever: Retriever) -> None:
    nothing = Filters(documents=("no such document",))
    assert retriever.search(Query("渡し舟", filters=nothing)).hits == ()
    assert retriever.search(Query("渡し舟", filters=Filters(date_to="1800-01-01"))).hits == ()


def test_supplementary_provisions_yield_unless_asked_for(retriever: Retriever) -> None:
    plain = retriever.search(Query("この法律の施行の日はいつか。"), 50).trace.stages[1].hits
    asked = (
        retriever.search(Query("附則にあるこの法律の施行の日はいつか。"), 50).trace.stages[1].hits
    )

    def best(hits: tuple[Hit, ...]) -> float:
        return max(hit.score for hit in hits if "suppl" in hit.passage.id)

    assert best(plain) < best(asked)


@each("text", ["", "  \n", "。、！？…「」", "----"])
def test_a_question_without_a_word_is_refused(retriever: Retriever, text: str) -> None:
    with pytest.raises(UsageError, match="no word"):
        retriever.search(Query(text))


def test_a_question_that_is_a_document_is_refused(retriever: Retriever) -> None:
    assert retriever.search(Query("舟" * MAX_CHARACTERS)).trace.stages
    with pytest.raises(UsageError, match="10,000"):
        retriever.search(Query("舟" * MAX_CHARACTERS, options=("舟",)))


@each(
    "text",
    [
        'header:* OR "a',
        "渡し舟 AND NOT (",
        "\x1b[31m渡し舟",
        "[bold red]渡し舟[/]",
        "\x00渡し舟",
        "舟\u202e守",
    ],
)
def test_no_text_is_a_query_language(retriever: Retriever, text: str) -> None:
    assert len(retriever.search(Query(text)).trace.stages) == 4


def test_the_same_question_gives_the_same_hits(retriever: Retriever) -> None:
    query = Query("渡し舟事業者の登録の取消し")
    assert ids(retriever.search(query)) == ids(retriever.search(query))


def test_english_questions_find_english_pages(retriever: Retriever) -> None:
    hits = retriever.search(Query("Who founded the Quillmere Observatory?"), 3).hits
    assert any("Quillmere" in hit.passage.header for hit in hits)


def test_without_an_index_the_command_that_makes_it_is_named(home: Path) -> None:
    workspace = Workspace.locate(home)
    workspace.init()
    (home / "舟.txt").write_text("渡し舟は川を渡る。", encoding="utf-8")
    add(workspace, "main", [home / "舟.txt"])
    with pytest.raises(IndexUnusable) as caught:
        Retriever.open(workspace, "main", load(workspace))
    assert "localrag index" in caught.value.cure


def test_a_damaged_index_is_an_error_that_names_the_rebuild(sample: Path) -> None:
    workspace = Workspace.locate(sample)
    for file in workspace.corpus("main").bm25.rglob("*.store"):
        file.write_bytes(b"")
    with pytest.raises(IndexUnusable) as caught:
        Retriever.open(workspace, "main", load(workspace))
    assert "--rebuild" in caught.value.cure


def test_what_was_removed_since_the_index_was_built_is_passed_over(sample: Path) -> None:
    workspace = Workspace.locate(sample)
    with CorpusStore.open(workspace.corpus("main").store) as store:
        store.remove(ORDER)
    with Retriever.open(workspace, "main", load(workspace)) as retriever:
        found = retriever.search(Query("水位の基準と運航の制限"), 50)
    assert found.hits
    assert not any(hit.passage.document_id == ORDER for hit in found.hits)


def title(retriever: Retriever, law_id: str) -> str:
    return retriever.store.document(law_id).title
