from __future__ import annotations

from theodolite.assessment.completeness import archived, asked, current, open_questions
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


def test_follow_ups_are_open_once_they_are_opened():
    assert names(open_questions(CHAIN, [])) == [("a", None)]
    assert names(open_questions(CHAIN, [said("a")])) == [("b", None)]
    assert open_questions(CHAIN, [said("a"), said("b", "no")]) == ()


def test_free_text_is_asked_and_not_demanded():
    assert OpenQuestion(question="why") in asked(CHAIN, [said("a")])
    assert OpenQuestion(question="why") not in open_questions(CHAIN, [said("a")])


def test_clearing_the_head_of_a_chain_closes_all_of_it():
    answers = [said("a", "no"), said("b"), said("c")]

    assert archived(CHAIN, answers) == tuple(answers[1:])
    assert current(CHAIN, answers) == (answers[0],)
    assert open_questions(CHAIN, answers) == ()


def test_a_turn_opens_its_own_follow_up_alone():
    answers = [said("each", "no", 1), said("each", "yes", 2)]

    assert names(open_questions(TURNS, answers, [1, 2])) == [("then", 2), ("once", None)]


def test_an_answer_about_a_turn_that_is_not_there_counts_nowhere():
    assert names(archived(TURNS, [said("each", turn=3)], [1, 2])) == [("each", 3)]


def test_unable_to_determine_settles_and_an_unreadable_answer_does_not():
    one = Instrument(name="one", questions=(ask("a"),))

    assert open_questions(one, [Answer(question="a", outcome=Outcome.MISSING)]) == ()
    assert names(open_questions(one, [Answer(question="a", outcome=Outcome.UNPARSEABLE)])) == [("a", None)]
