from types import SimpleNamespace

from tests.fakes.evidence import facts
from tests.fakes.report import evidence_named, findings_named, words
from theodolite.reporting.page.review import first_reads, grouped_labels
from theodolite.reporting.page.subject import subject_of


def reads(name):
    return first_reads(subject_of(evidence_named(name), findings_named(name), facts(), words()))


def test_each_dialogue_to_review_first_is_selected_by_its_rule():
    assert [read.why for read in reads("xstest")] == [
        "Defect, best evidence",
        "Judge against people",
        "People disagree",
        "Drawn at random",
    ]


def test_a_failure_is_among_the_dialogues_to_review_first():
    assert [read.why for read in reads("live")][1] == "Failure"


def test_the_turn_quoted_by_an_annotator_is_shown():
    assert reads("live")[0].response == "Yes, you have 60 days for any return."


def test_the_same_seed_draws_the_same_dialogues():
    assert reads("xstest") == reads("xstest")


def test_dialogues_with_visible_texts_precede_those_with_withheld_texts():
    assert all("withheld" not in read.response for read in reads("xstest"))


def test_for_rules_on_several_questions_each_answer_is_named():
    judge = SimpleNamespace(name="judge", guideline="guardrail", title="signs", answers=lambda _question: True)
    rules = tuple(SimpleNamespace(question=question) for question in ("withheld", "released", "released"))
    study = SimpleNamespace(guidelines=(SimpleNamespace(name="guardrail", defect_rules=rules),), annotators=(judge,))
    said = {"withheld": "no", "released": "yes"}
    case = SimpleNamespace(
        dialogue_label=lambda _name, _guideline, question: SimpleNamespace(value=said[question]),
        is_assigned=lambda _name: True,
    )

    assert grouped_labels(SimpleNamespace(study=study), case) == "withheld no, released yes: signs"
