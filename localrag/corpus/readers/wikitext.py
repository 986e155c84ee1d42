"""Wikitext of single values as plain text, with mwparserfromhell (extra ``wikipedia``)."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from localrag.corpus.readers.characters import drop_controls
from localrag.errors import InputError

Parameter = tuple[str, Any]
"""A named parameter of a template and its value, as parsed."""

# Control characters, which no text of a document has, stand around links until lists are found.
_LINK = "\x02{}\x03"
_LINKED = re.compile("\x02([^\x02\x03]*)\x03")
_ENTRY = re.compile("(?:\x02[^\x03]*\x03)+")
"""Links without anything between are read as one."""
_LIST_OF_LINKS = re.compile(f"\\s*{_ENTRY.pattern}(?:\\s*[・、，,／/]\\s*{_ENTRY.pattern})+\\s*")
_BOLD = re.compile(r"\s*'{3}[^']+'{3}\s*[:：]?\s*")
_BOLD_LINE = re.compile(r"\n[ \t]*('{3}[^'\n]+'{3})[ \t]*(?=\n)")
_REMARK = re.compile(r"\s*[(（]")
_QUOTES = re.compile("'{2,}")
_MARKUP = re.compile(r"\[\[|\]\]|\{\{|\}\}|\{\||<[a-z/!]|\[https?:", re.IGNORECASE)
"""What the parser took for text because it is not well formed."""
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
    """What a reader of the article would see here is not known."""


class WikitextParser:
    """Turns values into text.

    Args:
        templates: what templates print, a kind for each name: ``date``, ``second_date``,
            ``first``, ``second``, ``list``, ``country``, ``convert``, ``nothing``.
        countries: names of countries by the codes that are templates.

    Raises:
        InputError: mwparserfromhell is missing.
    """

    def __init__(self, templates: Mapping[str, str], countries: Mapping[str, str]) -> None:
        try:
            import mwparserfromhell
        except ImportError as error:
            raise InputError(
                "Reading the infoboxes of Wikipedia needs mwparserfromhell.",
                "pip install 'localrag[wikipedia]'",
            ) from error
        self._parse = mwparserfromhell.parse
        self._templates = templates
        self._countries = countries
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
        """Parse a text that is one template; returns its name and its filled named parameters."""
        for node in self._parse(source, skip_style_tags=True).ifilter_templates(recursive=False):
            return str(node.name).strip(), [
                (str(parameter.name).strip(), parameter.value)
                for parameter in node.params
                if parameter.showkey and parameter.value.strip()
            ]
        return "", []

    def values(self, value: Any) -> list[str]:
        """Turn a value into what its readers see: one text, or one for each entry of a list.

        Raises:
            Unclear: it holds a template, table or picture of unknown meaning.
        """
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
    """Leave out the lines in bold that head those after them (映画, テレビドラマ …)."""
    filled = [line for line in lines if line.strip()]
    for line, following in pairwise([*filled, ""]):
        heads = following and not _BOLD.fullmatch(following) and not _REMARK.match(following)
        if not (heads and _BOLD.fullmatch(line)):
            yield line


def _date(values: list[str], start: int) -> str:
    """Write year, month and day, of which the last may be missing, as readers see them."""
    numbers = [value for value in values if value.isdecimal()][start : start + 3]
    if not numbers or not _YEAR.fullmatch(numbers[0]):
        raise Unclear
    return "".join(f"{int(number)}{unit}" for number, unit in zip(numbers, "年月日", strict=False))
