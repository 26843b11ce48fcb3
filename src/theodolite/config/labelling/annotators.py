"""Annotators whose labels stand in a recorded file, and the guidelines that everybody labels by."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from theodolite.config.diagnostics import LocatedDiagnostic
from theodolite.config.labelling.guidelines import guideline_of
from theodolite.config.lookup import Entry, LoadContext
from theodolite.config.resources import SHIPPED
from theodolite.config.specs.guidelines import AnnotatorSpec, GuidelineSpec
from theodolite.config.specs.study import ReferenceSpec
from theodolite.config.stored_rows import OnRows, counted
from theodolite.domain.annotator import PEOPLE, REFERENCE, Annotator, HandLabels, Labelling, RecordedLabels
from theodolite.domain.fault import Severity, did_you_mean
from theodolite.domain.guideline import Guideline, Origin
from theodolite.domain.instrument import Question, Scale
from theodolite.domain.study import Reference

RESERVED = {REFERENCE: "the recorded final labels", PEOPLE: "the people who share the dialogues of a guideline"}
"""Names that reports give annotators of their own, with their meaning."""


class GuidelineRegistry:
    """All guidelines that a study can name, found when they are first named."""

    def __init__(
        self, entries: Mapping[str, Entry[GuidelineSpec]], context: LoadContext, *, shipped: Collection[str] = ()
    ) -> None:
        """Keep the study's own guidelines, of which some may come from a shipped schema; others are looked up."""
        self._entries = entries
        self._shipped = shipped
        self._desk = context
        self._found: dict[str, Entry[GuidelineSpec]] = {}
        self._read: dict[str, Guideline | None] = {}
        self._used: dict[str, None] = {}
        self.broken: set[str] = set()

    def named(self, name: str, entry: Entry[Any], key: str) -> Guideline | None:
        """Return the guideline of a name; None and a fault at `key` where there is none."""
        self._used[name] = None
        return self._look_up(name, entry, key)

    def _look_up(self, name: str, entry: Entry[Any], key: str) -> Guideline | None:
        if name in self._read:
            return self._read[name]
        if name in self.broken:
            return None
        found = self._entries.get(name)
        origin = Origin.SHIPPED if name in self._shipped else Origin.STUDY
        if found is None:
            found = self._desk.read_spec("guidelines", name, GuidelineSpec, "guideline")
            shipped = any(item.where == SHIPPED and item.name == name for item in self._desk.found)
            origin = Origin.SHIPPED if shipped else Origin.STUDY
        if found is None:
            self._complain_unknown(name, entry, key)
            self.broken.add(name)
            return None
        if origin is Origin.STUDY:
            self._found[name] = found
        self._read[name] = guideline_of(found, self._desk, origin=origin)
        return self._read[name]

    def read_own(self) -> None:
        """Read the guidelines of the study file and its pack, whether somebody names them or not."""
        for name, entry in self._entries.items():
            self._look_up(name, entry, "ask")

    def own(self) -> tuple[Entry[GuidelineSpec], ...]:
        """Return the entries of the study's own guidelines, those with a file of their own and a pack's too."""
        return tuple(self._found.values())

    def add(self, guideline: Guideline) -> None:
        """Register a guideline, e.g. the question of a judge."""
        self._used[guideline.name] = None
        self._read[guideline.name] = guideline

    def read(self) -> tuple[Guideline, ...]:
        """Return all guidelines that were read: in the order of their first use, then those that nobody names.

        The order is the same whether a guideline stands in the study's file or in one of its own.
        """
        order = dict.fromkeys([*self._used, *self._read])
        return tuple(guideline for name in order if (guideline := self._read.get(name)) is not None)

    def only(self) -> str:
        """Return the name of the one guideline of the study; empty where there are several or none.

        Where the file holds none and names none, the study's folder may hold the one.
        """
        names = {*self._entries, *self._read} or set(self._desk.own_names_in("guidelines", ".yaml"))
        return next(iter(names)) if len(names) == 1 else ""

    def _complain_unknown(self, name: str, entry: Entry[Any], key: str) -> None:
        known = dict.fromkeys([*self._entries, *self._desk.names_in("guidelines", ".yaml")])
        tail = did_you_mean(name, known) or f"; known here: {', '.join(known)}"
        message = f"there is no guideline `{name}`, neither in the study nor in `guidelines/` nor shipped{tail}"
        self._desk.diagnostics.add(entry.fault(key, message=message))


def labelling_annotator(
    entry: Entry[AnnotatorSpec], registry: GuidelineRegistry, context: LoadContext, spelling: Mapping[str, str]
) -> Annotator | None:
    """Return the annotator whose labels a column or a person brings; None and faults where it has no guideline."""
    if entry.name in RESERVED:
        message = f"reports call {RESERVED[entry.name]} `{entry.name}`; give the annotator another name"
        context.diagnostics.add(entry.fault(message=message, at_key=True))
    name = entry.spec.guideline or registry.only()
    if not name:
        message = f"annotator `{entry.name}` needs `guideline`: the study has several or none"
        context.diagnostics.add(entry.fault(message=message, at_key=True))
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
    """Return what a study says of its annotators: attribute to annotator to group."""
    annotator_attributes: dict[str, dict[str, str]] = {}
    for name, spec in annotators.items():
        for attribute, group in spec.groups.items():
            annotator_attributes.setdefault(attribute, {})[name] = group
    return annotator_attributes


@dataclass(frozen=True, slots=True, kw_only=True)
class OneLabel:
    """Somebody who gives one label a dialogue, and the question that it is said to answer.

    Attributes:
        entry: Who gives it.
        keys: Path of the key that names the question.
        question: Name of the question as written; empty where none is.
        subject: What gives one label, for messages.
    """

    entry: Entry[Any]
    keys: tuple[str, ...]
    question: str
    subject: str


def answered_question(label: OneLabel, guideline: Guideline, context: LoadContext) -> Question | None:
    """Return the question that a label answers; None and a fault where the guideline has no such question."""
    name, entry, key = label.question, label.entry, label.keys[-1]
    names = [question.name for question in guideline.instrument.questions]
    if name in names:
        return guideline.instrument.question(name)
    if name:
        message = f"guideline `{guideline.name}` has no question `{name}`"
        near = did_you_mean(name, names) or f"; questions are {', '.join(names)}"
        context.diagnostics.add(entry.fault(*label.keys, message=message + near))
    elif len(names) > 1:
        message = (
            f"{label.subject}, but guideline `{guideline.name}` asks {len(names)} questions ({', '.join(names)});"
            f" say which one with `{key}`"
        )
        context.diagnostics.add(entry.fault("guideline", message=message))
    return None if name else guideline.question


def _check_one_question(entry: Entry[Any], subject: str, guideline: Guideline, context: LoadContext) -> None:
    """Add a fault where one label would have to answer several questions: all but one would stay without an answer."""
    names = [question.name for question in guideline.instrument.questions]
    if len(names) > 1:
        message = (
            f"{subject}, but guideline `{guideline.name}` asks {len(names)} questions ({', '.join(names)});"
            " split it into one guideline for each question"
        )
        context.diagnostics.add(entry.fault("guideline", message=message))


def spelling_of(question: Question, spelling: Mapping[str, str]) -> dict[str, str]:
    """Return what a file may write for the labels of a question: the labels themselves and their spellings."""
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
            message = f"`{written}` is to mean `{label}`, which is no label of its scale{near}"
            context.diagnostics.add(entry.fault("spelling", written, message=message))
    return spelling_of(question, {**shared, **own})


def check_spelling(
    entry: Entry[Any], spelling: Mapping[str, str], guidelines: Sequence[Guideline], context: LoadContext
) -> None:
    """Add a fault for every spelling that stands for no label of any guideline."""
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
            context.diagnostics.add(entry.fault("spelling", written, message=message))


def reference_of(
    entry: Entry[ReferenceSpec], registry: GuidelineRegistry, context: LoadContext, spelling: Mapping[str, str]
) -> Reference | None:
    """Return where the recorded final labels stand; None and faults where that is not clear."""
    name = entry.spec.guideline or registry.only()
    if not name:
        message = "`reference` needs `guideline`: the study has several or none"
        context.diagnostics.add(entry.fault(message=message, at_key=True))
        return None
    guideline = registry.named(name, entry, "guideline")
    if guideline is None:
        return None
    _check_one_question(entry, "`reference` reads one column", guideline, context)
    own = _own_spelling(entry, guideline.question, spelling, context)
    return Reference(column=entry.spec.column, guideline=name, spelling=own)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelColumn:
    """A column of a recorded file that holds labels.

    Attributes:
        entry: Who names it.
        column: Its name.
        spelling: What it may hold to the label that is meant; empty where that is not known.
        scale: Scale of the question that it answers; None where that is not known.
        at_turns: Whether it holds a label of each turn, and not one of the dialogue.
    """

    entry: Entry[Any]
    column: str
    spelling: Mapping[str, str]
    scale: Scale | None = None
    at_turns: bool = False

    def meaning(self, text: str) -> str:
        """Return the label that a text means; the text itself where it fits none."""
        return self.spelling.get(text) or (self.scale and self.scale.matched(text)) or text


def unfit_labels(
    columns: Sequence[LabelColumn], parts: Sequence[Sequence[Mapping[str, str]]], on_rows: OnRows | None = None
) -> list[LocatedDiagnostic]:
    """Return a note on each column that holds what fits no label; the rows are gone through once for all columns.

    Args:
        columns: The columns.
        parts: Rows, file by file.
        on_rows: Called while the rows are gone through.
    """
    known = [one for one in columns if one.spelling]
    unfit: list[list[str]] = [[] for _ in known]
    counts = [0] * len(known)
    for row in counted((row for rows in parts if known for row in rows), "Checking labels", on_rows):
        for place, one in enumerate(known):
            text = row.get(one.column, "").strip()
            if text and text not in one.spelling and (one.scale is None or one.scale.matched(text) is None):
                counts[place] += 1
                unfit[place] = unfit[place] or [text]
    return [_unfit_note(one, n, examples[0]) for one, n, examples in zip(known, counts, unfit, strict=True) if n]


def _unfit_note(one: LabelColumn, n: int, example: str) -> LocatedDiagnostic:
    shown = example if len(example) <= 40 else example[:37] + "..."
    words = f"{n} values of `{one.column}` fit" if n > 1 else f"1 value of `{one.column}` fits"
    message = f'{words} no label and {"count" if n > 1 else "counts"} as unparseable, e.g. "{shown}"'
    return one.entry.fault("column", message=message, severity=Severity.NOTE)
