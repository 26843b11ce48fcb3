from __future__ import annotations

import pytest
from tests.fakes.builders import dialogue, guideline, question, turn, verdict

from theodolite.assessment.form_rules import archived, asked, current, open_questions, sentences
from theodolite.assessment.judge.verdict import read_verdict
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.instrument import (
    YES_NO,
    Condition,
    Instrument,
    OpenQuestion,
    Operator,
    Question,
    QuestionLevel,
    Scale,
    ScaleKind,
)

YES = Condition(question="label", operator=Operator.EQUAL, values=("yes",))

SAID = dialogue(turn(1), turn(2))

TURN = QuestionLevel.TURN


def read(asked, **given):
    answers = read_verdict(verdict(**given), asked, SAID).answers
    return [(answer.turn, answer.outcome, answer.value) for answer in answers if answer.question == "next"]


@pytest.mark.parametrize(
    ("label", "given", "outcome", "value"),
    [
        ("yes", "no", Outcome.ANSWERED, "no"),
        ("yes", None, Outcome.UNPARSEABLE, None),
        ("no", None, Outcome.NOT_APPLICABLE, None),
        ("no", "yes", Outcome.NOT_APPLICABLE, None),
        ("unable to determine", None, Outcome.NOT_APPLICABLE, None),
        ("perhaps", "yes", Outcome.UNPARSEABLE, None),
    ],
)
def test_a_follow_up_counts_only_if_it_was_opened(label, given, outcome, value):
    asked = guideline(question("label", may_be_unable=True), question("next", when=YES))

    assert read(asked, label=label, next=given) == [(None, outcome, value)]


def test_at_turns_each_turn_opens_its_own_follow_up():
    asked = guideline(question("label", level=TURN), question("next", level=TURN, when=YES))

    assert read(asked, label=["yes", "no"], next=["no", None]) == [
        (1, Outcome.ANSWERED, "no"),
        (2, Outcome.NOT_APPLICABLE, None),
    ]


@pytest.mark.parametrize(
    ("labels", "outcome"), [(["no", "yes"], Outcome.ANSWERED), (["no", "no"], Outcome.NOT_APPLICABLE)]
)
def test_any_turn_opens_a_follow_up_about_the_dialogue(labels, outcome):
    asked = guideline(question("label", level=TURN), question("next", when=YES))

    assert [found for _, found, _ in read(asked, label=labels, next="yes")] == [outcome]


def test_the_dialogue_opens_follow_ups_at_every_turn():
    asked = guideline(question("label"), question("next", level=TURN, when=YES))

    assert [value for _, _, value in read(asked, label="yes", next=["yes", "no"])] == ["yes", "no"]


def when(question, value="yes"):
    return Condition(question=question, operator=Operator.EQUAL, values=(value,))


def ask(name, **facts):
    return Question(name=name, text=name, scale=facts.pop("scale", YES_NO), **facts)


def said(question, value="yes", turn=None):
    return Answer(question=question, outcome=Outcome.ANSWERED, value=value, turn=turn)


TEXT = Scale(kind=ScaleKind.TEXT)

CHAIN = Instrument(
    name="chain",
    questions=(ask("a"), ask("b", when=when("a")), ask("c", when=when("b")), ask("why", scale=TEXT, when=when("a"))),
)

TURNS = Instrument(
    name="turns",
    questions=(
        ask("each", level=QuestionLevel.TURN),
        ask("then", level=QuestionLevel.TURN, when=when("each")),
        ask("once", when=when("each")),
    ),
)


def names(found):
    return [(each.question, each.turn) for each in found]


def test_follow_ups_become_open_questions_once_opened():
    assert names(open_questions(CHAIN, [])) == [("a", None)]
    assert names(open_questions(CHAIN, [said("a")])) == [("b", None)]
    assert open_questions(CHAIN, [said("a"), said("b", "no")]) == ()


def test_free_text_is_optional():
    assert OpenQuestion(question="why") in asked(CHAIN, [said("a")])
    assert OpenQuestion(question="why") not in open_questions(CHAIN, [said("a")])


def test_clearing_the_first_answer_of_a_chain_closes_the_whole_chain():
    answers = [said("a", "no"), said("b"), said("c")]

    assert archived(CHAIN, answers) == tuple(answers[1:])
    assert current(CHAIN, answers) == (answers[0],)
    assert open_questions(CHAIN, answers) == ()


def test_a_turn_opens_its_own_follow_up_only():
    answers = [said("each", "no", 1), said("each", "yes", 2)]

    assert names(open_questions(TURNS, answers, [1, 2])) == [("then", 2), ("once", None)]


def test_an_answer_about_a_missing_turn_is_ignored():
    assert names(archived(TURNS, [said("each", turn=3)], [1, 2])) == [("each", 3)]


def test_unable_to_determine_is_an_answer_and_an_unparseable_one_is_not():
    one = Instrument(name="one", questions=(ask("a"),))

    assert open_questions(one, [Answer(question="a", outcome=Outcome.MISSING)]) == ()
    assert names(open_questions(one, [Answer(question="a", outcome=Outcome.UNPARSEABLE)])) == [("a", None)]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("He dies. She lives!", ("He dies. ", "She lives!")),
        ('He said "no." Then he left.', ('He said "no." ', "Then he left.")),
        ("Mr. Hale knows, e.g. the end.", ("Mr. Hale knows, e.g. the end.",)),
        ("1. first\n2. second", ("1. first\n", "2. second")),
        ("See 3.5 and v1.2 there", ("See 3.5 and v1.2 there",)),
        ("One\n\nTwo", ("One\n\n", "Two")),
        ("Really?!  Yes…  no", ("Really?!  ", "Yes…  ", "no")),
        ("", ()),
    ],
)
def test_sentences_are_split_at_conventional_boundaries(text, pieces):
    assert sentences(text) == pieces


@pytest.mark.parametrize("short", ["a. ", "Mr. "])
def test_a_reply_of_abbreviations_only_is_scanned_once(short):
    reply = short * 100_000  # reading what stands before each mark again would take hours

    assert sentences(reply) == (reply,)
