"""Edits of YAML texts change one value, and leave every other character as it was."""

from __future__ import annotations

from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theodolite.config.yaml_edits import Literal, Snippet, line_of, source_at, value_at, with_value, without
from theodolite.domain.errors import InputError

STUDY = """\
# A study.
study: support     # its name
title: "Opening hours"
applications:      # at least one
  blue:  {kind: aria, class: "team.dialog:Team"}
  green:
    kind: http     # an endpoint
    url: https://green.example/chat
    body: {q: "{{ prompt }}", sid: '{{ session }}'}

models:
  # large: {url: https://api.example/v1}
scenarios:
  hours:
    goal: |
      Find out when
      the shop opens.
    permitted:
      - opening hours   # of all shops
      - holidays
    turns: 3
# The end.
risks: [fraud, harm]
about: >-
  One text in
  two lines.
"""

SCALARS = (
    ("study",),
    ("title",),
    ("applications", "blue", "class"),
    ("applications", "green", "kind"),
    ("applications", "green", "body", "sid"),
    ("scenarios", "hours", "goal"),
    ("scenarios", "hours", "permitted", 0),
    ("scenarios", "hours", "turns"),
    ("risks", 1),
    ("about",),
)

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n:#{}[],'\"- "), max_size=40)


def changed(before, after):
    """Return the stretches of lines that differ, as first and last line before."""
    codes = SequenceMatcher(a=before.split("\n"), b=after.split("\n"), autojunk=False).get_opcodes()
    return [(low + 1, high) for kind, low, high, *_ in codes if kind != "equal"]


@given(path=st.sampled_from(SCALARS), value=TEXTS)
def test_a_changed_text_changes_only_the_lines_of_its_value(path, value):
    after = with_value(STUDY, path, value)

    assert value_at(after, path) == value
    first = line_of(STUDY, path)
    n_lines = source_at(STUDY, path).count("\n") + 1
    assert all(first <= low and high < first + n_lines for low, high in changed(STUDY, after))
    assert [line for line in after.split("\n") if "#" in line and line.endswith(("study.", "name", "one", "end."))]


@given(path=st.sampled_from(SCALARS))
def test_the_same_value_changes_nothing(path):
    assert value_at(with_value(STUDY, path, value_at(STUDY, path)), path) == value_at(STUDY, path)
    assert with_value(STUDY, path, Snippet(source_at(STUDY, path))) == STUDY


@pytest.mark.parametrize(
    ("path", "value", "lines"),
    [
        (("study",), "other", ["study: other     # its name"]),
        (("study",), "yes", ['study: "yes"     # its name']),
        (("applications", "blue", "auth"), "A", ['  blue:  {kind: aria, class: "team.dialog:Team", auth: A}']),
        (("applications", "red"), {"kind": "http"}, ["  red:", "    kind: http"]),
        (("models", "large", "url"), "http://a/v1", ["  large:", "    url: http://a/v1"]),
        (("scenarios", "hours", "turns"), Literal("5"), ["    turns: 5"]),
        (("risks",), ["fraud", "loss"], ["risks: [fraud, loss]"]),
        (("event", "zone"), "UTC", ["event:", "  zone: UTC"]),
    ],
    ids=["plain", "quoted", "flow key", "block entry", "empty mapping", "number", "flow list", "new section"],
)
def test_values_are_written_in_plain_style(path, value, lines):
    after = with_value(STUDY, path, value).split("\n")

    assert [line for line in after if line not in STUDY.split("\n")] == lines


def test_items_of_a_list_preserve_their_comments():
    after = with_value(STUDY, ("scenarios", "hours", "permitted"), ["opening hours", "addresses", "holidays", "news"])

    items = ["opening hours   # of all shops", "addresses", "holidays", "news"]
    assert "".join(f"      - {item}\n" for item in items) + "    turns" in after


@pytest.mark.parametrize(
    ("path", "gone"),
    [
        (("applications", "blue"), ['  blue:  {kind: aria, class: "team.dialog:Team"}']),
        (("scenarios", "hours", "goal"), ["    goal: |", "      Find out when", "      the shop opens."]),
        (("scenarios", "hours", "permitted", 1), ["      - holidays"]),
        (("models",), ["models:"]),
    ],
    ids=["entry", "block text", "item", "empty mapping"],
)
def test_a_removed_part_removes_its_own_lines_only(path, gone):
    after = without(STUDY, path).split("\n")

    assert [line for line in STUDY.split("\n") if line not in after] == gone


def test_an_emptied_mapping_is_removed_with_its_last_key():
    assert without("event:\n  zone: UTC\nstudy: x\n", ("event", "zone")) == "study: x\n"


@pytest.mark.parametrize("text", ["a: &x 1\nb: *x\n", "a: [\n"], ids=["alias", "no yaml"])
def test_an_edit_that_would_change_more_is_refused(text):
    with pytest.raises(InputError, match="text"):
        with_value(text, ("a",), "2")
