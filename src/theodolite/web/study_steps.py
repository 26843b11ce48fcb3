"""Steps of the study editor: the parts of a study file in the order in which a person writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from theodolite.config.study_forms import GENERAL, FormField, PartForm, Widget
from theodolite.config.yaml_source import LocatedDiagnostic
from theodolite.domain.errors import Severity

PUBLISH = "publish"
"""Key of the last step, which has no part of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorStep:
    """A step of the editor.

    Attributes:
        key: The step in addresses.
        title: Displayed name.
        parts: Top-level keys of the study file; a step with one mapping first opens its form.
        opens_part: Whether the step opens the form of its first part.
        is_in_packs: Whether scenario packs contain such parts.
    """

    key: str
    title: str
    parts: tuple[str, ...] = ()
    opens_part: bool = True
    is_in_packs: bool = False


STEPS = (
    EditorStep(
        key="study",
        title="Study",
        parts=(
            *("study", "title", "about", "pack", "language", "contact", "series", "risks", "typology", "topics"),
            *("held_out", "groups", "measures", "budget"),
        ),
        opens_part=False,
    ),
    EditorStep(key="consent", title="Consent", parts=("consent", "warning", "screening", "breaks"), opens_part=False),
    EditorStep(key="applications", title="Applications", parts=("applications", "models", "connection")),
    EditorStep(key="scenarios", title="Scenarios", is_in_packs=True, parts=("scenarios", "personas", "cases")),
    EditorStep(key="levels", title="Levels and quotas", parts=("levels", "assign", "event", "sampling")),
    EditorStep(key="questionnaires", title="Questionnaires", is_in_packs=True, parts=("questionnaires",)),
    EditorStep(
        key="annotation",
        title="Annotation",
        is_in_packs=True,
        parts=("annotation", "schemas", "guidelines", "annotators", "spelling", "reference"),
    ),
    EditorStep(key="judges", title="Judges", parts=("judges", "gates", "corrections", "tree")),
    EditorStep(key=PUBLISH, title="Publish"),
)
"""All steps, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPart:
    """A part of a step as the list of steps shows it.

    Attributes:
        field: Its key in the file.
        address: Address of its form.
        n_faults: Errors in the part; count.
        is_current: Whether the page shows it.
    """

    field: FormField
    address: str
    n_faults: int
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownStep:
    """A step with its state.

    Attributes:
        number: Position, from 1.
        step: The step.
        address: Address of its form.
        parts: Its parts; without those that the form of the step contains.
        n_faults: Errors and open items in its parts; count.
        is_set: Whether the file has one of its parts.
        is_from_pack: Whether it has none of them, and a pack contains such parts.
        is_current: Whether the page shows it.
    """

    number: int
    step: EditorStep
    address: str
    parts: tuple[StepPart, ...]
    n_faults: int
    is_set: bool
    is_from_pack: bool
    is_current: bool

    @property
    def icon(self) -> str:
        """Icon of its state."""
        if self.n_faults:
            return "alert-triangle"
        return "circle-check" if self.is_set or self.is_from_pack else "circle-dashed"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPlace:
    """The place of a page among the steps.

    Attributes:
        base: Address of the study file's page, to which the place is added.
        step: Step that the address names; empty for none.
        part: Top-level key of the form on the page; empty for none.
    """

    base: str
    step: str = ""
    part: str = ""

    def is_at(self, step: EditorStep) -> bool:
        """Return whether the page shows a step."""
        if self.part and self.part != GENERAL:
            return self.part in step.parts
        return self.step == step.key


def shown_steps(top: PartForm, found: Sequence[LocatedDiagnostic], place: StepPlace) -> tuple[ShownStep, ...]:
    """Return the steps of a study file.

    Args:
        top: Form of the whole file.
        found: Errors and open items of the file.
        place: The place of the page.
    """
    fields = {field.key: field for field in (*top.fields, *top.more)}
    counts = _counts(fields, found)
    return tuple(_shown(number, step, fields, counts, place) for number, step in enumerate(STEPS, start=1))


def _shown(
    number: int, step: EditorStep, fields: Mapping[str, FormField], counts: Mapping[str, int], place: StepPlace
) -> ShownStep:
    parts = tuple(
        StepPart(
            field=fields[key],
            address=f"{place.base}&at={_form_of(fields[key])}&step={step.key}",
            n_faults=counts.get(key, 0),
            is_current=_form_of(fields[key]) == place.part,
        )
        for key in step.parts
        if step.opens_part or fields[key].widget is Widget.LINK
    )
    at = step.parts[0] if step.parts and step.opens_part and fields[step.parts[0]].widget is Widget.LINK else GENERAL
    n_faults = sum(counts.values()) if step.key == PUBLISH else sum(counts.get(key, 0) for key in step.parts)
    is_set = any(fields[key].is_set for key in step.parts)
    return ShownStep(
        number=number,
        step=step,
        address=f"{place.base}&at={at}&step={step.key}",
        parts=parts,
        n_faults=n_faults,
        is_set=is_set,
        is_from_pack=not is_set and step.is_in_packs and fields["pack"].is_set,
        is_current=place.is_at(step),
    )


def _form_of(field: FormField) -> str:
    """Return the address of the form with a key: its own form, or that of the step."""
    return field.key if field.widget is Widget.LINK else GENERAL


def _counts(fields: Mapping[str, FormField], found: Sequence[LocatedDiagnostic]) -> dict[str, int]:
    """Return the number of errors and open items by the top-level key in whose lines they are."""
    starts = sorted((field.line, key) for key, field in fields.items() if field.line)
    counts: dict[str, int] = {}
    for item in found:
        if item.severity is Severity.NOTE:
            continue
        key = next((key for line, key in reversed(starts) if line <= item.line), "study")
        counts[key] = counts.get(key, 0) + 1
    return counts


def of_step(form: PartForm, step: str) -> tuple[tuple[FormField, ...], tuple[FormField, ...]]:
    """Return the fields of the form of a whole file that belong to a step, and its further fields.

    Without a step these are all fields.
    """
    parts = next((editor_step.parts for editor_step in STEPS if editor_step.key == step), None)
    if parts is None or form.at != GENERAL:
        return form.fields, form.more
    fields = {field.key: field for field in (*form.fields, *form.more)}
    known = {field.key for field in form.fields}
    first = tuple(fields[key] for key in parts if key in fields and (key in known or key in parts[:4]))
    return first, tuple(fields[key] for key in parts if key in fields and fields[key] not in first)
