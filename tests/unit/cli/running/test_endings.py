from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.fakes.builders import study
from theodolite.cli.running import BY_USER, failures_text, nothing_text, spent_text, stopped_text, waiting_text
from theodolite.domain.annotation import Annotation, AnnotatorKind, Answer, Outcome
from theodolite.domain.annotator import Annotator, HandLabels, RecordedLabels
from theodolite.domain.evidence import listed_evidence
from theodolite.domain.run import Failure, FailureKind, FailureSource, Run, RunState, Spending
from theodolite.domain.study import Budget
from theodolite.usecases.running import RunStatus

RUN = Run(
    key="r",
    number=1,
    study="s",
    study_version="v",
    plan_version="p",
    state=RunState.UNFINISHED,
    started=datetime(2026, 3, 2, tzinfo=UTC),
)
REFUSED = "20 consecutive calls to `large` were rejected: 401 invalid key (variable OPENAI_API_KEY)"


def status(stopped="", remedy="", dialogues=41, annotated=33, **states):
    return RunStatus(
        run=RUN,
        stopped=stopped,
        sessions={"done": dialogues, **states},
        annotations={"done": annotated},
        planned=60,
        due=60,
        remedy=remedy,
    )


def told(status, **more):
    said = {"spent": Spending(calls=300, cost_microusd=380_000), "budget": Budget(usd=5), "path": "support"} | more
    return stopped_text(
        status, at=datetime(2026, 3, 2, 14, 2, 11, tzinfo=UTC), command="theodolite run support", **said
    )


def evidence(failures=(), annotations=()):
    return listed_evidence(study(), RUN, (), annotations=annotations, failures=failures)


def failure(label, message="30 s", kind=FailureKind.TIMED_OUT):
    return Failure(
        unit=label,
        label=label,
        application="bot",
        party=FailureSource.APPLICATION,
        kind=kind,
        message=message,
        endpoint="bot",
    )


def unreadable(raw="I would rather not say."):
    answer = Answer(question="score", outcome=Outcome.UNPARSEABLE, raw=raw)
    return Annotation(
        unit="u",
        dialogue="d",
        annotator="grounded",
        annotator_version="v",
        guideline="g",
        instrument_version="i",
        answers=(answer,),
    )


def test_a_stop_says_why_what_is_kept_what_it_cost_and_how_to_go_on():
    lines = told(status(stopped=REFUSED, remedy="correct the API key")).splitlines()

    assert lines[0].startswith("Stopped at ")
    assert lines[0].endswith(": 20 consecutive calls to `large` were rejected: 401 invalid")
    assert lines[1:] == [
        "key (variable OPENAI_API_KEY).",
        "  Saved   41 of 60 dialogues, 33 of 60 annotations; no call is repeated",
        "  Cost    $0.38 of $5.00, 300 calls",
        "  Resume  correct the API key, then  theodolite run support",
        "  Report  theodolite report support --partial",
    ]


def test_a_stop_of_ones_own_takes_one_line():
    words = told(status(stopped=BY_USER, dialogues=47))

    assert words == "Stopped. 47 dialogues and 33 annotations are saved. Run the same command to resume."


def test_one_is_counted_in_the_singular():
    assert "1 dialogue and 0 annotations are saved" in told(status(stopped=BY_USER, dialogues=1, annotated=0))


def test_without_a_remedy_the_command_alone_is_told():
    assert "  Resume  theodolite run support" in told(status(stopped="something odd")).splitlines()


@pytest.mark.parametrize(
    ("spent", "budget", "words"),
    [
        (Spending(), Budget(), "$0.00, 0 calls"),
        (Spending(calls=1, cost_microusd=10_000), Budget(usd=2), "$0.01 of $2.00, 1 call"),
        (Spending(calls=9, unpriced_calls=4), Budget(), "cost unknown (no price for 4 of 9 calls), 9 calls"),
    ],
)
def test_what_was_spent_says_what_it_does_not_know(spent, budget, words):
    assert spent_text(spent, budget) == words


def test_causes_of_nothing_are_counted_the_most_frequent_first_each_with_an_example():
    rejected = failure("d009", "404", FailureKind.REJECTED)

    lines = nothing_text(
        status(dialogues=0), evidence([rejected, failure("d001"), failure("d002")]), "support"
    ).splitlines()

    assert lines[0] == "No dialogue succeeded, so there is nothing to measure: the rate is undefined,"
    assert lines[2:4] == [
        f"  2 x application `bot` {FailureKind.TIMED_OUT.value}, e.g. d001: 30 s",
        f"  1 x application `bot` {FailureKind.REJECTED.value}, e.g. d009: 404",
    ]
    assert lines[4] == "  Fix the cause, then run again with  --retry-failed"


def test_a_judge_that_nobody_can_read_is_quoted_and_its_wording_is_to_be_changed():
    words = nothing_text(status(), evidence(annotations=[unreadable(), unreadable("x" * 999)]), "support")

    assert words.startswith("No annotation succeeded")
    assert '2 x `grounded` unparseable. Reply: "I would rather not say."' in words
    assert "the dialogues are saved" in " ".join(words.split())


def test_labels_of_a_column_that_nobody_can_read_need_a_spelling_and_no_other_model():
    kinds = {"ann": RecordedLabels(column="label_ann"), "ben": HandLabels()}
    people = tuple(
        Annotator(name=name, kind=AnnotatorKind.PERSON, guideline="g", labelling=labelling)
        for name, labelling in kinds.items()
    )
    came = [replace(unreadable("5"), annotator=name) for name in kinds]
    found = evidence(annotations=came)
    found = replace(found, study=replace(found.study, annotators=people))

    words = " ".join(nothing_text(status(), found, "support").split())

    assert "Map the values of `label_ann` to labels with `spelling`, then run again." in words
    assert "Export the answers, replace values outside the scale" in words
    assert "model" not in words


def test_where_nothing_came_at_all_the_same_command_goes_on():
    assert nothing_text(status(dialogues=0), evidence(), "support").endswith("Run the same command to resume.")


def test_where_people_alone_hold_dialogues_the_way_to_them_is_shown():
    lines = nothing_text(replace(status(dialogues=0), planned=0, due=0), evidence(), "support").splitlines()

    assert lines[0].startswith("All sessions of this study need human testers")
    assert lines[-1] == "  Testers join through  theodolite serve support"


def test_what_another_process_works_on_is_not_called_finished():
    assert "41 of 60 dialogues are complete" in waiting_text(status(), "theodolite run support")


@pytest.mark.parametrize("why", [BY_USER, "the budget of 700 calls is spent"])
def test_calls_of_dialogues_that_are_not_whole_were_not_in_vain(why):
    words = told(status(stopped=why, dialogues=0, annotated=0))

    assert "Every turn of the unfinished dialogues is saved, too." in words
    assert "Every turn" not in told(status(stopped=why, dialogues=0, annotated=0), spent=Spending())


def test_the_last_line_counts_what_failed():
    some = replace(status(failed=25), annotations={"done": 33, "failed": 1})

    assert failures_text(some, "support") == (
        "Failed: 25 dialogues and 1 annotation. Retry:  theodolite run support --retry-failed"
    )
    assert failures_text(status(), "support") == ""
