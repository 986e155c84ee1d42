"""JSON has the fields its published schema promises, and values keep their form."""

from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter

import localrag
from localrag.corpus.types import Locator
from localrag.doors.as_json import Json, Number, Words, at, filled
from localrag.doors.as_json.checks import CheckJson, check_as_json
from localrag.doors.as_json.found import (
    AnswerJson,
    RetrievalJson,
    answer_as_json,
    retrieval_as_json,
)
from localrag.doors.as_json.statutes import LookedUpJson, looked_up_as_json
from localrag.search.types import Query
from localrag.text.facts import Fact, FactKind

TEXT = "渡し舟法第6条の届出は、20日以内にしなければならない。渡し舟法第8条による。"


@pytest.fixture
def corpus(sample: Any) -> Any:
    with localrag.open(sample).corpus() as opened:
        yield opened


def test_results_have_exactly_the_fields_of_their_schemas(corpus: Any) -> None:
    query = Query("水位の基準")
    results: dict[Any, Any] = {
        RetrievalJson: retrieval_as_json(query, corpus.search(query)),
        AnswerJson: answer_as_json(query, corpus.ask(query)),
        LookedUpJson: looked_up_as_json(corpus.look_up("渡し舟法8条")),
        CheckJson: check_as_json(corpus.check(TEXT)),
    }
    for kind, result in results.items():
        schema = TypeAdapter(kind).json_schema(mode="serialization")
        assert differing(result, schema, schema.get("$defs", {})) == []


def differing(value: Any, schema: dict[str, Any], known: dict[str, Any]) -> list[str]:
    """Name the fields a schema has and a value has not, and the other way round."""
    if "$ref" in schema:
        schema = known[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        return min((differing(value, one, known) for one in schema["anyOf"]), key=len)
    if isinstance(value, list):
        return [fault for one in value for fault in differing(one, schema.get("items", {}), known)]
    fields = schema.get("properties")
    if not isinstance(value, dict) or fields is None:
        return []
    lacking = [name for name in schema["required"] if name not in value]
    unknown = [name for name in value if name not in fields]
    within = (differing(of, fields[name], known) for name, of in value.items() if name in fields)
    return [*lacking, *unknown, *(fault for faults in within for fault in faults)]


class PlaceShape(Json):
    """A place with a score and a reason."""

    path: Annotated[str, at("locator.path")]
    score: Number
    reason: Words


class Placed:
    def __init__(self, score: float, reason: Fact | None) -> None:
        self.locator = Locator(article="27_36", paragraph="1")
        self.score, self.reason = score, reason


def test_a_whole_number_stays_whole_and_an_attribute_may_lie_deeper() -> None:
    told = Fact(FactKind.SAID, words="it is named")
    shaped = filled(PlaceShape, Placed(1, told))
    assert shaped == {"path": "27_36.1", "score": 1, "reason": "it is named"}
    assert isinstance(shaped["score"], int)
    assert filled(PlaceShape, Placed(0.5, None)) == {"path": "27_36.1", "score": 0.5, "reason": ""}


def test_half_a_surrogate_pair_in_a_text_is_no_failure() -> None:
    shaped = filled(PlaceShape, Placed(1, Fact(FactKind.SAID, words="\udc80")))
    assert shaped["reason"] == "\udc80"
