from __future__ import annotations

from dataclasses import replace

import pytest
from tests.fakes.builders import session_task, study, turn
from tests.fakes.clients import held_by_hand

from theodolite.domain.passage import Passage
from theodolite.domain.persona import Script
from theodolite.domain.scenario import Scenario
from theodolite.testing.sessions.holding import hold_session
from theodolite.testing.sessions.talk import with_shared_context


def searched(*prompts):
    """Hold a session of a script whose every word but `nothing` is found in a corpus of one passage."""
    scene = Scenario(name="shop", scripts=(Script(key="s", prompts=prompts),))
    task = session_task(study(scenarios=(scene,), personas=()))

    def search(query):
        return () if query == "nothing" else (Passage(name="faq, paragraph 1", text=f"About {query}."),)

    return held_by_hand(hold_session(replace(task, search=search)))


def test_every_turn_is_given_what_its_own_prompt_found():
    held = searched("coats", "hats")

    assert [said.context for said in held.requests] == [
        'Passages found for "coats": 1\n\n[1] faq, paragraph 1\nAbout coats.',
        'Passages found for "hats": 1\n\n[1] faq, paragraph 1\nAbout hats.',
    ]
    assert held.requests[1].history[0].context == held.requests[0].context


def test_the_judge_reads_all_queries_and_what_they_found_even_nothing():
    context = searched("coats", "nothing").result.context

    assert context == (
        'Turn 1. Passages found for "coats": 1\n\n[1] faq, paragraph 1\nAbout coats.\n\n'
        'Turn 2. Passages found for "nothing": 0'
    )


@pytest.mark.parametrize(
    ("contexts", "shared", "left"),
    [
        (["A"], "A", [""]),
        (["A", "A"], "A", ["", ""]),
        (["A", ""], "A", ["", ""]),
        (["A", "B"], "", ["A", "B"]),
        (["", "B"], "", ["", "B"]),
        (["A", "A", ""], "", ["A", "A", ""]),
        (["", ""], "", ["", ""]),
        ([], "", []),
    ],
)
def test_material_that_all_turns_share_belongs_to_the_dialogue(contexts, shared, left):
    turns = [turn(number, context=text) for number, text in enumerate(contexts, 1)]

    context, kept = with_shared_context(turns)

    assert (context, [one.context for one in kept]) == (shared, left)
