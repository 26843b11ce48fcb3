from __future__ import annotations

import re

import pytest

from theodolite.config.lapse_rules import lapse_rules
from theodolite.domain.lapse import LapseKind


def test_every_kind_of_lapse_has_one_rule_that_says_what_it_is():
    rules = lapse_rules().rules

    assert [rule.kind for rule in rules] == list(LapseKind)
    assert all(rule.meaning for rule in rules)


@pytest.mark.parametrize("rule", lapse_rules().rules, ids=lambda rule: rule.kind.value)
def test_words_are_regular_expressions_that_find_something_and_not_everything(rule):
    for words in rule.words:
        assert not re.search(words, "")
