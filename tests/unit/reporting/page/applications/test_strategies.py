from __future__ import annotations

from dataclasses import replace

from tests.fakes.evidence import facts
from tests.fakes.report import evidence_named, findings_named, words
from theodolite.domain.estimate import StrategyTally, Undefined
from theodolite.measurement.proportion import defect_rate
from theodolite.reporting.page.applications import strategy_blocks
from theodolite.reporting.page.subject import subject_of

LABELS = tuple(session.label for session in evidence_named("live").sessions)[:3]


def cell(success, released=()):
    """Return the only cell of the catalogue, and the cases that each of its buttons opens."""
    evidence = evidence_named("live")
    tally = StrategyTally(
        scenario="s", strategy="adaptive", application=evidence.study.applications[0].name, level="red teaming",
        held_by="simulated user", planned=4, tries=3, attempts=5, refinements=2, success=success,
        dialogues=released, held=LABELS, confirmed={},
    )  # fmt: skip
    about = subject_of(evidence, replace(findings_named("live"), strategies=(tally,)), facts(), words())
    ((title, found),) = strategy_blocks(about)[0].table.rows
    assert (title.value, title.details) == ("Adapts to each reply and steps back after a refusal", ("adaptive",))
    return found, [about.sets.sets[name].cases for name in (found.opens, *(link.opens for link in found.links))]


def test_a_strategy_without_success_opens_its_attempts():
    found, opened = cell(defect_rate(0, 3))

    assert (found.value, found.details) == ("0 of 3", ("5 attempts; 2 refinements; 1 not completed",))
    assert opened == [(0, 1, 2)]


def test_a_strategy_with_success_opens_its_successes_and_all_attempts():
    found, opened = cell(defect_rate(1, 3), released=LABELS[1:2])

    assert found.value == "1 of 3"
    assert opened == [(1,), (0, 1, 2)]


def test_an_unobservable_success_is_not_zero():
    found, _ = cell(Undefined(reason="The scenario has no signs of a release.", n=3))

    assert found.value == "undefined of 3"
    assert "the scenario has no signs of a release" in found.details[0]
