"""Texts as Markdown that shows them as they are: nothing in them makes a heading, link or HTML."""

import re
from collections.abc import Iterable

from localrag.harmless import harmless, one_line

_ANYWHERE = re.compile(r"[\\`*_\[\]<>&~|$]")
# What begins a heading, a list, a rule or a table only where it begins a line.
_BEGINNING = re.compile(r"(?P<mark>[#+\-=:])|(?P<number>\d{1,9})(?P<end>[.)])|(?P<blank>[ \t])")
# GitHub makes links of these without being asked.
_ADDRESS = re.compile(r"(?<=\w)(?=://)|(?<=\bwww)(?=\.)", re.IGNORECASE)
_TICKS = re.compile("`+")


def line(text: str) -> str:
    """Write a text within a line; its line breaks are made visible."""
    return _line(one_line(text))


def paragraph(text: str) -> str:
    """Write a text of any number of lines, which stay as they are."""
    lines = [_line(row) for row in harmless(text).split("\n")]
    following = [*lines[1:], ""]
    # A backslash at its end keeps a line break; before an empty line there is no need.
    return "\n".join(
        f"{row}\\" if row and after else row for row, after in zip(lines, following, strict=True)
    )


def quotation(text: str, indent: str = "") -> str:
    """Write a text as a block quote, behind the indent of the list it stands in."""
    return "\n".join(f"{indent}> {row}".rstrip() for row in paragraph(text).split("\n"))


def code(text: str) -> str:
    """Write a text as code within a line."""
    text = one_line(text)
    fence = "`" * (1 + max(map(len, _TICKS.findall(text)), default=0))
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{blank}{text}{blank}{fence}"


def items(texts: Iterable[str]) -> str:
    """Write a list of what is Markdown already, an entry each."""
    return "\n".join(f"- {text}" for text in texts)


def _line(text: str) -> str:
    escaped = _ADDRESS.sub(r"\\", _ANYWHERE.sub(r"\\\g<0>", text))
    return _BEGINNING.sub(_as_text, escaped, count=1) if _BEGINNING.match(escaped) else escaped


def _as_text(match: re.Match[str]) -> str:
    if match["blank"]:
        # Four blanks would begin a block of code.
        return f"&#{ord(match['blank'])};"
    return f"\\{match['mark']}" if match["mark"] else f"{match['number']}\\{match['end']}"
