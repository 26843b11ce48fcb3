"""The run, and the named sets of dialogues, from which all views of a report are built."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from theodolite.domain.estimate import Findings
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.study import Study
from theodolite.reporting.facts import RunFacts
from theodolite.reporting.queries.agreements import Agreement, agreements_of
from theodolite.reporting.queries.cases import Case, cases_of
from theodolite.reporting.queries.dispositions import Account, accounts_of, accounts_to_tell
from theodolite.reporting.queries.rates import Rate, lead_rates, rates_of
from theodolite.reporting.words.reading_aids import Words


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseSet:
    """Cases that a reader may walk through.

    Attributes:
        name: Identifier within the page.
        title: Their common property.
        cases: Positions in the plan, in order.
    """

    name: str
    title: str
    cases: tuple[int, ...]


@dataclass(slots=True, kw_only=True)
class SetBook:
    """Collects the sets of a page while its views are made."""

    sets: dict[str, CaseSet] = field(default_factory=dict)

    def add(self, name: str, title: str, cases: Iterable[int]) -> str:
        """Store a set under its name, and return the name; empty for an empty set."""
        places = tuple(sorted(set(cases)))
        if not places:
            return ""
        self.sets[name] = CaseSet(name=name, title=title, cases=places)
        return name


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A run as the views of its report see it."""

    evidence: Evidence
    findings: Findings
    facts: RunFacts
    words: Words
    cases: tuple[Case, ...]
    accounts: tuple[Account, ...]
    rates: tuple[Rate, ...]
    agreements: tuple[Agreement, ...]
    sets: SetBook = field(default_factory=SetBook)

    @property
    def study(self) -> Study:
        """The study of the run."""
        return self.evidence.study

    def tint(self, application: str) -> int:
        """Return the number of an application's colour: its index in the study file."""
        names = [known.name for known in self.study.applications]
        return names.index(application) % 8 if application in names else 7

    def defects(self, guideline: Guideline, rule: DefectRule) -> list[Case]:
        """Return the cases that are defects according to the leading labels of the report."""
        leading = lead_rates(self.rates, guideline.name, rule.name)
        return self.labelled({label for rate in leading for label in rate.measurement.dialogues})

    def labelled(self, labels: Iterable[str]) -> list[Case]:
        """Return the cases of some labels, in order of the plan; a tester's session stands for all its dialogues."""
        result = {place for label in labels for place in self._places(label)}
        return [self.cases[place] for place in sorted(result)]

    def _places(self, label: str) -> list[int]:
        place = self.evidence.sessions.find(label)
        if place is not None:
            return [place]
        matching_responses = (response for response in self.evidence.responses if response.label == label)
        answered = self.evidence.answered
        return [answered[key] for response in matching_responses for key in response.dialogues if key in answered]


def subject_of(evidence: Evidence, findings: Findings, facts: RunFacts, words: Words) -> Subject:
    """Return a run as the views of its report see it."""
    cases = cases_of(evidence.answers)
    return Subject(
        evidence=evidence,
        findings=findings,
        facts=facts,
        words=words,
        cases=cases,
        accounts=accounts_to_tell(accounts_of(evidence.study, cases)),
        rates=rates_of(findings, evidence.study),
        agreements=agreements_of(findings),
    )
