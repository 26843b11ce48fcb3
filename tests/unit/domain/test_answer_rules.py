"""Labels are read from answers by one set of rules."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.fakes.evidence import live_evidence
from tests.unit.measurement.study.small_study import CALLABLE, NUMBERS, SmallStudy, polite

from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.answer_rules import (
    annotators_of,
    label_of,
    labels_of,
    positions_of,
    unresolved_failures,
    versions_of,
)
from theodolite.domain.answers import DialogueLabel, outcomes_of
from theodolite.domain.estimate import Outcomes
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import QuestionLevel

TURNS = polite(level=QuestionLevel.TURN)


def sources_of(study):
    evidence = study.evidence()
    return annotators_of(evidence.study, study.guideline, evidence.study.applications[0])


def labels(study, name, **options):
    found = labels_of(study.evidence().answers, name, study.guideline, study.guideline.question, **options)
    return [(label.outcome, label.value) for label in found]


def annotation(*values):
    study = SmallStudy(guideline=TURNS)
    study.answer("ann", "d1", *values)
    return study.annotations[0]


def turns(*values, guideline=TURNS, groups=None):
    """Return an annotator's label of one dialogue with an answer a turn."""
    study = SmallStudy(guideline=guideline)
    study.annotator("ann")
    study.session("d1", groups=groups)
    study.answer("ann", "d1", *values)
    return labels(study, "ann")


def test_outcomes_are_counted_separately():
    assert outcomes_of([*Outcome, Outcome.ANSWERED]) == Outcomes(
        planned=7, used=2, missing=1, failed=1, refused=1, unparseable=1, not_applicable=1
    )


def test_the_reference_annotator_decides():
    study = SmallStudy(reference=True)
    study.annotator("ann")

    assert [source.name for source in sources_of(study).reference_annotators] == ["reference"]
    assert [source.name for source in sources_of(study).counted] == ["reference", "ann"]


def test_without_a_reference_all_annotators_count():
    study = SmallStudy()
    study.annotator("ann")
    study.annotator("large", AnnotatorKind.MODEL)

    assert [source.name for source in sources_of(study).reference_annotators] == ["ann", "large"]
    assert [source.is_person for source in sources_of(study).annotators] == [True, False]


def test_a_failed_session_is_failed_for_every_annotator():
    study = SmallStudy(connection=CALLABLE)
    study.annotator("large", AnnotatorKind.MODEL)
    study.session("d1", held=False)
    study.fail("d1")

    assert labels(study, "large") == [(Outcome.FAILED, None)]


def test_an_annotation_that_succeeds_after_a_failure_is_an_answer():
    study = SmallStudy(connection=CALLABLE)
    study.annotator("large", AnnotatorKind.MODEL)
    study.session("d1")
    study.fail("d1", "large")
    study.answer("large", "d1", "yes")

    assert labels(study, "large") == [(Outcome.ANSWERED, "yes")]


def test_an_unrecorded_final_label_is_missing():
    study = SmallStudy(reference=True)
    study.session("d1")
    study.session("d2")
    study.final("d2", "no")

    assert labels(study, "reference") == [(Outcome.MISSING, None), (Outcome.ANSWERED, "no")]


def test_versions_name_guideline_and_annotators():
    study = SmallStudy(reference=True)
    study.annotator("ann")

    found = versions_of(study.guideline, sources_of(study).counted)

    assert list(found) == ["guideline polite", "reference", "annotator ann"]
    assert found["guideline polite"] == version_of(study.guideline)
    assert found["annotator ann"] == study.evidence().study.annotator_version("ann")


@pytest.mark.parametrize(
    ("answers", "label"),
    [
        (("yes", "no"), (Outcome.ANSWERED, "no")),
        ((Outcome.UNPARSEABLE, "no"), (Outcome.ANSWERED, "no")),
        (("yes", Outcome.UNPARSEABLE), (Outcome.UNPARSEABLE, None)),
        (("yes", "perhaps"), (Outcome.UNPARSEABLE, None)),
        (("perhaps", "yes"), (Outcome.UNPARSEABLE, None)),
        ((Outcome.NOT_APPLICABLE, "yes"), (Outcome.ANSWERED, "yes")),
        ((Outcome.NOT_APPLICABLE, Outcome.NOT_APPLICABLE), (Outcome.NOT_APPLICABLE, None)),
        ((Outcome.MISSING, Outcome.REFUSED), (Outcome.MISSING, None)),
    ],
    ids=[
        "defect",
        "defect before unknown",
        "unknown before known",
        "off scale",
        "off scale first",
        "known",
        "not applicable",
        "first unknown",
    ],
)
def test_one_defective_turn_makes_a_defective_dialogue(answers, label):
    assert turns(*answers) == [label]
    assert label_of(annotation(*answers), TURNS.question, TURNS.defect_rules) == label


def test_a_turn_is_a_defect_under_the_rules_that_apply_to_its_dialogue():
    among = polite(level=QuestionLevel.TURN, among={"kind": "safe"})
    harmful = replace(among.defect_rules[0], name="too polite", values=("yes",), among={"kind": "harmful"})
    both = replace(among, defect_rules=(*among.defect_rules, harmful))

    found = [turns("no", "yes", "no", guideline=both, groups={"kind": kind}) for kind in ("safe", "harmful")]

    assert found == [[(Outcome.ANSWERED, "no")], [(Outcome.ANSWERED, "yes")]]


def test_a_value_outside_the_scale_is_unparseable():
    study = SmallStudy(guideline=polite(scale=NUMBERS, value="2"))
    study.annotator("ann")
    study.session("d1")
    study.answer("ann", "d1", "9")

    assert labels(study, "ann") == [(Outcome.UNPARSEABLE, None)]


def test_a_session_completed_after_a_failure_is_not_failed():
    study = SmallStudy(connection=CALLABLE)
    study.annotator("large", AnnotatorKind.MODEL)
    study.session("d1")
    study.fail("d1")

    assert labels(study, "large") == [(Outcome.MISSING, None)]
    assert unresolved_failures(study.evidence().answers, 0) == ()


def test_labels_of_selected_positions_equal_those_of_the_whole_plan():
    study = SmallStudy()
    study.annotator("ann")
    for number, value in enumerate(("yes", "no", "no")):
        study.session(f"d{number}")
        study.answer("ann", f"d{number}", value)

    assert labels(study, "ann", positions=[2, 0]) == [labels(study, "ann")[2], labels(study, "ann")[0]]


def test_labels_count_their_outcomes():
    evidence = live_evidence()
    table, guideline = evidence.answers, evidence.study.guidelines[0]
    found = labels_of(table, "grounded", guideline, guideline.question)

    assert found.outcome_counts() == outcomes_of(label.outcome for label in found)
    assert found[17] == DialogueLabel(outcome=Outcome.FAILED)
    assert list(found[1:3]) == [found[1], found[2]]


def test_labels_are_computed_once_for_all_callers():
    evidence = live_evidence()
    guideline = evidence.study.guidelines[0]

    first, again = (labels_of(evidence.answers, "grounded", guideline, guideline.question) for _ in range(2))

    assert first is again


def test_sessions_are_labelled_where_their_scenario_asks_for_the_guideline():
    evidence = live_evidence()
    application, guideline = evidence.study.applications[0], evidence.study.guidelines[0]

    assert list(positions_of(evidence.study, evidence.answers, application, guideline)) == list(range(60))


def test_an_annotation_without_an_answer_to_a_question_has_no_label():
    other = replace(TURNS.question, name="other")

    assert label_of(annotation("yes", "no"), other, ()) is None
    assert label_of(annotation("yes", "no"), polite().question, ()) is None, "turns are no answer about the dialogue"
