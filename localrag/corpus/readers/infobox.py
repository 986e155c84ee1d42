"""Infoboxes of Wikipedia articles (Infobox, 基礎情報 …), from their wikitext.

Japanese infoboxes have many names (基礎情報 会社, Infobox Film, ActorActress). A template before
the first heading counts by its name, or by several parameters with Japanese names.
mwparserfromhell (extra ``wikipedia``) parses the wikitext.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from localrag.corpus.readers.text import drop_controls
from localrag.errors import InputError, to_install
from localrag.language import N_

Parameter = tuple[str, Any]
"""A named parameter of a template and its parsed value."""

# Control characters mark links until lists are found; no document text has them.
_LINK = "\x02{}\x03"
_LINKED = re.compile("\x02([^\x02\x03]*)\x03")
# Adjacent links count as one.
_ENTRY = re.compile("(?:\x02[^\x03]*\x03)+")
_LIST_OF_LINKS = re.compile(f"\\s*{_ENTRY.pattern}(?:\\s*[・、，,／/]\\s*{_ENTRY.pattern})+\\s*")
_BOLD = re.compile(r"\s*'{3}[^']+'{3}\s*[:：]?\s*")
_BOLD_LINE = re.compile(r"\n[ \t]*('{3}[^'\n]+'{3})[ \t]*(?=\n)")
_REMARK = re.compile(r"\s*[(（]")
_QUOTES = re.compile("'{2,}")
# Malformed markup, left as text by the parser.
_MARKUP = re.compile(r"\[\[|\]\]|\{\{|\}\}|\{\||<[a-z/!]|\[https?:", re.IGNORECASE)
_BULLETS = " \t　*#:;・■●"
_FILES = re.compile(r"\s*:?\s*(file|image|ファイル|画像|category|カテゴリ)\s*:", re.IGNORECASE)
_YEAR = re.compile(r"\d{3,4}")

_BREAKING = {"br", "li", "dd", "dt", "hr", "p"}
_TRANSPARENT = {
    "abbr", "b", "big", "bdi", "center", "cite", "code", "div", "em", "font", "i", "ins", "nowiki",
    "onlyinclude", "ruby", "rb", "small", "span", "strong", "sub", "sup", "u",
}  # fmt: skip
_SILENT = {"ref", "references", "rt", "rp", "templatestyles", "noinclude", "indicator"}


class Unclear(Exception):  # noqa: N818 - a value, not a fault
    """The displayed text is unknown."""


class WikitextParser:
    """Turns values into text, by the table of templates in ``infobox.toml``."""

    def __init__(self) -> None:
        try:
            import mwparserfromhell
        except ImportError as error:
            raise InputError(
                N_("Reading the infoboxes of Wikipedia needs mwparserfromhell."),
                to_install("wikipedia"),
            ) from error
        self._parse = mwparserfromhell.parse
        self._templates: Mapping[str, str] = _vocabulary()["templates"]
        self._countries: Mapping[str, str] = _vocabulary()["countries"]
        countries = self._countries
        self._prints: Mapping[str, Callable[[list[str]], str]] = {
            "date": lambda values: _date(values, 0),
            "second_date": lambda values: _date(values, 3),
            "first": lambda values: "".join(values[:1]),
            "second": lambda values: "".join(values[1:2]),
            "list": lambda values: "".join(f"\n{value}\n" for value in values),
            "country": lambda values: "".join(countries.get(v.upper(), v) for v in values[:1]),
            "convert": lambda values: "".join(values[:2]),
        }

    def template(self, source: str) -> tuple[str, list[Parameter]]:
        """Parse one template; return its name and its filled named parameters."""
        for node in self._parse(source, skip_style_tags=True).ifilter_templates(recursive=False):
            return str(node.name).strip(), [
                (str(parameter.name).strip(), parameter.value)
                for parameter in node.params
                if parameter.showkey and parameter.value.strip()
            ]
        return "", []

    def values(self, value: Any) -> list[str]:
        """The displayed text of a value, one for each entry of a list, or `Unclear`."""
        found: list[str] = []
        filled = [node for node in value.nodes if str(node).strip()]
        if len(filled) == 1 and type(filled[0]).__name__ == "ExternalLink":
            return [str(filled[0].url)]  # What it is called ("公式") tells nothing.
        for line in _without_headings(self._plain(value).split("\n")):
            parts = _ENTRY.findall(line) if _LIST_OF_LINKS.fullmatch(line) else [line]
            for part in parts:
                plain = drop_controls(_QUOTES.sub("", _LINKED.sub(r"\1", part)))
                text = " ".join(plain.split()).strip(_BULLETS)
                if _MARKUP.search(text):
                    raise Unclear
                if found and text.startswith(("（", "(")):
                    found[-1] += text  # A remark on the line before.
                elif any(map(str.isalnum, text)):
                    found.append(text)
        return found

    def _plain(self, code: Any) -> str:
        return "".join(self._node(node) for node in code.nodes)

    def _node(self, node: Any) -> str:
        match type(node).__name__:
            case "Text":
                parts = _BOLD_LINE.split(str(node))
                return "\n".join(part.replace("\n", " ") for part in parts)
            case "HTMLEntity":
                return str(node.normalize())
            case "Comment":
                return ""
            case "Wikilink":
                if _FILES.match(str(node.title)):
                    return ""
                shown = self._unlinked(node.text or node.title).replace("\n", " ")
                return _LINK.format(shown.lstrip(":"))
            case "ExternalLink":
                return self._plain(node.title or node.url)
            case "Tag":
                return self._tag(str(node.tag).strip().lower(), node.contents)
            case "Template":
                return self._template(node)
        raise Unclear

    def _unlinked(self, code: Any) -> str:
        return _LINKED.sub(r"\1", self._plain(code))

    def _tag(self, name: str, contents: Any) -> str:
        if name in _SILENT:
            return ""
        if name not in _BREAKING | _TRANSPARENT:
            raise Unclear
        inner = self._plain(contents) if contents else ""
        return f"\n{inner}" if name in _BREAKING else inner

    def _template(self, node: Any) -> str:
        written = str(node.name).strip()
        if written.upper() in self._countries and not node.params:
            return self._countries[written.upper()]
        name, colon, argument = written.partition(":")
        kind = self._templates.get(re.sub("[ _]", "", name).lower())
        if kind is None:
            raise Unclear
        if kind == "nothing":
            return ""
        values = [self._plain(p.value).strip() for p in node.params if not p.showkey]
        return self._prints[kind]([argument, *values] if colon else values)


def _without_headings(lines: Sequence[str]) -> Iterator[str]:
    """Drop bold lines heading the next ones (映画, テレビドラマ …)."""
    filled = [line for line in lines if line.strip()]
    for line, following in pairwise([*filled, ""]):
        heads = following and not _BOLD.fullmatch(following) and not _REMARK.match(following)
        if not (heads and _BOLD.fullmatch(line)):
            yield line


def _date(values: list[str], start: int) -> str:
    numbers = [value for value in values if value.isdecimal()][start : start + 3]
    if not numbers or not _YEAR.fullmatch(numbers[0]):
        raise Unclear
    return "".join(f"{int(number)}{unit}" for number, unit in zip(numbers, "年月日", strict=False))


Fact = tuple[str, tuple[str, ...]]
"""A displayed label ("生年月日") and its values."""

# Limits for parsing. Real infoboxes have up to 10,000 characters and a hundred tags. Unclosed tags
# and links take quadratic time.
_LEAD = 100_000
_BOX = 30_000
_NESTED = 12
_AT_MOST = {"<": 300, "[": 1_000, "{": 600, "\n": 1_000}
_VALUE = 300
_VALUES = 60
_ENTRIES = 150
# Filled parameters with Japanese names in an infobox of any name.
_FILLED = 3

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HEADING = re.compile(r"^==", re.MULTILINE)
_BRACES = re.compile(r"\{\{|\}\}")
_NAMED = re.compile("infobox|^基礎情報", re.IGNORECASE)
_JAPANESE = re.compile("[ぁ-んァ-ヶ一-龠々]")
# Without markup: text before an equals sign is not always a name.
_LABEL = re.compile(r"[^\[\]{}<>|&=\n\t]{1,40}")
_NUMBER = re.compile(r"[0-9０-９]+$")
_COLOUR = re.compile(r"#[0-9a-f]{3,8}", re.IGNORECASE)


class Infoboxes:
    """Reads the infoboxes of articles."""

    def __init__(self) -> None:
        self._parser = WikitextParser()

    def facts(self, source: str) -> tuple[tuple[Fact, ...], int]:
        """The facts of one article in order, and the number of entries left out."""
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
    """Yield the outermost templates before the first heading, with their depth."""
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
    """Yield parameters with content, by their displayed label."""
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
    """Join separate entries of year, month and day into one date."""
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
