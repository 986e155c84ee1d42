"""`naive-qd`: the question is split, every part is searched for, and one call reads all of it.

1. **Decomposition.** Is it needed? If so, up to four sub-questions with a single answer each.
2. **Search.** For every sub-question the passages nearest to it by meaning; by words where the
   corpus has no vectors. As many for each as ``retrieval.k`` says. A question that is not split is
   searched for itself.
3. **Answer.** One call for the question, on all their sentences, the best of each search first.
"""

from dataclasses import replace

from localrag.answer.types import Answer
from localrag.language import N_
from localrag.methods.catalogue import Calls, Case, Method
from localrag.methods.multihop import decomposition
from localrag.methods.multihop.answering import answer_from, in_turn
from localrag.methods.toolkit import Toolkit
from localrag.search.types import Hit


def answer(case: Case, toolkit: Toolkit) -> Answer:
    """Answer one question by the steps at the head of this file."""
    questions = decomposition.decompose(toolkit, case.query)

    def search(text: str, subject: str) -> tuple[Hit, ...]:
        asked = replace(case.query, text=text)
        return toolkit.search(asked, words=False, meaning=True, subject=subject)

    if questions:
        found = [
            search(text, decomposition.label_of(number)) for number, text in enumerate(questions, 1)
        ]
    else:
        found = [search(case.query.text, "")]
    return answer_from(toolkit, case.query, in_turn(found))


METHOD = Method(
    name="naive-qd",
    about=N_("a model splits the question, and answers on the passages nearest to its parts"),
    answer=answer,
    source=N_("baseline of studies of multi-hop questions (Naive RAG with question decomposition)"),
    # The last one falls away where nothing is found.
    calls=Calls(fixed=decomposition.CALLS.fixed + 1, more=decomposition.CALLS.more),
    chooses=False,
)
