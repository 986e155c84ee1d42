"""Fact-checking with supplementary context: `fact-check` and its variants.

The steps of the study on AVeriTeC, in its order. Every number is a setting.

1. **Documents.** The 50 passages nearest in meaning to the claim (``method.documents``).
2. **Questions.** One call writes at most 3 questions that check the claim (``method.questions``).
3. **Sentences.** For each question the 3 nearest sentences of these passages
   (``method.sentences``). A reranker chooses them from the 10 nearest (``method.candidates``).
4. **Supplementary context.** One call for each sentence. The model reads 5 sentences on either side
   (``method.around``) and writes, in at most 768 tokens (``method.supplement``), the context that
   the sentence needs. It is put before the sentence.
5. **Verdict.** One call gives one of four labels. By default the prompt says that the slightest
   sign against a claim refutes it (``method.slightest_sign``).

`fact-check` is the baseline: steps 1, 2, 3 and 5. Other names give the further steps in their
order. In `fact-check-rerank-context` only the sentences that the reranker chose get a context. In
`fact-check-context-rerank` all candidates get one, and the reranker reads both.

`fact-check-localrag` is ours. Step 3 also searches for the claim itself, because a contradiction is
often worded like it, and a small model asks for other things. In step 5 code decides:

1. Code compares every sentence with the claim: figures, dates, names, affirmation and denial.
2. One call names the sentences supporting or refuting the claim. Supplementary contexts are in the
   prompt as notes, not as evidence.
3. A sentence refutes the claim if code finds a contradiction. Otherwise it refutes the claim if the
   model says so, and the sentence is about the claim without stating it. It supports the claim if
   the model says so and code finds no difference. Refuted needs a refuting sentence, Supported a
   supporting one, Conflicting both. The answer is `supported` if code confirms all of them.

Source: a study of fact-checking with supplementary context on AVeriTeC.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, Field, create_model

from localrag.answer.checking import covers, mismatches
from localrag.answer.checking.contradicting import contradictions, denies
from localrag.answer.evidence import element
from localrag.answer.extractive import quoted
from localrag.answer.pieces import with_context
from localrag.answer.prompts import Language, language_of
from localrag.answer.types import (
    Answer,
    CheckedEvidence,
    Citation,
    Claim,
    FactCheck,
    Mismatch,
    MismatchKind,
    Stance,
    Status,
    Veracity,
)
from localrag.language import N_
from localrag.methods.catalogue import LONGEST_REASON, Calls, Case, Purpose, register
from localrag.methods.fact_check.finding import (
    FactCheckSettings,
    FoundSentence,
    Step,
    by_question,
    documents,
    put_before,
    questions,
    reranked,
    sentences,
    shown,
    supplemented,
)
from localrag.methods.generative import ClaimChecker
from localrag.methods.toolkit import Toolkit
from localrag.text.facts import Fact, FactKind
from localrag_models.chat import Message

# A sentence is about a claim if it has this share of its words.
_SPEAKS_OF = 0.3


@dataclass(frozen=True, slots=True)
class ComparedSentence:
    """A sentence compared with a claim by code."""

    differs: tuple[Mismatch, ...]  # the parts of the claim that it contradicts
    speaks: bool  # whether it is about the claim
    carries: bool  # whether it states the claim

    @property
    def refutes(self) -> bool:
        """Whether code alone finds that it refutes the claim. Another name is not enough."""
        return any(one.kind is not MismatchKind.NAME for one in self.differs)

    @property
    def stance(self) -> Stance | None:
        """Its stance by code alone; None if code cannot decide."""
        if self.refutes:
            return Stance.REFUTES
        return Stance.SUPPORTS if self.carries else None


def compared(claim: str, found: FoundSentence) -> ComparedSentence:
    """Compare a sentence, with its stem and proviso, with a claim."""
    piece = found.sentence.piece
    text = "\n".join(one.text for one in with_context([piece]))
    headings = [piece.label]
    share = covers(claim, [text], headings=headings)
    # "It was claimed that …, which is not so" has every word of the claim.
    says_all = share == 1 and not mismatches(claim, [text], headings=headings)
    return ComparedSentence(
        contradictions(claim, text, headings=headings),
        speaks=share >= _SPEAKS_OF,
        carries=says_all and denies(text) == denies(claim),
    )


def checked_evidence(toolkit: Toolkit, found: FoundSentence) -> CheckedEvidence:
    """The sentence as evidence, quoted by code."""
    piece = found.sentence.piece
    with toolkit.store() as store:
        # An item of a law comes with its stem.
        own = next(one for one in quoted(store, [piece]) if one.quote == piece.text)
    return CheckedEvidence(found.question, own, found.supplement)


def by_code(evidence: CheckedEvidence, found: ComparedSentence) -> CheckedEvidence:
    """The evidence with the stance found by code alone."""
    if found.stance is None:
        return evidence
    return replace(evidence, stance=found.stance, differs=found.differs, by_code=True)


_VERACITY = {
    (True, True): Veracity.CONFLICTING,
    (True, False): Veracity.SUPPORTED,
    (False, True): Veracity.REFUTED,
    (False, False): Veracity.NOT_ENOUGH,
}


def veracity_of(evidence: Iterable[CheckedEvidence]) -> Veracity:
    """The verdict from the stances of sentences."""
    stances = {one.stance for one in evidence}
    return _VERACITY[Stance.SUPPORTS in stances, Stance.REFUTES in stances]


PURPOSE = "verdict"
"""The final call."""

_MOST_CITED = 8


class VerdictLabel(StrEnum):
    """The published labels."""

    SUPPORTED = "Supported"
    REFUTED = "Refuted"
    NOT_ENOUGH = "Not Enough Evidence"
    CONFLICTING = "Conflicting Evidence/Cherrypicking"


_SAYS: dict[Language, dict[Veracity, str]] = {
    "en": {veracity: VerdictLabel[veracity.name].value for veracity in Veracity},
    "ja": {
        Veracity.SUPPORTED: "裏付けられる",
        Veracity.REFUTED: "反する",
        Veracity.NOT_ENOUGH: "証拠が足りない",
        Veracity.CONFLICTING: "証拠が食い違う、または都合のよい部分だけを取り出している",
    },
}


class VerdictReply(BaseModel):
    """The reply of the final call."""

    sentences: list[int]  # the numbers of the sentences behind the verdict; `_shape` limits them
    # comes first: the label follows from it
    reason: Annotated[str, Field(min_length=1, max_length=LONGEST_REASON)]
    label: VerdictLabel


def concluded(
    case: Case, toolkit: Toolkit, asked: Sequence[str], found: Sequence[FoundSentence]
) -> Answer:
    """Have the model give a label for the claim. Without a sentence it is not asked."""

    def messages(some: Sequence[FoundSentence]) -> tuple[Message, ...]:
        slight = FactCheckSettings.of(case.settings).slightest_sign
        return evidence_prompt(case, toolkit, "fact_check_verdict", some, slightest_sign=slight)

    if not found:
        return _with_verdict(case, toolkit, FactCheck(Veracity.NOT_ENOUGH, tuple(asked)))
    kept = shown(toolkit, found, messages)
    reply = toolkit.ask(messages(kept), _shape(len(kept)), PURPOSE)
    with toolkit.store() as store:
        # A reason may not rest on the claim, which is in doubt.
        checker = ClaimChecker(store, [one.sentence for one in kept], "")
        claim = checker.check(reply.reason, reply.sentences).claim
    veracity = Veracity[reply.label.name]
    evidence = [
        by_code(checked_evidence(toolkit, one), compared(case.query.text, one))
        if one.sentence.number in reply.sentences
        else checked_evidence(toolkit, one)
        for one in kept
    ]
    doubts = []
    # The sentences may state the reason, and still not entail the label.
    if veracity not in (Veracity.NOT_ENOUGH, veracity_of(evidence)):
        doubts.append(Fact(FactKind.BY_WORD_OF_MODEL))
    checked = FactCheck(veracity, tuple(asked), tuple(evidence))
    claims = [claim] if claim.citations else []
    return _with_verdict(case, toolkit, checked, claims, checker.citations, doubts)


def evidence_prompt(
    case: Case, toolkit: Toolkit, name: str, found: Sequence[FoundSentence], **values: object
) -> tuple[Message, ...]:
    """The prompt ``<name>.jinja`` about a claim, with sentences under their questions."""
    texts = [text for one in found for text in (one.question, one.sentence.text, one.supplement)]
    tag = element("text", [case.query.text, *texts])
    return toolkit.prompt(name, case.query, evidence=by_question(found), tag=tag, **values)


def _with_verdict(
    case: Case,
    toolkit: Toolkit,
    checked: FactCheck,
    claims: Sequence[Claim] = (),
    citations: Sequence[Citation] = (),
    doubts: Sequence[Fact] = (),
) -> Answer:
    """The answer with a verdict; `not_found` without enough evidence.

    It is `supported` if code found all claims in their citations, and there is no doubt.
    """
    carried = bool(claims) and not any(claim.mismatches for claim in claims)
    status = Status.SUPPORTED if carried and not doubts else Status.UNSUPPORTED
    if checked.veracity is Veracity.NOT_ENOUGH:
        status = Status.NOT_FOUND
        doubts = doubts or [Fact(FactKind.NOT_ENOUGH_EVIDENCE, n=len(checked.evidence))]
    return Answer(
        text=_SAYS[language_of(case.query.text)][checked.veracity],
        citations=tuple(citations),
        status=status,
        trace=toolkit.trace,
        claims=tuple(claims),
        doubts=tuple(doubts),
        checked=checked,
    )


@cache
def _shape(sentences: int) -> type[VerdictReply]:
    number = Annotated[int, Field(ge=1, le=sentences)]
    listed: Any = Annotated[list[number], Field(max_length=_MOST_CITED)]
    # The field stays first: the reason follows from the sentences.
    return create_model("Verdict", __base__=VerdictReply, sentences=(listed, ...))


_MOST_FINDINGS = 6
_LONGEST_FINDING = 100
# The claim about a sentence that the model has not named.
_DIFFERS: Mapping[Language, str] = {
    "en": "The sentence says otherwise than the claim: {}",
    "ja": "文は主張と異なることを述べる：{}",
}


class FindingsReply(BaseModel):
    """Findings of the shape of `_findings_shape`."""

    findings: list[Any]


def decided(
    case: Case, toolkit: Toolkit, asked: Sequence[str], found: Sequence[FoundSentence]
) -> Answer:
    """Decide by single sentences, see the head of this file. Raises as `concluded`."""

    def messages(some: Sequence[FoundSentence]) -> tuple[Message, ...]:
        bounds = {"most": _MOST_FINDINGS, "longest": _LONGEST_FINDING}
        return evidence_prompt(case, toolkit, "fact_check_findings", some, **bounds)

    if not found:
        return _with_verdict(case, toolkit, FactCheck(Veracity.NOT_ENOUGH, tuple(asked)))
    kept = shown(toolkit, found, messages)
    reply = toolkit.ask(messages(kept), _findings_shape(len(kept)), PURPOSE)
    # Of two findings on one sentence the first counts.
    said = {one.sentence: one for one in reversed(reply.findings)}
    evidence = [
        _weighed(checked_evidence(toolkit, one), compared(case.query.text, one), said.get(number))
        for number, one in enumerate(kept, 1)
    ]
    checked = FactCheck(veracity_of(evidence), tuple(asked), tuple(evidence))
    deciding = [number for number, one in enumerate(evidence, 1) if one.stance]
    with toolkit.store() as store:
        checker = ClaimChecker(store, [one.sentence for one in kept], "")
        claims = []
        for number in deciding:
            own = checker.cite([kept[number - 1].sentence])
            if one := said.get(number):
                claim = checker.check(one.says, [number]).claim
                # Show the deciding sentence, even if another one has more of the words.
                cited = tuple(dict.fromkeys((*own, *claim.citations)))
                claims.append(replace(claim, citations=cited))
            else:
                claims.append(Claim(_differing(case, evidence[number - 1]), own))
    doubts = []
    if deciding and not all(evidence[number - 1].by_code for number in deciding):
        doubts.append(Fact(FactKind.BY_WORD_OF_MODEL))
    return _with_verdict(case, toolkit, checked, claims, checker.citations, doubts)


def _weighed(evidence: CheckedEvidence, found: ComparedSentence, said: Any) -> CheckedEvidence:
    """A sentence with its stance: from code, else from the model if code admits it."""
    if found.refutes:
        return by_code(evidence, found)
    stance = said.relation if said else None
    if stance is Stance.REFUTES and found.differs:
        return replace(evidence, stance=stance, differs=found.differs, by_code=True)
    if stance is Stance.REFUTES and found.speaks and not found.carries:
        return replace(evidence, stance=stance)
    if stance is Stance.SUPPORTS and found.speaks and not found.differs:
        return replace(evidence, stance=stance, by_code=found.carries)
    return evidence


def _differing(case: Case, evidence: CheckedEvidence) -> str:
    words = " / ".join(dict.fromkeys(one.written for one in evidence.differs))
    return _DIFFERS[language_of(case.query.text)].format(words)


@cache
def _findings_shape(sentences: int) -> type[FindingsReply]:
    # The words come first: the relation follows from them.
    found = create_model(
        "ClaimFinding",
        sentence=Annotated[int, Field(ge=1, le=sentences)],
        says=Annotated[str, Field(min_length=1, max_length=_LONGEST_FINDING)],
        relation=Stance,
    )
    findings: Any = Annotated[list[found], Field(max_length=_MOST_FINDINGS)]
    return create_model("ClaimFindings", __base__=FindingsReply, findings=findings)


_SOURCE = N_("study of fact-checking with supplementary context on AVeriTeC")
# Calls for contexts under the default settings: three sentences for each of three questions, or ten
# candidates for each; and three sentences that the claim itself finds.
_SENTENCES, _CANDIDATES, _OF_CLAIM = 9, 30, 3


def _with_context(
    case: Case, toolkit: Toolkit, subject: str, found: Sequence[FoundSentence]
) -> list[FoundSentence]:
    return [put_before(one) for one in supplemented(case, toolkit, subject, found)]


def answer(
    case: Case,
    toolkit: Toolkit,
    *,
    steps: Sequence[Step] = (),
    conclude: Callable[[Case, Toolkit, Sequence[str], Sequence[FoundSentence]], Answer] = concluded,
    of_claim: bool = False,
) -> Answer:
    """Check one claim by the steps at the head of this file.

    `steps` change the sentences of a question, `conclude` is step 5. `of_claim` also searches for
    the claim itself.
    """
    hits = documents(case, toolkit)
    asked = questions(case, toolkit)
    sought = dict.fromkeys((case.query.text, *asked)) if of_claim else asked
    return conclude(case, toolkit, asked, sentences(case, toolkit, hits, tuple(sought), steps))


def _register(name: str, about: str, *settings: str, more: int = 0, **declared: Any) -> None:
    register(
        name,
        about,
        **{"source": _SOURCE} | declared,
        # The last call is saved if nothing is found.
        calls=Calls(fixed=2, more=more),
        checks=True,
        settings=("documents", "questions", "sentences", *settings),
    )(answer)


_register(
    "fact-check",
    N_("a model asks questions about a claim, and judges it by the sentences found"),
    "slightest_sign",
)
_register(
    "fact-check-context",
    N_("like fact-check, and a model writes the missing context before each sentence"),
    "around",
    "supplement",
    "slightest_sign",
    more=_SENTENCES,
    steps=(_with_context,),
)
_register(
    "fact-check-rerank",
    N_("like fact-check, with sentences chosen by a reranker"),
    "candidates",
    "slightest_sign",
    steps=(reranked,),
)
_register(
    "fact-check-rerank-context",
    N_("like fact-check-context, with sentences chosen by a reranker"),
    "candidates",
    "around",
    "supplement",
    "slightest_sign",
    more=_SENTENCES,
    steps=(reranked, _with_context),
)
_register(
    "fact-check-context-rerank",
    N_("like fact-check-context, with sentences chosen by a reranker by their contexts"),
    "candidates",
    "around",
    "supplement",
    "slightest_sign",
    more=_CANDIDATES,
    steps=(_with_context, reranked),
)
_register(
    "fact-check-localrag",
    N_("claims: a model finds sentences about a claim, and code decides whether they refute it"),
    "around",
    "supplement",
    more=_SENTENCES + _OF_CLAIM,
    purpose=Purpose.USE,
    source="",
    steps=(supplemented,),
    conclude=decided,
    of_claim=True,
)
