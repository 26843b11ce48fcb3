from __future__ import annotations

import pytest

from tests.fakes.builders import study
from tests.fakes.store import FakeStore
from tests.unit.measurement.study.small_study import SmallStudy, polite
from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.errors import InputError, NotFound
from theodolite.domain.instrument import QuestionLevel
from theodolite.usecases.monitoring import Watched, history_of_runs

STUDY = study()


def test_a_study_without_a_finished_run_has_no_history():
    with pytest.raises(NotFound, match="no run of the study `small` is finished"):
        history_of_runs(FakeStore(), STUDY, Watched())


@pytest.mark.parametrize(
    ("watched", "words"),
    [
        (Watched(guideline="usefull"), r"there is no guideline `usefull`"),
        (Watched(annotator="nobody"), "no annotator `nobody` answers"),
        (Watched(anchors="bto"), r"there is no application `bto`"),
    ],
)
def test_unknown_names_are_refused(watched, words):
    with pytest.raises(InputError, match=words):
        history_of_runs(FakeStore(), STUDY, watched)


class RunStore(FakeStore):
    """A store with one finished run of a small study."""

    def __init__(self, small):
        super().__init__()
        self._small, self._evidence = small, small.evidence()

    def runs(self, study):
        return [self._evidence.run]

    def study(self, version):
        return self._evidence.study

    def dialogues(self, run, at=None):
        return iter(self._small.dialogues)

    def annotations(self, run, at=None):
        return iter(self._small.annotations)


@pytest.mark.parametrize(
    ("answers", "score"),
    [
        (("yes", "no"), (Outcome.ANSWERED, True)),
        (("yes", "yes"), (Outcome.ANSWERED, False)),
        (("yes", "perhaps"), (Outcome.UNPARSEABLE, None)),
        ((), (Outcome.MISSING, None)),
    ],
    ids=["defect in one turn", "no defect", "off the scale", "no answer"],
)
def test_a_score_of_a_question_about_turns_is_that_of_the_deciding_turn(answers, score):
    small = SmallStudy(guideline=polite(level=QuestionLevel.TURN))
    small.annotator("rule", AnnotatorKind.RULE)
    small.session("d1")
    small.answer("rule", "d1", *answers)

    history = history_of_runs(RunStore(small), small.evidence().study, Watched())

    assert [(one.outcome, one.defect) for one in history.scores] == [score]
