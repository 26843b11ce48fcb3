"""Agreements: how far those who label one application say the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from theodolite.domain.annotation import Outcome
from theodolite.domain.answer_rules import AnswerSource, AnswerSources, QuestionLabels, versions_of
from theodolite.domain.answers import DialogueLabel, outcomes_of
from theodolite.domain.estimate import Confusion, Estimate, Measurement, Undefined
from theodolite.domain.instrument import Scale
from theodolite.measurement.agreement import exact_agreement, relaxed_agreement
from theodolite.measurement.alpha import AlphaScale, krippendorff_alpha
from theodolite.measurement.confusion import confusion_matrix
from theodolite.measurement.kappa import cohen_kappa, fleiss_kappa

UNREADABLE = Outcome.UNPARSEABLE.value
"""The category of labels that cannot be read; it agrees with nothing, not even itself."""

Clusters: TypeAlias = list[str] | None
"""The cluster of each planned session; None where no two share one."""

MOST_IN_PAIRS = 10
"""People who are compared two by two at most; among more, pairs tell nothing that the panel does not."""

WORST_FIRST = (Outcome.FAILED, Outcome.MISSING, Outcome.REFUSED, Outcome.NOT_APPLICABLE, Outcome.UNPARSEABLE)
"""Which outcome a unit is counted under where annotators' outcomes differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two sources side by side on the same planned sessions."""

    first: AnswerSource
    second: AnswerSource
    readings: tuple[tuple[DialogueLabel, DialogueLabel], ...]
    clusters: Clusters

    def outcomes(self) -> Iterator[Outcome]:
        """Yield what became of each session, as far as this pair goes."""
        for readings in self.readings:
            yield _common_outcome(readings)

    def labels(self) -> tuple[list[str | None], list[str | None]]:
        """Return both sources' labels; `unparseable` where one cannot be read, None where there is none."""
        return [_label(first) for first, _ in self.readings], [_label(second) for _, second in self.readings]


def agreements(application: str, sheet: QuestionLabels, by: AnswerSources) -> Iterator[Measurement]:
    """Yield the agreement of those who label one application, on one question.

    Every two people are compared (up to ten people), all people together, and every judge with
    the reference or, where there is none, with each person. The judges of a panel
    are compared like people, two by two and all together. A label that
    cannot be read counts as not agreeing; on ordered scales, where it has no
    place, Krippendorff's alpha leaves it out.

    Args:
        application: Name of the application.
        sheet: The question and the planned sessions.
        by: Who labels.
    """
    people = [source for source in by.annotators if source.is_person]
    for first, second in pairs_of(people):
        yield from _pair_measurements(application, sheet, pair_of(sheet, first, second))
    if len(people) >= 2:
        yield from _panel_measurements(application, sheet, people)
    judges = [source for source in by.annotators if not source.is_person]
    for judge in judges:
        for authority in [by.reference] if by.reference else people:
            yield from _pair_measurements(application, sheet, pair_of(sheet, authority, judge))
    for members in _panels(judges):
        for first, second in pairs_of(members):
            yield from _pair_measurements(application, sheet, pair_of(sheet, first, second))
        yield from _panel_measurements(application, sheet, members)


def _panels(judges: Sequence[AnswerSource]) -> list[list[AnswerSource]]:
    """Return the judges that sit on a panel together, panel by panel; one alone is no panel."""
    names = dict.fromkeys(judge.panel for judge in judges if judge.panel)
    seated = [[judge for judge in judges if judge.panel == name] for name in names]
    return [members for members in seated if len(members) > 1]


def confusions(application: str, sheet: QuestionLabels, by: AnswerSources) -> Iterator[Confusion]:
    """Yield who gave which label where another gave which, of every two that are compared.

    Args:
        application: Name of the application.
        sheet: The question and the planned sessions.
        by: Who labels.
    """
    people = [source for source in by.annotators if source.is_person]
    judges = [source for source in by.annotators if not source.is_person]
    standards = ([by.reference] if by.reference else []) + people
    compared = [*pairs_of(people), *((standard, judge) for judge in judges for standard in standards)]
    compared += [pair for members in _panels(judges) for pair in pairs_of(members)]
    for first, second in compared:
        a, b = pair_of(sheet, first, second).labels()
        scale = sheet.question.scale.categories
        seen = UNREADABLE in {*_met(a, b), *_met(b, a)}
        yield Confusion(
            application=application,
            guideline=sheet.guideline.name,
            question=sheet.question.name,
            first=first.name,
            second=second.name,
            matrix=confusion_matrix(a, b, categories=(*scale, UNREADABLE) if seen else scale),
        )


def pairs_of(people: Sequence[AnswerSource]) -> list[tuple[AnswerSource, AnswerSource]]:
    """Return every two people; none where there are more than a reader could look at pair by pair."""
    return list(combinations(people, 2)) if len(people) <= MOST_IN_PAIRS else []


def _met(labels: Sequence[str | None], others: Sequence[str | None]) -> Iterator[str]:
    return (label for label, other in zip(labels, others, strict=True) if label is not None and other is not None)


def pair_of(sheet: QuestionLabels, first: AnswerSource, second: AnswerSource) -> Pair:
    """Return what two sources say of the same planned sessions."""
    readings = zip(sheet.labels(first), sheet.labels(second), strict=True)
    return Pair(first=first, second=second, readings=tuple(readings), clusters=clusters_of(sheet))


def clusters_of(sheet: QuestionLabels) -> Clusters:
    """Return what resembling dialogues share, one name a session; None where no two share anything."""
    # A dialogue without a cluster resembles no other.
    names = [sheet.setting(place).cluster or f"alone {place}" for place in sheet.positions]
    return names if len(set(names)) < len(names) else None


def _pair_measurements(application: str, sheet: QuestionLabels, pair: Pair) -> Iterator[Measurement]:
    for function, result in _pair_results(sheet.question.scale, pair):
        yield Measurement(
            measure=function,
            application=application,
            about={**_about(sheet), "first": pair.first.name, "second": pair.second.name},
            result=result,
            outcomes=outcomes_of(pair.outcomes()),
            versions=versions_of(sheet.guideline, [pair.first, pair.second]),
        )


def _pair_results(scale: Scale, pair: Pair) -> Iterator[tuple[str, Estimate | Undefined]]:
    a, plain = pair.labels()
    # Under a name of its own, an unreadable label of the second agrees with none of the first.
    other = f"{UNREADABLE} by {pair.second.name}"
    b = [other if label == UNREADABLE else label for label in plain]
    clusters = pair.clusters
    yield exact_agreement.__name__, exact_agreement(a, b, clusters=clusters)
    if scale.ordered or scale.is_numeric:
        places = {point: place for place, point in enumerate(scale.categories)}
        far = {UNREADABLE: -len(places), other: 2 * len(places)}
        near, off = _placed(a, places | far), _placed(b, places | far)
        yield relaxed_agreement.__name__, relaxed_agreement(near, off, clusters=clusters)
    strange = [label for label in (UNREADABLE, other) if label in {*a, *b}]
    yield cohen_kappa.__name__, cohen_kappa(a, b, categories=[*scale.categories, *strange], clusters=clusters)


def _panel_measurements(
    application: str, sheet: QuestionLabels, people: Sequence[AnswerSource]
) -> Iterator[Measurement]:
    by_person = [sheet.labels(person) for person in people]
    outcomes = outcomes_of(_panel_outcome(readings) for readings in zip(*by_person, strict=True))
    for function, scale, result in _panel_results(sheet.question.scale, by_person, clusters_of(sheet)):
        yield Measurement(
            measure=function,
            application=application,
            about={**_about(sheet), "annotators": ", ".join(person.name for person in people), **scale},
            result=result,
            outcomes=outcomes,
            versions=versions_of(sheet.guideline, people),
        )


def _panel_results(
    scale: Scale, by_person: Sequence[Sequence[DialogueLabel]], clusters: Clusters
) -> Iterator[tuple[str, dict[str, str], Estimate | Undefined]]:
    places = {point: place for place, point in enumerate(scale.categories)}
    # Each person's unreadable labels are a category of their own: no two of them agree.
    named = [
        _placed([_label(reading) for reading in readings], {**places, UNREADABLE: len(places) + person})
        for person, readings in enumerate(by_person)
    ]
    columns = range(len(places) + len(by_person))
    units = [[unit.count(column) for column in columns] for unit in zip(*named, strict=True)]
    shared = [place for place, unit in enumerate(units) if sum(unit) >= 2]
    of_shared = [clusters[place] for place in shared] if clusters else None
    yield fleiss_kappa.__name__, {}, fleiss_kappa([units[place] for place in shared], clusters=of_shared)
    yield _alpha(named, "nominal", clusters)
    if scale.ordered or scale.is_numeric:
        placed = [[place if place in places.values() else None for place in row] for row in named]
        yield _alpha(placed, "ordinal", clusters)
        if scale.is_numeric:
            yield _alpha(placed, "interval", clusters)


def _alpha(
    ratings: Sequence[Sequence[int | None]], scale: AlphaScale, clusters: Clusters
) -> tuple[str, dict[str, str], Estimate | Undefined]:
    table = [[float("nan") if place is None else float(place) for place in row] for row in ratings]
    return krippendorff_alpha.__name__, {"scale": scale}, krippendorff_alpha(table, scale=scale, clusters=clusters)


def _about(sheet: QuestionLabels) -> dict[str, str]:
    return {"guideline": sheet.guideline.name, "question": sheet.question.name}


def _label(reading: DialogueLabel) -> str | None:
    return UNREADABLE if reading.outcome is Outcome.UNPARSEABLE else reading.value


def _placed(labels: Sequence[str | None], places: Mapping[str, int]) -> list[int | None]:
    return [None if label is None else places[label] for label in labels]


def _common_outcome(readings: Sequence[DialogueLabel]) -> Outcome:
    found = {reading.outcome for reading in readings}
    return next((outcome for outcome in WORST_FIRST if outcome in found), Outcome.ANSWERED)


def _panel_outcome(readings: Sequence[DialogueLabel]) -> Outcome:
    """Return `ANSWERED` where two people gave a label, else what kept the others from it."""
    answered = sum(reading.outcome is Outcome.ANSWERED for reading in readings)
    return Outcome.ANSWERED if answered >= 2 else _common_outcome(readings)
