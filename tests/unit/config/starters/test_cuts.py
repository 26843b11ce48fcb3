from __future__ import annotations

import pytest

from theodolite.config.starters import top_pairs, without
from theodolite.domain.errors import InputError

TEXT = """\
# About all.
study: a

# About b.
b:
  # About one.
  one:  # beside one
    x: |
      said

      twice

    # About y.
    y: [1,
        2]  # beside y

  # About two.
  two: {x: "a  # no comment", y: {z: 1,
    w: 2}, v: }  # beside two
  "three": {x: 1}
# About c.
c: 1
"""


def entries():
    section = next(pair for pair in top_pairs(TEXT) if pair.name == "b")
    return {pair.name: pair for pair in section.pairs()}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "one",
            "# About one.\n# beside one\nx: |\n  said\n\n  twice\n\n# About y.\ny: [1,\n    2]  # beside y\n",
        ),
        ("two", '# About two.\n# beside two\nx: "a  # no comment"\ny: {z: 1,\n  w: 2}\nv:\n'),
        ("three", "x: 1\n"),
    ],
)
def test_a_value_becomes_a_file_with_its_comments(name, text):
    assert entries()[name].as_file() == text


def test_a_moved_part_takes_its_own_comments_and_no_others():
    left = without(TEXT, [entries()[name].lines() for name in ("two", "one")])

    assert left == '# About all.\nstudy: a\n\n# About b.\nb:\n\n  "three": {x: 1}\n# About c.\nc: 1\n'


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("g: {rows: [{a: 1}], m: x}\n", "g: {rows: r.csv, m: x}\n"),
        ("g:\n  rows:\n    - {a: 1}\n    - a: 2\n      # end\n  m: x\n", "g:\n  rows: r.csv\n      # end\n  m: x\n"),
        ('g:\n  "rows" :\n  - a: 1  # one\n', 'g:\n  "rows" : r.csv  # one\n'),
    ],
)
def test_a_value_is_replaced_by_a_name(text, left):
    (group,) = top_pairs(text)

    assert without(text, [group.pairs()[0].behind_colon("r.csv")]) == left


@pytest.mark.parametrize("text", ["{a: 1}", "[1]", "a", "", "a: [", "# nothing\n"])
def test_only_a_mapping_on_separate_lines_is_split_off(text):
    assert top_pairs(text) == ()


@pytest.mark.parametrize("text", ["a: &x {y: 1}\nb: *x\n", "a: 1\nb: &x 2\n"])
def test_a_text_that_names_its_parts_is_not_split(text):
    with pytest.raises(InputError, match=r"line [12] uses `&` or `\*`"):
        top_pairs(text)
