"""Earlier runs: the scores of a study's finished runs, so that a report can show them over time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from theodolite.domain.annotation import Annotation
from theodolite.domain.answer_rules import label_of
from theodolite.domain.findings.order_metrics import RunScores
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import QuestionLevel, ScaleKind, decimal_of
from theodolite.domain.run import Run, RunState
from theodolite.domain.study import Study
from theodolite.ports.store import Store

MOST_RUNS: Final = 11
"""Earlier runs that are read at most, the latest; count."""

MOST_DIALOGUES: Final = 20_000
"""Dialogues of earlier runs that are read at most, so that a large study's report stays quick; count."""


def earlier_scores(store: Store, study: Study, run: Run, n_dialogues: int) -> tuple[RunScores, ...]:
    """Return the scores of earlier finished runs, the first run first.

    Labels that answer another version of a guideline are left out: another
    guideline is another question. `theodolite monitor` reads all runs.

    Args:
        store: The workspace's database.
        study: As it is written now.
        run: The run that is reported.
        n_dialogues: Dialogues of one run; count.
    """
    guidelines = {one.name: one for one in study.guidelines if _question(one)}
    if not guidelines:
        return ()
    finished = [one for one in store.runs(study.name) if one.state is RunState.FINISHED and one.number < run.number]
    n_read = min(MOST_RUNS, MOST_DIALOGUES // max(1, n_dialogues))
    seen: set[tuple[str, str, str]] = set()
    # Older runs first: a result that a run took over counts where it was measured.
    return tuple(scores for one in finished[-n_read:] if n_read for scores in _of_run(store, one, guidelines, seen))


def _question(guideline: Guideline) -> str:
    """Return the guideline's own question if it is answered once a dialogue by a number; else nothing."""
    question = guideline.question
    is_scored = question.scale.kind in {ScaleKind.NUMBERS, ScaleKind.DECIMALS}
    return question.name if is_scored and question.level is QuestionLevel.DIALOGUE else ""


def _of_run(
    store: Store, run: Run, guidelines: dict[str, Guideline], seen: set[tuple[str, str, str]]
) -> Iterator[RunScores]:
    versions = {name: version_of(guideline) for name, guideline in guidelines.items()}
    given: dict[tuple[str, str], dict[str, Annotation]] = {}
    for annotation in store.annotations(run):
        if versions.get(annotation.guideline) == annotation.instrument_version:
            given.setdefault((annotation.guideline, annotation.annotator), {})[annotation.dialogue] = annotation
    if not given:
        return
    order = [(dialogue.key, dialogue.application) for dialogue in store.dialogues(run)]
    for (guideline, annotator), by_dialogue in given.items():
        question = _question(guidelines[guideline])
        for application in dict.fromkeys(name for _, name in order):
            own = [by_dialogue[key] for key, name in order if name == application and key in by_dialogue]
            measured = [(one.dialogue, one.annotator_version, one.instrument_version) for one in own]
            n_repeated = sum(one in seen for one in measured)
            seen.update(measured)
            if own:
                yield RunScores(
                    run=run.number,
                    started=run.started,
                    application=application,
                    guideline=guideline,
                    question=question,
                    annotator=annotator,
                    annotator_version=own[-1].annotator_version,
                    values=tuple(_score(one, guidelines[guideline]) for one in own),
                    n_repeated=n_repeated,
                )


def _score(annotation: Annotation, guideline: Guideline) -> float | None:
    label = label_of(annotation, guideline.question, guideline.defect_rules)
    return decimal_of(label.value) if label is not None and label.value is not None else None
