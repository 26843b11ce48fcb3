"""The applications of a report: declared guardrails, own refusals, failures by kind, and claims."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.domain.application import Application, Mitigation
from theodolite.domain.claim import ClaimTest
from theodolite.domain.plan import TesterKind
from theodolite.reporting.found.application_accounts import ApplicationAccount, application_accounts
from theodolite.reporting.found.cases import Case
from theodolite.reporting.found.claims import claim_words
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.words import figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """A count that opens its dialogues.

    Attributes:
        words: What is counted; empty where the column says it.
        n: The count, as text.
        opens: Name of its set; empty for none.
    """

    n: str
    opens: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationRow:
    """One application in the table."""

    name: str
    description: str
    guardrails: str
    mitigations: tuple[Mitigation, ...]
    planned: str
    held: Opening
    filtered: Opening
    failed: tuple[Opening, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRow:
    """One claim in the table."""

    application: str
    kind: str
    text: str
    scripts: Opening
    words: str
    opens: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationsView:
    """All applications and all claims."""

    rows: tuple[ApplicationRow, ...]
    claims: tuple[ClaimRow, ...]


def applications_view(subject: Subject) -> ApplicationsView:
    """Return what each application did with its sessions, and how its claims stand."""
    accounts = application_accounts(subject.study, subject.cases)
    return ApplicationsView(
        rows=tuple(_row(subject, place, account) for place, account in enumerate(accounts)),
        claims=tuple(_claim(subject, place, test) for place, test in enumerate(subject.findings.claims)),
    )


def _row(subject: Subject, place: int, account: ApplicationAccount) -> ApplicationRow:
    name = account.application.name
    failed = [(kind.value, cases) for kind, cases in account.failed]
    failed += [("failed by others", account.failed_otherwise)] if account.failed_otherwise else []
    return ApplicationRow(
        name=name,
        description=account.application.description,
        guardrails=_guardrails(account.application),
        mitigations=account.application.mitigations,
        planned=figures.count(account.planned),
        held=_opening(subject, f"held{place}", f"{name}: held", account.held),
        filtered=_opening(subject, f"filtered{place}", f"{name}: withheld by its own filter", account.filtered),
        failed=tuple(
            _opening(subject, f"failed{place}.{number}", f"{name}: {words}", cases, words)
            for number, (words, cases) in enumerate(failed)
        ),
    )


def _guardrails(application: Application) -> str:
    variant = f"; variant of {application.variant_of}" if application.variant_of else ""
    return application.guardrails.value + variant


def _opening(subject: Subject, name: str, title: str, cases: tuple[int, ...], words: str = "") -> Opening:
    return Opening(n=figures.count(len(cases)), opens=subject.sets.add(name, title, cases), words=words)


def _claim(subject: Subject, place: int, test: ClaimTest) -> ClaimRow:
    name = test.application
    tried = tuple(case.index for case in subject.cases if case.setting.application == name and _is_of(case, test))
    against = [case.index for case in subject.labelled(test.contradicting)]
    return ClaimRow(
        application=name,
        kind=test.claim.kind.value,
        text=test.claim.text,
        scripts=Opening(
            n=figures.number_of(len(tried), "dialogue"),
            opens=subject.sets.add(f"claimed{place}", f"testing: {test.claim.text}", tried),
            words=", ".join(test.claim.scripts),
        ),
        words=claim_words(subject.study, test),
        opens=subject.sets.add(f"claim{place}", f"against: {test.claim.text}", against),
    )


def _is_of(case: Case, test: ClaimTest) -> bool:
    """Tell whether a dialogue is one by which a claim is tested."""
    return case.setting.kind is TesterKind.SCRIPT and case.setting.tester in test.claim.scripts
