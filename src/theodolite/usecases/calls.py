"""Calls read back: what judges were asked and what they replied, word by word.

A journal holds replies and the hash of each request. The words of a request are
made again by the flow that made them first, and are shown only if their hash is
that of the journal: words that have changed since are nobody's prompt.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from theodolite.assessment.annotating import AnnotationTask, annotate
from theodolite.domain.annotation import Annotation
from theodolite.domain.call import Call
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.failure import Failure
from theodolite.domain.flow import AskModel, Message, Request
from theodolite.domain.identity import version_of
from theodolite.domain.replay import JournalEntry, Returned, Waiting, advance, begin
from theodolite.domain.study import Study
from theodolite.ports.store import Store
from theodolite.usecases.numbers import below_half


def calls_of(
    store: Store,
    study: Study,
    dialogues: Collection[Dialogue],
    annotations: Collection[Annotation],
    failures: Collection[Failure] = (),
) -> dict[str, tuple[Call, ...]]:
    """Return the calls that led to some records, by unit; a unit without any is left out.

    Args:
        store: The database.
        study: What the records belong to.
        dialogues: What was said. Their calls come without a prompt, as turns show it.
        annotations: What annotators answered about these dialogues.
        failures: Units that brought nothing; their calls come without a prompt.
    """
    known = {dialogue.key: dialogue for dialogue in dialogues}
    asked = {annotation.unit: annotation for annotation in annotations if annotation.unit}
    units = dict.fromkeys([*known, *asked, *(failure.unit for failure in failures)])
    found: dict[str, tuple[Call, ...]] = {}
    for unit, journal in store.journals(tuple(units)).items():
        if unit in asked and journal:
            found[unit] = _judged(_task(study, asked[unit], known), journal)
        elif journal:
            found[unit] = tuple(Call(reply=entry.reply) for entry in journal)
    return found


def _task(study: Study, annotation: Annotation, dialogues: Mapping[str, Dialogue]) -> AnnotationTask:
    annotator, dialogue = study.annotator(annotation.annotator), dialogues[annotation.dialogue]
    return AnnotationTask(
        unit=annotation.unit,
        annotator=annotator,
        annotator_version=annotation.annotator_version,
        guideline=study.guideline(annotator.guideline),
        guideline_version=annotation.instrument_version,
        dialogue=dialogue,
        rows=(),  # whoever reads a column makes no call
        below_half=below_half,
        packet=study.scenario(dialogue.scenario).packet,
    )


def _judged(task: AnnotationTask, journal: Sequence[JournalEntry]) -> tuple[Call, ...]:
    """Return the calls of an annotation; from the first request that has changed on, prompts are not known."""
    calls, flow = [], annotate(task)
    state: Waiting | Returned[Annotation] | None = begin(flow)
    for entry in journal:
        if isinstance(state, Waiting) and version_of(state.request) == entry.request_hash:
            calls.append(Call(reply=entry.reply, prompt=_prompt(state.request)))
            # What becomes of the last reply stands in the annotation.
            state = advance(flow, state, entry.reply) if entry is not journal[-1] else None
        else:
            calls.append(Call(reply=entry.reply, prompt=None))
            state = None
    flow.close()
    return tuple(calls)


def _prompt(request: Request) -> tuple[Message, ...]:
    return request.messages if isinstance(request, AskModel) else ()
