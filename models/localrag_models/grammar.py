"""JSON schema to GBNF, the grammars of llama.cpp.

The converter of llama-cpp-python lets raw control characters into strings, ignores the bounds of
integers, and reads counts above 2,000 as unlimited. The JSON here is compact: one blank may follow
a comma or a colon, and properties keep the order of the schema.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from localrag_models.schema import (
    ANNOTATIONS,
    MAX_REPETITIONS,
    Pattern,
    Resolver,
    Schema,
    as_schema,
    check_depth,
    literal,
    refused,
    types,
    well_formed,
)

_BASE = {
    "blank": '" "?',
    "digits": "[0-9]{1,6}",
    # No \u: every character can stand for itself, and half a surrogate pair cannot come. Control
    # characters, C1 ones too, are excluded.
    "char": r"[\x20-\x21\x23-\x5B\x5D-\x7E\u00A0-\uD7FF\uE000-\U0010FFFF]"
    r' | "\\" ["\\/nrt]',
}
_KEYWORDS = {
    "type", "properties", "required", "additionalProperties", "items", "minItems", "maxItems",
    "minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum",
}  # fmt: skip
"""Each restricts the values of one type only."""
_PYTHON: Mapping[str, type | tuple[type, ...]] = {
    "object": dict, "array": list, "string": str, "integer": int, "number": (int, float),
    "boolean": bool, "null": type(None),
}  # fmt: skip

_LARGEST = 10**18 - 1
"""Bound of integers without one; all fit into 64 bits."""
_MAX_REPEATED = 60_000
_MAX_RULES = 5_000
_WHOLE_DIGITS = 10**15 - 1


@lru_cache(maxsize=64)
def _grammar_of_json(schema: str) -> str:
    with well_formed():
        return _Converter(json.loads(schema)).grammar()


def grammar_of(schema: Schema) -> str:
    """Grammar, with the rule ``root``, for the JSON texts that fulfil a schema.

    Raises:
        SchemaUnsupported: a part cannot be enforced, or has no bounds; names the place.
    """
    try:
        text = json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise refused("#", f"is no JSON value ({error})") from None
    return _grammar_of_json(text)


class _Converter:
    """Turns each part of a schema into rules; equal rules are written once."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._resolver = Resolver(schema)
        self._rules = dict(_BASE)
        self._names: dict[str, str] = {}
        self._referenced: dict[str, tuple[str, ...]] = {}
        self._repeated = 0
        self._by_type: Mapping[str, Callable[[str, Schema, tuple[str, ...]], str]] = {
            "object": self._object,
            "array": self._array,
            "string": self._string,
            "integer": self._integer,
            "number": self._number,
            "boolean": lambda *_: '("true" | "false")',
            "null": lambda *_: '"null"',
        }

    def grammar(self) -> str:
        self._resolver.check("#", self._schema)
        root = " | ".join(self._options("#", self._schema, ()))
        rules = {"root": root, **self._rules}
        return "\n".join(f"{name} ::= {rule}" for name, rule in rules.items()) + "\n"

    def _options(self, path: str, schema: object, inside: tuple[str, ...]) -> tuple[str, ...]:
        """Rules of alternatives; a value fulfils one.

        Nested choices become one flat choice: llama.cpp looks for left recursion along every path
        through nested ones, and may never finish.
        """
        part = as_schema(path, schema)
        check_depth(path, part, inside)
        if "$ref" in part:
            _only(path, part, {"$ref"})
            return self._reference(path, part["$ref"], inside)
        for keyword in ("anyOf", "oneOf", "allOf"):
            if keyword in part:
                _only(path, part, {keyword})
                return self._choice(f"{path}/{keyword}", keyword, part[keyword], inside)
        named = types(part)
        if "const" in part or "enum" in part:
            _only(path, part, {"const", "enum", "type"})
            return _values(path, part, named)
        _only(path, part, _KEYWORDS)
        if not named:
            raise refused(path, "does not say its type")
        for name in named:
            if name not in self._by_type:
                raise refused(path, f"is of the unknown type {name!r}")
        return tuple(self._rule(self._by_type[name](path, part, inside)) for name in named)

    def _reference(self, path: str, reference: str, inside: tuple[str, ...]) -> tuple[str, ...]:
        if reference not in self._referenced:
            target = self._resolver.target(path, reference)
            self._referenced[reference] = self._options(path, target, (*inside, reference))
        return self._referenced[reference]

    def _choice(
        self, path: str, keyword: str, parts: Sequence[object], inside: tuple[str, ...]
    ) -> tuple[str, ...]:
        if keyword == "allOf" and len(parts) != 1:
            raise refused(path, "combines several schemas")
        if keyword == "oneOf" and not self._resolver.exclude_each_other(path, parts):
            raise refused(path, "offers choices that one value could fulfil two of; use anyOf")
        options = [
            option
            for place, part in enumerate(parts)
            for option in self._options(f"{path}/{place}", part, inside)
        ]
        if not options:
            raise refused(path, "offers no choice")
        return tuple(dict.fromkeys(options))

    def _object(self, path: str, part: Schema, inside: tuple[str, ...]) -> str:
        if "properties" not in part or isinstance(part.get("additionalProperties"), Mapping):
            raise refused(path, "is an object whose properties are not named")
        required = set(part.get("required", ()))
        if missing := required - set(part["properties"]):
            raise refused(path, f"requires {min(missing)!r}, which it does not describe")
        members = []
        for name, child in part["properties"].items():
            options = self._options(f"{path}/properties/{name}", child, inside)
            key = _value(path, name)
            members.append(
                (self._rule(f'{key} ":" blank ({" | ".join(options)})'), name in required)
            )
        return f'"{{" {self._members(members)} "}}"'

    def _members(self, members: Sequence[tuple[str, bool]]) -> str:
        """Rule of a list of members, each with whether it is required."""
        first, after = '""', '""'
        for rule, needed in reversed(members):
            following = f"{rule} {after}"
            first = self._rule(following if needed else f"{following} | {first}")
            joined = f'"," blank {rule}'
            after = self._rule(f"{joined} {after}" if needed else f"{joined} {after} | {after}")
        return first

    def _array(self, path: str, part: Schema, inside: tuple[str, ...]) -> str:
        if "items" not in part:
            raise refused(path, "does not say what it is a list of")
        least, most = self._counts(path, part, "minItems", "maxItems")
        item = self._rule(" | ".join(self._options(f"{path}/items", part["items"], inside)))
        if most == 0:
            return '"[" "]"'
        following = self._rule(f'"," blank {item}')
        items = f"{item} {following}{{{max(0, least - 1)},{most - 1}}}"
        return f'"[" ({items})? "]"' if least == 0 else f'"[" {items} "]"'

    def _string(self, path: str, part: Schema, _: tuple[str, ...]) -> str:
        if "pattern" not in part:
            least, most = self._counts(path, part, "minLength", "maxLength")
            return rf'"\"" {self._characters(least, most)} "\""'
        try:
            pattern = Pattern.parse(part["pattern"])
        except ValueError as error:
            raise refused(path, f"has a pattern that {error}") from None
        if pattern.shortest < part.get("minLength", 0):
            raise refused(path, "has a pattern that allows less than its minLength")
        if pattern.longest > part.get("maxLength", pattern.longest):
            raise refused(path, "has a pattern that allows more than its maxLength")
        self._count_repeated(path, pattern.longest)
        return rf'"\"" {pattern.rule} "\""'

    def _characters(self, least: int, most: int) -> str:
        """Rule of so many characters, in chains that llama.cpp accepts as finite."""
        chain = MAX_REPETITIONS
        if most <= chain:
            return f"char{{{least},{most}}}"
        rest = self._rule(self._characters(max(0, least - chain), most - chain))
        full = f"char{{{chain}}} {rest}"
        return full if least >= chain else self._rule(f"{full} | char{{{least},{chain - 1}}}")

    def _integer(self, path: str, part: Schema, _: tuple[str, ...]) -> str:
        lowest, highest = _range(path, part, _LARGEST)
        return _integer_rule(lowest, highest)

    def _number(self, path: str, part: Schema, _: tuple[str, ...]) -> str:
        """Plain decimals with up to six places; between whole numbers only."""
        lowest, highest = _range(path, part, _WHOLE_DIGITS)
        options = []
        if lowest < 0:
            options += _decimals(max(0, -highest), -lowest, '"-" ')
        if highest >= 0:
            options += _decimals(max(0, lowest), highest, "")
        return f"({' | '.join(options)})"

    def _counts(self, path: str, part: Schema, least: str, most: str) -> tuple[int, int]:
        low, high = part.get(least, 0), part[most]
        if not _is_whole(low) or not _is_whole(high) or not 0 <= low <= high:
            raise refused(path, f"has {least} {low!r} and {most} {high!r}")
        self._count_repeated(path, high)
        return low, high

    def _count_repeated(self, path: str, times: int) -> None:
        self._repeated += times
        if self._repeated > _MAX_REPEATED:
            raise refused(path, f"is where the lengths add up to more than {_MAX_REPEATED:,}")

    def _rule(self, rule: str) -> str:
        """The name of a rule, which is added if it is new."""
        if rule not in self._names:
            if len(self._names) >= _MAX_RULES:
                raise refused("#", f"needs more than {_MAX_RULES:,} rules")
            self._names[rule] = f"r{len(self._names)}"
            self._rules[self._names[rule]] = rule
        return self._names[rule]


def _decimals(low: int, high: int, sign: str) -> list[str]:
    """Rules of the decimals from `low` to `high`, both whole and not negative."""
    rules = [f'{sign}"{high}" ("." "0"{{1,6}})?']
    if low < high:
        rules.append(f'{sign}{_integer_rule(low, high - 1)} ("." digits)?')
    return rules


def _integer_rule(lowest: int, highest: int) -> str:
    """GBNF for the decimal integers from `lowest` to `highest`, without leading zeros."""
    rules = []
    if lowest < 0:
        rules += [f'"-" {rule}' for rule in _of_each_length(max(1, -highest), -lowest)]
    if highest >= 0:
        rules += _of_each_length(max(0, lowest), highest)
    return f"({' | '.join(rules)})"


def _of_each_length(low: int, high: int) -> list[str]:
    """One rule per number of digits."""
    rules = []
    while low <= high:
        last = min(high, 10 ** len(str(low)) - 1)
        rules.append(_between(str(low), str(last)))
        low = last + 1
    return rules


def _between(low: str, high: str) -> str:
    """Digit strings of one length from `low` to `high`."""
    if low == high:
        return f'"{low}"' if low else '""'
    if set(low) == {"0"} and set(high) == {"9"}:
        return f"[0-9]{{{len(low)}}}"
    first, last, rest = int(low[0]), int(high[0]), len(low) - 1
    if first == last:
        return f'"{first}" {_between(low[1:], high[1:])}'
    options = []
    if low[1:] != "0" * rest:
        options.append(f'"{first}" {_between(low[1:], "9" * rest)}')
        first += 1
    end = []
    if high[1:] != "9" * rest:
        end.append(f'"{last}" {_between("0" * rest, high[1:])}')
        last -= 1
    if first <= last:
        options.append(f"[{first}-{last}]" + (f" [0-9]{{{rest}}}" if rest else ""))
    return f"({' | '.join(options + end)})"


def _range(path: str, part: Schema, largest: int) -> tuple[int, int]:
    integer = "number" not in types(part)
    bounds = {key: value for key, value in part.items() if key.lower().endswith("imum")}
    if not all(_is_whole(value) for value in bounds.values()):
        raise refused(path, "has a bound that is no whole number")
    if not integer and any(key.startswith("exclusive") for key in bounds):
        raise refused(path, "is a number with an exclusive bound")
    lowest = max(bounds.get("minimum", -largest), bounds.get("exclusiveMinimum", -largest - 1) + 1)
    highest = min(bounds.get("maximum", largest), bounds.get("exclusiveMaximum", largest + 1) - 1)
    if lowest > highest:
        raise refused(path, f"leaves no number: {lowest} to {highest}")
    return lowest, highest


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _only(path: str, part: Schema, known: set[str]) -> None:
    if unknown := sorted(set(part) - known - ANNOTATIONS):
        raise refused(path, f"uses {unknown[0]!r}")


def _values(path: str, part: Schema, named: Sequence[str]) -> tuple[str, ...]:
    """Rules of the listed values whose type is allowed."""
    listed = part.get("enum", [part.get("const")])
    values = [
        value
        for value in listed
        if "const" not in part or value == part["const"]
        if not named or any(_is_of(value, name) for name in named)
    ]
    if not values:
        raise refused(path, "lists no value that it allows")
    return tuple(dict.fromkeys(_value(path, value) for value in values))


def _is_of(value: object, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, _PYTHON.get(name, ()))


def _value(path: str, value: object) -> str:
    """GBNF for exactly this value."""
    try:
        return literal(
            json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        )
    except ValueError as error:
        raise refused(path, f"holds {value!r}, which {error}") from None
