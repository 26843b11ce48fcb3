from __future__ import annotations

from dataclasses import replace

import pytest

from theodolite.domain.persona import Persona
from theodolite.domain.scenario import Task
from theodolite.testing.tasks import TASKS, player_rules

ANA = Persona(key="p-1", name="Ana", group="p", text="You are Ana.", goal="Buy a mixer", model="user")


def rules(persona: Persona = ANA, task: Task = Task.CHAT, material: str = "FACTS") -> str:
    return player_rules(persona, task, stop="[END]", material=material)


def test_every_task_has_rules_of_its_own():
    assert set(TASKS) == set(Task)
    assert len({one.words for one in TASKS.values()}) == len(Task)


@pytest.mark.parametrize("task", Task)
def test_the_user_is_told_who_they_are_what_they_want_and_what_the_task_is(task):
    told = rules(task=task)

    assert "You are Ana." in told
    assert "Buy a mixer" in told
    assert TASKS[task].words in told
    assert "write [END]" in told


@pytest.mark.parametrize(
    ("task", "is_shown"),
    [
        (Task.QUESTION_ANSWERING, False),
        (Task.CHAT, False),
        (Task.SEARCH, False),
        (Task.SUMMARISATION, True),
        (Task.REWRITING, True),
        (Task.GENERATION, True),
    ],
)
def test_who_asks_about_unknown_material_does_not_read_it(task, is_shown):
    assert ("FACTS" in rules(task=task)) is is_shown


def test_without_material_nothing_is_said_to_lie_there():
    assert "<<<" not in rules(task=Task.REWRITING, material="")


def test_lines_of_another_voice_show_the_manner():
    told = rules(replace(ANA, style=("pls help thx", "wht now {x}")))

    assert "- pls help thx\n- wht now {x}" in told
    assert "never the content" in told


def test_a_language_is_asked_for_only_where_one_is_given():
    assert "language" not in rules()
    assert "answers in: Polish" in rules(replace(ANA, language="Polish"))
