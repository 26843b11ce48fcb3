"""JSON in pieces is the JSON that any library reads."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theodolite.reporting.results.document import collected, json_pieces

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(VALUES)
def test_joined_pieces_parse_as_the_original(value):
    assert json.loads("".join(json_pieces(value))) == value


def test_an_entry_of_words_and_numbers_takes_one_line():
    value = {"of": {"a": 1}, "all": [{"a": 1, "b": "x"}, {"c": []}, 2]}

    assert (
        "".join(json_pieces(value))
        == """{
 "of": {
  "a": 1
 },
 "all": [
  {"a": 1, "b": "x"},
  {
   "c": []
  },
  2
 ]
}"""
    )


@given(VALUES)
def test_an_iterable_is_written_as_a_list(value):
    assert collected({"all": (one for one in [value])}) == {"all": [value]}
    assert json.loads("".join(json_pieces({"all": (one for one in [value])}))) == {"all": [value]}


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_json_does_not_allow_is_refused(number):
    with pytest.raises(ValueError, match="Out of range float"):
        "".join(json_pieces({"value": [number]}))
