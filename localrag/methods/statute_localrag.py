"""`statute-localrag`: compare every option with its provisions, and let code choose.

1. **Evidence for each option.** All stages search for the question with all options, and with each
   option. Hits of both come first, with the order that implements a provision (政令で定める) right
   behind it. If the option is the place of a provision, that provision comes before all others.
2. **Sentences** that may decide the option, numbered, with stems and neighbours. If the option is a
   place, all sentences of its provision come first.
3. **Findings.** One call for each option: numbers of sentences, what differs, and whether the
   sentence agrees (一致), contradicts (矛盾) or decides nothing (無関係). The question is turned
   first, so that it asks for the agreeing option. The model sees neither the real question nor
   the other options, so no error spreads. Code inserts the quoted words.
4. **Verdicts by code.** An option deviates if a finding contradicts it. It agrees if one agrees and
   none contradicts.
5. **The polarity of the question** selects the agreeing option, or the deviating one.
6. **Ties** and unknown options are decided by agreement with the same evidence
   (`localrag.methods.agreement`), else by retrieval, never by position. Such an answer is
   `unsupported`, with an event: no quotation separates the options.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, Field, create_model

from localrag.answer.evidence import Sentence, element, passages_of
from localrag.answer.extractive import quoted
from localrag.answer.prompts import Language, language_of
from localrag.answer.types import Answer, Citation, Claim, Status
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Passage
from localrag.language import N_
from localrag.law.citations import find_citations
from localrag.methods.agreement import is_held_out, judge
from localrag.methods.agreement.evidence import LawText, provisions_found
from localrag.methods.catalogue import Calls, Case, Purpose, labelled, register
from localrag.methods.extractive import EVIDENCE
from localrag.methods.polarity import Polarity, affirmed, polarity_of
from localrag.methods.toolkit import Toolkit
from localrag.search.reading import RESOLVE, Retrieval
from localrag.search.types import Hit, Query
from localrag.text.facts import Fact, FactKind
from localrag_indexes.analysis.normalize import compact
from localrag_indexes.fusion import reciprocal_rank_fusion
from localrag_models.chat import Message


class OptionRelation(StrEnum):
    """The relation of a provision to an option, in the words of the reply."""

    AGREES = "一致"
    CONTRADICTS = "矛盾"
    UNRELATED = "無関係"


class ProvisionVerdict(StrEnum):
    """The verdict of the provisions on an option; the first two are those of `Polarity`."""

    AGREES = "agrees"
    DEVIATES = "deviates"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class CitedFinding:
    """A cited sentence and its relation to an option."""

    citations: tuple[Citation, ...]  # its words with stem and proviso, inserted by code
    relation: OptionRelation  # as the model says
    difference: str = ""  # in the words of the model


Findings = Mapping[str, Sequence[CitedFinding]]
"""Findings by the label of the option."""

_SAYS: Mapping[Language, Mapping[ProvisionVerdict, str]] = {
    "ja": {
        ProvisionVerdict.AGREES: "{} は条文と一致する",
        ProvisionVerdict.DEVIATES: "{} は条文と矛盾する",
        ProvisionVerdict.UNKNOWN: "{} の当否を決める条文は確認できない",
    },
    "en": {
        ProvisionVerdict.AGREES: "{} agrees with the provisions",
        ProvisionVerdict.DEVIATES: "{} contradicts the provisions",
        ProvisionVerdict.UNKNOWN: "no provision was found that decides {}",
    },
}


def verdict_of(findings: Sequence[CitedFinding]) -> ProvisionVerdict:
    """The verdict: one contradiction outweighs every agreement."""
    relations = {finding.relation for finding in findings}
    if OptionRelation.CONTRADICTS in relations:
        return ProvisionVerdict.DEVIATES
    if OptionRelation.AGREES in relations:
        return ProvisionVerdict.AGREES
    return ProvisionVerdict.UNKNOWN


def remaining(verdicts: Mapping[str, ProvisionVerdict], polarity: Polarity) -> list[str]:
    """The labels with the wanted verdict; without one the unknown options, else all."""
    for verdict in (ProvisionVerdict(polarity), ProvisionVerdict.UNKNOWN):
        labels = [label for label, found in verdicts.items() if found is verdict]
        if labels:
            return labels
    return list(verdicts)


def claims_of(findings: Findings, language: Language) -> tuple[list[Claim], list[Citation]]:
    """A claim for each option, and citations of the findings with its final verdict only."""
    claims: list[Claim] = []
    citations: list[Citation] = []
    for label, found in findings.items():
        verdict = verdict_of(found)
        text = _SAYS[language][verdict].format(label)
        numbers: dict[int, None] = {}
        differences: dict[str, None] = {}
        for finding in found:
            if _MEANS.get(finding.relation) is not verdict:
                continue
            if verdict is ProvisionVerdict.DEVIATES and finding.difference:
                differences[finding.difference] = None
            for citation in finding.citations:
                if citation not in citations:
                    citations.append(citation)
                numbers[citations.index(citation) + 1] = None
        told = f"{text}: {' / '.join(differences)}" if differences else text
        claims.append(Claim(told, tuple(numbers)))
    return claims, citations


_MEANS = {
    OptionRelation.AGREES: ProvisionVerdict.AGREES,
    OptionRelation.CONTRADICTS: ProvisionVerdict.DEVIATES,
}


MERGE, DECIDE = "merge", "decide"
"""Stages: the merged ranking of an option, and the choice."""

_DEPTH, _SHOWN = 20, 8
_MOST_FINDINGS = 3
_LONGEST_DIFFERENCE = 80
# Hits of an option that count for its support.
_TELLING = 3

_BLANK = re.compile(r"[［\[（(〔【][\s_＿…‥・]*[］\])）〕】]|[_＿]{2,}|空欄")
_AFTER_A_PLACE = re.compile(r"(?:本文|ただし書き?|但書|前段|後段|各号|の規定)?[\s。．.)）」]*")


@dataclass(frozen=True, slots=True)
class OptionEvidence:
    """The hits for one option."""

    hits: tuple[Hit, ...]  # best first
    # the provision whose place the option is, first of the hits; None for a statement
    cited: Passage | None
    support: float  # score of the option's best hits in the search for the whole question


class OptionFindingsReply(BaseModel):
    """Findings of the shape of `_shape`."""

    findings: list[Any]


@register(
    "statute-localrag",
    N_("legal questions with options: a model compares each with provisions, and code chooses"),
    purpose=Purpose.USE,
    calls=Calls(per_option=1),
    chooses=True,
)
def answer(case: Case, toolkit: Toolkit) -> Answer:
    """Answer one question by the steps at the head of this file."""
    asked, polarity = case.query, polarity_of(case.query.text)
    turned = replace(asked, text=affirmed(asked.text))
    if polarity_of(turned.text) is not Polarity.AGREES:
        toolkit.note(DECIDE, [Fact(FactKind.NOT_TURNED)])
    evidence = gather(toolkit, asked)
    findings = {
        label: _findings(toolkit, turned, label, option, evidence[label])
        for label, option in labelled(asked.options)
    }
    verdicts = {label: verdict_of(found) for label, found in findings.items()}
    left = remaining(verdicts, polarity)
    chosen = left[0] if len(left) == 1 else _untied(toolkit, asked, left, evidence)
    claims, citations = claims_of(findings, language_of(asked.text))
    made = toolkit.answer(asked, chosen, claims, citations)
    if left == [chosen] and verdicts[chosen] is ProvisionVerdict(polarity):
        return replace(made, status=Status.SUPPORTED, doubts=())
    doubt = Fact(FactKind.ELIMINATED if left == [chosen] else FactKind.UNDECIDED)
    return replace(made, status=Status.UNSUPPORTED, doubts=(doubt,))


def gather(toolkit: Toolkit, asked: Query) -> dict[str, OptionEvidence]:
    """Step 1: the evidence for each option, by its label."""
    whole = toolkit.retrieve(asked, _DEPTH, subject="question")
    weights = {hit.passage.id: hit.score for hit in whole.hits}
    evidence = {}
    for label, option in labelled(asked.options):
        subject = f"option {label}"
        own = toolkit.retrieve(replace(asked, options=(option,)), _DEPTH, subject=subject)
        hits = _merged(own, whole)
        with toolkit.store() as store:
            cited = _cited(store, asked.text, option, own)
        if cited is not None:
            rest = [hit for hit in hits if hit.passage.id != cited.id]
            reason = Fact(FactKind.PLACE_OF_OPTION)
            hits = [Hit(cited, hits[0].score, 1, MERGE, reason), *rest]
        shown = tuple(replace(hit, rank=rank) for rank, hit in enumerate(hits[:_SHOWN], 1))
        toolkit.note(MERGE, (), shown, subject=subject)
        support = sum(weights.get(hit.passage.id, 0.0) for hit in own.hits[:_TELLING])
        evidence[label] = OptionEvidence(shown, cited, support)
    return evidence


def _merged(own: Retrieval, whole: Retrieval) -> list[Hit]:
    """The hits of both searches by rank, implementing orders right behind their provisions."""
    known: dict[str, Hit] = {}
    for hit in (*whole.hits, *own.hits):
        if hit.reason or hit.passage.id not in known:
            known[hit.passage.id] = hit
    rankings = [[hit.passage.id for hit in found.hits] for found in (own, whole)]
    fused = reciprocal_rank_fusion(rankings)
    ranked = [replace(known[unit], score=score, stage=MERGE) for unit, score in fused.items()]
    filling: dict[str, Hit] = {}
    for hit in ranked:
        if hit.fills:
            filling.setdefault(hit.fills, hit)
    placed: dict[str, Hit] = {}
    for hit in ranked:
        for one in (hit, filling.get(hit.passage.id, hit)):
            placed.setdefault(one.passage.id, one)
    return list(placed.values())


def _cited(store: CorpusStore, question: str, option: str, own: Retrieval) -> Passage | None:
    """The provision whose place the option is."""
    written = compact(option)
    citations = find_citations(written)
    if not citations or _BLANK.search(question):
        return None
    if not _AFTER_A_PLACE.fullmatch(written, citations[-1].end):
        return None
    place = citations[-1].locator
    articles = [
        hit
        for stage in own.trace.stages
        if stage.stage == RESOLVE
        for hit in stage.hits
        if (hit.passage.locator.division, hit.passage.locator.article)
        == (place.division, place.article)
    ]
    # The question may name an article of the same number in another law.
    named = [hit for hit in articles if _naming(hit).endswith(citations[-1].text)] or articles
    if not named:
        return None
    law_id = named[0].passage.document_id
    # The items of an article of one paragraph are cited without it: 第2条第3号.
    return store.at(law_id, place) or store.at(law_id, replace(place, paragraph="1"))


def _naming(hit: Hit) -> str:
    return str(hit.reason.fields["other"]) if hit.reason else ""


def _findings(
    toolkit: Toolkit, turned: Query, label: str, option: str, evidence: OptionEvidence
) -> list[CitedFinding]:
    """Steps 2 and 3: the findings about an option, with quotations inserted by code."""
    subject, cited = f"option {label}", evidence.cited
    if not evidence.hits:
        toolkit.note(EVIDENCE, [Fact(FactKind.NOT_ASKED_OF)], subject=subject)
        return []

    def messages(sentences: Sequence[Sentence]) -> tuple[Message, ...]:
        passages = passages_of(sentences)
        texts = [sentence.piece.text for sentence in sentences]
        places = [passage.place for passage in passages]
        return toolkit.prompt(
            "statute_localrag",
            turned,
            option=option,
            passages=passages,
            provision=[one.number for one in sentences if cited and _is_of(one, cited)],
            most=_MOST_FINDINGS,
            tag=element("text", [turned.text, option, *places, *texts]),
        )

    asked = Query(turned.text, (option,))
    sentences = toolkit.sentences(
        asked, evidence.hits, messages, subject=subject, whole=cited is not None
    )
    reply = toolkit.ask(messages(sentences), _shape(len(sentences)), f"findings {label}")
    findings = []
    for found in reply.findings:
        sentence = sentences[found.sentence - 1]
        # Other provisions, the common stem of items, and captions do not decide the cited place.
        beside = cited is not None and not _is_of(sentence, cited)
        caption = compact(sentence.piece.text) in compact(sentence.passage.header)
        relation = OptionRelation.UNRELATED if beside or caption else found.relation
        with toolkit.store() as store:
            citations = quoted(store, [sentence.piece])
        findings.append(CitedFinding(citations, relation, found.difference.strip()))
    return findings


def _is_of(sentence: Sentence, provision: Passage) -> bool:
    piece = sentence.piece
    is_inside = provision.start <= piece.start < provision.end
    return is_inside and piece.passage.document_id == provision.document_id


@cache
def _shape(sentences: int) -> type[OptionFindingsReply]:
    """The shape of a reply, bound to the numbers of the sentences."""
    # The difference comes first: the relation follows from it.
    found = create_model(
        "Found",
        sentence=Annotated[int, Field(ge=1, le=sentences)],
        difference=Annotated[str, Field(max_length=_LONGEST_DIFFERENCE)],
        relation=OptionRelation,
    )
    findings: Any = Annotated[list[found], Field(max_length=_MOST_FINDINGS)]
    return create_model("Reply", __base__=OptionFindingsReply, findings=findings)


def _untied(
    toolkit: Toolkit, asked: Query, left: Sequence[str], evidence: Mapping[str, OptionEvidence]
) -> str:
    """Step 6: the option that agreement with the evidence, or retrieval, selects."""
    turn = 1 if polarity_of(asked.text) is Polarity.AGREES else -1
    options = dict(labelled(asked.options))
    if is_held_out(asked.text, asked.options):
        toolkit.note(DECIDE, [Fact(FactKind.HELD_OUT)])
    judgements = judge(asked.text, asked.options, _provisions(toolkit, evidence))
    # Rounded, because the order of the options changes the last digits of a sum.
    agreement = {label: round(one.share, 9) for label, one in zip(options, judgements, strict=True)}
    support = {label: round(turn * found.support, 9) for label, found in evidence.items()}
    first, second, *_ = sorted(
        left, key=lambda label: (agreement[label], support[label], options[label]), reverse=True
    )
    if agreement[first] > agreement[second]:
        means = FactKind.CHOSEN_BY_AGREEMENT
    elif support[first] > support[second]:
        means = FactKind.CHOSEN_BY_RETRIEVAL
    else:
        means = FactKind.CHOSEN_ARBITRARILY
    toolkit.note(DECIDE, [Fact(means)])
    return first


def _provisions(toolkit: Toolkit, evidence: Mapping[str, OptionEvidence]) -> list[LawText]:
    """All provisions of the evidence, each once; the order of the options does not matter."""
    hits = sorted(
        (hit for one in evidence.values() for hit in one.hits),
        key=lambda hit: (-hit.score, hit.passage.id),
    )
    with toolkit.store() as store:
        found = provisions_found(store, hits)
    different: dict[tuple[str, int], LawText] = {}
    for provision in found:
        different.setdefault((provision.source, provision.start), provision)
    return list(different.values())
