"""What a grammar lets through and what not, asked of llama.cpp's own parser."""

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localrag_models.backends.llama_cpp.native import Model
from localrag_models.backends.llama_cpp.sampling import GrammarConstraint, Vocabulary
from localrag_models.errors import SchemaUnsupported
from localrag_models.grammar import grammar_of
from localrag_models.schema import check_bounds

from ...rows import each

Accepts = Callable[[dict[str, Any], str], bool]


@pytest.fixture(scope="module")
def native(tiny_chat: Path) -> Iterator[Model]:
    model = Model(tiny_chat, "chat")
    yield model
    model.close()


@pytest.fixture(scope="module")
def accepts(native: Model) -> Accepts:
    """Whether the grammar of a schema lets a text through, byte by byte, and may end there."""
    vocabulary = Vocabulary(native)
    token_of = {native.piece(token): token for token in range(256)}

    def accepts(schema: dict[str, Any], text: str) -> bool:
        constraint = GrammarConstraint(native, grammar_of(schema), vocabulary)
        try:
            for byte in text.encode():
                token = token_of[bytes([byte])]
                if not constraint.allowed(np.array([token], np.int32))[0]:
                    return False
                if not constraint.fits(token):
                    return False
                constraint.accept(token)
            return constraint.complete
        finally:
            constraint.close()

    return accepts


def string(**keywords: Any) -> dict[str, Any]:
    return {"type": "string", **keywords}


@settings(max_examples=60, deadline=None)
@given(st.integers(-3000, 3000), st.integers(0, 3000), st.data())
def test_integers_keep_exactly_to_their_bounds(
    accepts: Accepts, low: int, span: int, data: st.DataObject
) -> None:
    high = low + span
    schema = {"type": "integer", "minimum": low, "maximum": high}
    near = [low - 1, low, low + 1, high - 1, high, high + 1, -low, 0, 10 * high]
    for value in [*near, *data.draw(st.lists(st.integers(-4000, 7000), max_size=8))]:
        assert accepts(schema, str(value)) == (low <= value <= high), value


@each("text", ["007", "-0", "+1", "1.0", "1e3", "", "-", "--1", " 1"])
def test_integers_have_one_spelling(accepts: Accepts, text: str) -> None:
    assert not accepts({"type": "integer", "minimum": -100, "maximum": 5000}, text)


def test_integers_without_bounds_fit_64_bits(accepts: Accepts) -> None:
    assert accepts({"type": "integer"}, str(10**18 - 1))
    assert not accepts({"type": "integer"}, str(10**18))
    assert accepts({"type": "integer", "exclusiveMinimum": 4}, "5")
    assert not accepts({"type": "integer", "exclusiveMinimum": 4}, "4")


@each(
    ("text", "fits"),
    [
        ("0", True), ("1", True), ("0.25", True), ("1.0", True), ("0.123456", True),
        ("1.1", False), ("-0.1", False), ("2", False), ("0.1234567", False), (".5", False),
        ("1e0", False), ("00.5", False),
    ],
)  # fmt: skip
def test_numbers(accepts: Accepts, text: str, fits: bool) -> None:
    assert accepts({"type": "number", "minimum": 0, "maximum": 1}, text) is fits


def test_negative_numbers(accepts: Accepts) -> None:
    schema = {"type": "number", "minimum": -3, "maximum": -1}
    for text, fits in [
        ("-1", True),
        ("-2.9", True),
        ("-3.0", True),
        ("-3.1", False),
        ("-0.9", False),
    ]:
        assert accepts(schema, text) is fits, text


@each(
    "character",
    ["\x00", "\n", "\t", "\x1f", "\x7f", "\x85", '"', "\\", "\\u0041", "\\ud800", "\\x"],
)
def test_strings_hold_nothing_that_json_or_a_terminal_chokes_on(
    accepts: Accepts, character: str
) -> None:
    assert not accepts(string(maxLength=9), f'"a{character}b"')


@each("text", ["", "条", "𠮷", "a b", "<|im_end|>", "\\n", '\\"', "\\\\", "\\/"])
def test_strings_hold_everything_else(accepts: Accepts, text: str) -> None:
    assert accepts(string(maxLength=10), f'"{text}"')


@pytest.mark.parametrize("overlong", [b"\xe0\x9f\xbf", b"\xc1\x81", b"\xf0\x8f\xbf\xbf"])
def test_bytes_that_are_no_utf_8_do_not_fit(native: Model, overlong: bytes) -> None:
    constraint = GrammarConstraint(native, grammar_of(string(maxLength=5)), Vocabulary(native))
    token_of = {native.piece(token): token for token in range(256)}
    fitting = []
    for byte in b'"' + overlong:
        token = token_of[bytes([byte])]
        fitting.append(
            bool(constraint.allowed(np.array([token], np.int32))[0]) and constraint.fits(token)
        )
        if not fitting[-1]:
            break
        constraint.accept(token)
    constraint.close()
    assert not all(fitting)


@each(("least", "most"), [(0, 3), (2, 2), (1990, 2005), (0, 4100), (4001, 6001)])
def test_strings_keep_to_their_lengths(accepts: Accepts, least: int, most: int) -> None:
    schema = string(minLength=least, maxLength=most)
    for length in {least - 1, least, most, most + 1} - {-1}:
        assert accepts(schema, f'"{"条" * length}"') == (least <= length <= most), length


def test_lists_keep_to_their_lengths(accepts: Accepts) -> None:
    schema = {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 3}
    for length in range(5):
        text = json.dumps([True] * length)
        assert accepts(schema, text) == (1 <= length <= 3)
    assert accepts({"type": "array", "items": {"type": "null"}, "maxItems": 0}, "[]")
    assert not accepts({**schema, "maxItems": 1}, "[true,]")


def test_optional_properties_may_be_left_out_and_keep_their_order(accepts: Accepts) -> None:
    schema = {
        "type": "object",
        "properties": {name: {"type": "null"} for name in "abcd"},
        "required": ["b"],
    }
    for names in ["b", "ab", "bd", "abcd", "bcd"]:
        assert accepts(schema, json.dumps(dict.fromkeys(names)))
    for names in ["", "a", "ba", "bb", "abdc", "be"]:
        text = "{" + ",".join(f'"{name}":null' for name in names) + "}"
        assert not accepts(schema, text)
    del schema["required"]
    assert accepts(schema, "{}")
    assert accepts(schema, '{"d": null}')


@each("value", ['a"b\\c', "第一条", "\n\x01", 7, -1.5, None, True, {"a": [1, {"b": None}]}, ""])
def test_constants_and_choices_of_any_kind(accepts: Accepts, value: object) -> None:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert accepts({"const": value}, text)
    assert accepts({"enum": ["other", value]}, text)
    assert not accepts({"enum": ["other"]}, text)


@each(
    ("pattern", "fitting", "others"),
    [
        ("^[0-9]{3}$", ["007"], ["07", "0070", "a07"]),
        ("^第[0-9]{1,3}条(の[0-9]{1,2}){0,2}$", ["第5条", "第27条の36の2"], ["第条", "第5条の"]),
        (r"^\d\w?(a|bc)$", ["7a", "7_bc"], ["7", "7ab"]),
        (r"^[\]\-a^]{2}$", ["]-", "a^"], ["b]"]),
        ("^$", [""], ["a"]),
        ('^[!-~]\\"$', ['a"', '""', '\\"'], ["a"]),
        (r"^\.\n[-x]$", [".\n-"], ["a\n-"]),
    ],
)
def test_patterns(accepts: Accepts, pattern: str, fitting: list[str], others: list[str]) -> None:
    for text in fitting:
        assert accepts(string(pattern=pattern), json.dumps(text, ensure_ascii=False)), text
    for text in others:
        assert not accepts(string(pattern=pattern), json.dumps(text, ensure_ascii=False)), text


@each(
    "pattern",
    ["a", "^a", "^a*$", "^a+$", "^.$", "^[^a]$", "^(a$", "^a)$", "^a{1,}$", "^\\b$", "^[z-a]$",
     "^[]$", "^[a$", "^a{9999}$", "^\\", "^(?=a)$", "^(a{999}){999}$", "^\ud800$", "^\x01$", 7],
)  # fmt: skip
def test_other_patterns_are_refused(pattern: object) -> None:
    with pytest.raises(SchemaUnsupported, match="pattern"):
        grammar_of(string(pattern=pattern, maxLength=5))


def test_unions_and_references(accepts: Accepts) -> None:
    schema = {
        "anyOf": [{"$ref": "#/$defs/a~1b"}, {"type": ["null", "boolean"]}],
        "$defs": {"a/b": {"allOf": [{"type": "integer", "minimum": 0, "maximum": 5}]}},
    }
    for text, fits in [("3", True), ("null", True), ("false", True), ("6", False), ('"3"', False)]:
        assert accepts(schema, text) is fits


def test_a_tagged_union(accepts: Accepts) -> None:
    def tagged(tag: str) -> dict[str, Any]:
        return {"type": "object", "properties": {"kind": {"const": tag}}, "required": ["kind"]}

    schema = {"oneOf": [tagged("a"), tagged("b")]}
    assert accepts(schema, '{"kind":"b"}')
    with pytest.raises(SchemaUnsupported, match="anyOf"):
        grammar_of({"oneOf": [tagged("a"), tagged("a")]})


@each(
    ("schema", "place"),
    [
        ({}, "#"),
        ({"type": "any"}, "#"),
        (string(maxLength=5, format="date"), "format"),
        ({"type": "integer", "multipleOf": 3}, "multipleOf"),
        ({"type": "integer", "minimum": 3, "maximum": 2}, "leaves no number"),
        ({"type": "number", "minimum": 0.5}, "whole number"),
        ({"type": "array", "maxItems": 3}, "#"),
        ({"type": "object"}, "not named"),
        ({"type": "object", "properties": {}, "required": ["x"]}, "'x'"),
        ({"type": "object", "properties": {}, "additionalProperties": string()}, "#"),
        ({"type": "object", "properties": {"a/b": True}}, "#/properties/a/b"),
        ({"enum": []}, "no value"),
        ({"type": "string", "enum": [1, 2]}, "no value"),
        ({"const": "\ud800"}, "#"),
        ({"const": float("nan")}, "JSON"),
        ({"const": {1, 2}}, "JSON"),
        ({"anyOf": []}, "no choice"),
        ({"not": {"type": "null"}}, "#"),
        ({"$ref": "https://example.org/schema"}, "outside"),
        ({"$ref": "#/$defs/none"}, "not there"),
        ({"$ref": "#"}, "#"),
        (string(minLength=4, maxLength=3), "minLength"),
        (string(maxLength=-1), "maxLength"),
        (string(maxLength=True), "maxLength"),
        (string(maxLength=10**9), "add up"),
        (string(maxLength="5"), "maxLength"),
        ({"anyOf": [string(maxLength=2000)] * 99}, "add up"),
    ],
)  # fmt: skip
def test_what_cannot_be_enforced_is_refused(schema: dict[str, Any], place: str) -> None:
    with pytest.raises(SchemaUnsupported, match=place.replace("$", r"\$")):
        grammar_of(schema)


@each(
    ("schema", "path"),
    [
        (string(), "#"),
        ({"type": "object", "properties": {"a": {"type": "array", "items": string()}}}, "a"),
        ({"anyOf": [{"type": "null"}, {"type": ["null", "string"]}]}, "#/anyOf/1"),
        ({"type": "array", "items": {"type": "null"}}, "#"),
        ({"$ref": "#/$defs/a", "$defs": {"a": string()}}, "#"),
        (string(pattern="^a*$"), "#"),
    ],
)
def test_what_has_no_bound_is_named(schema: dict[str, Any], path: str) -> None:
    with pytest.raises(SchemaUnsupported, match=path):
        check_bounds(schema)


def test_what_is_bounded_passes() -> None:
    check_bounds({"type": "array", "maxItems": 2, "items": string(pattern="^a{3}$")})
    check_bounds({"enum": ["a"], "type": "string"})


def test_a_schema_that_contains_itself_is_refused_with_its_depth() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/b"}}}
    defs = {"a": node, "b": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/a"}]}}
    for check in (check_bounds, grammar_of):
        with pytest.raises(SchemaUnsupported, match=r"contains itself .* 2 levels deep"):
            check({"$ref": "#/$defs/a", "$defs": defs})


def test_nesting_past_all_use_is_refused() -> None:
    schema: dict[str, Any] = {"type": "null"}
    for _ in range(300):
        schema = {"type": "array", "items": schema, "maxItems": 1}
    with pytest.raises(SchemaUnsupported, match="nested"):
        grammar_of(schema)


def test_references_that_multiply_do_not(accepts: Accepts) -> None:
    """Forty definitions, each a choice between the next and a list of the next: 2^40 paths."""
    defs: dict[str, Any] = {"d20": {"type": "null"}}
    for level in range(20):
        following = {"$ref": f"#/$defs/d{level + 1}"}
        wrapped = {"type": "array", "items": following, "maxItems": 1}
        defs[f"d{level}"] = {"anyOf": [following, following, wrapped]}
    assert accepts({"$ref": "#/$defs/d0", "$defs": defs}, "[[null]]")


def test_an_unparsable_grammar_is_refused_and_nothing_dies(
    native: Model, capfd: pytest.CaptureFixture[str]
) -> None:
    vocabulary = Vocabulary(native)
    for grammar in ("root ::= foo", "root ::= root", 'root ::= "', "other ::= [a]"):
        with pytest.raises(SchemaUnsupported, match="cannot parse"):
            GrammarConstraint(native, grammar, vocabulary)
    capfd.readouterr()


SCHEMAS = st.recursive(
    st.one_of(
        st.just({"type": "boolean"}),
        st.builds(lambda n: {"type": "integer", "minimum": -n, "maximum": n}, st.integers(0, 99)),
        st.builds(lambda n: string(maxLength=n), st.integers(0, 6)),
        st.builds(lambda text: {"const": text}, st.text('条"\\\n{}', max_size=4)),
    ),
    lambda children: st.one_of(
        st.builds(lambda item: {"type": "array", "items": item, "maxItems": 2}, children),
        st.builds(
            lambda properties, all_: {
                "type": "object",
                "properties": properties,
                "required": list(properties) if all_ else [],
            },
            st.dictionaries(st.text('ab条"\\', max_size=3), children, max_size=3),
            st.booleans(),
        ),
        st.builds(lambda options: {"anyOf": options}, st.lists(children, min_size=1, max_size=3)),
    ),
    max_leaves=8,
)


WORDS = ["type", "properties", "required", "items", "maxItems", "minItems", "maxLength", "enum",
         "const", "anyOf", "oneOf", "allOf", "$ref", "$defs", "pattern", "minimum", "maximum",
         "string", "array", "object", "integer", "number", "#/$defs/a", "a"]  # fmt: skip
WRONG = st.recursive(
    st.one_of(st.sampled_from(WORDS), st.integers(-2, 5), st.none(), st.booleans(), st.floats()),
    lambda children: st.one_of(
        st.lists(children, max_size=3), st.dictionaries(st.sampled_from(WORDS), children)
    ),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(WORDS), WRONG, min_size=1))
def test_whatever_is_given_as_a_schema_is_converted_or_refused(schema: dict[str, Any]) -> None:
    for check in (check_bounds, grammar_of):
        with contextlib.suppress(SchemaUnsupported):
            check(schema)


@settings(max_examples=80, deadline=None)
@given(SCHEMAS, st.integers(0, 2**32))
def test_whatever_a_grammar_lets_through_fulfils_its_schema(
    native: Model, schema: dict[str, Any], seed: int
) -> None:
    from localrag_models.backends.llama_cpp.sampling import Sampler

    constraint = GrammarConstraint(native, grammar_of(schema), Vocabulary(native))
    sampler, random = Sampler(1.0, 1.0, seed), np.random.default_rng(seed)
    text = b""
    while True:
        logits = random.standard_normal(native.tokens, dtype=np.float32) * 3
        logits[258 + len(text) // 40 :] += 1
        token = sampler.next(logits, constraint)
        if not native.piece(token):
            break
        constraint.accept(token)
        text += native.piece(token)
    constraint.close()
    jsonschema.validate(json.loads(text), schema)


@settings(max_examples=30, deadline=None)
@given(SCHEMAS, st.integers(0, 2**32))
def test_the_short_way_through_a_vocabulary_finds_what_the_long_one_finds(
    native: Model, schema: dict[str, Any], seed: int
) -> None:
    vocabulary, random = Vocabulary(native), np.random.default_rng(seed)
    constraint = GrammarConstraint(native, grammar_of(schema), vocabulary)
    for _ in range(20):
        allowed = constraint.allowed(np.arange(native.tokens, dtype=np.int32))
        assert (constraint.allowed_of_all() == allowed).all()
        fitting = [int(token) for token in np.flatnonzero(allowed) if native.piece(int(token))]
        fitting = [token for token in fitting if constraint.fits(token)]
        if not fitting:
            break
        constraint.accept(int(random.choice(fitting)))
    constraint.close()
