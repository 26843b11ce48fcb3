"""The tree file: what anybody needs to compute a tree again."""

from __future__ import annotations

import json

import pytest
from tests.fakes.trees import answers, design, leaf

from theodolite.domain.annotation import Outcome
from theodolite.domain.errors import InputError
from theodolite.domain.trees.file import LeafSet, TreeFile, leaves_of, tree_file_document, tree_file_of

DESIGN = design({"top": {"summary": "mean", "of": "a"}, "a": answers("g.a")})
LEAVES = (
    leaf("g.a", "d1", "1", by="ann", kind="person", turn=2, replicate=3, cluster="Ana", level="field testing"),
    leaf("g.a", "d2", None, outcome=Outcome.REFUSED, held_by="person", groups={"age": "old"}),
)
FILE = TreeFile(
    design=DESIGN,
    sets=(
        LeafSet(application="one", leaves=LEAVES, scenarios=("shop",), versions={"guideline g": "abc"}),
        LeafSet(application="two", leaves=()),
    ),
)


def test_what_is_written_is_read_back():
    assert tree_file_of(json.loads(json.dumps(tree_file_document(FILE)))) == FILE


def test_a_design_by_itself_is_a_tree_file_without_leaves():
    plain = {"tree": "small", "nodes": {"a": answers("g.a")}}

    assert tree_file_of(plain).sets == ()


def test_values_beside_the_leaves_are_for_readers_and_not_read():
    document = tree_file_document(FILE, {"one": [{"node": "top", "value": 99}]})

    assert tree_file_of(document) == FILE


def test_an_application_is_named_where_there_are_several():
    assert FILE.of("two").application == "two"
    with pytest.raises(InputError, match=r"one of the file's applications \(one, two\); none is named"):
        FILE.of()
    with pytest.raises(InputError, match=r"got `oen`. Did you mean `one`\?"):
        FILE.of("oen")


@pytest.mark.parametrize("plain", [{}, {"format": "other/1", "tree": {}}, {"format": "theodolite-tree/1", "tree": "x"}])
def test_another_file_is_told_from_a_tree_file(plain):
    with pytest.raises(InputError, match="expected a tree"):
        tree_file_of(plain)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("x", "a leaf must be a mapping"),
        ({"question": "q"}, "a leaf needs `session`"),
        ({"question": "q", "session": "d", "vlaue": 1}, "unknown key `vlaue`. Did you mean `value`?"),
        ({"question": "q", "session": "d", "value": True}, "`value` must be a text or a number"),
        ({"question": "q", "session": "d", "value": 1, "turn": 0}, "`turn` must be a whole number from 1"),
        ({"question": "q", "session": "d", "outcome": "faild"}, "mean `failed`?"),
        ({"question": "q", "session": "d", "value": "1", "outcome": "missing"}, "only an `answered` one"),
    ],
)
def test_a_leaf_that_is_none_is_said_with_its_place(row, message):
    with pytest.raises(InputError) as refusal:
        leaves_of([{"question": "q", "session": "d", "value": 1}, row])

    assert f"leaves.leaves[1]: {message}" in str(refusal.value) or message in str(refusal.value)


def test_numbers_and_texts_are_the_same_answer():
    four = [leaf_.value for leaf_ in leaves_of([{"question": "q", "session": "d", "value": v} for v in (4, 4.0, "4")])]

    assert four == ["4", "4", "4"]


def test_a_leaf_without_a_value_is_missing():
    assert leaves_of([{"question": "q", "session": "d"}])[0].outcome is Outcome.MISSING
