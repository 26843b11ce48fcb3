"""How a sitting ended, in words."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from theodolite.domain.annotation import Annotation, Outcome
from theodolite.domain.annotator import HandLabels, RecordedLabels
from theodolite.domain.run import Failure, Spending, UnitState
from theodolite.domain.study import Budget
from theodolite.domain.text import cost_text, dollars
from theodolite.usecases.running import RunStatus

if TYPE_CHECKING:  # who only tests does not wait for what measures
    from theodolite.domain.evidence import Evidence

BY_USER = "stopped by you"
"""Reason of a stop that the user asked for."""

_WIDTH = 80


def stopped_text(status: RunStatus, *, spent: Spending, budget: Budget, at: datetime, command: str, path: str) -> str:
    """Return what to say when a run stopped before its plan was done."""
    if status.stopped == BY_USER:
        kept = f"{_n(status.dialogues, 'dialogue')} and {_n(status.annotated, 'annotation')} are saved"
        begun = "".join(f"\n{line}" for line in _paragraph(_begun(status, spent)))
        return f"Stopped. {kept}. Run the same command to resume.{begun}"
    kept = f"{status.dialogues:,} of {status.planned:,} dialogues, {status.annotated:,} of {status.due:,} annotations"
    remedy = f"{status.remedy}, then  " if status.remedy else ""
    lines = [
        *_paragraph(f"Stopped at {at.astimezone():%H:%M:%S}: {status.stopped}."),
        f"  Saved   {kept}; no call is repeated",
        *(f"          {line}" for line in _paragraph(_begun(status, spent))),
        f"  Cost    {spent_text(spent, budget)}",
        f"  Resume  {remedy}{command}",
        f"  Report  theodolite report {path} --partial",
    ]
    return "\n".join(lines)


def _begun(status: RunStatus, spent: Spending) -> str:
    """Return a note that partial dialogues are saved; empty once a dialogue is complete."""
    is_in_mid_dialogue = spent.calls and not status.dialogues
    return "Every turn of the unfinished dialogues is saved, too." if is_in_mid_dialogue else ""


def spent_text(spent: Spending, budget: Budget) -> str:
    """Return cost and number of calls, with the budget."""
    limit = f" of {dollars(budget.usd)}" if budget.usd is not None else ""
    unpriced = f", {spent.unpriced_calls:,} with unknown price" if spent.unpriced_calls else ""
    return f"{cost_text(spent.cost_microusd)}{limit}, {_n(spent.calls, 'call')}{unpriced}"


def waiting_text(status: RunStatus, command: str) -> str:
    """Return the message for a run that another process continues, or whose units wait for a retry."""
    kept = f"{status.dialogues:,} of {status.planned:,} dialogues are complete"
    return f"Not finished: {kept}; another process works on the rest.\nResume  {command}"


def failures_text(status: RunStatus, path: str) -> str:
    """Return the last line of a run with failed units; empty if none failed."""
    counts = ((status.sessions, "dialogue"), (status.annotations, "annotation"))
    failed = [_n(states[UnitState.FAILED], noun) for states, noun in counts if states.get(UnitState.FAILED)]
    if not failed:
        return ""
    return f"Failed: {' and '.join(failed)}. Retry:  theodolite run {path} --retry-failed"


def nothing_text(status: RunStatus, evidence: Evidence, path: str) -> str:
    """Return the message for a run without any dialogue or annotation, with the next step for the study at `path`."""
    if not status.planned:
        words = (
            "All sessions of this study need human testers, and none has taken place yet: there is nothing to measure."
        )
        return "\n".join([*_paragraph(words), f"  Testers join through  theodolite serve {path}"])
    what = "annotation" if status.dialogues else "dialogue"
    lines = _paragraph(f"No {what} succeeded, so there is nothing to measure: the rate is undefined, not 0.")
    causes, unreadable = tuple(_causes(evidence.archive.failures())), tuple(_unreadable(evidence.archive.annotations()))
    lines += [line for cause in (*causes, *unreadable) for line in _paragraph(cause)]
    if causes:
        lines.append("  Fix the cause, then run again with  --retry-failed")
    elif unreadable:
        lines += [line for advice in _advice(evidence) for line in _paragraph(advice)]
    else:
        lines.append("  Run the same command to resume.")
    return "\n".join(lines)


def _advice(evidence: Evidence) -> Iterator[str]:
    """Yield what to do about unreadable labels, once per source of labels."""
    known = {annotator.name: annotator.labelling for annotator in evidence.study.annotators}
    came = [known.get(name) for name in dict.fromkeys(one.annotator for one in evidence.archive.annotations())]
    recorded = [labelling for labelling in came if isinstance(labelling, RecordedLabels)]
    if recorded:
        columns = ", ".join(f"`{labelling.column}`" for labelling in recorded)
        yield f"  Map the values of {columns} to labels with `spelling`, then run again."
    if any(isinstance(labelling, HandLabels) for labelling in came):
        yield "  Export the answers, replace values outside the scale and import the file again."
    if len(recorded) < len(came) and not all(isinstance(one, RecordedLabels | HandLabels) for one in came):
        yield "  Change the model or the prompt of the judge, then run again: the dialogues are saved."


def _causes(failures: Iterable[Failure]) -> Iterator[str]:
    """Yield one line per source, endpoint and kind of failure, most frequent first."""
    examples: dict[tuple[str, str, str], Failure] = {}
    counts: Counter[tuple[str, str, str]] = Counter()
    for failure in failures:
        cause = (failure.party.value, failure.endpoint, failure.kind.value)
        examples.setdefault(cause, failure)
        counts[cause] += 1
    for cause, n in counts.most_common():
        party, endpoint, kind = cause
        example = examples[cause]
        yield f"  {n:,} x {party} `{endpoint}` {kind}, e.g. {example.label}: {example.message}"


def _unreadable(annotations: Iterable[Annotation]) -> Iterator[str]:
    """Yield one line per annotator and outcome without label, with an example reply."""
    raws: dict[tuple[str, Outcome], str] = {}
    counts: Counter[tuple[str, Outcome]] = Counter()
    for annotation in annotations:
        for answer in annotation.answers:
            counts[annotation.annotator, answer.outcome] += 1
            raws.setdefault((annotation.annotator, answer.outcome), answer.raw)
    for (annotator, outcome), n in counts.most_common():
        raw = raws[annotator, outcome]
        said = f'. Reply: "{textwrap.shorten(raw, 200, placeholder=" ...")}"' if raw else ""
        yield f"  {n:,} x `{annotator}` {outcome.value}{said}"


def _paragraph(text: str) -> list[str]:
    """Wrap text for a terminal; continuation lines keep the indentation."""
    indent = "    " if text.startswith(" ") else ""
    return textwrap.wrap(text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _n(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
