"""What testers answered: each question drawn, side by side, with the tests that people expect beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from theodolite.domain.annotation import Outcome
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.responses import AnswerComparison, AnswerSide, AnswerSpread
from theodolite.domain.findings.significance import Significance
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import ScaleKind
from theodolite.domain.questionnaire import Questionnaire, QuestionnaireResponse
from theodolite.measurement.comparison.significance import Adjustment
from theodolite.measurement.study.responses import compare_sides, side_model
from theodolite.reporting.words import figures
from theodolite.web.analyst.context import AnalystContext, for_analysts
from theodolite.web.charts import Histogram, histogram

Responses = Sequence[QuestionnaireResponse]

PLAIN: dict[str, Callable[[QuestionnaireResponse], str]] = {
    "application": lambda one: one.application,
    "scenario": lambda one: one.scenario,
    "level": lambda one: one.level.value if one.level else "",
}
"""What answers are held against each other by, beside groups of testers."""

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
class QuestionBlock:
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
    """What the reader has chosen to see.

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

    def side(self, one: QuestionnaireResponse) -> str:
        """Return the side of a response."""
        plain = PLAIN.get(self.by)
        return plain(one) if plain else one.groups.get(self.by, "")

    def takes(self, one: QuestionnaireResponse) -> bool:
        """Tell whether a response is of the level and scenario."""
        return self.level in {"", PLAIN["level"](one)} and self.scenario in {"", one.scenario}


@for_analysts
@require_GET
def responses(request: HttpRequest, analyst: AnalystContext) -> HttpResponse:
    """Show the answers to one questionnaire, split by whatever is asked for."""
    given = [one for one in analyst.responses() if one.level is not None]
    met = [one for one in analyst.study.questionnaires if any(each.questionnaire == one.name for each in given)]
    context: dict[str, object] = {"access": analyst.access, "questionnaires": met}
    if met:
        choice = _choice(request, met, given)
        context |= _shown(choice, [one for one in given if one.questionnaire == choice.questionnaire.name])
    return render(request, "web/analyst/responses.html", context)


def _choice(request: HttpRequest, met: Sequence[Questionnaire], given: Responses) -> ResponseSelection:
    asked = request.GET
    counts = Counter(one.questionnaire for one in given)
    most = max(met, key=lambda one: counts[one.name])
    questionnaire = next((one for one in met if one.name == asked.get("questionnaire")), most)
    own = [one for one in given if one.questionnaire == questionnaire.name]
    levels = list(dict.fromkeys(PLAIN["level"](one) for one in own))
    by = asked.get("by", "application")
    level = asked.get("level", "")
    return ResponseSelection(
        questionnaire=questionnaire,
        # Levels answer different questions: they are held against each other where that is asked for, and never added.
        level="" if by == "level" else level if level in levels else levels[0],
        scenario=asked.get("scenario", ""),
        by=by if by in {*PLAIN, *_groups(own)} else "application",
        adjustment=ADJUSTMENTS.get(asked.get("adjust", ""), ADJUSTMENTS["holm"])[0],
        has_models=asked.get("model", "") == "ordinal",
    )


def _groups(own: Responses) -> list[str]:
    names = dict.fromkeys(name for one in own for name in one.groups)
    return [name for name in names if len({one.groups[name] for one in own if name in one.groups}) > 1]


def _shown(choice: ResponseSelection, own: Responses) -> dict[str, object]:
    version = version_of(choice.questionnaire)
    valid = [one for one in own if one.instrument_version == version]
    given = [one for one in valid if one.submitted]
    about = [one for one in given if choice.takes(one)]
    found = compare_sides(
        choice.questionnaire.instrument.questions,
        about,
        choice.side,
        small_are_withheld=choice.by not in PLAIN,
        adjustment=choice.adjustment,
    )
    return {
        "choice": choice,
        "levels": list(dict.fromkeys(PLAIN["level"](one) for one in own)),
        "scenarios": list(dict.fromkeys(one.scenario for one in own)),
        "ways": [*PLAIN, *_groups(own)],
        "adjustments": [(name, words) for name, (_, words) in ADJUSTMENTS.items()],
        "n": len(about),
        "n_people": len({one.participant for one in about}),
        "n_drafts": len(valid) - len(given),
        "n_other": len(own) - len(valid),
        "blocks": [_block(one, _model_words(choice, one, about) if choice.has_models else "") for one in found],
        "task": _task(about),
    }


def _task(about: Responses) -> str:
    """Return how many testers have answered every question that they were asked; in words."""
    whole = sum(all(answer.outcome is not Outcome.MISSING for answer in one.answers) for one in about)
    return f"{figures.count(whole)} of {figures.count(len(about))} answered all that they were asked" if about else ""


def _block(found: AnswerComparison, model: str) -> QuestionBlock:
    sides = tuple(_column(side, found) for side in found.sides)
    legends = [side.drawn.legend for side in sides if side.drawn]
    return QuestionBlock(
        text=found.question.text,
        topic=found.question.topic.value if found.question.topic else "",
        sides=sides,
        legend=legends[0] if legends else (),
        test=_test_words(found),
        pairs=tuple(
            (f"{pair.first} and {pair.second}", _words(pair.test, pair.adjusted_p_value, pair.effect))
            for pair in found.pairs
        ),
        model=model,
    )


def _model_words(choice: ResponseSelection, compared: AnswerComparison, about: Responses) -> str:
    """Return what a model of all answers says of the sides that are shown; empty where nothing was compared."""
    if compared.test is None:
        return ""
    shown = {side.name for side in compared.sides if side.spread is not None}
    equal = {name: PLAIN[name] for name in ("application", "scenario") if name != choice.by}
    found = side_model(compared.question, [one for one in about if choice.side(one) in shown], choice.side, equal)
    if isinstance(found, Undefined):
        return f"model undefined: {found.reason.rstrip('.')}"
    odds = [f"{_times(one)} with {side} as with {found.against}" for side, one in found.odds.items()]
    parts = [f"Odds of a higher answer: {'; '.join(odds)}"]
    parts += [f"{' and '.join(found.held_equal)} held constant"] if found.held_equal else []
    parts.append(f"{figures.number_of(found.n, 'answer')} of {figures.number_of(found.n_people, 'tester')}")
    uneven = "" if found.is_even else ". The difference changes along the scale: see the chart"
    return f"{', '.join(parts)}{uneven}."


def _times(one: Estimate) -> str:
    if one.low is None or one.high is None:
        return f"{one.value:.2f} times as high"
    return f"{one.value:.2f} times ({one.low:.2f} to {one.high:.2f}) as high"


def _column(side: AnswerSide, found: AnswerComparison) -> SideColumn:
    people = figures.number_of(side.n_people, "tester")
    spread = side.spread
    if spread is None:
        return SideColumn(name=side.name, people=people, drawn=None, note="too few testers to tell")
    is_text = found.question.scale.kind is ScaleKind.TEXT
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


def _test_words(found: AnswerComparison) -> str:
    if found.test is None:
        return ""
    words = _words(found.test, found.adjusted_p_value, found.effect)
    return f"{words}{'; compared within testers' if found.is_within else ''}"


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
