"""`naive`: retrieve, then read; the baseline that multi-hop papers are compared with.

1. **Search.** The passages nearest to the question by meaning; by words where the corpus has no
   vectors. As many as ``retrieval.k`` says.
2. **Answer.** One call, on all their sentences.
"""

from localrag.answer.types import Answer
from localrag.language import N_
from localrag.methods.catalogue import Calls, Case, Method
from localrag.methods.multihop.answering import answer_from
from localrag.methods.toolkit import Toolkit


def answer(case: Case, toolkit: Toolkit) -> Answer:
    """Answer one question by the steps at the head of this file."""
    hits = toolkit.search(case.query, words=False, meaning=True)
    return answer_from(toolkit, case.query, hits)


METHOD = Method(
    name="naive",
    about=N_("a model answers in few words on the passages nearest to the question"),
    answer=answer,
    source=N_("baseline of studies of multi-hop questions (Naive RAG)"),
    # None where nothing is found.
    calls=Calls(fixed=1),
    chooses=False,
)
