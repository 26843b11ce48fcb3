"""Rater checks: what models of raters make of a study's annotators. Diagnoses, never labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from theodolite.domain.answer_rules import AnswerSources, QuestionLabels
from theodolite.domain.findings.agreeing import RaterCheck, RaterChecks
from theodolite.measurement.raters.models import dawid_skene, mace

FEWEST_RATERS: Final = 3
"""Annotators below which nobody can tell who errs; count."""

FEWEST_DIALOGUES: Final = 20
"""Dialogues with so many labels below which nothing is said; count."""

SMOOTHING: Final = 0.05
"""Labels added to each cell of an annotator's errors."""

MOST_ROUNDS: Final = 200
"""Rounds of the search; a diagnosis needs no more digits."""


def rater_checks(application: str, sheet: QuestionLabels, by: AnswerSources) -> Iterator[RaterChecks]:
    """Yield what models of raters make of those who answered one question about one application.

    Models take disagreement as error, and people may disagree with good reason: a low
    number is a cause to look at an annotator's labels and none to leave them out.
    Nothing is said of fewer than three annotators or twenty dialogues that three labelled.

    Args:
        application: Name of the application.
        sheet: The question and the planned sessions.
        by: Who labels.

    Source:
        See `dawid_skene` and `mace`.
    """
    if len(by.annotators) < FEWEST_RATERS:
        return
    given = [
        (place, source.name, reading.value)
        for source in by.annotators
        for place, reading in zip(sheet.positions, sheet.labels(source), strict=True)
        if reading.value is not None
    ]
    labelled = Counter(place for place, _, _ in given)
    given = [label for label in given if labelled[label[0]] > 1]  # of a lone label nobody can tell what it is
    counts = Counter(name for _, name, _ in given)
    shared = sum(n >= FEWEST_RATERS for n in labelled.values())
    if len(counts) < FEWEST_RATERS or shared < FEWEST_DIALOGUES:
        return
    scale = sheet.question.scale.categories
    fit = dawid_skene(given, categories=scale, smoothing=SMOOTHING, most_rounds=MOST_ROUNDS).competence
    looks = mace(given, categories=scale, most_rounds=MOST_ROUNDS).competence
    yield RaterChecks(
        application=application,
        guideline=sheet.guideline.name,
        question=sheet.question.name,
        dialogues=sum(n > 1 for n in labelled.values()),
        raters=tuple(
            RaterCheck(annotator=name, labels=n, fit=float(fit[name]), looks=float(looks[name]))
            for name, n in counts.items()
        ),
    )
