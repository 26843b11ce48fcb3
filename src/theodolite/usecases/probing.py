"""Probing: a judge reads dialogues again, attacked and in another order, and what it says then is compared."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from theodolite.assessment.annotating import AnnotationTask, annotate
from theodolite.assessment.judge.injecting import injected, other_side, trial
from theodolite.domain.annotation import Annotation
from theodolite.domain.annotator import Annotator, ModelJudge, StopRule, Voting
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import RunStopped
from theodolite.domain.estimate import Measurement
from theodolite.domain.evidence import Evidence
from theodolite.domain.failure import Failure
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import digest, keyed_draw, version_of
from theodolite.domain.injection import InjectionAttempt, InjectionTrial
from theodolite.domain.money import cost_text
from theodolite.domain.replay import JournalEntry
from theodolite.domain.run import Spending, Unit, UnitKind
from theodolite.domain.study import Study
from theodolite.execution.clients import Clients, drive
from theodolite.measurement.study.judge_diagnostics import position_figures, stability_figures, votes_of
from theodolite.measurement.study.paired_labels import DEFECT, SOUND, strata_of
from theodolite.measurement.study.rates import turned_shares
from theodolite.usecases.numbers import below_half

TWICE = Voting(rule=StopRule.FIXED, most=2)
"""Two readings: one as the guideline is written, one with the labels in reverse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbePlan:
    """What a judge is to read again.

    Attributes:
        judge: The judge.
        dialogues: What was said; drawn from alarms and from the rest alike.
        before: Key of the dialogue to what the judge said of it in the run.
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
    said = (one for one in evidence.archive.annotations(sorted(chosen)) if one.annotator == judge.name)
    return ProbePlan(
        judge=judge,
        dialogues=dialogues,
        before={one.dialogue: one for one in said},
        attempts=tuple(attempts),
    )


def probes_text(plans: Sequence[ProbePlan], spent: Spending) -> str:
    """Return what probing will take, before it is paid: calls, and their cost by what the run's calls cost."""
    calls = sum(plan.calls for plan in plans)
    n, attempts = sum(len(plan.dialogues) for plan in plans), max(len(plan.attempts) for plan in plans)
    cost = f", about {cost_text(calls * spent.cost_microusd / spent.calls)}" if spent.cost_microusd else ""
    words = f"Probing: {n} dialogues read again, each with {attempts} attacks and twice without"
    return f"{words}: {calls} calls at most{cost}; --no-attacks leaves them out"


def _drawn(evidence: Evidence, strata: Mapping[int, str], verdict: str) -> list[int]:
    """Return the places of dialogues with one verdict that may be read again, in an order drawn once for the study."""
    seed, label = evidence.study.sampling.seed, evidence.sessions.label
    places = (place for place, name in strata.items() if name.endswith(f": {verdict}") and _is_open(evidence, place))
    return sorted(places, key=lambda place: keyed_draw(seed, "probe", label(place)))


def _is_open(evidence: Evidence, place: int) -> bool:
    held = evidence.answers.dialogues[place]
    return held is not None and not held.withheld


class NoJournal:
    """Keeps nothing: a probe is no work of a run and is not gone on with."""

    async def append(self, unit: str, entry: JournalEntry) -> None:
        """Let a reply go."""

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
        """Return what attacks turned, and how often a second reading differs from the first.

        Raises:
            RunStopped: If the budget is reached or nobody answers any more.
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
        tried = [found for task in trials if (found := task.result()) is not None]
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
        """Return what a judge says of a dialogue; None where its model brought nothing."""
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
            found = await drive(annotate(task), unit, (), clients=self.clients, journal=NoJournal())
        return None if isinstance(found, Failure) else found
