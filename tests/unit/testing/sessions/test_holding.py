from __future__ import annotations

from tests.fakes.builders import reply, scripts, session_task, study
from tests.fakes.clients import held_by_hand, usual_answer

from theodolite.domain.dialogue import Ending, TesterType
from theodolite.domain.flow import CONTENT_FILTER, FILTERED_TEXT
from theodolite.domain.persona import Script
from theodolite.domain.scenario import Scenario
from theodolite.testing.sessions.holding import hold_session, task_version


def followed(script, answer=usual_answer, **scenario):
    scene = Scenario(name="shop", scripts=(script,), **scenario)
    return held_by_hand(hold_session(session_task(study(scenarios=(scene,), personas=()))), answer)


def test_a_reply_that_the_applications_filter_withheld_is_a_turn():
    withheld = reply(FILTERED_TEXT, finish=CONTENT_FILTER)
    held = followed(Script(key="s", prompts=("a",)), lambda _: withheld)

    assert held.result.turns[0].response == FILTERED_TEXT
    assert held.result.turns[0].withheld == ""


def test_a_script_is_followed_to_its_end():
    held = followed(scripts("s", turns=2)[0])

    assert [turn.prompt for turn in held.result.turns] == ["s 1", "s 2"]
    assert held.result.ending is Ending.SCRIPT_END
    assert held.result.held_by is TesterType.SCRIPT
    assert held.result.persona is None


def test_withheld_prompts_make_a_withheld_dialogue():
    held = followed(Script(key="s", prompts=("",), withheld="harmful"), lambda _: reply("", withheld="harmful"))

    assert held.result.withheld == "harmful"


def test_a_scripted_reply_is_labelled_as_such():
    held = followed(scripts("s", turns=2)[0], lambda _: reply("a", scripted=True))

    assert held.result.scripted == ("bot",)


def test_the_rules_of_holding_sessions_have_a_version():
    assert task_version() == "6f9ec2d721685800a6c250845b78f11369ee64fb00812cb1f05567deedf9080d", (
        "the simulated user's prompt changed: raise `FLOW_VERSION`, and write the new hash here"
    )
