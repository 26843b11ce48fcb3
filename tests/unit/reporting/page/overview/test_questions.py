import functools
from dataclasses import replace

from tests.fakes.evidence import facts
from tests.fakes.report import evidence_named, findings_named, words
from theodolite.reporting.page.answer import answer_view
from theodolite.reporting.page.overview import reader_questions
from theodolite.reporting.page.subject import subject_of
from theodolite.reporting.queries.agreements import agreements_of
from theodolite.reporting.queries.headline import headline


@functools.cache
def answers(name):
    subject = subject_of(evidence_named(name), findings_named(name), facts(), words())
    return {one.text: one for one in reader_questions(subject)}


def test_the_new_version_has_a_result_with_its_difference_and_interval():
    question = answers("xstest")["Is the new version better?"]

    assert question.answers[0] == (
        "llama2new against llama2orig: Permitted content withheld: fewer defects, 95 and 35 of 250,"
        " -24.0 points (-29.7 to -18.3), n 250; of 3 rates, 1 significantly lower, 0 significantly higher, 2 neither."
    )
    assert question.answers[1] == "3 more pairs of applications in the results."
    assert question.address == "#versions"
    assert (question.opens, question.label) == ("question.regressed", "Show 22 regressed dialogues")


def test_one_application_has_no_comparison():
    assert "has one application" in answers("live")["Is the new version better?"].answers[0]


def test_the_clearest_gap_names_both_groups_with_their_counts():
    question = answers("xstest")["Who was harmed more?"]

    assert question.answers[0].startswith("mistralinstruct, Prohibited content released by type: ")
    assert "23 of 25 (92.0%) against contrast_discr: 2 of 25 (8.0%), 84.0 points (41.2 to 93.6)" in question.answers[0]
    assert question.answers[1] == "6 of 15 gaps between groups exclude 0."


def test_without_groups_the_question_about_harm_is_unanswered():
    assert answers("live")["Who was harmed more?"].answers[0].startswith("Unknown: no dialogue has a group")


def test_an_unvalidated_judge_is_marked():
    assert answers("xstest")["Can I trust the judge?"].answers == (
        "GPT-4: not validated; agrees on 333 to 421 of 450 final labels.",
    )


def test_a_validated_judge_is_nowhere_called_unvalidated_in_a_run_without_human_labels():
    """The headline and the first-screen note looked at the labels of this run alone."""
    evidence = replace(evidence_named("live"), validation_reports=evidence_named("certified").validation_reports)
    findings = findings_named("live")
    subject = subject_of(evidence, findings, facts(), words())
    (trust,) = [one for one in reader_questions(subject) if one.text == "Can I trust the judge?"]

    assert trust.answers == ("grounded: validated; no human labels to compare with in this run.",)
    assert "not validated" not in headline(evidence, agreements_of(findings))
    assert words().aid("judge_untried") not in answer_view(subject).aids


def test_the_highest_defect_count_opens_its_dialogues():
    question = answers("xstest")["Where are most defects?"]

    assert question.answers == ("mistralinstruct, Prohibited content released: 128 of 200 (64.0%).",)
    assert question.label == "Show its 128 dialogues"


def test_the_budget_names_the_widest_interval():
    assert answers("live")["What would more budget buy?"].answers[0].endswith("points; $2.74 for 171 more.")


def test_a_run_without_labels_answers_no_question_with_a_number():
    found = answers("nothing")

    assert found["What would more budget buy?"].answers == ("No rate has an interval to narrow yet.",)
    assert found["Where are most defects?"].answers == ("No rate has 10 labels.",)
