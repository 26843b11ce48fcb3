"""RELEVANCE's marketing case: one writer follows its briefs and one does not; five stars with reasons."""

from __future__ import annotations

import shutil
from importlib import resources
from pathlib import Path

import pytest

import theodolite

pytestmark = pytest.mark.integration

SHIPPED = Path(str(resources.files("theodolite.resources")))


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples") / "marketing"
    shutil.copytree(SHIPPED / "examples" / "marketing", folder, ignore=shutil.ignore_patterns("__pycache__"))
    with pytest.MonkeyPatch.context() as surroundings:
        surroundings.delenv("DATABASE_URL", raising=False)
        return theodolite.run(str(folder))


def answers(ran, application, question):
    return [
        annotation.answer(question).value
        for dialogue in ran.evidence.archive.dialogues()
        for annotation in ran.evidence.archive.annotations()
        if annotation.dialogue == dialogue.key and dialogue.application == application
    ]


def test_texts_that_follow_their_brief_score_higher(ran):
    good, bad = (sorted(map(int, answers(ran, name, "stars"))) for name in ("on-brief", "off-brand"))

    assert len(good) == len(bad) == 6
    assert min(good) - max(bad) >= 3


def test_the_judge_gives_reasons(ran):
    assert set(answers(ran, "on-brief", "why")) == {"every part of the brief"}
    assert all("fish sauce" in why for why in answers(ran, "off-brand", "why"))


def test_every_variable_of_the_template_is_filled(ran):
    (prompt, *_) = [dialogue.turns[0].prompt for dialogue in ran.evidence.archive.dialogues()]

    for part in ("Product", "Goal", "Brand", "Voice", "Audience", "Region", "Places", "Platform"):
        assert f"\n{part}: " in prompt
    assert "{{" not in prompt
