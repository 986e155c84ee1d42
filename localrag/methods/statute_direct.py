"""`statute-direct`: a model answers by itself; what retrieval has to beat.

It quotes nothing, so its answers are unsupported.
"""

from localrag.methods.choosing import choose
from localrag.methods.model import Calls, Case, Method
from localrag.methods.toolkit import Toolkit
from localrag.reading.model import Answer


def answer(case: Case, toolkit: Toolkit) -> Answer:
    """Choose by question and options alone."""
    return choose(toolkit, case.query)


METHOD = Method(
    name="statute-direct",
    about="question and options, no retrieval",
    answer=answer,
    source="published study of lawqa_jp, way 1",
    calls=Calls(fixed=1),
    searches=False,
)
