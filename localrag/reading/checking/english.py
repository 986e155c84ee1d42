"""Reads what an English sentence affirms, denies, allows, demands or forbids."""

import re
from functools import cache
from typing import Any

from localrag.reading.checking.forces import (
    DEMANDING,
    DENYING,
    Force,
    Limit,
    Limiting,
    Predicate,
    ReadSentence,
)
from localrag_indexes.analysis.analyzer import ENGLISH

_WORD = re.compile(r"[a-z\u00df-\u024f]+(?:['’][a-z]+)?|[0-9]+|[;:,.()]")
_ENGLISH_READINGS = (
    (
        Force.AFFIRMED,
        r"not only|nothing but|not until|not without|no (?:more|less|fewer|later|longer) than"
        r"|not (?:more|less|fewer|later) than|not exceed\w*",
    ),
    (
        Force.EXEMPTED,
        r"(?:does|do|did|is|are|was|were|need) ?(?:not|n['’]t) "
        r"(?:have|need|required|obliged) ?(?:to)?"
        r"|need not|not (?:be )?(?:required|obliged|necessary)(?: to)?|exempt(?:ed)? from",
    ),
    (
        Force.FORBIDDEN,
        r"(?:must|may|shall|should|can|could|ought) ?(?:not|n['’]t)|cannot|can['’]t|may no longer"
        r"|(?:prohibited|forbidden|barred|prevented) from|prohibits?|forbids?"
        r"|not (?:be )?(?:allowed|permitted)(?: to)?",
    ),
    (
        Force.DEMANDED,
        r"must|shall|(?:has|have|had) to"
        r"|(?:is|are|was|were) (?:required|obliged) to|ought to|requires?",
    ),
    (
        Force.DENIED,
        r"not|\w+n['’]t|never|no longer|no|without|neither|nor|none of|fail(?:s|ed)? to|hardly",
    ),
    (
        Force.ALLOWED,
        r"may|might|can|could|(?:is|are|was|were) (?:allowed|permitted|entitled|able) to",
    ),
)
_ENGLISH_FORCE = re.compile(
    r"\b(?:" + "|".join(f"({words})" for _, words in _ENGLISH_READINGS) + r")(?!\w)"
)
_ENGLISH_LIMITS = (
    (
        Limit.EXCEPT,
        re.compile(
            r"\b(?:except|unless|other than|apart from|excluding|exclud\w+|provided,? however)\b"
        ),
    ),
    (Limit.ONLY, re.compile(r"(?<!not )\b(?:only|solely|exclusively)\b")),
)
_NEARBY = 7
# Between the word that denies and what it denies.
_PASSED_OVER = frozenset(
    [
        "also",
        "ever",
        "yet",
        "always",
        "been",
        "being",
        "be",
        "have",
        "had",
        "it",
        "they",
        "he",
        "she",
    ]
)
_STOPPED_BY = frozenset(";:,.()")


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


def read_english(normal: str, start: int, end: int) -> ReadSentence:
    """Read one sentence, a span of a normalised text."""
    text = normal[start:end].replace("’", "'")
    tokens = list(_WORD.finditer(text))
    keys = [_english_key(match[0]) for match in tokens]
    forces: dict[int, tuple[Force, int]] = {}
    for match in _ENGLISH_FORCE.finditer(text):
        assert match.lastindex is not None
        force = _ENGLISH_READINGS[match.lastindex - 1][0]
        for place, token in enumerate(tokens):
            if token.start() < match.end():
                continue
            if token[0] in _STOPPED_BY:
                break
            if keys[place] and token[0] not in _PASSED_OVER and not token[0].endswith("ly"):
                forces.setdefault(place, (force, match.start()))
                break
    places = [place for place, key in enumerate(keys) if key]
    predicates = []
    for order, place in enumerate(places):
        force, since = forces.get(place, (Force.AFFIRMED, tokens[place].start()))
        around = places[max(order - _NEARBY, 0) : order + _NEARBY + 1]
        near = frozenset(keys[other] for other in around if other != place)
        predicates.append(
            Predicate(keys[place], force, near, start + since, start + tokens[place].end())
        )
    limits = tuple(
        Limiting(limit, start + match.start(), start + match.end())
        for limit, pattern in _ENGLISH_LIMITS
        for match in pattern.finditer(text)
    )
    return ReadSentence(
        tuple(predicates),
        limits,
        frozenset(keys[place] for place in places),
        denies=DENYING.search(text) is not None,
        demands=DEMANDING.search(text) is not None,
    )


def says_something(text: str) -> bool:
    """Whether a text has a verb that helps, or a word in small letters that is no mere link.

    "by Johan Reed" and "in 1871" have neither.
    """
    words = text.split()
    plain = [word.strip(".,;:!?()\"'“”‘’") for word in words]
    return any(
        word in _AUXILIARIES or bool(_english_key(word))
        for word in plain
        if word and word.islower()
    )


def _english_key(word: str) -> str:
    """The stem of a word that says what a sentence is about, else ""."""
    plain = word.removesuffix("'s")
    if plain in ENGLISH or not plain[0].isalpha() or plain in _EMPTY:
        return ""
    return str(_stemmer().stemWord(plain))


_AUXILIARIES = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "am",
        "be",
        "been",
        "has",
        "have",
        "had",
        "does",
        "do",
        "did",
        "can",
        "could",
        "may",
        "might",
        "must",
        "shall",
        "should",
        "will",
        "would",
        "cannot",
    ]
)
_EMPTY = frozenset(
    [
        "may",
        "might",
        "must",
        "shall",
        "should",
        "can",
        "could",
        "cannot",
        "would",
        "need",
        "never",
        "neither",
        "nor",
        "none",
        "without",
        "only",
        "also",
        "just",
        "very",
        "about",
        "over",
        "under",
        "more",
        "most",
        "less",
        "least",
        "than",
        "other",
        "another",
        "any",
        "some",
        "each",
        "every",
        "according",
        "text",
        "passage",
        "says",
        "said",
        "states",
        "answer",
        "question",
        "all",
        "both",
        "one",
        "its",
        "which",
        "during",
        "while",
        "however",
        "although",
        "though",
        "being",
        "having",
    ]
)
