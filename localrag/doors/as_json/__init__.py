"""JSON of searches, provisions, checks and answers, equal at every door.

``--json``, the tools of `mcp` and the routes of `serve` return these values. Each type is a
published schema and is filled from the attributes of a value.
"""

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import AliasPath, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import to_jsonable_python

from localrag.text.facts import Fact

if TYPE_CHECKING:
    from typing import TypedDict

    class Json(TypedDict):
        """A dictionary; type checkers see the result of `filled`."""

else:

    class Json(BaseModel):
        """Fields filled from attributes of the same name, or from the place given by `at`."""

        model_config = ConfigDict(from_attributes=True, defer_build=True)


Shape = TypeVar("Shape", bound=Json)


def filled(shape: type[Shape], value: object, about: object = None) -> Shape:
    """Return a value in the shape of a type of JSON.

    `value` is an object or a mapping with its fields; `about` is the context of validators.
    """
    kind: Any = shape
    made: Shape = kind.model_validate(value, context=about).model_dump(mode="json")
    return made


def at(path: str) -> Any:
    """Fill a field from an attribute of another name, or of an attribute (``locator.path``)."""
    return Field(validation_alias=AliasPath(*path.split(".")))


class FactJson(Json):
    """A note: its kind, its fields, and its words.

    `kind` is a stable code; `fields` are the values named by the words.
    """

    kind: str
    fields: dict[str, Any]
    words: str


Stored = Annotated[FactJson, BeforeValidator(Fact.stored)]
"""A fact."""
Words = Annotated[str, BeforeValidator(lambda value: str(value or ""))]
"""The words of a fact or label; "" for None."""
OrNull = Annotated[str | None, BeforeValidator(lambda text: text or None)]
"""A text; null for ""."""
Plain = Annotated[dict[str, Any] | None, BeforeValidator(to_jsonable_python)]
"""A value without a schema."""
Number = Annotated[Any, WithJsonSchema({"type": "number"})]
"""A number; a whole one stays whole."""
