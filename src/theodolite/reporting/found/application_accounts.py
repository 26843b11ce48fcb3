"""Accounts by application: what it answered, what its own filter withheld, how it failed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from theodolite.domain.application import Application
from theodolite.domain.failure import FailureKind, FailureSource
from theodolite.domain.study import Study
from theodolite.reporting.found.cases import Case
from theodolite.reporting.words import figures


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationAccount:
    """What became of the sessions with one application.

    A reply that its own filter withheld is a refusal and stands among the held
    dialogues; errors, timeouts and empty replies are failures, each of its kind.

    Attributes:
        application: The application.
        planned: Sessions planned; count.
        held: Places in the plan of the dialogues that were held.
        filtered: Those among them in which its own filter withheld a reply.
        filtered_replies: Replies that were withheld so; count.
        failed: Places of the sessions that it failed, by kind.
        failed_otherwise: Places of the sessions that somebody else failed.
    """

    application: Application
    planned: int
    held: tuple[int, ...]
    filtered: tuple[int, ...]
    filtered_replies: int
    failed: tuple[tuple[FailureKind, tuple[int, ...]], ...]
    failed_otherwise: tuple[int, ...]

    @property
    def n_open(self) -> int:
        """Sessions that are still to be held; count."""
        n_failed = sum(len(places) for _, places in self.failed) + len(self.failed_otherwise)
        return self.planned - len(self.held) - n_failed


def application_accounts(study: Study, cases: Sequence[Case]) -> tuple[ApplicationAccount, ...]:
    """Return the account of each application, in order of the study file."""
    return tuple(
        _account(application, [case for case in cases if case.setting.application == application.name])
        for application in study.applications
    )


def _account(application: Application, cases: Sequence[Case]) -> ApplicationAccount:
    withheld = {case.index: case.dialogue.filtered for case in cases if case.dialogue is not None}
    failed: dict[FailureKind, list[int]] = defaultdict(list)
    otherwise: list[int] = []
    for case in cases:
        failure = next((failure for failure in case.failures if not failure.annotator), None)
        if case.dialogue is None and failure is not None:
            (failed[failure.kind] if failure.party is FailureSource.APPLICATION else otherwise).append(case.index)
    return ApplicationAccount(
        application=application,
        planned=len(cases),
        held=tuple(case.index for case in cases if case.dialogue is not None),
        filtered=tuple(index for index, n in withheld.items() if n),
        filtered_replies=sum(withheld.values()),
        failed=tuple((kind, tuple(failed[kind])) for kind in FailureKind if kind in failed),
        failed_otherwise=tuple(otherwise),
    )


def filtered_text(accounts: Sequence[ApplicationAccount]) -> str:
    """Return in how many dialogues each application's own filter withheld a reply; empty where none did."""
    parts = [
        f"{account.application.name} {figures.count(len(account.filtered))} of {figures.count(len(account.held))}"
        for account in accounts
        if account.filtered
    ]
    return f"its own filter withheld a reply in a dialogue: {', '.join(parts)}" if parts else ""
