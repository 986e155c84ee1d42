"""`naive` and `naive-qd`: retrieve, then read. Papers on multi-hop questions compare with them.

1. **Decomposition**, in `naive-qd` alone: up to four sub-questions with a single answer each.
2. **Search.** The passages nearest in meaning to the question, or to each sub-question. Words are
   searched if the corpus has no vectors. ``retrieval.k`` sets how many.
3. **Answer.** One call, on all their sentences.
"""

from dataclasses import replace

from localrag.answer.types import Answer
from localrag.language import N_
from localrag.methods.catalogue import Calls, Case, register
from localrag.methods.multihop import SPLIT_CALLS, answer_from, in_turn, sub_questions
from localrag.methods.toolkit import Toolkit


@register(
    "naive",
    N_("a model answers in few words on the passages nearest to the question"),
    source=N_("baseline of studies of multi-hop questions (Naive RAG)"),
    # None if nothing is found.
    calls=Calls(fixed=1),
    split=False,
)
@register(
    "naive-qd",
    N_("a model splits the question, and answers on the passages nearest to its parts"),
    source=N_("baseline of studies of multi-hop questions (Naive RAG with question decomposition)"),
    calls=SPLIT_CALLS,
    split=True,
)
def answer(case: Case, toolkit: Toolkit, *, split: bool) -> Answer:
    """Answer one question by the steps at the head of this file."""
    asked = case.query
    parts = sub_questions(toolkit, asked) if split else []
    found = [
        toolkit.search(replace(asked, text=text), words=False, meaning=True, subject=subject)
        for text, subject in parts or [(asked.text, "")]
    ]
    return answer_from(toolkit, asked, in_turn(found))
