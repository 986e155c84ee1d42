"""`statute-fixed`: question and options are the query.

It quotes nothing, so its answers are unsupported.
"""

from localrag.methods.choosing import choose_by
from localrag.methods.model import Calls, Case, Method
from localrag.methods.toolkit import Toolkit
from localrag.reading.model import Answer

K = 5


def answer(case: Case, toolkit: Toolkit) -> Answer:
    """Search by meaning for question and options, and choose by the top 5."""
    hits = toolkit.search(case.query, K, words=False, meaning=True)
    return choose_by(toolkit, case.query, hits)


METHOD = Method(
    name="statute-fixed",
    about="fixed-policy query from question and options, dense search, top 5",
    answer=answer,
    source="published study of lawqa_jp, way 3",
    calls=Calls(fixed=1),
)
