"""Coders: how far they agree, all together and two by two; told beside themes, and in none of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from theodolite.domain.codings.coded import CodedAnswer
from theodolite.domain.codings.finding import CodeAgreement, CoderPair
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.alpha import krippendorff_alpha
from theodolite.measurement.clusters import cluster_sizes
from theodolite.measurement.proportion import defect_rate
from theodolite.measurement.questionnaire.sets import set_alpha

UNIT: Final = "fraction of answers"
"""What shares are shares of."""


@dataclass(frozen=True, slots=True)
class TwiceCoded:
    """Answers that two have coded.

    Attributes:
        people: The tester behind each answer.
        first: Codes that the one coder gave each.
        second: Codes that the other gave.
    """

    people: Sequence[str]
    first: Sequence[Collection[str]]
    second: Sequence[Collection[str]]

    @classmethod
    def of(cls, answers: Sequence[tuple[str, CodedAnswer]]) -> TwiceCoded:
        """Return the answers of some testers that everybody has coded who is to."""
        both = [(person, coded.codings) for person, coded in answers if coded.is_coded]
        return cls(
            people=[person for person, _ in both],
            first=[codings[0].codes for _, codings in both],
            second=[codings[1].codes for _, codings in both],
        )

    def alike(self) -> Estimate | Undefined:
        """Return the share of answers to which both gave the same codes."""
        return self._same([set(one) == set(other) for one, other in zip(self.first, self.second, strict=True)])

    def alpha(self) -> Estimate | Undefined:
        """Return Krippendorff's alpha of whole sets of codes, with the distance MASI."""
        sets = [[one, other] for one, other in zip(self.first, self.second, strict=True)]
        return set_alpha(sets, clusters=person_clusters(self.people))

    def on(self, code: str) -> CodeAgreement:
        """Return the agreement on one code."""
        said = [(code in one, code in other) for one, other in zip(self.first, self.second, strict=True)]
        rows = [[float(one[place]) for one in said] for place in range(2)]
        return CodeAgreement(
            code=code,
            n_given=sum(sum(one) for one in said),
            alike=self._same([one == other for one, other in said]),
            alpha=krippendorff_alpha(rows, scale="nominal", clusters=person_clusters(self.people)),
        )

    def _same(self, flags: Sequence[bool]) -> Estimate | Undefined:
        return answer_share(list(zip(self.people, flags, strict=True)))


def coder_pairs(answers: Sequence[tuple[str, CodedAnswer]], codes: Sequence[str]) -> Iterator[CoderPair]:
    """Yield the agreement of every two coders who have coded the same answers, in the order of their keys.

    Args:
        answers: The tester behind each answer, and where it stands.
        codes: Names of the codes that hold now.

    Source:
        As for all coders together: `defect_rate` over testers as clusters, `krippendorff_alpha`, `set_alpha`.
    """
    shared: dict[tuple[str, str], list[tuple[str, Collection[str], Collection[str]]]] = defaultdict(list)
    for person, coded in answers:
        by_coder = sorted(coded.codings, key=lambda one: one.coder)
        for one, other in combinations(by_coder, 2):
            shared[one.coder, other.coder].append((person, one.codes, other.codes))
    for (first, second), rows in sorted(shared.items()):
        people, ones, others = zip(*rows, strict=True)
        twice = TwiceCoded(people, ones, others)
        yield CoderPair(
            first=first,
            second=second,
            n=len(rows),
            alike=twice.alike(),
            alpha=twice.alpha(),
            codes=tuple(twice.on(code) for code in codes),
        )


def person_clusters(people: Sequence[str]) -> list[str] | None:
    """Return the testers as clusters, where one of them wrote several answers."""
    return list(people) if len(set(people)) < len(people) else None


def answer_share(known: Sequence[tuple[str, bool]]) -> Estimate | Undefined:
    """Return the share of answers of which something holds.

    Args:
        known: The tester behind each answer, and whether it holds.
    """
    flags, clusters = [has for _, has in known], person_clusters([person for person, _ in known])
    return replace(defect_rate(sum(flags), len(flags), clusters=cluster_sizes(flags, clusters)), unit=UNIT)
