"""The results file: all numbers of a run as strict JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

from theodolite.domain.annotating.label_sample import LabelSample
from theodolite.domain.annotation import Outcome
from theodolite.domain.dialogue import TesterType
from theodolite.domain.estimate import Findings
from theodolite.domain.event import Series
from theodolite.domain.evidence import Evidence
from theodolite.domain.identity import Json, version_of
from theodolite.domain.network import NetworkUse
from theodolite.domain.run import Failure, FailureSource
from theodolite.domain.study import Study, deviations_of
from theodolite.domain.study_parts import ContaminationCheck, StatedCriteria
from theodolite.reporting.facts import RunFacts
from theodolite.reporting.queries.agreements import validation_of_judge
from theodolite.reporting.queries.cases import cases_of, scripted_names
from theodolite.reporting.queries.dispositions import Account, ApplicationAccount, accounts_of, application_accounts
from theodolite.reporting.queries.gates import gate_facts, gate_results
from theodolite.reporting.results.annotators import (
    annotator_groups_entry,
    diagnostics_entry,
    order_effect_entry,
    order_metrics_entry,
    raters_entry,
    validation_report_entry,
)
from theodolite.reporting.results.estimates import (
    comparison_entry,
    confusion_entry,
    estimate_entry,
    gap_entry,
    plugin_measure_entry,
    typology_entry,
)
from theodolite.reporting.results.gates import gates_entry
from theodolite.reporting.results.testers import (
    claim_entry,
    coding_entry,
    construct_entry,
    event_entry,
    proxy_entry,
    realism_entry,
    response_entry,
    risk_entry,
    strategy_entry,
    task_entry,
    taxonomy_entry,
)
from theodolite.reporting.results.trees import tree_entries

SCHEMA_VERSION = "2.0"
"""Version of the results file format; the first number changes when readers break."""


PAIR_DIGITS = 16


"""Written digits of a pair key; 64 bits suffice for any number of dialogues."""


def results_document(evidence: Evidence, findings: Findings, facts: RunFacts) -> dict[str, Json]:
    """Return the results of a run as a JSON document.

    Its schema is published in `resources/schemas/results.schema.json`. Nothing in
    it is NaN or infinite: undefined values are null with a reason.
    """
    return {name: collected(part) for name, part in _document(evidence, findings, facts).items()}


def results_pieces(evidence: Evidence, findings: Findings, facts: RunFacts) -> Iterator[str]:
    """Yield the file as text, piece by piece, so that no list of a run is ever complete in memory."""
    yield from json_pieces(_document(evidence, findings, facts))
    yield "\n"


def _document(evidence: Evidence, findings: Findings, facts: RunFacts) -> dict[str, Flowing]:
    study, cases = evidence.study, cases_of(evidence.answers)
    return {
        "schema_version": SCHEMA_VERSION,
        **_run_entries(evidence, facts),
        "series": series_entry(study),
        "package": {"name": "theodolite", "version": facts.package_version},
        "generated": _moment(facts.generated),
        "hosts": list(facts.hosts),
        "network": [network_entry(use) for use in facts.network],
        "stubbed": list(scripted_names(evidence)),
        "spending": _spending(evidence),
        "dispositions": [_account(account) for account in accounts_of(study, cases)],
        "applications": [_application(account, findings) for account in application_accounts(study, cases)],
        "estimates": (estimate_entry(measurement) for measurement in findings.measurements),
        "sessions": (_session(evidence, position) for position in range(len(evidence.answers))),
        **_comparisons(findings),
        "simulated_users": _simulated_users(evidence, findings),
        "realism": [realism_entry(realism) for realism in findings.realisms],
        "judge_diagnostics": [diagnostics_entry(diagnostics) for diagnostics in findings.judge_diagnostics],
        "risks": [risk_entry(finding) for finding in findings.risks],
        "taxonomies": [taxonomy_entry(risk) for risk in study.risks if risk.classes],
        **_answers_of_testers(findings),
        "proxies": [proxy_entry(check) for check in findings.proxies],
        "event": event_entry(findings.event),
        "annotator_groups": [annotator_groups_entry(result) for result in findings.annotator_groups],
        "annotator_models": [raters_entry(result) for result in findings.raters],
        "order_effects": [order_effect_entry(effect) for effect in findings.orders],
        "order_metrics": order_metrics_entry(findings.order_metrics),
        "strategies": [strategy_entry(tally) for tally in findings.strategies],
        "trees": tree_entries(findings.trees, findings.standings),
        "gates": _gates(evidence, findings, facts),
        "failures": (_failure(failure) for failure in evidence.archive.failures()),
        "judge_validations": [validation_report_entry(report) for report in evidence.validation_reports],
        "plugin_measures": [plugin_measure_entry(measure) for measure in findings.plugin_measures],
        "contamination": [_contamination(check) for check in findings.contamination],
        "criteria": criteria_entries(evidence.criteria),
        "label_samples": [_label_sample(sample) for sample in evidence.samples],
        "instruments": _instruments(evidence),
    }


def _comparisons(findings: Findings) -> dict[str, Flowing]:
    return {
        "comparisons": [comparison_entry(comparison) for comparison in findings.comparisons],
        "gaps": [gap_entry(gap) for gap in findings.gaps],
        "typology": [typology_entry(rate) for rate in findings.typology],
        "confusions": [confusion_entry(confusion) for confusion in findings.confusions],
    }


def _answers_of_testers(findings: Findings) -> dict[str, Flowing]:
    return {
        "responses": [response_entry(finding) for finding in findings.responses],
        "constructs": [construct_entry(answers) for answers in findings.constructs],
        "codings": [coding_entry(result) for result in findings.codings],
        "tasks": [task_entry(tally) for tally in findings.tasks],
    }


def _run_entries(evidence: Evidence, facts: RunFacts) -> dict[str, Flowing]:
    study = evidence.study
    version = evidence.run.study_version
    return {
        "study": {"name": study.name, "title": study.title, "about": study.about, "version": version},
        "run": _run(evidence, facts),
    }


def _gates(evidence: Evidence, findings: Findings, facts: RunFacts) -> Json:
    """Return the gates of the study on the rates of the run; null if it has none."""
    if not evidence.study.gates:
        return None
    return gates_entry(gate_results(evidence.study, findings, gate_facts(evidence, facts.generated)))


def _session(evidence: Evidence, place: int) -> dict[str, Json]:
    """Return the keys that pair a dialogue with those of other applications and runs, and the key of its cluster."""
    sessions, setting = evidence.answers.sessions, evidence.answers.settings[place]
    return {
        "dialogue": sessions.label(place),
        "application": setting.application,
        "pair": sessions.pair_key(place)[:PAIR_DIGITS],
        "cluster": setting.cluster,
    }


def _moment(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment is not None else None


def _run(evidence: Evidence, facts: RunFacts) -> dict[str, Json]:
    run = evidence.run
    return {
        "key": run.key,
        "number": run.number,
        "state": run.state.value,
        "started": _moment(run.started),
        "finished": _moment(run.finished),
        "plan_version": run.plan_version,
        "seed": evidence.study.sampling.seed,
        "planned_dialogues": len(evidence.sessions),
        "completed_dialogues": evidence.answers.n_completed,
        "command": facts.command,
    }


def _spending(evidence: Evidence) -> dict[str, Json]:
    spent = evidence.spending
    return {
        "calls": spent.calls,
        "attempts": spent.attempts,
        "tokens_in": spent.tokens_in,
        "tokens_out": spent.tokens_out,
        "cost_microusd": spent.cost_microusd,
        "unpriced_calls": spent.unpriced_calls,
    }


def _account(account: Account) -> dict[str, Json]:
    return {
        "guideline": account.guideline,
        "annotators": list(account.annotators),
        "planned": account.planned,
        "labelled": account.labelled.n,
        "failed": [
            {"party": part.party.value if part.party else None, "what": part.words, "n": part.n}
            for part in account.unmeasured
            if part.outcome is Outcome.FAILED
        ],
        "unparseable": account.n(Outcome.UNPARSEABLE),
        "refused": account.n(Outcome.REFUSED),
        "not_applicable": account.n(Outcome.NOT_APPLICABLE),
        "missing": account.n(Outcome.MISSING),
        "labelled_by_some": account.n_by_some,
    }


def _application(account: ApplicationAccount, findings: Findings) -> dict[str, Json]:
    application = account.application
    return {
        "name": application.name,
        "guardrails": application.guardrails.value,
        "mitigations": [mitigation.name for mitigation in application.mitigations],
        "variant_of": application.variant_of or None,
        "planned": account.planned,
        "completed": len(account.held),
        "filtered": len(account.filtered),
        "filtered_replies": account.filtered_replies,
        "failed": [{"what": kind.value, "n": len(cases)} for kind, cases in account.failed],
        "failed_by_others": len(account.failed_otherwise),
        "open": account.n_open,
        "claims": [claim_entry(test) for test in findings.claims if test.application == application.name],
    }


def _label_sample(sample: LabelSample) -> dict[str, Json]:
    return {
        "guideline": sample.guideline,
        "guideline_version": sample.guideline_version,
        "judge": sample.judge or None,
        "judge_version": sample.judge_version or None,
        "seed": sample.seed,
        "withheld": sample.withheld,
        "strata": [
            {
                "name": stratum.name,
                "dialogues": stratum.n_dialogues,
                "drawn": stratum.n_drawn,
                "inclusion": stratum.inclusion,
            }
            for stratum in sample.strata
        ],
    }


def _simulated_users(evidence: Evidence, findings: Findings) -> dict[str, Flowing]:
    table = evidence.answers
    completed = zip(table.settings, table.dialogues, strict=True)
    return {
        "dialogues": sum(
            setting.held_by is TesterType.SIMULATED_USER and dialogue is not None and not dialogue.strategies
            for setting, dialogue in completed
        ),
        "failures": sum(f.party is FailureSource.SIMULATED_USER for failed in table.failures.values() for f in failed),
        "role_breaks": [
            {
                "kind": check.kind.value,
                "meaning": check.meaning,
                "n": check.n,
                "unread": check.unread,
                "count": check.n_dialogues,
                "dialogues": check.dialogues(),
                "occurrences": (
                    {"dialogue": role_break.dialogue, "turn": role_break.turn, "words": role_break.words}
                    for role_break in check.role_breaks
                ),
            }
            for check in findings.role_breaks
        ],
    }


def _failure(failure: Failure) -> dict[str, Json]:
    return {
        "dialogue": failure.label,
        "application": failure.application,
        "party": failure.party.value,
        "kind": failure.kind.value,
        "message": failure.message,
        "turn": failure.turn,
        "annotator": failure.annotator or None,
        "endpoint": failure.endpoint or None,
        "tries": failure.tries,
    }


def _contamination(check: ContaminationCheck) -> Json:
    material = check.material
    return {
        "material": material.name,
        "version": material.version,
        "held_out": material.is_held_out,
        "public_since": material.public_since or None,
        "sha256": material.sha256 or None,
        "scenarios": list(material.scenarios),
        "canaries": len(material.canaries),
        "searched_responses": check.responses,
        "found": [{"application": name, "dialogues": list(labels)} for name, labels in check.found.items()],
    }


def _instruments(evidence: Evidence) -> dict[str, Json]:
    study = evidence.study
    return {
        "guidelines": [
            {"name": g.name, "version": version_of(g), "edition": g.edition, "origin": g.origin.value}
            for g in study.guidelines
        ],
        "annotators": [
            {
                "name": a.name,
                "title": a.title,
                "kind": a.kind.value,
                "guideline": a.guideline,
                "version": study.annotator_version(a.name),
                "answer_schema": _answer_schema(evidence, a.name),
                "validated": _moment(one.issued) if (one := validation_of_judge(evidence, a.name)) else None,
            }
            for a in study.annotators
        ],
        "applications": [{"name": a.name, "version": study.application_version(a.name)} for a in study.applications],
        "scenarios": [{"name": s.name, "version": version_of(s)} for s in study.scenarios],
        "questionnaires": [{"name": q.name, "version": version_of(q)} for q in study.questionnaires],
    }


def _answer_schema(evidence: Evidence, annotator: str) -> dict[str, Json] | None:
    tally = next((tally for tally in evidence.schemas if tally.annotator == annotator), None)
    return {"sent": tally.sent, "refused": tally.refused, "off": tally.off} if tally is not None else None


def criteria_entries(stated: Sequence[StatedCriteria]) -> list[Json]:
    """Return every statement in the form of the results file, oldest first; the author stays in the store."""
    return [
        {
            "subject": criteria.about.value,
            "revision": criteria.revision,
            "at": criteria.at.isoformat(),
            "text": criteria.text,
            "why": criteria.why,
        }
        for criteria in stated
    ]


def series_entry(study: Study) -> dict[str, Json] | None:
    """Return the series of a study in the form of the results file; None if it belongs to none."""
    if not study.series:
        return None
    published = published_entry(study.preregistered) if study.preregistered else None
    return {"name": study.series, "published": published, "deviations": list(deviations_of(study))}


def published_entry(series: Series) -> dict[str, Json]:
    """Return the preregistration of a series."""
    plan = series.plan
    return {
        "ai_type": series.ai_type.value,
        "user_types": [kind.value for kind in series.user_types],
        "risks": list(series.risks),
        "teams": [{"name": team.name, "applications": list(team.applications)} for team in series.teams],
        "scenarios": list(plan.scenarios),
        "requirements": plan.requirements,
        "criteria": plan.criteria,
        "expected_behaviour": plan.expected_behaviour,
        "methods": plan.methods,
        "follows": series.follows,
        "submission_criteria": list(series.submission_criteria),
        "terms": list(series.terms),
    }


def network_entry(use: NetworkUse) -> dict[str, Json]:
    """Return allowed and observed network use, as JSON."""
    return {
        "application": use.application,
        "allowed": None if use.allowed is None else list(use.allowed),
        "observed": use.is_observed,
        "cut_off": use.is_cut_off,
        "connections": list(use.connections),
        "refused": list(use.refused),
        "programs": list(use.programs),
    }


Flowing: TypeAlias = "Json | Mapping[str, Flowing] | Iterable[Flowing]"

"""JSON in which an iterable may replace a list; it is iterated once."""


_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def json_pieces(value: Flowing, level: int = 0) -> Iterator[str]:
    """Yield a value as JSON text, one space a level; list entries of nothing but words and numbers take one line each.

    Such entries are as numerous as dialogues; on separate lines each would need half as much space again.

    Raises:
        ValueError: If a number is NaN or infinite.
    """
    if value is None or isinstance(value, str | int | float):
        yield _text(value)
    elif isinstance(value, list) and value and all(map(_is_plain, value)):
        space = "\n" + " " * (level + 1)
        yield f"[{space}{f',{space}'.join(map(_text, value))}{space[:-1]}]"
    elif isinstance(value, Mapping):
        entries = ((f"{_text(key)}: ", entry) for key, entry in value.items())
        yield from _enclosed("{}", entries, level)
    else:
        yield from _enclosed("[]", (("", entry) for entry in value), level)


def _enclosed(ends: str, entries: Iterable[tuple[str, Flowing]], level: int) -> Iterator[str]:
    space, opened = "\n" + " " * (level + 1), False
    for name, entry in entries:
        yield f"{',' if opened else ends[0]}{space}{name}"
        if not name and isinstance(entry, dict) and all(map(_is_plain, entry.values())):
            yield _text(entry)
        else:
            yield from json_pieces(entry, level + 1)
        opened = True
    yield f"{space[:-1]}{ends[1]}" if opened else ends


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def collected(value: Flowing) -> Json:
    """Return a value with every iterable in it as a list."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {key: collected(entry) for key, entry in value.items()}
    return [collected(entry) for entry in value]
