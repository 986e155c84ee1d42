"""How an answer is printed, and how it reads as JSON: what is checked, quoted, lacking or wrong."""

from dataclasses import replace

import pytest

from localrag.answer.checking import Mismatch, MismatchKind
from localrag.answer.types import Answer, Citation, Claim, Status
from localrag.doors.as_json.found import answer_as_json
from localrag.doors.cli.render import QUOTED, print_blocks
from localrag.page.answer import answer_blocks, label
from localrag.search.types import ModelCall, Query, Trace

from ....rows import each

RULE = Citation(
    *("F1#8.1", "渡し守は、", 10, 15, "渡し舟法 第八条 第一項"), state="2026-04-01", verified=True
)
PAGE = Citation("page.md#2", "It was finished in 1871.", 3, 27, "Instruments", verified=True)
CALLED = Trace(calls=(ModelCall("tiny", 100, 0, 7, 0.5),))


def printed(answer: Answer, capsys: pytest.CaptureFixture[str]) -> list[str]:
    print_blocks(answer_blocks(answer, label), QUOTED)
    return capsys.readouterr().out.splitlines()


def test_quotations_promise_no_answer(capsys: pytest.CaptureFixture[str]) -> None:
    quoted = Answer("渡し守は、", (RULE, PAGE), Status.QUOTED, Trace())
    lines = printed(quoted, capsys)
    judge = "closest passages, word for word; check that they answer the question"
    assert lines[0] == f"quoted: the {judge}"
    assert "    F1#8.1  characters 10-15  in force from 2026-04-01" in lines
    assert "    page.md#2  characters 3-27" in lines, "no law has no state"
    lines = printed(replace(quoted, trace=CALLED), capsys)
    assert lines[0] == f"quoted: the model finds no answer; these are the {judge}"


def test_checked_claims_are_supported(capsys: pytest.CaptureFixture[str]) -> None:
    claim = Claim("渡し守が運航する。", (1,), moved=True)
    lines = printed(Answer("x", (RULE,), Status.SUPPORTED, CALLED, (claim,)), capsys)
    assert lines[0] == (
        "supported: every claim is in 1 quotation, found word for word in the source"
    )
    assert lines[2:4] == [
        "渡し守が運航する。 [1]",
        "  code chose these sentences: the model's own do not support the claim",
    ]


def test_quotations_come_before_what_a_model_wrote_in_vain(
    capsys: pytest.CaptureFixture[str],
) -> None:
    claim = Claim("水位は九メートル。", (1,), (Mismatch(MismatchKind.FIGURE, "九メートル"),))
    answer = Answer("x", (PAGE,), Status.UNSUPPORTED, CALLED, (claim,), quotations=(RULE,))
    lines = printed(answer, capsys)
    assert lines[0].startswith("unsupported: ")
    assert lines[2:7] == [
        "What the texts say, word for word; check whether it answers:",
        "  渡し舟法 第八条 第一項",
        "    渡し守は、",
        "    F1#8.1  characters 10-15  in force from 2026-04-01",
        "",
    ]
    assert lines[7:9] == ["Written by the model, not supported:", "  水位は九メートル。 [1]"]


def test_a_law_that_is_lacking_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    beside = replace(RULE, beside=True)
    answer = Answer("", (beside,), Status.QUOTED, Trace(), absent=("会社法", "商法"))
    lines = printed(answer, capsys)
    assert lines[0] == "not in this corpus: 会社法、商法"
    assert lines[1].startswith("quoted: ")
    assert lines[-1].endswith("  in force from 2026-04-01  of a law not named in the question")


@each("kind", MismatchKind)
def test_what_a_claim_says_beyond_its_sentences_is_named(
    kind: MismatchKind, capsys: pytest.CaptureFixture[str]
) -> None:
    claim = Claim("九メートル。", (1,), (Mismatch(kind, "九[bold]\x1b"),))
    answer = Answer("x", (RULE,), Status.UNSUPPORTED, CALLED, (claim,))
    lines = printed(answer, capsys)
    assert lines[0].startswith("unsupported: ")
    assert lines[2] == "九メートル。 [1]"
    assert lines[3].endswith(": 九[bold]␛"), "text of a model is neither markup nor an escape"
    assert len(lines[3]) > len("  : 九[bold]␛"), "it says what is wrong"


def test_what_is_wrong_with_a_whole_claim_does_not_repeat_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    claim = Claim("九メートル。", (1,), (Mismatch(MismatchKind.WORDS, "九メートル。"),))
    lines = printed(Answer("x", (RULE,), Status.UNSUPPORTED, CALLED, (claim,)), capsys)
    assert lines[2:4] == ["九メートル。 [1]", "  the cited text is about other things"]


def test_json_tells_the_same() -> None:
    claim = Claim("九メートル。", (1,), (Mismatch(MismatchKind.FIGURE, "九メートル"),), moved=True)
    citations = (replace(RULE, beside=True),)
    answer = Answer("x", citations, Status.UNSUPPORTED, Trace(), (claim,), absent=("会社法",))
    told = answer_as_json(Query("高さは？"), answer)
    assert (told["status"], told["absent"]) == ("unsupported", ["会社法"])
    assert told["claims"] == [
        {
            "text": "九メートル。",
            "citations": [1],
            "mismatches": [{"kind": "figure", "written": "九メートル"}],
            "moved": True,
        }
    ]
    (citation,) = told["citations"]
    assert (citation["state"], citation["beside"]) == ("2026-04-01", True)
