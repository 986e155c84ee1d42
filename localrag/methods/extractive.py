"""`extractive`: no model; the sentences and provisions that come nearest to the question.

1. **Search.** The whole pipeline: resolver, words, meaning, references.
2. **Quotation.** The pieces of what was found that cover most of the question, each with what it
   stands under, word for word. Whether they answer the question is for the reader to judge: they
   are `quoted`, never `supported`. Where nothing covers enough of it, nothing is quoted
   but what the question cites.
"""

from localrag.language import N_
from localrag.methods.toolkit import Toolkit
from localrag.methods.types import Case, Method
from localrag.reading.types import Answer


def answer(case: Case, toolkit: Toolkit) -> Answer:
    """Answer one question by the steps at the head of this file."""
    return toolkit.quoted(case.query, toolkit.retrieve(case.query))


METHOD = Method(
    name="extractive",
    about=N_("no model: the sentences and provisions that come nearest, word for word"),
    answer=answer,
    chooses=False,
)
