from __future__ import annotations

import pytest

from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.errors import InputError
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.instrument import YES_NO, Instrument, Operator, Question
from theodolite.domain.schema import AnnotationSchema, Category, QuestionnaireResponse, Routing


def category(name):
    question = Question(name="seen", text="Was it seen?", scale=YES_NO)
    rule = DefectRule(name="seen", question="seen", operator=Operator.EQUAL, values=("yes",))
    instrument = Instrument(name=name, questions=(question,))
    return Category(guideline=Guideline(name=name, instrument=instrument, defect_rules=(rule,)))


CATEGORIES = (category("risk"), category("style"), category("utility"))


def test_a_route_states_what_follows_the_first_category():
    route = Routing(first="risk", on_violation=("style", "utility"), otherwise=("utility",))
    schema = AnnotationSchema(name="s", categories=CATEGORIES, routing=route)

    assert schema.opening == ("risk",)
    assert route.after(violated=True) == ("style", "utility")
    assert route.after(violated=False) == ("utility",)


def test_without_a_route_all_categories_are_open_from_the_start():
    assert AnnotationSchema(name="s", categories=CATEGORIES).opening == ("risk", "style", "utility")


def test_categories_are_found_by_name():
    schema = AnnotationSchema(name="s", categories=CATEGORIES)

    assert schema.category("style").name == "style"
    with pytest.raises(InputError, match="no category `stile`"):
        schema.category("stile")


@pytest.mark.parametrize("categories", [(), (category("risk"), category("risk"))], ids=["none", "one name twice"])
def test_categories_have_distinct_names(categories):
    with pytest.raises(InputError, match="needs categories"):
        AnnotationSchema(name="s", categories=categories)


def test_a_route_to_an_unknown_category_is_refused():
    with pytest.raises(InputError, match="routes to `safety`"):
        AnnotationSchema(name="s", categories=CATEGORIES, routing=Routing(first="risk", on_violation=("safety",)))


def test_a_response_returns_every_chosen_label():
    chosen = [Answer(question="kinds", outcome=Outcome.ANSWERED, value=value) for value in ("rude", "wrong")]
    response = QuestionnaireResponse(
        session="s", participant="p", questionnaire="q", instrument_version="v", answers=tuple(chosen)
    )

    assert [answer.value for answer in response.to("kinds")] == ["rude", "wrong"]
    assert response.to("other") == ()
