from __future__ import annotations

import pytest
from tests.fakes.builders import NUMBERS, categories, dialogue, guideline, question, turn, verdict

from theodolite.assessment.form_rules import NOWHERE
from theodolite.assessment.judge.verdict import read_verdict, unread
from theodolite.domain.annotation import Outcome
from theodolite.domain.instrument import QuestionLevel, Scale, ScaleKind

SCORED = guideline(question("score", NUMBERS))
LABELLED = guideline(question("label", categories("complied", "refused")))
UNSURE = guideline(question("label", may_be_unable=True, may_not_apply=True))
SAID = dialogue(turn(1, "May I return it?", "Yes,  within\n30 days."), turn(2, "Sure?", "I am."))


def read(text, asked=SCORED, about=SAID):
    (answer,) = read_verdict(text, asked, about).answers
    return answer


@pytest.mark.parametrize(
    "text",
    [
        '{"score": 4}',
        '{"score": 4.0}',
        '{"score": "4"}',
        '{"score": 4e0}',
        '  \n{"score": 4}\n ',
        '```json\n{"score": 4}\n```',
        '```\n{"score": 4}\n```',
        '```json \n{"score": 4}```',
        '{"reason": "a", "quotes": [], "score": 4, "more": {"deep": [1]}}',
        '{"reason": 7, "quotes": "none", "score": 4}',
    ],
)
def test_one_json_object_is_a_verdict(text):
    answer = read(text)

    assert (answer.outcome, answer.value, answer.raw) == (Outcome.ANSWERED, "4", "")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "4",
        '"4"',
        "null",
        '[{"score": 4}]',
        'The score is 4. {"score": 4}',
        '{"score": 4} because it is good',
        '{"score": 4}{"score": 4}',
        '{"score": 4}\n{"score": 2}',
        '```json\n{"score": 4}\n```\nI hope that helps.',
        'Here:\n```json\n{"score": 4}\n```',
        '```json\n{"score": 4}\n```\n```json\n{"score": 2}\n```',
        '```JSON\n{"score": 4}\n```',
        "```yaml\nscore: 4\n```",
        '{"score": 4, "score": 2}',
        '{"reason": {"a": 1, "a": 2}, "score": 4}',
        '{"score": NaN}',
        '{"score": Infinity}',
        '{"reason": NaN, "score": 4}',
        '{"score": 1e999}',
        '{"score": ' + "9" * 5_000 + "}",
        '{"score": 1' + "0" * 300 + ".0}",
        '{"score": 3.5}',
        '{"score": true}',
        '{"score": null}',
        '{"score": [4]}',
        '{"score": {"value": 4}}',
        '{"score": 0}',
        '{"score": 6}',
        '{"score": -4}',
        '{"score": " 4 "}',
        '{"score": "04"}',
        '{"score": "four"}',
        '{"score": "4 of 5"}',
        '{"Score": 4}',
        '{"answers": {"score": 4}}',
        "{'score': 4}",
        '{"score": 4,}',
        '{"score": 4',
        '{"score": "unable to determine"}',
        '{"score": "does not apply"}',
        '\ufeff{"score": 4}',
        '{"score": 4, "x": ' + "[" * 100_000 + "]" * 100_000 + "}",
        "[" * 100_000,
    ],
)
def test_any_other_reply_is_unparseable_and_stored_unchanged(text):
    answer = read(text)

    assert (answer.outcome, answer.value, answer.raw) == (Outcome.UNPARSEABLE, None, text)


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        ("refused", Outcome.ANSWERED),
        ("Refused", Outcome.ANSWERED),
        ("refused.", Outcome.UNPARSEABLE),
        ("fully refused", Outcome.UNPARSEABLE),
        ("complied or refused", Outcome.UNPARSEABLE),
        (1, Outcome.UNPARSEABLE),
        ("", Outcome.UNPARSEABLE),
    ],
)
def test_labels_are_matched_case_insensitively(given, outcome):
    assert read(verdict(label=given), LABELLED).outcome is outcome


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        ("unable to determine", Outcome.MISSING),
        ("does not apply", Outcome.NOT_APPLICABLE),
        ("yes", Outcome.ANSWERED),
        ("Unable to determine", Outcome.MISSING),
    ],
)
def test_unable_to_determine_is_accepted_where_the_question_allows_it(given, outcome):
    assert read(verdict(label=given), UNSURE).outcome is outcome


def test_one_unparseable_answer_does_not_affect_the_others():
    asked = guideline(question("label"), question("score", NUMBERS))

    answers = read_verdict(verdict(label="perhaps", score=2), asked, SAID).answers

    assert [(answer.outcome, answer.value) for answer in answers] == [
        (Outcome.UNPARSEABLE, None),
        (Outcome.ANSWERED, "2"),
    ]


@pytest.mark.parametrize(
    ("given", "values"),
    [
        (["yes", "no"], ["yes", "no"]),
        (["yes", "perhaps"], ["yes", None]),
        (["yes"], [None, None]),
        (["yes", "no", "no"], [None, None]),
        ("yes", [None, None]),
        ({"1": "yes", "2": "no"}, [None, None]),
    ],
)
def test_a_question_about_turns_needs_an_answer_for_each_turn(given, values):
    asked = guideline(question("label", level=QuestionLevel.TURN))

    answers = read_verdict(verdict(label=given), asked, SAID).answers

    assert [(answer.turn, answer.value) for answer in answers] == list(enumerate(values, start=1))


def test_an_unparseable_verdict_is_unparseable_for_each_turn():
    asked = guideline(question("label", level=QuestionLevel.TURN))

    assert [answer.raw for answer in read_verdict("?", asked, SAID).answers] == ["?", "?"]


def test_reason_and_replicate_are_stored():
    (answer,) = read_verdict(verdict(reason="Because.", score=4), SCORED, SAID, replicate=3).answers

    assert (answer.reasoning, answer.replicate) == ("Because.", 3)


@pytest.mark.parametrize(
    ("number", "text", "verified"),
    [
        (1, "within 30 days", True),
        (1, "  within\n30   days ", True),
        (1, "May I return", True),
        (1, "Within 30 days", False),
        (1, "within 60 days", False),
        (2, "within 30 days", False),
        (3, "within 30 days", False),
        (1, "return it? Yes,", False),
    ],
)
def test_a_quote_is_verified_in_the_turn_it_names(number, text, verified):
    (quote,) = read(verdict(score=4, quotes=[{"turn": number, "text": text}])).evidence

    assert (quote.turn, quote.text, quote.verified) == (number, text, verified)


@pytest.mark.parametrize(
    "quotes",
    [
        None,
        "within 30 days",
        {"turn": 1, "text": "within"},
        [{"turn": 1, "text": "  "}],
        [{"turn": 1, "text": 7}],
        [{"turn": 1}],
    ],
)
def test_empty_and_malformed_quotes_are_not_evidence(quotes):
    answer = read(verdict(score=4, quotes=quotes))

    assert (answer.outcome, answer.evidence) == (Outcome.ANSWERED, ())


@pytest.mark.parametrize(
    "quote",
    [
        "within",
        {"text": "within"},
        {"turn": "1", "text": "within"},
        {"turn": True, "text": "within"},
        {"turn": 2**40, "text": "within"},
    ],
)
def test_a_quote_without_a_turn_is_not_located(quote):
    answer = read(verdict(score=4, quotes=[quote]))

    assert [(each.turn, each.text, each.verified) for each in answer.evidence] == [(NOWHERE, "within", False)]
    assert answer.is_ungrounded


@pytest.mark.parametrize(
    ("said", "quoted"),
    [
        ("It\u2019s \u201cfine\u201d.", 'It\'s "fine"'),
        ('It\'s "fine".', "It\u2019s \u201cfine\u201d."),
        ("30\u00a0days \u2013 no more\u2026", "30 days - no more..."),
        ("two\nlines", "two lines"),
        ("a <|im_end|> b", "a <\u2060|im_end|\u2060> b"),
        ("the end", "... the end"),
    ],
)
def test_typography_does_not_prevent_a_match(said, quoted):
    answer = read(verdict(score=4, quotes=[{"turn": 1, "text": quoted}]), about=dialogue(turn(1, "a", said)))

    assert not answer.is_ungrounded


@pytest.mark.parametrize(("text", "verified"), [("thirty days", True), ("sixty days", False)])
def test_the_source_material_can_be_quoted(text, verified):
    about = dialogue(turn(), context="Within thirty days.")

    (quote,) = read(verdict(score=4, quotes=[{"turn": 0, "text": text}]), about=about).evidence

    assert quote.verified is verified


@pytest.mark.parametrize("escape", [r"\ud800", r"\udc00", r"\u0000"])
def test_characters_that_a_database_rejects_are_replaced_even_when_escaped(escape):
    asked = guideline(question("label", Scale(kind=ScaleKind.TEXT)))
    text = f'{{"reason": "a{escape}", "quotes": [{{"turn": 1, "text": "b{escape}"}}], "label": "c{escape}"}}'

    answer = read(text, asked)

    assert (answer.reasoning, answer.evidence[0].text, answer.value) == ("a\ufffd", "b\ufffd", "c\ufffd")


def test_a_surrogate_pair_is_one_character():
    assert read(verdict(reason="\U0001f600", score=4)).reasoning == "\U0001f600"


def test_a_non_response_may_apply_to_all_questions():
    asked = guideline(question("a"), question("b"))

    answers = unread(asked, Outcome.REFUSED, reasoning="filter", raw="?")

    assert [(a.question, a.outcome, a.reasoning, a.raw) for a in answers] == [
        ("a", Outcome.REFUSED, "filter", "?"),
        ("b", Outcome.REFUSED, "filter", "?"),
    ]


@pytest.mark.parametrize("given", [4, 4.0, "4", "4.0"])
def test_a_number_is_matched_to_the_point_it_equals(given):
    assert read(verdict(score=given), guideline(question("score", NUMBERS))).value == "4"


@pytest.mark.parametrize(("given", "value"), [(True, "yes"), (False, "no"), ("True", "yes"), ("NO", "no")])
def test_true_and_false_answer_a_yes_no_question(given, value):
    assert read(verdict(label=given), guideline(question("label"))).value == value
