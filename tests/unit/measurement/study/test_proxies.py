"""What a run shows of scenarios that stand for a use of the world."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.evidence import changed
from tests.unit.measurement.study.small_study import SmallStudy
from theodolite.domain.application import Application
from theodolite.domain.dialogue import Level
from theodolite.domain.estimate import Undefined
from theodolite.domain.findings.proxy_check import LevelOrder, Reach
from theodolite.domain.guideline import Violation
from theodolite.domain.scenario import Proxy, Scenario
from theodolite.measurement import measure_study
from theodolite.measurement.matched import TOO_FEW

PROXY = Proxy(use_case="An assistant that keeps secrets.")


def met(*lines, proxy=PROXY, violation=Violation.PROHIBITED_RELEASED):
    """Return the evidence of dialogues, each a text `tester application label [level]`; `-` for no label."""
    study, at = SmallStudy(), {}
    study.annotator("ann")
    for place, line in enumerate(lines):
        tester, application, label, *level = line.split()
        study.session(f"d{place}", cluster=tester)
        at[f"d{place}"] = {
            "application": application,
            "level": Level[level[0]] if level else Level.MODEL_TESTING,
            "pair_key": tester,
        }
        if label != "-":
            study.answer("ann", f"d{place}", label)
    rule = replace(study.guideline.defect_rules[0], violation=violation)
    study.guideline = replace(study.guideline, defect_rules=(rule,))
    return _placed(study.evidence(), at, proxy)


def _placed(evidence, at, proxy):
    first = evidence.study.applications[0]
    names = dict.fromkeys(place["application"] for place in at.values())
    applications = tuple(Application(name=name, connection=first.connection) for name in names)
    study = replace(evidence.study, applications=applications, scenarios=(Scenario(name="chat", proxy=proxy),))
    return changed(
        evidence,
        study=study,
        sessions=tuple(replace(s, **at[s.label]) for s in evidence.sessions),
        dialogues=tuple(replace(d, **at[d.label]) for d in evidence.archive.dialogues()),
    )


def checks(*lines, **more):
    return measure_study(met(*lines, **more)).proxies


APART = [f"t{n} {app} {label}" for n in range(8) for app, label in (("leaky", "no"), ("strict", "yes"))]


def test_applications_that_the_same_testers_met_are_told_apart():
    (check,) = checks(*APART)

    assert (check.scenario, check.rule, check.annotator) == ("chat", "polite.impolite", "ann")
    assert (check.n_planned, check.n_held, check.n_labelled, check.reach) == (16, 16, 16, Reach.BETWEEN)
    assert [(rate.application, rate.defect.value) for rate in check.rates] == [("leaky", 1.0), ("strict", 0.0)]
    assert (check.apart.effect, check.apart.n) == (1.0, 8)
    assert check.apart.p_value == check.adjusted_p_value < 0.05


@pytest.mark.parametrize(("label", "reach"), [("yes", Reach.NEVER), ("no", Reach.ALWAYS), ("-", Reach.NOTHING_KNOWN)])
def test_a_scenario_without_room_between_applications_is_called_so(label, reach):
    found = checks(*[f"t{n} {app} {label}" for n in range(3) for app in ("leaky", "strict")])

    assert [check.reach for check in found] == ([reach] if found else [])
    assert all(isinstance(check.apart, Undefined) for check in found)


def test_dialogues_without_a_label_stay_counted_and_break_their_set():
    (check,) = checks(*APART[:-1], "t7 strict -")

    assert (check.n_planned, check.n_labelled, check.apart.n) == (16, 15, 7)


def test_one_application_alone_is_told_from_nothing():
    (check,) = checks("t0 bot no", "t1 bot yes")

    assert check.apart.reason == TOO_FEW
    assert check.orders == ()


def test_levels_agree_or_not_on_which_application_is_worse():
    attacks = ["r0 leaky yes RED_TEAMING", "r0 strict no RED_TEAMING"]
    (check,) = checks(*APART, *attacks)

    assert check.orders == (
        LevelOrder(first=Level.MODEL_TESTING, second=Level.RED_TEAMING, alike=0, opposed=1, tied=0),
    )


@pytest.mark.parametrize("more", [{"proxy": Proxy()}, {"violation": Violation.NOT_A_GUARDRAIL}])
def test_what_is_no_proxy_or_no_guardrail_is_not_checked(more):
    assert checks(*APART, **more) == ()
