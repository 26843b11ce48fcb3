"""Dispositions of all planned dialogues, by guideline and by application, and the status of claims."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.annotator import PEOPLE, REFERENCE
from theodolite.domain.answer_rules import annotators_of, reference_names
from theodolite.domain.answers import WORST_FIRST
from theodolite.domain.application import Application
from theodolite.domain.estimate import ClaimStatus, ClaimTest
from theodolite.domain.guideline import Guideline
from theodolite.domain.run import FailureKind, FailureSource
from theodolite.domain.study import Study
from theodolite.reporting.queries.cases import Case, title_of
from theodolite.reporting.words import figures

_LABELLED: tuple[Outcome, FailureSource | None, str] = (Outcome.ANSWERED, None, "labelled")

_BY_SOME: tuple[Outcome, FailureSource | None, str] = (Outcome.MISSING, None, "labelled by some of them only")
"""A dialogue that annotators divide among themselves: it has labels of some annotators but not of all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountPart:
    """An entry of the dispositions.

    Attributes:
        outcome: Outcome of these dialogues.
        party: The responsible party, for failures.
        words: Displayed name, e.g. `application timed out`.
        cases: Positions in the plan.
    """

    outcome: Outcome
    words: str
    cases: tuple[int, ...]
    party: FailureSource | None = None

    @property
    def n(self) -> int:
        """Dialogues in it; count."""
        return len(self.cases)

    @property
    def is_by_some(self) -> bool:
        """Whether some but not all of several annotators labelled these dialogues."""
        return (self.outcome, self.party, self.words) == _BY_SOME


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Outcomes of all planned dialogues under one guideline, for annotators with labels that count together.

    Attributes:
        guideline: Name of the guideline.
        annotators: Annotators who must all label a dialogue before it counts as labelled; empty if there are none.
        by_people: Whether they are people.
        planned: Dialogues planned; count.
        labelled: Dialogues that all of them have labelled.
        unmeasured: All others, by outcome.
    """

    guideline: str
    annotators: tuple[str, ...]
    by_people: bool
    planned: int
    labelled: AccountPart
    unmeasured: tuple[AccountPart, ...]

    def n(self, outcome: Outcome) -> int:
        """Return the number of dialogues with this outcome; count."""
        return sum(part.n for part in self.unmeasured if part.outcome is outcome)

    @property
    def n_by_some(self) -> int:
        """Dialogues that some but not all of several annotators labelled; count, among the missing ones."""
        return sum(part.n for part in self.unmeasured if part.is_by_some)


def accounts_of_guideline(study: Study, guideline: Guideline, cases: Sequence[Case]) -> tuple[Account, ...]:
    """Return the accounts of one guideline over all planned dialogues that are labelled by it.

    If people label, a dialogue counts as labelled after all of them have; judges
    have their own accounts in the estimates. If only judges or rules label,
    they replace the people. A pool of people has its own account.
    """
    by_application = {app.name: _counted(study, guideline, app.name) for app in study.applications}
    pooled = {name: (PEOPLE,) for name, names in by_application.items() if PEOPLE in names}
    others = {name: tuple(one for one in names if one != PEOPLE) for name, names in by_application.items()}
    parts = [names for names in (others, pooled) if any(names.values())]
    return tuple(_account(study, guideline, cases, names) for names in parts or [others])


def _account(
    study: Study, guideline: Guideline, cases: Sequence[Case], by_application: Mapping[str, tuple[str, ...]]
) -> Account:
    parts: dict[tuple[Outcome, FailureSource | None, str], list[int]] = defaultdict(list)
    scenarios = {scenario for scenario in _scenarios(cases) if study.asks(guideline.name, scenario)}
    relevant = [case for case in cases if case.setting.scenario in scenarios]
    for case in relevant:
        parts[_fate(case, guideline, by_application.get(case.setting.application, ()))].append(case.index)
    labelled = parts.pop(_LABELLED, [])
    everybody = tuple(dict.fromkeys(name for names in by_application.values() for name in names))
    return Account(
        guideline=guideline.name,
        annotators=everybody,
        by_people=bool(everybody) and set(everybody) <= _people(study),
        planned=len(relevant),
        labelled=AccountPart(outcome=Outcome.ANSWERED, words="labelled", cases=tuple(labelled)),
        unmeasured=tuple(
            AccountPart(outcome=outcome, party=party, words=words, cases=tuple(positions))
            for (outcome, party, words), positions in sorted(parts.items(), key=_order)
        ),
    )


def _scenarios(cases: Sequence[Case]) -> set[str]:
    return {case.setting.scenario for case in cases}


def _people(study: Study) -> set[str]:
    return {PEOPLE, *(annotator.name for annotator in study.annotators if annotator.kind is AnnotatorKind.PERSON)}


def _counted(study: Study, guideline: Guideline, application: str) -> tuple[str, ...]:
    """Return the annotators with labels that make a dialogue count as labelled."""
    sources = annotators_of(study, guideline, application, guideline.question.name)
    people = tuple(source.name for source in sources.annotators if source.is_person and not source.by_hand)
    pool = (sources.pool.name,) if sources.pool and not sources.reference else ()
    return people + pool if people else reference_names(study, guideline, application)


def _order(entry: tuple[tuple[Outcome, FailureSource | None, str], list[int]]) -> tuple[int, int]:
    (outcome, _, _), positions = entry
    return WORST_FIRST.index(outcome), -len(positions)


def _fate(case: Case, guideline: Guideline, annotators: Sequence[str]) -> tuple[Outcome, FailureSource | None, str]:
    failure = case.failure_of(annotators)
    if failure is not None:
        return Outcome.FAILED, failure.party, f"{failure.party.value} {failure.kind.value}"
    if case.dialogue is None:
        return Outcome.MISSING, None, "not run yet"
    if not annotators:
        return Outcome.MISSING, None, "labelled by nobody"
    outcomes = {case.dialogue_label(name, guideline).outcome for name in annotators}
    worst = next((outcome for outcome in WORST_FIRST if outcome in outcomes), Outcome.ANSWERED)
    if worst is Outcome.MISSING and Outcome.ANSWERED in outcomes:
        return _BY_SOME
    return _LABELLED if worst is Outcome.ANSWERED else (worst, None, worst.value)


def accounts_of(study: Study, cases: Sequence[Case]) -> tuple[Account, ...]:
    """Return the dispositions of all guidelines, in order of the study file."""
    return tuple(
        account for guideline in study.guidelines for account in accounts_of_guideline(study, guideline, cases)
    )


def accounts_to_tell(accounts: Sequence[Account]) -> tuple[Account, ...]:
    """Return the accounts of guidelines with annotators; all if no guideline has any.

    Guidelines without labels have one sentence elsewhere, and are complete in the results file.
    """
    return tuple(account for account in accounts if account.annotators) or tuple(accounts)


_NUMERALS = {2: "both people"}


def account_text(account: Account, *, alike: bool = False) -> str:
    """Return dispositions as text: `60 planned: 57 judged, 2 application timed out, 1 unparseable`.

    Args:
        account: The dispositions.
        alike: Whether the sentence covers several guidelines with different people.
    """
    parts = [f"{figures.count(part.n)} {part.words}" for part in account.unmeasured]
    rest = parts or ["0 failed", "0 missing"]
    by = _labelled_by(account, alike=alike)
    head = f"{figures.count(account.planned)} planned: {figures.count(account.labelled.n)} {by}"
    return ", ".join([head, *rest])


def _labelled_by(account: Account, *, alike: bool) -> str:
    if not account.by_people:
        return "labelled" if account.annotators in {(), (REFERENCE,)} else "judged"
    if PEOPLE in account.annotators:
        return "labelled by people"
    n = len(account.annotators)
    if alike:
        return f"labelled by {'one person' if n == 1 else f'{n} people'} each"
    return "labelled by one person" if n == 1 else f"labelled by {_NUMERALS.get(n, f'all {n} people')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationAccount:
    """Outcomes of the sessions with one application.

    A reply that its own filter withheld is a refusal and is among the held
    dialogues; errors, timeouts and empty replies are failures, each of its kind.

    Attributes:
        application: The application.
        planned: Sessions planned; count.
        held: Positions in the plan of the completed dialogues.
        filtered: Completed dialogues in which its own filter withheld a reply.
        filtered_replies: Replies that were withheld so; count.
        failed: Positions of the sessions that it failed, by kind.
        failed_otherwise: Positions of the sessions that failed for another reason.
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
        """Sessions not yet run; count."""
        n_failed = sum(len(positions) for _, positions in self.failed) + len(self.failed_otherwise)
        return self.planned - len(self.held) - n_failed


def application_accounts(study: Study, cases: Sequence[Case]) -> tuple[ApplicationAccount, ...]:
    """Return the outcomes of each application, in order of the study file."""
    return tuple(
        _application_account(application, [case for case in cases if case.setting.application == application.name])
        for application in study.applications
    )


def _application_account(application: Application, cases: Sequence[Case]) -> ApplicationAccount:
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
    """Return the number of dialogues in which each application's own filter withheld a reply; empty if none."""
    parts = [
        f"{account.application.name} {figures.count(len(account.filtered))} of {figures.count(len(account.held))}"
        for account in accounts
        if account.filtered
    ]
    return f"its own filter withheld a reply in a dialogue: {', '.join(parts)}" if parts else ""


def claim_words(study: Study, test: ClaimTest) -> str:
    """Return the status of a claim and its evidence, e.g. `supported: no defect in 4 of 5 dialogues (judge)`."""
    if test.status in {ClaimStatus.NOT_TESTED, ClaimStatus.UNTESTABLE}:
        return f"{test.status.value}: {test.reason}"
    n = figures.number_of(test.n, "labelled dialogue")
    missing = test.planned - test.n
    rest = f", {figures.count(missing)} more without a label" if missing else ""
    by = title_of(study, test.annotator)
    verb = "show" if len(test.contradicting) > 1 else "shows"
    defects = figures.count(len(test.contradicting)) if test.contradicting else "none"
    return f"{test.status.value}: {defects} of {n} {verb} a defect by {test.guideline}.{test.rule} ({by}){rest}"


def claims_text(tests: tuple[ClaimTest, ...]) -> str:
    """Return the claims by state, and the evidence against contradicted ones; empty without claims."""
    if not tests:
        return ""
    counts = {status: sum(test.status is status for test in tests) for status in ClaimStatus}
    text = ", ".join(f"{figures.count(n)} {status.value}" for status, n in counts.items() if n)
    against = [
        f'{test.application} "{test.claim.text}" by {", ".join(test.contradicting[:3])}'
        for test in tests
        if test.contradicting
    ]
    return f"{text}. Contradicted: {'; '.join(against)}." if against else f"{text}."
