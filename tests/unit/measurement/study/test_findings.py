"""Findings: everything of a study, in its order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.event import a_session, an_event, an_open_event, exchange
from tests.fakes.evidence import changed
from tests.unit.measurement.study.small_study import CALLABLE, SmallStudy, polite
from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.application import Application, Claim, ClaimKind
from theodolite.domain.dialogue import Level
from theodolite.domain.estimate import ClaimStatus, Undefined, rules_meant
from theodolite.domain.event import BreakRule, Event
from theodolite.domain.event_record import BlindingGuess, EventRecord, GuessedThing, Withdrawal
from theodolite.domain.findings.responses import LevelOrder, Reach
from theodolite.domain.guideline import Violation
from theodolite.domain.scenario import Proxy, Scenario
from theodolite.domain.undefined_reasons import TOO_FEW_TESTERS_OF_ALL
from theodolite.events.results import event_record
from theodolite.events.sessions import end_session, withdraw
from theodolite.measurement.study.findings import event_finding, measure_study


def two_applications():
    study = SmallStudy()
    study.annotator("ann")
    study.annotator("ben")
    study.session("d1")
    study.column("ann", d1="yes")
    study.column("ben", d1="no")
    evidence = study.evidence()
    (bot,) = evidence.study.applications
    other = Application(name="other", connection=bot.connection)
    return replace(evidence, study=replace(evidence.study, applications=(other, bot)))


def test_findings_follow_the_order_of_the_study():
    findings = measure_study(two_applications())

    assert list(dict.fromkeys(m.application for m in findings.measurements)) == ["other", "bot"]
    assert [c.application for c in findings.confusions] == ["other", "bot"]


def test_dialogues_of_another_application_are_not_in_the_denominator():
    planned = {(m.application, m.outcomes.planned) for m in measure_study(two_applications()).measurements}

    assert planned == {("other", 0), ("bot", 1)}


def test_rates_come_before_agreement():
    measures = [m.measure for m in measure_study(two_applications()).measurements if m.application == "bot"]

    assert measures == [
        "defect_rate",
        "zero_defect_bound",
        "defect_rate",
        "exact_agreement",
        "cohen_kappa",
        "fleiss_kappa",
        "krippendorff_alpha",
    ]


CLAIM = Claim(text="Stays polite.", kind=ClaimKind.CAPABILITY, scripts=("a", "b"))


def standings_of(claim: Claim, *, guideline=None, judges=("judge",), **labels):
    """Return how a claim stands after dialogues a to d, labelled by judges."""
    study = SmallStudy(connection=CALLABLE, guideline=guideline or polite())
    for label in "abcd":
        study.session(label)
    for judge in judges:
        study.annotator(judge, AnnotatorKind.MODEL)
        study.column(judge, **labels)
    evidence = study.evidence()
    application = replace(evidence.study.applications[0], claims=(claim,))
    return measure_study(replace(evidence, study=replace(evidence.study, applications=(application,)))).claims


@pytest.mark.parametrize(
    ("labels", "status", "n", "contradicting"),
    [
        ({"a": "yes", "b": "yes", "c": "no"}, ClaimStatus.SUPPORTED, 2, ()),
        ({"a": "yes", "b": "no"}, ClaimStatus.CONTRADICTED, 2, ("b",)),
        ({"a": "yes"}, ClaimStatus.SUPPORTED, 1, ()),
        ({"a": Outcome.UNPARSEABLE, "b": Outcome.REFUSED}, ClaimStatus.NOT_TESTED, 0, ()),
        ({"c": "no"}, ClaimStatus.NOT_TESTED, 0, ()),
    ],
    ids=["none", "one", "one unlabelled", "unreadable", "others' scripts"],
)
def test_only_labelled_dialogues_of_its_scripts_count(labels, status, n, contradicting):
    (test,) = standings_of(CLAIM, **labels)

    assert (test.status, test.n, test.contradicting) == (status, n, contradicting)
    assert (test.planned, test.rule, test.annotator) == (2, "impolite", "judge")
    assert bool(test.reason) == (status is ClaimStatus.NOT_TESTED)


def test_each_annotator_has_a_separate_finding():
    tests = standings_of(CLAIM, judges=("one", "two"), a="yes", b="yes")

    assert [(test.annotator, test.status) for test in tests] == [
        ("one", ClaimStatus.SUPPORTED),
        ("two", ClaimStatus.SUPPORTED),
    ]


@pytest.mark.parametrize(
    ("claim", "judges", "reason"),
    [
        (replace(CLAIM, scripts=()), ("judge",), "it names no scripts"),
        (replace(CLAIM, rule="kind"), ("judge",), "it names `kind`, and the study has none that this could be"),
        (replace(CLAIM, scripts=("z",)), ("judge",), "none of its scripts is in the plan"),
        (CLAIM, (), "nobody labels by polite"),
    ],
)
def test_an_untested_claim_states_why(claim, judges, reason):
    (test,) = standings_of(claim, judges=judges, a="yes")

    assert (test.status, test.reason) == (ClaimStatus.NOT_TESTED, reason)


def test_a_rule_about_other_dialogues_does_not_test_a_claim():
    (test,) = standings_of(CLAIM, guideline=polite(among={"kind": "safe"}), a="yes")

    assert (test.status, test.planned) == (ClaimStatus.NOT_TESTED, 0)


@pytest.mark.parametrize(
    ("name", "n"), [("", 2), ("impolite", 2), ("polite", 1), ("polite.impolite", 1), ("other.impolite", 1), ("x", 0)]
)
def test_a_rule_has_the_shortest_unambiguous_name(name, n):
    guidelines = (polite(), replace(polite(), name="other"))

    assert len(rules_meant(replace(CLAIM, rule=name), guidelines)) == n


def test_a_claim_without_testable_dialogues_states_why():
    claim = Claim(text="Was trained on licensed texts.", kind=ClaimKind.CAPABILITY, untestable="No dialogue shows it.")

    (test,) = standings_of(claim, a="yes")

    assert (test.status, test.reason, test.n) == (ClaimStatus.UNTESTABLE, "No dialogue shows it.", 0)


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


def test_applications_with_common_testers_are_compared():
    (check,) = checks(*APART)

    assert (check.scenario, check.rule, check.annotator) == ("chat", "polite.impolite", "ann")
    assert (check.n_planned, check.n_held, check.n_labelled, check.reach) == (16, 16, 16, Reach.BETWEEN)
    assert [(rate.application, rate.defect.value) for rate in check.rates] == [("leaky", 1.0), ("strict", 0.0)]
    assert (check.apart.effect, check.apart.n) == (1.0, 8)
    assert check.apart.p_value == check.adjusted_p_value < 0.05


@pytest.mark.parametrize(("label", "reach"), [("yes", Reach.NEVER), ("no", Reach.ALWAYS), ("-", Reach.NOTHING_KNOWN)])
def test_a_scenario_without_variation_between_applications_is_marked(label, reach):
    found = checks(*[f"t{n} {app} {label}" for n in range(3) for app in ("leaky", "strict")])

    assert [check.reach for check in found] == ([reach] if found else [])
    assert all(isinstance(check.apart, Undefined) for check in found)


def test_dialogues_without_a_label_stay_counted_and_exclude_their_set():
    (check,) = checks(*APART[:-1], "t7 strict -")

    assert (check.n_planned, check.n_labelled, check.apart.n) == (16, 15, 7)


def test_a_single_application_is_reported_as_such():
    (check,) = checks("t0 bot no", "t1 bot yes")

    assert check.apart.reason == TOO_FEW_TESTERS_OF_ALL
    assert check.orders == ()


def test_levels_agree_or_disagree_on_the_worse_application():
    attacks = ["r0 leaky yes RED_TEAMING", "r0 strict no RED_TEAMING"]
    (check,) = checks(*APART, *attacks)

    assert check.orders == (
        LevelOrder(first=Level.MODEL_TESTING, second=Level.RED_TEAMING, alike=0, opposed=1, tied=0),
    )


@pytest.mark.parametrize("more", [{"proxy": Proxy()}, {"violation": Violation.NOT_A_GUARDRAIL}])
def test_only_proxies_of_a_guardrail_are_checked(more):
    assert checks(*APART, **more) == ()


@pytest.fixture
def event():
    """Three red teamers: one leaves after 6 minutes, one after 18 with a mark, one takes everything back."""
    event = an_open_event(an_event(people=3, sessions=1, event=Event(breaks=BreakRule(most_severe=1))))
    for who, minutes in (("p1", 6), ("p2", 18), ("p3", 1)):
        session = a_session(event, who)
        turn = exchange(event, session)
        event.dialogues.mark_turn(turn.key, broke=who == "p2")
        event.clock.passed_s += 60 * minutes
        end_session(event, session.key)
        names = ("blue", "green")
        believed = BlindingGuess(
            session=session.key, about=GuessedThing.APPLICATION, guess=session.application, options=names,
            at=event.clock.now(),
        )  # fmt: skip
        event.responses.add_guess(believed)
    withdraw(event, "p3", Withdrawal.REMOVE)
    return event


def test_exposure_counts_finished_sessions_without_withdrawals(event):
    (tally,) = event_finding(event.study, event_record(event.store, event.study)).exposures

    assert (tally.n_people, tally.n_sessions, tally.turns) == (2, 2, 2)
    assert (tally.minutes_median, tally.minutes_most) == (12, 18)
    assert (tally.severe, tally.severe_most, tally.n_enough) == (1, 1, 1)


def test_without_a_limit_no_tester_reaches_it(event):
    study = replace(event.study, event=Event())

    assert event_finding(study, event_record(event.store, study)).exposures[0].n_enough is None


def test_guesses_are_compared_with_chance_and_withdrawals_are_counted(event):
    found = event_finding(event.study, event_record(event.store, event.study))

    assert [(leak.rate.count, leak.rate.n, leak.chance) for leak in found.leaks if leak.level is None] == [(2, 2, 0.5)]
    assert [(one.kind, one.n_people, one.dialogues) for one in found.withdrawals] == [(Withdrawal.REMOVE, 1, 1)]


def test_languages_are_counted_by_presented_texts_without_withdrawals(event):
    for who, language in (("p1", "de"), ("p2", "")):
        (session,) = event.sessions.of_participant(who)
        event.sessions.update(session.key, lambda known, language=language: replace(known, language=language))
    found = event_finding(event.study, event_record(event.store, event.study))

    assert [(one.language, one.n_sessions, one.n_dialogues) for one in found.languages] == [("de", 1, 1), ("", 1, 1)]


def test_without_participants_there_is_no_event_finding(event):
    assert event_finding(event.study, EventRecord()) is None


REPOSITORIES = ("events", "sessions", "dialogues", "participants", "responses", "withdrawals")


class Listening:
    """A store, or a part of it, that notes what is read from its repositories."""

    def __init__(self, target, reads):
        self.target, self.reads = target, reads

    def __getattr__(self, name):
        value = getattr(self.target, name)
        if name in REPOSITORIES:
            return Listening(value, self.reads)
        self.reads.append(name)
        return value


def test_the_number_of_queries_for_an_event_does_not_depend_on_its_sessions(event):
    reads: list[str] = []

    record = event_record(Listening(event.store, reads), event.study)

    assert len(record.sessions) == 3
    assert sorted(reads) == ["dialogue_counts", "guesses", "in_study", "tombstones", "turn_counts"]
