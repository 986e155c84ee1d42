"""Sentences without a citation, checked as claims by a given method."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import localrag
from localrag.answer.types import (
    Answer,
    CheckedEvidence,
    Citation,
    FactCheck,
    Mismatch,
    MismatchKind,
    Stance,
    Status,
    Unanswered,
    Veracity,
)
from localrag.check import CheckReport, check, given
from localrag.errors import ModelUnusable, UsageError
from localrag.language import N_
from localrag.search.types import Trace

from ...rows import each

TEXT = (
    "# 見出しは何も主張しない。\n\n霧ノ瀬川の長さは七百キロメートルである。舟は多いのでしょうか。\n"
    "渡し舟法第4条第3項によれば、登録の有効期間は五年である。"
)
QUOTE = Citation("霧ノ瀬川.md#1", "霧ノ瀬川の長さは七十キロメートルである。", 0, 20, "霧ノ瀬川")


def answer(veracity: Veracity, stance: Stance | None, *, by_code: bool) -> Answer:
    differs = (Mismatch(MismatchKind.FIGURE, "七百キロメートル"),) if by_code else ()
    evidence = CheckedEvidence("長さは", QUOTE, stance=stance, differs=differs, by_code=by_code)
    status = Status.SUPPORTED if by_code else Status.UNSUPPORTED
    return Answer("", (QUOTE,), status, Trace(), checked=FactCheck(veracity, (), (evidence,)))


def judged(corpus: localrag.Corpus, given_answer: Answer) -> tuple[CheckReport, list[str]]:
    asked: list[str] = []

    def judge(claim: str) -> Answer:
        asked.append(claim)
        return given_answer

    return check(corpus.store, given(TEXT), judge=judge), asked


@each(
    ("veracity", "stance", "by_code", "verdict", "kind"),
    [
        (Veracity.REFUTED, Stance.REFUTES, True, "does-not-hold", "claim-contradicted"),
        (Veracity.REFUTED, Stance.REFUTES, False, "not-checked", "model-refutes"),
        (Veracity.SUPPORTED, Stance.SUPPORTS, True, "holds", ""),
        (Veracity.SUPPORTED, Stance.SUPPORTS, False, "not-checked", "model-supports"),
        (Veracity.NOT_ENOUGH, None, False, "not-checked", "evidence-lacks"),
        (Veracity.CONFLICTING, Stance.SUPPORTS, False, "not-checked", "evidence-conflicts"),
    ],
)
def test_only_what_code_has_found_holds_or_does_not(
    corpus: localrag.Corpus,
    veracity: Veracity,
    stance: Stance | None,
    by_code: bool,
    verdict: str,
    kind: str,
) -> None:
    report, asked = judged(corpus, answer(veracity, stance, by_code=by_code))
    assert asked == ["霧ノ瀬川の長さは七百キロメートルである。"]
    (finding,) = (one for one in report.findings if one.part.value == "claim")
    assert finding.verdict.value == verdict
    assert (finding.problem.kind.code if finding.problem else "") == kind
    assert finding.evidence == QUOTE.quote
    assert finding.place.line == 3


@pytest.mark.parametrize("transient", [True, False])
def test_a_model_that_fails_once_leaves_the_rest(corpus: localrag.Corpus, transient: bool) -> None:
    def judge(claim: str) -> Answer:
        error = ModelUnusable(N_("no reply"), N_("again"), kind="X", transient=transient)
        raise Unanswered(error, Trace())

    if not transient:
        with pytest.raises(ModelUnusable):
            check(corpus.store, given(TEXT), judge=judge)
        return
    report = check(corpus.store, given(TEXT), judge=judge)
    kinds = [one.problem.kind.code for one in report.findings if one.problem]
    assert kinds == ["claim-unanswered"]
    assert report.holds


@pytest.mark.parametrize("text", [TEXT, "渡し舟法第4条第3項"], ids=["a claim", "none"])
def test_a_method_that_checks_no_claims_is_refused(corpus: localrag.Corpus, text: str) -> None:
    with pytest.raises(UsageError, match="no claims"):
        corpus.check(text, claims=True)


def test_a_method_that_is_not_there_is_refused(cli: Callable[..., Any], sample: Path) -> None:
    refused = cli("check", "渡し舟法第4条第3項", "--method", "fact-chek")
    assert refused.code == 2
    assert "fact-check" in refused.err
