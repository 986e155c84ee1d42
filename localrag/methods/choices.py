"""Questions with options: their labels, and replies that can be nothing but one of them."""

import json
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from typing import Annotated, Any

from pydantic import BaseModel, Field, create_model

LABELS = "abcdefgh"
"""The label of the first option, of the second …"""

FEWEST = 2
"""Options that leave something to choose."""

LONGEST_REASON = 300
"""Characters of the reasons that a model gives for a verdict or a choice, at most."""


class OptionChoice(BaseModel):
    """A reply that chooses an option; `choice_among` bounds it to the labels there are.

    Attributes:
        reason: written first, so that the label follows from it.
    """

    reason: Annotated[str, Field(max_length=LONGEST_REASON)]
    label: str


def labelled(options: Sequence[str]) -> list[tuple[str, str]]:
    """Each option after its label."""
    return list(zip(LABELS, options, strict=False))


@cache
def choice_among(labels: str) -> type[OptionChoice]:
    """The shape of a reply that chooses one of `labels`, given as one string: "abcd", "ab"."""
    label: Any = Annotated[str, Field(pattern=f"^[{labels}]$")]
    return create_model("Choice", __base__=OptionChoice, label=label)


def mark(question: str, options: Sequence[str]) -> str:
    """What stands for a question, whatever the order of its options; 12 hexadecimal digits."""
    content = json.dumps([question, sorted(options)]).encode()
    return blake2b(content, digest_size=6).hexdigest()
