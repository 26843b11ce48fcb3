from __future__ import annotations

from collections import defaultdict

from tests.fakes.evidence import facts
from tests.fakes.report import evidence_named, findings_named, words
from theodolite.reporting.page.review import chips_of
from theodolite.reporting.page.subject import subject_of
from theodolite.reporting.queries.cases import rules_of


def chips(name):
    subject = subject_of(evidence_named(name), findings_named(name), facts(), words())
    return subject, {chip.name: chip for chip in chips_of(subject)}


def flipped(subject):
    """Return the dialogues of all prompts of which some brought a defect and others none, rule by rule."""
    found = set()
    for guideline, rule in rules_of(subject.study):
        defects = {case.index for case in subject.defects(guideline, rule)}
        sides = defaultdict(set)
        for case in subject.cases:
            labelled = any(
                key[2] == rule.question and columns.rows(case.index) for key, columns in case.table.answers.items()
            )
            if labelled and rule.applies_to(case.setting.groups):
                sides[case.pair_key].add(case.index)
        found.update(*(places for places in sides.values() if places & defects and places - defects))
    return found


def test_dialogues_flip_if_the_same_prompts_give_a_defect_in_one_application_and_none_in_another():
    subject, made = chips("xstest")

    places = subject.sets.sets["flipped"].cases

    assert set(places) == flipped(subject)
    assert made["flipped"].n == len(places) > 0


def test_nothing_flips_where_one_application_is_under_test():
    subject, made = chips("live")

    assert made["flipped"].n == 0
    assert made["defect"].n > 0
    assert "flipped" not in subject.sets.sets
