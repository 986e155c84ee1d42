"""`statute-lexical`: no model; how far each option agrees with the provisions it rests on.

1. **Evidence.** The whole pipeline (resolver, words, references) searches for the question with its
   options; the provisions of the hits are the evidence.
2. **Signs.** Each option is held against them: coverage of its words, quantities, absolutes,
   negations, exceptions; or, where the options name provisions, the provision named against the
   question. Each sign is worth what a conditional logit learnt it to be worth.
3. **The polarity of the question picks** the option that agrees most, or the one that agrees least.
4. **One claim for each option** says what spoke for and against it, with a quotation of the
   provision it was held against, checked by code. The answer is `supported` only where its
   option is far more probable than the others, for a quotation alone decides nothing.
"""

from collections.abc import Sequence
from dataclasses import replace

from localrag.methods.agreement.findings import in_words
from localrag.methods.agreement.judging import choose, judge
from localrag.methods.agreement.model import Judgement
from localrag.methods.agreement.provisions import provisions_found
from localrag.methods.agreement.weights import HELD_OUT, is_held_out
from localrag.methods.choices import labelled
from localrag.methods.model import Case, Method
from localrag.methods.toolkit import Toolkit
from localrag.reading.model import Answer, Citation, Claim, Status

_HITS = 10
# From here on cross-validation finds the option right in more than eight of ten answers.
_SURE = 0.7
_NOTHING = "条文と異なる点は見つからない"


def answer(case: Case, toolkit: Toolkit) -> Answer:
    """Answer one question by the steps at the head of this file."""
    asked = case.query
    hits = toolkit.retrieve(asked, _HITS).hits
    with toolkit.store() as store:
        provisions = provisions_found(store, hits)
    if is_held_out(asked.text, asked.options):
        toolkit.note("agreement", [HELD_OUT])
    judgements = judge(asked.text, asked.options, provisions)
    labels = [label for label, _ in labelled(asked.options)]
    chosen = choose(asked.options, [judgement.share for judgement in judgements])
    citations = _citations(toolkit, judgements)
    different = dict.fromkeys(citation for citation in citations if citation)
    numbers = {citation: number for number, citation in enumerate(different, 1)}
    claims = [
        _claim(label, judgement, (numbers[citation],) if citation else ())
        for label, judgement, citation in zip(labels, judgements, citations, strict=True)
    ]
    made = toolkit.answer(asked, labels[chosen], claims, list(numbers))
    if judgements[chosen].share < _SURE:
        return replace(made, status=Status.UNSUPPORTED)
    return made


def _citations(toolkit: Toolkit, judgements: Sequence[Judgement]) -> list[Citation | None]:
    """For each option, the quotation of the provision it was held against; checked by code."""
    with toolkit.store() as store:
        passages = [
            store.by_id(one.provision.source) if one.provision else None for one in judgements
        ]
    return [
        toolkit.citation(passage, judgement.quote) if passage else None
        for passage, judgement in zip(passages, judgements, strict=True)
    ]


def _claim(label: str, judgement: Judgement, citations: tuple[int, ...]) -> Claim:
    told = "；".join(map(in_words, judgement.findings)) or _NOTHING
    return Claim(f"{label}（{judgement.share:.0%}）: {told}", citations)


METHOD = Method(
    name="statute-lexical",
    about="no model: how far each option agrees with the provisions, by fitted weights",
    answer=answer,
)
