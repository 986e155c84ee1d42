"""`statute-gepa`: a model writes the query, under a prompt that GEPA has optimised.

Where the settings name no optimised prompt, the built-in one stands in, and an event says so.
It quotes nothing, so its answers are unsupported.
"""

from dataclasses import replace

from localrag.methods.choosing import choose_by
from localrag.methods.model import Calls, Case, Method
from localrag.methods.querying import write_query
from localrag.methods.toolkit import Toolkit
from localrag.reading.model import Answer

K = 5


def answer(case: Case, toolkit: Toolkit) -> Answer:
    """Write a query, search by meaning, and choose by the top 5."""
    query = write_query(toolkit, case.query)
    hits = toolkit.search(replace(case.query, text=query, options=()), K, words=False, meaning=True)
    return choose_by(toolkit, case.query, hits)


METHOD = Method(
    name="statute-gepa",
    about="query written by the model under a GEPA-optimised prompt, dense search, top 5",
    answer=answer,
    source="published study of lawqa_jp, way 4",
    calls=Calls(fixed=2),
    writes_queries=True,
)
