from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.fakes.builders import dialogue, study, turn
from tests.unit.measurement.study.role_break_words import INNOCENT, LAPSES
from theodolite.config.load_context import role_break_rules
from theodolite.domain.dialogue import Ending, TesterType
from theodolite.domain.evidence import listed_evidence
from theodolite.domain.findings.role_break import RoleBreak, RoleBreakKind
from theodolite.domain.persona import Persona
from theodolite.domain.run import Run, RunState
from theodolite.domain.scenario import Scenario
from theodolite.domain.strategy import Strategy
from theodolite.measurement import measure_study
from theodolite.measurement.study.role_breaks import PackedLapses

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
    return dialogue(*turns, label=label, **{"held_by": TesterType.SIMULATED_USER, "ending": Ending.TURN_LIMIT, **more})


def checks(*dialogues, limit=4):
    """Return kind to what was found in some dialogues."""
    scenes = (Scenario(name="shop", goal="Buy", turns=limit),)
    evidence = listed_evidence(study(scenarios=scenes), RUN, (), dialogues=dialogues)
    return {check.kind: check for check in measure_study(evidence, role_break_rules=role_break_rules()).role_breaks}


def found(*dialogues, limit=4):
    """Return kind, turn and words of everything that was found."""
    return [
        (kind, role_break.turn, role_break.words)
        for kind, check in checks(*dialogues, limit=limit).items()
        for role_break in check.role_breaks
    ]


@pytest.mark.parametrize(
    ("prompt", "kind", "words"),
    [
        ("HOW MAY I HELP YOU?", RoleBreakKind.ROLE_FLIP, "HOW MAY I HELP YOU"),
        ("Caf\u00e9? HOW MAY I HELP YOU?", RoleBreakKind.ROLE_FLIP, "HOW MAY I HELP YOU"),
        ("Sure! How can I help you today?", RoleBreakKind.ROLE_FLIP, "How can I help you"),
        ("I\u2019d be happy to assist with that.", RoleBreakKind.ROLE_FLIP, "I'd be happy to assist"),
        ("I'm sorry, but I can't say that.", RoleBreakKind.REFUSAL, "I'm sorry, but I can't say that"),
        ("I cannot participate in this.", RoleBreakKind.REFUSAL, "I cannot participate in this"),
        ("As an AI I have no wishes.", RoleBreakKind.SPEAKS_AS_MODEL, "As an AI I"),
        ("I'm just a language model.", RoleBreakKind.SPEAKS_AS_MODEL, "I'm just a language model."),
        ("Goodbye for now!", RoleBreakKind.EARLY_GOODBYE, "Goodbye"),
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
        "Your AI can't help with this?",
        "My wifi cannot help with that.",
        "",
    ],
)
def test_what_people_say_is_no_lapse(prompt):
    assert found(said(prompt, "And the price?")) == []


@pytest.mark.parametrize("kind", LAPSES)
def test_what_models_say_that_fall_out_of_their_part_is_found_and_taken_for_nothing_else(kind):
    for prompt in LAPSES[kind]:
        assert [one for one, _, _ in found(said(prompt, "And the price?"))] == [kind], prompt


def test_words_that_come_near_to_a_lapse_are_none():
    assert found(*(said(prompt, "And the price?", label=prompt) for prompt in INNOCENT)) == []


ANSWER = "The water is off on Monday from eight to twelve, so fill a kettle."


@pytest.mark.parametrize(
    ("answer", "prompt", "n_found"),
    [
        (ANSWER, ANSWER.upper(), 1),
        (ANSWER, "The water is off on Monday, and then?", 0),
        ("Monday at nine.", "Monday at nine?", 0),
    ],
)
def test_who_says_again_what_the_application_has_said_has_taken_its_part(answer, prompt, n_found):
    told = said("When?", prompt)
    told = replace(told, turns=(replace(told.turns[0], response=answer), told.turns[1]))

    assert [(kind, turn) for kind, turn, _ in found(told)] == [(RoleBreakKind.ROLE_FLIP, 2)] * n_found


@pytest.mark.parametrize(
    ("language", "n_unread"),
    [
        ("", 0),
        ("British English", 0),
        ("en-GB", 0),
        ("Deutsch", 0),
        ("Polish", 1),
        ("pl", 1),
        ("Português de Portugal", 1),
        ("Swiss German", 0),
        ("-", 0),
    ],
)
def test_a_language_whose_words_no_rule_knows_is_told_beside_what_was_looked_at(language, n_unread):
    ana = Persona(key="p", name="Ana", group="p", text="", goal="", model="user", language=language)

    by_kind = checks(said("Prosz\u0119", "Dzi\u0119kuj\u0119", persona=ana))

    assert {check.n for check in by_kind.values()} == {1}
    assert by_kind[RoleBreakKind.REFUSAL].unread == n_unread
    assert by_kind[RoleBreakKind.REPETITION].unread == 0


def test_of_an_attack_only_words_that_a_model_wrote_are_looked_at_for_refusals():
    refusal = "I'm sorry, but I can't help with that."
    attack = said("Bye!", refusal, refusal, strategies=(Strategy(name="adaptive", dialogue="u"),))
    by_model = replace(attack, turns=tuple(replace(one, prompt_at=one.number) for one in attack.turns))

    assert checks(attack) == {}
    assert found(by_model) == [
        (RoleBreakKind.REFUSAL, 2, "I'm sorry, but I can't help with"),
        (RoleBreakKind.REFUSAL, 3, "I'm sorry, but I can't help with"),
    ]
    assert list(checks(by_model)) == [RoleBreakKind.REFUSAL, RoleBreakKind.SPEAKS_AS_MODEL]


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
    role_breaks = found(said(*prompts, ending=ending), limit=limit)

    assert len(role_breaks) == n_found
    assert all(words == f"left after 1 of {limit} turns" for _, _, words in role_breaks)


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
    assert [turn for kind, turn, _ in found(said(*prompts)) if kind is RoleBreakKind.REPETITION] == turns


def test_a_fixed_first_prompt_is_the_studys_own():
    ana = Persona(key="p", name="Ana", group="p", text="", goal="", model="user", starter="Goodbye")

    assert found(said("Goodbye", "Why?", persona=ana)) == []
    assert len(found(said("Goodbye", "Why?", persona=replace(ana, starter="")))) == 1


def test_only_simulated_users_are_looked_at():
    assert checks(said("As an AI", "b", held_by=TesterType.PERSON)) == {}


def test_a_rule_without_a_finding_is_reported_with_what_it_looked_at():
    found = checks(said("a", "b"), said("c", "d", label="d002"))

    assert list(found) == list(RoleBreakKind)
    assert {check.n for check in found.values()} == {2}


@pytest.mark.parametrize("n", [0, 1, 256, 600])
def test_packed_lapses_come_out_as_they_went_in_and_as_often_as_wanted(n):
    given = [RoleBreak(dialogue=f"d{place}", turn=place + 1, words="so\u00df\ud800\n" * place) for place in range(n)]
    packed = PackedLapses()
    for role_break in given:
        packed.append(role_break)

    assert list(packed) == given == list(packed)


def test_of_a_long_prompt_that_comes_again_the_beginning_is_shown():
    prompt = "Where is it? " * 10

    (shown,) = (words for kind, _, words in found(said(prompt, prompt)) if kind is RoleBreakKind.REPETITION)

    assert (len(shown), shown[-1], prompt.startswith(shown[:-1])) == (80, "…", True)
