"""Monitoring: the runs of a study as one history of scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from theodolite.domain.annotation import Adjudication, Annotation, Outcome
from theodolite.domain.annotator import Annotator
from theodolite.domain.answer_rules import label_of, reason_of
from theodolite.domain.answers import DialogueLabel
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import InputError, NotFound, did_you_mean
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import Record, digest, version_of
from theodolite.domain.instrument import Operator, Orientation, Scale
from theodolite.domain.monitoring import History, ScaleDirection, Score
from theodolite.domain.run import Run, RunState
from theodolite.domain.study import Study
from theodolite.ports.store import Store
from theodolite.usecases.measuring import annotations_in

_SHORT = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Which scores of a study are watched.

    Attributes:
        guideline: Name of the guideline; empty if the study has one.
        annotator: Name of the annotator; empty for the guideline's first.
        anchors: Application with the frozen anchors as its dialogues; empty for none.
    """

    guideline: str = ""
    annotator: str = ""
    anchors: str = ""


def history_of_runs(store: Store, study: Study, watched: Watched) -> History:
    """Return one annotator's annotations under one guideline in all finished runs of a study.

    A result that a run took over from an earlier one is that earlier
    measurement; it stays in the history and counts once. Versions of judge and
    guideline, and of everything that testers are given, are the instruments.

    Args:
        store: The workspace's database.
        study: In its current version, which resolves names.
        watched: Which scores.

    Raises:
        NotFound: If no run of the study is finished.
        InputError: If a name is not the study's, or answers have no order.
    """
    guideline, annotator = _chosen(study, watched)
    runs = [run for run in store.runs(study.name) if run.state is RunState.FINISHED]
    if not runs:
        message = f"no run of the study `{study.name}` is finished, so there is no history"
        raise NotFound(message)
    scale = guideline.question.scale
    seen: set[tuple[str, str, str]] = set()
    scores = [
        score for run in runs for score in _scores(store, run, guideline.name, annotator.name, watched.anchors, seen)
    ]
    lowest, highest, worse = _range(guideline, scale)
    n_runs = f"{len(runs):,} finished run{'' if len(runs) == 1 else 's'}"
    return History(
        name=study.name,
        scores=tuple(scores),
        lowest=lowest,
        highest=highest,
        worse=worse,
        source=f"{n_runs}; {annotator.name} by {guideline.name}",
    )


def _chosen(study: Study, watched: Watched) -> tuple[Guideline, Annotator]:
    guidelines = {guideline.name: guideline for guideline in study.guidelines}
    name = watched.guideline or (next(iter(guidelines)) if len(guidelines) == 1 else "")
    if name not in guidelines:
        wrong = f"there is no guideline `{name}`{did_you_mean(name, guidelines)}" if name else "say which guideline"
        message = f"{wrong}; the study has {', '.join(guidelines)}.  --guideline NAME"
        raise InputError(message)
    annotators = {annotator.name: annotator for annotator in study.annotators if annotator.guideline == name}
    chosen = watched.annotator or next(iter(annotators), "")
    if chosen not in annotators:
        near = did_you_mean(chosen, annotators)
        message = f"no annotator `{chosen}` answers `{name}`; known: {', '.join(annotators) or 'none'}{near}"
        raise InputError(message)
    applications = [application.name for application in study.applications]
    if watched.anchors and watched.anchors not in applications:
        near = did_you_mean(watched.anchors, applications)
        message = f"there is no application `{watched.anchors}`; the study has {', '.join(applications)}{near}"
        raise InputError(message)
    return guidelines[name], annotators[chosen]


def _range(guideline: Guideline, scale: Scale) -> tuple[float, float, ScaleDirection]:
    """Return the ends of the scale as numbers, and the bad end by the first rule, or by the scale itself."""
    if scale.is_numeric and scale.lowest is not None and scale.highest is not None:
        operator = guideline.defect_rules[0].operator
        is_high = operator in {Operator.ABOVE, Operator.AT_LEAST} or scale.orientation is Orientation.HIGHER_IS_WORSE
        return float(scale.lowest), float(scale.highest), ScaleDirection.HIGH if is_high else ScaleDirection.LOW
    return 0.0, 1.0, ScaleDirection.HIGH


def _scores(
    store: Store, run: Run, guideline: str, annotator: str, anchors: str, seen: set[tuple[str, str, str]]
) -> Iterator[Score]:
    """Yield the scores of one run, in order of the plan."""
    study = store.study(run.study_version)
    rules = {item.name: item for item in study.guidelines}
    if guideline not in rules:
        return
    texts = {item.dialogue: item for item in annotations_in(store, study, run) if item.annotator == annotator}
    people = _people(store.adjudications(run), guideline, rules[guideline].question.name)
    answers: tuple[Record, ...] = (*study.scenarios, *study.personas)
    data = digest("data", *sorted(version_of(item) for item in answers))[:_SHORT]
    for dialogue in store.dialogues(run):
        annotation = texts.get(dialogue.key)
        if annotation is None:
            continue
        taken = (dialogue.key, annotation.annotator_version, annotation.instrument_version)
        score = _score(run, dialogue, annotation, rules[guideline], people.get(dialogue.key))
        yield replace(
            score,
            instruments={**score.instruments, "data": data},
            is_anchor=bool(anchors) and dialogue.application == anchors,
            is_repeat=taken in seen,
        )
        seen.add(taken)


def _people(adjudications: Iterable[Adjudication], guideline: str, question: str) -> Mapping[str, str]:
    return {
        adjudication.dialogue: adjudication.value
        for adjudication in adjudications
        if adjudication.guideline == guideline and adjudication.question == question and adjudication.value is not None
    }


def _score(run: Run, dialogue: Dialogue, annotation: Annotation, guideline: Guideline, human: str | None) -> Score:
    rules = [rule for rule in guideline.defect_rules if rule.question == guideline.question.name]
    applying = [rule for rule in rules if rule.applies_to(dialogue.groups)]
    label = label_of(annotation, guideline.question, applying or rules) or DialogueLabel(Outcome.MISSING)
    return Score(
        value=_number(guideline, label.value, dialogue) if label.value is not None else None,
        outcome=label.outcome,
        defect=_is_defect(guideline, label.value, dialogue) if label.value is not None else None,
        at=run.started,
        application=dialogue.application,
        item=dialogue.pair_key,
        session=dialogue.key,
        batch=f"run {run.number}",
        instruments={
            "judge": annotation.annotator_version[:_SHORT],
            "schema": annotation.instrument_version[:_SHORT],
        },
        human=_number(guideline, human, dialogue) if human is not None else None,
        reason=_reason(dialogue, annotation, guideline),
    )


def _reason(dialogue: Dialogue, annotation: Annotation, guideline: Guideline) -> str:
    """Return why the annotator scored so; empty if the dialogue's texts are withheld."""
    answer = annotation.answer(guideline.question.name)
    if answer is None or any(turn.withheld for turn in dialogue.turns):
        return ""
    return reason_of(annotation, answer, guideline)


def _number(guideline: Guideline, label: str, dialogue: Dialogue) -> float:
    """Return a label as a number: itself on a number scale, else 1 for a defect and 0 for none."""
    if guideline.question.scale.is_numeric:
        return float(label)
    return float(_is_defect(guideline, label, dialogue))


def _is_defect(guideline: Guideline, label: str, dialogue: Dialogue) -> bool:
    scale = guideline.question.scale
    rules = [rule for rule in guideline.defect_rules if rule.question == guideline.question.name]
    return any(rule.applies_to(dialogue.groups) and rule.is_defect(label, scale) for rule in rules)
