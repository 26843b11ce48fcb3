"""Who may annotate which category of a queue, and what still stands before it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from theodolite.assessment.queue.qualifying import examples_for
from theodolite.domain.annotating.training import CategoryStanding, Onboarding
from theodolite.domain.annotating.work import QueueCategory, QueueDesign
from theodolite.domain.identity import digest
from theodolite.store.annotating.library import Library
from theodolite.store.models.annotating import OnboardingRow, PracticeRow, QualificationRow, QueueRow

K = TypeVar("K")
V = TypeVar("V")

BACKGROUND = "background"
"""Name of the background material among the texts that are acknowledged."""

RULES = "impartiality rules"
"""Name of the impartiality rules among them."""


def qualified_for(library: Library, queue: QueueRow, participant: str) -> frozenset[str]:
    """Return the categories that an annotator may work in.

    None before the background material and the impartiality rules have been
    acknowledged in their present wording. Then those whose examples were
    practised on in this series and whose test was passed, both in this very version.
    """
    return standing(library, queue, participant).open_to


def standing(library: Library, queue: QueueRow, participant: str) -> Onboarding:
    """Return where an annotator stands on the way to a queue."""
    return standings(library, queue, [participant])[participant]


def standings(library: Library, queue: QueueRow, participants: Collection[str]) -> dict[str, Onboarding]:
    """Return where each of many annotators stands on the way to a queue; as many queries as for one."""
    design = library.design(queue.design_id)
    done = _done(queue, design, participants)
    return {who: _onboarding(library, design, done, who) for who in participants}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    """What some annotators have done on their way: to their keys, what they have read, practised and tried."""

    texts: Mapping[str, set[tuple[str, str]]]
    practice: Mapping[tuple[str, str], set[int]]
    tests: Mapping[str, Counter[str]]
    passed: Mapping[str, set[tuple[str, str]]]


def _done(queue: QueueRow, design: QueueDesign, participants: Collection[str]) -> _Done:
    versions = [one.version for one in design.categories]
    read = OnboardingRow.objects.filter(participant__key__in=participants, version__in=text_versions(design).values())
    gone = PracticeRow.objects.filter(queue=queue, participant__key__in=participants, version__in=versions)
    tried = list(
        QualificationRow.objects.filter(participant__key__in=participants, version__in=versions).values_list(
            "participant__key", "category", "version", "asked", "passed"
        )
    )
    tests: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for who, _, version, asked, _ in tried:
        tests[who][version] += asked > 0
    return _Done(
        texts=_gathered(
            (who, (subject, v)) for who, subject, v in read.values_list("participant__key", "subject", "version")
        ),
        practice=_gathered(
            ((who, v), place) for who, v, place in gone.values_list("participant__key", "version", "example")
        ),
        tests=tests,
        passed=_gathered((who, (category, version)) for who, category, version, _, passed in tried if passed),
    )


def _gathered(pairs: Iterable[tuple[K, V]]) -> defaultdict[K, set[V]]:
    found: defaultdict[K, set[V]] = defaultdict(set)
    for key, value in pairs:
        found[key].add(value)
    return found


def _onboarding(library: Library, design: QueueDesign, done: _Done, who: str) -> Onboarding:
    wanted = {BACKGROUND: design.background, RULES: "".join(design.rules)}
    versions = text_versions(design)
    read = {name: not text or (name, versions[name]) in done.texts.get(who, ()) for name, text in wanted.items()}
    return Onboarding(
        background_read=read[BACKGROUND],
        rules_read=read[RULES],
        categories=tuple(_standing(library, design, one, done, who) for one in design.categories),
    )


def _standing(
    library: Library, design: QueueDesign, category: QueueCategory, done: _Done, who: str
) -> CategoryStanding:
    process, version = design.process, category.version
    practice, test = examples_for(library.guideline(version))
    gone = done.practice.get((who, version), set())
    attempts = done.tests.get(who, Counter())[version]
    qualified = not process.pass_mark or (category.name, version) in done.passed.get(who, ())
    left = tuple(number for number, place in enumerate(practice, start=1) if place not in gone)
    return CategoryStanding(
        category=category.name,
        version=version,
        qualified=qualified,
        attempts=attempts,
        attempts_left=0 if qualified else max(0, process.attempts - attempts),
        n_practice=len(practice),
        n_test=len(test),
        to_practise=left if process.practice else (),
    )


def text_versions(design: QueueDesign) -> dict[str, str]:
    """Return the content hashes of the texts that annotators acknowledge, by subject."""
    return {BACKGROUND: digest(BACKGROUND, design.background), RULES: digest(RULES, *design.rules)}
