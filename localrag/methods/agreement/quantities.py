"""Periods, amounts, shares and counts in a text, each in one spelling."""

import re
from dataclasses import dataclass
from functools import lru_cache

from localrag.methods.agreement.wording import fold

_UNIT = r"営業日|月|年|週間|週|日|時間|人|名|円|倍|割|回|%|箇所"
_BOUND = r"以上|以下|未満|以内|を超え"
_QUANTITY = re.compile(rf"(?<![0-9.第の])([0-9]+(?:\.[0-9]+)?)({_UNIT})?(?:の期間|間)?({_BOUND})?")
# Numbers of laws and of provisions are no quantities.
_NO_QUANTITY = re.compile(
    r"(?:明治|大正|昭和|平成|令和)[^()、。]{1,25}号|第[0-9]+[条項号編章節款](?:の[0-9]+)*"
)
_ASKED = re.compile(r"期間|期限|[価金総]?額|割合|数(?=を|の|$)|日数|年数|率|いくら")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit.

    Attributes:
        number: in digits ("6", "2.25").
        unit: "月", "%" …; "" for a bare number with a bound (2以上).
    """

    number: str
    unit: str

    def __str__(self) -> str:
        return self.number + self.unit


@lru_cache(maxsize=8192)
def quantities(text: str) -> frozenset[Quantity]:
    """The quantities in a text, whatever their spelling: 三月, 3か月 and ３箇月 are one."""
    plain = _NO_QUANTITY.sub("", fold(text))
    return frozenset(
        Quantity(number, unit) for number, unit, bound in _QUANTITY.findall(plain) if unit or bound
    )


def asks_for_quantity(question: str) -> bool:
    """Whether a question is about how long, how much or how many."""
    return _ASKED.search(question) is not None
