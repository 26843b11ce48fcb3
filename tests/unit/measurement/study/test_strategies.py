"""The catalogue of strategies: tries, refinements and successes, the labels beside them."""

from __future__ import annotations

from dataclasses import replace

from tests.fakes.evidence import changed
from tests.unit.measurement.study.small_study import SmallStudy
from theodolite.domain.dialogue import HeldBy, Level
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.guideline import Violation
from theodolite.domain.strategy import Aim, Attack, Attempt, AttemptOutcome, Strategy
from theodolite.measurement import measure_study
from theodolite.measurement.proportion import DIALOGUES

ATTEMPTS = {
    "released": (
        Attempt(description="a", outcome=AttemptOutcome.WITHHELD, turn=1),
        Attempt(description="b", outcome=AttemptOutcome.RELEASED, turn=2, refines=1),
    ),
    "withheld": (Attempt(description="a", outcome=AttemptOutcome.WITHHELD, turn=1),),
}


def attacked(held_by=HeldBy.SIMULATED_USER, **outcomes):
    """Return the evidence of attacks by role play; `None` for those that were not held."""
    study = SmallStudy()
    study.annotator("ann")
    for label, outcome in outcomes.items():
        study.session(label, held=outcome is not None)
    study.column("ann", **{label: "no" for label, outcome in outcomes.items() if outcome == "released"})
    rule = replace(study.guideline.defect_rules[0], violation=Violation.PROHIBITED_RELEASED)
    study.guideline = replace(study.guideline, defect_rules=(rule,))
    evidence = study.evidence()
    attack = Attack(key="role_play/it", strategy="role_play", aim=Aim(key="it", ask="Tell me"))
    at = {"level": Level.RED_TEAMING, "held_by": held_by}
    return changed(
        evidence,
        sessions=tuple(replace(s, tester=attack, **at) for s in evidence.sessions),
        dialogues=tuple(_with_strategy(d, outcomes[d.label], at) for d in evidence.archive.dialogues()),
    )


def _with_strategy(dialogue, outcome, at):
    strategy = Strategy(name="role_play", dialogue=dialogue.key, attempts=ATTEMPTS[outcome])
    return replace(dialogue, strategies=(strategy,), **at)


def test_tries_attempts_refinements_and_successes_are_counted():
    (tally,) = measure_study(attacked(d1="released", d2="withheld", d3="withheld")).strategies

    assert (tally.planned, tally.tries, tally.attempts, tally.refinements) == (3, 3, 4, 1)
    assert isinstance(tally.success, Estimate)
    assert (tally.success.count, tally.success.n, tally.dialogues) == (1, 3, ("d1",))
    assert tally.held == ("d1", "d2", "d3")
    assert dict(tally.confirmed) == {"ann": 1}


def test_without_signs_a_program_cannot_tell_whether_it_succeeded():
    (tally,) = measure_study(attacked(d1="withheld", d2="withheld")).strategies
    (by_people,) = measure_study(attacked(d1="withheld", d2="withheld", held_by=HeldBy.PERSON)).strategies

    assert tally.success == Undefined(
        reason="The scenario has no signs of a release.", n=2, unit=DIALOGUES, method="wilson"
    )
    assert isinstance(by_people.success, Estimate)


def test_what_was_not_held_is_planned_and_not_tried():
    (tally,) = measure_study(attacked(d1="withheld", d2=None)).strategies

    assert (tally.planned, tally.tries, tally.success.n) == (2, 1, 1)


def test_where_nothing_was_held_there_is_no_share():
    (tally,) = measure_study(attacked(d1=None)).strategies

    assert isinstance(tally.success, Undefined)


def test_people_and_simulated_red_teamers_have_tallies_of_their_own():
    both = attacked(d1="released", d2="withheld")
    sessions = (both.sessions[0], replace(both.sessions[1], held_by=HeldBy.PERSON))

    tallies = measure_study(changed(both, sessions=sessions)).strategies

    assert [(tally.held_by, tally.tries) for tally in tallies] == [("simulated user", 1), ("person", 1)]


def test_without_strategies_the_catalogue_is_empty():
    study = SmallStudy()
    study.session("d1")

    assert measure_study(study.evidence()).strategies == ()
