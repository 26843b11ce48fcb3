"""Annotating: agreement of people on a queue's questions, and how much work a wanted interval takes."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.agreeing import AnswerStretch, GroupAgreement, PairAgreement, PlannedPasses, QuestionAgreement
from theodolite.domain.errors import InputError
from theodolite.domain.instrument import Question, QuestionLevel, ScaleKind
from theodolite.domain.number import Estimate, Undefined
from theodolite.measurement.alpha import AlphaScale, krippendorff_alpha
from theodolite.measurement.interval import normal_quantile
from theodolite.measurement.proportion import defect_rate
from theodolite.measurement.raters.groups import group_agreement

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

STRETCHES: Final = 6
"""Stretches of time that a history is cut into at most; count."""

FEWEST_IN_STRETCH: Final = 10
"""Shared units that a stretch holds at least; count."""

NO_UNIT_OF_TWO: Final = "No dialogue has answers of two people yet."
"""Why agreement is undefined at the beginning."""


MOST_IN_PAIRS: Final = 10
"""People up to whom alpha is worked out pair by pair; count."""

TOO_MANY_PAIRS: Final = "Among more than ten people, agreement beyond chance is given for all together, not for pairs."
"""Why a pair has no alpha."""


class GivenAnswer(NamedTuple):
    """One label that somebody gave; a plain tuple, since a page is made of hundreds of thousands.

    Attributes:
        annotator: Who.
        unit: The dialogue, or the dialogue and turn.
        dialogue: The dialogue, which turns are clustered in.
        value: The label; None where it is none.
        at: When; seconds since 1970.
    """

    annotator: str
    unit: Hashable
    dialogue: Hashable
    value: str | None
    at: float = 0.0


def question_agreement(category: str, question: Question, given: Sequence[GivenAnswer]) -> QuestionAgreement:
    """Return how far people say the same to one question, with its history.

    Args:
        category: Name of the category.
        question: The question; its scale decides the level of measurement.
        given: Everybody's answers, one a person and unit.

    Source:
        Krippendorff (2011), Computing Krippendorff's Alpha-Reliability,
        https://repository.upenn.edu/asc_papers/43; the share of units that all
        labelled alike has the interval of `defect_rate`, over dialogues where
        turns are asked about.
    """
    sheet = _Sheet(question, given)
    order = sheet.shared_in_time()
    return QuestionAgreement(
        category=category,
        question=question.name,
        scale=sheet.scale,
        n_annotators=len({one.annotator for one in given}),
        n_units=len({one.unit for one in given}),
        n_shared=len(order),
        n_without_value=sum(one.value is None for one in given),
        alike=sheet.alike(order),
        alpha=sheet.alpha(order),
        prevalence=_prevalence(question, given),
        over_time=tuple(_stretches(sheet, order)),
    )


def self_agreement(category: str, question: Question, given: Sequence[GivenAnswer]) -> QuestionAgreement:
    """Return how far people say the same again when they meet the same unit again.

    Each person's answers to one unit are held against each other, never against other people's.

    Args:
        category: Name of the category.
        question: The question.
        given: Everybody's answers, several a person and unit where they were repeated.

    Source:
        Krippendorff (2011), Computing Krippendorff's Alpha-Reliability,
        https://repository.upenn.edu/asc_papers/43 (stability: test-retest data).
    """
    return question_agreement(category, question, [one._replace(unit=(one.annotator, one.unit)) for one in given])


def pair_agreements(question: Question, given: Sequence[GivenAnswer]) -> tuple[PairAgreement, ...]:
    """Return for every two people who met on a unit how far they say the same.

    Among more than ten people only the share of equal labels is given for each
    pair: alpha of a thousand pairs tells nothing that the alpha of all does not.

    Args:
        question: The question.
        given: Everybody's answers.
    """
    by_person: dict[str, list[GivenAnswer]] = defaultdict(list)
    for one in given:
        by_person[one.annotator].append(one)
    units = {name: {one.unit for one in answers} for name, answers in by_person.items()}
    met = [(a, b) for a, b in combinations(sorted(by_person), 2) if units[a] & units[b]]
    with_alpha = len(by_person) <= MOST_IN_PAIRS
    return tuple(_pair(question, a, b, [*by_person[a], *by_person[b]], with_alpha=with_alpha) for a, b in met)


def model_agreements(
    question: Question, people: Sequence[GivenAnswer], models: Mapping[str, Sequence[GivenAnswer]]
) -> tuple[PairAgreement, ...]:
    """Return for every model how far it says what each person says, on the dialogues that both labelled.

    Args:
        question: The question.
        people: People's answers.
        models: Model to its answers.
    """
    by_person: dict[str, list[GivenAnswer]] = defaultdict(list)
    for one in people:
        by_person[one.annotator].append(one)
    return tuple(
        _pair(question, person, model, [*given, *shadow], is_model=True)
        for model, shadow in sorted(models.items())
        for person, given in sorted(by_person.items())
        if {one.unit for one in given} & {one.unit for one in shadow}
    )


def _pair(
    question: Question,
    a: str,
    b: str,
    given: Sequence[GivenAnswer],
    *,
    is_model: bool = False,
    with_alpha: bool = True,
) -> PairAgreement:
    sheet = _Sheet(question, given)
    shared = sheet.shared_in_time()
    return PairAgreement(
        first=a,
        second=b,
        question=question.name,
        alike=sheet.alike(shared),
        alpha=sheet.alpha(shared) if with_alpha else Undefined(reason=TOO_MANY_PAIRS),
        is_model=is_model,
    )


def groups_of_annotators(
    question: Question, given: Sequence[GivenAnswer], group_of: Mapping[str, str], *, draws: int = 999
) -> tuple[GroupAgreement, ...]:
    """Return how far the annotators of each group agree with each other and with the rest.

    Whoever did not say what they are is left out: a group of the silent would be no group.

    Args:
        question: The question; its labels count as unordered.
        given: Everybody's answers.
        group_of: Annotator to the group that they describe themselves by.
        draws: Ways to give people groups at random; count.

    Source:
        See `group_agreement`.
    """
    known = [one for one in given if one.annotator in group_of and one.value is not None]
    people = list(dict.fromkeys(one.annotator for one in known))
    units = {unit: place for place, unit in enumerate(dict.fromkeys(one.unit for one in known))}
    if len({group_of[person] for person in people}) < 2:
        return ()
    rows: dict[str, list[str | None]] = {person: [None] * len(units) for person in people}
    for one in known:
        rows[one.annotator][units[one.unit]] = one.value
    groups = [group_of[person] for person in people]
    return group_agreement(list(rows.values()), groups, categories=question.scale.categories, draws=draws)


class _Sheet:
    """The labels of one question, unit by unit.

    Whole columns are worked on at once: a page has hundreds of thousands of labels.
    """

    def __init__(self, question: Question, given: Sequence[GivenAnswer]) -> None:
        """Number units, dialogues and labels."""
        scale = question.scale
        numbers = {point: place for place, point in enumerate(scale.categories)}
        self.scale: AlphaScale = "interval" if scale.is_numeric else "ordinal" if scale.ordered else "nominal"
        self._clustered = question.level is QuestionLevel.TURN
        kept = [one for one in given if one.value in numbers]
        units: dict[Hashable, int] = {}
        dialogues: dict[Hashable, int] = {}
        owner = {
            units.setdefault(one.unit, len(units)): dialogues.setdefault(one.dialogue, len(dialogues)) for one in kept
        }
        self._unit = np.array([units[one.unit] for one in kept], dtype=np.int64)
        self._place = np.array([numbers[one.value or ""] for one in kept], dtype=np.int64)
        self._dialogue = np.array([owner[unit] for unit in range(len(units))], dtype=np.int64)
        self._n = np.bincount(self._unit, minlength=len(units))
        self._begun = np.full(len(units), np.inf)
        np.minimum.at(self._begun, self._unit, np.array([one.at for one in kept], dtype=np.float64))
        self._same = _ends(np.maximum, -1, self._unit, self._place, len(units)) == _ends(
            np.minimum, len(numbers), self._unit, self._place, len(units)
        )

    def shared_in_time(self) -> Whole:
        """Return the numbers of the units with two labels or more, in order of their first one."""
        shared = np.flatnonzero(self._n >= 2)
        return shared[np.argsort(self._begun[shared], kind="stable")]

    def begun(self, unit: int) -> datetime:
        """Return when the first label of a unit was given."""
        return datetime.fromtimestamp(float(self._begun[unit]), tz=UTC)

    def alike(self, units: Whole) -> Estimate | Undefined:
        """Return the share of units on which all gave the same label."""
        if not len(units):
            return Undefined(reason=NO_UNIT_OF_TWO)
        same = self._same[units]
        if not self._clustered:
            return defect_rate(int(same.sum()), len(same))
        owners = self._dialogue[units]
        hits, sizes = np.bincount(owners, weights=same), np.bincount(owners)
        counts = [(int(hit), int(n)) for hit, n in zip(hits, sizes, strict=True) if n]
        return defect_rate(int(same.sum()), len(same), clusters=counts)

    def alpha(self, units: Whole) -> Estimate | Undefined:
        """Return agreement beyond chance; each unit counts as far as it was labelled twice or more.

        Who gave a label makes no difference to alpha, so that labels are stacked:
        as many rows as a unit has labels at most, not as there are annotators.
        """
        if not len(units):
            return Undefined(reason=NO_UNIT_OF_TWO)
        column = np.full(len(self._n), -1)
        column[units] = np.arange(len(units))
        order = np.argsort(self._unit, kind="stable")
        owner = self._unit[order]
        row = np.arange(len(order)) - np.concatenate([[0], np.cumsum(self._n)])[owner]
        wanted = column[owner] >= 0
        table: Floats = np.full((int(self._n[units].max()), len(units)), np.nan)
        table[row[wanted], column[owner[wanted]]] = self._place[order][wanted]
        clusters = self._dialogue[units].tolist() if self._clustered else None
        return krippendorff_alpha(table, scale=self.scale, clusters=clusters)


def _ends(end: np.ufunc, start: int, owners: Whole, places: Whole, n: int) -> Whole:
    """Return the lowest or highest place of each unit."""
    found = np.full(n, start, dtype=np.int64)
    end.at(found, owners, places)
    return found


def _stretches(sheet: _Sheet, order: Whole) -> Iterator[AnswerStretch]:
    n_stretches = min(STRETCHES, len(order) // FEWEST_IN_STRETCH)
    if n_stretches < 2:
        return
    for part in range(n_stretches):
        units = order[part * len(order) // n_stretches : (part + 1) * len(order) // n_stretches]
        yield AnswerStretch(
            begun=sheet.begun(int(units[0])),
            ended=sheet.begun(int(units[-1])),
            alike=sheet.alike(units),
            alpha=sheet.alpha(units),
        )


def _prevalence(question: Question, given: Sequence[GivenAnswer]) -> tuple[tuple[str, int], ...]:
    counted = Counter(one.value for one in given if one.value is not None)
    points = question.scale.categories or tuple(sorted(counted))
    return tuple((point, counted.get(point, 0)) for point in points)


def planned_passes(
    question: Question,
    given: Sequence[GivenAnswer],
    half_width: float,
    *,
    most_passes: int = 5,
    confidence: float = 0.95,
) -> tuple[PlannedPasses, ...] | Undefined:
    """Return how many dialogues it takes, with 1, 2, ... passes, to know a question's mean as closely as wanted.

    More passes lower the share of the spread that comes from people, more
    dialogues lower all of it: with little disagreement a second pass is wasted.
    The spread between dialogues and the spread between people about one dialogue
    come from the answers so far (one-way random effects); the mean of n dialogues
    with k passes each has the variance (between + within / k) / n.

    Args:
        question: A question on numbers, or of two categories, whose first one is counted.
        given: The answers so far, two people on some dialogues at least.
        half_width: Half of the interval wanted; scale points, or a fraction for categories.
        most_passes: Passes up to which it is worked out; count.
        confidence: Coverage of that interval; fraction in (0, 1).

    Returns:
        One entry a number of passes; `Undefined` where no dialogue has two answers.

    Raises:
        InputError: If the half-width is not above 0, or the scale has no mean.

    Source:
        Searle, Casella, McCulloch (1992), Variance Components, Wiley, section 3.6
        (analysis of variance estimators of the unbalanced one-way model).
    """
    if not half_width > 0:
        message = f"the half-width of an interval must be above 0; got {half_width}"
        raise InputError(message)
    values = _numbers(question, given)
    groups = [np.array(found) for found in values.values()]
    if not any(len(group) > 1 for group in groups) or len(groups) < 2:
        return Undefined(reason=NO_UNIT_OF_TWO)
    between, within = _components(groups)
    reach = normal_quantile(confidence) / half_width
    return tuple(
        PlannedPasses(passes=k, n_dialogues=n, n_annotations=n * k)
        for k in range(1, most_passes + 1)
        for n in [max(2, math.ceil((between + within / k) * reach**2 - 1e-9))]
    )


def _numbers(question: Question, given: Sequence[GivenAnswer]) -> Mapping[Hashable, list[float]]:
    scale, values = question.scale, defaultdict[Hashable, list[float]](list)
    if scale.kind is ScaleKind.CATEGORIES and len(scale.categories) != 2:
        message = f"`{question.name}` has {len(scale.categories)} categories and hence no mean; plan by one with two"
        raise InputError(message)
    for one in given:
        if one.value is not None and scale.admits(one.value):
            is_category = scale.kind is ScaleKind.CATEGORIES
            values[one.dialogue].append(float(one.value == scale.categories[0]) if is_category else float(one.value))
    return values


def _components(groups: Sequence[Floats]) -> tuple[float, float]:
    """Return the variance between dialogues, at least 0, and between people about one dialogue."""
    sizes = np.array([len(group) for group in groups], dtype=np.float64)
    means = np.array([group.mean() for group in groups])
    total = float(sizes.sum())
    grand = float((sizes * means).sum() / total)
    within = sum(float(((group - group.mean()) ** 2).sum()) for group in groups) / (total - len(groups))
    between_square = float((sizes * (means - grand) ** 2).sum()) / (len(groups) - 1)
    size = (total - float((sizes**2).sum()) / total) / (len(groups) - 1)
    return max(0.0, (between_square - within) / size), within
