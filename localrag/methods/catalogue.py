"""Every method by its name. What a method needs is imported when it is used."""

import difflib
from pkgutil import resolve_name

from localrag.errors import UsageError
from localrag.language import N_
from localrag.methods.types import Method

_PLACES = {
    "extractive": "extractive:METHOD",
    "generative": "generative:METHOD",
    "statute-direct": "lawqa_study.choosing:DIRECT",
    "statute-gold": "lawqa_study.choosing:GOLD",
    "statute-fixed": "lawqa_study.choosing:FIXED",
    "statute-gepa": "lawqa_study.choosing:GEPA",
    "statute-options": "lawqa_study.options:OPTIONS",
    "statute-options-gepa": "lawqa_study.options:OPTIONS_GEPA",
    "statute-localrag": "statute_localrag:METHOD",
    "statute-lexical": "agreement.lexical:METHOD",
    "naive": "multihop.naive:METHOD",
    "naive-qd": "multihop.naive_qd:METHOD",
    "decon-plain": "multihop.decon:PLAIN",
    "decon-plain-qd": "multihop.decon:PLAIN_QD",
    "decon": "multihop.decon:DECON",
    "decon-hybrid": "multihop.decon:HYBRID",
    "chain": "multihop.chain:METHOD",
    "staged": "staged.method:METHOD",
    "staged-symbolic": "staged_symbolic.method:METHOD",
    "chunks": "pr3.method:CHUNKS",
    "chunks-augmented": "pr3.method:CHUNKS_AUGMENTED",
    "pr3-plain": "pr3.method:PLAIN",
    "pr3": "pr3.method:PR3",
    "pr3-localrag": "pr3.method:LOCALRAG",
    "fact-check": "fact_check.method:PLAIN",
    "fact-check-context": "fact_check.method:CONTEXT",
    "fact-check-rerank": "fact_check.method:RERANK",
    "fact-check-rerank-context": "fact_check.method:RERANK_CONTEXT",
    "fact-check-context-rerank": "fact_check.method:CONTEXT_RERANK",
    "fact-check-localrag": "fact_check.method:LOCALRAG",
}

NAMES = tuple(_PLACES)
"""The methods, in the order in which tables show them."""


def method(name: str) -> Method:
    """The method of this name.

    Raises:
        UsageError: there is none; names the nearest, or all.
    """
    if name not in _PLACES:
        near = difflib.get_close_matches(name, NAMES, 1)
        raise UsageError(
            N_("There is no method {name!r}."),
            N_("Did you mean {near}?") if near else N_("There is: {known}."),
            name=name,
            near="".join(near),
            known=", ".join(NAMES),
        )
    found = resolve_name(f"localrag.methods.{_PLACES[name]}")
    assert isinstance(found, Method)
    return found
