"""Certificates of judges: issued, kept with the judge's version, and read again."""

from __future__ import annotations

import asyncio

from theodolite.bootstrap.running import BeforeAsking
from theodolite.bootstrap.study_context import StudyContext
from theodolite.config.load_context import injection_attempts
from theodolite.domain.annotator import Annotator, ModelJudge
from theodolite.domain.estimate import Measurement, ValidationReport
from theodolite.domain.evidence import Evidence
from theodolite.domain.run import UnitKind
from theodolite.usecases.judge_validation import ProbePlan, Prober, probe_plan, validation_report_of
from theodolite.usecases.running import RunOptions


def probe_plans(evidence: Evidence, judges: tuple[Annotator, ...], n: int) -> tuple[ProbePlan, ...]:
    """Return what the models among some judges are to read again; nothing for `n` of 0."""
    models = [judge for judge in judges if isinstance(judge.labelling, ModelJudge)] if n else []
    plans = (probe_plan(evidence, judge, injection_attempts(), n) for judge in models)
    return tuple(plan for plan in plans if plan.dialogues)


def probe_judges(
    context: StudyContext, plans: tuple[ProbePlan, ...], *, before_asking: BeforeAsking
) -> dict[str, tuple[Measurement, ...]]:
    """Let judges read dialogues again, and return what was found by judge.

    Raises:
        RunStopped: If an endpoint cannot be used, or the budget is reached.
    """
    return asyncio.run(_probe(context, plans, before_asking)) if plans else {}


async def _probe(
    context: StudyContext, plans: tuple[ProbePlan, ...], before_asking: BeforeAsking
) -> dict[str, tuple[Measurement, ...]]:
    clients = context.connect()
    try:
        await before_asking(context, clients, RunOptions(kinds=frozenset({UnitKind.ANNOTATION})))
        prober = Prober(study=context.loaded.study, clients=clients)
        return {plan.judge.name: await prober.probe(plan) for plan in plans}
    finally:
        await clients.close()


def issue_validation_report(
    context: StudyContext, evidence: Evidence, judge: Annotator, probes: tuple[Measurement, ...] = ()
) -> ValidationReport:
    """Issue the validation report of a judge and file it under the judge's version.

    Raises:
        InputError: If nobody has labelled what the judge has labelled.
    """
    validation_report = validation_report_of(evidence, judge, context.clock.now(), probes=probes, probed=bool(probes))
    context.store.file(validation_report.judge_version, validation_report)
    return validation_report
