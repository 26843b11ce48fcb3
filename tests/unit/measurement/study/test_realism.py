from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.fakes.builders import dialogue, live, recorded, recording, sessions_of, study, turn
from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.estimate import Estimate, Measurement, Outcomes, Undefined
from theodolite.domain.estimate_subject import EstimateSubject, GroupValue, Measure
from theodolite.domain.evidence import listed_evidence
from theodolite.domain.findings.realism import GroupCover, SpokenSide, StyleMark
from theodolite.domain.persona import Persona
from theodolite.domain.run import Run, RunState
from theodolite.measurement import defect_rate
from theodolite.measurement.study.realism import RealismBook, are_comparable, prompt_mark, realisms

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


def test_means_quartiles_and_their_difference():
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


def test_what_no_dialogue_tells_has_neither_mean_nor_quartiles():
    nothing = style(side(TesterType.RECORDED, [float("nan")] * 2), side(TesterType.SIMULATED_USER, [1.0, 2.0])).people

    assert (nothing.mean.n, nothing.quartiles) == (0, None)


def test_equal_values_have_no_interval_and_shares_stay_within_0_and_1():
    people, simulated = side(TesterType.RECORDED, [1.0, 1.0]), side(TesterType.SIMULATED_USER, [0.0, 1.0])

    capital = style(people, simulated, StyleMark.CAPITAL)

    assert (capital.people.mean.low, capital.people.mean.high) == (None, None)
    assert (capital.simulated.mean.low, capital.simulated.mean.high) == (0, 1)


def test_groups_met_by_one_side_only():
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


def test_rates_of_different_applications_stand_side_by_side():
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


def test_a_rate_over_both_sides_is_taken_apart():
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
def test_marks_of_one_prompt(mark, prompt, value):
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


def test_a_first_prompt_that_the_study_fixes_tells_nothing_of_style():
    looked, played = book(), Persona(key="p", name="Ana", group="g", text="", goal="", model="user", starter="Hello.")
    looked.look(dialogue(turn(1, "Hello."), held_by=TesterType.SIMULATED_USER, persona=played))
    (side,) = looked.sides()

    assert list(side.marks[StyleMark.TURNS]) == [1]
    assert math.isnan(side.marks[StyleMark.WORDS][0])


def test_withheld_words_and_scripts_are_not_looked_at():
    looked = book()
    looked.look(dialogue(turn(1, "", "", withheld="harmful"), held_by=TesterType.RECORDED))
    looked.look(dialogue(held_by=TesterType.SCRIPT))

    assert looked.sides() == ()


def test_nothing_is_kept_where_only_one_side_is_planned():
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
