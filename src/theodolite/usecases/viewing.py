"""Runs and dialogues as a person views them: progress, cost and time left of runs; lists of dialogues with labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from theodolite.domain.annotation import Outcome
from theodolite.domain.annotator import REFERENCE
from theodolite.domain.answer_rules import labels_of, unresolved_failures
from theodolite.domain.answers import AnswerTable, DialogueLabel
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Question
from theodolite.domain.run import RunState, UnitState
from theodolite.domain.status import Status
from theodolite.ports.store import Store
from theodolite.usecases.running import status_of


class RunActivity(StrEnum):
    """Activity of a run."""

    RUNNING = "running"
    SILENT = "running, no reply for a minute"
    STOPPED = "stopped"
    PARTIAL = "first dialogues done"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitProgress:
    """Progress of the dialogues or annotations of a run; counts.

    Attributes:
        done: Units with a result.
        failed: Units that failed.
        total: Units of the run so far.
    """

    done: int
    failed: int
    total: int

    @property
    def over(self) -> int:
        """Units with a result or a failure; count."""
        return self.done + self.failed

    @property
    def percent(self) -> int:
        """Share of units that are over, rounded down; 0 to 100."""
        return 100 * self.over // self.total if self.total else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """A run with its progress at one moment.

    Attributes:
        status: Counts, cost and pace.
        at: The moment; UTC.
    """

    status: Status
    at: datetime

    @property
    def number(self) -> int:
        """Number of the run among those of its study."""
        return self.status.run.number

    @property
    def activity(self) -> RunActivity:
        """Activity of the run."""
        if self.status.run.state is RunState.FINISHED:
            return RunActivity.FINISHED
        if not self.status.is_running:
            return RunActivity.STOPPED if self.status.open_units or not self.sessions.total else RunActivity.PARTIAL
        return RunActivity.RUNNING if self.status.is_moving else RunActivity.SILENT

    @property
    def is_active(self) -> bool:
        """Whether a process works on the run."""
        return self.activity in {RunActivity.RUNNING, RunActivity.SILENT}

    @property
    def sessions(self) -> UnitProgress:
        """Progress of the dialogues."""
        return _progress(self.status.sessions)

    @property
    def annotations(self) -> UnitProgress:
        """Progress of the annotations."""
        return _progress(self.status.annotations)

    @property
    def ends(self) -> datetime | None:
        """When the run ends at the present pace; UTC, None if unknown or not running."""
        left_s = self.status.left_s
        return None if left_s is None or not self.is_active else self.at + timedelta(seconds=left_s)


def _progress(states: Mapping[str, int]) -> UnitProgress:
    return UnitProgress(
        done=states.get(UnitState.DONE, 0), failed=states.get(UnitState.FAILED, 0), total=sum(states.values())
    )


def runs_of(store: Store, study: str, now: datetime) -> tuple[RunProgress, ...]:
    """Return the runs of a study, the latest first; nothing is written.

    Args:
        store: The database; it need not be started.
        study: Name of the study.
        now: The present moment; UTC.
    """
    runs = sorted(store.runs(study), key=lambda run: run.number, reverse=True)
    return tuple(RunProgress(status=status_of(store, study, now, run=run), at=now) for run in runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedLabel:
    """The label of one annotator as a list shows it.

    Attributes:
        annotator: Name of the annotator; `reference` for a final label.
        guideline: Name of the guideline.
        value: The label; empty without one.
        outcome: Outcome of the label.
        is_defect: Whether a defect rule of the guideline holds; None without a label, or without a rule.
    """

    annotator: str
    guideline: str
    value: str
    outcome: Outcome
    is_defect: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDialogue:
    """A planned dialogue as a list shows it.

    Attributes:
        position: Position in the plan, from 0.
        label: Label of the dialogue, e.g. `d003`.
        application: Name of the application.
        tester: Name of the persona, script or recorded row.
        turns: Turns; count, 0 if the dialogue is not complete.
        labels: Labels of all annotators.
        failed: Whether the session failed.
        n_failed: Annotators that failed; count.
    """

    position: int
    label: str
    application: str
    tester: str
    turns: int
    labels: tuple[ListedLabel, ...] = ()
    failed: bool = False
    n_failed: int = 0

    @property
    def has_defect(self) -> bool:
        """Whether any annotator found a defect."""
        return any(label.is_defect for label in self.labels)

    @property
    def is_disputed(self) -> bool:
        """Whether annotators of one guideline differ on the defect."""
        findings: dict[str, set[bool]] = {}
        for label in self.labels:
            if label.is_defect is not None and label.annotator != REFERENCE:
                findings.setdefault(label.guideline, set()).add(label.is_defect)
        return any(len(values) > 1 for values in findings.values())


class DialogueView(StrEnum):
    """Which dialogues a list shows."""

    ALL = "all"
    DEFECTS = "defects"
    DISAGREEMENTS = "disagreements"
    FAILED = "failed"
    UNLABELLED = "unlabelled"

    def admits(self, dialogue: RunDialogue) -> bool:
        """Return whether a dialogue belongs to the view."""
        match self:
            case DialogueView.ALL:
                return True
            case DialogueView.DEFECTS:
                return dialogue.has_defect
            case DialogueView.DISAGREEMENTS:
                return dialogue.is_disputed
            case DialogueView.FAILED:
                return dialogue.failed or dialogue.n_failed > 0
            case DialogueView.UNLABELLED:
                return not any(label.value for label in dialogue.labels)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDialogueFilter:
    """Filter of a list of dialogues.

    Attributes:
        view: Which dialogues.
        application: Name of an application; empty for all.
        text: Part of the label or of the tester's name; empty for all.
    """

    view: DialogueView = DialogueView.ALL
    application: str = ""
    text: str = ""

    def matching(self, dialogues: Sequence[RunDialogue]) -> list[RunDialogue]:
        """Return the dialogues that belong to the list, in order of the plan."""
        text = self.text.casefold()
        return [
            dialogue
            for dialogue in dialogues
            if self.view.admits(dialogue)
            and self.application in {"", dialogue.application}
            and (not text or text in dialogue.label.casefold() or text in dialogue.tester.casefold())
        ]


def listed_dialogues(evidence: Evidence) -> tuple[RunDialogue, ...]:
    """Return every planned dialogue of a run with its labels, in order of the plan; no text is read.

    Args:
        evidence: The evidence of the run.
    """
    table = evidence.answers
    labels: list[list[ListedLabel]] = [[] for _ in range(len(table))]
    for guideline, question, annotator in _labelled_questions(evidence):
        for position, label in enumerate(labels_of(table, annotator, guideline, question)):
            if table.dialogues[position] is not None and label.outcome is not Outcome.MISSING:
                groups = table.settings[position].groups
                labels[position].append(_listed(guideline, question, annotator, label, groups))
    return tuple(_dialogue(table, position, tuple(labels[position])) for position in range(len(table)))


def _labelled_questions(evidence: Evidence) -> Iterator[tuple[Guideline, Question, str]]:
    """Yield the questions that defect rules read, with each annotator who has answered them."""
    for guideline in evidence.study.guidelines:
        names = list(dict.fromkeys(rule.question for rule in guideline.defect_rules)) or [guideline.question.name]
        for name in names:
            for annotator, of, question in evidence.answers.answers:
                if (of, question) == (guideline.name, name):
                    yield guideline, guideline.instrument.question(name), annotator


def _listed(
    guideline: Guideline, question: Question, annotator: str, label: DialogueLabel, groups: Mapping[str, str]
) -> ListedLabel:
    rules = [rule for rule in guideline.defect_rules if rule.question == question.name and rule.applies_to(groups)]
    is_defect = None
    if label.value is not None and rules:
        is_defect = any(rule.is_defect(label.value, question.scale) for rule in rules)
    value = label.value or ""
    return ListedLabel(
        annotator=annotator, guideline=guideline.name, value=value, outcome=label.outcome, is_defect=is_defect
    )


def _dialogue(table: AnswerTable, position: int, labels: tuple[ListedLabel, ...]) -> RunDialogue:
    setting, summary = table.settings[position], table.dialogues[position]
    failures = unresolved_failures(table, position)
    return RunDialogue(
        position=position,
        label=table.sessions.label(position),
        application=setting.application,
        tester=setting.tester,
        turns=summary.turns if summary is not None else 0,
        labels=labels,
        failed=any(not failure.annotator for failure in failures),
        n_failed=sum(bool(failure.annotator) for failure in failures),
    )
