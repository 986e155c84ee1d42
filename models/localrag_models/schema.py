"""JSON schemas that bound a reply: patterns parsed, references resolved, bounds checked.

A schema can be enforced only if every value has a largest size: a model may go on writing forever.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from localrag_models.errors import N_, SchemaUnsupported

_SHORT = {"n": "\n", "r": "\r", "t": "\t", "f": "\f"}
_CLASSES = {"d": [("0", "9")], "w": [("0", "9"), ("A", "Z"), ("_", "_"), ("a", "z")]}
_SPECIAL = set("^$.|?*+()[]{}\\")
_COUNT = re.compile(r"\{(\d{1,4})(?:,(\d{1,4}))?\}")
_ESCAPED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}

MAX_REPETITIONS = 2000
"""llama.cpp refuses larger counts, or reads them as unlimited (MAX_REPETITION_THRESHOLD)."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern, or a part of one.

    Attributes:
        rule: GBNF for its matches in a JSON string.
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
            ValueError: the pattern is not simple; the message continues "the pattern …".
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
    """GBNF for one of these characters, with the escapes of JSON."""
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
    """The range without some characters and without control characters."""
    low, left = max(ord(first), 0x20), []
    for taken in sorted(ord(each) for each in special if each >= " "):
        left.append((low, taken - 1))
        low = taken + 1
    left.append((low, ord(last)))
    return [(chr(a), chr(b)) for a, b in left if a <= b]


def _in_grammar(character: str) -> str:
    """A character in GBNF, inside quotes or a class."""
    code = ord(character)
    if character.isascii() and character.isalnum():
        return character
    if 0xD800 <= code <= 0xDFFF:
        raise ValueError("has a surrogate")
    return f"\\U{code:08X}"


Schema = Mapping[str, Any]

ANNOTATIONS = frozenset(
    {
        "$comment", "$defs", "$id", "$schema", "default", "definitions", "deprecated",
        "description", "discriminator", "examples", "readOnly", "title", "writeOnly",
    }
)  # fmt: skip
"""Keywords that do not restrict a value."""

_DEEPEST = 32
_LARGEST = 200_000


def check_bounds(schema: Schema) -> None:
    """Make sure that every string and every list of a schema has a largest length.

    Raises:
        SchemaUnsupported: one has none, or the schema refers to itself; names its path.
    """
    with well_formed():
        Resolver(schema).check("#", schema)


@contextmanager
def well_formed() -> Iterator[None]:
    """Turn the errors of an invalid schema (``{"type": 5}``) into `SchemaUnsupported`."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise refused("#", f"is no valid JSON schema ({error!r})") from error


def refused(path: str, why: str) -> SchemaUnsupported:
    """The error for a part of a schema."""
    return SchemaUnsupported(
        N_("The schema cannot be enforced: {place} {why}."),
        N_("Describe the reply with bounded strings, lists, numbers, objects and choices."),
        place=path,
        why=why,
    )


class Resolver:
    """Follows the references of one schema.

    Raises:
        SchemaUnsupported: the schema is no JSON, or absurdly large.
    """

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._checked: set[str] = set()
        try:
            size = len(json.dumps(root, allow_nan=False))
        except (TypeError, ValueError, RecursionError) as error:
            raise refused("#", f"is no JSON value ({error})") from None
        if size > _LARGEST:
            raise refused("#", f"has {size:,} characters, more than {_LARGEST:,}")

    def target(self, path: str, reference: object) -> Schema:
        """The target of a reference inside the schema, ``#/$defs/Name``."""
        found: object = self._root
        if not isinstance(reference, str) or not reference.startswith("#/"):
            raise refused(path, f"refers to {reference!r}, outside its $defs")
        for step in reference[2:].split("/"):
            key = step.replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, Mapping) else None
        if not isinstance(found, Mapping):
            raise refused(path, f"refers to {reference!r}, which is not there")
        return found

    def check(self, path: str, schema: object, inside: tuple[str, ...] = ()) -> None:
        """Check the bounds of a part, and of all below it.

        `path` is its place, `inside` the references that led to it.
        """
        part = as_schema(path, schema)
        check_depth(path, part, inside)
        if "$ref" in part:
            reference = part["$ref"]
            if reference not in self._checked:
                self.check(path, self.target(path, reference), (*inside, reference))
                self._checked.add(reference)
        elif "enum" not in part and "const" not in part:
            _check_own_bounds(path, part)
        for step, child in _children(part):
            self.check(f"{path}/{step}", child, inside)

    def exclude_each_other(self, path: str, parts: Sequence[object]) -> bool:
        """Whether no value can fulfil two of the parts.

        True if their types differ, or if all are objects that require the same property with
        different constants, as in tagged unions.
        """
        targets = [self._followed(path, as_schema(path, part)) for part in parts]
        kinds = [kind for target in targets for kind in types(target)]
        if all(map(types, targets)) and len(set(kinds)) == len(kinds):
            return not {"integer", "number"} <= set(kinds)
        tags = set.intersection(*(set(target.get("required", ())) for target in targets))
        return any(
            len({json.dumps(constant) for constant in constants}) == len(targets)
            for tag in tags
            if all(constants := [target["properties"][tag].get("const") for target in targets])
        )

    def _followed(self, path: str, part: Schema) -> Schema:
        return self.target(path, part["$ref"]) if "$ref" in part else part


def as_schema(path: str, value: object) -> Schema:
    """A part of a schema; it must be an object."""
    if not isinstance(value, Mapping):
        raise refused(path, f"is {value!r}, which allows anything or nothing")
    return value


def check_depth(path: str, part: Schema, inside: tuple[str, ...]) -> None:
    """Refuse a schema that contains itself, or is nested too deeply."""
    if part.get("$ref") in inside:
        raise refused(path, f"contains itself through {part['$ref']!r}, {len(inside)} levels deep")
    if path.count("/") + len(inside) > _DEEPEST * 2:
        raise refused(path[:80] + "…", f"is nested more than {_DEEPEST} levels deep")


def types(part: Schema) -> tuple[str, ...]:
    """The types that a part allows; empty if it does not say."""
    named = part.get("type", ())
    return (named,) if isinstance(named, str) else tuple(named)


def _check_own_bounds(path: str, part: Schema) -> None:
    if "string" in types(part) and "maxLength" not in part:
        if "pattern" not in part:
            raise refused(path, "is a string without maxLength, enum, const or pattern")
        try:
            Pattern.parse(part["pattern"])
        except ValueError as error:
            raise refused(path, f"has a pattern and no maxLength; its pattern {error}") from None
    if "array" in types(part) and "maxItems" not in part:
        raise refused(path, "is a list without maxItems")


def _children(part: Schema) -> Iterator[tuple[str, object]]:
    for keyword in ("properties", "patternProperties"):
        for name, child in part.get(keyword, {}).items():
            yield f"{keyword}/{name}", child
    for keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for place, child in enumerate(part.get(keyword, ())):
            yield f"{keyword}/{place}", child
    if isinstance(part.get("items"), Mapping):
        yield "items", part["items"]
    if isinstance(part.get("additionalProperties"), Mapping):
        yield "additionalProperties", part["additionalProperties"]
