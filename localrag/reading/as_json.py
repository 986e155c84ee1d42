"""What answers are made of as JSON, the same wherever they are written."""

from typing import Any

from localrag.corpus.types import Triple
from localrag.reading.types import Citation, Claim, Derivation, Step
from localrag.retrieval.model import ModelCall


def citation_as_json(citation: Citation) -> dict[str, Any]:
    """Give a citation as JSON; `start` and `end` span its quote in the text of the document."""
    return {
        "passage_id": citation.passage_id,
        "quote": citation.quote,
        "start": citation.start,
        "end": citation.end,
        "label": citation.label,
        "state": citation.state,
        "beside": citation.beside,
        "verified": citation.verified,
        "problem": str(citation.problem or ""),
    }


def claim_as_json(claim: Claim) -> dict[str, Any]:
    """Give a claim as JSON; citations are numbers from 1, mismatches what these do not say."""
    return {
        "text": claim.text,
        "citations": list(claim.citations),
        "mismatches": [
            {"kind": mismatch.kind.value, "written": mismatch.written}
            for mismatch in claim.mismatches
        ],
        "moved": claim.moved,
    }


def derivation_as_json(derivation: Derivation) -> dict[str, Any]:
    """Give a derivation as JSON; a step that found nothing has no `triple` and no `stage`."""
    return {
        "steps": [_step(step) for step in derivation.steps],
        "computed": list(derivation.computed),
    }


def triple_as_json(triple: Triple) -> dict[str, Any]:
    """Give a triple as JSON."""
    return {
        "subject": triple.subject,
        "predicate": triple.predicate,
        "objects": list(triple.objects),
        "source": triple.source,
        "date": triple.date,
    }


def call_as_json(call: ModelCall) -> dict[str, Any]:
    """Give what a call of a model cost as JSON."""
    return {
        "model": call.model,
        "prompt": call.prompt,
        "cached": call.cached,
        "completion": call.completion,
        "seconds": call.seconds,
        "purpose": call.purpose,
        "problem": str(call.problem or ""),
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "query": step.query,
        "subject": step.subject,
        "predicate": step.predicate,
        "triple": triple_as_json(step.triple) if step.triple else None,
        "stage": step.stage.value if step.stage else None,
        "citation": step.citation,
        "tried": [stage.value for stage in step.tried],
    }
