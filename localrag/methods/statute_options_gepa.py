"""`statute-options-gepa`: evidence for each option, its query written under an optimised prompt.

The combination that the published study left open. Where the settings name no optimised prompt,
the built-in one stands in, and an event says so.
"""

from localrag.methods.model import Case, Method
from localrag.methods.querying import instruction
from localrag.methods.statute_options import CALLS, by_options
from localrag.methods.toolkit import Toolkit
from localrag.reading.model import Answer


def answer(case: Case, toolkit: Toolkit) -> Answer:
    """Answer option by option, under the optimised prompt for queries."""
    return by_options(toolkit, case.query, instruction(toolkit, case.query, per_option=True))


METHOD = Method(
    name="statute-options-gepa",
    about="statute-options with its queries written under a GEPA-optimised prompt",
    answer=answer,
    calls=CALLS,
    writes_queries=True,
)
