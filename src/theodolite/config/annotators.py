"""The `annotators`, `spelling` and `reference` sections: recorded labels and human annotators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field, model_validator

from theodolite.config.guidelines import GuidelineRegistry
from theodolite.config.load_context import Entry, LoadContext
from theodolite.config.tables import OnRows, counted
from theodolite.config.validation import Filled, Spec, Word
from theodolite.config.yaml_source import LocatedDiagnostic
from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import (
    PEOPLE,
    REFERENCE,
    Annotator,
    HandLabels,
    Labelling,
    RecordedLabels,
)
from theodolite.domain.errors import Severity, did_you_mean
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Question, Scale
from theodolite.domain.study import Reference, Study


class AnnotatorSpec(Spec):
    """Labels in a column of the recorded file, or a person who labels by hand."""

    who: AnnotatorKind
    """Kind of annotator: `person`, `model` or `rule`."""
    guideline: str = ""
    """Name of the guideline; optional if there is only one."""
    column: str = ""
    """Column of the recorded file; omit it for a person who labels by hand, on a page or in a label file."""
    question: str = ""
    """Question that the column answers, for a guideline with several."""
    spelling: dict[str, Word] = Field(default_factory=dict)
    """How this column writes labels (`{good: 5}`); overrides the study's `spelling`."""
    title: str = ""
    """Name in reports."""
    groups: dict[str, Filled] = Field(default_factory=dict)
    """Groups of a person by attribute (`language: de`): agreement is reported within and across groups."""

    @model_validator(mode="after")
    def _by_hand_or_recorded(self) -> AnnotatorSpec:
        if not self.column and self.who is not AnnotatorKind.PERSON:
            message = f"needs `column`, where its labels stand; only people label by hand, and `who` is `{self.who}`"
            raise ValueError(message)
        if self.spelling and not self.column:
            message = "has `spelling` and no `column`: it says how a column writes labels; add `column` or take it out"
            raise ValueError(message)
        if self.groups and self.who is not AnnotatorKind.PERSON:
            message = f"has `groups`, which say what a person is, and `who` is `{self.who}`; take one of the two out"
            raise ValueError(message)
        return self


class ReferenceSpec(Spec):
    """Recorded final labels that rates and judges are compared with."""

    column: Filled
    """Column of the recorded file."""
    guideline: str = ""
    """Guideline of the labels; optional if there is only one."""
    spelling: dict[str, Word] = Field(default_factory=dict)
    """How this column writes labels; overrides the study's `spelling`."""


RESERVED = {REFERENCE: "the recorded final labels", PEOPLE: "the people who share the dialogues of a guideline"}
"""Groups of the study's annotators, by attribute."""


def annotator_to_domain(
    entry: Entry[AnnotatorSpec], registry: GuidelineRegistry, context: LoadContext, spelling: Mapping[str, str]
) -> Annotator | None:
    """Return the annotator of a column's or person's labels; None and faults if it has no guideline."""
    if entry.name in RESERVED:
        message = f"reports call {RESERVED[entry.name]} `{entry.name}`; give the annotator another name"
        context.diagnostics.add(entry.diagnostic(message=message, at_key=True))
    name = entry.spec.guideline or registry.only()
    if not name:
        message = f"annotator `{entry.name}` needs `guideline`: the study has several or none"
        context.diagnostics.add(entry.diagnostic(message=message, at_key=True))
        return None
    guideline = registry.named(name, entry, "guideline")
    if guideline is None:
        return None
    labelling: Labelling = HandLabels()
    if entry.spec.column:
        subject = f"annotator `{entry.name}` reads one column"
        label = OneLabel(entry=entry, keys=("question",), question=entry.spec.question, subject=subject)
        question = answered_question(label, guideline, context)
        labelling = RecordedLabels(
            column=entry.spec.column,
            spelling=_own_spelling(entry, question or guideline.question, spelling, context),
            question=entry.spec.question,
        )
    return Annotator(name=entry.name, kind=entry.spec.who, guideline=name, labelling=labelling, title=entry.spec.title)


def annotator_attributes_of(annotators: Mapping[str, AnnotatorSpec]) -> dict[str, dict[str, str]]:
    """Return the study's attributes of its annotators: attribute to annotator to group."""
    annotator_attributes: dict[str, dict[str, str]] = {}
    for name, spec in annotators.items():
        for attribute, group in spec.groups.items():
            annotator_attributes.setdefault(attribute, {})[name] = group
    return annotator_attributes


@dataclass(frozen=True, slots=True, kw_only=True)
class OneLabel:
    """An annotator with one label per dialogue, and the question that the label answers.

    Attributes:
        entry: Annotator of the label.
        keys: Path of the key that names the question.
        question: Name of the question as written; empty if none is named.
        subject: Source of a label, for messages.
    """

    entry: Entry[Spec]
    keys: tuple[str, ...]
    question: str
    subject: str


def answered_question(label: OneLabel, guideline: Guideline, context: LoadContext) -> Question | None:
    """Return the question that a label answers; None and an error if the guideline has no such question."""
    name, entry, key = label.question, label.entry, label.keys[-1]
    names = [question.name for question in guideline.instrument.questions]
    if name in names:
        return guideline.instrument.question(name)
    if name:
        message = f"guideline `{guideline.name}` has no question `{name}`"
        near = did_you_mean(name, names) or f"; questions are {', '.join(names)}"
        context.diagnostics.add(entry.diagnostic(*label.keys, message=message + near))
    elif len(names) > 1:
        message = (
            f"{label.subject}, but guideline `{guideline.name}` asks {len(names)} questions ({', '.join(names)});"
            f" say which one with `{key}`"
        )
        context.diagnostics.add(entry.diagnostic("guideline", message=message))
    return None if name else guideline.question


def _check_one_question(entry: Entry[Spec], subject: str, guideline: Guideline, context: LoadContext) -> None:
    """Add an error if one label would have to answer several questions."""
    names = [question.name for question in guideline.instrument.questions]
    if len(names) > 1:
        message = (
            f"{subject}, but guideline `{guideline.name}` asks {len(names)} questions ({', '.join(names)});"
            " split it into one guideline for each question"
        )
        context.diagnostics.add(entry.diagnostic("guideline", message=message))


def spelling_of(question: Question, spelling: Mapping[str, str]) -> dict[str, str]:
    """Return the accepted spellings of a question's labels: the labels themselves and their variants."""
    scale = question.scale
    own = {label: label for label in scale.categories}
    return own | {written: label for written, label in spelling.items() if scale.admits(label)}


def _own_spelling(
    entry: Entry[AnnotatorSpec] | Entry[ReferenceSpec],
    question: Question,
    shared: Mapping[str, str],
    context: LoadContext,
) -> dict[str, str]:
    """Return how one column writes the labels of a question: its own `spelling` overrides the study's."""
    scale, own = question.scale, entry.spec.spelling
    for written, label in own.items():
        if not scale.admits(label):
            near = did_you_mean(label, scale.categories) or f"; labels are {', '.join(scale.categories)}"
            message = f"`{written}` is to mean `{label}`, which is not a label of its scale{near}"
            context.diagnostics.add(entry.diagnostic("spelling", written, message=message))
    return spelling_of(question, {**shared, **own})


def check_spelling(
    entry: Entry[Spec], spelling: Mapping[str, str], guidelines: Sequence[Guideline], context: LoadContext
) -> None:
    """Add an error for every spelling without a label in any guideline."""
    labels = tuple(
        dict.fromkeys(
            label
            for guideline in guidelines
            for question in guideline.instrument.questions
            for label in question.scale.categories
        )
    )
    for written, label in spelling.items():
        if labels and label not in labels:
            near = did_you_mean(label, labels) or f"; labels are {', '.join(labels)}"
            message = f"`{written}` is to mean `{label}`, which is a label of no guideline{near}"
            context.diagnostics.add(entry.diagnostic("spelling", written, message=message))


def reference_to_domain(
    entry: Entry[ReferenceSpec], registry: GuidelineRegistry, context: LoadContext, spelling: Mapping[str, str]
) -> Reference | None:
    """Return the source of the recorded final labels; None and errors if it is ambiguous."""
    name = entry.spec.guideline or registry.only()
    if not name:
        message = "`reference` needs `guideline`: the study has several or none"
        context.diagnostics.add(entry.diagnostic(message=message, at_key=True))
        return None
    guideline = registry.named(name, entry, "guideline")
    if guideline is None:
        return None
    _check_one_question(entry, "`reference` reads one column", guideline, context)
    own = _own_spelling(entry, guideline.question, spelling, context)
    return Reference(column=entry.spec.column, guideline=name, spelling=own)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelColumn:
    """A label column of a recorded file.

    Attributes:
        entry: The entry that names the column.
        column: Name of the column.
        spelling: Spellings in the file, mapped to the intended label; empty if unknown.
        scale: Scale of the question that it answers; None if that is not known.
        at_turns: Whether it has a label for each turn instead of one for the dialogue.
    """

    entry: Entry[Spec]
    column: str
    spelling: Mapping[str, str]
    scale: Scale | None = None
    at_turns: bool = False

    def meaning(self, text: str) -> str:
        """Return the label that a text means; the text itself if it fits none."""
        return self.spelling.get(text) or (self.scale and self.scale.matched(text)) or text


def unfit_labels(
    columns: Sequence[LabelColumn], parts: Sequence[Sequence[Mapping[str, str]]], on_rows: OnRows | None = None
) -> list[LocatedDiagnostic]:
    """Return a note on each column with values that match no label; reads the rows once for all columns.

    Args:
        columns: The columns.
        parts: Rows, file by file.
        on_rows: Called while the rows are read.
    """
    known = [column for column in columns if column.spelling]
    unfit: list[list[str]] = [[] for _ in known]
    counts = [0] * len(known)
    for row in counted((row for rows in parts if known for row in rows), "Checking labels", on_rows):
        for index, column in enumerate(known):
            text = row.get(column.column, "").strip()
            if text and text not in column.spelling and (column.scale is None or column.scale.matched(text) is None):
                counts[index] += 1
                unfit[index] = unfit[index] or [text]
    return [_unfit_note(column, n, examples[0]) for column, n, examples in zip(known, counts, unfit, strict=True) if n]


def _unfit_note(label_column: LabelColumn, n: int, example: str) -> LocatedDiagnostic:
    shown = example if len(example) <= 40 else example[:37] + "..."
    text = f"{n} values of `{label_column.column}` fit" if n > 1 else f"1 value of `{label_column.column}` fits"
    message = f'{text} no label and {"count" if n > 1 else "counts"} as unparseable, e.g. "{shown}"'
    return label_column.entry.diagnostic("column", message=message, severity=Severity.NOTE)


def annotators_from_domain(study: Study) -> dict[str, Any]:
    """Return all annotators with labels in a recorded file, and the people who label by hand."""
    return {
        annotator.name: {
            "who": annotator.kind.value,
            "guideline": annotator.guideline,
            **_column_from_domain(annotator.labelling),
            **_spelling_from_domain(study, annotator.labelling),
            **({"title": annotator.title} if annotator.title else {}),
            **_groups_from_domain(study, annotator.name),
        }
        for annotator in study.annotators
        if isinstance(annotator.labelling, RecordedLabels | HandLabels)
    }


def _groups_from_domain(study: Study, name: str) -> dict[str, Any]:
    groups = {attribute: of[name] for attribute, of in study.annotator_attributes.items() if name in of}
    return {"groups": groups} if groups else {}


def _column_from_domain(labelling: Labelling) -> dict[str, Any]:
    """Return the source of recorded labels; empty for labels by hand."""
    if not isinstance(labelling, RecordedLabels):
        return {}
    return {"column": labelling.column, **({"question": labelling.question} if labelling.question else {})}


def shared_spelling(study: Study) -> dict[str, str]:
    """Return the spelling that all recorded columns share; empty if two columns write labels differently."""
    named = list(_spellings(study))
    shared = {written: label for _, spelling in named for written, label in spelling.items() if written != label}
    is_common = all(spelling_of(question, shared) == spelling for question, spelling in named)
    return shared if is_common else {}


def _spellings(study: Study) -> Iterator[tuple[Question, Mapping[str, str]]]:
    """Yield the question that each recorded column answers, and how the column writes labels."""
    if study.reference is not None:
        yield study.guideline(study.reference.guideline).question, study.reference.spelling
    for annotator in study.annotators:
        if isinstance(annotator.labelling, RecordedLabels):
            guideline, name = study.guideline(annotator.guideline), annotator.labelling.question
            question = guideline.instrument.question(name) if name else guideline.question
            yield question, annotator.labelling.spelling


def _spelling_from_domain(study: Study, recorded: Labelling | Reference) -> dict[str, Any]:
    """Return the spelling of one column's labels, if the columns of a study differ in it."""
    if not isinstance(recorded, RecordedLabels | Reference) or shared_spelling(study):
        return {}
    own = {written: label for written, label in recorded.spelling.items() if written != label}
    return {"spelling": own} if own else {}


def reference_from_domain(study: Study) -> dict[str, Any] | None:
    """Return the source of the recorded final labels; None if there are none."""
    reference = study.reference
    if reference is None:
        return None
    return {"column": reference.column, "guideline": reference.guideline, **_spelling_from_domain(study, reference)}
