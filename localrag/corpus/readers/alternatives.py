"""The two forms of a message's body, plain text and a page (HTML): the text of what either says."""

import re
from itertools import accumulate

_ADDRESS = re.compile(r"<?\b(?:https?://|mailto:)[^\s<>]+>?")
_WORD = re.compile(r"(?:(?<!\w)[-−▲△])?\d+(?:[.,]\d+)*[%％]?|[^\W\d_]+")
_MOST_COMPARED = 50_000_000


def fuller(plain: str, page: str) -> str:
    """The form that says more; where each says something else, the plain text and the rest.

    Args:
        plain: the plain text, its lines joined to sentences.
        page: the text of the page, a line a block.

    Returns:
        The plain text where it has every line of the page, and the page where it has every line
        of the plain text. Else the plain text, then the lines of the page that it does not have.
    """
    if not page.strip():
        return plain
    missing = _missing(page, _ADDRESS.sub(" ", plain))
    if not missing:
        return plain
    if not _missing(plain, page):
        return page
    return "\n".join([plain.rstrip("\n"), "", *missing])


def _missing(text: str, other: str) -> list[str]:
    """The lines of a text that another one does not have, word for word in a row."""
    words = _WORD.findall(other)
    joined = "".join(words)
    begins = {0, *accumulate(map(len, words))}
    missing, compared = [], 0
    for line in dict.fromkeys(text.split("\n")):
        wanted = "".join(_WORD.findall(line))
        # A line that is not compared for its cost counts as missing: it is read twice at worst.
        compared += len(joined)
        if wanted and (compared > _MOST_COMPARED or not _has(joined, begins, wanted)):
            missing.append(line)
    return missing


def _has(joined: str, begins: set[int], wanted: str) -> bool:
    """Whether a text has some words, none of them as a part of a longer one."""
    at = joined.find(wanted)
    while at >= 0:
        if at in begins and at + len(wanted) in begins:
            return True
        at = joined.find(wanted, at + 1)
    return False
