"""Validation of judges against people, probes with injections, and trials before a guideline is saved."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, islice

from theodolite.assessment.annotating import AnnotationTask, annotate
from theodolite.assessment.judge.injecting import injected, other_side, trial
from theodolite.domain.annotation import Annotation, AnnotatorKind, Outcome
from theodolite.domain.annotator import Annotator, ModelJudge, StopRule, Voting
from theodolite.domain.dialogue import Dialogue, Ending, Level, TesterType, Turn
from theodolite.domain.errors import InputError, RunStopped, did_you_mean
from theodolite.domain.estimate import Measurement, ValidationReport
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.agreement import InjectionAttempt, InjectionTrial
from theodolite.domain.flow import JournalEntry, Reply, Waiting, begin
from theodolite.domain.guideline import Example, Guideline
from theodolite.domain.identity import digest, keyed_draw, version_of
from theodolite.domain.live import RecordedDialogue
from theodolite.domain.run import Failure, Spending, Unit, UnitKind
from theodolite.domain.scenario import TestPacket
from theodolite.domain.study import Study
from theodolite.domain.text import cost_text
from theodolite.execution.clients import Clients, drive
from theodolite.execution.stop_conditions import CostEstimator
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
        evidence: The evidence of the run.
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
        evidence: The evidence of the run.
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
    """Dialogues that a judge annotates again.

    Attributes:
        judge: The judge.
        dialogues: The dialogues; drawn from alarms and from the rest alike.
        before: The judge's annotation in the run, by dialogue key.
        attempts: The injections that are tried on each of them.
    """

    judge: Annotator
    dialogues: tuple[Dialogue, ...]
    before: Mapping[str, Annotation]
    attempts: tuple[InjectionAttempt, ...]

    @property
    def calls(self) -> int:
        """Maximum number of calls, one for each reading, without retries of unreadable replies; count."""
        labelling = self.judge.labelling
        most = labelling.voting.most if isinstance(labelling, ModelJudge) else 1
        return len(self.dialogues) * (len(self.attempts) * most + TWICE.most)


def probe_plan(evidence: Evidence, judge: Annotator, attempts: Sequence[InjectionAttempt], n: int) -> ProbePlan:
    """Return the dialogues that a judge annotates again.

    Args:
        evidence: The evidence of the run.
        judge: The judge; a model.
        attempts: The injections.
        n: Number of dialogues; count.
    """
    strata = strata_of(evidence, evidence.study.guideline(judge.guideline), judge.name)
    alarms, rest = (_sampled(evidence, strata, verdict) for verdict in (DEFECT, SOUND))
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
    """Return the estimate of probing, before paid calls: calls, and their cost based on the run's calls."""
    calls = sum(plan.calls for plan in plans)
    n, attempts = sum(len(plan.dialogues) for plan in plans), max(len(plan.attempts) for plan in plans)
    cost = f", about {cost_text(calls * spent.cost_microusd / spent.calls)}" if spent.cost_microusd else ""
    text = f"Probing: {n} dialogues read again, each with {attempts} attacks and twice without"
    return f"{text}: {calls} calls at most{cost}; --no-attacks leaves them out"


def _sampled(evidence: Evidence, strata: Mapping[int, str], verdict: str) -> list[int]:
    """Return the positions of readable dialogues with one verdict, in a random order fixed for the study."""
    seed, label = evidence.study.sampling.seed, evidence.sessions.label
    positions = (
        position for position, name in strata.items() if name.endswith(f": {verdict}") and _is_open(evidence, position)
    )
    return sorted(positions, key=lambda position: keyed_draw(seed, "probe", label(position)))


def _is_open(evidence: Evidence, position: int) -> bool:
    dialogue = evidence.answers.dialogues[position]
    return dialogue is not None and not dialogue.withheld


class NoJournal:
    """Stores nothing: a probe is not part of a run and cannot be resumed."""

    async def append(self, unit: str, entry: JournalEntry) -> None:
        """Release a reply."""

    def entries(self, unit: str) -> list[JournalEntry]:  # noqa: ARG002  # the port names it
        """Return nothing, since nothing is stored."""
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Prober:
    """Runs a judge on dialogues again.

    Attributes:
        study: Names guideline and model.
        clients: Clients of the models.
        parallel: Maximum number of concurrent readings; count.
    """

    study: Study
    clients: Clients
    parallel: int = 8

    async def probe(self, plan: ProbePlan) -> tuple[Measurement, ...]:
        """Return the verdicts that attacks changed, and the frequency of different second readings.

        Raises:
            RunStopped: If the budget is reached or the endpoint no longer answers.
        """
        slots = asyncio.Semaphore(self.parallel)
        guideline = self.study.guideline(plan.judge.guideline)
        try:
            async with asyncio.TaskGroup() as tasks:
                trials = [
                    tasks.create_task(self._probe_result(slots, plan, dialogue, attempt, guideline))
                    for dialogue in plan.dialogues
                    for attempt in plan.attempts
                ]
                twice = [tasks.create_task(self._read_twice(slots, plan, dialogue)) for dialogue in plan.dialogues]
        except BaseExceptionGroup as group:
            if stopped := group.subgroup(RunStopped):
                raise RunStopped(self.clients.stop_conditions.reason or str(stopped.exceptions[0])) from group
            raise
        probes = [result for task in trials if (result := task.result()) is not None]
        votes = [votes_of(read, guideline.question.name) for task in twice if (read := task.result()) is not None]
        pairs = [(unit[0], unit[1]) for unit in votes if len(unit) == TWICE.most]
        name = plan.judge.name
        return (
            *turned_shares(probes, judge=name, guideline=guideline.name),
            *stability_figures(votes, name, guideline, repetition="2, labels reversed in the second"),
            *position_figures(pairs, name, guideline),
        )

    async def _probe_result(
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
        after = await self._request(slots, plan.judge, copy, f"attack {attempt.name}")
        return trial(dialogue, attempt, guideline, (before, after))

    async def _read_twice(self, slots: asyncio.Semaphore, plan: ProbePlan, dialogue: Dialogue) -> Annotation | None:
        labelling = plan.judge.labelling
        if not isinstance(labelling, ModelJudge):
            return None
        again = replace(plan.judge, labelling=replace(labelling, voting=TWICE))
        return await self._request(slots, again, dialogue, "again")

    async def _request(
        self, slots: asyncio.Semaphore, judge: Annotator, dialogue: Dialogue, purpose: str
    ) -> Annotation | None:
        """Return a judge's annotation of a dialogue; None if its model failed."""
        key = digest("probe", purpose, judge.name, dialogue.key)
        task, unit = _reading_of(self.study, judge, dialogue, key)
        async with slots:
            result = await drive(annotate(task), unit, (), clients=self.clients, journal=NoJournal())
        return None if isinstance(result, Failure) else result


def _reading_of(study: Study, judge: Annotator, dialogue: Dialogue, key: str) -> tuple[AnnotationTask, Unit]:
    """Return the task of a judge that reads a dialogue outside of a run, and its unit."""
    guideline = study.guideline(judge.guideline)
    packets = {scenario.name: scenario.packet for scenario in study.scenarios}
    task = AnnotationTask(
        unit=key,
        annotator=judge,
        annotator_version=version_of(judge),
        guideline=guideline,
        guideline_version=version_of(guideline),
        dialogue=dialogue,
        rows=(),
        below_half=below_half,
        packet=packets.get(dialogue.scenario, TestPacket()),
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
    return task, unit


@dataclass(slots=True)
class _RepliesInMemory:
    """Collects the replies of one reading for its page; nothing is stored."""

    replies: list[Reply] = field(default_factory=list)

    async def append(self, unit: str, entry: JournalEntry) -> None:  # noqa: ARG002  # the port names it
        """Add a reply."""
        self.replies.append(entry.reply)

    def entries(self, unit: str) -> list[JournalEntry]:  # noqa: ARG002  # the port names it
        """Return nothing: a trial is never resumed."""
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialReading:
    """A judge's reading of one dialogue in a trial.

    Attributes:
        dialogue: The dialogue.
        annotation: The answers; None if the judge failed.
        problem: Why the judge failed; empty if it did not.
        replies: Its replies in order.
    """

    dialogue: Dialogue
    annotation: Annotation | None
    problem: str = ""
    replies: tuple[str, ...] = ()

    @property
    def shows_replies(self) -> bool:
        """Whether the replies are needed to understand what went wrong."""
        return self.annotation is None or any(
            answer.outcome in {Outcome.UNPARSEABLE, Outcome.FAILED} for answer in self.annotation.answers
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTrial:
    """A judge that reads a few dialogues, so that a person sees the effect of a guideline before it is saved.

    Attributes:
        study: Names guideline, judge and model.
        judge: The judge; a model.
        dialogues: The dialogues.
    """

    study: Study
    judge: Annotator
    dialogues: tuple[Dialogue, ...]

    def _readings(self) -> Iterator[tuple[AnnotationTask, Unit]]:
        for dialogue in self.dialogues:
            yield _reading_of(self.study, self.judge, dialogue, digest("trial", self.judge.name, dialogue.key))

    def expected(self) -> Spending:
        """Return the maximum calls and cost, based on the prompts themselves and the longest replies."""
        labelling, estimator, result = self.judge.labelling, CostEstimator(self.study), Spending()
        most = labelling.voting.most if isinstance(labelling, ModelJudge) else 1
        for task, _ in self._readings():
            state = begin(annotate(task))
            if isinstance(state, Waiting):
                for _ in range(most):
                    result += estimator.expected(state.request)
        return result

    async def read(self, clients: Clients) -> tuple[TrialReading, ...]:
        """Run the judge on the dialogues; nothing is stored.

        Raises:
            RunStopped: If the budget of the study does not cover a call.
        """
        results = []
        for task, unit in self._readings():
            journal = _RepliesInMemory()
            result = await drive(annotate(task), unit, (), clients=clients, journal=journal)
            reading = TrialReading(
                dialogue=task.dialogue,
                annotation=None if isinstance(result, Failure) else result,
                problem=result.message if isinstance(result, Failure) else "",
                replies=tuple(reply.text for reply in journal.replies),
            )
            results.append(reading)
        return tuple(results)


TRIAL_DIALOGUES = 3
"""Maximum number of dialogues in a trial; count."""


def trial_dialogues(
    guideline: Guideline,
    *,
    stored: Iterable[Dialogue],
    recorded: Iterable[RecordedDialogue],
    turns_in: Callable[[str], Sequence[tuple[str, str]]],
) -> tuple[Dialogue, ...]:
    """Return the dialogues of a trial: stored ones first, then recorded ones, then examples of the guideline.

    Args:
        guideline: The guideline.
        stored: Dialogues of the study's run or event.
        recorded: Dialogues of its recorded applications.
        turns_in: Returns prompts and responses of the text of an example.
    """
    shown = (dialogue for dialogue in stored if dialogue.turns and not dialogue.withheld)
    files = (
        _recorded(recorded_dialogue)
        for recorded_dialogue in recorded
        if not any(turn.withheld for turn in recorded_dialogue.turns)
    )
    examples = (_example(number, one, turns_in(one.dialogue)) for number, one in enumerate(guideline.examples, start=1))
    return tuple(islice(chain(shown, files, examples), TRIAL_DIALOGUES))


def _recorded(recorded: RecordedDialogue) -> Dialogue:
    turns = [
        Turn(number=number, prompt=turn.prompt, response=turn.response, context=turn.context)
        for number, turn in enumerate(recorded.turns, start=1)
    ]
    return _dialogue(recorded.key, turns, application=recorded.application)


def _example(number: int, example: Example, pairs: Sequence[tuple[str, str]]) -> Dialogue:
    turns = [Turn(number=at, prompt=prompt, response=response) for at, (prompt, response) in enumerate(pairs, start=1)]
    return _dialogue(f"example {number}", turns, context=example.context)


def _dialogue(label: str, turns: Iterable[Turn], *, application: str = "", context: str = "") -> Dialogue:
    """Return a dialogue that belongs to no run."""
    return Dialogue(
        key=digest("trial", application, label),
        label=label,
        application=application,
        application_version="",
        scenario="",
        scenario_version="",
        level=Level.MODEL_TESTING,
        held_by=TesterType.RECORDED,
        pair_key="",
        cluster="",
        turns=tuple(turns),
        ending=Ending.SCRIPT_END,
        context=context,
    )
