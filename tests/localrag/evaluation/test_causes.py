"""Why an answer is wrong."""

from localrag.evaluation.answers import cause_of_error
from localrag.evaluation.types import Cause, Gold
from localrag.ops.batch.rows import StageSummary

from ...rows import each

GOLD = (Gold("599AC0000000001", "5"), Gold("599AC0000000001", "7"))
RIGHT, SUB, WRONG = "599AC0000000001#5", "599AC0000000001#7.1", "599AC0000000001#6"


def stages(*found: tuple[str, str, list[str]]) -> list[StageSummary]:
    return [
        StageSummary(stage, subject, "", len(ids), tuple(ids), 0.0) for stage, subject, ids in found
    ]


@each(
    ("expected", "found", "cited"),
    [
        (Cause.SEARCH, [], []),
        (Cause.SEARCH, [("lexical", "", [WRONG])], []),
        (Cause.REASONING, [("lexical", "", [WRONG, RIGHT])], []),
        (Cause.REASONING, [("lexical", "", [WRONG, SUB])], []),
        # What a later stage of the search lost was not there to rest on.
        (Cause.SEARCH, [("lexical", "", [RIGHT]), ("rerank", "", [WRONG])], []),
        # Each subject is a search of its own.
        (Cause.REASONING, [("fuse", "option a", [RIGHT]), ("fuse", "option b", [WRONG])], []),
        # A stage without hits (no reranker) takes nothing away.
        (Cause.REASONING, [("lexical", "", [RIGHT]), ("rerank", "", [])], []),
        (Cause.EVIDENCE, [("lexical", "", [RIGHT]), ("evidence", "", [WRONG])], []),
        (Cause.REASONING, [("lexical", "", [RIGHT]), ("evidence", "", [RIGHT])], []),
        # The context of the model held nothing of it.
        (Cause.EVIDENCE, [("lexical", "", [RIGHT]), ("evidence", "", [])], []),
        (Cause.EVIDENCE, [("lexical", "", [RIGHT])], [WRONG]),
        (Cause.REASONING, [("lexical", "", [RIGHT])], [WRONG, SUB]),
    ],
)
def test_causes(expected: Cause, found: list[tuple[str, str, list[str]]], cited: list[str]) -> None:
    assert cause_of_error(GOLD, stages(*found), cited, answered=True, searched=True) is expected


def test_what_the_corpus_lacks_is_not_the_search_s_fault() -> None:
    def cause(*lacking: Gold, found: str = WRONG) -> Cause:
        hits = stages(("lexical", "", [found]))
        return cause_of_error(GOLD, hits, [], answered=True, searched=True, lacking=lacking)

    assert cause(*GOLD) is Cause.CORPUS
    assert cause(GOLD[0]) is Cause.SEARCH
    assert cause(GOLD[0], found=SUB) is Cause.REASONING


def test_no_answer_is_the_reply_s_fault() -> None:
    assert cause_of_error(GOLD, [], [], answered=False, searched=True) is Cause.REPLY


def test_where_nothing_could_be_missed_the_reasoning_is_wrong() -> None:
    assert cause_of_error(GOLD, [], [], answered=True, searched=False) is Cause.REASONING
    assert cause_of_error((), [], [], answered=True, searched=True) is Cause.REASONING
