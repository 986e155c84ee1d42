"""Notes of steps, methods and runs: a kind with fields, worded where it is shown.

Notes are compared and stored as values; `str(fact)` words one in the current language.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Self

from localrag.language import _
from localrag.text.facts.kinds import FactKind

if TYPE_CHECKING:
    from pydantic_core import CoreSchema

__all__ = ["Fact", "FactKind", "Value", "facts_of", "told"]

Value = str | int | float | tuple[str, ...]
"""A field value; several words are joined when shown."""


@dataclass(frozen=True, slots=True, init=False)
class Fact:
    """A note: `Fact(FactKind.NO_SUCH_LAW, name="民法")`."""

    kind: FactKind
    _values: tuple[tuple[str, Value], ...]

    def __init__(self, kind: FactKind, /, **fields: Value) -> None:
        if fields.keys() != _fields_of(kind):
            known = sorted(_fields_of(kind))
            raise ValueError(f"{kind} has the fields {known}, not {sorted(fields)}")
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "_values", tuple(sorted(fields.items())))

    @property
    def fields(self) -> Mapping[str, Value]:
        """The values named in its words."""
        return dict(self._values)

    def __str__(self) -> str:
        words = {
            name: _(", ").join(value) if isinstance(value, tuple) else value
            for name, value in self._values
        }
        return _(self.kind.value).format_map(words)

    def stored(self) -> dict[str, Any]:
        """The note as JSON: kind, fields, and words for readers without this code."""
        return {"kind": self.kind.code, "fields": dict(self._values), "words": str(self)}

    @classmethod
    def of_stored(cls, stored: object) -> Self:
        """Read a stored note.

        A string is one of an earlier version; unknown kinds keep their words.
        """
        match stored:
            case cls():
                return stored
            case str():
                return cls(FactKind.SAID, words=stored)
            case {"kind": str(code), "fields": dict(fields)}:
                values = {k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()}
                with suppress(LookupError, TypeError, ValueError):
                    fact = cls(FactKind.of_code(code), **values)
                    hash((fact, str(fact)))
                    return fact
        match stored:
            case {"words": str(words)}:
                return cls(FactKind.SAID, words=words)
        raise ValueError(f"no fact: {stored!r}")

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: object) -> "CoreSchema":
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(
            # Earlier versions stored "" for no note.
            lambda stored: cls.of_stored(stored) if stored != "" else None,
            serialization=core_schema.plain_serializer_function_ser_schema(cls.stored),
        )


@cache
def _fields_of(kind: FactKind) -> frozenset[str]:
    return kind.fields


def told(facts: Iterable[Fact]) -> str:
    """Several notes in words, joined."""
    return _("; ").join(map(str, facts))


def facts_of(stored: object) -> tuple[Fact, ...]:
    """Read stored notes; earlier versions stored one in words, or none. Raises `ValueError`."""
    if not stored:
        return ()
    return tuple(map(Fact.of_stored, stored if isinstance(stored, list | tuple) else [stored]))
