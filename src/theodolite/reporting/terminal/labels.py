"""Label files on a terminal: the drawn sample, and the imported labels."""

from __future__ import annotations

from collections.abc import Mapping

from theodolite.domain.annotating.label_sample import KeptLabels, LabelSample
from theodolite.domain.annotation import Annotation
from theodolite.reporting.terminal.layout import labelled
from theodolite.reporting.words import figures

_MARGIN = 9
_WIDE = 10
_DESK = 11


def sample_text(sample: LabelSample, *, n_slips: int, file: str, study: str, width: int = 80) -> str:
    """Return the sample for people to label, and the next step.

    Args:
        sample: The sample.
        n_slips: Answers requested by the file; count.
        file: Path of the file.
        study: The study's path as typed by the user.
        width: Columns of the terminal; count.
    """
    n = len(sample.dialogues)
    wrote = f"{file}: {figures.number_of(n, 'dialogue')}, {figures.number_of(n_slips, 'answer')} to give"
    strata = "; ".join(
        f"{one.name} {figures.count(one.n_drawn)} of {figures.count(one.n_dialogues)}" for one in sample.strata
    )
    blind = f" By the verdicts of {sample.judge}, which the file does not tell." if sample.judge else ""
    withheld = f" {figures.number_of(sample.withheld, 'dialogue')} left out: text withheld." if sample.withheld else ""
    lines = [
        *labelled("Wrote", wrote, margin=_MARGIN, width=width),
        *labelled("Drawn", f"{strata}; seed {sample.seed}.{blind}{withheld}", margin=_MARGIN, width=width),
        *labelled("Next", "fill in `answer` and `annotator`, then", margin=_MARGIN, width=width),
        f"{'':<{_MARGIN}}theodolite import labels {study} {file}",
    ]
    return "\n".join(lines)


MOST_NAMED = 5
"""Largest number of people listed by name; more are counted."""


def kept_text(
    result: KeptLabels, *, n_open: int, stored: bool, study: str, has_judge: bool = True, width: int = 80
) -> str:
    """Return the result of a label file, and the next step.

    Args:
        result: Its new part.
        n_open: Rows without an answer; count.
        stored: Whether it was stored.
        study: The study's path as typed by the user.
        has_judge: Whether the study has a judge that the labels can validate.
        width: Columns of the terminal; count.
    """
    people = list(dict.fromkeys(_person(annotation) for annotation in result.to_store))
    named = ", ".join(people) if len(people) <= MOST_NAMED else figures.number_of(len(people), "person", "people")
    by = f" by {named}" if people else ""
    new, revised = figures.count(len(result.new)), figures.count(len(result.revised))
    dialogues = len({annotation.dialogue for annotation in result.to_store})
    labels = f"labels of {figures.number_of(dialogues, 'dialogue')}{by}: {new} new, {revised} revised"
    rest = f"{figures.count(result.unchanged)} were there already, {figures.number_of(n_open, 'row')} without an answer"
    then = _after(study, has_judge=has_judge) if stored else "the same command without --check"
    lines = [
        *labelled("Stored" if stored else "Checked", f"{labels}; {rest}.", margin=_MARGIN, width=width),
        *(
            labelled("People", _annotator_attributes(result), margin=_MARGIN, width=width)
            if result.annotator_attributes
            else ()
        ),
        *labelled("Next", then, margin=_MARGIN, width=width),
    ]
    return "\n".join(lines)


def _person(annotation: Annotation) -> str:
    """Return the annotators; a person with several guidelines is an annotator of each, with its name as suffix."""
    return annotation.annotator.removesuffix(f"-{annotation.guideline}")


def _after(study: str, *, has_judge: bool) -> str:
    return f"theodolite judge validate {study}" if has_judge else f"theodolite measure {study}"


def _annotator_attributes(result: KeptLabels) -> str:
    attributes = dict.fromkeys(attribute for groups in result.annotator_attributes.values() for attribute in groups)
    people = figures.number_of(len(result.annotator_attributes), "person", "people")
    return f"{', '.join(attributes)} of {people}; agreement is reported for groups of three or more people."


def desk_lines(*, n: int, guideline: str, judge: str, by: str, width: int = 80) -> list[str]:
    """Return the open tasks on the page of one annotator.

    Args:
        n: Dialogues without a label; count.
        guideline: Name of the guideline.
        judge: Judge with the verdicts that defined the strata; empty for none.
        by: Name of the annotator of the labels.
        width: Columns of the terminal; count.
    """
    sample_note = f", drawn by the verdicts of {judge}, which the page does not tell" if judge else ""
    minutes = max(1, round(n / 2))
    waits = f"{figures.number_of(n, 'dialogue')} by {guideline}, as `{by}` (about {minutes} min){sample_note}"
    ends = "Ctrl-C, whenever you like: what you submit counts at once, and other answers are kept"
    return [
        *labelled("To label", waits, margin=_DESK, width=width),
        *labelled("Ends with", ends, margin=_DESK, width=width),
    ]


def labelled_text(*, n: int, n_open: int, study: str, by: str, has_judge: bool = True, width: int = 80) -> str:
    """Return one person's labels from the page, and the next step.

    Args:
        n: Dialogues that were submitted this time; count.
        n_open: Dialogues without labels; count.
        study: The study's path as typed by the user.
        by: Name of the annotator of the labels.
        has_judge: Whether the study has a judge that the labels can validate.
        width: Columns of the terminal; count.
    """
    on = f"theodolite label {study}" + ("" if by == "me" else f" --annotator {by}")
    then = f"{on}    (continue)" if n_open else _after(study, has_judge=has_judge)
    left = f"; {figures.count(n_open)} left" if n_open else "; none left"
    lines = labelled("Labelled", f"{figures.number_of(n, 'dialogue')} by {by}{left}.", margin=_DESK, width=width)
    lines += [f"{'Next':<{_DESK}}{then}"]
    if n_open and n:
        lines += [f"{'or':<{_DESK}}theodolite run {study} --stage measure    (what is labelled counts already)"]
    return "\n".join(lines)


def plan_text(take: Mapping[str, int], widths: Mapping[str, float], *, n_labelled: int, study: str, width: int) -> str:
    """Return which dialogues to label next and what interval to expect.

    Args:
        take: Sample size of each stratum; counts.
        widths: Width of the corrected rate's interval `now`, `then`, and if sampled `at_random`; fractions.
        n_labelled: Dialogues that people have labelled so far; count.
        study: The study's path as typed by the user.
        width: Columns of the terminal; count.
    """
    n = sum(take.values())
    strata = "; ".join(f"{name} {figures.count(count)}" for name, count in take.items())
    now = f"now about {100 * widths['now']:.1f} points wide" if widths["now"] < 1 else "now unknown"
    then, plain = f"{100 * widths['then']:.1f}", f"{100 * widths['at_random']:.1f}"
    label = f"{figures.number_of(n, 'further dialogue')}: {strata}"
    interval = f"of the corrected rate over all applications {now}, then about {then} (drawn at random {plain})"
    caveat = "Dialogues that resemble each other widen it."
    lines = [
        *labelled("Labelled", f"{figures.number_of(n_labelled, 'dialogue')} so far", margin=_WIDE, width=width),
        *labelled("Label", label, margin=_WIDE, width=width),
        *labelled("Interval", f"{interval}. {caveat}", margin=_WIDE, width=width),
        *labelled("Next", f"theodolite label {study} --sample {n}", margin=_WIDE, width=width),
    ]
    return "\n".join(lines)
