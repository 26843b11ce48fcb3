"""The one step that would improve the evidence most."""

from __future__ import annotations

from collections.abc import Sequence

from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.estimate import Findings
from theodolite.domain.evidence import Evidence
from theodolite.domain.run import RunState
from theodolite.reporting.facts import RunFacts
from theodolite.reporting.found.accounts import Account, accounts_to_tell
from theodolite.reporting.found.agreements import agreements_of, is_tried, judges_of
from theodolite.reporting.found.corrections import validation_of_judge
from theodolite.reporting.found.rates import Rate, rates_of
from theodolite.reporting.found.scripted import scripted_names
from theodolite.reporting.words import figures
from theodolite.reporting.words.clusters import cluster_words

_MANY_UNMEASURED = 0.1
_SAMPLE = 40


def next_step(evidence: Evidence, findings: Findings, facts: RunFacts, accounts: Sequence[Account]) -> str:
    """Return the step in words; empty where nothing is more pressing than reading."""
    if evidence.run.state is RunState.UNFINISHED:
        return f"go on where this run stopped:  {facts.command}"
    return (
        _unscripted(evidence)
        or _labelled(evidence, accounts, facts)
        or _mended(accounts)
        or _tried_judge(evidence, findings, facts)
        or _validated(evidence, facts)
        or _own_rows(evidence)
        or _more_testers(evidence, findings)
    )


def _unscripted(evidence: Evidence) -> str:
    names = scripted_names(evidence)
    if not names:
        return ""
    return f"put a model in the place of the script ({', '.join(names)}): so far nothing is measured."


def _labelled(evidence: Evidence, accounts: Sequence[Account], facts: RunFacts) -> str:
    """Return that labels are wanted, where nobody has given any by any guideline."""
    if not evidence.answers.n_completed or not accounts or any(account.annotators for account in accounts):
        return ""
    command = f"   {facts.label_command}" if facts.label_command else ""
    return f"let a judge or people label: nobody has yet, so nothing is measured.{command}"


def _mended(accounts: Sequence[Account]) -> str:
    told = accounts_to_tell(accounts)
    worst = max(told, key=lambda account: account.planned - account.labelled.n, default=None)
    if worst is None or worst.planned - worst.labelled.n <= _MANY_UNMEASURED * worst.planned:
        return ""
    part = max(worst.unmeasured, key=lambda part: part.n)
    unmeasured = f"{figures.count(worst.planned - worst.labelled.n)} of {figures.count(worst.planned)}"
    return f"find out why {unmeasured} lack labels; most often: {part.words} ({figures.count(part.n)})."


def _own_rows(evidence: Evidence) -> str:
    examples = [group.name for group in evidence.study.personas if group.example]
    return f"replace the example rows of {', '.join(examples)} by your own users." if examples else ""


def _tried_judge(evidence: Evidence, findings: Findings, facts: RunFacts) -> str:
    study, agreements = evidence.study, agreements_of(findings)
    for guideline in study.guidelines:
        for judge in judges_of(study, guideline.name):
            if judge.kind is AnnotatorKind.MODEL and not is_tried(study, agreements, guideline, judge.name):
                sample = min(_SAMPLE, evidence.answers.n_completed)
                command = f"   {facts.label_command} --sample {sample}" if facts.label_command else ""
                dialogues = figures.number_of(sample, "dialogue")
                minutes = max(1, round(sample / 2))
                unvalidated = "the judge is not validated against human labels"
                return f"label {dialogues} (about {minutes} min): {unvalidated}.{command}"
    return ""


def _validated(evidence: Evidence, facts: RunFacts) -> str:
    """Return the command that validates a judge whose dialogues people have labelled."""
    by_hand = {annotator.guideline for annotator in evidence.study.annotators if annotator.by_hand}
    for judge in evidence.study.asked:
        is_judge = judge.kind is AnnotatorKind.MODEL and judge.guideline in by_hand
        if is_judge and validation_of_judge(evidence, judge.name) is None and facts.validate_command:
            return (
                f"validate {judge.title or judge.name} against people's labels:   {facts.validate_command} {judge.name}"
            )
    return ""


def _more_testers(evidence: Evidence, findings: Findings) -> str:
    crowded = [rate for rate in rates_of(findings, evidence.study) if rate.group is None and _is_crowded(rate)]
    if not crowded:
        return ""
    k, rate = min(((rate.measurement.result.n_clusters or 0, rate) for rate in crowded), key=lambda found: found[0])
    _, testers = cluster_words(evidence.answers.settings, rate.measurement.subject)
    return f"add {testers} rather than repeats: {k} of them carry all this evidence."


def _is_crowded(rate: Rate) -> bool:
    estimate = rate.estimate
    return estimate is not None and estimate.n_clusters is not None and estimate.n_clusters * 3 <= estimate.n
