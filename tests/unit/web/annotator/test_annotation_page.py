"""The annotation page: of a task, and of a worked example."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from theodolite.annotation.rules import examples_for, worked_examples
from theodolite.config.load_context import shipped
from theodolite.config.schemas import read_schema
from theodolite.domain.annotating.work import BlindDialogue, BlindReference, BlindTurn
from theodolite.domain.annotation import Answer, Outcome, Quote
from theodolite.domain.guideline import DefectRule, Example, Guideline
from theodolite.domain.instrument import (
    YES_NO,
    Condition,
    Instrument,
    Label,
    Operator,
    Question,
    QuestionLevel,
    Scale,
    ScaleKind,
)
from theodolite.domain.shown_order import ShownOrder
from theodolite.web.annotator.annotation_page import (
    ExampleFrame,
    annotation_page,
    example_page,
    in_sequence,
    parse_item,
)
from theodolite.web.questions import InvalidAnswer, key_parts, question_key

TAKEN = Scale(kind=ScaleKind.CATEGORIES, labels=(Label(value="positive"), Label(value="neither", meaning="or none")))
FORCE = Scale(
    kind=ScaleKind.NUMBERS, lowest=1, highest=10, labels=(Label(value="1", meaning="none"), Label(value="10"))
)
AFTER_YES = Condition(question="released", operator=Operator.EQUAL, values=("yes",))
QUESTIONS = (
    Question(name="released", text="Released?", scale=YES_NO, level=QuestionLevel.TURN, may_be_unable=True),
    Question(name="taken", text="How taken?", scale=TAKEN, level=QuestionLevel.TURN, when=AFTER_YES),
    Question(name="force", text="How strong?", scale=FORCE, level=QuestionLevel.TURN),
    Question(name="withheld", text="Withheld?", scale=YES_NO, may_not_apply=True),
)
GUIDELINE = Guideline(
    name="risk_assessment",
    instrument=Instrument(name="risk", questions=QUESTIONS),
    defect_rules=(DefectRule(name="any", question="released", operator=Operator.EQUAL, values=("yes",)),),
    examples=(Example(dialogue="User: a", answers={"released": "yes"}, reason="it is"),),
)
DIALOGUE = BlindDialogue(
    name="7Q",
    turns=(
        BlindTurn(number=1, prompt="Does she die?", response="I may not say. Ask me else."),
        BlindTurn(number=2, prompt="Please!", response="In the tower he dies."),
    ),
    reference=BlindReference(prohibited=("endings",), facts=(("Plot", "ep. 1: meet\n\nep. 2: part"),)),
)


def said(question, value, turn=None):
    return Answer(question=question, outcome=Outcome.ANSWERED, value=value, turn=turn)


def test_questions_about_turns_are_asked_per_turn_and_follow_ups_are_on_the_card_of_their_opener():
    sheet = annotation_page(GUIDELINE, DIALOGUE, ())

    assert [[item.key for item in card.items] for card in sheet.cards] == [
        ["released@1", "taken@1"],
        ["force@1"],
        ["released@2", "taken@2"],
        ["force@2"],
        ["withheld"],
    ]


def test_a_follow_up_is_asked_only_if_its_turn_opens_it():
    sheet = annotation_page(GUIDELINE, DIALOGUE, [said("released", "yes", 2)])

    assert (sheet.item("taken@1").is_asked, sheet.item("taken@2").is_asked) == (False, True)
    assert sheet.item("taken@2").opened_by == "after Yes"


def test_open_questions_are_listed_in_page_order():
    sheet = annotation_page(GUIDELINE, DIALOGUE, [said("released", "yes", 2), said("force", "10", 1)])

    assert json.loads(sheet.open_json) == ["released@1", "taken@2", "force@2", "withheld"]


def test_nothing_is_preselected_and_non_responses_are_offered_only_where_allowed():
    sheet = annotation_page(GUIDELINE, DIALOGUE, ())

    assert {item.value for item in sheet.items} == {""}
    assert [one.words for one in sheet.item("released@1").field.aside] == ["Unable to determine"]
    assert [one.words for one in sheet.item("withheld").field.aside] == ["Does not apply"]


def test_a_non_response_is_shown_as_the_selected_answer():
    unable = Answer(question="released", outcome=Outcome.MISSING, turn=1)

    assert annotation_page(GUIDELINE, DIALOGUE, [unable]).item("released@1").value == "unable to determine"


def test_a_number_scale_has_labels_at_both_ends():
    item = annotation_page(GUIDELINE, DIALOGUE, ()).item("force@1")

    assert (item.field.low, item.field.high, len(item.field.plain)) == ("none", "", 10)


def test_texts_are_split_into_sentences_and_facts_into_lines():
    sheet = annotation_page(GUIDELINE, DIALOGUE, ())

    assert sheet.turns[0].response == ("I may not say. ", "Ask me else.")
    assert sheet.facts[0].html == "<p>ep. 1: meet</p>\n<p>ep. 2: part</p>\n"
    assert sheet.title == "Risk assessment"


@pytest.mark.parametrize("place", [("released", 2), ("released", None), ("a@b", None), ("a@b", 3)])
def test_a_key_selects_one_position(place):
    assert key_parts(question_key(*place)) == place


def test_an_order_moves_questions_labels_and_turns_but_no_numbers_and_no_follow_ups():
    order = ShownOrder(row=2, rows=2, options=True, turns=True)
    sheet = annotation_page(GUIDELINE, DIALOGUE, (said("released", "yes", 2),), order=order)

    assert [[item.key for item in card.items] for card in sheet.cards] == [
        ["force@2"],
        ["released@2", "taken@2"],
        ["force@1"],
        ["released@1", "taken@1"],
        ["withheld"],
    ]
    released, force = sheet.item("released@2"), sheet.item("force@2")
    assert [option.value for option in released.field.options] == ["no", "yes", "unable to determine"]
    assert [option.value for option in force.field.options][:2] == ["1", "2"]
    assert sheet.open[0] == "force@2", "the way through the page follows what is shown"


def test_turns_are_read_from_the_first_regardless_of_the_question_order():
    sheet = annotation_page(GUIDELINE, DIALOGUE, (), order=ShownOrder(turns=True))

    assert [turn.number for turn in sheet.turns] == [1, 2]


def shipped_examples():
    for path in sorted(Path(str(shipped("schemas"))).glob("*.yaml")):
        for category in read_schema(path.read_text(), path.stem).schema.categories:
            for places in examples_for(category.guideline):
                yield from (pytest.param(category.guideline, place, id=f"{category.name} {place}") for place in places)


@pytest.mark.parametrize(("guideline", "place"), list(shipped_examples()))
def test_every_shipped_example_answers_its_questions_exactly(guideline, place):
    sheet = example_page(guideline, place, (), ExampleFrame(title="Practice", reference=BlindReference()))

    assert {item.question.name for item in sheet.items} == set(worked_examples(guideline)[place].answers)
    assert sheet.open
    assert (sheet.exemplars, sheet.examples) == ((), ())


def read(key, **sent):
    return parse_item(
        {f"{name}:{key}": value for name, value in sent.items()},
        annotation_page(GUIDELINE, DIALOGUE, ()).item(key),
        DIALOGUE,
    )


def test_a_value_with_note_and_quote_is_parsed():
    answer = read("released@2", a="yes", note=" He says so. ", quotes="the tower he  dies\n\nthe tower he  dies")

    assert (answer.question, answer.turn, answer.outcome, answer.value) == ("released", 2, Outcome.ANSWERED, "yes")
    assert (answer.reasoning, answer.evidence) == (
        "He says so.",
        (Quote(turn=2, text="the tower he  dies", verified=True),),
    )


@pytest.mark.parametrize(
    ("quote", "turn", "verified"), [("I may not say.", 1, True), ("Please!", 2, True), ("never said", 2, False)]
)
def test_a_quote_is_searched_in_all_turns_and_an_absent_one_is_not_verified(quote, turn, verified):
    [found] = read("released@2", a="yes", quotes=quote).evidence

    assert (found.turn, found.verified) == (turn, verified)


def test_a_non_response_has_no_value():
    answer = read("released@1", a="unable to determine")

    assert (answer.outcome, answer.value) == (Outcome.MISSING, None)


def test_no_selection_is_no_answer():
    assert read("released@1", a="", note="thinking") is None


@pytest.mark.parametrize(
    ("key", "value"),
    [("released@1", "maybe"), ("released@1", "does not apply"), ("force@1", "11"), ("withheld", "unable to determine")],
)
def test_an_answer_outside_the_question_is_refused(key, value):
    with pytest.raises(InvalidAnswer, match="not one of the choices"):
        read(key, a=value)


def test_a_sequence_has_one_card_per_turn_with_the_questions_of_all_categories():
    style = replace(GUIDELINE, name="style")
    pages = [annotation_page(GUIDELINE, DIALOGUE, ()), annotation_page(style, DIALOGUE, (), scope="style/")]
    cards = in_sequence(pages).page_cards

    assert [card.title for card in cards] == ["Turn 1", "Turn 2", "Risk assessment", "Style"]
    assert [section.title for section in cards[0].sections] == ["Risk assessment", "Style"]
    assert [[item.key for group in section.groups for item in group.items] for section in cards[0].sections] == [
        ["released@1", "taken@1", "force@1"],
        ["style/released@1", "style/taken@1", "style/force@1"],
    ]
    assert in_sequence(pages).all_open[:4] == ("released@1", "force@1", "style/released@1", "style/force@1")
