"""Keeping labels: what people wrote into a label file becomes annotations of the dialogues."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from theodolite.assessment.manual_annotation import annotation_by, person_of
from theodolite.assessment.slips import turns_asked
from theodolite.config.imports.label_files import AskedItem, LabelKey
from theodolite.domain.annotating.label_sample import GivenLabel, KeptLabels, item_of
from theodolite.domain.annotation import NON_RESPONSE_OPTIONS, Annotation, Answer
from theodolite.domain.evidence import Evidence
from theodolite.domain.identity import SHORT, version_of


def labels_to_keep(evidence: Evidence, given: Sequence[GivenLabel]) -> KeptLabels:
    """Return what the labels of a file add to what is known; reading one file twice adds nothing.

    A further revision holds everything that the person has answered so far.

    Args:
        evidence: What the run holds, earlier labels included.
        given: Valid labels.

    Raises:
        InputError: If a person labels by another guideline than the study says.
    """
    keys = {item_of(dialogue.key): dialogue.key for dialogue in evidence.archive.dialogues()}
    earlier = _latest(evidence.archive.annotations())
    new, revised, unchanged = [], [], 0
    for (item, guideline, name), labels in _sittings(given).items():
        annotator = person_of(evidence.study, name, guideline)
        before = earlier.get((keys[item], annotator.name))
        answers = _merged(before.answers if before else (), labels)
        if before and before.answers == answers:
            unchanged += 1
        elif before:
            revised.append(replace(before, answers=answers, revision=before.revision + 1))
        else:
            new.append(annotation_by(annotator, evidence.study.guideline(guideline), keys[item], answers))
    return KeptLabels(new=tuple(new), revised=tuple(revised), unchanged=unchanged)


def _latest(annotations: Iterable[Annotation]) -> Mapping[tuple[str, str], Annotation]:
    return {(one.dialogue, one.annotator): one for one in annotations if not one.unit}


def _sittings(given: Sequence[GivenLabel]) -> Mapping[tuple[str, str, str], list[GivenLabel]]:
    found: dict[tuple[str, str, str], list[GivenLabel]] = defaultdict(list)
    for label in given:
        found[label.item, label.guideline, label.annotator].append(label)
    return found


def _merged(before: Sequence[Answer], labels: Sequence[GivenLabel]) -> tuple[Answer, ...]:
    answers = {(answer.question, answer.turn, answer.replicate): answer for answer in before}
    for label in labels:
        answers[label.question, label.turn, label.replicate] = Answer(
            question=label.question,
            outcome=label.outcome,
            value=label.value,
            turn=label.turn,
            replicate=label.replicate,
            reasoning=label.reason,
        )
    return tuple(answers.values())


def label_key(evidence: Evidence) -> LabelKey:
    """Return what a label file of a run is read against."""
    study = evidence.study
    items = {
        (item_of(dialogue.key), guideline.name): AskedItem(
            guideline=guideline.name,
            version=version_of(guideline)[:SHORT],
            questions={one.name: turns_asked(one, dialogue) for one in guideline.instrument.questions},
        )
        for dialogue in evidence.archive.dialogues()
        for guideline in study.guidelines
        if study.asks(guideline.name, dialogue.scenario)
    }
    return LabelKey(
        items=items,
        questions={(one.name, asked.name): asked for one in study.guidelines for asked in one.instrument.questions},
        own_words=NON_RESPONSE_OPTIONS,
        annotators=tuple(annotator.name for annotator in study.annotators if annotator.by_hand),
        judges=tuple(annotator.name for annotator in study.annotators if not annotator.by_hand),
    )
