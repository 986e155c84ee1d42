"""Citations, claims and calls of models as JSON, the same wherever answers are written."""

from typing import Any

from localrag.reading.model import Citation, Claim
from localrag.retrieval.model import ModelCall


def citation_as_json(citation: Citation) -> dict[str, Any]:
    """Give a citation as JSON; `start` and `end` span its quote in the text of the document."""
    return {
        "passage_id": citation.passage_id,
        "quote": citation.quote,
        "start": citation.start,
        "end": citation.end,
        "label": citation.label,
        "verified": citation.verified,
        "problem": citation.problem,
    }


def claim_as_json(claim: Claim) -> dict[str, Any]:
    """Give a claim as JSON; its citations are numbers from 1."""
    return {"text": claim.text, "citations": list(claim.citations)}


def call_as_json(call: ModelCall) -> dict[str, Any]:
    """Give what a call of a model cost as JSON."""
    return {
        "model": call.model,
        "prompt": call.prompt,
        "cached": call.cached,
        "completion": call.completion,
        "seconds": call.seconds,
        "purpose": call.purpose,
        "problem": call.problem,
    }
