"""Order metrics, testers and the next step as lines of a summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.coding import CodedState
from theodolite.domain.estimate import Estimate, Findings, Undefined
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.number import TaskTally
from theodolite.domain.findings.order import OrderMetrics, RankingAgreement, RankingFinding, ScoreSubject
from theodolite.domain.run import RunState
from theodolite.domain.study import Study
from theodolite.domain.undefined_reasons import UNDEFINED, reason_text
from theodolite.reporting.facts import RunFacts
from theodolite.reporting.queries.agreements import agreements_of, is_checked, judges_of, validation_of_judge
from theodolite.reporting.queries.cases import scripted_names, title_of
from theodolite.reporting.queries.dispositions import Account, accounts_to_tell
from theodolite.reporting.queries.rates import Rate, rates_of
from theodolite.reporting.words import figures
from theodolite.reporting.words import order_metrics as words
from theodolite.reporting.words.descriptions import cluster_words

SHOWN: Final = 4

"""Maximum number of sequences, and of rankings, in a summary; further ones are counted and are in the report. Count."""


def order_lines(study: Study, metrics: OrderMetrics) -> Iterator[tuple[str, str]]:
    """Yield labelled lines on the order of scores and on rankings; a pointer if there are many."""
    defined = [sequence for sequence in metrics.sequences if not isinstance(sequence.profile, Undefined)]
    texts = [
        f"{_about(finding.subject)} by {title_of(study, finding.annotator)}:"
        f" mean {finding.level:.2f}, {words.profile_text(finding.profile)}"
        for finding in defined
    ]
    texts = texts if len(texts) <= SHOWN else [_pointer(len(texts))]
    texts += _undefined(metrics)
    yield from zip(["Order", *[""] * len(texts)], texts, strict=False)
    yield from zip(["Rankings", *[""] * len(metrics.rankings)], _rankings(study, metrics.rankings), strict=False)


def _rankings(study: Study, rankings: Sequence[RankingFinding]) -> list[str]:
    """Return human and model rankings together, and the reasons why there are none."""
    ranked = [ranking for ranking in rankings if isinstance(ranking.ranking, RankingAgreement)]
    texts = [
        f"{_about(one.subject)}: {title_of(study, one.annotator)} in the order of {_human(study, one.human)}:"
        f" {words.ranking_text(one.ranking, 'dialogue')}"
        for one in ranked
    ]
    if len(texts) > SHOWN:
        texts = [f"{figures.count(len(texts))} human and model rankings are compared in the report"]
    reasons = [ranking.ranking for ranking in rankings if isinstance(ranking.ranking, Undefined)]
    alike = Counter(reason_text(reason.reason) for reason in reasons)
    return [*texts, *(f"{UNDEFINED} for {figures.number_of(n, 'ranking')}: {text}" for text, n in alike.items())]


def _human(study: Study, name: str) -> str:
    return "people (mean)" if name == "people" else title_of(study, name)


def _about(subject: ScoreSubject) -> str:
    parts = (subject.guideline, subject.application, subject.level, subject.tester_type)
    return ", ".join(part for part in parts if part)


def _pointer(n: int) -> str:
    return f"PEN, CIN, LIS and LNDS of {figures.count(n)} sequences of scores are in the report"


def _undefined(metrics: OrderMetrics) -> list[str]:
    """Return why sequences have no metrics, once for each reason."""
    reasons = [sequence.profile for sequence in metrics.sequences if isinstance(sequence.profile, Undefined)]
    texts = dict.fromkeys(reason_text(reason.reason) for reason in reasons)
    if len(reasons) > SHOWN:
        return [f"{UNDEFINED} for {figures.count(len(reasons))} sequences: fewer scores than order metrics need"]
    return [f"{UNDEFINED}: {text}" for text in texts]


def testers_text(findings: Findings) -> str:
    """Return testers' answers; empty without any answer or statement on a task."""
    parts = [
        f"{figures.number_of(response.n, 'response')} of {figures.number_of(response.n_people, 'tester')}"
        f" in {response.level.value}"
        for response in findings.responses
        if response.n
    ]
    parts += [_task(level, tallies) for level, tallies in _by_level(findings).items()]
    uncoded = sum(
        coding.states.get(state, 0) for coding in findings.codings for state in (CodedState.UNCODED, CodedState.ONCE)
    )
    parts += [f"{figures.number_of(uncoded, 'answer')} in own words not coded by two yet"] if uncoded else []
    pending = sum(len(risk.pending) for risk in findings.risks)
    parts += (
        [f"{figures.number_of(pending, 'session')} to be reviewed with dialogue and answers together"]
        if pending
        else []
    )
    return "; ".join(parts)


def _by_level(findings: Findings) -> dict[str, list[TaskTally]]:
    result: dict[str, list[TaskTally]] = {}
    for task in findings.tasks:
        result.setdefault(task.level.value, []).append(task)
    return result


def _task(level: str, tallies: Sequence[TaskTally]) -> str:
    done = [(tally.application, tally.done) for tally in tallies if isinstance(tally.done, Estimate)]
    rates_text = ", ".join(f"{name} {figures.share(rate.count or 0, rate.n)}" for name, rate in done)
    return f"task done by own account in {level}: {rates_text or 'nobody said'}"


_MANY_UNMEASURED = 0.1

_SAMPLE = 40


def next_step(evidence: Evidence, findings: Findings, facts: RunFacts, accounts: Sequence[Account]) -> str:
    """Return the next step as text; empty if nothing is more urgent than reading the report."""
    if evidence.run.state is RunState.UNFINISHED:
        return f"go on where this run stopped:  {facts.command}"
    return (
        _unscripted(evidence)
        or _labelled(evidence, accounts, facts)
        or _mended(accounts)
        or _validated_judge(evidence, findings, facts)
        or _validated(evidence, facts)
        or _own_rows(evidence)
        or _more_testers(evidence, findings)
    )


def _unscripted(evidence: Evidence) -> str:
    names = scripted_names(evidence)
    if not names:
        return ""
    return f"replace the script with a model ({', '.join(names)}): nothing is measured so far."


def _labelled(evidence: Evidence, accounts: Sequence[Account], facts: RunFacts) -> str:
    """Return the request for labels, if no guideline has any."""
    if not evidence.answers.n_completed or not accounts or any(account.annotators for account in accounts):
        return ""
    command = f"   {facts.label_command}" if facts.label_command else ""
    return f"let a judge or people label: nobody has yet, so nothing is measured.{command}"


def _mended(accounts: Sequence[Account]) -> str:
    shown_accounts = accounts_to_tell(accounts)
    worst = max(shown_accounts, key=_n_unlabelled, default=None)
    if worst is None or _n_unlabelled(worst) <= _MANY_UNMEASURED * worst.planned:
        return ""
    part = max((part for part in worst.unmeasured if not part.is_by_some), key=lambda part: part.n)
    unmeasured = f"{figures.count(_n_unlabelled(worst))} of {figures.count(worst.planned)}"
    return f"find out why {unmeasured} lack labels; most often: {part.words} ({figures.count(part.n)})."


def _n_unlabelled(account: Account) -> int:
    """Return the dialogues without any label; people who divide the dialogues among themselves each label a part."""
    return account.planned - account.labelled.n - account.n_by_some


def _own_rows(evidence: Evidence) -> str:
    examples = [group.name for group in evidence.study.personas if group.example]
    return f"replace the example rows of {', '.join(examples)} by your own users." if examples else ""


def _validated_judge(evidence: Evidence, findings: Findings, facts: RunFacts) -> str:
    study, agreements = evidence.study, agreements_of(findings)
    for guideline in study.guidelines:
        for judge in judges_of(study, guideline.name):
            if judge.kind is AnnotatorKind.MODEL and not is_checked(evidence, agreements, guideline, judge.name):
                sample = min(_SAMPLE, evidence.answers.n_completed)
                command = f"   {facts.label_command} --sample {sample}" if facts.label_command else ""
                dialogues = figures.number_of(sample, "dialogue")
                minutes = max(1, round(sample / 2))
                unvalidated = "the judge is not validated against human labels"
                return f"label {dialogues} (about {minutes} min): {unvalidated}.{command}"
    return ""


def _validated(evidence: Evidence, facts: RunFacts) -> str:
    """Return the command that validates a judge on dialogues with people's labels."""
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
