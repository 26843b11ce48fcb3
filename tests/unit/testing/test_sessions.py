from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.builders import group, reply, scripts, session_task, study, turn
from tests.fakes.clients import held_by_hand, usual_answer
from theodolite.domain.dialogue import Ending, Passage, TesterType
from theodolite.domain.errors import ContentRefused, EmptyReply
from theodolite.domain.flow import CONTENT_FILTER, FILTERED_TEXT, AskModel, SayToApplication, Speaker
from theodolite.domain.persona import ParameterRow, Script
from theodolite.domain.run import FailureSource
from theodolite.domain.scenario import Scenario, SourceText, Task
from theodolite.domain.scenario import TestPacket as Packet
from theodolite.testing.design import LEFT_OUT, OPENING
from theodolite.testing.sessions import run_session, task_version, with_shared_context


def searched(*prompts):
    """Hold a session of a script whose every word but `nothing` is found in a corpus of one passage."""
    scene = Scenario(name="shop", scripts=(Script(key="s", prompts=prompts),))
    task = session_task(study(scenarios=(scene,), personas=()))

    def search(query):
        return () if query == "nothing" else (Passage(name="faq, paragraph 1", text=f"About {query}."),)

    return held_by_hand(run_session(replace(task, search=search)))


def test_every_turn_has_the_passages_of_its_own_prompt():
    held = searched("coats", "hats")

    assert [said.context for said in held.requests] == [
        'Passages found for "coats": 1\n\n[1] faq, paragraph 1\nAbout coats.',
        'Passages found for "hats": 1\n\n[1] faq, paragraph 1\nAbout hats.',
    ]
    assert held.requests[1].history[0].context == held.requests[0].context


def test_the_judge_reads_all_queries_with_their_passages_even_without_results():
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
def test_material_shared_by_all_turns_belongs_to_the_dialogue(contexts, shared, left):
    turns = [turn(number, context=text) for number, text in enumerate(contexts, 1)]

    context, kept = with_shared_context(turns)

    assert (context, [one.context for one in kept]) == (shared, left)


def followed(script, answer=usual_answer, **scenario):
    scene = Scenario(name="shop", scripts=(script,), **scenario)
    return held_by_hand(run_session(session_task(study(scenarios=(scene,), personas=()))), answer)


def test_a_reply_withheld_by_the_filter_of_the_application_is_a_turn():
    withheld = reply(FILTERED_TEXT, finish=CONTENT_FILTER)
    held = followed(Script(key="s", prompts=("a",)), lambda _: withheld)

    assert held.result.turns[0].response == FILTERED_TEXT
    assert held.result.turns[0].withheld == ""


def test_a_script_runs_to_its_end():
    held = followed(scripts("s", turns=2)[0])

    assert [one.prompt for one in held.result.turns] == ["s 1", "s 2"]
    assert held.result.ending is Ending.SCRIPT_END
    assert held.result.held_by is TesterType.SCRIPT
    assert held.result.persona is None


def test_withheld_prompts_make_a_withheld_dialogue():
    held = followed(Script(key="s", prompts=("",), withheld="harmful"), lambda _: reply("", withheld="harmful"))

    assert held.result.withheld == "harmful"


def test_a_scripted_reply_is_marked_as_scripted():
    held = followed(scripts("s", turns=2)[0], lambda _: reply("a", scripted=True))

    assert held.result.scripted == ("bot",)


def test_the_session_rules_have_a_version():
    assert task_version() == "6f9ec2d721685800a6c250845b78f11369ee64fb00812cb1f05567deedf9080d", (
        "the simulated user's prompt changed: raise `FLOW_VERSION`, and write the new hash here"
    )


def played(*said, turns=3, **scenario):
    """Hold a session in which the simulated user says some texts, one after the other."""
    words = iter(said)
    scene = Scenario(name="shop", goal="Buy", turns=turns, **scenario)
    task = session_task(study(scenarios=(scene,)))

    def answer(request):
        return next(words) if isinstance(request, AskModel) else f"on {request.prompt}"

    return held_by_hand(run_session(task), answer)


def test_a_simulated_user_and_an_application_take_turns():
    held = played("a", "b", "c")

    assert [type(request) for request in held.requests] == [AskModel, SayToApplication] * 3
    assert [(turn.number, turn.prompt, turn.response) for turn in held.result.turns] == [
        (1, "a", "on a"),
        (2, "b", "on b"),
        (3, "c", "on c"),
    ]
    assert held.result.ending is Ending.TURN_LIMIT
    assert held.result.held_by is TesterType.SIMULATED_USER


def test_the_simulated_user_sees_the_dialogue_with_roles_swapped():
    asked = played("a", "b", turns=2).requests[2]

    assert [message.speaker for message in asked.messages[1:]] == [Speaker.USER, Speaker.ASSISTANT, Speaker.USER]
    assert [message.text for message in asked.messages[2:]] == ["a", "on a"]
    assert "You are Ana." in asked.messages[0].text
    assert "Buy" in asked.messages[0].text
    assert asked.party is FailureSource.SIMULATED_USER


def test_the_application_receives_the_previous_messages():
    said = played("a", "b", turns=2, packet=Packet(sources=(SourceText(name="s", text="Facts."),))).requests[3]

    assert [(exchange.prompt, exchange.response) for exchange in said.history] == [("a", "on a")]
    assert (said.turn, said.context, said.item) == (2, "Facts.", "people-1")


@pytest.mark.parametrize(
    ("said", "prompts"),
    [
        (["a", "[END]"], ["a"]),
        (["a", "Thanks! [END]"], ["a", "Thanks!"]),
        (["a", "b [END] c"], ["a", "b"]),
        (["a", " [END] "], ["a"]),
        (["a", "[End]"], ["a"]),
    ],
)
def test_the_stop_word_ends_the_dialogue_and_is_not_sent(said, prompts):
    held = played(*said, turns=9)

    assert [turn.prompt for turn in held.result.turns] == prompts
    assert held.result.ending is Ending.STOP_RULE


def test_a_scenario_may_have_a_separate_stop_word():
    held = played("a", "over and out", stop="over and out", turns=9)

    assert len(held.result.turns) == 1
    assert "over and out" in held.requests[0].messages[0].text


def test_a_user_who_leaves_before_the_first_message_has_no_dialogue():
    with pytest.raises(EmptyReply, match="`Ana` ended the dialogue before it began"):
        played("[END]")


def test_a_simulated_user_with_a_short_memory_sees_the_last_turns_only():
    people = replace(group("Ana"), history=1)
    words = iter("abc")
    task = session_task(study(personas=(people,), scenarios=(Scenario(name="shop", turns=3),)))

    held = held_by_hand(run_session(task), lambda asked: next(words) if isinstance(asked, AskModel) else "ok")

    first, second, third = (asked.messages[1:] for asked in held.requests[::2])
    assert [message.text for message in first] == [OPENING]
    assert [message.text for message in second] == [OPENING, "a", "ok"]
    assert [message.text for message in third] == [LEFT_OUT, "b", "ok"]


def test_a_row_may_contain_the_material_of_its_dialogue():
    row = ParameterRow(values={"name": "Ana", "document": "A long letter."})
    people = replace(group("Ana"), rows=(row,))
    packet = Packet(sources=(SourceText(name="s", text="Facts."),))
    scene = Scenario(name="shop", task=Task.SUMMARISATION, packet=packet)

    held = held_by_hand(run_session(session_task(study(personas=(people,), scenarios=(scene,)))))

    asked, said = held.requests
    assert "A long letter." in asked.messages[0].text
    assert (said.context, held.result.context) == ("A long letter.", "A long letter.")


def test_a_filter_on_the_simulated_user_is_not_a_refusal_of_the_application():
    with pytest.raises(ContentRefused, match="withheld what the simulated user"):
        played(reply("", finish=CONTENT_FILTER))


def test_a_fixed_first_prompt_is_sent_without_calling_the_model():
    held = played("b", starter="Good day", turns=2)

    assert [turn.prompt for turn in held.result.turns] == ["Good day", "b"]
    assert isinstance(held.requests[0], SayToApplication)


def test_turns_state_the_positions_of_their_texts_in_the_journal():
    held = played("b", "c [END]", starter="Good day", turns=9)

    places = [(turn.prompt_at, turn.response_at) for turn in held.result.turns]
    assert places == [(None, 0), (1, 2), (None, 4)]
    for one in held.result.turns:
        assert held.journal[one.response_at].reply.text == one.response
    assert held.journal[1].reply.text == "b"


def test_braces_in_a_persona_are_plain_text():
    people = group("Ana", text="{% raw %}{persona} {{x}} {0}{% endraw %}")

    held = held_by_hand(run_session(session_task(study(personas=(people,)))))

    assert "{persona} {{x}} {0}" in held.requests[0].messages[0].text
