from dataclasses import replace

from tests.fakes.evidence import facts
from tests.fakes.evidence_variants import PLAIN, VOTES
from tests.fakes.report import evidence_named, findings_named, words
from theodolite.reporting.page.judges import diagnostics_tables
from theodolite.reporting.page.subject import subject_of


def tables(*conducts):
    evidence = evidence_named("live")
    subject = subject_of(evidence, replace(findings_named("live"), judge_diagnostics=conducts), facts(), words())
    return subject, {table.title: table for table in diagnostics_tables(subject)}


def cells(table):
    return dict(zip((column.title for column in table.columns), table.cells[0], strict=True))


def test_without_judges_there_is_no_table():
    assert tables()[1] == {}


def test_a_scripted_judge_with_missing_control_answers_gives_no_finding():
    assert tables(replace(PLAIN, scripted=True, control_unanswered=60))[1] == {}


def test_a_doubtful_result_opens_its_dialogues():
    subject, found = tables(replace(PLAIN, quoting=40, ungrounded=("d001", "d003"), control_passed=60))
    cell = cells(found["What verdicts rest on"])["Quote words that are not there"]

    assert cell.text == "2 of 40 (5.0%)"
    assert subject.sets.sets[cell.opens].cases == (0, 2)


def test_votes_have_a_separate_table():
    _, found = tables(replace(PLAIN, votes=VOTES))
    texts = {name: cell.text for name, cell in cells(found["Votes"]).items()}

    assert list(found) == ["Votes"]
    assert texts["Calls a dialogue"] == "2.3 of 5"
    assert texts["Contradicts itself"] == ".10 (.05 to .20), n 60"
    assert texts["Retest alpha"].startswith("undefined: ")
