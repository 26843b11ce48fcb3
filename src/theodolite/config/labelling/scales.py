"""Scales as study files write them: `1-5`, a list of labels, labels with meanings, `likert`, `text`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from theodolite.domain.errors import InputError
from theodolite.domain.instrument import MOST_POINTS, Label, Orientation, Scale, ScaleKind

_RANGE = re.compile(r"\s*(-?\d+)\s*(?:-|\u2013|\.\.|to)\s*(-?\d+)\s*")
_DECIMALS = re.compile(r"\s*(-?\d+)\.0\s*(?:-|\u2013|\.\.|to)\s*(-?\d+)\.0\s*")
_WHOLE = re.compile(r"-?\d+")

_DISAGREE, _AGREE = ("strongly disagree", "disagree"), ("agree", "strongly agree")
_NEITHER = "neither agree nor disagree"

LIKERT: Mapping[str, tuple[str, ...]] = {
    "likert": (*_DISAGREE, _NEITHER, *_AGREE),
    "likert-7": (*_DISAGREE, "somewhat disagree", _NEITHER, "somewhat agree", *_AGREE),
}
"""Name of a scale of agreement to the meanings of its points, from 1."""

ScaleText = str | list[str] | dict[str, str] | None


def scale_of(form: ScaleText, orientation: Orientation) -> Scale:
    """Return the scale that a study writes down; yes and no where it writes none.

    Raises:
        InputError: If it is no scale; the message says why.
    """
    if form is None:
        return _categories({"yes": "", "no": ""}, orientation)
    if isinstance(form, str):
        return _named_scale(form.strip(), orientation)
    meanings = form if isinstance(form, dict) else _meanings(form)
    if meanings and all(_WHOLE.fullmatch(value) for value in meanings):
        points = [int(value) for value in meanings]
        complete = isinstance(form, dict) or sorted(points) == list(range(min(points), max(points) + 1))
        if complete:
            return _numbers(min(points), max(points), meanings, orientation)
    return _categories(meanings, orientation)


def _named_scale(form: str, orientation: Orientation) -> Scale:
    if form == "text":
        return Scale(kind=ScaleKind.TEXT, orientation=orientation)
    if form in LIKERT:
        points = {str(point): meaning for point, meaning in enumerate(LIKERT[form], start=1)}
        return _numbers(1, len(points), points, orientation)
    if "|" in form:
        return _categories(_named_labels(form), orientation)
    decimals = _DECIMALS.fullmatch(form)
    if decimals is not None:
        return _decimals(int(decimals[1]), int(decimals[2]), orientation)
    match = _RANGE.fullmatch(form)
    if match is None:
        known = "`1-5`, `0.0-1.0`, `likert`, a list of labels, `text`, names as `1 | 2`, or labels with meanings"
        message = f"scale `{form}` is not understood; write {known}"
        raise InputError(message)
    return _numbers(int(match[1]), int(match[2]), {}, orientation)


def _named_labels(form: str) -> dict[str, str]:
    """Return the labels of a text like `1 | 2 | 3`, with meanings behind `=`; numerals are names there."""
    pairs = [part.partition("=") for part in form.split("|")]
    labels = [label.strip() for label, _, _ in pairs]
    if "" in labels:
        message = f"scale `{form}` has an empty label; write names with a bar between them, e.g. `1 | 2`"
        raise InputError(message)
    _meanings(labels)
    return {label.strip(): meaning.strip() for label, _, meaning in pairs}


def _decimals(lowest: int, highest: int, orientation: Orientation) -> Scale:
    if not lowest < highest:
        message = f"scale runs from {lowest}.0 to {highest}.0; the lower end must stand first"
        raise InputError(message)
    return Scale(kind=ScaleKind.DECIMALS, lowest=lowest, highest=highest, ordered=True, orientation=orientation)


def _meanings(labels: list[str]) -> dict[str, str]:
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        message = f"scale names `{twice[0]}` twice"
        raise InputError(message)
    return dict.fromkeys(labels, "")


def _numbers(lowest: int, highest: int, meanings: Mapping[str, str], orientation: Orientation) -> Scale:
    if not lowest < highest:
        message = f"scale runs from {lowest} to {highest}; the lower end must stand first"
        raise InputError(message)
    if highest - lowest >= MOST_POINTS:
        message = (
            f"scale runs from {lowest} to {highest}, which are {highest - lowest + 1:,} points;"
            f" {MOST_POINTS} at most can be used"
        )
        raise InputError(message)
    labels = tuple(
        Label(value=value, meaning=meanings[value]) for value in sorted(meanings, key=int) if meanings[value]
    )
    return Scale(
        kind=ScaleKind.NUMBERS,
        labels=labels,
        lowest=lowest,
        highest=highest,
        ordered=True,
        orientation=orientation,
    )


def _categories(meanings: Mapping[str, str], orientation: Orientation) -> Scale:
    if len(meanings) < 2:
        message = f"scale has {len(meanings)} label; a scale needs two different ones at least"
        raise InputError(message)
    return Scale(
        kind=ScaleKind.CATEGORIES,
        labels=tuple(Label(value=value, meaning=meaning) for value, meaning in meanings.items()),
        ordered=orientation is not Orientation.UNSTATED,
        orientation=orientation,
    )
