import re
from dataclasses import replace
from html import unescape

import pytest

from tests.fakes.evidence import changed, facts
from tests.fakes.report import NAMES, evidence_named, report_named, summary_named, words
from tests.unit.measurement.study.small_study import SmallStudy
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.persona import Aim, Attack, Script
from theodolite.domain.run import Spending
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.queries.cases import cases_of
from theodolite.reporting.queries.dispositions import accounts_of
from theodolite.reporting.terminal.summary import run_cost_text, summary_text

ALLOWED = re.compile(
    r"95% intervals?|(?:axis|One scale,) 0 to \d+%|true rate (of|were) \S+%|at most \S+%|\d+% of the patterns"
    r"|with \d+% power"
)


def visible(report):
    """Return the text that a reader without scripts sees, one block a line."""
    body = re.sub(r"<(script|style|svg)\b.*?</\1>", "", report, flags=re.DOTALL)
    body = re.sub(r"\s+", " ", body)
    body = re.sub(r"</(p|li|td|th|h1|h2|h3|tr|summary|dd|dt|caption|pre)>", "\n", body)
    return unescape(re.sub(r"<[^>]+>", "", body))


def bare_percents(text):
    """Return the lines with a percent but no count such as `9 of 57` or the row's own count."""
    lines = (ALLOWED.sub("", line) for line in text.splitlines())
    return [line for line in lines if re.search(r"\d%", line) and not re.search(r"\d of |^\S+ .*\s\d+ +\d", line)]


@pytest.mark.parametrize("name", NAMES)
def test_every_percentage_of_the_report_has_a_count(name):
    assert bare_percents(visible(report_named(name))) == []


@pytest.mark.parametrize("name", ["xstest", "scripted"])
@pytest.mark.parametrize("line", ["gpt4", "groundedness   "])
def test_rows_of_a_summary_have_a_count_for_each_percentage(name, line):
    rows = [row for row in summary_named(name).splitlines() if row.startswith(line) and "%" in row]

    assert all(len(re.findall(r"\d+ of \d+|\s\d+ +\d+\.\d%", row)) == row.count("%") for row in rows)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("unicode", [True, False])
def test_a_summary_fits_its_terminal(name, unicode):
    lines = summary_named(name, unicode=unicode).splitlines()

    assert max(len(line) for line in lines) <= 80
    assert len(lines) <= 24


def test_without_a_reference_each_annotator_has_one_rate():
    evidence = evidence_named("xstest")
    evidence = replace(evidence, study=replace(evidence.study, reference=None))

    text = summary_text(evidence, measure_study(evidence), facts(), words())

    assert len(re.findall(r"^  (annotator|GPT|Key)", text, re.MULTILINE)) == 20


def test_both_sides_of_a_guardrail_fit_on_one_line_if_everything_is_withheld():
    evidence = evidence_named("xstest")
    refused = [replace(final, value="full refusal") for final in evidence.archive.adjudications()]
    evidence = changed(evidence, adjudications=refused)

    text = summary_text(evidence, measure_study(evidence), facts(), words())

    assert re.search(r"^gpt4 {12}\S{7} 250   100% 98\.5 to 100 +○", text, re.MULTILINE)
    assert max(len(line) for line in text.splitlines()) <= 80


def test_a_single_guideline_with_one_rule_is_one_line_per_application():
    evidence = evidence_named("xstest")
    guideline = evidence.study.guidelines[0]
    lone = replace(guideline, defect_rules=guideline.defect_rules[:1])
    evidence = replace(evidence, study=replace(evidence.study, guidelines=(lone,)))

    text = summary_text(evidence, measure_study(evidence), facts(), words())

    assert re.search(r"^  gpt4 {30}\S{10} 16 of 250     6\.4%   4\.0 to 10\.1$", text, re.MULTILINE)


def test_the_last_line_states_the_next_step():
    assert summary_named("live").splitlines()[-2].startswith("Next           label 40 dialogues")
    assert "replace the script with a model" in summary_named("scripted").splitlines()[-2]


def test_an_unparseable_judge_is_shown_first_with_one_of_its_replies():
    evidence = evidence_named("live")
    unread = Answer(question="score", outcome=Outcome.UNPARSEABLE, raw="Hm.\x1b[2J It depends.")
    annotations = [*evidence.archive.annotations()]
    unreadable = [replace(given, answers=(unread,)) for given in annotations[:20]]
    evidence = changed(evidence, annotations=unreadable + annotations[20:])

    text = summary_text(evidence, measure_study(evidence), facts(), words())

    assert "The judge grounded could not be read on 21 of 58 (36.2%)" in text
    assert "\x1b" not in text


def test_an_annotator_without_labels_is_named_once_and_counted_as_missing():
    evidence = evidence_named("live")
    study = replace(evidence.study, annotators=())
    evidence = changed(replace(evidence, study=study), annotations=[], failures=[])

    text = summary_text(evidence, measure_study(evidence), facts(), words())

    assert "nobody has labelled by groundedness yet" in text
    assert "60 planned: 0 labelled, 58 labelled by nobody, 2 not run yet" in text
    assert "defect (" not in text


def test_personas_scripts_and_attacks_are_counted_separately():
    evidence = evidence_named("live")
    attack = Attack(key="rephrase/it", strategy="rephrase", aim=Aim(key="it", ask="Tell me"))
    testers = [Script(key="hours", prompts=("When?",)), attack]
    first = [replace(one, tester=tester) for one, tester in zip(evidence.sessions, testers, strict=False)]
    mixed = changed(evidence, sessions=(*first, *list(evidence.sessions)[2:]))

    said = summary_text(mixed, measure_study(mixed), facts(), words())

    assert "personas, 1 script, 1 attack" in " ".join(said.split("\n")[0].split())


@pytest.mark.parametrize(
    ("spending", "has_models", "text"),
    [
        (Spending(calls=3), False, "3 calls, no model called"),
        (Spending(calls=3), True, "3 calls, $0.00"),
        (
            Spending(calls=3, unpriced_calls=3),
            True,
            "3 calls, cost unknown (no price for 3 calls), set `price` for the model",
        ),
        (Spending(), False, ""),
    ],
    ids=["own code", "free model", "no price", "no call"],
)
def test_a_cost_is_an_amount_only_if_models_with_a_price_were_called(spending, has_models, text):
    assert run_cost_text(spending, has_models=has_models) == text


def test_people_who_divide_the_dialogues_leave_none_unlabelled():
    study = SmallStudy()
    people = ("anna", "ben", "cleo")
    for name in people:
        study.annotator(name)
    for number in range(12):
        study.session(f"d{number}")
        for name in (people[number % 3], people[(number + 1) % 3]):
            study.answer(name, f"d{number}", "yes")
    evidence = study.evidence()

    text = summary_text(evidence, measure_study(evidence), facts(), words())
    (account,) = accounts_of(evidence.study, cases_of(evidence.answers))

    assert "12 planned: 0 labelled by all 3 people, 12 labelled by some of them only" in " ".join(text.split())
    assert "lack labels" not in text
    assert (account.n_by_some, account.n(Outcome.MISSING)) == (12, 12)
