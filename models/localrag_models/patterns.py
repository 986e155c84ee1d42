"""Regular expressions of the simple kind, as rules of a grammar for JSON strings.

Anchored at both ends, made of characters, classes, groups, alternatives and counted repetitions:
``^(第[0-9]{1,3}条|附則)$``. What else regular expressions can do is refused.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

_SHORT = {"n": "\n", "r": "\r", "t": "\t", "f": "\f"}
_CLASSES = {"d": [("0", "9")], "w": [("0", "9"), ("A", "Z"), ("_", "_"), ("a", "z")]}
_SPECIAL = set("^$.|?*+()[]{}\\")
_COUNT = re.compile(r"\{(\d{1,4})(?:,(\d{1,4}))?\}")
_ESCAPED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}

MAX_REPETITIONS = 2000
"""llama.cpp refuses larger counts, or takes them for unlimited (MAX_REPETITION_THRESHOLD)."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern, or a part of one.

    Attributes:
        rule: GBNF for what it matches, as it stands in a JSON string.
        shortest: characters of the shortest match.
        longest: characters of the longest match.
    """

    rule: str
    shortest: int
    longest: int

    @classmethod
    def parse(cls, pattern: object) -> Self:
        """Read a whole pattern.

        Raises:
            ValueError: it is not of the simple kind; the message continues "the pattern …".
        """
        if not isinstance(pattern, str) or pattern[:1] != "^" or pattern[-1:] != "$":
            raise ValueError("is not anchored by ^ and $")
        parser = _Parser(pattern[1:-1])
        parsed = parser.alternatives()
        if not parser.at_end:
            raise ValueError(f"has a ) too many in {pattern!r}")
        if parsed.longest > MAX_REPETITIONS:
            raise ValueError(f"allows more than {MAX_REPETITIONS} characters")
        return cls(parsed.rule, parsed.shortest, parsed.longest)


def literal(text: str) -> str:
    """GBNF for exactly this text."""
    return '"' + "".join(_in_grammar(character) for character in text) + '"'


class _Parser:
    """Recursive descent over a pattern."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0

    @property
    def at_end(self) -> bool:
        return self._place == len(self._text)

    def alternatives(self) -> Pattern:
        options = [self._sequence()]
        while self._take("|"):
            options.append(self._sequence())
        return Pattern(
            f"({' | '.join(option.rule for option in options)})",
            min(option.shortest for option in options),
            max(option.longest for option in options),
        )

    def _sequence(self) -> Pattern:
        parts = []
        while not self.at_end and self._text[self._place] not in "|)":
            parts.append(self._repeated(self._item()))
        return Pattern(
            " ".join(part.rule for part in parts) or '""',
            sum(part.shortest for part in parts),
            sum(part.longest for part in parts),
        )

    def _repeated(self, item: Pattern) -> Pattern:
        if self._take("?"):
            least, most = 0, 1
        elif count := _COUNT.match(self._text, self._place):
            self._place = count.end()
            least, most = int(count[1]), int(count[2] or count[1])
        else:
            return item
        if least > most or most * item.longest > MAX_REPETITIONS:
            raise ValueError(f"repeats something {least} to {most} times")
        return Pattern(f"{item.rule}{{{least},{most}}}", least * item.shortest, most * item.longest)

    def _item(self) -> Pattern:
        if self._take("("):
            self._take("?:")
            inner = self.alternatives()
            if not self._take(")"):
                raise ValueError("has a group that is not closed")
            return inner
        if self._take("["):
            return Pattern(_class(self._ranges()), 1, 1)
        character = self._text[self._place]
        if character != "\\" and character in _SPECIAL:
            raise ValueError(f"uses {character!r}, which is not of the simple kind")
        return Pattern(_class(self._character()), 1, 1)

    def _ranges(self) -> list[tuple[str, str]]:
        ranges: list[tuple[str, str]] = []
        if self._take("^"):
            raise ValueError("has a negated class")
        while not self._take("]"):
            if self.at_end:
                raise ValueError("has a class that is not closed")
            first = self._character()
            if self._text[self._place : self._place + 1] == "-" and self._ahead(1) not in ("]", ""):
                self._place += 1
                last = self._character()
                if first[0][0] > last[0][1]:
                    raise ValueError("has a range that is the wrong way round")
                ranges.append((first[0][0], last[0][1]))
            else:
                ranges += first
        if not ranges:
            raise ValueError("has an empty class")
        return ranges

    def _character(self) -> list[tuple[str, str]]:
        character = self._text[self._place]
        self._place += 1
        if character != "\\":
            return [(character, character)]
        escaped = self._text[self._place : self._place + 1]
        self._place += 1
        if escaped in _CLASSES:
            return _CLASSES[escaped]
        if escaped in _SHORT or (escaped and not escaped.isalnum()):
            plain = _SHORT.get(escaped, escaped)
            return [(plain, plain)]
        raise ValueError(f"uses \\{escaped}, which is not of the simple kind")

    def _take(self, text: str) -> bool:
        found = self._text.startswith(text, self._place)
        self._place += len(text) * found
        return found

    def _ahead(self, distance: int) -> str:
        return self._text[self._place + distance : self._place + distance + 1]


def _class(ranges: Iterable[tuple[str, str]]) -> str:
    """GBNF for one of these characters, those escaped that JSON wants escaped."""
    plain, escapes = [], []
    for first, last in ranges:
        if any("\ud800" <= end <= "\udfff" for end in (first, last)):
            raise ValueError("has a surrogate")
        inside = [special for special in _ESCAPED if first <= special <= last]
        escapes += [literal(_ESCAPED[special]) for special in inside]
        plain += _without(first, last, inside)
    classes = "".join(f"{_in_grammar(first)}-{_in_grammar(last)}" for first, last in plain)
    options = [f"[{classes}]"] * bool(classes) + escapes
    if not options:
        raise ValueError("has a control character")
    return options[0] if len(options) == 1 else f"({' | '.join(options)})"


def _without(first: str, last: str, special: list[str]) -> list[tuple[str, str]]:
    """The ranges left of one when single characters, and control characters, are taken out."""
    low, left = max(ord(first), 0x20), []
    for taken in sorted(ord(each) for each in special if each >= " "):
        left.append((low, taken - 1))
        low = taken + 1
    left.append((low, ord(last)))
    return [(chr(a), chr(b)) for a, b in left if a <= b]


def _in_grammar(character: str) -> str:
    """A character as GBNF writes it inside quotes or a class."""
    code = ord(character)
    if character.isascii() and character.isalnum():
        return character
    if 0xD800 <= code <= 0xDFFF:
        raise ValueError("has a surrogate")
    return f"\\U{code:08X}"
