from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.fakes.builders import dialogue, live, recorded, recording, sessions_of, study, turn
from tests.unit.measurement.study.role_break_words import INNOCENT, LAPSES
from theodolite.config.load_context import role_break_rules
from theodolite.domain.dialogue import Ending, Level, TesterType
from theodolite.domain.estimate import Estimate, Measurement, Outcomes, Undefined
from theodolite.domain.estimate_subject import EstimateSubject, GroupValue, Measure
from theodolite.domain.evidence import listed_evidence
from theodolite.domain.findings.realism import GroupCover, RoleBreak, RoleBreakKind, SpokenSide, StyleMark
from theodolite.domain.persona import Persona, Strategy
from theodolite.domain.run import Run, RunState
from theodolite.domain.scenario import Scenario
from theodolite.measurement.proportion import defect_rate
from theodolite.measurement.study.findings import measure_study
from theodolite.measurement.study.realism import PackedLapses, RealismBook, are_comparable, prompt_mark, realisms

RUN = Run(
    key="r",
    number=1,
    study="small",
    study_version="",
    plan_version="",
    state=RunState.FINISHED,
    started=datetime(2026, 1, 1, tzinfo=UTC),
)


BOTH = study(applications=(live(), recorded()))


EVIDENCE = listed_evidence(BOTH, RUN, sessions_of(BOTH, *(recording(f"r{n}") for n in range(4))))


def side(held_by, values, *, clusters=None, applications=("bot",), groups=None):
    return SpokenSide(
        scenario="shop",
        level=Level.MODEL_TESTING,
        held_by=held_by,
        marks=dict.fromkeys(StyleMark, values),
        clusters=clusters or [str(n) for n in range(len(values))],
        applications=applications,
        groups=groups or {},
    )


def compared(people, simulated, measurements=()):
    """Return the one comparison of two sides."""
    (found,) = realisms(replace(EVIDENCE, spoken=(people, simulated)), measurements)
    return found


def style(people, simulated, mark=StyleMark.WORDS):
    styles = compared(people, simulated).styles
    return next(contrast for contrast in styles if contrast.mark is mark)


def test_means_quartiles_and_their_difference_are_computed():
    words = style(side(TesterType.RECORDED, [2.0, 4.0, 6.0]), side(TesterType.SIMULATED_USER, [10.0, 12.0, 14.0, 16.0]))

    # t(2) = 4.3027, error 2 / sqrt(3); t(3) = 3.1824, error sqrt(20 / 3) / 2.
    reach, other = 4.302653 * 2 / 3**0.5, 3.182446 * (20 / 3) ** 0.5 / 2
    assert words.people.quartiles == (3, 4, 5)
    assert words.simulated.quartiles == (11.5, 13, 14.5)
    assert (words.people.mean.value, words.people.mean.high, words.people.mean.n) == pytest.approx((4, 4 + reach, 3))
    assert words.simulated.mean.low == pytest.approx(13 - other)
    change = words.difference
    assert (change.value, change.low) == pytest.approx((9, 9 - (reach**2 + other**2) ** 0.5))


def test_dialogues_of_one_persona_are_one_cluster():
    people, simulated = (
        side(TesterType.RECORDED, [1.0, 2.0]),
        side(TesterType.SIMULATED_USER, [1.0] * 3, clusters=["a"] * 3),
    )

    words = style(people, simulated)

    assert isinstance(words.simulated.mean, Undefined)
    assert "Fewer than two" in words.simulated.mean.reason
    assert isinstance(words.difference, Undefined)
    assert words.simulated.quartiles == (1, 1, 1)


def test_an_unavailable_measure_has_neither_mean_nor_quartiles():
    nothing = style(side(TesterType.RECORDED, [float("nan")] * 2), side(TesterType.SIMULATED_USER, [1.0, 2.0])).people

    assert (nothing.mean.n, nothing.quartiles) == (0, None)


def test_equal_values_have_no_interval_and_shares_stay_within_0_and_1():
    people, simulated = side(TesterType.RECORDED, [1.0, 1.0]), side(TesterType.SIMULATED_USER, [0.0, 1.0])

    capital = style(people, simulated, StyleMark.CAPITAL)

    assert (capital.people.mean.low, capital.people.mean.high) == (None, None)
    assert (capital.simulated.mean.low, capital.simulated.mean.high) == (0, 1)


def test_groups_seen_on_one_side_only_are_listed():
    people = side(TesterType.RECORDED, [1.0], groups={"age": ("old", "young")})
    simulated = side(TesterType.SIMULATED_USER, [1.0], groups={"age": ("young", "teen"), "city": ("Ulm",)})

    assert compared(people, simulated).groups == (
        GroupCover(name="age", both=("young",), people_only=("old",), simulated_only=("teen",)),
        GroupCover(name="city", simulated_only=("Ulm",)),
    )


def rate(application, defects, sound, unmeasured=(), group=None):
    n = len(defects) + len(sound)
    return Measurement(
        measure=Measure.DEFECT_RATE,
        subject=EstimateSubject(application=application, guideline="g", rule="r", annotators=("a",), group=group),
        result=defect_rate(len(defects), n),
        outcomes=Outcomes(planned=n, used=n),
        dialogues=tuple(defects),
        non_defects=tuple(sound),
        unlabelled=tuple(unmeasured),
    )


def labels(held_by):
    sessions = EVIDENCE.sessions
    return [sessions.label(n) for n in range(len(sessions)) if sessions.setting(n).held_by is held_by]


def test_rates_of_different_applications_are_shown_together():
    old, new = labels(TesterType.RECORDED), labels(TesterType.SIMULATED_USER)
    given = (
        rate("old", old[:1], old[1:]),
        rate("bot", new[:1], new[1:]),
        rate("bot", new, [], group=GroupValue(name="x", value="y")),
    )
    people = side(TesterType.RECORDED, [1.0, 2.0], applications=("old",))

    first, second = compared(people, side(TesterType.SIMULATED_USER, [1.0, 2.0]), given).rates

    assert (first.subject.application, first.people) == ("old", given[0].result)
    assert (second.subject.application, second.simulated) == ("bot", given[1].result)
    assert all(isinstance(one, Undefined) for one in (first.simulated, second.people, first.difference))


def test_a_rate_over_both_sides_is_split():
    old, new = labels(TesterType.RECORDED), labels(TesterType.SIMULATED_USER)
    sides = (side(held_by, [1.0, 2.0]) for held_by in (TesterType.RECORDED, TesterType.SIMULATED_USER))

    (found,) = compared(*sides, [rate("bot", [old[0], new[0]], [*old[1:], *new[1:]])]).rates

    assert (found.people.count, found.people.n) == (1, 4)
    assert (found.simulated.count, found.simulated.n) == (1, 2)
    assert isinstance(found.difference, Estimate)
    assert found.difference.value == pytest.approx(0.25)


def book():
    return RealismBook(sessions_of(BOTH, recording("r1"), recording("r2")))


@pytest.mark.parametrize(
    ("mark", "prompt", "value"),
    [
        (StyleMark.CHARACTERS, "  ab c ", 4),
        (StyleMark.WORDS, "It's 2 o'clock", 5),
        (StyleMark.WORDS, "", 0),
        (StyleMark.QUESTION_MARK, "Really? Yes.", 1),
        (StyleMark.QUESTION_MARK, "\u771f\u7684\uff1f", 1),
        (StyleMark.QUESTION_MARK, "No.", 0),
        (StyleMark.CAPITAL, "\u201c\u00c9cole", 1),
        (StyleMark.CAPITAL, "hello", 0),
        (StyleMark.CAPITAL, "\u4f60\u597d", None),
        (StyleMark.CAPITAL, "42!", None),
        (StyleMark.END_MARK, "Stop. ", 1),
        (StyleMark.END_MARK, "\u4f60\u597d\u3002", 1),
        (StyleMark.END_MARK, "stop", 0),
        (StyleMark.END_MARK, "", None),
    ],
)
def test_style_markers_of_one_prompt_are_counted(mark, prompt, value):
    assert prompt_mark(mark, prompt) == value


def test_a_dialogue_is_averaged_over_its_prompts():
    looked = book()
    looked.look(dialogue(turn(1, "Hi?"), turn(2, "you two there"), held_by=TesterType.RECORDED, groups={"kind": "a"}))
    (side,) = looked.sides()

    assert {mark: list(values) for mark, values in side.marks.items()} == {
        StyleMark.TURNS: [2],
        StyleMark.CHARACTERS: [8],
        StyleMark.WORDS: [2],
        StyleMark.QUESTION_MARK: [0.5],
        StyleMark.CAPITAL: [0.5],
        StyleMark.END_MARK: [0.5],
    }
    assert (side.n, side.applications, side.groups) == (1, ("bot",), {"kind": ("a",)})


def test_a_fixed_first_prompt_is_excluded_from_style():
    looked, played = book(), Persona(key="p", name="Ana", group="g", text="", goal="", model="user", starter="Hello.")
    looked.look(dialogue(turn(1, "Hello."), held_by=TesterType.SIMULATED_USER, persona=played))
    (side,) = looked.sides()

    assert list(side.marks[StyleMark.TURNS]) == [1]
    assert math.isnan(side.marks[StyleMark.WORDS][0])


def test_withheld_texts_and_scripts_are_excluded():
    looked = book()
    looked.look(dialogue(turn(1, "", "", withheld="harmful"), held_by=TesterType.RECORDED))
    looked.look(dialogue(held_by=TesterType.SCRIPT))

    assert looked.sides() == ()


def test_nothing_is_stored_if_only_one_side_is_planned():
    looked = RealismBook(sessions_of(study()))
    looked.look(dialogue(held_by=TesterType.SIMULATED_USER))

    assert looked.sides() == ()


def test_red_teamers_are_compared_with_red_teamers():
    user = ("shop", Level.MODEL_TESTING, TesterType.SIMULATED_USER)
    attacker = ("shop", Level.RED_TEAMING, TesterType.SIMULATED_USER)

    assert are_comparable(("shop", Level.FIELD_TESTING, TesterType.PERSON), user)
    assert are_comparable(("shop", Level.RED_TEAMING, TesterType.PERSON), attacker)
    assert not are_comparable(("shop", Level.MODEL_TESTING, TesterType.RECORDED), attacker)
    assert not are_comparable(("office", Level.MODEL_TESTING, TesterType.RECORDED), user)
    assert not are_comparable(("shop", Level.MODEL_TESTING, TesterType.SCRIPT), user)


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
def test_phrases_that_break_the_role_are_found(prompt, kind, words):
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
def test_messages_of_people_are_not_role_breaks(prompt):
    assert found(said(prompt, "And the price?")) == []


@pytest.mark.parametrize("kind", LAPSES)
def test_a_role_break_of_a_model_is_found_and_classified_once(kind):
    for prompt in LAPSES[kind]:
        assert [one for one, _, _ in found(said(prompt, "And the price?"))] == [kind], prompt


def test_similar_phrases_without_a_role_break_are_not_found():
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
def test_a_user_who_repeats_the_application_has_broken_the_role(answer, prompt, n_found):
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
def test_an_unsupported_language_is_reported_with_the_number_of_checked_dialogues(language, n_unread):
    ana = Persona(key="p", name="Ana", group="p", text="", goal="", model="user", language=language)

    by_kind = checks(said("Prosz\u0119", "Dzi\u0119kuj\u0119", persona=ana))

    assert {check.n for check in by_kind.values()} == {1}
    assert by_kind[RoleBreakKind.REFUSAL].unread == n_unread
    assert by_kind[RoleBreakKind.REPETITION].unread == 0


def test_only_model_written_messages_of_an_attack_are_checked_for_refusals():
    refusal = "I'm sorry, but I can't help with that."
    attack = said("Bye!", refusal, refusal, strategies=(Strategy(name="adaptive", dialogue="u"),))
    by_model = replace(attack, turns=tuple(replace(one, prompt_at=one.number) for one in attack.turns))

    assert checks(attack) == {}
    assert found(by_model) == [
        (RoleBreakKind.REFUSAL, 2, "I'm sorry, but I can't help with"),
        (RoleBreakKind.REFUSAL, 3, "I'm sorry, but I can't help with"),
    ]
    assert list(checks(by_model)) == [RoleBreakKind.REFUSAL, RoleBreakKind.SPEAKS_AS_MODEL]


def test_a_goodbye_at_the_end_is_not_an_early_exit():
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
def test_leaving_after_one_of_many_turns_is_an_early_exit(prompts, ending, limit, n_found):
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
def test_a_prompt_equal_to_an_earlier_one_is_a_repetition(prompts, turns):
    assert [turn for kind, turn, _ in found(said(*prompts)) if kind is RoleBreakKind.REPETITION] == turns


def test_a_fixed_first_prompt_is_part_of_the_study():
    ana = Persona(key="p", name="Ana", group="p", text="", goal="", model="user", starter="Goodbye")

    assert found(said("Goodbye", "Why?", persona=ana)) == []
    assert len(found(said("Goodbye", "Why?", persona=replace(ana, starter="")))) == 1


def test_only_simulated_users_are_checked():
    assert checks(said("As an AI", "b", held_by=TesterType.PERSON)) == {}


def test_a_rule_without_matches_is_reported_with_the_number_of_checked_dialogues():
    found = checks(said("a", "b"), said("c", "d", label="d002"))

    assert list(found) == list(RoleBreakKind)
    assert {check.n for check in found.values()} == {2}


@pytest.mark.parametrize("n", [0, 1, 256, 600])
def test_stored_role_breaks_are_returned_unchanged_and_as_often_as_requested(n):
    given = [RoleBreak(dialogue=f"d{place}", turn=place + 1, words="so\u00df\ud800\n" * place) for place in range(n)]
    packed = PackedLapses()
    for role_break in given:
        packed.append(role_break)

    assert list(packed) == given == list(packed)


def test_a_long_repeated_prompt_is_abbreviated():
    prompt = "Where is it? " * 10

    (shown,) = (words for kind, _, words in found(said(prompt, prompt)) if kind is RoleBreakKind.REPETITION)

    assert (len(shown), shown[-1], prompt.startswith(shown[:-1])) == (80, "…", True)
