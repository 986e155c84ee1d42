"""`statute-gold`: a model answers from the texts known to answer; the ceiling of retrieval.

It quotes nothing, so its answers are unsupported.
"""

from localrag.errors import UsageError
from localrag.methods.choosing import choose
from localrag.methods.model import Calls, Case, Method
from localrag.methods.toolkit import Toolkit
from localrag.reading.model import Answer


def answer(case: Case, toolkit: Toolkit) -> Answer:
    """Choose by the whole gold context; nothing of it is ever cut.

    Raises:
        UsageError: the question has no gold context.
    """
    if not case.context.strip():
        raise UsageError(
            "The dataset gives no text that answers the question, which statute-gold is to read.",
            "Leave the question out, or use a method that searches.",
        )
    return choose(toolkit, case.query, case.context)


METHOD = Method(
    name="statute-gold",
    about="the gold context given: the ceiling",
    answer=answer,
    source="published study of lawqa_jp, way 2",
    calls=Calls(fixed=1),
    searches=False,
    reads_context=True,
)
