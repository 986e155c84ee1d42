"""Fact-checking with supplementary context: `fact-check` and its variants.

The steps of the published study on AVeriTeC, in its order; every number is a setting:

1. **Documents.** The 50 nearest to the claim by meaning (``method.documents``); here these are
   passages, the unit that a corpus of localrag is searched by.
2. **Questions.** One call: at most 3 questions that have to be answered to check the claim
   (``method.questions``).
3. **Sentences.** For every question the 3 nearest sentences of these documents
   (``method.sentences``). Where a reranker takes part, it chooses them from the 10 nearest
   (``method.candidates``).
4. **Supplementary context.** A call for every sentence: a model writes, of the 5 sentences on
   either side (``method.around``), in at most 768 tokens (``method.supplement``), what the sentence
   leaves to them. It is put before the sentence.
5. **Verdict.** One call with one of four labels. By default the model is told that the slightest
   sign against a claim refutes it (``method.slightest_sign``).

`fact-check` is the baseline, with steps 1, 2, 3 and 5. The other names say which steps come besides
and in which order: of `fact-check-rerank-context` the sentences that the reranker has chosen get a
context; in `fact-check-context-rerank` all candidates get one, and the reranker reads both.

`fact-check-localrag` is ours: step 5 is that of `localrag.methods.fact_check.verdicts`, and step 3
looks for the claim itself, too, before the questions: what contradicts it is often worded like it,
and a small model asks of other things.
"""

from collections.abc import Callable, Sequence
from functools import partial

from localrag.language import N_
from localrag.methods.catalogue import Calls, Case, Method
from localrag.methods.fact_check.finding import (
    FoundSentence,
    Step,
    put_before,
    reranked,
    supplemented,
)
from localrag.methods.fact_check.verdicts import concluded, decided
from localrag.methods.toolkit import Toolkit
from localrag.reading.types import Answer

_Conclude = Callable[[Case, Toolkit, Sequence[str], Sequence[FoundSentence]], Answer]


def _before(
    case: Case, toolkit: Toolkit, subject: str, found: Sequence[FoundSentence]
) -> list[FoundSentence]:
    """Step 4: the sentences with their supplementary contexts before them."""
    return [put_before(one) for one in supplemented(case, toolkit, subject, found)]


def _answer(
    case: Case, toolkit: Toolkit, steps: Sequence[Step], conclude: _Conclude, *, of_claim: bool
) -> Answer:
    """Check one claim by the steps at the head of this file; `of_claim` looks for it, too."""
    hits = finding.documents(case, toolkit)
    asked = finding.questions(case, toolkit)
    sought = dict.fromkeys((case.query.text, *asked)) if of_claim else asked
    found = finding.sentences(case, toolkit, hits, tuple(sought), steps)
    return conclude(case, toolkit, asked, found)


_SOURCE = N_("study of fact-checking with supplementary context on AVeriTeC")
# Of three questions with three sentences each, or ten candidates, as the settings are by default.
_SENTENCES, _CANDIDATES = 9, 30
# Those that the claim itself finds.
_OF_CLAIM = 3


def _method(
    name: str,
    about: str,
    *steps: Step,
    more: int = 0,
    conclude: _Conclude = concluded,
    of_claim: bool = False,
    source: str = _SOURCE,
) -> Method:
    return Method(
        name=name,
        about=about,
        answer=partial(_answer, steps=steps, conclude=conclude, of_claim=of_claim),
        source=source,
        # The last one falls away where nothing is found.
        calls=Calls(fixed=2, more=more),
        chooses=False,
        checks=True,
        settings=(
            *("documents", "questions", "sentences"),
            *(("candidates",) if reranked in steps else ()),
            *(("around", "supplement") if {_before, supplemented}.intersection(steps) else ()),
            *(("slightest_sign",) if conclude is concluded else ()),
        ),
    )


PLAIN = _method(
    "fact-check",
    N_("a model asks what has to be known of a claim, and says what the sentences found say of it"),
)
CONTEXT = _method(
    "fact-check-context",
    N_("like fact-check, and a model writes before each sentence what it leaves to its context"),
    _before,
    more=_SENTENCES,
)
RERANK = _method(
    "fact-check-rerank",
    N_("like fact-check, with sentences that a reranker has chosen"),
    reranked,
)
RERANK_CONTEXT = _method(
    "fact-check-rerank-context",
    N_("like fact-check-context, with sentences that a reranker has chosen"),
    reranked,
    _before,
    more=_SENTENCES,
)
CONTEXT_RERANK = _method(
    "fact-check-context-rerank",
    N_("like fact-check-context, with sentences that a reranker has chosen by their contexts"),
    _before,
    reranked,
    more=_CANDIDATES,
)
LOCALRAG = _method(
    "fact-check-localrag",
    N_("like fact-check-context, and a claim is refuted only by a sentence that contradicts it"),
    supplemented,
    more=_SENTENCES + _OF_CLAIM,
    conclude=decided,
    of_claim=True,
    source="",
)
