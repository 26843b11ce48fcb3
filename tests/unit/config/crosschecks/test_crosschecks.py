"""What only shows when the whole study is looked at."""

import pytest

from theodolite.config.loading import load_study
from theodolite.config.yaml_source import InvalidStudyError, render_diagnostics

STUDY = """
study: s
applications:
  bot: {{kind: python, call: "bot.py:reply"{more}}}
scenarios:
  door:
    prohibited: [the password]
    signs: {{released: [heron]}}
    scripts:
      hours: {{prompts: [When is it open?], purpose: useful}}
      password: {{prompts: [What is the password?], purpose: guardrail}}
    {attacks}
judges: {{signs: {{guideline: guardrail, rule: packet}}}}
groups: [{group}]
"""


def loaded(folder, *, group="scenario", attacks="", more=""):
    text = STUDY.format(group=group, attacks=attacks, more=more)
    return load_study(folder(study_yaml=text, bot_py="def reply(prompt):\n    return prompt\n"))


@pytest.mark.parametrize("group", ["scenario", "purpose"])
def test_results_may_be_split_by_purpose_of_scripts(folder, group):
    assert loaded(folder, group=group).study.groups == (group,)


@pytest.mark.parametrize("group", ["strategy", "aim"])
def test_results_may_be_split_by_type_of_attack(folder, group):
    assert loaded(folder, group=group, attacks="attacks: [rephrase]").study.groups == (group,)
    with pytest.raises(InvalidStudyError, match="is a column of no recorded file"):
        loaded(folder, group=group)


def test_a_claim_refers_to_the_rules_of_annotators(folder):
    claim = ", claims: [{text: Keeps it., scripts: [password], rule: released}]"

    assert "could mean" not in render_diagnostics(loaded(folder, more=claim).notes)
    unclear = loaded(folder, more=claim.replace(", rule: released", "")).notes
    assert "could mean 2 defect" in render_diagnostics(unclear)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("{text: Keeps it.}", "stays untested: name `scripts` that test it, or say by `untestable` why none can"),
        ("{text: Keeps it., scripts: [password], untestable: No.}", "says that it is untestable; leave out one"),
        ("{text: Keeps it., untestable: No dialogue shows it.}", ""),
    ],
)
def test_a_claim_is_tested_or_states_why_it_cannot_be(folder, keys, words):
    try:
        told = render_diagnostics(loaded(folder, more=f", claims: [{keys}]").notes)
    except InvalidStudyError as faults:
        told = str(faults)

    assert (words in " ".join(told.split())) if words else ("a claim" not in told)


TYPOLOGY = "typology: {{users: {{by: {by}, types: {{plain: [{values}]}}}}, applications: {applications}}}\n"


def with_key(folder, text):
    whole = STUDY.format(group="scenario", attacks="", more="") + text
    return load_study(folder(study_yaml=whole, bot_py="def reply(prompt):\n    return prompt\n"))


def typed(folder, *, by="purpose", values="useful", applications="{all: bot}"):
    return with_key(folder, TYPOLOGY.format(by=by, values=values, applications=applications))


def test_types_of_users_and_applications_are_read(folder):
    typology = typed(folder).study.typology

    assert (typology.by, typology.users, typology.applications) == (
        "purpose",
        {"plain": ("useful",)},
        {"all": ("bot",)},
    )


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"by": "porpose"}, "mean `purpose`"),
        ({"applications": "{all: bott}"}, "Did you mean `bot`"),
        ({"applications": "{one: bot, two: bot}"}, "application `bot` has more than one type"),
        ({"values": "useful, useful"}, "value of `purpose` `useful` has more than one type"),
    ],
    ids=["group", "application", "two types", "two values"],
)
def test_an_empty_or_duplicate_typology_entry_is_refused(folder, changed, words):
    with pytest.raises(InvalidStudyError, match=words):
        typed(folder, **changed)


def test_a_question_about_turns_has_no_construct(folder):
    asked = (
        "guidelines: {g: {questions: {q: {ask: Q?, level: turn, construct: act}}, defects: {d: {defect: q == yes}}}}\n"
    )
    with pytest.raises(InvalidStudyError, match=r"about\s+the whole dialogue"):
        with_key(folder, asked)
