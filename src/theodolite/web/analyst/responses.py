"""Responses to questionnaires: distributions side by side, with their statistical tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from theodolite.domain.annotation import Outcome
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.number import Significance
from theodolite.domain.findings.responses import AnswerComparison, AnswerSide, AnswerSpread
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import ScaleKind
from theodolite.domain.schema import Questionnaire, QuestionnaireResponse
from theodolite.measurement.comparison import Adjustment
from theodolite.measurement.study.responses import compare_sides, side_model
from theodolite.reporting.words import figures
from theodolite.web.analyst.context import AnalystContext, for_analysts
from theodolite.web.charts import Histogram, histogram

Responses = Sequence[QuestionnaireResponse]

PLAIN: dict[str, Callable[[QuestionnaireResponse], str]] = {
    "application": lambda response: response.application,
    "scenario": lambda response: response.scenario,
    "level": lambda response: response.level.value if response.level else "",
}
"""Attributes to compare responses by, beside groups of testers."""

ADJUSTMENTS: dict[str, tuple[Adjustment, str]] = {
    "holm": ("holm", "Holm: controls any false positive"),
    "bh": ("bh", "Benjamini and Hochberg: controls the share of false positives"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SideColumn:
    """One side of a question, as it is drawn.

    Attributes:
        name: Its name.
        people: Testers; in words.
        drawn: The picture; None where there are no labels, or they are withheld.
        middle: Median and quartiles in words; empty where labels have no order.
        left_out: What is not among the answers, in words.
        note: What stands in place of a picture; empty where there is one.
    """

    name: str
    people: str
    drawn: Histogram | None
    middle: str = ""
    left_out: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseBlock:
    """One question with everything that is shown of it."""

    text: str
    topic: str
    sides: tuple[SideColumn, ...]
    legend: tuple[tuple[str, str], ...]
    test: str
    pairs: tuple[tuple[str, str], ...]
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseSelection:
    """The selection of the page.

    Attributes:
        questionnaire: The answers to which.
        level: Level of testing; empty where levels are held against each other.
        scenario: Scenario; empty for all.
        by: What is held against each other.
        adjustment: How p-values are adjusted.
        has_models: Whether a model of all answers is shown beside each test.
    """

    questionnaire: Questionnaire
    level: str
    scenario: str
    by: str
    adjustment: Adjustment
    has_models: bool

    def side(self, response: QuestionnaireResponse) -> str:
        """Return the side of a response."""
        plain = PLAIN.get(self.by)
        return plain(response) if plain else response.groups.get(self.by, "")

    def takes(self, response: QuestionnaireResponse) -> bool:
        """Tell whether a response is of the level and scenario."""
        return self.level in {"", PLAIN["level"](response)} and self.scenario in {
            "",
            response.scenario,
        }


@for_analysts
@require_GET
def responses(request: HttpRequest, analyst: AnalystContext) -> HttpResponse:
    """Show the answers to one questionnaire, split by whatever is asked for."""
    responses_by_level = [response for response in analyst.responses() if response.level is not None]
    met = [
        questionnaire
        for questionnaire in analyst.study.questionnaires
        if any(response.questionnaire == questionnaire.name for response in responses_by_level)
    ]
    context: dict[str, object] = {"access": analyst.access, "questionnaires": met}
    if met:
        choice = _choice(request, met, responses_by_level)
        context |= _shown(
            choice, [response for response in responses_by_level if response.questionnaire == choice.questionnaire.name]
        )
    return render(request, "web/analyst/responses.html", context)


def _choice(request: HttpRequest, met: Sequence[Questionnaire], responses: Responses) -> ResponseSelection:
    query = request.GET
    counts = Counter(response.questionnaire for response in responses)
    most = max(met, key=lambda questionnaire: counts[questionnaire.name])
    questionnaire = next(
        (questionnaire for questionnaire in met if questionnaire.name == query.get("questionnaire")), most
    )
    own = [response for response in responses if response.questionnaire == questionnaire.name]
    levels = list(dict.fromkeys(PLAIN["level"](response) for response in own))
    by = query.get("by", "application")
    level = query.get("level", "")
    return ResponseSelection(
        questionnaire=questionnaire,
        # Levels answer different questions: they are held against each other where that is asked for, and never added.
        level="" if by == "level" else level if level in levels else levels[0],
        scenario=query.get("scenario", ""),
        by=by if by in {*PLAIN, *_groups(own)} else "application",
        adjustment=ADJUSTMENTS.get(query.get("adjust", ""), ADJUSTMENTS["holm"])[0],
        has_models=query.get("model", "") == "ordinal",
    )


def _groups(own: Responses) -> list[str]:
    names = dict.fromkeys(name for response in own for name in response.groups)
    return [name for name in names if len({response.groups[name] for response in own if name in response.groups}) > 1]


def _shown(choice: ResponseSelection, own: Responses) -> dict[str, object]:
    version = version_of(choice.questionnaire)
    valid = [response for response in own if response.instrument_version == version]
    submitted = [response for response in valid if response.submitted]
    about = [response for response in submitted if choice.takes(response)]
    comparisons = compare_sides(
        choice.questionnaire.instrument.questions,
        about,
        choice.side,
        small_are_withheld=choice.by not in PLAIN,
        adjustment=choice.adjustment,
    )
    return {
        "choice": choice,
        "levels": list(dict.fromkeys(PLAIN["level"](response) for response in own)),
        "scenarios": list(dict.fromkeys(response.scenario for response in own)),
        "ways": [*PLAIN, *_groups(own)],
        "adjustments": [(name, label) for name, (_, label) in ADJUSTMENTS.items()],
        "n": len(about),
        "n_people": len({response.participant for response in about}),
        "n_drafts": len(valid) - len(submitted),
        "n_other": len(own) - len(valid),
        "blocks": [
            _block(comparison, _model_words(choice, comparison, about) if choice.has_models else "")
            for comparison in comparisons
        ],
        "task": _task(about),
    }


def _task(about: Responses) -> str:
    """Return how many testers have answered every question that they were asked; in words."""
    whole = sum(all(answer.outcome is not Outcome.MISSING for answer in response.answers) for response in about)
    return f"{figures.count(whole)} of {figures.count(len(about))} answered all that they were asked" if about else ""


def _block(answer_comparison: AnswerComparison, model: str) -> ResponseBlock:
    sides = tuple(_column(side, answer_comparison) for side in answer_comparison.sides)
    legends = [side.drawn.legend for side in sides if side.drawn]
    return ResponseBlock(
        text=answer_comparison.question.text,
        topic=answer_comparison.question.topic.value if answer_comparison.question.topic else "",
        sides=sides,
        legend=legends[0] if legends else (),
        test=_test_words(answer_comparison),
        pairs=tuple(
            (f"{pair.first} and {pair.second}", _words(pair.test, pair.adjusted_p_value, pair.effect))
            for pair in answer_comparison.pairs
        ),
        model=model,
    )


def _model_words(choice: ResponseSelection, compared: AnswerComparison, about: Responses) -> str:
    """Return what a model of all answers says of the sides that are shown; empty where nothing was compared."""
    if compared.test is None:
        return ""
    shown = {side.name for side in compared.sides if side.spread is not None}
    equal = {name: PLAIN[name] for name in ("application", "scenario") if name != choice.by}
    model = side_model(
        compared.question, [response for response in about if choice.side(response) in shown], choice.side, equal
    )
    if isinstance(model, Undefined):
        return f"model undefined: {model.reason.rstrip('.')}"
    odds = [f"{_times(ratio)} with {side} as with {model.against}" for side, ratio in model.odds.items()]
    parts = [f"Odds of a higher answer: {'; '.join(odds)}"]
    parts += [f"{' and '.join(model.held_equal)} held constant"] if model.held_equal else []
    parts.append(f"{figures.number_of(model.n, 'answer')} of {figures.number_of(model.n_people, 'tester')}")
    uneven = "" if model.is_even else ". The difference changes along the scale: see the chart"
    return f"{', '.join(parts)}{uneven}."


def _times(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.2f} times as high"
    return f"{estimate.value:.2f} times ({estimate.low:.2f} to {estimate.high:.2f}) as high"


def _column(side: AnswerSide, answer_comparison: AnswerComparison) -> SideColumn:
    people = figures.number_of(side.n_people, "tester")
    spread = side.spread
    if spread is None:
        return SideColumn(name=side.name, people=people, drawn=None, note="too few testers to tell")
    is_text = answer_comparison.question.scale.kind is ScaleKind.TEXT
    return SideColumn(
        name=side.name,
        people=people,
        drawn=histogram(spread) if spread.n else None,
        middle=_middle(spread),
        left_out="; ".join(f"{figures.count(n)} {outcome.value}" for outcome, n in spread.outcomes.items() if n),
        note=f"{figures.count(len(spread.texts))} free-text answers" if is_text else "",
    )


def _middle(spread: AnswerSpread) -> str:
    if spread.quartiles is None:
        return f"n {figures.count(spread.n)}"
    low, middle, high = spread.quartiles
    return f"n {figures.count(spread.n)}, median {middle}, quartiles {low} and {high}"


def _test_words(answer_comparison: AnswerComparison) -> str:
    if answer_comparison.test is None:
        return ""
    text = _words(answer_comparison.test, answer_comparison.adjusted_p_value, answer_comparison.effect)
    return f"{text}{'; compared within testers' if answer_comparison.is_within else ''}"


def _words(test: Significance | Undefined, adjusted_p_value: float | None, effect: Estimate | Undefined | None) -> str:
    if isinstance(test, Undefined):
        return f"undefined: {test.reason.rstrip('.')}"
    parts = [f"{test.method}: p {test.p_value:.3f}"]
    parts += [] if adjusted_p_value is None else [f"adjusted {adjusted_p_value:.3f}"]
    parts += [f"{test.effect_name} {test.effect:+.2f}"] if test.effect is not None and test.effect_name else []
    if isinstance(effect, Estimate) and effect.low is not None and effect.high is not None:
        parts.append(f"second group higher with probability {effect.value:.2f} ({effect.low:.2f} to {effect.high:.2f})")
    parts.append(f"{figures.count(test.n)} testers")
    return ", ".join(parts)
