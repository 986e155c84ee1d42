"""Values of Wikidata in words, as a Japanese text would write them.

Shapes: https://doc.wikimedia.org/Wikibase/master/php/docs_topics_json.html
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

Label = Callable[[str], str]
"""Gives the label of an id; empty where it has none."""

_TIME = re.compile(r"([+-])([0-9]{1,16})-([0-9]{2})-([0-9]{2})T.*")
_JULIAN = "Q1985786"
# What was in use in the West before; there the Julian calendar goes without saying.
_FIRST_GREGORIAN_YEAR = 1583
_DAY, _MONTH, _YEAR, _DECADE, _CENTURY, _MILLENNIUM = 11, 10, 9, 8, 7, 6


def written(snak: Mapping[str, Any], label: Label) -> str | None:
    """The value of a statement in words.

    Returns:
        None where it is none, unknown or of a kind that is not read; empty where it cannot be
        said for want of a label, or where a time is too vague for words.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: it has not the shape of Wikidata.
    """
    write = _KINDS.get(snak.get("datatype", ""))
    if write is None or snak["snaktype"] != "value":
        return None
    return write(snak["datavalue"]["value"], label)


def _item(value: Mapping[str, Any], label: Label) -> str:
    return label(value["id"])


def _string(value: str, _: Label) -> str:
    return value.strip()


def _text(value: Mapping[str, str], _: Label) -> str | None:
    return value["text"].strip() if value["language"] == "ja" else None


def _quantity(value: Mapping[str, str], label: Label) -> str:
    amount = value["amount"].removeprefix("+")
    unit = value["unit"]
    if unit == "1":
        return amount
    name = label(unit.rpartition("/")[2])
    return f"{amount}{name}" if name else ""


def _time(value: Mapping[str, Any], _: Label) -> str:
    found = _TIME.fullmatch(value["time"])
    if not found:
        raise ValueError(f"no time: {value['time']!r}")
    sign, year, month, day = found[1], int(found[2]), int(found[3]), int(found[4])
    era = "紀元前" if sign == "-" else ""
    precision = value["precision"]
    if precision >= _MONTH and month and (day or precision == _MONTH):
        exact = precision >= _DAY
        date = f"{era}{year}年{month}月{f'{day}日' if exact else ''}"
        julian = value["calendarmodel"].endswith(f"/{_JULIAN}")
        told = exact and julian and not era and year >= _FIRST_GREGORIAN_YEAR
        return f"{date}（ユリウス暦）" if told else date
    if precision >= _YEAR:
        return f"{era}{year}年"
    if precision == _DECADE:
        return f"{era}{year // 10 * 10}年代"
    if precision == _CENTURY:
        return f"{era}{-(-year // 100)}世紀"
    if precision == _MILLENNIUM:
        return f"{era}{-(-year // 1000)}千年紀"
    return ""


_KINDS: Mapping[str, Callable[[Any, Label], str | None]] = {
    "wikibase-item": _item,
    "string": _string,
    "monolingualtext": _text,
    "quantity": _quantity,
    "time": _time,
}
