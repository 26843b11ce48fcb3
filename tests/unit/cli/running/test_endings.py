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


def test_a_stop_states_the_reason_the_saved_work_the_cost_and_the_next_command():
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


def test_a_stop_by_the_user_takes_one_line():
    words = told(status(stopped=BY_USER, dialogues=47))

    assert words == "Stopped. 47 dialogues and 33 annotations are saved. Run the same command to resume."


def test_a_count_of_one_uses_the_singular():
    assert "1 dialogue and 0 annotations are saved" in told(status(stopped=BY_USER, dialogues=1, annotated=0))


def test_without_a_remedy_only_the_command_is_shown():
    assert "  Resume  theodolite run support" in told(status(stopped="something odd")).splitlines()


@pytest.mark.parametrize(
    ("spent", "budget", "words"),
    [
        (Spending(), Budget(), "$0.00, 0 calls"),
        (Spending(calls=1, cost_microusd=10_000), Budget(usd=2), "$0.01 of $2.00, 1 call"),
        (Spending(calls=9, unpriced_calls=4), Budget(), "cost unknown (no price for 4 of 9 calls), 9 calls"),
    ],
)
def test_the_cost_names_calls_of_unknown_price(spent, budget, words):
    assert spent_text(spent, budget) == words


def test_causes_of_failures_are_counted_most_frequent_first_with_an_example():
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


def test_an_unparseable_judge_is_quoted_and_its_prompt_is_to_be_revised():
    words = nothing_text(status(), evidence(annotations=[unreadable(), unreadable("x" * 999)]), "support")

    assert words.startswith("No annotation succeeded")
    assert '2 x `grounded` unparseable. Reply: "I would rather not say."' in words
    assert "the dialogues are saved" in " ".join(words.split())


def test_unmatched_labels_of_a_column_need_a_spelling_rather_than_another_model():
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


def test_after_failures_only_the_same_command_continues():
    assert nothing_text(status(dialogues=0), evidence(), "support").endswith("Run the same command to resume.")


def test_for_human_testers_only_the_server_is_suggested():
    lines = nothing_text(replace(status(dialogues=0), planned=0, due=0), evidence(), "support").splitlines()

    assert lines[0].startswith("All sessions of this study need human testers")
    assert lines[-1] == "  Testers join through  theodolite serve support"


def test_work_of_another_process_is_not_reported_as_finished():
    assert "41 of 60 dialogues are complete" in waiting_text(status(), "theodolite run support")


@pytest.mark.parametrize("why", [BY_USER, "the budget of 700 calls is spent"])
def test_calls_of_unfinished_dialogues_are_not_reported_as_wasted(why):
    words = told(status(stopped=why, dialogues=0, annotated=0))

    assert "Every turn of the unfinished dialogues is saved, too." in words
    assert "Every turn" not in told(status(stopped=why, dialogues=0, annotated=0), spent=Spending())


def test_the_last_line_counts_failures():
    some = replace(status(failed=25), annotations={"done": 33, "failed": 1})

    assert failures_text(some, "support") == (
        "Failed: 25 dialogues and 1 annotation. Retry:  theodolite run support --retry-failed"
    )
    assert failures_text(status(), "support") == ""
