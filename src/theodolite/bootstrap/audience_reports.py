"""Reports for one audience: the team of an application, organisers, operators, the public."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from theodolite.bootstrap.files import write_whole
from theodolite.bootstrap.permission import require_output_inside
from theodolite.bootstrap.plugins import plugin_measures, tree_methods
from theodolite.bootstrap.releases import REVIEW, curated_records, decided_findings, without_consent
from theodolite.bootstrap.reports import WrittenFiles, facts_of
from theodolite.bootstrap.study_context import StudyContext
from theodolite.config.load_context import report_assets, role_break_rules
from theodolite.domain.estimate import Findings
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.order import OrderMetrics
from theodolite.domain.release import ReleasedRecords
from theodolite.reporting.citations import CitedResults
from theodolite.reporting.facts import RunFacts
from theodolite.reporting.page.report import report_pieces
from theodolite.reporting.page.tuning import (
    Section,
    gate_sections,
    operator_sections,
    organiser_sections,
    plugin_sections,
    team_sections,
)
from theodolite.reporting.results.document import results_document, results_pieces
from theodolite.usecases.audiences import Audience, AudienceKind, for_public, for_team
from theodolite.usecases.releasing import anonymised, released_evidence


def write_audience_report(
    context: StudyContext,
    audience: Audience,
    *,
    out: str | None = None,
    draw: Callable[[], str] = lambda: secrets.token_hex(32),
) -> WrittenFiles:
    """Write the report and the results of the latest run for one audience.

    Args:
        context: The open study.
        audience: A team, organisers, operators or the public.
        out: Folder; the study's own if None.
        draw: Returns 64 random hexadecimal digits for new ids.

    Raises:
        InputError: If a file is a link out of the study folder, or the review file has errors.
        StorageUnavailable: If a file cannot be written.
    """
    if audience.kind is AudienceKind.ORGANISER:
        return _write_complete(context, audience, out)
    evidence, findings = audience_results(context, audience, draw)
    return write_audience_files(context, audience, evidence, findings, out=out)


def _write_complete(context: StudyContext, audience: Audience, out: str | None) -> WrittenFiles:
    """Write the complete report of organisers, with real ids and names."""
    folder = Path(out) if out else context.loaded.folder
    report, results = (folder / name for name in audience_files(audience))
    require_output_inside(context.loaded.folder, results, report)
    evidence = context.evidence()
    findings, facts = context.findings(evidence), facts_of(context)
    sections = (
        *gate_sections(evidence, findings, facts),
        *plugin_sections(findings),
        *sections_for_organisers(context, evidence, findings),
    )
    write_whole(results, results_pieces(evidence, findings, facts))
    write_whole(report, report_pieces(evidence, findings, facts, report_assets(), sections=sections))
    return WrittenFiles(report=str(report), results=str(results))


def sections_for_organisers(context: StudyContext, evidence: Evidence, findings: Findings) -> tuple[Section, ...]:
    """Return recruitment, blinding and the data card of a run."""
    document = json.loads(json.dumps(results_document(evidence, findings, facts_of(context)), allow_nan=False))
    consents = context.store.events.participants.release_consents(evidence.study.name)
    return organiser_sections(evidence, findings, CitedResults(document), consents)


def audience_results(
    context: StudyContext, audience: Audience, draw: Callable[[], str] = lambda: secrets.token_hex(32)
) -> tuple[Evidence, Findings]:
    """Return the records that an audience may see, under new ids, and their measurements."""
    evidence = released_evidence(anonymised(_records(context, audience), draw))
    return evidence, _measured(evidence)


def write_audience_files(
    context: StudyContext, audience: Audience, evidence: Evidence, findings: Findings, *, out: str | None = None
) -> WrittenFiles:
    """Write the report and the results of an audience.

    Args:
        context: The open study.
        audience: Readers.
        evidence: Records that they may see.
        findings: Measured on these records.
        out: Folder; the study's own if None.

    Raises:
        InputError: If a file is a link out of the study folder.
        StorageUnavailable: If a file cannot be written.
    """
    folder = Path(out) if out else context.loaded.folder
    report, results = (folder / name for name in audience_files(audience))
    require_output_inside(context.loaded.folder, results, report)
    facts = _public_facts(context)
    sections: tuple[Section, ...] = ()
    if audience.kind is AudienceKind.TEAM:
        sections = team_sections(evidence, findings)
    if audience.kind is AudienceKind.OPERATORS:
        sections = operator_sections(evidence, findings)
    write_whole(results, results_pieces(evidence, findings, facts))
    write_whole(report, report_pieces(evidence, findings, facts, report_assets(), sections=sections))
    return WrittenFiles(report=str(report), results=str(results))


def audience_files(audience: Audience) -> tuple[str, str]:
    """Return the names of the report and of the results of an audience."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{audience.kind.value}-{audience.team}".strip("-"))
    return f"report-for-{name}.html", f"results-for-{name}.json"


def _records(context: StudyContext, audience: Audience) -> ReleasedRecords:
    """Return the part visible to an audience, under the ids of the workspace."""
    evidence, review = context.evidence(), context.loaded.folder / REVIEW
    without = set(without_consent(context))
    if audience.kind is AudienceKind.TEAM:
        records = curated_records(context, evidence)
        return for_team(records, audience.applications, decided_findings(records, review), private=without)
    records = curated_records(context, evidence, left_out=without)
    return for_public(records, decided_findings(records, review))


def _measured(evidence: Evidence) -> Findings:
    """Return the measures of records in random order: none that depends on order."""
    from theodolite.measurement import measure_study  # numpy and scipy are slow to import

    findings = measure_study(
        evidence, role_break_rules=role_break_rules(), summaries=tree_methods(), measures=plugin_measures()
    )
    return replace(findings, order_metrics=OrderMetrics(), orders=())


def _public_facts(context: StudyContext) -> RunFacts:
    """Return the facts of a report without hosts, code and commands of the workspace."""
    facts = facts_of(context)
    return RunFacts(
        command="ask the organisers of the study",
        package_version=facts.package_version,
        generated=facts.generated,
    )
