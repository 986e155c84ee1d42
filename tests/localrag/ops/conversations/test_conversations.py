"""Conversations: listing, searching, naming, and the turns in them."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from localrag.answer.types import Answer, Status
from localrag.errors import NotFoundError
from localrag.ops.conversations.store import Conversations
from localrag.ops.conversations.types import Conversation, Turn, TurnState
from localrag.search.types import Filters, Query, Trace

MakeAnswer = Callable[..., Answer]


def ask(conversations: Conversations, conversation: Conversation, question: str) -> Turn:
    return conversations.begin(conversation.id, Query(question), "main", "", "")


def titles(conversations: Conversations, search: str = "") -> list[str]:
    return [conversation.title for conversation in conversations.list(search)]


def test_an_answer_comes_back_as_it_was_but_for_the_texts_of_its_hits(
    conversations: Conversations, answer: MakeAnswer
) -> None:
    query = Query("水位は？", ("一", "二"), Filters(kinds=("law",), date_from="2020-01-01"))
    talk = conversations.new()
    begun = conversations.begin(talk.id, query, "laws", "statute-options", "qwen3-8b")
    assert conversations.turns(talk.id) == [begun]
    assert begun.state is TurnState.ANSWERING
    conversations.finish(begun.id, answer(), 4.25)
    [turn] = conversations.turns(talk.id)
    assert turn.answer is not None
    [hit] = turn.answer.trace.stages[0].hits
    [whole] = answer().trace.stages[0].hits
    assert hit == replace(whole, passage=replace(whole.passage, text="", triple=None))
    trace = Trace(
        (replace(answer().trace.stages[0], hits=(hit,)),),
        answer().trace.calls,
    )
    assert turn == replace(
        begun, state=TurnState.ANSWERED, seconds=4.25, answer=answer(trace=trace)
    )


def test_a_draft_is_kept_until_the_answer(conversations: Conversations, answer: MakeAnswer) -> None:
    talk = conversations.new()
    cancelled, failed, answered = (ask(conversations, talk, text) for text in "甲乙丙")
    conversations.draft(cancelled.id, ["書き", "かけ"])
    conversations.cancel(cancelled.id, ["書きかけた"])
    conversations.draft(failed.id, ["半分"])
    conversations.fail(failed.id, "The model ended.", "localrag doctor")
    conversations.draft(answered.id, ["まだ"])
    conversations.finish(answered.id, answer(), 1)
    first, second, third = conversations.turns(talk.id)
    assert (first.state, first.draft) == (TurnState.CANCELLED, ("書きかけた",))
    assert (second.state, second.draft) == (TurnState.FAILED, ("半分",))
    assert (second.cause, second.cure) == ("The model ended.", "localrag doctor")
    assert (third.state, third.draft) == (TurnState.ANSWERED, ())
    assert conversations.get(talk.id).state is TurnState.ANSWERED


def test_the_one_changed_last_comes_first(conversations: Conversations, answer: MakeAnswer) -> None:
    first, second = conversations.new("甲"), conversations.new("乙")
    assert titles(conversations) == ["乙", "甲"]
    turn = ask(conversations, first, "水位は？")
    assert titles(conversations) == ["甲", "乙"]
    conversations.rename(second.id, "丙")
    assert titles(conversations) == ["甲", "丙"], "another title is no change of what was said"
    conversations.finish(turn.id, answer(), 1)
    assert titles(conversations) == ["甲", "丙"]
    assert [talk.turns for talk in conversations.list()] == [1, 0]
    assert [talk.title for talk in conversations.list(most=1)] == ["甲"]
    assert conversations.get(first.id).changed > first.changed == first.created


def test_a_conversation_without_a_title_is_called_after_its_first_question(
    conversations: Conversations,
) -> None:
    named, short, long = conversations.new("控え"), conversations.new(), conversations.new()
    for talk in (named, short, long):
        ask(conversations, talk, "  渡し舟の\n 定員は？" if talk is not long else "渡" * 20_000)
        ask(conversations, talk, "次の質問")
    assert conversations.get(named.id).title == "控え"
    assert conversations.get(short.id).title == "渡し舟の 定員は？"
    assert conversations.get(long.id).title == "渡" * 29 + "…"


def test_a_search_looks_into_titles_questions_and_answers(
    conversations: Conversations, answer: MakeAnswer
) -> None:
    ferry, tea = conversations.new("渡し舟 Ferry"), conversations.new("茶会")
    turn = ask(conversations, ferry, "水位は 100% か_？")
    conversations.finish(turn.id, answer(text="ｶﾅと㍍", claims=()), 1)
    ask(conversations, tea, "席は[red]いくつ")
    for search in (
        "ＦＥＲＲＹ",
        "水位",
        "カナ",
        "メートル",
        "ferry カナ 水位",
        "0%",
        "か_",
        " 舟 ",
    ):
        assert titles(conversations, search) == ["渡し舟 Ferry"], search
    assert titles(conversations, "[red]") == ["茶会"]
    for search in ("ferry 席", "%", "_", "'", '"', "水位 OR 席", "\x00[", "* " * 3000):
        assert set(titles(conversations, search)) < {"渡し舟 Ferry", "茶会"}, search
    assert titles(conversations, "") == titles(conversations, " 　") == ["茶会", "渡し舟 Ferry"]
    conversations.rename(tea.id, "集い")
    assert titles(conversations, "茶会") == []


def test_what_is_deleted_is_gone(conversations: Conversations, answer: MakeAnswer) -> None:
    talk, other = conversations.new("甲"), conversations.new("乙")
    turn, kept = ask(conversations, talk, "問い"), ask(conversations, other, "残る問い")
    conversations.finish(turn.id, answer(), 1)
    conversations.delete(talk.id)
    assert titles(conversations) == ["乙"]
    assert conversations.turns(other.id) == [kept]
    for missing in (
        lambda: conversations.get(talk.id),
        lambda: conversations.turns(talk.id),
        lambda: conversations.rename(talk.id, "丁"),
        lambda: conversations.delete(talk.id),
        lambda: ask(conversations, talk, "もう一度"),
        lambda: conversations.draft(turn.id, ()),
        lambda: conversations.finish(turn.id, answer(), 1),
        lambda: conversations.cancel(turn.id),
        lambda: conversations.fail(turn.id, "x"),
    ):
        with pytest.raises(NotFoundError, match="deleted"):
            missing()
    # Ids are not reused: a reference to a deleted one finds nothing.
    assert conversations.new().id > other.id


def test_what_no_file_can_hold_is_replaced(
    conversations: Conversations, answer: MakeAnswer
) -> None:
    talk = conversations.new("題\ud800")
    turn = conversations.begin(talk.id, Query("問\udfff\x00い", ("\ud83d",)), "main", "", "")
    conversations.fail(turn.id, "cause \ud800")
    [read] = conversations.turns(talk.id)
    assert (read.query, read.cause) == (Query("問?\x00い", ("?",)), "cause ?")
    assert turn.query == read.query
    assert titles(conversations) == ["題?"]
    turn = ask(conversations, talk, "x" * 50_000)
    conversations.finish(turn.id, answer(text="", citations=(), status=Status.NOT_FOUND), 0)
    assert conversations.turns(talk.id)[-1].query.text == "x" * 50_000
