"""Validation of judges against people, and probes with injections."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from theodolite.assessment.annotating import AnnotationTask, annotate
from theodolite.assessment.judge.injecting import injected, other_side, trial
from theodolite.domain.annotation import Annotation, AnnotatorKind
from theodolite.domain.annotator import Annotator, ModelJudge, StopRule, Voting
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import InputError, RunStopped, did_you_mean
from theodolite.domain.estimate import Measurement, ValidationReport
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.agreement import InjectionAttempt, InjectionTrial
from theodolite.domain.flow import JournalEntry
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import digest, keyed_draw, version_of
from theodolite.domain.run import Failure, Spending, Unit, UnitKind
from theodolite.domain.study import Study
from theodolite.domain.text import cost_text
from theodolite.execution.clients import Clients, drive
from theodolite.measurement.study.judge_diagnostics import position_figures, stability_figures, votes_of
from theodolite.measurement.study.judge_validation import JudgeFindings, authorities_of, validate_judge
from theodolite.measurement.study.paired_labels import DEFECT, SOUND, strata_of
from theodolite.measurement.study.rates import turned_shares
from theodolite.usecases.running import below_half


def judges_named(study: Study, name: str) -> tuple[Annotator, ...]:
    """Return the judge of a name, or all models of a study, or all rules if it has no model.

    Raises:
        InputError: If there is no such judge, or none at all.
    """
    judges = [annotator for annotator in study.asked if annotator.kind is not AnnotatorKind.PERSON]
    names = [judge.name for judge in judges]
    if name and name not in names:
        known = did_you_mean(name, names) or f"; its judges: {', '.join(f'`{item}`' for item in names) or 'none'}"
        message = f"study `{study.name}` has no judge `{name}`{known}"
        raise InputError(message)
    if not judges:
        message = f"study `{study.name}` has no judge: nobody but people labels its dialogues"
        raise InputError(message)
    models = [judge for judge in judges if judge.kind is AnnotatorKind.MODEL] or judges
    return tuple(judge for judge in judges if judge.name == name) if name else tuple(models)


def has_judge(study: Study, guidelines: Collection[str] = ()) -> bool:
    """Return whether a study has a judge that labels can be compared with.

    Args:
        study: The study.
        guidelines: Names of the guidelines of the labels; empty for all of the study.
    """
    judges = (annotator for annotator in study.asked if annotator.kind is not AnnotatorKind.PERSON)
    return any(not guidelines or judge.guideline in guidelines for judge in judges)


def check_labelled(evidence: Evidence, judges: Iterable[Annotator], place: str = "STUDY") -> None:
    """Reject judges without any comparison.

    Args:
        evidence: Everything that the run holds.
        judges: The judges.
        place: The study's path as typed by the user.

    Raises:
        InputError: If no person labelled a dialogue that one of them labelled.
    """
    for judge in judges:
        if not authorities_of(evidence, judge.name):
            message = (
                f"no person has labelled a dialogue that `{judge.name}` has labelled, so its labels cannot be"
                f" compared with theirs. Draw some:  theodolite label {place} --sample 100"
            )
            raise InputError(message)


def validation_report_of(
    evidence: Evidence, judge: Annotator, issued: datetime, *, probes: Sequence[Measurement] = (), probed: bool = False
) -> ValidationReport:
    """Return all findings from labels and probes about a judge.

    Args:
        evidence: Everything that the run holds.
        judge: The judge.
        issued: Now; UTC.
        probes: Results of attacks and repeated readings.
        probed: Whether there were any.

    Raises:
        InputError: If no person labelled a dialogue that the judge labelled.
    """
    study = evidence.study
    check_labelled(evidence, [judge])
    result = validate_judge(evidence, judge.name)
    guideline = study.guideline(judge.guideline)
    return ValidationReport(
        study=study.name,
        run=evidence.run.number,
        judge=judge.name,
        judge_version=study.annotator_version(judge.name),
        guideline=guideline.name,
        guideline_version=version_of(guideline),
        issued=issued,
        judged=result.judged,
        labelled=result.labelled,
        authorities=result.authorities,
        measurements=(*result.measurements, *probes),
        confusions=result.confusions,
        lacking=tuple(_lacking(judge, result, probed=probed)),
    )


def _lacking(judge: Annotator, result: JudgeFindings, *, probed: bool) -> list[str]:
    """Return the limitations of this validation report, and why."""
    texts = []
    if not any(measurement.subject.is_human_ceiling for measurement in result.measurements):
        texts.append("How far people agree with each other is unknown: no two people have labelled the same dialogue.")
    if not isinstance(judge.labelling, ModelJudge):
        texts.append("Attacks and repeated readings were not tried: no model of this study gives these labels.")
    elif not probed:
        texts.append("Attacks and repeated readings were left out, so nobody knows what text can make of this judge.")
    return texts


TWICE = Voting(rule=StopRule.FIXED, most=2)
"""Two readings: one as the guideline is written, one with the labels in reverse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbePlan:
    """Dialogues that a judge reads again.

    Attributes:
        judge: The judge.
        dialogues: The dialogues; drawn from alarms and from the rest alike.
        before: Key of the dialogue to the judge's annotation in the run.
        attempts: The injections that are tried on each of them.
    """

    judge: Annotator
    dialogues: tuple[Dialogue, ...]
    before: Mapping[str, Annotation]
    attempts: tuple[InjectionAttempt, ...]

    @property
    def calls(self) -> int:
        """Calls at most, one for each reading and without those that must be asked again; count."""
        labelling = self.judge.labelling
        most = labelling.voting.most if isinstance(labelling, ModelJudge) else 1
        return len(self.dialogues) * (len(self.attempts) * most + TWICE.most)


def probe_plan(evidence: Evidence, judge: Annotator, attempts: Sequence[InjectionAttempt], n: int) -> ProbePlan:
    """Return which dialogues a judge is to read again.

    Args:
        evidence: Everything that the run holds.
        judge: The judge; a model.
        attempts: The injections.
        n: Dialogues wanted; count.
    """
    strata = strata_of(evidence, evidence.study.guideline(judge.guideline), judge.name)
    alarms, rest = (_drawn(evidence, strata, verdict) for verdict in (DEFECT, SOUND))
    chosen = alarms[: n // 2]
    chosen += rest[: n - len(chosen)]
    dialogues = tuple(evidence.archive.dialogues(sorted(chosen)))
    text = (
        annotation for annotation in evidence.archive.annotations(sorted(chosen)) if annotation.annotator == judge.name
    )
    return ProbePlan(
        judge=judge,
        dialogues=dialogues,
        before={annotation.dialogue: annotation for annotation in text},
        attempts=tuple(attempts),
    )


def probes_text(plans: Sequence[ProbePlan], spent: Spending) -> str:
    """Return the estimate of probing, before paid calls: calls, and their cost by that of the run's calls."""
    calls = sum(plan.calls for plan in plans)
    n, attempts = sum(len(plan.dialogues) for plan in plans), max(len(plan.attempts) for plan in plans)
    cost = f", about {cost_text(calls * spent.cost_microusd / spent.calls)}" if spent.cost_microusd else ""
    text = f"Probing: {n} dialogues read again, each with {attempts} attacks and twice without"
    return f"{text}: {calls} calls at most{cost}; --no-attacks leaves them out"


def _drawn(evidence: Evidence, strata: Mapping[int, str], verdict: str) -> list[int]:
    """Return the places of dialogues with one verdict that may be read again, in an order drawn once for the study."""
    seed, label = evidence.study.sampling.seed, evidence.sessions.label
    positions = (
        position for position, name in strata.items() if name.endswith(f": {verdict}") and _is_open(evidence, position)
    )
    return sorted(positions, key=lambda position: keyed_draw(seed, "probe", label(position)))


def _is_open(evidence: Evidence, position: int) -> bool:
    held = evidence.answers.dialogues[position]
    return held is not None and not held.withheld


class NoJournal:
    """Stores nothing: a probe is no work of a run and cannot be resumed."""

    async def append(self, unit: str, entry: JournalEntry) -> None:
        """Release a reply."""

    def entries(self, unit: str) -> list[JournalEntry]:  # noqa: ARG002  # the port names it
        """Return nothing, since nothing is kept."""
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Prober:
    """Lets a judge read dialogues again.

    Attributes:
        study: Names guideline and model.
        clients: Clients of the models.
        parallel: Readings at a time at most; count.
    """

    study: Study
    clients: Clients
    parallel: int = 8

    async def probe(self, plan: ProbePlan) -> tuple[Measurement, ...]:
        """Return the verdicts that attacks changed, and how often a second reading differs from the first.

        Raises:
            RunStopped: If the budget is reached or the endpoint no longer answers.
        """
        slots = asyncio.Semaphore(self.parallel)
        guideline = self.study.guideline(plan.judge.guideline)
        try:
            async with asyncio.TaskGroup() as tasks:
                trials = [
                    tasks.create_task(self._tried(slots, plan, dialogue, attempt, guideline))
                    for dialogue in plan.dialogues
                    for attempt in plan.attempts
                ]
                twice = [tasks.create_task(self._read_twice(slots, plan, dialogue)) for dialogue in plan.dialogues]
        except BaseExceptionGroup as group:
            if stopped := group.subgroup(RunStopped):
                raise RunStopped(self.clients.stop_conditions.reason or str(stopped.exceptions[0])) from group
            raise
        tried = [result for task in trials if (result := task.result()) is not None]
        votes = [votes_of(read, guideline.question.name) for task in twice if (read := task.result()) is not None]
        pairs = [(unit[0], unit[1]) for unit in votes if len(unit) == TWICE.most]
        name = plan.judge.name
        return (
            *turned_shares(tried, judge=name, guideline=guideline.name),
            *stability_figures(votes, name, guideline, repetition="2, labels reversed in the second"),
            *position_figures(pairs, name, guideline),
        )

    async def _tried(
        self,
        slots: asyncio.Semaphore,
        plan: ProbePlan,
        dialogue: Dialogue,
        attempt: InjectionAttempt,
        guideline: Guideline,
    ) -> InjectionTrial | None:
        before = plan.before.get(dialogue.key)
        label = other_side(guideline, before) if before else None
        copy = injected(dialogue, attempt, guideline, label) if label else None
        if before is None or copy is None:
            return None
        after = await self._asked(slots, plan.judge, copy, f"attack {attempt.name}")
        return trial(dialogue, attempt, guideline, (before, after))

    async def _read_twice(self, slots: asyncio.Semaphore, plan: ProbePlan, dialogue: Dialogue) -> Annotation | None:
        labelling = plan.judge.labelling
        if not isinstance(labelling, ModelJudge):
            return None
        again = replace(plan.judge, labelling=replace(labelling, voting=TWICE))
        return await self._asked(slots, again, dialogue, "again")

    async def _asked(
        self, slots: asyncio.Semaphore, judge: Annotator, dialogue: Dialogue, purpose: str
    ) -> Annotation | None:
        """Return a judge's annotation of a dialogue; None if its model failed."""
        guideline = self.study.guideline(judge.guideline)
        key = digest("probe", purpose, judge.name, dialogue.key)
        task = AnnotationTask(
            unit=key,
            annotator=judge,
            annotator_version=version_of(judge),
            guideline=guideline,
            guideline_version=version_of(guideline),
            dialogue=dialogue,
            rows=(),
            below_half=below_half,
        )
        unit = Unit(
            key=key,
            kind=UnitKind.ANNOTATION,
            work_key=key,
            position=0,
            label=dialogue.label,
            application=dialogue.application,
            subject=dialogue.key,
            annotator=judge.name,
        )
        async with slots:
            result = await drive(annotate(task), unit, (), clients=self.clients, journal=NoJournal())
        return None if isinstance(result, Failure) else result
