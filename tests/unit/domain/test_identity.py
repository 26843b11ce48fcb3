from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from types import MappingProxyType

import pytest
from tests.fakes import builders

from theodolite.domain.application import Application, AriaClass, PythonCallable
from theodolite.domain.identity import FixedJson, canonical_json, digest, keyed_draw, version_of
from theodolite.domain.persona import Persona
from theodolite.domain.study import Sampling


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    name: str = "x"
    count: int = 1
    patience_s: float = 60.0
    is_open: bool = False
    colour: Colour = Colour.RED
    parts: tuple[object, ...] = ()
    words: Mapping[str, object] = field(default_factory=dict)
    inner: Inner | None = None
    rate: float | None = None
    line: int = field(default=0, compare=False)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Sample(words={"a": 1, "b": 2}), Sample(words={"b": 2, "a": 1})),
        (Sample(line=1), Sample(line=2)),
        (Sample(words={}), Sample(words=MappingProxyType({}))),
        (Sample(patience_s=60), Sample(patience_s=60.0)),
        (Sample(patience_s=7), Sample(patience_s=7.0)),
        (Sample(rate=5), Sample(rate=5.0)),
        (Sample(rate=0.0), Sample(rate=-0.0)),
        (Sample(colour=Colour.RED), Sample(colour="red")),
        (Sample(colour=Colour.BLUE), Sample(colour="blue")),
        (Sample(parts=(1, 2)), Sample(parts=[1, 2])),
        (Sample(parts=(frozenset({"a", "b"}),)), Sample(parts=(frozenset({"b", "a"}),))),
    ],
)
def test_equal_content_has_one_version(first, second):
    assert version_of(first) == version_of(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Sample(), Inner()),
        (Sample(name="1"), Sample(count=2)),
        (Sample(count=1), Sample(count=True)),
        (Sample(is_open=False), Sample(is_open=0)),
        (Sample(parts=(1, 2)), Sample(parts=(2, 1))),
        (Sample(parts=("1",)), Sample(parts=(1,))),
        (Sample(parts=(1.5,)), Sample(parts=(1,))),
        (Sample(inner=None), Sample(inner=Inner())),
        (Sample(words={"a": None}), Sample(words={})),
    ],
)
def test_different_content_has_different_versions(first, second):
    assert version_of(first) != version_of(second)


def test_fields_at_their_defaults_are_left_out():
    assert canonical_json(Sample(name="x", count=3)) == '{"count":3}'


def test_members_of_a_union_have_different_versions():
    by_function = Application(name="a", connection=PythonCallable(target="m:f"))
    by_class = Application(name="a", connection=AriaClass(target="m:f"))

    assert version_of(by_function) != version_of(by_class)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_numbers_without_a_json_form_are_refused(value):
    with pytest.raises(ValueError, match="JSON"):
        canonical_json(Sample(rate=value))


@pytest.mark.parametrize("value", [object(), b"bytes", 1j, {1, 2}])
def test_values_without_a_canonical_form_are_refused(value):
    with pytest.raises(TypeError, match="no canonical form"):
        canonical_json(Sample(parts=(value,)))


def test_a_time_is_written_with_its_offset():
    sample = Sample(parts=(datetime(2026, 1, 2, tzinfo=UTC),))

    assert canonical_json(sample) == '{"parts":["2026-01-02T00:00:00+00:00"]}'


def test_keys_are_sorted_and_nested_records_state_their_type():
    sample = Sample(inner=Inner(name="a"), words={"b": Colour.BLUE, "a": frozenset({"y", "x"})}, rate=0.5)

    assert canonical_json(sample) == (
        '{"inner":{"is":"Inner","name":"a"},"rate":0.5,"words":{"a":["x","y"],"b":"blue"}}'
    )


def test_characters_beyond_ascii_are_preserved():
    assert canonical_json(Sample(name="Zürich 東京")) == '{"name":"Zürich 東京"}'


def test_a_lone_surrogate_has_a_digest():
    assert digest("\ud800") != digest("\ufffd")


@pytest.mark.parametrize(("first", "second"), [(("ab", "c"), ("a", "bc")), (("a",), ("a", "")), (("1:a",), ("a",))])
def test_parts_of_a_digest_are_separated(first, second):
    assert digest(*first) != digest(*second)


def test_draws_are_uniform():
    draws = [keyed_draw(7, "test", str(key)) for key in range(10_000)]
    tenths = [sum(tenth / 10 <= draw < (tenth + 1) / 10 for draw in draws) for tenth in range(10)]

    assert min(draws) >= 0
    assert max(draws) < 1
    assert min(tenths) > 880
    assert max(tenths) < 1120


@pytest.mark.parametrize("other", [(8, "test", "a"), (7, "other", "a"), (7, "test", "b")])
def test_a_draw_depends_on_each_of_its_arguments(other):
    assert keyed_draw(7, "test", "a") == keyed_draw(7, "test", "a")
    assert keyed_draw(7, "test", "a") != keyed_draw(*other)


def test_the_canonical_form_of_a_study_does_not_change_by_accident():
    small = builders.study(sampling=Sampling(seed=7, dialogues=4))

    assert version_of(small) == "e92b9cf804906457029ec87e27194e20749a4c04b0c86143510eacddb9314bc1", (
        "the canonical form changed, and every stored version with it: raise `FORMAT` if that is meant"
    )


def test_the_canonical_form_of_a_persona_does_not_change_by_accident():
    ana = Persona(key="p-1", name="Ana", group="p", text="You are Ana.", goal="Buy", model="m", parameters={"a": "1"})

    assert version_of(ana) == "c5cfcf7a034c23e311d2b02706cfba4623de9cee6df9a699728bc781b2cab472"


def test_a_frozen_object_has_the_same_text_as_equal_content():
    parts = {"b": [1, None], "a": {"d": "\u00fc", "c": 2.0}}

    assert canonical_json(FixedJson(parts)) == canonical_json(parts) == '{"a":{"c":2,"d":"\u00fc"},"b":[1,null]}'
    assert canonical_json([FixedJson(parts)]) == f"[{canonical_json(parts)}]"


def test_a_frozen_object_preserves_the_order_of_its_keys() -> None:
    fixed = FixedJson({"b": 1, "a": {"d": "\u00fc", "c": None}})

    assert fixed.as_given == '{"b":1,"a":{"d":"\\u00fc","c":null}}'
    assert fixed.as_given is fixed.as_given


def test_a_frozen_object_serialises_its_text_once():
    fixed = FixedJson({"a": 1})

    assert canonical_json(fixed) is canonical_json(fixed)
