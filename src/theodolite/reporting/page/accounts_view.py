"""The accounts of a report: every planned dialogue, and whose fault a failure is."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from theodolite.reporting.found.accounts import Account, Part, account_text
from theodolite.reporting.found.cases import records_at
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.words import figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part of a band.

    Attributes:
        words: What it is.
        n: Dialogues in it, as text.
        share: `n` of the whole with its percent.
        x: Left end; hundredths of the band.
        width: Width; hundredths of the band.
        pattern: Number of its pattern; 0 is plain.
        opens: Name of its set.
    """

    words: str
    n: str
    share: str
    x: float
    width: float
    pattern: int
    opens: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountView:
    """One guideline's account: the sum in words and as a band."""

    guideline: str
    text: str
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureGroup:
    """Failures that one party is to blame for, of one kind."""

    party: str
    kind: str
    n: str
    message: str
    opens: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountsView:
    """All accounts and all failures."""

    accounts: tuple[AccountView, ...]
    failures: tuple[FailureGroup, ...]


def accounts_view(subject: Subject) -> AccountsView:
    """Return the accounts as bands, and failures by whose fault they are."""
    accounts = tuple(_account_view(subject, place, account) for place, account in enumerate(subject.accounts))
    return AccountsView(accounts=accounts, failures=_failures(subject))


def _account_view(subject: Subject, place: int, account: Account) -> AccountView:
    parts = [account.labelled, *account.unmeasured]
    segments, x = [], 0.0
    for number, part in enumerate(parts):
        if part.n:
            width = 100 * part.n / account.planned
            name = f"account{place}.{number}"
            segments.append(_segment(subject, account, part, name=name, x=x, width=width, pattern=number % 6))
            x += width
    return AccountView(guideline=account.guideline, text=account_text(account), segments=tuple(segments))


def _segment(
    subject: Subject, account: Account, part: Part, *, name: str, x: float, width: float, pattern: int
) -> Segment:
    return Segment(
        words=part.words,
        n=figures.count(part.n),
        share=figures.share(part.n, account.planned),
        x=round(x, 2),
        width=round(width, 2),
        pattern=pattern,
        opens=subject.sets.add(name, f"{part.words} ({account.guideline})", part.cases),
    )


def _failures(subject: Subject) -> tuple[FailureGroup, ...]:
    grouped: dict[tuple[str, str], list[int]] = defaultdict(list)
    for case in subject.cases:
        for failure in case.failures:
            grouped[failure.party.value, failure.kind.value].append(case.index)
    messages = _messages(subject, {places[0] for places in grouped.values()})
    return tuple(
        FailureGroup(
            party=party,
            kind=kind,
            n=figures.count(len(found)),
            message=messages[party, kind],
            opens=subject.sets.add(f"failure{place}", f"{party} {kind}", found),
        )
        for place, ((party, kind), found) in enumerate(sorted(grouped.items(), key=lambda entry: -len(entry[1])))
    )


def _messages(subject: Subject, places: set[int]) -> dict[tuple[str, str], str]:
    """Return the first message of each party and kind of failure, of those at some places."""
    messages: dict[tuple[str, str], str] = {}
    for record in records_at(subject.evidence, places):
        for failure in record.failures:
            messages.setdefault((failure.party.value, failure.kind.value), failure.message)
    return messages
