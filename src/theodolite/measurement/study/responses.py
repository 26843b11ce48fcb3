"""Answers of testers to questionnaires: distributions, comparisons and models."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from statistics import fmean
from typing import Final

from theodolite.domain.annotation import Outcome
from theodolite.domain.answer_rules import AnswerSource, QuestionLabels, annotators_of, pool_labels_of, positions_of
from theodolite.domain.dialogue import Level
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.number import Significance
from theodolite.domain.findings.responses import (
    AnswerComparison,
    AnswerContrast,
    AnswerSide,
    AnswerSpread,
    ConstructAnswers,
    ResponseFinding,
    SideModel,
    SidePair,
)
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import Construct, Question, ScaleKind
from theodolite.domain.schema import Questionnaire, QuestionnaireResponse
from theodolite.domain.undefined_reasons import ONE_SIDE, TOO_FEW_FOR_A_MODEL
from theodolite.measurement.comparison import Adjustment, adjust_p_values
from theodolite.measurement.labels import shared_clusters
from theodolite.measurement.ordinal import OrdinalFit, odds_by_threshold, ordinal_model
from theodolite.measurement.questionnaires import describe_answers, people_permutation
from theodolite.measurement.rank_tests import (
    brunner_munzel_test,
    dunn,
    friedman,
    kruskal_wallis,
    signed_rank_test,
    superiority,
)
from theodolite.measurement.study.risks import FEWEST

APPLICATION: Final = "application"
"""Units of comparison of applications, in addition to the names of groups."""

LONG_SCALE: Final = 5
"""Minimum number of points of a scale for reporting the two highest together; shorter scales report one."""

Responses = Sequence[QuestionnaireResponse]


def response_findings(evidence: Evidence) -> Iterator[ResponseFinding]:
    """Yield the answers to each questionnaire at each level of testing.

    A response to another version of a questionnaire answers other questions; it
    is counted and excluded, as are responses that were never submitted.

    Source:
        Descriptions: `describe_answers`; comparisons: `people_permutation`, adjusted by `adjust_p_values` (Holm)
        over all comparisons of one questionnaire at one level.
    """
    for questionnaire in evidence.study.questionnaires:
        version = version_of(questionnaire)
        own = [response for response in evidence.responses if response.questionnaire == questionnaire.name]
        for level in Level:
            at_level = [response for response in own if response.level is level]
            if at_level:
                yield _finding(evidence, questionnaire, version, level, at_level)


def _finding(
    evidence: Evidence, questionnaire: Questionnaire, version: str, level: Level, at_level: Responses
) -> ResponseFinding:
    valid = [response for response in at_level if response.instrument_version == version]
    submitted = [response for response in valid if response.submitted]
    applications = [application.name for application in evidence.study.applications]
    table = _Table(questionnaire=questionnaire, responses=submitted, applications=applications)
    return ResponseFinding(
        questionnaire=questionnaire.name,
        version=version,
        title=questionnaire.title,
        level=level,
        questions=questionnaire.instrument.questions,
        n=len(submitted),
        n_people=len({response.participant for response in submitted}),
        n_drafts=len(valid) - len(submitted),
        n_other=len(at_level) - len(valid),
        spreads=tuple(table.spreads()),
        contrasts=_adjusted_contrasts(tuple(table.contrasts(evidence.study.sampling.seed))),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """The responses to one questionnaire at one level."""

    questionnaire: Questionnaire
    responses: Responses
    applications: Sequence[str]

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """Groups of testers that have several values, with these."""
        names = dict.fromkeys(name for response in self.responses for name in response.groups)
        values_of = {
            name: tuple(sorted({response.groups[name] for response in self.responses if name in response.groups}))
            for name in names
        }
        return {name: values for name, values in values_of.items() if len(values) > 1}

    def spreads(self) -> Iterator[AnswerSpread]:
        """Yield the distributions of answers: by application, then by group within each."""
        groups: list[tuple[str, str] | tuple[()]] = [()]
        groups += [(name, value) for name, values in self.groups.items() for value in values]
        for group in groups:
            for question in self.questionnaire.instrument.questions:
                for application in self.applications:
                    matching = [
                        response
                        for response in self.responses
                        if response.application == application and _is_in(response, group)
                    ]
                    if matching:
                        yield replace(answer_spread(question, matching), application=application, group=group)

    def contrasts(self, seed: int) -> Iterator[AnswerContrast]:
        """Yield comparisons of every two applications, and of every two values of a group."""
        met = [name for name in self.applications if any(response.application == name for response in self.responses)]
        for question in self.questionnaire.instrument.questions:
            if not has_order(question):
                continue
            for pair in combinations(met, 2):
                sides = [response.application for response in self.responses]
                yield _contrast(question, self.responses, sides, pair, by=APPLICATION, seed=seed)
            for name, values in self.groups.items():
                for pair in combinations(values, 2):
                    sides = [response.groups.get(name, "") for response in self.responses]
                    yield _contrast(question, self.responses, sides, pair, by=name, seed=seed)


def _is_in(response: QuestionnaireResponse, group: tuple[str, str] | tuple[()]) -> bool:
    return not group or response.groups.get(group[0]) == group[1]


def has_order(question: Question) -> bool:
    """Return whether answers have an order: by their scale, or because there are only two labels."""
    scale = question.scale
    ordered = scale.is_numeric or (scale.kind is ScaleKind.CATEGORIES and (scale.ordered or len(scale.labels) == 2))
    return ordered and not question.several


def answer_spread(question: Question, responses: Responses) -> AnswerSpread:
    """Return the distribution of the answers to one question over some responses, without application and group."""
    outcomes = Counter(_outcome(response, question) for response in responses)
    answered = outcomes.pop(Outcome.ANSWERED, 0)
    spread = AnswerSpread(question=question.name, application="", n=answered, outcomes=dict(sorted(outcomes.items())))
    values = [
        answer.value for response in responses for answer in response.to(question.name) if answer.value is not None
    ]
    if question.scale.kind in {ScaleKind.TEXT, ScaleKind.DECIMALS}:
        return replace(spread, texts=tuple(values))
    counts = {label: values.count(label) for label in question.scale.categories}
    spread = replace(spread, counts=counts)
    return _ordered(spread, question, responses) if has_order(question) else spread


def _ordered(spread: AnswerSpread, question: Question, responses: Responses) -> AnswerSpread:
    """Return a distribution with the statistics of an ordered scale."""
    people = [response.participant for response in responses]
    return _described(spread, question, [answer_value(response, question) for response in responses], people)


def _described(
    spread: AnswerSpread, question: Question, answers: Sequence[str | None], clusters: Sequence[str]
) -> AnswerSpread:
    points = question.scale.categories
    top = 2 if len(points) >= LONG_SCALE else 1
    if set(points) == {"yes", "no"}:
        points = ("no", "yes")  # the share of `yes` is reported, in whichever order the scale lists the two
    description = describe_answers(answers, categories=points, clusters=shared_clusters(clusters), top=top)
    low, middle, high = description.lower_quartile, description.median, description.upper_quartile
    quartiles = None if low is None or middle is None or high is None else (low, middle, high)
    return replace(spread, quartiles=quartiles, top_labels=points[-top:], top=description.top_two)


def _outcome(response: QuestionnaireResponse, question: Question) -> Outcome:
    """Return the outcome of a question in a response; a question that was not opened does not apply."""
    answers = response.to(question.name)
    if answers:
        return answers[0].outcome
    return Outcome.NOT_APPLICABLE if question.when else Outcome.MISSING


def answer_value(response: QuestionnaireResponse, question: Question) -> str | None:
    """Return the first label that a response gives to a question; None for none."""
    return next((answer.value for answer in response.to(question.name)), None)


def _contrast(
    question: Question, responses: Responses, sides: Sequence[str], pair: tuple[str, str], *, by: str, seed: int
) -> AnswerContrast:
    """Compare two sides; the second is the later one in `pair`."""
    points = question.scale.categories
    order = {pair[0]: "0", pair[1]: "1"}
    rows = [(response, order[side]) for response, side in zip(responses, sides, strict=True) if side in order]
    values = [answer_value(response, question) for response, _ in rows]
    test = people_permutation(
        [None if value is None else float(points.index(value)) for value in values],
        [side for _, side in rows],
        [response.participant for response, _ in rows],
        seed=seed,
    )
    return AnswerContrast(question=question.name, by=by, first=pair[0], second=pair[1], test=test)


def _adjusted_contrasts(contrasts: tuple[AnswerContrast, ...]) -> tuple[AnswerContrast, ...]:
    tested = [contrast for contrast in contrasts if not isinstance(contrast.test, Undefined)]
    p_values = [contrast.test.p_value for contrast in tested if not isinstance(contrast.test, Undefined)]
    adjusted = dict(zip(map(id, tested), adjust_p_values(p_values), strict=True)) if tested else {}
    return tuple(replace(contrast, adjusted_p_value=adjusted.get(id(contrast))) for contrast in contrasts)


def construct_answers(evidence: Evidence) -> Iterator[ConstructAnswers]:
    """Yield the answers to questions on users' views of the content, construct by construct.

    Testers answer about themselves after a session; annotators answer about the content of a dialogue.
    The two are never added; neither are levels of testing.
    Questions without a construct are omitted.

    Source:
        `describe_answers`; testers, or dialogues, are the clusters of intervals. Constructs: NIST AI 700-1 (2024),
        section 4.3 ("perceive, make sense of, adapt to, and act upon").
    """
    result = [*_reported(evidence), *_observed(evidence)]
    for construct in Construct:
        yield from (answers for answers in result if answers.construct is construct)


def _reported(evidence: Evidence) -> Iterator[ConstructAnswers]:
    """Yield testers' answers about themselves: by application, then by scenario if there are several."""
    for questionnaire in evidence.study.questionnaires:
        version = version_of(questionnaire)
        for question in questionnaire.instrument.questions:
            for level in Level if question.construct else ():
                own = [
                    response
                    for response in evidence.responses
                    if response.questionnaire == questionnaire.name
                    and response.level is level
                    and response.submitted
                    and response.instrument_version == version
                ]
                scenarios = sorted({questionnaire_response.scenario for questionnaire_response in own})
                for scenario, application in _contexts(evidence, scenarios):
                    matching = [
                        questionnaire_response
                        for questionnaire_response in own
                        if questionnaire_response.application == application
                        and scenario in {"", questionnaire_response.scenario}
                    ]
                    if matching and question.construct:
                        yield ConstructAnswers(
                            construct=question.construct,
                            instrument=questionnaire.name,
                            annotator="",
                            level=level,
                            question=question,
                            application=application,
                            scenario=scenario,
                            spread=replace(answer_spread(question, matching), application=application),
                            n_clusters=len({questionnaire_response.participant for questionnaire_response in matching}),
                        )


def _contexts(evidence: Evidence, scenarios: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of scenario and application: all scenarios together (empty), then each one of several."""
    for scenario in ("", *(scenarios if len(scenarios) > 1 else ())):
        for application in evidence.study.applications:
            yield scenario, application.name


def _observed(evidence: Evidence) -> Iterator[ConstructAnswers]:
    """Yield findings in dialogues by the leading annotators."""
    table, study = evidence.answers, evidence.study
    for guideline in study.guidelines:
        construct_questions = [one for one in guideline.instrument.questions if one.construct and one.scale.categories]
        scenarios = sorted({setting.scenario for setting in table.settings}) if construct_questions else []
        for question, level, (scenario, name) in product(construct_questions, Level, _contexts(evidence, scenarios)):
            positions = [
                position
                for position in positions_of(study, table, name, guideline)
                if table.settings[position].level is level and scenario in {"", table.settings[position].scenario}
            ]
            labels = QuestionLabels(table=table, guideline=guideline, question=question, positions=positions)
            for source in annotators_of(study, guideline, name, question.name).headline if positions else ():
                answers = _observed_by(source, labels.assigned_to(source), level, name, scenario)
                if answers.spread.n:
                    yield answers


def _observed_by(
    source: AnswerSource, labels: QuestionLabels, level: Level, application: str, scenario: str
) -> ConstructAnswers:
    """Return the labels of one source; of a pool all labels that its people gave."""
    question, read = labels.question, labels.labels(source)
    values = [(position, label.value) for position, label in zip(labels.positions, read, strict=True) if label.value]
    if source.is_pool:
        pooled = pool_labels_of(labels.table, labels.guideline, question, positions=labels.positions)
        values = [(person_label.position, person_label.value) for person_label in pooled]
    clusters = [labels.setting(position).cluster or str(position) for position, _ in values]
    counts = Counter(value for _, value in values)
    unanswered = Counter(label.outcome for label in read if label.value is None)
    spread = AnswerSpread(
        question=question.name,
        application=application,
        counts={label: counts[label] for label in question.scale.categories},
        n=len(values),
        outcomes=dict(sorted(unanswered.items())),
    )
    if has_order(question):
        spread = _described(spread, question, [value for _, value in values], clusters)
    return ConstructAnswers(
        construct=question.construct or Construct.PERCEIVE,
        instrument=labels.guideline.name,
        annotator=source.name,
        level=level,
        question=question,
        application=application,
        scenario=scenario,
        spread=spread,
        n_clusters=len({position for position, _ in values}),
    )


FEWEST_PEOPLE: Final = 10
"""Minimum number of testers for a model: with fewer, its intervals would be too narrow; count."""

UNIT: Final = "ratio of odds of a higher answer"
"""Unit of a model's numbers."""

Traits = Mapping[str, Callable[[QuestionnaireResponse], str]]
"""Other differences between responses, such as the scenario, with a function that returns the value for a response."""


def side_model(
    question: Question,
    responses: Sequence[QuestionnaireResponse],
    side_of: Callable[[QuestionnaireResponse], str],
    held_equal: Traits | None = None,
) -> SideModel | Undefined:
    """Model the answers to a question by their sides, with a random intercept for each tester.

    In the tests of `compare_sides`, each tester counts once per side, and nothing else is
    controlled. Here every answer counts: a tester's answers share one intercept, and
    other differences, such as the scenario, are controlled. In return it assumes that a
    side shifts the odds equally along the scale, which is tested and reported.

    Args:
        question: A question with ordered answers.
        responses: Submitted responses to its questionnaire.
        side_of: Returns the side of a response; empty to exclude it.
        held_equal: Other factors that may affect the answers.

    Returns:
        Odds ratios against the first side by name, with Wald's intervals; `Undefined`
        with only one side, fewer than ten testers, or a side that determines the answers.

    Source:
        `ordinal_model`, `odds_by_threshold`.
    """
    answered = [
        response for response in responses if side_of(response) and answer_value(response, question) is not None
    ]
    people = [response.participant for response in answered]
    sides = sorted({side_of(response) for response in answered})
    if len(sides) < 2:
        return Undefined(reason=ONE_SIDE, n=len(answered), unit=UNIT)
    if len(set(people)) < FEWEST_PEOPLE:
        reason = TOO_FEW_FOR_A_MODEL.format(fewest=FEWEST_PEOPLE)
        return Undefined(reason=reason, n=len(answered), unit=UNIT)
    factors = dict(_factors("", [side_of(response) for response in answered]))
    equal = {
        name: trait for name, trait in (held_equal or {}).items() if len({trait(response) for response in answered}) > 1
    }
    for name, trait in equal.items():
        factors |= dict(_factors(f"{name} ", [trait(response) for response in answered]))
    answers, points = [answer_value(response, question) for response in answered], question.scale.categories
    repeats = shared_clusters(people)
    fit = ordinal_model(answers, factors, categories=points, people=repeats)
    if isinstance(fit, Undefined):
        return fit
    by_point = odds_by_threshold(answers, factors, categories=points)
    return SideModel(
        against=sides[0],
        odds={side: _ratio(fit.coefficients[side]) for side in sides[1:]},
        held_equal=tuple(equal),
        n=fit.n,
        n_people=len(set(people)),
        is_even=all(_is_even(side, list(by_point.values())) for side in sides[1:]),
    )


def _factors(prefix: str, values: Sequence[str]) -> Iterator[tuple[str, list[float]]]:
    """Yield, for every value except the first, whether a response has it."""
    for value in sorted(set(values))[1:]:
        yield f"{prefix}{value}", [float(observed == value) for observed in values]


def _ratio(log_odds: Estimate) -> Estimate:
    """Return log odds as an odds ratio."""
    low, high = (None if end is None else math.exp(end) for end in (log_odds.low, log_odds.high))
    return replace(log_odds, value=math.exp(log_odds.value), low=low, high=high, unit=UNIT)


def _is_even(side: str, fits: Sequence[OrdinalFit | Undefined]) -> bool:
    """Return whether the effects of a side at all points of the scale have overlapping intervals."""
    effects = [fit.coefficients[side] for fit in fits if isinstance(fit, OrdinalFit)]
    ends = [(effect.low, effect.high) for effect in effects if effect.low is not None and effect.high is not None]
    return not ends or max(low for low, _ in ends) <= min(high for _, high in ends)


FEWEST_WITHIN: Final = 3
"""Minimum number of testers with answers on every side for a comparison within testers; count."""

SideOf = Callable[[QuestionnaireResponse], str]
"""Returns the name of a response's side; empty for none."""

_People = Mapping[str, Mapping[str, float]]
"""Mean position of each tester's answers on the scale, by side and tester."""


def compare_sides(
    questions: Sequence[Question],
    responses: Sequence[QuestionnaireResponse],
    side_of: SideOf,
    *,
    small_are_withheld: bool,
    adjustment: Adjustment = "holm",
) -> tuple[AnswerComparison, ...]:
    """Compare the answers to some questions between sides; each tester counts once per side.

    If at least three testers, and at least half of all, answered on every side, they are
    compared with themselves: Wilcoxon's signed ranks for two sides, Friedman's
    test for more. Otherwise each tester is assigned to one side, the smallest of theirs:
    Brunner and Munzel's test for two sides, Kruskal and Wallis's with Dunn's for
    more. Several answers of a tester on one side count with their mean position on the scale.

    Args:
        questions: Questions of one questionnaire; those without order are described, not tested.
        responses: Submitted responses to it.
        side_of: The side of a response.
        small_are_withheld: Whether sides of fewer than five testers are counted but
            neither described nor tested; for groups of people.
        adjustment: How p-values are adjusted, for all questions and for all pairs of one.

    Source:
        `signed_rank_test`, `friedman`, `brunner_munzel_test`, `kruskal_wallis`, `dunn`, `adjust_p_values`.
    """
    comparisons = [_compared(question, responses, side_of, small_are_withheld, adjustment) for question in questions]
    tests = [comparison.test for comparison in comparisons if isinstance(comparison.test, Significance)]
    adjusted = iter(adjust_p_values([test.p_value for test in tests], method=adjustment))
    return tuple(
        replace(comparison, adjusted_p_value=next(adjusted))
        if isinstance(comparison.test, Significance)
        else comparison
        for comparison in comparisons
    )


def _compared(
    question: Question,
    responses: Sequence[QuestionnaireResponse],
    side_of: SideOf,
    small_are_withheld: bool,  # noqa: FBT001  # a plain hand-over of the caller's choice
    adjustment: Adjustment,
) -> AnswerComparison:
    by_side: dict[str, list[QuestionnaireResponse]] = defaultdict(list)
    for response in responses:
        by_side[side_of(response)].append(response)
    sides = tuple(
        _side(question, name, own, least=FEWEST if small_are_withheld else 1)
        for name, own in sorted(by_side.items())
        if name
    )
    shown = [side.name for side in sides if side.spread is not None]
    plain = AnswerComparison(question=question, sides=sides)
    if not has_order(question) or len(shown) < 2:
        return plain
    people = {name: _mean_positions(question, by_side[name]) for name in shown}
    on_every_side = set.intersection(*(set(positions) for positions in people.values()))
    everybody = set().union(*people.values())
    if len(on_every_side) >= FEWEST_WITHIN and 2 * len(on_every_side) >= len(everybody):
        return _within(
            plain,
            {name: {person: positions[person] for person in on_every_side} for name, positions in people.items()},
            adjustment,
        )
    return _between(plain, _parted(people), adjustment)


def _side(question: Question, name: str, responses: Sequence[QuestionnaireResponse], *, least: int) -> AnswerSide:
    n_people = len({response.participant for response in responses})
    return AnswerSide(
        name=name, n_people=n_people, spread=answer_spread(question, responses) if n_people >= least else None
    )


def _mean_positions(question: Question, responses: Sequence[QuestionnaireResponse]) -> dict[str, float]:
    """Return the mean position of each tester's answers on the scale."""
    points, by_person = question.scale.categories, defaultdict[str, list[float]](list)
    for response in responses:
        value = answer_value(response, question)
        if value is not None:
            by_person[response.participant].append(float(points.index(value)))
    return {person: fmean(positions) for person, positions in by_person.items()}


def _parted(people: _People) -> dict[str, list[float]]:
    """Return the positions by side, with each tester only on the smallest side on which they answered."""
    taken: set[str] = set()
    parts: dict[str, list[float]] = {}
    sizes = sorted(people, key=lambda name: len(people[name]))
    for name in sizes:
        parts[name] = [position for person, position in sorted(people[name].items()) if person not in taken]
        taken |= set(people[name])
    return {name: parts[name] for name in people}


def _within(plain: AnswerComparison, people: _People, adjustment: Adjustment) -> AnswerComparison:
    names, people_within = list(people), sorted(next(iter(people.values())))
    columns = {name: [people[name][person] for person in people_within] for name in names}
    if len(names) == 2:
        test: Significance | Undefined = signed_rank_test(*columns.values())
        return replace(plain, is_within=True, test=test)
    pairs = tuple(
        SidePair(first=first, second=second, test=signed_rank_test(columns[first], columns[second]))
        for first, second in combinations(names, 2)
    )
    rows = [[columns[name][row] for name in names] for row in range(len(people_within))]
    return replace(plain, is_within=True, test=friedman(rows), pairs=_adjusted_pairs(pairs, adjustment))


def _between(plain: AnswerComparison, parts: Mapping[str, Sequence[float]], adjustment: Adjustment) -> AnswerComparison:
    if len(parts) == 2:
        first, second = parts.values()
        return replace(plain, test=brunner_munzel_test(first, second), effect=superiority(first, second))
    pairs = tuple(
        SidePair(
            first=pair.first,
            second=pair.second,
            test=pair.test,
            effect=superiority(parts[pair.first], parts[pair.second]),
            adjusted_p_value=pair.adjusted_p_value,
        )
        for pair in dunn(parts, adjustment=adjustment)
    )
    return replace(plain, test=kruskal_wallis(parts), pairs=pairs)


def _adjusted_pairs(pairs: Sequence[SidePair], adjustment: Adjustment) -> tuple[SidePair, ...]:
    tests = [pair.test for pair in pairs if isinstance(pair.test, Significance)]
    adjusted = iter(adjust_p_values([test.p_value for test in tests], method=adjustment))
    return tuple(
        replace(pair, adjusted_p_value=next(adjusted)) if isinstance(pair.test, Significance) else pair
        for pair in pairs
    )
