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
often worded like it, and a small model asks for other things. In step 5 code decides
(``verdicts.py``).

Source: a study of fact-checking with supplementary context on AVeriTeC.
"""

from collections.abc import Callable, Sequence
from typing import Any

from localrag.answer.types import Answer
from localrag.language import N_
from localrag.methods.catalogue import Calls, Case, Purpose, register
from localrag.methods.fact_check.finding import (
    FoundSentence,
    Step,
    documents,
    put_before,
    questions,
    reranked,
    sentences,
    supplemented,
)
from localrag.methods.fact_check.verdicts import concluded, decided
from localrag.methods.toolkit import Toolkit

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
