"""Quotations found without a model come before an unsupported answer of a model."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tiny_models.scripted import ScriptedChat

from localrag.answer import wording
from localrag.answer.checking import MismatchKind
from localrag.answer.types import Answer, Cancelled, Nearest, Status, Watch
from localrag.corpus.config import ChatConfig, Config
from localrag.doors.as_json.found import answer_as_json
from localrag.methods.answering import Answerer
from localrag.methods.catalogue import method
from localrag.search.types import Query
from localrag.text.facts import FactKind

from ...rows import each

NOTICE = Query("凧師は、事故が生じたときは何日以内に届け出なければならないか。")
RULE = "十日以内に都道府県知事に届け出なければならない"
NOTHING: dict[str, Any] = {"claims": []}


class Writer:
    """Has a scripted model claim something, on sentences with some words."""

    def __init__(self, play: Callable[..., Any]) -> None:
        self._play = play

    def __call__(self, query: Query, *claims: tuple[str, Sequence[str]]) -> Answer:
        (prompt,) = self._play("generative", query, NOTHING).prompts
        rows = [row.partition(":") for row in prompt.splitlines()]
        numbers = {text: int(number) for number, _, text in rows if number.isdecimal()}
        said = [
            {"text": text, "sentences": [_number(numbers, words) for words in cited]}
            for text, cited in claims
        ]
        return self._play("generative", query, {"claims": said}).answer


def _number(numbers: dict[str, int], words: str) -> int:
    return next(number for text, number in numbers.items() if words in text)


@pytest.fixture
def write(play: Any) -> Writer:
    return Writer(play)


def kinds(answer: Answer) -> list[list[MismatchKind]]:
    return [[one.kind for one in claim.mismatches] for claim in answer.claims]


def test_below_unsupported_are_the_quotations_that_need_no_model(play: Any, write: Writer) -> None:
    wrong = write(NOTICE, ("凧師は、三十日以内に届け出なければならない。", [RULE]))
    assert wrong.status is Status.UNSUPPORTED
    without = play("extractive", NOTICE).answer
    assert without.status is Status.QUOTED
    assert wrong.quotations == without.citations
    assert not {one.passage_id for one in wrong.nearest} & {
        one.passage_id.partition(".")[0] for one in wrong.quotations
    }
    said = answer_as_json(NOTICE, wrong)
    assert [one["quote"] for one in said["quotations"]] == [one.quote for one in without.citations]
    right = write(NOTICE, ("凧師は、十日以内に届け出なければならない。", [RULE]))
    assert (right.status, right.quotations) == (Status.SUPPORTED, ())


def test_a_choice_that_is_not_supported_has_them_too(play: Any, question: Query) -> None:
    reply = {"reason": "期間は九年である。", "label": "b"}
    answer = play("statute-fixed", question, reply).answer
    assert (answer.status is Status.UNSUPPORTED) == bool(answer.quotations)
    assert play("statute-direct", question, reply).answer.quotations == ()


def test_sentences_that_carry_nothing_are_not_cited(write: Writer) -> None:
    claim = "凧師は、事故が生じたときは、十日以内に都道府県知事に届け出なければならない。"
    others = ["市町村長に届け出なければならない", "許可を取り消すことができる"]
    answer = write(NOTICE, (claim, [others[0], RULE, others[1]]))
    assert answer.status is Status.SUPPORTED
    assert {one.passage_id.partition(".")[0] for one in answer.citations} == {"598AC0000000001#6"}
    (left_out,) = [one for one in answer.trace.events if one.kind is FactKind.CITED_FOR_NOTHING]
    assert left_out.fields["n"] == 2


def test_what_each_says_a_part_of_is_cited_by_both(write: Writer) -> None:
    query = Query("大凧を揚げる許可の有効期間と、無許可の罰金はいくらか。")
    claim = "許可の有効期間は三年であり、違反した者は五十万円以下の罰金に処する。"
    answer = write(query, (claim, ["有効期間は、三年", "五十万円以下の罰金"]))
    places = {one.passage_id.partition(".")[0] for one in answer.citations}
    assert places == {"598AC0000000001#3", "598AC0000000001#9"}
    assert not [one for one in answer.trace.events if one.kind is FactKind.CITED_FOR_NOTHING]


@each(
    ("question", "cited", "gives", "lacks"),
    [
        (
            NOTICE.text,
            RULE,
            "凧師は、十日以内に都道府県知事に届け出なければならない。",
            "凧師は、事故が生じたときは、都道府県知事に届け出なければならない。",
        ),
        (
            "大凧を揚げる許可の有効期間は何年か。",
            "有効期間は、三年",
            "許可の有効期間は、三年とする。",
            "許可には有効期間がある。",
        ),
        (
            "許可を受けずに大凧を揚げた者の罰金はいくらか。",
            "五十万円以下の罰金",
            "五十万円以下の罰金に処する。",
            "第三条第一項の規定に違反した者は、罰金に処する。",
        ),
        (
            "大凧を揚げようとする者は、誰の許可を受けなければならないか。",
            "都道府県知事の許可",
            "都道府県知事の許可を受けなければならない。",
            "大凧を揚げようとする者は、許可を受けなければならない。",
        ),
    ],
)
def test_the_kind_asked_for_is_given_or_nothing_is_supported(
    write: Writer, question: str, cited: str, gives: str, lacks: str
) -> None:
    query = Query(question)
    right = write(query, (gives, [cited]))
    assert (right.status, kinds(right)) == (Status.SUPPORTED, [[]])
    both = write(query, (gives, [cited]), (lacks, [cited]))
    assert kinds(both)[0] == []
    wrong = write(query, (lacks, [cited]))
    assert wrong.status is Status.UNSUPPORTED
    assert kinds(wrong) in ([[MismatchKind.ANSWER]], [[MismatchKind.REPEATS]])
    assert wording.verdict(wrong).removeprefix("an answer was made, but ") == wording.mismatch(
        wrong.claims[0].mismatches[0].kind, lacks, lacks
    )


def test_a_provision_about_something_else_is_the_fault_that_is_named(write: Writer) -> None:
    claim = "都道府県知事は、許可を取り消すことができる。"
    answer = write(NOTICE, (claim, ["許可を取り消すことができる"]))
    assert kinds(answer) == [[MismatchKind.SUBJECT]]
    assert "is not about the subject of the question" in wording.verdict(answer)


def test_what_comes_nearest_is_told_before_the_model_is_asked(
    law_home: Path, scripted: Any
) -> None:
    class Leaves(Watch):
        near_by_then: Sequence[Nearest] = ()

        def near(self, nearest: Sequence[Nearest]) -> None:
            self.near_by_then = nearest

        def reading(self, done: int, total: int) -> None:
            raise Cancelled

    watch = Leaves()
    config = Config(chat=ChatConfig(max_tokens=100, write_searches=False))
    model = ScriptedChat(json.dumps(NOTHING))
    with scripted(law_home, model, config) as resources, pytest.raises(Cancelled):
        Answerer(method("generative"), resources).answer(NOTICE, watch)
    assert model.requests == []
    assert "598AC0000000001#6" in [one.passage_id for one in watch.near_by_then]
