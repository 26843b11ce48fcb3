from tests.fakes.evidence import facts
from tests.fakes.report import evidence_named, findings_named, words
from theodolite.reporting.page.annotators import instruments
from theodolite.reporting.page.subject import subject_of


def standings(name):
    made = subject_of(evidence_named(name), findings_named(name), facts(), words())
    return {view.name: view.standing for view in instruments(made) if view.kind == "judge"}


def test_a_judge_without_human_labels_is_not_compared_and_not_validated():
    assert standings("live") == {"grounded": "not validated; not compared with human labels"}


def test_a_judge_with_human_labels_is_compared():
    assert standings("xstest") == {"GPT-4": "not validated; agrees on 333 to 421 of 450 final labels"}
