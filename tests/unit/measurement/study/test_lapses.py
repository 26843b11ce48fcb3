from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.fakes.builders import dialogue, study, turn
from theodolite.config.lapse_rules import lapse_rules
from theodolite.domain.dialogue import Ending, HeldBy
from theodolite.domain.evidence import listed_evidence
from theodolite.domain.findings.lapse import Lapse, LapseKind
from theodolite.domain.persona import Persona
from theodolite.domain.run import Run, RunState
from theodolite.domain.scenario import Scenario
from theodolite.measurement import measure_study
from theodolite.measurement.study.lapses import PackedLapses

RUN = Run(
    key="r",
    number=1,
    study="small",
    study_version="",
    plan_version="",
    state=RunState.FINISHED,
    started=datetime(2026, 1, 1, tzinfo=UTC),
)


def said(*prompts, label="d001", **more):
    """Return a dialogue in which a simulated user says some texts."""
    turns = (turn(number, prompt) for number, prompt in enumerate(prompts, start=1))
    return dialogue(*turns, label=label, **{"held_by": HeldBy.SIMULATED_USER, "ending": Ending.TURN_LIMIT, **more})


def checks(*dialogues, limit=4):
    """Return kind to what was found in some dialogues."""
    scenes = (Scenario(name="shop", goal="Buy", turns=limit),)
    evidence = listed_evidence(study(scenarios=scenes), RUN, (), dialogues=dialogues)
    return {check.kind: check for check in measure_study(evidence, lapse_rules=lapse_rules()).lapses}


def found(*dialogues, limit=4):
    """Return kind, turn and words of everything that was found."""
    return [
        (kind, lapse.turn, lapse.words)
        for kind, check in checks(*dialogues, limit=limit).items()
        for lapse in check.lapses
    ]


@pytest.mark.parametrize(
    ("prompt", "kind", "words"),
    [
        ("HOW MAY I HELP YOU?", LapseKind.ROLE_FLIP, "HOW MAY I HELP YOU"),
        ("Caf\u00e9? HOW MAY I HELP YOU?", LapseKind.ROLE_FLIP, "HOW MAY I HELP YOU"),
        ("Sure! How can I help you today?", LapseKind.ROLE_FLIP, "How can I help you"),
        ("I\u2019d be happy to assist with that.", LapseKind.ROLE_FLIP, "I'd be happy to assist"),
        ("I'm sorry, but I can't say that.", LapseKind.REFUSAL, "I'm sorry, but I can't"),
        ("I cannot participate in this.", LapseKind.REFUSAL, "I cannot participate"),
        ("As an AI I have no wishes.", LapseKind.SPEAKS_AS_MODEL, "As an AI"),
        ("I'm just a language model.", LapseKind.SPEAKS_AS_MODEL, "I'm just a language model"),
        ("Goodbye for now!", LapseKind.EARLY_GOODBYE, "Goodbye"),
    ],
)
def test_words_that_fall_out_of_the_part_are_found(prompt, kind, words):
    assert found(said(prompt, "And the price?")) == [(kind, 1, words)]


@pytest.mark.parametrize(
    "prompt",
    [
        "Are you an AI?",
        "Can you help me?",
        "I am a teacher and need a lamp.",
        "Sorry, I meant the other one.",
        "I can't find the receipt.",
        "Is that all?",
        "",
    ],
)
def test_what_people_say_is_no_lapse(prompt):
    assert found(said(prompt, "And the price?")) == []


def test_a_goodbye_at_the_end_is_no_early_one():
    assert found(said("How much is it?", "Goodbye!")) == []


@pytest.mark.parametrize(
    ("prompts", "ending", "limit", "n_found"),
    [
        (("a",), Ending.STOP_RULE, 3, 1),
        (("a",), Ending.STOP_RULE, 2, 0),
        (("a", "b"), Ending.STOP_RULE, 9, 0),
        (("a",), Ending.TURN_LIMIT, 3, 0),
    ],
)
def test_who_leaves_after_one_of_many_turns_leaves_early(prompts, ending, limit, n_found):
    lapses = found(said(*prompts, ending=ending), limit=limit)

    assert len(lapses) == n_found
    assert all(words == f"left after 1 of {limit} turns" for _, _, words in lapses)


@pytest.mark.parametrize(
    ("prompts", "turns"),
    [
        (("Where is it?", "where is it"), [2]),
        (("Where is it?", "Why?", "Where is it?!"), [3]),
        (("a b c d e f g h i j", "a b c d e f g h i"), [2]),
        (("a b c d e", "a b c d"), []),
        (("?", "!"), []),
        (("?", "?"), [2]),
    ],
)
def test_a_prompt_with_the_words_of_an_earlier_one_is_a_repetition(prompts, turns):
    assert [turn for kind, turn, _ in found(said(*prompts)) if kind is LapseKind.REPETITION] == turns


def test_a_fixed_first_prompt_is_the_studys_own():
    ana = Persona(key="p", name="Ana", group="p", text="", goal="", model="user", starter="Goodbye")

    assert found(said("Goodbye", "Why?", persona=ana)) == []
    assert len(found(said("Goodbye", "Why?", persona=replace(ana, starter="")))) == 1


def test_only_simulated_users_are_looked_at():
    assert checks(said("As an AI", "b", held_by=HeldBy.PERSON)) == {}


def test_a_rule_without_a_finding_is_reported_with_what_it_looked_at():
    found = checks(said("a", "b"), said("c", "d", label="d002"))

    assert list(found) == list(LapseKind)
    assert {check.n for check in found.values()} == {2}


@pytest.mark.parametrize("n", [0, 1, 256, 600])
def test_packed_lapses_come_out_as_they_went_in_and_as_often_as_wanted(n):
    given = [Lapse(dialogue=f"d{place}", turn=place + 1, words="so\u00df\ud800\n" * place) for place in range(n)]
    packed = PackedLapses()
    for lapse in given:
        packed.append(lapse)

    assert list(packed) == given == list(packed)


def test_of_a_long_prompt_that_comes_again_the_beginning_is_shown():
    prompt = "Where is it? " * 10

    (shown,) = (words for kind, _, words in found(said(prompt, prompt)) if kind is LapseKind.REPETITION)

    assert (len(shown), shown[-1], prompt.startswith(shown[:-1])) == (80, "…", True)
