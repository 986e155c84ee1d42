"""`statute-lexical`: no model; how far each option agrees with its provisions.

1. **Evidence.** All stages search for the question with its options. The provisions of the hits are
   the evidence.
2. **Signs** compare each option with the evidence. Do provisions back what only this option says,
   contradict its figures or polarity, or except it? Does it claim more than laws do? Options naming
   provisions are compared with the question. A conditional logit has learned the weights.
3. **The polarity of the question** selects the most or the least agreeing option.
4. **One claim for each option** gives the signs, with a quotation checked by code. The answer is
   `supported` only if its option is far more probable than the others. Otherwise it names the
   likeliest option, and says that it is not sure.
"""

from collections.abc import Iterator, Sequence

from localrag.answer.types import Answer, Citation, Claim
from localrag.language import N_
from localrag.methods.agreement import OptionJudgement, choose, in_words, is_held_out, judge
from localrag.methods.agreement.evidence import content_terms, provisions_found
from localrag.methods.catalogue import Case, labelled, register
from localrag.methods.extractive import PlainToolkit
from localrag.text.facts import Fact, FactKind

_HITS = 10
# From this share on, nested cross-validation finds nine of ten answers right.
_SURE = 0.7
# Shares that differ by less are equal: they were summed in another order.
_ALIKE = 1e-9
_NOTHING = "手掛かりの範囲では、条文との違いは見つからない"
_NO_WORD = "条文と比べられる語がない"


@register(
    "statute-lexical",
    N_("no model: how far each option agrees with the provisions, by fitted weights"),
    chooses=True,
)
def answer(case: Case, toolkit: PlainToolkit) -> Answer:
    """Answer one question by the steps at the head of this file."""
    asked = case.query
    hits = toolkit.retrieve(asked, _HITS).hits
    with toolkit.store() as store:
        provisions = provisions_found(store, hits)
    if is_held_out(asked.text, asked.options):
        toolkit.note("agreement", [Fact(FactKind.HELD_OUT)])
    judgements = judge(asked.text, asked.options, provisions)
    options = labelled(asked.options)
    chosen = choose(asked.options, [judgement.share for judgement in judgements])
    citations = _citations(toolkit, judgements)
    different = dict.fromkeys(citation for citation in citations if citation)
    numbers = {citation: number for number, citation in enumerate(different, 1)}
    claims = [
        _claim(label, option, judgement, (numbers[citation],) if citation else ())
        for (label, option), judgement, citation in zip(options, judgements, citations, strict=True)
    ]
    doubts = list(_doubts(sorted((one.share for one in judgements), reverse=True)))
    return toolkit.answer(asked, options[chosen][0], claims, list(numbers), doubts)


def _doubts(shares: Sequence[float]) -> Iterator[Fact]:
    if shares[0] - shares[1] < _ALIKE:
        yield Fact(FactKind.TIED)
    elif shares[0] < _SURE:
        yield Fact(FactKind.IMPROBABLE, share=shares[0], needed=_SURE)


def _citations(
    toolkit: PlainToolkit, judgements: Sequence[OptionJudgement]
) -> list[Citation | None]:
    """For each option the quotation of its provision, checked by code."""
    with toolkit.store() as store:
        passages = [
            store.by_id(one.provision.source) if one.provision else None for one in judgements
        ]
    return [
        toolkit.citation(passage, judgement.quote) if passage else None
        for passage, judgement in zip(passages, judgements, strict=True)
    ]


def _claim(
    label: str, option: str, judgement: OptionJudgement, citations: tuple[int, ...]
) -> Claim:
    nothing = _NOTHING if content_terms(option) else _NO_WORD
    told = "；".join(map(in_words, judgement.findings)) or nothing
    return Claim(f"{label}（見込み {judgement.share:.0%}）: {told}", citations)
