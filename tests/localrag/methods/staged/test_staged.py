"""`staged`: limits of the model, events of the trace, and missing things."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from localrag.answer.types import Stage, Status, Unanswered
from localrag.errors import ModelUnusable
from localrag.methods.catalogue import method
from localrag.search.types import Filters, Query
from localrag.text.facts import Fact, FactKind, told
from localrag_models.errors import OutOfMemory

from ....rows import each

Staged = Callable[..., Any]
Split = Callable[..., dict[str, Any]]

DIRECTOR = ("『青い灯台』の監督は誰ですか？", "青い灯台", "監督")
BORN = ("Answer1の生年月日はいつですか？", "Answer1", "生年月日")
FOUNDER = ("帆風工房を設立したのは黒潮レンですか？", "帆風工房", "設立者")
POPULATION = ("渡瀬市の人口は何人ですか？", "渡瀬市", "人口")
WORK = ("青凪ハルの職業は何ですか？", "青凪ハル", "職業")
BORN_KURO = ("黒潮レンの生年月日はいつですか？", "黒潮レン", "生年月日")
BORN_AONAGI = ("青凪ハルの生年月日はいつですか？", "青凪ハル", "生年月日")
QUESTION = "『青い灯台』の監督の生年月日はいつですか？"
OLDER = "黒潮レンと青凪ハルはどちらが年上ですか？"
FIRST = {"hit": 1, "object": ""}
NONE = {"hit": 0, "object": ""}
CONCLUDED = (
    "the triples are quoted; that the answer is {!r} is the model's conclusion, which code cannot "
    "compute"
)
UNREAD = {"hit": 0, "triple": None}
UNKNOWN = {"triple": None}


def read(object_: str, hit: int = 1) -> dict[str, Any]:
    return {"hit": hit, "triple": {"subject": "", "predicate": "", "object": object_}}


def test_the_trace_says_what_each_stage_and_call_was_for(staged: Staged, split: Split) -> None:
    unread = [NONE, UNREAD, {"triple": read("1981年")["triple"]}]
    played = staged(QUESTION, split(DIRECTOR, BORN), FIRST, *unread, {"answer": "1981年"})
    purposes = [call.purpose for call in played.trace.calls]
    assert purposes == [
        "decomposition", "knowledge 1", "knowledge 2", "documents 2", "model 2", "answer",
    ]  # fmt: skip
    second = [stage for stage in played.trace.stages if stage.subject == "query 2"]
    assert [stage.stage for stage in second].count("evidence") == 2
    assert all(
        stage.query == "黒潮レンの生年月日はいつですか？"
        for stage in second
        if stage.stage in ("rerank", "lexical")
    )
    assert all(len(stage.hits) <= 10 for stage in second if stage.stage == "rerank")
    assert told(played.answer.doubts) == "query 2 is answered from the model's memory"


def test_the_calls_promised_are_those_made(staged: Staged, split: Split) -> None:
    calls = method("staged").calls
    older = split(BORN_KURO, BORN_AONAGI, comparison="older", sides={1: "黒潮レン", 2: "青凪ハル"})
    fewest = staged(OLDER, older, FIRST, FIRST)
    assert len(fewest.answer.trace.calls) == calls.of(0) == 3
    through = [NONE, UNREAD, {"triple": read("黒潮レン")["triple"]}]
    most = staged(FOUNDER[0], split(*[FOUNDER] * 5), *through * 5, {"answer": "黒潮レン"})
    assert len(most.answer.trace.calls) == calls.most(0) == 17


ROLES = {
    "decomposition": ([], "1-2-3"),
    "knowledge 1": ([0], "1"),
    "documents 1": ([0], "2"),
    "model 1": ([0], "3"),
    "answer": ([0, FIRST], "1"),
}
GOOD = {
    "knowledge 1": FIRST,
    "documents 1": read("黒潮レン"),
    "model 1": {"triple": read("黒潮レン")["triple"]},
    "answer": {"answer": "黒潮レン"},
}


@each("malformed", ["no json", '{"hit": 99}', '{"queries": [', ""])
@each("role", ROLES)
def test_a_malformed_reply_is_asked_for_once_more(
    staged: Staged, split: Split, role: str, malformed: str
) -> None:
    before, stages = ROLES[role]
    replies = [split(FOUNDER) if one == 0 else one for one in before]
    good = GOOD.get(role, split(FOUNDER))
    after = {"decomposition": [FIRST, {"answer": "黒潮レン"}], "answer": []}
    rest = after.get(role, [{"answer": "黒潮レン"}])
    played = staged(FOUNDER[0], *replies, malformed, good, *rest, stages=stages)
    assert played.answer.text == "黒潮レン"
    (failed,) = [call for call in played.trace.calls if call.problem]
    assert failed.purpose == role
    given_up = staged(FOUNDER[0], *replies, malformed, malformed, stages=stages)
    assert isinstance(given_up.error, Unanswered)
    assert given_up.error.kind == "ReplyInvalid"
    assert [call.purpose for call in given_up.trace.calls if call.problem] == [role, role]
    assert len(given_up.trace.calls) == len(replies) + 2


def test_a_failing_model_keeps_the_trace(staged: Staged, split: Split) -> None:
    failed = staged(QUESTION, split(DIRECTOR, BORN), FIRST, OutOfMemory("Broken.", "Mend it."))
    assert isinstance(failed.error, ModelUnusable)
    assert [call.purpose for call in failed.trace.calls] == ["decomposition", "knowledge 1"]


@each(
    ("second", "event"),
    [
        ("Answer2", "it refers to Answer2, which comes later; it was not asked"),
        ("Answer3", "it refers to Answer3, which comes later; it was not asked"),
        ("Answer0", "it refers to Answer0, which comes later; it was not asked"),
        ("answer 5", "it refers to Answer5, which comes later; it was not asked"),
    ],
)
def test_an_answer_that_never_comes_is_not_waited_for(
    staged: Staged, split: Split, second: str, event: str
) -> None:
    query = (f"{second}の生年月日はいつですか？", second, "生年月日")
    played = staged(QUESTION, split(DIRECTOR, query), FIRST)
    assert played.answer.status is Status.NOT_FOUND
    assert played.answer.text == ""
    assert told(played.answer.doubts) == "query 2 was not asked"
    assert event in map(str, played.trace.events)
    first, second_step = played.answer.derivation.steps
    assert first.triple is not None
    assert (second_step.triple, second_step.tried) == (None, ())


def test_what_needs_an_answer_that_was_not_found_is_not_asked(staged: Staged, split: Split) -> None:
    played = staged(QUESTION, split(DIRECTOR, BORN), NONE, stages="1")
    assert "it needs Answer1, which was not found; it was not asked" in map(
        str, played.trace.events
    )
    assert told(played.answer.doubts) == "query 1 was answered at no stage; query 2 was not asked"


def test_without_a_query_the_question_itself_is_asked(staged: Staged, split: Split) -> None:
    played = staged("青い灯台の監督", split(), FIRST, {"answer": "黒潮レン"})
    assert Fact(FactKind.NO_QUERY) in played.trace.events
    (step,) = played.answer.derivation.steps
    assert step.query == "青い灯台の監督"
    assert len(played.requests) == 3


@each("text", ["", "   ", "？！", "『』"])
def test_a_query_without_a_word_is_not_asked(staged: Staged, split: Split, text: str) -> None:
    played = staged(QUESTION, split((text, "青い灯台", "監督")))
    assert Fact(FactKind.WORDLESS) in played.trace.events
    assert played.answer.status is Status.NOT_FOUND


def test_a_hit_that_was_not_shown_is_malformed(staged: Staged, split: Split) -> None:
    played = staged(
        DIRECTOR[0], split(DIRECTOR), {"hit": 31, "object": ""}, {"hit": -1}, stages="1"
    )
    assert isinstance(played.error, Unanswered)
    assert all("hit" in str(call.problem) for call in played.trace.calls[1:])


def test_an_object_that_the_passage_lacks_carries_nothing(staged: Staged, split: Split) -> None:
    played = staged(
        POPULATION[0], split(POPULATION), read("99万人"), {"answer": "99万人"}, stages="2"
    )
    answer = played.answer
    assert (answer.text, answer.status) == ("99万人", Status.UNSUPPORTED)
    assert told(answer.doubts) == "the passage cited for query 1 does not contain '99万人'"
    (citation,) = answer.citations
    assert not citation.verified
    assert str(citation.problem) == "the object is not in the passage"
    (step,) = answer.derivation.steps
    assert step.triple is not None
    assert step.triple.objects == ("99万人",)


def test_width_and_blanks_do_not_matter_and_the_sentence_is_quoted(
    staged: Staged, split: Split
) -> None:
    replies = [read("12万3456人"), {"answer": "12万3456人"}]
    answer = staged(POPULATION[0], split(POPULATION), *replies, stages="2").answer
    assert answer.status is Status.SUPPORTED
    assert [one.quote for one in answer.citations] == ["人口は１２万 3456人である。"]


@each(
    ("named", "asked_with"),
    [
        ("作曲家", "作曲家"),
        ("作曲", "作曲"),
        ("", "映画監督、作曲家"),
        ("船長", "映画監督、作曲家"),
    ],
)
def test_of_several_objects_the_model_may_choose(
    staged: Staged, split: Split, named: str, asked_with: str
) -> None:
    described = ("Answer1とは何ですか？", "Answer1", "意味")
    replies = [{"hit": 1, "object": named}, NONE]
    played = staged(WORK[0], split(WORK, described), *replies, stages="1")
    first, second = played.answer.derivation.steps
    assert first.triple is not None
    assert first.triple.objects == ("映画監督", "作曲家")
    assert second.query == f"{asked_with}とは何ですか？"
    lacking = (
        f"the model named the object {named!r}, which is not in the triple; the triple's own "
        "object is used"
    )
    assert (lacking in map(str, played.trace.events)) is (named == "船長")


def test_a_subject_from_nowhere_carries_nothing(staged: Staged, split: Split) -> None:
    other = ("砂の時計の監督は誰ですか？", "砂の時計", "監督")
    answer = staged(QUESTION, split(other), FIRST, {"answer": "青凪ハル"}).answer
    assert (answer.text, answer.status) == ("青凪ハル", Status.UNSUPPORTED)
    assert told(answer.doubts) == (
        "query 1 asks about '砂の時計', which is neither in the question nor in an earlier answer"
    )


def test_a_piece_of_an_object_is_no_answer_to_go_on_with(
    staged: Staged, split: Split, make_home: Callable[..., Path]
) -> None:
    home = make_home([("海の塔", "所在地", ["東京都"]), ("京都", "花", ["浜木綿"])], {})
    queries = [("海の塔の所在地は？", "海の塔", "所在地"), ("Answer1の花は？", "Answer1", "花")]
    replies = [{"hit": 1, "object": "京都"}, NONE]
    played = staged("海の塔の所在地の花は？", split(*queries), *replies, stages="1", home=home)
    assert played.answer.derivation.steps[1].subject == "東京都"
    short = staged(
        queries[0][0], split(queries[0]), FIRST, {"answer": "京都"}, stages="1", home=home
    )
    assert (short.answer.status, told(short.answer.doubts)) == (
        Status.UNSUPPORTED,
        "no triple contains the answer",
    )


@each("subject", ["青い灯台", "青い灯台 (映画)", "『青い灯台』", "青い 灯台"])
def test_a_subject_may_be_written_in_another_way(
    staged: Staged, split: Split, subject: str
) -> None:
    query = (DIRECTOR[0], subject, "監督")
    played = staged(QUESTION, split(query), FIRST, {"answer": "黒潮レン"})
    assert not any("does not occur" in str(event) for event in played.trace.events)
    assert played.answer.status is Status.SUPPORTED


@each(
    ("reply", "text", "status", "doubt"),
    [
        ("白波ソウタ", "白波ソウタ", Status.UNSUPPORTED, "no triple contains the answer"),
        ("NOTFOUND", "", Status.NOT_FOUND, "the model finds no answer in the triples"),
        ("", "", Status.NOT_FOUND, "the model finds no answer in the triples"),
        ("はい", "YES", Status.UNSUPPORTED, CONCLUDED.format("YES")),
        ("no", "NO", Status.UNSUPPORTED, CONCLUDED.format("NO")),
        ("青い灯台", "青い灯台", Status.UNSUPPORTED, CONCLUDED.format("青い灯台")),
    ],
)
def test_the_short_answer_is_held_against_the_triples(
    staged: Staged, split: Split, reply: str, text: str, status: Status, doubt: str
) -> None:
    answer = staged(DIRECTOR[0], split(DIRECTOR), FIRST, {"answer": reply}).answer
    assert (answer.text, answer.status, told(answer.doubts)) == (text, status, doubt)
    assert len(answer.derivation.triples) == 1


def test_a_corpus_without_triples_passes_on(staged: Staged, split: Split, law_home: Path) -> None:
    query = ("大凧を揚げる許可の有効期間は何年ですか？", "許可", "有効期間")
    played = staged(query[0], split(query), read("三年"), {"answer": "三年"}, home=law_home)
    assert "no triples were found; the model was not asked" in map(str, played.trace.events)
    (step,) = played.answer.derivation.steps
    assert step.tried == (Stage.KNOWLEDGE, Stage.DOCUMENTS)
    (citation,) = played.answer.citations
    assert "三年" in citation.quote
    assert citation.label.startswith("凧揚げ規制法")


def test_a_corpus_without_documents_passes_on(
    staged: Staged, split: Split, make_home: Callable[..., Path]
) -> None:
    home = make_home([("青い灯台", "監督", ["黒潮レン"])], {})
    played = staged(POPULATION[0], split(POPULATION), NONE, UNKNOWN, home=home)
    assert "no documents were found; the model was not asked" in map(str, played.trace.events)
    assert played.answer.status is Status.NOT_FOUND
    assert any("no vectors" in str(event) for event in played.trace.events)


def test_filters_hold(staged: Staged, split: Split) -> None:
    passages = Query(DIRECTOR[0], filters=Filters(layers=("passages",)))
    played = staged(passages, split(DIRECTOR), UNREAD, UNKNOWN)
    assert "the filters match no triples; triples were not searched" in map(
        str, played.trace.events
    )
    triples = Query(DIRECTOR[0], filters=Filters(layers=("triples",)))
    played = staged(triples, split(DIRECTOR), NONE, UNKNOWN)
    assert "the filters match no documents; documents were not searched" in map(
        str, played.trace.events
    )
    kinds = Query(DIRECTOR[0], filters=Filters(kinds=("law",)))
    played = staged(kinds, split(DIRECTOR), UNKNOWN)
    assert played.answer.status is Status.NOT_FOUND


def test_what_does_not_fit_is_left_out(staged: Staged, split: Split) -> None:
    played = staged(
        DIRECTOR[0], split(DIRECTOR), FIRST, {"answer": "黒潮レン"}, stages="1", window=640
    )
    assert any("did not fit" in str(event) for event in played.trace.events)
    assert played.answer.text == "黒潮レン"


def test_a_context_that_holds_no_prompt_is_a_typed_failure(staged: Staged, split: Split) -> None:
    played = staged(DIRECTOR[0], split(DIRECTOR), stages="1", window=200)
    assert isinstance(played.error, Unanswered)
    assert played.error.kind == "ContextExceeded"
    assert "chat.max_tokens" in played.error.cure


def test_an_english_question_gets_english_prompts(staged: Staged, split: Split) -> None:
    query = ("Who directed The Blue Lighthouse?", "The Blue Lighthouse", "director")
    played = staged(query[0], split(query), UNREAD, UNKNOWN, stages="2-3")
    assert all("Reply in JSON" in one or "in JSON" in one for one in played.prompts)
    assert not any("クエリ" in one for one in played.prompts)
