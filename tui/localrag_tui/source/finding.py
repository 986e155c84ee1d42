"""Finding words in a text whatever their width and case: a pattern, so that it is quick."""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from unicodedata import normalize


def find_all(text: str, words: str) -> list[tuple[int, int]]:
    """Every place of some words in a text, in order, as spans in characters.

    ＡＢＣ is abc, ｶﾞ is ガ, and what parts words may be any blank or line feed.
    """
    pattern = _pattern(words)
    return [match.span() for match in pattern.finditer(text)] if pattern else []


def _pattern(words: str) -> re.Pattern[str] | None:
    folded = normalize("NFKC", words).casefold().split()
    if not folded:
        return None
    return re.compile(r"\s+".join("".join(map(_forms, word)) for word in folded))


def _forms(character: str) -> str:
    forms = [character, *_variants().get(character, ())]
    if all(len(form) == 1 for form in forms):
        return f"[{''.join(map(re.escape, forms))}]"
    return f"(?:{'|'.join(map(re.escape, forms))})"


@cache
def _variants() -> dict[str, tuple[str, ...]]:
    """The other ways to write a folded character."""
    variants: defaultdict[str, list[str]] = defaultdict(list)
    for written in _written():
        folded = normalize("NFKC", written).casefold()
        if len(folded) == 1 and folded != written:
            variants[folded].append(written)
    return {folded: tuple(written) for folded, written in variants.items()}


def _written() -> Iterator[str]:
    latin_greek_cyrillic = range(0x41, 0x530)
    full_and_half_width = range(0xFF01, 0xFFEF)
    numbers_in_circles = range(0x2460, 0x24EA)
    for code in (*latin_greek_cyrillic, *full_and_half_width, *numbers_in_circles):
        yield chr(code)
    # Voiced kana of half width are two characters.
    for kana in range(0xFF66, 0xFF9E):
        yield from (chr(kana) + mark for mark in "ﾞﾟ")
