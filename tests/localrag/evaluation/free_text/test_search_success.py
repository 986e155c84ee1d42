"""The table of search success: which gold triple a query is for, and when hits hold it."""

from localrag.answer.types import Derivation, Stage, Step
from localrag.corpus.types import PASSAGES, TRIPLES, Locator, Passage, Triple
from localrag.evaluation.answers import Answered
from localrag.evaluation.searching import searches
from localrag.evaluation.types import Question, StageReading, StageSearch
from localrag.ops.batch.rows import StageSummary
from localrag.search.types import Query

from ....rows import each

K, D, M = Stage.KNOWLEDGE, Stage.DOCUMENTS, Stage.MODEL
BORN = Triple("黒潮レン", "生年月日", ("1981年12月24日",))
WORK = Triple("黒潮レン", "職業", ("映画監督", "画家"))
QUESTION = Question("q", Query("?"), "", derivation=(BORN, WORK))


def record(stage: str, subject: str, passages: tuple[str, ...]) -> StageSummary:
    return StageSummary(stage, subject, "", len(passages), passages, 0.0)


def passage(id_: str, text: str, triple: Triple | None = None, header: str = "") -> Passage:
    layer = TRIPLES if triple else PASSAGES
    return Passage(id_, "d", layer, text, header, Locator(), 0, len(text), triple=triple)


SAID = {
    "born": (passage("born", BORN.text, BORN), "triples"),
    "work": (passage("work", WORK.text, WORK), "triples"),
    "same": (passage("same", "…", Triple("『黒潮レン』", "生まれ", BORN.objects)), "triples"),
    "titled": (passage("titled", "1981年12月24日に生まれた。"), "黒潮レン"),
    "named": (passage("named", "黒潮レン（1981年12月24日 - ）は監督。"), "海の人"),
    "headed": (passage("headed", "1981年12月24日。", header="黒潮レン"), "海の人"),
    "other": (passage("other", "1981年12月24日に開業した。"), "灯台"),
    "without": (passage("without", "黒潮レンは監督である。"), "黒潮レン"),
}


def step(predicate: str = "生年月日", found: Triple | None = None, *tried: Stage) -> Step:
    return Step("?", "黒潮レン", predicate, found, tried[-1] if found else None, 0, tried)


def outcome(one: Step, *records: StageSummary) -> tuple[tuple[StageSearch, ...], int]:
    return searches(Answered("", Derivation((one,)), records), QUESTION, SAID.get)


def evidence(*ids: str) -> StageSummary:
    return record("evidence", "query 1", ids)


@each(
    ("stage", "hit", "found"),
    [
        (K, "born", True),
        (K, "same", True),
        (K, "work", False),
        (K, "named", False),
        (K, "gone", False),
        (D, "titled", True),
        (D, "named", True),
        (D, "headed", True),
        (D, "other", False),
        (D, "without", False),
        (D, "born", False),
    ],
)
def test_hits_that_hold_the_gold_triple(stage: Stage, hit: str, found: bool) -> None:
    success, _ = outcome(step("生年月日", None, stage), evidence(hit))
    assert success == (StageSearch(stage, found, StageReading.NOT_FOUND),)


def test_every_stage_that_was_asked_counts_by_itself() -> None:
    said = step("生年月日", Triple("黒潮 レン", "誕生日", ("１９８１年12月24日",)), K, D)
    success, unsought = outcome(said, evidence("work"), evidence("titled"))
    assert success == (
        StageSearch(K, False, StageReading.NOT_FOUND),
        StageSearch(D, True, StageReading.RIGHT),
    )
    assert unsought == 1
    nothing = record("evidence", "query 1", ())
    assert outcome(step("生年月日", None, K), nothing)[0] == (
        StageSearch(K, False, StageReading.NOT_FOUND),
    )
    wrong = step("生年月日", Triple("黒潮レン", "生年月日", ("1970年",)), K)
    assert outcome(wrong, evidence("born"))[0] == (StageSearch(K, True, StageReading.WRONG),)


def test_what_searches_nothing_is_left_out() -> None:
    assert outcome(step("生年月日", BORN, M), evidence()) == ((), 1)
    assert outcome(step("生年月日", BORN, K), record("analysis", "", ("born",))) == ((), 1)


def test_a_query_is_for_the_likest_triple_of_its_subject() -> None:
    success, _ = outcome(step("職業", WORK, K), evidence("work"))
    assert success == (StageSearch(K, True, StageReading.RIGHT),)
    part = Triple("黒潮レン", "職業", ("画家",))
    assert outcome(step("職業", part, K), evidence("work"))[0][0].reading is StageReading.WRONG


def test_queries_for_no_gold_triple_are_left_out() -> None:
    stranger = Step("?", "灯台", "高さ", None, None, 0, (K,))
    assert outcome(stranger, evidence("born")) == ((), 2)
    assert outcome(step("生年月日", None)) == ((), 2), "it was not asked"


def test_only_what_was_read_for_the_query_counts() -> None:
    other = record("evidence", "query 2", ("born",))
    ranked, read = (
        record(name, "query 1", (hit,)) for name, hit in (("lexical", "born"), ("rerank", "work"))
    )
    one = step("生年月日", None, K)
    assert not outcome(one, other, evidence("work"))[0][0].found
    assert not outcome(one, ranked, read)[0][0].found, "the last stage is what was read"
    assert outcome(one, read, ranked)[0][0].found
