"""Every method by its name. What a method needs is imported when it is used."""

import difflib
from importlib import import_module

from localrag.errors import UsageError
from localrag.methods.model import Method

NAMES = (
    "extractive",
    "generative",
    "statute-direct",
    "statute-gold",
    "statute-fixed",
    "statute-gepa",
    "statute-options",
    "statute-options-gepa",
    "statute-localrag",
    "statute-lexical",
    "staged",
    "staged-symbolic",
)
"""The methods, in the order in which tables show them."""


def method(name: str) -> Method:
    """The method of this name: `METHOD` of the module that is named like it.

    Raises:
        UsageError: there is none; names the nearest, or all.
    """
    if name not in NAMES:
        near = difflib.get_close_matches(name, NAMES, 1)
        raise UsageError(
            f"There is no method {name!r}.",
            f"Did you mean {near[0]}?" if near else f"There is: {', '.join(NAMES)}.",
        )
    found = import_module(f"localrag.methods.{name.replace('-', '_')}").METHOD
    assert isinstance(found, Method)
    return found
