from __future__ import annotations

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theodolite.assessment.json_schema import mismatch, reply_mismatch, schema_problem

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-5, 5) | st.text("ab1", max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
TYPES = st.sampled_from(["object", "array", "string", "number", "integer", "boolean", "null"])
LEAVES = st.fixed_dictionaries(
    {},
    optional={
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=2, unique=True),
        "enum": st.lists(VALUES, min_size=1, max_size=3),
        "const": VALUES,
        "minimum": st.integers(-3, 3),
        "exclusiveMaximum": st.integers(-3, 3),
        "maximum": st.floats(-3, 3),
        "exclusiveMinimum": st.floats(-3, 3),
        "minLength": st.integers(0, 3),
        "maxLength": st.integers(0, 3),
        "minItems": st.integers(0, 2),
        "maxItems": st.integers(0, 2),
        "pattern": st.sampled_from(["^a", "b", "1$"]),
        "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
    },
)
SCHEMAS = st.recursive(
    st.booleans() | LEAVES,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
            "additionalProperties": inner,
            "items": inner,
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
        },
    ),
    max_leaves=6,
)


@given(VALUES, SCHEMAS)
def test_it_agrees_with_an_independent_implementation(value, schema):
    assert not schema_problem(schema)
    assert (not mismatch(value, schema)) == jsonschema.Draft202012Validator(schema).is_valid(value)


PERSON = {"type": "object", "required": ["name"], "properties": {"age": {"type": "integer", "minimum": 0}}}


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        pytest.param('{"name": "Ana", "age": 4}', "", id="fits"),
        pytest.param('Here:\n```json\n{"name": "Ana"}\n```', "", id="fenced"),
        pytest.param("Ana", "the response is not JSON", id="words"),
        pytest.param('{"age": 4}', "$ lacks `name`", id="member"),
        pytest.param('{"name": "Ana", "age": -1}', "$.age is -1; expected at least 0", id="limit"),
    ],
)
def test_violations_of_the_schema_are_reported_by_path(reply, reason):
    assert reply_mismatch(reply, PERSON) == reason


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        pytest.param({"$ref": "#/x"}, "keyword `$ref`, which is not supported", id="keyword"),
        pytest.param({"properties": {"a": {"type": "text"}}}, "$.properties.a.type has `text`", id="type"),
        pytest.param({"minLength": "3"}, "$.minLength must be a whole number", id="count"),
        pytest.param({"pattern": "("}, "$.pattern is not a regular expression", id="pattern"),
        pytest.param([], "$ is a list; expected a schema", id="list"),
        pytest.param({"enum": 3}, "$.enum must be a list", id="enum"),
        pytest.param({"anyOf": []}, "$.anyOf must be a list of schemas", id="empty"),
        pytest.param({"maximum": True}, "$.maximum must be a number", id="limit"),
        pytest.param({"properties": []}, "$.properties must be an object", id="properties"),
    ],
)
def test_an_unusable_schema_is_refused(schema, problem):
    assert problem in schema_problem(schema)
