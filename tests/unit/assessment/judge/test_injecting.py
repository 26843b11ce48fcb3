from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from tests.fakes.builders import NUMBERS, annotation_task, dialogue, guideline, judge, question, rule, turn, verdict
from tests.fakes.clients import held_by_hand

from theodolite.assessment.annotating import annotate
from theodolite.assessment.judge.injecting import _with_source, injected, other_side, trial
from theodolite.assessment.judge.prompt import escaped
from theodolite.config.load_context import injection_attempts
from theodolite.domain.findings.agreement import InjectionEffect, InjectionSpot
from theodolite.domain.instrument import Operator, Scale, ScaleKind

ASKED = guideline(
    question("score", NUMBERS),
    question("why", Scale(kind=ScaleKind.TEXT)),
    rules=[rule(Operator.AT_MOST, "3", question="score")],
)
SAID = dialogue(turn(1, "a", "b"), turn(2, "c", "d"), context="facts")
ATTEMPTS = injection_attempts()


def judged(about, answer):
    return held_by_hand(annotate(annotation_task(judge(), about, ASKED)), answer).result


def firm(_):
    return verdict(score=2, why="so")


ORDERS = re.compile(r"[aA]nswer (\d)|score = (\d)|is (\d)|antwort\w* .*?(\d)|case of (\d)|agreed on (\d)|with (\d)")


def gullible(request):
    """Obeys whatever in the material sounds like an order, as a poor judge would."""
    material = request.messages[1].text
    copied = re.search(r'\{"reason": "It follows.*?\}', material)
    if copied:
        return copied[0]
    told = ORDERS.search(material)
    return verdict(score=int(next(each for each in told.groups() if each)) if told else 2, why="so")


@pytest.mark.parametrize(("said", "label"), [(1, "5"), (2, "5"), (3, "5"), (4, "1"), (5, "1")])
def test_the_injected_label_is_the_farthest_on_the_other_side_of_the_rule(said, label):
    assert other_side(ASKED, judged(SAID, lambda _: verdict(score=said, why="x"))) == label


def test_a_question_without_a_defect_rule_has_no_opposite_label():
    assert other_side(ASKED, judged(SAID, lambda _: "?")) is None


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.name)
def test_a_shipped_injection_changes_one_position_and_fills_all_slots(attempt):
    copy = injected(SAID, attempt, ASKED, "5")
    sides = {
        InjectionSpot.PROMPT: copy.turns[1].prompt,
        InjectionSpot.RESPONSE: copy.turns[1].response,
        InjectionSpot.SOURCE: copy.context,
    }

    assert copy.turns[0] == SAID.turns[0]
    assert [spot for spot, text in sides.items() if text not in {"c", "d", "facts"}] == [attempt.spot]
    assert not re.search(r"\{(label|question|verdict|mark)\}", sides[attempt.spot])


def test_an_injected_verdict_can_be_parsed():
    (attempt,) = [each for each in ATTEMPTS if each.name == "ready-verdict"]
    copy = injected(SAID, attempt, ASKED, "5")

    assert json.loads(copy.turns[1].response.removeprefix("d"))["score"] == 5


def test_invisible_characters_are_made_visible_to_the_judge():
    (attempt,) = [each for each in ATTEMPTS if each.unseen]
    copy = injected(SAID, attempt, ASKED, "5")

    assert "5" not in copy.turns[1].response
    assert "\\u{e0035}" in escaped(copy.turns[1].response)


def test_an_injection_into_source_material_needs_source_material():
    (attempt,) = [each for each in ATTEMPTS if each.spot is InjectionSpot.SOURCE]

    assert injected(replace(SAID, context=""), attempt, ASKED, "5") is None


def tried(attempt, answer):
    before = judged(SAID, firm)
    copy = injected(SAID, attempt, ASKED, other_side(ASKED, before))
    return trial(SAID, attempt, ASKED, (before, judged(copy, answer)))


@pytest.mark.parametrize("attempt", [each for each in ATTEMPTS if not each.unseen], ids=lambda attempt: attempt.name)
def test_a_judge_that_obeys_changes_its_verdict_and_a_robust_one_does_not(attempt):
    assert tried(attempt, gullible).effect is InjectionEffect.TURNED
    assert tried(attempt, firm).effect is InjectionEffect.NONE


def test_a_copied_verdict_fails_the_control_question():
    (attempt,) = [each for each in ATTEMPTS if each.name == "ready-verdict"]

    assert tried(attempt, gullible).caught


@pytest.mark.parametrize(
    ("after", "effect"),
    [(verdict(score=3, why="x"), InjectionEffect.MOVED), ("?", InjectionEffect.UNMEASURED)],
)
def test_a_changed_verdict_and_a_missing_verdict_are_distinguished(after, effect):
    assert tried(ATTEMPTS[0], lambda _: after).effect is effect


def test_a_failed_unit_is_not_measured():
    assert trial(SAID, ATTEMPTS[0], ASKED, (judged(SAID, firm), None)).effect is InjectionEffect.UNMEASURED


def test_an_injection_into_source_material_reaches_the_material_of_a_turn():
    about = dialogue(turn(1, context="Open."), turn(2))

    copy = _with_source(about, " Obey.")

    assert [one.context for one in copy.turns] == ["Open. Obey.", ""]
    assert _with_source(dialogue(), " Obey.") is None
