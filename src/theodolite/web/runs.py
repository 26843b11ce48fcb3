"""Runs on pages, the same for `theodolite view` and for studies on a server: progress, the form, the estimate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.forms import BooleanField, ChoiceField, FloatField, Form, IntegerField

from theodolite.bootstrap.viewing import RunRequest, StudyRuns
from theodolite.config.calls import CallEstimate
from theodolite.config.loading import LoadedStudy
from theodolite.config.required_access import hosts_of
from theodolite.domain.text import cost_text, dollars, spent_text
from theodolite.usecases.viewing import RunActivity, RunProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPages:
    """Addresses of the pages about the runs of a study.

    Attributes:
        runs: The list of runs.
        live: The part that changes while a run is in progress.
        start: The form that starts or resumes a run; empty if the reader may start none.
        check: Checks the endpoints.
        stop: Stops a run; empty if the reader may stop none.
        allow: Stores permissions; empty if only the operator stores them.
        results: Returns the address of the results of a run by its number; None without such pages.
        stage: The only stage that the form offers; empty for a choice.
    """

    runs: str
    live: str
    start: str = ""
    check: str = ""
    stop: str = ""
    allow: str = ""
    results: Callable[[int], str] | None = None
    stage: str = ""


def progress_context(runs: StudyRuns, pages: RunPages) -> dict[str, Any]:
    """Return the variables of the list of runs and of its changing part."""
    lines = [_run_line(run, pages, has_judged=runs.has_judged and run is runs.latest) for run in runs.runs]
    return {"runs": runs, "lines": lines, "output": output_of(runs), "pages": pages}


def output_of(runs: StudyRuns) -> str:
    """Return the output of the latest process if it ended before the run was complete."""
    process = runs.process
    is_whole = runs.latest is not None and runs.latest.activity in {RunActivity.FINISHED, RunActivity.PARTIAL}
    is_whole = is_whole or runs.has_judged
    return "" if process is None or process.is_alive or is_whole else process.output


JUDGED = "judges finished"
"""Status of a run in which judges have annotated all completed dialogues, while others are not created yet."""


def _run_line(run: RunProgress, pages: RunPages, *, has_judged: bool) -> dict[str, object]:
    """Return a run in displayed form."""
    is_judged = has_judged and run.activity is RunActivity.STOPPED
    spent = run.status.spent
    left = None if run.status.left_s is None else int(run.status.left_s)
    return {
        "run": run,
        "status": JUDGED if is_judged else run.activity.value,
        "is_stopped": not is_judged and run.activity in {RunActivity.STOPPED, RunActivity.PARTIAL},
        "can_continue": run.activity in {RunActivity.STOPPED, RunActivity.PARTIAL},
        "is_finished": run.activity is RunActivity.FINISHED,
        "results": pages.results(run.number) if pages.results is not None and run.sessions.done else "",
        "cost": spent_text(spent.cost_microusd, spent.calls, spent.unpriced_calls),
        "amount": cost_text(spent.cost_microusd) if spent.cost_microusd or not spent.unpriced_calls else "unknown",
        "calls": f"{spent.calls:,}",
        "left": "" if left is None or not run.is_active else f"{left // 60}:{left % 60:02d}",
        "failed": [(source.value, n) for source, n in sorted(run.status.failed.items())],
    }


class RunForm(Form):
    """Scope and budget of a run."""

    limit = IntegerField(required=False, min_value=1)
    stage = ChoiceField(required=False, choices=[("", "all"), ("test", "test"), ("score", "score")])
    budget = FloatField(required=False, min_value=0.01)
    concurrency = IntegerField(required=False, min_value=1, max_value=1024)
    new_run = BooleanField(required=False)
    retry_failed = BooleanField(required=False)
    confirmed = BooleanField(required=False)

    def __init__(self, data: Any = None, *, is_paid: bool = True) -> None:
        """Require the confirmation of a run with a cost, or with an unknown cost."""
        super().__init__(data)
        field = self.fields["confirmed"]
        field.required, field.error_messages = is_paid, {"required": "Confirm the cost before the start."}

    def run_request(self) -> RunRequest:
        """Return the run that the form describes."""
        cleaned = self.cleaned_data
        return RunRequest(
            limit=cleaned["limit"],
            stage=cleaned["stage"],
            budget_usd=cleaned["budget"],
            concurrency=cleaned["concurrency"],
            new_run=cleaned["new_run"],
            retry_failed=cleaned["retry_failed"],
        )


def start_context(
    loaded: LoadedStudy, runs: StudyRuns, estimate: CallEstimate, pages: RunPages, **more: object
) -> dict[str, object]:
    """Return the variables of the page that starts a run."""
    return {
        "estimate": estimate,
        "price": price_text(estimate),
        "is_paid": is_paid(estimate),
        "budget": loaded.study.budget,
        "hosts": hosts_of(loaded.study),
        "runs": runs,
        "is_resumed": runs.latest is not None and runs.latest.activity is RunActivity.STOPPED,
        "pages": pages,
        **more,
    }


def is_paid(estimate: CallEstimate) -> bool:
    """Return whether a run has a cost, or an unknown cost."""
    return bool(estimate.cost_usd.high or estimate.unpriced)


def price_text(estimate: CallEstimate) -> str:
    """Return the cost of a run as a range, e.g. `$0.40 to $1.20`, or that no price is known."""
    cost = estimate.cost_usd
    if not cost.high:
        return "unknown" if estimate.unpriced else dollars(0)
    return (
        dollars(cost.high)
        if dollars(cost.low) == dollars(cost.high)
        else f"{dollars(cost.low)} to {dollars(cost.high)}"
    )
