"""Responses: what testers answered after their sessions, by application, level and group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from theodolite.domain.annotation import Outcome
from theodolite.domain.dialogue import Level
from theodolite.domain.estimate import Undefined
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.responses import AnswerContrast, AnswerSpread, ResponseFinding
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import Question, ScaleKind
from theodolite.domain.questionnaire import Questionnaire, QuestionnaireResponse
from theodolite.measurement.comparison.multiplicity import adjust_p_values
from theodolite.measurement.questionnaire.description import describe_answers
from theodolite.measurement.questionnaire.permutation import people_permutation

APPLICATION: Final = "application"
"""What applications are compared by, beside the names of groups."""

LONG_SCALE: Final = 5
"""Points from which the two highest are told together; shorter scales have one top."""

Responses = Sequence[QuestionnaireResponse]


def response_findings(evidence: Evidence) -> Iterator[ResponseFinding]:
    """Yield what each questionnaire brought at each level of testing.

    A response to another version of a questionnaire answered other questions; it
    is counted and left out. So is one that was never handed in.

    Args:
        evidence: All records of one run.

    Source:
        Descriptions: `describe_answers`; comparisons: `people_permutation`, adjusted by `adjust_p_values` (Holm)
        over all comparisons of one questionnaire at one level.
    """
    for questionnaire in evidence.study.questionnaires:
        version = version_of(questionnaire)
        own = [one for one in evidence.responses if one.questionnaire == questionnaire.name]
        for level in Level:
            there = [one for one in own if one.level is level]
            if there:
                yield _finding(evidence, questionnaire, version, level, there)


def _finding(
    evidence: Evidence, questionnaire: Questionnaire, version: str, level: Level, there: Responses
) -> ResponseFinding:
    valid = [one for one in there if one.instrument_version == version]
    given = [one for one in valid if one.submitted]
    applications = [application.name for application in evidence.study.applications]
    table = _Table(questionnaire=questionnaire, given=given, applications=applications)
    return ResponseFinding(
        questionnaire=questionnaire.name,
        version=version,
        title=questionnaire.title,
        level=level,
        questions=questionnaire.instrument.questions,
        n=len(given),
        n_people=len({one.participant for one in given}),
        n_drafts=len(valid) - len(given),
        n_other=len(there) - len(valid),
        spreads=tuple(table.spreads()),
        contrasts=_adjusted_contrasts(tuple(table.contrasts(evidence.study.sampling.seed))),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """The responses to one questionnaire at one level."""

    questionnaire: Questionnaire
    given: Responses
    applications: Sequence[str]

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """Groups of testers that have several values, with these."""
        names = dict.fromkeys(name for one in self.given for name in one.groups)
        found = {name: tuple(sorted({one.groups[name] for one in self.given if name in one.groups})) for name in names}
        return {name: values for name, values in found.items() if len(values) > 1}

    def spreads(self) -> Iterator[AnswerSpread]:
        """Yield how answers are spread: by application first, then by group within each."""
        groups: list[tuple[str, str] | tuple[()]] = [()]
        groups += [(name, value) for name, values in self.groups.items() for value in values]
        for group in groups:
            for question in self.questionnaire.instrument.questions:
                for application in self.applications:
                    about = [one for one in self.given if one.application == application and _is_in(one, group)]
                    if about:
                        yield replace(answer_spread(question, about), application=application, group=group)

    def contrasts(self, seed: int) -> Iterator[AnswerContrast]:
        """Yield comparisons of every two applications, and of every two values of a group."""
        met = [name for name in self.applications if any(one.application == name for one in self.given)]
        for question in self.questionnaire.instrument.questions:
            if not has_order(question):
                continue
            for pair in combinations(met, 2):
                sides = [one.application for one in self.given]
                yield _contrast(question, self.given, sides, pair, by=APPLICATION, seed=seed)
            for name, values in self.groups.items():
                for pair in combinations(values, 2):
                    sides = [one.groups.get(name, "") for one in self.given]
                    yield _contrast(question, self.given, sides, pair, by=name, seed=seed)


def _is_in(response: QuestionnaireResponse, group: tuple[str, str] | tuple[()]) -> bool:
    return not group or response.groups.get(group[0]) == group[1]


def has_order(question: Question) -> bool:
    """Tell whether answers can be higher or lower: by their scale, or since there are two labels alone."""
    scale = question.scale
    ordered = scale.is_numeric or (scale.kind is ScaleKind.CATEGORIES and (scale.ordered or len(scale.labels) == 2))
    return ordered and not question.several


def answer_spread(question: Question, about: Responses) -> AnswerSpread:
    """Return how the answers to one question are spread over some responses; application and group are left empty.

    Args:
        question: The question.
        about: Responses to its questionnaire.
    """
    outcomes = Counter(_outcome(one, question) for one in about)
    answered = outcomes.pop(Outcome.ANSWERED, 0)
    spread = AnswerSpread(question=question.name, application="", n=answered, outcomes=dict(sorted(outcomes.items())))
    values = [answer.value for one in about for answer in one.to(question.name) if answer.value is not None]
    if question.scale.kind in {ScaleKind.TEXT, ScaleKind.DECIMALS}:
        return replace(spread, texts=tuple(values))
    counts = {label: values.count(label) for label in question.scale.categories}
    spread = replace(spread, counts=counts)
    return _ordered(spread, question, about) if has_order(question) else spread


def _ordered(spread: AnswerSpread, question: Question, about: Responses) -> AnswerSpread:
    """Return a spread with what an order of the labels adds to it."""
    points = question.scale.categories
    top = 2 if len(points) >= LONG_SCALE else 1
    people = [one.participant for one in about]
    found = describe_answers(
        [answer_value(one, question) for one in about],
        categories=points,
        clusters=people if len(set(people)) < len(people) else None,
        top=top,
    )
    low, middle, high = found.lower_quartile, found.median, found.upper_quartile
    quartiles = None if low is None or middle is None or high is None else (low, middle, high)
    return replace(spread, quartiles=quartiles, top_labels=points[-top:], top=found.top_two)


def _outcome(response: QuestionnaireResponse, question: Question) -> Outcome:
    """Return what became of a question in a response; one that was not opened does not apply."""
    answers = response.to(question.name)
    if answers:
        return answers[0].outcome
    return Outcome.NOT_APPLICABLE if question.when else Outcome.MISSING


def answer_value(response: QuestionnaireResponse, question: Question) -> str | None:
    """Return the first label that a response gives to a question; None for none."""
    return next((answer.value for answer in response.to(question.name)), None)


def _contrast(
    question: Question, given: Responses, sides: Sequence[str], pair: tuple[str, str], *, by: str, seed: int
) -> AnswerContrast:
    """Compare two sides; the second is the one that stands later in `pair`."""
    points = question.scale.categories
    order = {pair[0]: "0", pair[1]: "1"}
    rows = [(one, order[side]) for one, side in zip(given, sides, strict=True) if side in order]
    values = [answer_value(one, question) for one, _ in rows]
    test = people_permutation(
        [None if value is None else float(points.index(value)) for value in values],
        [side for _, side in rows],
        [one.participant for one, _ in rows],
        seed=seed,
    )
    return AnswerContrast(question=question.name, by=by, first=pair[0], second=pair[1], test=test)


def _adjusted_contrasts(contrasts: tuple[AnswerContrast, ...]) -> tuple[AnswerContrast, ...]:
    tested = [one for one in contrasts if not isinstance(one.test, Undefined)]
    p_values = [one.test.p_value for one in tested if not isinstance(one.test, Undefined)]
    adjusted = dict(zip(map(id, tested), adjust_p_values(p_values), strict=True)) if tested else {}
    return tuple(replace(one, adjusted_p_value=adjusted.get(id(one))) for one in contrasts)
