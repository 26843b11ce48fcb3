"""Laws of a whole study's findings."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.measurement.study.small_study import CALLABLE, SmallStudy
from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.measurement.study.findings import measure_study

ANSWERS = st.sampled_from(
    ["yes", "no", Outcome.UNPARSEABLE, Outcome.REFUSED, Outcome.NOT_APPLICABLE, "failed", "waits"]
)
COLUMN = st.lists(st.tuples(ANSWERS, ANSWERS), min_size=1, max_size=10)


def study_of(rows):
    study = SmallStudy(connection=CALLABLE, groups=("half",))
    study.annotator("large", AnnotatorKind.MODEL)
    study.annotator("words", AnnotatorKind.RULE)
    for number, row in enumerate(rows):
        label = f"d{number}"
        study.session(label, cluster=f"persona {number % 4}", groups={"half": str(number % 2)})
        for annotator, answer in zip(("large", "words"), row, strict=True):
            if answer == "failed":
                study.fail(label, annotator)
            elif answer != "waits":
                study.answer(annotator, label, answer)
    return study


@given(rows=COLUMN)
@settings(deadline=None, max_examples=30)
def test_every_planned_session_is_in_every_disposition(rows):
    findings = measure_study(study_of(rows).evidence())

    whole = [m for m in findings.measurements if m.subject.group is None]
    assert {m.outcomes.planned for m in whole} == {len(rows)}


@given(rows=COLUMN)
@settings(deadline=None, max_examples=30)
def test_parts_sum_to_the_whole(rows):
    rates = [m for m in measure_study(study_of(rows).evidence()).measurements if m.measure == "defect_rate"]

    for annotator in ("large", "words"):
        mine = [rate for rate in rates if rate.subject.annotator == annotator]
        whole = next(rate for rate in mine if rate.subject.group is None)
        parts = [label for rate in mine if rate.subject.group for label in rate.dialogues]
        assert sorted(parts) == sorted(whole.dialogues)


@given(rows=COLUMN, data=st.data())
@settings(deadline=None, max_examples=30)
def test_the_order_of_answers_does_not_matter(rows, data):
    study = study_of(rows)
    before = measure_study(study.evidence())

    study.annotations = data.draw(st.permutations(study.annotations))
    study.failures = data.draw(st.permutations(study.failures))

    assert measure_study(study.evidence()) == before


@given(rows=COLUMN)
@settings(deadline=None, max_examples=30)
def test_bounds_contain_the_rate_for_any_unmeasured_labels(rows):
    for rate in measure_study(study_of(rows).evidence()).measurements:
        if rate.measure == "defect_rate" and rate.bounds and rate.outcomes.used:
            assert rate.bounds[0] <= rate.result.value <= rate.bounds[1]
