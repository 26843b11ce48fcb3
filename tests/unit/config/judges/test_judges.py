from __future__ import annotations

import pytest

from theodolite.config.loading import check_study, load_study
from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import ModelJudge, PythonLabeller, Side, StopRule, Voting, WordRule
from theodolite.domain.errors import Severity

STUDY = """study: a
models: {{m: {{script: [Hello]}}, n: {{script: [Hello]}}}}
applications: {{bot: {{kind: python, call: "bot.py:reply"}}}}
scenarios: {{s: {{scripts: {{one: Hello}}}}}}
guidelines:
  g: {{ask: How?, scale: [fine, bad], defect: "== bad"}}
  two:
    questions: {{a: {{ask: A?}}, b: {{ask: B?, when: "a == yes"}}}}
    defects: {{d: {{defect: "a == yes"}}}}
judges:
  j: {judge}
"""
BOT = "def reply(prompt):\n    return prompt\n"


@pytest.fixture
def judged(folder):
    """Return a function that reads a study with one judge."""
    return lambda judge: load_study(folder(study_yaml=STUDY.format(judge=judge), bot_py=BOT)).study.annotators


@pytest.fixture
def faults(folder):
    """Return a function that gives the faults of a study with one judge."""

    def found(judge):
        placed = check_study(folder(study_yaml=STUDY.format(judge=judge), bot_py=BOT))
        return [fault.message for fault in placed if fault.severity is Severity.ERROR]

    return found


@pytest.mark.parametrize(
    ("votes", "voting"),
    [
        ("5", Voting(most=5)),
        ("{most: 7}", Voting(most=7)),
        ("{rule: fixed}", Voting(rule=StopRule.FIXED, most=5)),
        ("{rule: lead, most: 7, lead: 3}", Voting(rule=StopRule.LEAD, most=7, lead=3)),
        (
            "{rule: bayes, price: 0.01, prior: [0.12, 0.88]}",
            Voting(rule=StopRule.BAYES, most=15, price=0.01, prior=(0.12, 0.88)),
        ),
    ],
)
def test_votes_are_a_number_or_a_rule(judged, votes, voting):
    (judge,) = judged(f"{{guideline: g, model: m, votes: {votes}}}")

    assert judge.labelling == ModelJudge(model="m", voting=voting)


def test_several_models_form_a_panel(judged):
    judges = judged("{guideline: g, models: [m, n], votes: 3}")

    assert [(judge.name, judge.panel, judge.labelling.model) for judge in judges] == [
        ("j-m", "j", "m"),
        ("j-n", "j", "n"),
    ]


def test_a_panel_shares_its_prompt(judged):
    judges = judged('{ask: Polite?, defect: "== no", models: [m, n]}')

    assert [judge.guideline for judge in judges] == ["j", "j"]


def test_a_function_is_a_judge(judged):
    (judge,) = judged('{guideline: g, python: "bot.py:reply", version: 1.10}')

    assert isinstance(judge.labelling, PythonLabeller)
    assert (judge.kind, judge.labelling.version, len(judge.labelling.sha256)) == (AnnotatorKind.MODEL, "1.10", 64)


def test_a_rule_states_where_it_searches_and_what_it_answers(judged):
    (judge,) = judged("{guideline: two, rule: {any: [x], not: [y], where: both, question: b, then: yes, else: no}}")

    assert judge.labelling == WordRule(
        any_of=("x",), none_of=("y",), where=Side.BOTH, question="b", then="yes", otherwise="no"
    )


def test_another_voting_rule_is_another_annotator_version(judged):
    once, often = (judged(f"{{guideline: g, model: m{votes}}}")[0] for votes in ("", ", votes: 5"))

    assert once.labelling != often.labelling
    assert once.labelling == ModelJudge(model="m")


@pytest.mark.parametrize(
    ("judge", "words"),
    [
        ("{guideline: g, model: m, votes: {rule: leed}}", "mean `lead`"),
        ("{guideline: g, model: m, votes: {moost: 5}}", "unknown key `moost`"),
        ("{guideline: g, model: m, votes: 1}", "2"),
        ("{guideline: g, model: m, votes: {rule: lead, most: 3, lead: 4}}", "no answer can be 4 ahead in 3 votes"),
        ("{guideline: g, model: m, votes: {lead: 2}}", "`lead` belongs to the rule `lead`"),
        ("{guideline: g, model: m, votes: {rule: lead, price: 0.1}}", "`price` belongs to the rule `bayes`"),
        ("{guideline: g, rule: {any: [x], then: bad, else: fine}, votes: 5}", "which only a model can give"),
        ("{guideline: g, models: [m, nn]}", "names a model `nn`"),
        ("{guideline: g, models: [m, m]}", "names the model `m` twice"),
        ("{guideline: g, model: m, models: [n]}", "and one alone"),
        ('{guideline: g, python: "bot.py:reply"}', "needs `version`"),
        ('{guideline: g, python: "bto.py:reply", version: 1}', "bto.py"),
        ("{guideline: g, model: m, version: 1}", "which belong to `python`"),
        ("{guideline: g, rule: {then: bad, else: fine}}", "`any`, `not` or both"),
        ("{guideline: g, rule: {not: ['('], then: bad, else: fine}}", "is not a regular expression"),
        ("{guideline: two, rule: {any: [x], then: yes, else: no}}", "say which one with `question`"),
        ("{guideline: two, rule: {any: [x], question: c, then: yes, else: no}}", "has no question `c`"),
    ],
)
def test_an_invalid_value_is_an_error(faults, judge, words):
    (message,) = faults(judge)

    assert words in message


@pytest.mark.parametrize(
    ("follow", "words"),
    [
        ("a == yess", "is not a label of the scale"),
        ("c == yes", "there is no question `c`"),
        ("b == yes", "a question cannot follow on itself"),
        ("== yes", "say which question's answer opens it"),
        ("a yes", "names no operator"),
        ("a in yes, no", "every answer would open it"),
    ],
)
def test_a_follow_up_that_nothing_opens_is_an_error(folder, follow, words):
    text = STUDY.format(judge="{guideline: two, model: m}").replace('"a == yes"}}', f'"{follow}"}}}}', 1)

    (fault,) = [each for each in check_study(folder(study_yaml=text, bot_py=BOT)) if each.severity is Severity.ERROR]

    assert words in fault.message


@pytest.mark.parametrize("name", ["reason", "quotes", "check", "no_verdict"])
def test_a_question_name_may_not_equal_a_key_of_the_verdict(folder, name):
    text = STUDY.format(judge="{guideline: two, model: m}").replace("b: {ask: B?", f"{name}: {{ask: B?")

    messages = [each.message for each in check_study(folder(study_yaml=text, bot_py=BOT))]

    assert any(f"cannot be called `{name}`" in message for message in messages)
