"""A model writes searches in the words of statutes: their hits, and their failures."""

from collections.abc import Callable
from typing import Any

import pytest
from tiny_models.scripted import searches

from localrag.answer.types import Status
from localrag.corpus.config import ChatConfig, Config
from localrag.methods.searches import LONGEST_WORDS
from localrag.search.types import Query
from localrag_models.errors import ServerUnreachable

ACT, ORDER = "599AC0000000001", "599CO0000000002"
# No law of the sample corpus has a word of it.
ASKED = Query("お客さんを向こう岸に渡す仕事は、だれでもやっていいの")
NAME = "渡し舟の安全及び活用に関する法律"
WRITTEN = searches("渡し守の資格 渡し守となる資格を有する者", law=NAME)
NOTHING: dict[str, Any] = {"claims": []}

Play = Callable[..., Any]


@pytest.fixture
def asked(play: Play, sample_home: Any) -> Play:
    """Plays `generative` on the sample corpus, with searches written."""
    config = Config(chat=ChatConfig(max_tokens=300))

    def played(*replies: Any, query: Query = ASKED, config: Config = config) -> Any:
        return play("generative", query, *replies, home=sample_home, config=config)

    return played


def test_what_is_written_finds_the_provision(asked: Play) -> None:
    played = asked(WRITTEN, NOTHING)
    assert [call.purpose for call in played.trace.calls] == ["query", ""]
    assert "渡し守となる" in played.prompts[1] or "資格" in played.prompts[1]
    (told,) = [one for one in played.trace.events if one.kind.name == "SEARCHED_ALSO"]
    assert told.fields["law"] == NAME
    stages = {stage.subject for stage in played.trace.stages}
    assert {"", "search 1"} <= stages


def test_each_search_is_asked_for_by_itself(asked: Play) -> None:
    both = searches("渡し守の資格", "水位 運航してはならない")
    played = asked(both, NOTHING, query=Query("だれでもやっていいの"))
    found = {stage.subject: stage.hits for stage in played.trace.stages if stage.hits}
    assert found["search 1"][0].passage.id != found["search 2"][0].passage.id
    (fused,) = [stage.hits for stage in played.trace.stages if stage.stage == "written"]
    first, second = (found[name][0].passage.id for name in ("search 1", "search 2"))
    ranked = [hit.passage.id for hit in fused]
    assert ranked.index(first) < ranked.index(second)
    assert first in ranked[:2], "beside what the question itself finds first"


@pytest.mark.parametrize("law", ["存在しない法律", "", "渡し舟法第九十九条"])
def test_a_law_that_is_guessed_wrong_hides_nothing(asked: Play, law: str) -> None:
    right = asked(WRITTEN, NOTHING)
    guessed = asked(searches("渡し守の資格 渡し守となる資格を有する者", law=law), NOTHING)
    best = [
        next(one for one in played.trace.stages if one.stage == "written").hits[0].passage.id
        for played in (right, guessed)
    ]
    assert best[0] == best[1]


def test_a_law_that_the_corpus_lacks_is_told_as_a_guess(asked: Play) -> None:
    played = asked(searches("渡し守の資格", law="渡河安全法"), NOTHING)
    told = [str(one) for one in played.trace.events if one.kind.name.startswith("SEARCHED_ALSO")]
    assert told == [
        "also searched, in the model's words: 渡し守の資格 (the model guessed a law that is not in "
        "this corpus: 渡河安全法)"
    ]


@pytest.mark.parametrize(
    "written",
    ["渡し守 資格 渡し守 資格 渡し守 資格", "渡し守資格渡し守資格渡し守資格", "渡し守 渡し守 資格"],
)
def test_words_that_a_model_repeats_are_searched_for_once(asked: Play, written: str) -> None:
    played = asked(searches(written), NOTHING)
    (told,) = [one for one in played.trace.events if one.kind.name == "SEARCHED_ALSO"]
    assert told.fields["words"].replace(" ", "") == "渡し守資格"
    assert [one for one in played.trace.events if one.kind.name == "SEARCH_REPEATED"]


def test_the_same_words_for_several_laws_are_searched_for_once(asked: Play) -> None:
    words = "渡し守の資格"
    written = [(NAME, words), ("会社法", "夜間の灯火"), ("", words)]
    reply = {"searches": [{"law": law, "words": said} for law, said in written]}
    played = asked(reply, NOTHING)
    told = [one for one in played.trace.events if one.kind.name.startswith("SEARCHED_ALSO")]
    assert [one.fields["words"] for one in told] == [words, "夜間の灯火"]


def test_no_search_is_written_where_nothing_is_to_be_rewritten(asked: Play) -> None:
    off = Config(chat=ChatConfig(max_tokens=300, write_searches=False))
    query = Query("渡し守の資格は何か。")
    assert len(asked(NOTHING, query=query, config=off).requests) == 1


@pytest.mark.parametrize("reply", ["検索します", searches("鳶" * (LONGEST_WORDS + 1))])
def test_a_failure_is_told_and_the_question_searched_for(asked: Play, reply: Any) -> None:
    query = Query("渡し守の資格は何か。")
    played = asked(reply, reply, NOTHING, query=query)
    assert played.answer.status in (Status.QUOTED, Status.NOT_FOUND)
    assert any(one.kind.name == "SEARCHES_FAILED" for one in played.trace.events)
    assert [stage for stage in played.trace.stages if stage.stage == "lexical" and stage.hits]


def test_a_server_that_is_away_is_an_error(asked: Play) -> None:
    assert "nobody" in asked(*[ServerUnreachable("nobody answers", "start it")] * 2).error.cause


def test_searches_without_a_word_are_none(asked: Play) -> None:
    played = asked(searches("", "。、"), NOTHING, query=Query("渡し守の資格は何か。"))
    assert {stage.subject for stage in played.trace.stages} == {""}


def test_a_question_that_names_a_law_keeps_to_it(asked: Play) -> None:
    query = Query("渡し舟法では夜の運航は許されますか")
    played = asked(searches("夜間 灯火", law="夜店に関する政令"), NOTHING, query=query)
    (written,) = [one for one in played.trace.stages if one.stage == "written"]
    laws = [hit.passage.document_id for hit in written.hits if hit.passage.layer == "articles"]
    assert laws[0] in (ACT, ORDER)
