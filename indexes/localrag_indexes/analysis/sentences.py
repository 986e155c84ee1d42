"""Sentence boundaries of Japanese and English text, as spans of the text as it stands."""

import re
from itertools import pairwise

_BRACKETS = {
    "（": "）", "「": "」", "『": "』", "〔": "〕", "【": "】", "〈": "〉", "《": "》",
    "［": "］", "｛": "｝", "｢": "｣", "(": ")", "[": "]",
}  # fmt: skip
_OPENERS = {closer: opener for opener, closer in _BRACKETS.items()}
_BRACKET = re.compile("[" + re.escape("".join([*_BRACKETS, *_OPENERS])) + "]")
# Statutes put whole sentences into brackets; beyond this an opening bracket is a slip.
_LONGEST_BRACKET = 3000
_DEEPEST_NESTING = 40

_CLOSERS = "\"'”’)\\]）」』〕】〉》］｝｣"
_BOUNDARY = re.compile(
    r"[\r\n]+"
    r"|[。｡！？!?]+"
    r"|(?<![0-9０-９A-Za-zＡ-Ｚａ-ｚ])．"
    rf"|\.+(?=[{_CLOSERS}]*(?:\s|$))"
)
_TRAILING_CLOSERS = re.compile(r"[\"'”’]*")

_LAST_WORD = re.compile(r"(?:[A-Za-z]\.)*[A-Za-z]+$|[0-9]+$")
_NEXT_WORD = re.compile(r"[\s\"'“‘(\[]*([A-Za-z]+|\S)?")
_ABBREVIATION_LIST = """
    mr mrs ms dr prof sr jr st mt ft inc ltd co corp bros dept univ assn vs v etc eg ie cf al ca
    no nos art arts sec secs para paras ch fig figs vol vols p pp ed eds rev hon gen col maj capt
    cmdr lt sgt rep sen gov pres adm jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed
    thu fri sat sun approx est min max
"""
_ABBREVIATIONS = frozenset(_ABBREVIATION_LIST.split())
# Words that open a sentence but hardly ever follow an abbreviation inside one.
_STARTER_LIST = """
    The A An He She It They We You I In On At This That These Those There When While After Before
    If But And However His Her Its Their As For Since Although Many Some Most Both
"""
_STARTERS = frozenset(_STARTER_LIST.split())


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Return the spans of the sentences, in order, without the blanks around them.

    A sentence ends at 。！？ (full or half width), at an English full stop that closes no
    abbreviation, initial or number, and at a line break. Nothing ends inside a pair of brackets
    or 「」, unless the closing one is missing or thousands of characters away. Terminators and
    the quotation marks behind them belong to the sentence; every non-blank character belongs to
    exactly one.
    """
    cuts = [0]
    shelter = _bracketed(text)
    sheltered_until = -1
    for match in _BOUNDARY.finditer(text):
        start = match.start()
        while shelter and shelter[-1][0] < start:
            sheltered_until = max(sheltered_until, shelter.pop()[1])
        if start < sheltered_until or not _ends_sentence(text, match, cuts[-1]):
            continue
        end = match.end()
        if not match[0].isspace():
            end = _TRAILING_CLOSERS.match(text, end).end()  # type: ignore[union-attr]
        cuts.append(end)
    cuts.append(len(text))
    spans = (_trimmed(text, start, end) for start, end in pairwise(cuts))
    return [(start, end) for start, end in spans if start < end]


def _bracketed(text: str) -> list[tuple[int, int]]:
    """Spans of the well-formed bracket pairs, last one first."""
    open_at: list[int] = []
    pairs: list[tuple[int, int]] = []
    for match in _BRACKET.finditer(text):
        position = match.start()
        opener = _OPENERS.get(match[0])
        if opener is None:
            open_at.append(position)
            del open_at[:-_DEEPEST_NESTING]
            continue
        for depth in range(len(open_at) - 1, -1, -1):
            if text[open_at[depth]] == opener:
                if position - open_at[depth] <= _LONGEST_BRACKET:
                    pairs.append((open_at[depth], position))
                del open_at[depth:]
                break
    pairs.sort(reverse=True)
    return pairs


def _ends_sentence(text: str, boundary: re.Match[str], sentence_start: int) -> bool:
    mark = boundary[0]
    if mark.isspace():
        return not _wraps_line(text, boundary)
    if not mark.isascii():
        return True
    following = _NEXT_WORD.match(text, boundary.end())
    next_word = following[1] if following else None
    if next_word is None:
        return True
    if next_word[0].islower():
        return False
    return mark != "." or not _closes_abbreviation(
        text, boundary.start(), sentence_start, next_word
    )


def _closes_abbreviation(text: str, stop: int, sentence_start: int, next_word: str) -> bool:
    """Whether the full stop at `stop` belongs to the word or number before it."""
    # The window keeps the search short on a text without blanks.
    last = _LAST_WORD.search(text, max(0, stop - 24), stop)
    if last is None:
        return False
    word = last[0]
    if word.isdigit():
        # "1. Scope": a number that opens a sentence numbers what follows.
        return not text[sentence_start : last.start()].strip()
    if next_word in _STARTERS:
        return False
    return len(word) == 1 or "." in word or word.lower() in _ABBREVIATIONS


def _wraps_line(text: str, boundary: re.Match[str]) -> bool:
    """Whether a single line break only wraps an English sentence."""
    if boundary[0] not in ("\n", "\r\n") or boundary.start() == 0:
        return False
    before = text[boundary.start() - 1]
    after = text[boundary.end() : boundary.end() + 1]
    return (before.islower() or before == ",") and after.islower() and (before + after).isascii()


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
