from types import SimpleNamespace

from tests.fakes.evidence import facts
from tests.fakes.report import evidence_named, findings_named, words
from theodolite.reporting.page.review import first_reads, labels_line
from theodolite.reporting.page.subject import subject_of


def reads(name):
    return first_reads(subject_of(evidence_named(name), findings_named(name), facts(), words()))


def test_each_dialogue_to_read_first_is_chosen_by_a_rule_of_its_own():
    assert [read.why for read in reads("xstest")] == [
        "Defect, best evidence",
        "Judge against people",
        "People disagree",
        "Drawn at random",
    ]


def test_a_failure_is_among_the_dialogues_to_read_first():
    assert [read.why for read in reads("live")][1] == "Failure"


def test_the_turn_that_an_annotator_quotes_is_shown():
    assert reads("live")[0].response == "Yes, you have 60 days for any return."


def test_the_same_seed_draws_the_same_dialogues():
    assert reads("xstest") == reads("xstest")


def test_a_dialogue_whose_texts_are_shown_goes_before_one_whose_texts_are_withheld():
    assert all("withheld" not in read.response for read in reads("xstest"))


def test_where_rules_rest_on_several_questions_the_answer_to_each_is_named():
    judge = SimpleNamespace(name="judge", guideline="guardrail", title="signs", answers=lambda _question: True)
    rules = tuple(SimpleNamespace(question=question) for question in ("withheld", "released", "released"))
    study = SimpleNamespace(guidelines=(SimpleNamespace(name="guardrail", defect_rules=rules),), annotators=(judge,))
    said = {"withheld": "no", "released": "yes"}
    case = SimpleNamespace(
        dialogue_label=lambda _name, _guideline, question: SimpleNamespace(value=said[question]),
        is_assigned=lambda _name: True,
    )

    assert labels_line(SimpleNamespace(study=study), case) == "signs: withheld no, released yes"
