"""How a sitting ended, in words."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from theodolite.domain.annotation import Annotation, Outcome
from theodolite.domain.annotator import HandLabels, RecordedLabels
from theodolite.domain.failure import Failure
from theodolite.domain.money import cost_text, dollars
from theodolite.domain.run import Spending, UnitState
from theodolite.domain.study import Budget
from theodolite.usecases.running import Standing

if TYPE_CHECKING:  # who only tests does not wait for what measures
    from theodolite.domain.evidence import Evidence

BY_USER = "stopped by you"
"""Reason of a stop that the user asked for."""

_WIDTH = 80


def stopped_text(standing: Standing, *, spent: Spending, budget: Budget, at: datetime, command: str, path: str) -> str:
    """Return what to say when a run stopped before its plan was done."""
    if standing.stopped == BY_USER:
        kept = f"{_n(standing.dialogues, 'dialogue')} and {_n(standing.annotated, 'annotation')} are kept"
        begun = "".join(f"\n{line}" for line in _paragraph(_begun(standing, spent)))
        return f"Stopped. {kept}. Go on with the same command.{begun}"
    kept = (
        f"{standing.dialogues:,} of {standing.planned:,} dialogues, "
        f"{standing.annotated:,} of {standing.due:,} annotations"
    )
    remedy = f"{standing.remedy}, then  " if standing.remedy else ""
    lines = [
        *_paragraph(f"Stopped at {at.astimezone():%H:%M:%S}: {standing.stopped}."),
        f"  Kept    {kept}; none will be paid twice",
        *(f"          {line}" for line in _paragraph(_begun(standing, spent))),
        f"  Spent   {spent_text(spent, budget)}",
        f"  Go on   {remedy}{command}",
        f"  So far  theodolite report {path} --unfinished",
    ]
    return "\n".join(lines)


def _begun(standing: Standing, spent: Spending) -> str:
    """Say that calls were not in vain where no dialogue is whole yet; empty where one is."""
    is_in_mid_dialogue = spent.calls and not standing.dialogues
    return "Every turn of the dialogues that were begun is kept, too." if is_in_mid_dialogue else ""


def spent_text(spent: Spending, budget: Budget) -> str:
    """Return money and calls, and what the budget allows."""
    limit = f" of {dollars(budget.usd)}" if budget.usd is not None else ""
    unpriced = f", {spent.unpriced_calls:,} of them at an unknown price" if spent.unpriced_calls else ""
    return f"{cost_text(spent.cost_microusd)}{limit}, {_n(spent.calls, 'call')}{unpriced}"


def waiting_text(standing: Standing, command: str) -> str:
    """Return what to say when a run goes on elsewhere, or when some of its units wait for another try."""
    kept = f"{standing.dialogues:,} of {standing.planned:,} dialogues are held"
    return f"Not finished: {kept}; another process works on the rest.\nGo on with  {command}"


def failures_text(standing: Standing, path: str) -> str:
    """Return the last line of a run in which some units failed, so that a log tells it; empty where none did."""
    counts = ((standing.sessions, "dialogue"), (standing.annotations, "annotation"))
    failed = [_n(states[UnitState.FAILED], noun) for states, noun in counts if states.get(UnitState.FAILED)]
    if not failed:
        return ""
    return f"Failed: {' and '.join(failed)}. Try again:  theodolite run {path} --retry-failed"


def nothing_text(standing: Standing, evidence: Evidence, path: str) -> str:
    """Return what to say when no dialogue, or no annotation, succeeded; with what to do next in the study at a path."""
    if not standing.planned:
        words = "No program holds dialogues in this study, and people have held none yet: there is nothing to measure."
        return "\n".join([*_paragraph(words), f"  People come in by  theodolite serve {path}"])
    what = "annotation" if standing.dialogues else "dialogue"
    lines = _paragraph(f"No {what} succeeded, so there is nothing to measure: not a rate of 0, but no rate.")
    causes, unreadable = tuple(_causes(evidence.archive.failures())), tuple(_unreadable(evidence.archive.annotations()))
    lines += [line for cause in (*causes, *unreadable) for line in _paragraph(cause)]
    if causes:
        lines.append("  Put it right, then run again with  --retry-failed")
    elif unreadable:
        lines += [line for advice in _advice(evidence) for line in _paragraph(advice)]
    else:
        lines.append("  Go on with the same command.")
    return "\n".join(lines)


def _advice(evidence: Evidence) -> Iterator[str]:
    """Yield what to do about labels that cannot be read, once for each way in which they came."""
    known = {annotator.name: annotator.labelling for annotator in evidence.study.annotators}
    came = [known.get(name) for name in dict.fromkeys(one.annotator for one in evidence.archive.annotations())]
    recorded = [labelling for labelling in came if isinstance(labelling, RecordedLabels)]
    if recorded:
        columns = ", ".join(f"`{labelling.column}`" for labelling in recorded)
        yield f"  Say in `spelling` which label each value of {columns} means, then run again."
    if any(isinstance(labelling, HandLabels) for labelling in came):
        yield "  Ask the people for labels of the scale: export the answers, correct them and import them again."
    if len(recorded) < len(came) and not all(isinstance(one, RecordedLabels | HandLabels) for one in came):
        yield "  Change the judge's model or its wording, then run again: the dialogues are kept."


def _causes(failures: Iterable[Failure]) -> Iterator[str]:
    """Yield one line for each party, endpoint and kind of failure, the most frequent first."""
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
    """Yield one line for each annotator and each way of bringing no label, with what was really said."""
    raws: dict[tuple[str, Outcome], str] = {}
    counts: Counter[tuple[str, Outcome]] = Counter()
    for annotation in annotations:
        for answer in annotation.answers:
            counts[annotation.annotator, answer.outcome] += 1
            raws.setdefault((annotation.annotator, answer.outcome), answer.raw)
    for (annotator, outcome), n in counts.most_common():
        raw = raws[annotator, outcome]
        said = f'. It said: "{textwrap.shorten(raw, 200, placeholder=" ...")}"' if raw else ""
        yield f"  {n:,} x `{annotator}` {outcome.value}{said}"


def _paragraph(text: str) -> list[str]:
    """Return text in lines of a terminal; what follows an indented line stays under it."""
    indent = "    " if text.startswith(" ") else ""
    return textwrap.wrap(text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _n(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
