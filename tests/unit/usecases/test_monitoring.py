from __future__ import annotations

import pytest
from tests.fakes.builders import study
from tests.fakes.store import FakeStore

from theodolite.domain.errors import InputError, NotFound
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
def test_names_that_are_not_the_studys_are_refused(watched, words):
    with pytest.raises(InputError, match=words):
        history_of_runs(FakeStore(), STUDY, watched)
