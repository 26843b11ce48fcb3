"""Who labels what, and how outcomes are counted."""

from __future__ import annotations

from tests.unit.measurement.study.small_study import CALLABLE, SmallStudy
from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.estimate import Outcomes
from theodolite.domain.identity import version_of
from theodolite.measurement.study.labels import Sheet, account, sources, versions


def sources_of(study):
    evidence = study.evidence()
    return sources(evidence.study, study.guideline, evidence.study.applications[0])


def readings(study, name):
    evidence = study.evidence()
    sheet = Sheet(
        register=evidence.register,
        guideline=study.guideline,
        question=study.guideline.question,
        places=range(len(evidence.sessions)),
    )
    (source,) = [source for source in sources_of(study).everybody if source.name == name]
    return [(reading.outcome, reading.value) for reading in sheet.readings(source)]


def test_outcomes_are_counted_each_for_itself():
    assert account([*Outcome, Outcome.ANSWERED]) == Outcomes(
        planned=7, used=2, missing=1, failed=1, refused=1, unparseable=1, not_applicable=1
    )


def test_the_reference_has_the_last_word():
    study = SmallStudy(reference=True)
    study.annotator("ann")

    assert [source.name for source in sources_of(study).authorities] == ["reference"]
    assert [source.name for source in sources_of(study).everybody] == ["reference", "ann"]


def test_without_a_reference_everybody_has_it():
    study = SmallStudy()
    study.annotator("ann")
    study.annotator("large", AnnotatorKind.MODEL)

    assert [source.name for source in sources_of(study).authorities] == ["ann", "large"]
    assert [source.is_person for source in sources_of(study).annotators] == [True, False]


def test_a_failed_session_is_failed_for_every_annotator():
    study = SmallStudy(connection=CALLABLE)
    study.annotator("large", AnnotatorKind.MODEL)
    study.session("d1", held=False)
    study.fail("d1")

    assert readings(study, "large") == [(Outcome.FAILED, None)]


def test_an_annotation_that_failed_once_and_came_later_is_an_answer():
    study = SmallStudy(connection=CALLABLE)
    study.annotator("large", AnnotatorKind.MODEL)
    study.session("d1")
    study.fail("d1", "large")
    study.answer("large", "d1", "yes")

    assert readings(study, "large") == [(Outcome.ANSWERED, "yes")]


def test_a_final_label_that_was_not_recorded_is_missing():
    study = SmallStudy(reference=True)
    study.session("d1")
    study.session("d2")
    study.final("d2", "no")

    assert readings(study, "reference") == [(Outcome.MISSING, None), (Outcome.ANSWERED, "no")]


def test_versions_name_guideline_and_annotators():
    study = SmallStudy(reference=True)
    study.annotator("ann")

    found = versions(study.guideline, sources_of(study).everybody)

    assert list(found) == ["guideline polite", "reference", "annotator ann"]
    assert found["guideline polite"] == version_of(study.guideline)
    assert found["annotator ann"] == study.evidence().study.annotator_version("ann")
