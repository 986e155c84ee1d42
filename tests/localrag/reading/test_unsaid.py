"""What a question speaks of most, and nothing that is quoted for it."""

from dataclasses import replace

import pytest

from localrag.corpus.types import ARTICLES, Locator, Passage
from localrag.question.everyday import wordings
from localrag.question.laws import LawNamed
from localrag.reading.types import Citation
from localrag.reading.unsaid import unsaid
from localrag.retrieval.reading import Reading, Retrieval
from localrag.retrieval.scope import Scope
from localrag.retrieval.types import Hit, Query, StageRecord, Trace

QUOTE = "総会を招集するには、会日の五日前までに通知を発しなければならない。"
LAW = LawNamed("渡船法", 0, 3, ("1",))
CITED = Citation("1#4.1", QUOTE)


def found(question: str, *laws: LawNamed) -> Retrieval:
    passage = Passage("1#4", "1", ARTICLES, Locator("", "4"), "渡船組合法 第四条", QUOTE, 0, 33)
    hit = Hit(passage, 1.0, 1, "expand")
    stage = StageRecord("lexical", (hit,), 0.0, wordings=wordings(question))
    return Retrieval((hit,), Trace((stage,)), Reading(Query(question), Scope(laws)))


def told(question: str, *laws: LawNamed) -> str:
    return unsaid(question, found(question, *laws), [CITED], lambda term: float(len(term)))


def test_the_word_of_another_body_is_told() -> None:
    assert told("株主総会の招集通知は何日前までに発するか") == "株主総会"
    assert told("債権者総会の通知") == "債権者総会"


@pytest.mark.parametrize(
    "question",
    [
        # Said as it is, or with something between its words.
        "渡船組合総会の通知",
        "招集通知の時期",
        # Not even its head is quoted: the answer is of something else in any case.
        "株主代表訴訟の提起",
        "総会の通知",
        "",
    ],
)
def test_what_is_quoted_says_the_word_or_none_of_it(question: str) -> None:
    assert told(question) == ""


def test_a_law_that_is_named_tells_what_is_meant() -> None:
    assert told("渡船法の株主総会の招集", LAW) == ""


def test_without_a_quotation_nothing_is_told() -> None:
    question = "株主総会の招集"
    retrieval = replace(found(question), hits=())
    assert unsaid(question, retrieval, [], lambda _: 1.0) == ""
