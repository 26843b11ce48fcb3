"""Order metrics of scored questions: the published example, people's ranking, reasons and earlier runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from scipy.stats import kendalltau, spearmanr

from tests.fakes.evidence import changed
from tests.fakes.evidence_variants import labelled_evidence
from tests.unit.measurement.study.small_study import NUMBERS, SmallStudy, polite
from tests.unit.measurement.study.test_judge_diagnostics import cast, judged, mark
from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.estimate import Estimate, Measurement, Undefined
from theodolite.domain.estimate_subject import Measure
from theodolite.domain.event import AnnotationProcess, PreAnnotation
from theodolite.domain.evidence import Evidence, blind_evidence
from theodolite.domain.findings.order import OrderFactor, RunScores
from theodolite.domain.instrument import Operator
from theodolite.domain.shown_order import ShownOrder
from theodolite.measurement.study.findings import measure_study
from theodolite.measurement.study.order_metrics import conditions, order_findings, order_metrics

EIGHT = (5, 4, 5, 4, 5, 4, 5, 4)


RISING = (1, 3, 2, 4, 3, 5, 5, 5)


def scored(*, reference=None, guideline=None, **columns):
    """Return a study in which `judge` is a model and everybody else a person."""
    study = SmallStudy(guideline=guideline or polite(scale=NUMBERS, operator=Operator.AT_MOST, value="3"))
    study.reference = reference is not None
    for name in columns:
        study.annotator(name, AnnotatorKind.MODEL if name == "judge" else AnnotatorKind.PERSON)
    for number in range(max(map(len, [*columns.values(), reference or ()]))):
        study.session(f"d{number + 1:02}")
    for name, values in columns.items():
        for number, value in enumerate(values, start=1):
            study.answer(name, f"d{number:02}", value if isinstance(value, Outcome) else str(value))
    for number, value in enumerate(reference or (), start=1):
        study.final(f"d{number:02}", str(value))
    return study


def test_the_published_example_has_its_published_values():
    (found,) = order_metrics(scored(judge=EIGHT).evidence()).sequences

    assert found.profile.pen.value == pytest.approx(0.6931471805599453, abs=1e-15)
    assert (found.profile.cin.value, found.profile.lis.value, found.level) == (10, 2, 4.5)
    assert (found.profile.pen.band, found.profile.cin.band, found.profile.lis.band) == ("medium", "high", "low")


def test_the_longest_increasing_subsequence_is_that_of_the_document():
    (found,) = order_metrics(scored(judge=(*RISING[:6], 1, 1)).evidence()).sequences

    assert found.profile.lis.value == 4


def test_fewer_than_eight_scores_have_no_metrics_and_state_why():
    study = scored(judge=(*EIGHT[:7], Outcome.UNPARSEABLE))

    (found,) = order_metrics(study.evidence()).sequences

    assert found.profile == Undefined(
        reason="Order metrics need 8 scores; there are 7.", n=7, unit="scores", method="relevance_profile"
    )
    assert (found.outcomes.planned, found.outcomes.used, found.outcomes.unparseable) == (8, 7, 1)


def test_failed_and_missing_scores_are_excluded_and_counted():
    study = scored(judge=(*EIGHT, Outcome.MISSING))
    study.session("d10")
    study.fail("d10", "judge")

    (found,) = order_metrics(study.evidence()).sequences

    assert (found.profile.n, found.profile.n_missing, found.profile.cin.value) == (8, 2, 10)
    assert (found.outcomes.failed, found.outcomes.missing) == (1, 1)


def test_a_judge_is_ranked_against_final_labels_if_available():
    human, judge = (1, 2, 3, 4, 5, 5, 4, 2, 1, 3), (2, 1, 3, 5, 5, 4, 4, 3, 1, 3)

    (found,) = order_metrics(scored(judge=judge, ann=human, reference=human).evidence()).rankings

    assert (found.human, found.annotator, found.ranking.n) == ("reference", "judge", 10)
    assert found.ranking.tau.value == pytest.approx(kendalltau(human, judge).statistic)
    assert found.ranking.spearman.value == pytest.approx(spearmanr(human, judge).statistic)
    assert found.ranking.opposed_pairs.low <= found.ranking.cin / 45 <= found.ranking.opposed_pairs.high


def test_several_people_are_ranked_each_and_by_their_mean():
    found = order_metrics(scored(judge=EIGHT, ann=RISING, ben=tuple(reversed(RISING))).evidence()).rankings

    assert [one.human for one in found] == ["ann", "ben", "people"]


def test_a_ranking_of_fewer_than_eight_dialogues_is_undefined():
    (found,) = order_metrics(scored(judge=EIGHT, ann=(1, 2, 3)).evidence()).rankings

    assert isinstance(found.ranking, Undefined)
    assert found.ranking.reason == "People and judge both scored 3 units; a ranking needs 8."
    assert found.outcomes.used == 3


def test_the_worst_scores_are_listed_with_their_reasons():
    study = scored(judge=(5, 1, 5, 2, 5, 5, 5, 5))
    first, *rest = study.annotations
    study.annotations = [first, *(replace(one, answers=_reasoned(one)) for one in rest)]

    (found,) = order_metrics(study.evidence()).sequences

    assert [(one.dialogue, one.value, one.reason) for one in found.worst] == [
        ("d02", 1.0, "because of 1"),
        ("d04", 2.0, "because of 2"),
    ]


def test_a_withheld_dialogue_shows_no_reason():
    study = scored(judge=(1, *EIGHT))
    study.annotations[0] = replace(study.annotations[0], answers=_reasoned(study.annotations[0]))
    hidden = study.dialogues[0]
    turns = tuple(replace(turn, prompt="", response="", withheld="rights") for turn in hidden.turns)
    study.dialogues[0] = replace(hidden, turns=turns)

    (found,) = order_metrics(study.evidence()).sequences

    assert (found.worst[0].dialogue, found.worst[0].reason) == ("d01", "")


def _reasoned(annotation):
    return tuple(replace(answer, reasoning=f"because of {answer.value}") for answer in annotation.answers)


def test_high_scores_are_the_worst_ones_where_the_rule_says_so():
    guideline = polite(scale=NUMBERS, operator=Operator.AT_LEAST, value="4")

    (found,) = order_metrics(scored(guideline=guideline, judge=RISING).evidence()).sequences

    assert found.higher_is_worse
    assert [one.value for one in found.worst] == [5, 5, 5, 4, 3]


def test_earlier_runs_precede_the_current_one():
    evidence = scored(judge=EIGHT).evidence()
    earlier = RunScores(
        run=0,
        started=datetime(2025, 1, 1, tzinfo=UTC),
        application="bot",
        guideline="polite",
        question="label",
        annotator="judge",
        annotator_version="older",
        values=(1, 2, 3, None),
    )

    (found,) = order_metrics(replace(evidence, earlier_scores=(earlier,))).sequences

    assert [(one.run, one.n, one.n_missing, one.is_same_annotator) for one in found.runs] == [
        (0, 3, 1, False),
        (1, 8, 0, True),
    ]
    assert isinstance(found.runs[0].profile, Undefined)


def test_rolling_windows_end_at_the_position_of_their_last_dialogue():
    study = scored(judge=(*EIGHT, Outcome.MISSING, 5))
    (found,) = order_metrics(study.evidence()).sequences

    assert found.windows.positions == (7, 9)
    assert found.windows.level == (4.5, 4.5)


def test_labels_without_numbers_have_no_order_metrics():
    study = SmallStudy()
    study.annotator("ann")
    study.session("a")
    study.answer("ann", "a", "no")

    assert order_metrics(study.evidence()).sequences == ()


def sat() -> Evidence:
    """Return evidence of two people of whom every second sitting asked in reverse."""
    evidence = labelled_evidence(lambda said: said or "1", people=("anna", "ben"))
    kept, number = [], dict.fromkeys(("anna", "ben"), 0)
    for one in evidence.archive.annotations():
        if one.annotator in number:
            number[one.annotator] += 1
            order = ShownOrder(options=number[one.annotator] % 2 == 0, dialogues=False)
            one = replace(one, shown=order, sitting=number[one.annotator])  # noqa: PLW2901  # the same, sat
        kept.append(one)
    return changed(evidence, annotations=tuple(kept))


def test_order_metrics_of_people_follow_the_order_of_their_sessions() -> None:
    found = {one.factor: one for one in order_findings(sat()) if not one.annotator}
    assert set(found) == {OrderFactor.QUEUE, OrderFactor.PREVIOUS}
    assert found[OrderFactor.QUEUE].n_annotators == 2
    assert found[OrderFactor.QUEUE].first.n + found[OrderFactor.QUEUE].second.n == 60
    assert found[OrderFactor.PREVIOUS].n_between == 2


def suggested(n_shown: int) -> Evidence:
    """Return evidence of two people who labelled thirty dialogues and saw suggestions of a judge in some."""
    evidence = labelled_evidence(lambda said: said or "1", people=("anna", "ben"))
    (sample,) = evidence.samples
    shown = {one.dialogue: number < n_shown for number, one in enumerate(sample.dialogues)}
    annotations = tuple(
        replace(one, shown=ShownOrder(suggestions=shown[one.dialogue]), sitting=1 + list(shown).index(one.dialogue))
        if one.annotator in {"anna", "ben"}
        else one
        for one in evidence.archive.annotations()
    )
    judge = next(one.name for one in evidence.study.annotators if not one.by_hand)
    process = AnnotationProcess(pre_annotation=PreAnnotation(judge=judge))
    found = changed(evidence, annotations=annotations, study=replace(evidence.study, annotation=process))
    return replace(found, samples=evidence.samples, drawn=evidence.drawn)


def test_effects_of_suggestions_are_measured_beside_orders() -> None:
    evidence = suggested(10)
    answers, agreement = (one for one in order_findings(evidence) if one.factor is OrderFactor.SUGGESTIONS)

    assert (answers.first.n, answers.second.n) == (40, 20)
    assert agreement.measured == "share of answers equal to the judge's"


def test_blind_evidence_excludes_labels_with_suggestions_and_their_final_labels() -> None:
    evidence = suggested(10)
    blind = blind_evidence(evidence)

    def positions(of: Evidence, annotator: str) -> set[int]:
        keys = [key for key in of.answers.answers if key[0] == annotator]
        return {position for key in keys for position in of.answers.answers[key].position}

    dropped = positions(evidence, "anna") - positions(blind, "anna")
    (sample,) = evidence.samples
    assert dropped == {evidence.drawn[one.dialogue] for one in sample.dialogues[:10]}
    assert positions(evidence, "ben") - positions(blind, "ben") == dropped
    assert len(positions(blind, "anna")) == 20
    assert not any(blind.answers.has_annotation(position, "anna") for position in dropped)
    assert all(blind.answers.has_annotation(position, "anna") for position in positions(blind, "anna"))
    plain = labelled_evidence(lambda said: said or "1")
    assert blind_evidence(plain) is plain


def test_labels_with_suggestions_count_in_rates_and_not_in_agreement() -> None:
    measured = measure_study(suggested(10)).measurements
    all_labels = measure_study(suggested(0)).measurements

    def n_of(found: Sequence[Measurement], measure: Measure) -> set[int]:
        return {one.result.n for one in found if one.measure is measure}

    assert max(n_of(measured, Measure.EXACT_AGREEMENT)) == 20
    assert max(n_of(all_labels, Measure.EXACT_AGREEMENT)) == 30
    assert n_of(measured, Measure.DEFECT_RATE) == n_of(all_labels, Measure.DEFECT_RATE)


def test_imported_labels_have_no_order_metrics() -> None:
    assert list(order_findings(labelled_evidence(lambda said: said or "1"))) == []


def test_order_metrics_of_repeated_readings_follow_the_order_of_labels() -> None:
    study = judged(("d1", "d2", "d3"))
    for place, values in enumerate([("yes", "no"), ("yes", "no"), ("no", "no")]):
        mark(study, place, votes=cast(*values))
    (effect,) = order_findings(study.evidence())
    assert (effect.annotator, effect.factor) == ("judge", OrderFactor.OPTIONS)
    assert dict(effect.first.given) == {"yes": 2, "no": 1}
    assert dict(effect.second.given) == {"yes": 0, "no": 3}
    assert (effect.n_annotators, effect.n_dialogues) == (1, 3)


def looked_at(groups=(), **places):
    """Return the evidence of a study whose dialogues were held at some levels by some testers."""
    study = SmallStudy(groups=groups)
    study.annotator("ann")
    for label in places:
        study.session(label, groups={"kind": "x"})
    study.column("ann", **dict.fromkeys(places, "no"))
    evidence = study.evidence()
    moved = [replace(s, level=places[s.label][0], held_by=places[s.label][1]) for s in evidence.sessions]
    return changed(evidence, sessions=tuple(moved))


SCRIPT = (Level.MODEL_TESTING, TesterType.SCRIPT)

SIMULATED = (Level.RED_TEAMING, TesterType.SIMULATED_USER)

PERSON = (Level.RED_TEAMING, TesterType.PERSON)


def rates(evidence):
    found = [m for m in measure_study(evidence).measurements if m.measure == "defect_rate"]
    return [(m.subject.level, m.subject.tester_type, m.result.n) for m in found]


def test_each_level_and_tester_type_has_a_rate():
    evidence = looked_at(d1=PERSON, d2=SCRIPT, d3=SIMULATED, d4=SIMULATED)

    assert rates(evidence) == [
        ("model testing", "script", 1),
        ("red teaming", "simulated user", 2),
        ("red teaming", "person", 1),
    ]


def test_a_single_condition_has_no_separate_rates():
    assert rates(looked_at(d1=SIMULATED, d2=SIMULATED)) == [(None, None, 2)]


def test_splits_by_group_keep_conditions_separate():
    evidence = looked_at(groups=("kind",), d1=SCRIPT, d2=SIMULATED)

    splits = [m for m in measure_study(evidence).measurements if m.subject.group]

    assert [(m.subject.level, m.result.n) for m in splits] == [("model testing", 1), ("red teaming", 1)]
    assert all(isinstance(m.result, Estimate) for m in splits)


def test_conditions_are_sorted_by_level():
    found = conditions(looked_at(d1=PERSON, d2=SCRIPT, d3=SIMULATED).sessions)

    assert [(condition.level, condition.held_by) for condition in found] == [SCRIPT, SIMULATED, PERSON]
