"""Publishing a schema: the draft becomes the file that the study reads, under a hash of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.db import transaction

from theodolite.annotation.reannotation import carry_over, first_use, n_qualified
from theodolite.assessment.schema_changes import CategoryChange, Fate, is_alike, schema_changes
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.config.labelling.schema_drafts import read_schema, schema_path
from theodolite.config.loading import load_study
from theodolite.domain.errors import Conflict, InputError, StudyError
from theodolite.domain.identity import version_of
from theodolite.domain.schema import AnnotationSchema
from theodolite.domain.study import Study
from theodolite.web.access import audit
from theodolite.web.events import store_record
from theodolite.web.models import Account, HostedStudy, SchemaDraft, SchemaRevision, SchemaVersion
from theodolite.web.schemas.drafts import head_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What publishing a draft would do.

    Attributes:
        schema: What would be published.
        before: What the study has now under that name; None for nothing.
        changes: What becomes of each category.
        used_since: When somebody first annotated by what the study has now; None if nobody has.
        qualified: Category to how many people are qualified for it as it is now; counts.
        refusal: Why it cannot be published; empty where it can.
    """

    schema: AnnotationSchema
    before: AnnotationSchema | None
    changes: tuple[CategoryChange, ...]
    used_since: datetime | None
    qualified: Mapping[str, int]
    refusal: str

    @property
    def version(self) -> str:
        """Content hash of what would be published."""
        return version_of(self.schema)

    @property
    def told(self) -> tuple[tuple[CategoryChange, int], ...]:
        """Each change with the people who are qualified for the category as it is now."""
        return tuple((one, self.qualified.get(one.name, 0)) for one in self.changes)


def outlook_of(draft: SchemaDraft, schema: AnnotationSchema, study: Study | None) -> Outlook:
    """Return what publishing a schema would do.

    Args:
        draft: The draft that says it.
        schema: What it says.
        study: The study as its files are; None where they hold faults.
    """
    before = next((one for one in study.schemas if one.name == draft.name), None) if study else None
    changes = schema_changes(before, schema)
    used = first_use([version_of(one.guideline) for one in before.categories]) if before else None
    return Outlook(
        schema=schema,
        before=before,
        changes=changes,
        used_since=used,
        qualified={one.name: n_qualified(one.before) for one in changes if one.before},
        refusal=_refusal(schema, before, used),
    )


def _refusal(schema: AnnotationSchema, before: AnnotationSchema | None, used: datetime | None) -> str:
    if before is None:
        return ""
    if is_alike(before, schema):
        return "it says what the study has already"
    if used is not None and schema.edition == before.edition:
        said = f"edition {before.edition}" if before.edition else "a schema without an edition"
        return (
            f"the study has {said}, by which people have annotated since {used:%Y-%m-%d}; that one stays as it is. "
            "Give this one another `edition:`"
        )
    return ""


def publish_schema(
    draft: SchemaDraft, number: int, by: Account, *, note: str = "", keep: Mapping[str, bool] | None = None
) -> SchemaVersion:
    """Write a revision to the study's folder as the schema that it reads from now on.

    People meet it with the next edition of the study, in the dialogues that nobody has taken by then.

    Args:
        draft: The draft.
        number: The revision that the publisher has looked at.
        by: Who publishes.
        note: Why.
        keep: Category to whether those who are qualified stay so, where only words have changed.

    Raises:
        Conflict: If somebody has saved in between, or what the study has may not be replaced.
        InputError: If qualifications are to stay and nobody says why.
        StudyError: If the study does not hold together with it; says all faults.
    """
    hosted, kept = draft.hosted, {name for name, stays in (keep or {}).items() if stays}
    if kept and not note.strip():
        message = f"say why those who are qualified for {', '.join(sorted(kept))} need not pass the test again"
        raise InputError(message)
    with transaction.atomic():
        SchemaDraft.objects.select_for_update().get(pk=draft.pk)
        revision = head_of(draft)
        if revision.number != number:
            message = f"revision {revision.number} was saved since you looked at revision {number}; look once more"
            raise Conflict(message)
        outlook = _looked_at(draft, revision)
        made = _enter(draft, revision, outlook, by, note)
        for change in outlook.changes:
            if change.may_carry_over and (change.fate is Fate.SAME or change.name in kept):
                _carry(change, made, by, note)
        audit(by, "published schema", f"schema {draft.name}", hosted=hosted, version=made.version, number=made.number)
        _write(Path(hosted.folder) / schema_path(draft.name), revision.text)
    return made


def _looked_at(draft: SchemaDraft, revision: SchemaRevision) -> Outlook:
    """Return what publishing does, once the whole study was read with it."""
    after = _study_with(draft.hosted, {schema_path(draft.name): revision.text.encode("utf-8")})
    schema = next((one for one in after.schemas if one.name == draft.name), None)
    if schema is None:
        message = (
            f"the study does not use a schema `{draft.name}`; "
            f"write `annotation: {{schema: {draft.name}}}` in its file first"
        )
        raise Conflict(message)
    alone = read_schema(revision.text, draft.name).schema
    if alone is None or not is_alike(alone, schema):
        message = (
            f"the study's own file or pack holds a schema `{draft.name}`, which counts before a file of its own; "
            "take it out there, or give this one another name"
        )
        raise Conflict(message)
    outlook = outlook_of(draft, schema, _study_now(draft.hosted))
    if outlook.refusal:
        raise Conflict(outlook.refusal)
    return outlook


def _study_with(hosted: HostedStudy, instead: Mapping[str, bytes]) -> Study:
    if not hosted.folder:
        message = f"study `{hosted.name}` has no files on this server to be written to"
        raise Conflict(message)
    return load_study(hosted.folder, resolver=resource_resolver(), instead=instead).study


def _study_now(hosted: HostedStudy) -> Study | None:
    try:
        return _study_with(hosted, {})
    except StudyError:
        return None


def _enter(draft: SchemaDraft, revision: SchemaRevision, outlook: Outlook, by: Account, note: str) -> SchemaVersion:
    store_record(outlook.schema)
    last = draft.versions.order_by("-number").first()
    return SchemaVersion.objects.create(
        draft=draft,
        number=last.number + 1 if last else 1,
        revision=revision,
        version=outlook.version,
        edition=outlook.schema.edition,
        note=note[:500],
        made_by=by,
    )


def _carry(change: CategoryChange, made: SchemaVersion, by: Account, note: str) -> None:
    why = "the same questions" if change.fate is Fate.SAME else f"other words for the same: {note}"
    reason = f"carried over to version {made.number} of schema {made.draft.name}, {why}"
    carry_over(change.name, change.before, change.after, by=by.token, reason=reason)


def _write(path: Path, text: str) -> None:
    """Write the file whole or not at all.

    Raises:
        Conflict: If the folder cannot be written.
    """
    beside = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(exist_ok=True)
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, path)  # noqa: PTH105 - atomic, and said so
    except OSError as error:
        reason = error.strerror or type(error).__name__
        message = f"`{path.parent.name}/{path.name}` cannot be written ({reason}); download the text and put it there"
        raise Conflict(message) from error
