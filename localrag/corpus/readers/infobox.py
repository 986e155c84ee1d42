"""What the boxes of Wikipedia's articles tell (Infobox, 基礎情報 …), from their wikitext.

Boxes of the Japanese Wikipedia go by many names (基礎情報 会社, Infobox Film, ActorActress), so one
is known by what it is: a template before the first heading which is named as a box, or fills
several parameters whose names are Japanese.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from localrag.corpus.readers.wikitext import Parameter, WikitextParser

Fact = tuple[str, tuple[str, ...]]
"""A label as the reader of the article sees it ("生年月日") and its values."""

# Bounds of what is parsed: real boxes have up to 10,000 characters and a hundred tags. The parser
# takes time that grows with the square of tags and links that are never closed.
_LEAD = 100_000
_BOX = 30_000
_NESTED = 12
_AT_MOST = {"<": 300, "[": 1_000, "{": 600, "\n": 1_000}
_VALUE = 300
_VALUES = 60
_ENTRIES = 150
_FILLED = 3
"""A template that fills so many parameters with Japanese names is a box, whatever its name."""

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HEADING = re.compile(r"^==", re.MULTILINE)
_BRACES = re.compile(r"\{\{|\}\}")
_NAMED = re.compile("infobox|^基礎情報", re.IGNORECASE)
_JAPANESE = re.compile("[ぁ-んァ-ヶ一-龠々]")
_LABEL = re.compile(r"[^\[\]{}<>|&=\n\t]{1,40}")
"""Without markup: what stands before an equals sign is not always a name."""
_NUMBER = re.compile(r"[0-9０-９]+$")
_COLOUR = re.compile(r"#[0-9a-f]{3,8}", re.IGNORECASE)
_YEAR = re.compile(r"\d{3,4}")


class Infoboxes:
    """Reads the boxes of articles.

    Raises:
        InputError: mwparserfromhell (extra ``wikipedia``) is missing.
    """

    def __init__(self) -> None:
        self._parser = WikitextParser(_vocabulary()["templates"], _vocabulary()["countries"])

    def facts(self, source: str) -> tuple[tuple[Fact, ...], int]:
        """Read the boxes of one article.

        Args:
            source: its wikitext.

        Returns:
            What they tell, in their order, each label once; and how many entries were left out
            because their value is no short plain text; a box that is too large counts as one.
        """
        entries: dict[str, list[str]] = {}
        left_out = 0
        for box, nested in _templates(source):
            if nested > _NESTED or not _is_bounded(box):
                left_out += 1
                continue
            try:
                name, parameters = self._parser.template(box)
            except Exception:  # noqa: BLE001 - a box must not cost the article, let alone the dump
                left_out += 1
                continue
            for label, value in _labelled(parameters) if _is_box(name, parameters) else ():
                try:
                    entries.setdefault(label, []).extend(self._parser.values(value))
                except Exception:  # noqa: BLE001 - `Unclear`, or a fault of the parser
                    left_out += 1
        facts = _dated({label: tuple(dict.fromkeys(v)) for label, v in entries.items() if v})
        kept = tuple((label, values) for label, values in facts.items() if _is_short(values))
        return kept[:_ENTRIES], left_out + len(facts) - len(kept[:_ENTRIES])


def _templates(source: str) -> Iterator[tuple[str, int]]:
    """Yield the outermost templates before the first heading, and how deep each is nested."""
    lead = _COMMENT.sub("", source[:_LEAD])
    if heading := _HEADING.search(lead):
        lead = lead[: heading.start()]
    depth = deepest = start = 0
    for brace in _BRACES.finditer(lead):
        if brace[0] == "{{":
            start, deepest = (brace.start(), 0) if not depth else (start, deepest)
            depth += 1
            deepest = max(deepest, depth)
        elif depth:
            depth -= 1
            if not depth:
                yield lead[start : brace.end()], deepest


def _is_bounded(box: str) -> bool:
    return len(box) <= _BOX and all(box.count(sign) <= n for sign, n in _AT_MOST.items())


def _is_box(name: str, parameters: Sequence[Parameter]) -> bool:
    if _NAMED.search(name):
        return True
    filled = sum(bool(_JAPANESE.search(parameter)) for parameter, _ in parameters)
    return filled >= _FILLED and name not in _vocabulary()["messages"]


def _labelled(parameters: Sequence[Parameter]) -> Iterator[tuple[str, Any]]:
    """Yield the parameters that tell something, by the label that readers see."""
    words = _vocabulary()
    for name, value in parameters:
        known = name.lower().replace(" ", "_")
        label = _NUMBER.sub("", name).strip(" _")
        if not _JAPANESE.search(label):
            label = words["labels"].get(known) or words["labels"].get(_NUMBER.sub("", known), "")
        tells = not words["layout"].search(label) and not _COLOUR.fullmatch(str(value).strip())
        if _LABEL.fullmatch(label) and tells:
            yield label, value


def _dated(facts: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Put one date in the place of year, month and day that have an entry each.

    A year by itself is written as one.
    """
    for label, parts in _vocabulary()["dates"].items():
        numbers = ["".join(facts.get(part, ())).rstrip("年月日") for part in parts]
        if all(number.isdecimal() for number in numbers):
            date = "".join(f"{n}{unit}" for n, unit in zip(numbers, "年月日", strict=True))
            facts = {name: values for name, values in facts.items() if name not in parts}
            facts.setdefault(label, (date,))
    return {
        label: tuple(f"{v}年" if label.endswith("年") and _YEAR.fullmatch(v) else v for v in values)
        for label, values in facts.items()
    }


def _is_short(values: tuple[str, ...]) -> bool:
    return len(values) <= _VALUES and all(len(value) <= _VALUE for value in values)


@cache
def _vocabulary() -> dict[str, Any]:
    words = tomllib.loads(Path(__file__).with_name("infobox.toml").read_text(encoding="utf-8"))
    words["layout"] = re.compile(words["layout"])
    words["templates"] = {
        name: kind for kind, names in words["templates"].items() for name in names
    }
    return words
