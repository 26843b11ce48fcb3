from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theodolite.config.load_context import role_break_rules
from theodolite.domain.findings.realism import RoleBreakKind


def test_every_kind_of_role_break_has_one_rule_with_its_description():
    rules = role_break_rules().rules

    assert [rule.kind for rule in rules] == list(RoleBreakKind)
    assert all(rule.meaning for rule in rules)


@pytest.mark.parametrize("rule", role_break_rules().rules, ids=lambda rule: rule.kind.value)
def test_patterns_are_regular_expressions_that_match_some_texts_only(rule):
    for words in rule.words:
        assert not re.search(words, "")


PATTERNS = [(rule.hints, words) for rule in role_break_rules().rules for words in rule.words]


@pytest.mark.parametrize(("hints", "words"), PATTERNS, ids=[words for _, words in PATTERNS])
@settings(deadline=None, max_examples=50)
@given(st.data())
def test_every_match_of_a_rule_contains_one_of_its_hints(hints, words, data):
    found = data.draw(st.from_regex(re.compile(words, re.ASCII), fullmatch=True))

    assert any(hint in found for hint in hints)
