"""JSON schemas that bound a reply: references resolved, bounds checked.

Only schemas whose every value has a largest size can be enforced on a model that may go on writing
for ever.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from localrag_models.errors import N_, SchemaUnsupported
from localrag_models.patterns import Pattern

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
    """Turn what goes wrong in reading a schema that is none (``{"type": 5}``) into our error.

    Raises:
        SchemaUnsupported: it did.
    """
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

    Args:
        root: the whole schema.

    Raises:
        SchemaUnsupported: it is no JSON, or absurdly large.
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
        """What a reference inside the schema, ``#/$defs/Name``, leads to."""
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

        Args:
            path: where it stands.
            schema: the part.
            inside: the references that led here.
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
        """Whether it is plain that no value fulfils two of the parts.

        It is where their types differ, or where all are objects that require one and the same
        property and have different constants for it, as unions told apart by a tag do.
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
    """A part of a schema, which has to be an object."""
    if not isinstance(value, Mapping):
        raise refused(path, f"is {value!r}, which allows anything or nothing")
    return value


def check_depth(path: str, part: Schema, inside: tuple[str, ...]) -> None:
    """Refuse what contains itself, or is nested past any use."""
    if part.get("$ref") in inside:
        raise refused(path, f"contains itself through {part['$ref']!r}, {len(inside)} levels deep")
    if path.count("/") + len(inside) > _DEEPEST * 2:
        raise refused(path[:80] + "…", f"is nested more than {_DEEPEST} levels deep")


def types(part: Schema) -> tuple[str, ...]:
    """The types a part allows by name; none where it does not say."""
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
