"""Runs and dialogues as a person views them: progress, cost and time left of runs; lists of dialogues with labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from theodolite.domain.annotation import Outcome
from theodolite.domain.answer_rules import labels_of, unresolved_failures
from theodolite.domain.answers import AnswerTable, DialogueLabel
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Question
from theodolite.domain.run import RunState, UnitState
from theodolite.domain.status import Status
from theodolite.ports.store import Store
from theodolite.reporting.queries.cases import rules_of
from theodolite.reporting.queries.dialogue_sets import changed, defects, disagreements, unparseable
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
        question: Name of the question.
        value: The label; empty without one.
        outcome: Outcome of the label.
        is_defect: Whether a defect rule of the guideline holds; None without a label, or without a rule.
    """

    annotator: str
    guideline: str
    question: str
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
        pair_key: Hash of the tester's side and the repeat; dialogues on the same prompts have the same.
        groups: Group to value, e.g. the kind of the prompt.
        has_defect: Whether the labels that decide the rates contain a defect.
        is_disputed: Whether two annotators gave different labels.
        is_unparseable: Whether an annotator's reply fits no label.
        is_changed: Whether applications differ on the defect on the same prompts.
    """

    position: int
    label: str
    application: str
    tester: str
    turns: int
    labels: tuple[ListedLabel, ...] = ()
    failed: bool = False
    n_failed: int = 0
    pair_key: str = ""
    groups: Mapping[str, str] = field(default_factory=dict)
    has_defect: bool = False
    is_disputed: bool = False
    is_unparseable: bool = False
    is_changed: bool = False

    def has_label(self, annotator: str, value: str, question: str = "") -> bool:
        """Return whether an annotator gave a label, or has this outcome instead, to a question or to any."""
        return any(
            label.annotator == annotator
            and value == (label.value or label.outcome)
            and question in {"", label.question}
            for label in self.labels
        )


class DialogueView(StrEnum):
    """Which dialogues a list shows."""

    ALL = "all"
    DEFECTS = "defects"
    DISAGREEMENTS = "disagreements"
    CHANGED = "changed"
    FAILED = "failed"
    UNPARSEABLE = "unparseable"
    UNLABELLED = "unlabelled"

    def admits(self, dialogue: RunDialogue) -> bool:
        """Return whether a dialogue belongs to the view."""
        members = {
            DialogueView.ALL: True,
            DialogueView.DEFECTS: dialogue.has_defect,
            DialogueView.DISAGREEMENTS: dialogue.is_disputed,
            DialogueView.CHANGED: dialogue.is_changed,
            DialogueView.FAILED: dialogue.failed or dialogue.n_failed > 0,
            DialogueView.UNPARSEABLE: dialogue.is_unparseable,
            DialogueView.UNLABELLED: not any(label.value for label in dialogue.labels),
        }
        return members[self]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDialogueFilter:
    """Filter of a list of dialogues.

    Attributes:
        view: Which dialogues.
        application: Name of an application; empty for all.
        text: Part of the label or of the tester's name; empty for all.
        given: Annotator and label pairs; only dialogues with all of them.
        question: Name of the question of these labels; empty for any.
        among: Labels of dialogues; only these dialogues, None for all.
    """

    view: DialogueView = DialogueView.ALL
    application: str = ""
    text: str = ""
    given: tuple[tuple[str, str], ...] = ()
    question: str = ""
    among: frozenset[str] | None = None

    def matching(self, dialogues: Sequence[RunDialogue]) -> list[RunDialogue]:
        """Return the dialogues that belong to the list, in order of the plan."""
        text = self.text.casefold()
        return [
            dialogue
            for dialogue in dialogues
            if self.view.admits(dialogue)
            and self.application in {"", dialogue.application}
            and (not text or text in dialogue.label.casefold() or text in dialogue.tester.casefold())
            and (self.among is None or dialogue.label in self.among)
            and all(dialogue.has_label(annotator, value, self.question) for annotator, value in self.given)
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
    sets = _sets_of(evidence)
    return tuple(_dialogue(table, position, tuple(labels[position]), sets) for position in range(len(table)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _DialogueSets:
    """Positions of the dialogues of each view, as the report counts them."""

    defects: frozenset[int]
    disagreements: frozenset[int]
    unparseable: frozenset[int]
    changed: frozenset[int]


def _sets_of(evidence: Evidence) -> _DialogueSets:
    by_rule = {
        (guideline.name, rule.name): defects(evidence, guideline, rule) for guideline, rule in rules_of(evidence.study)
    }
    return _DialogueSets(
        defects=frozenset().union(*by_rule.values()),
        disagreements=frozenset(disagreements(evidence)),
        unparseable=frozenset(unparseable(evidence)),
        changed=frozenset(changed(evidence, lambda guideline, rule: by_rule[guideline.name, rule.name])),
    )


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
        annotator=annotator,
        guideline=guideline.name,
        question=question.name,
        value=value,
        outcome=label.outcome,
        is_defect=is_defect,
    )


def _dialogue(table: AnswerTable, position: int, labels: tuple[ListedLabel, ...], sets: _DialogueSets) -> RunDialogue:
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
        pair_key=table.sessions.pair_key(position),
        groups=setting.groups,
        has_defect=position in sets.defects,
        is_disputed=position in sets.disagreements,
        is_unparseable=position in sets.unparseable,
        is_changed=position in sets.changed,
    )
