"""Drafts of schemas: revisions, validation, publication and previews."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_http_methods

from theodolite.annotation.submission import carry_over, first_use, n_qualified
from theodolite.assessment.schema_changes import CategoryChange, Fate, is_alike, schema_changes
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.config.loading import LoadedStudy, load_study
from theodolite.config.schemas import (
    LONGEST,
    QuestionLines,
    SchemaReading,
    question_blocks,
    read_schema,
    schema_path,
    schema_text,
)
from theodolite.config.yaml_source import InvalidStudyError, LocatedDiagnostic, render_diagnostics
from theodolite.domain.annotating.work import BlindReference
from theodolite.domain.errors import Conflict, InputError, NotFound, StudyError
from theodolite.domain.event import Role
from theodolite.domain.identity import SHORT, version_of
from theodolite.domain.instrument import Instrument
from theodolite.domain.schema import AnnotationSchema, Category
from theodolite.domain.study import Study
from theodolite.web.access import AccessContext, allowed, audit
from theodolite.web.annotator.annotation_page import reference_of
from theodolite.web.annotator.guideline_preview import GuidelinePreview, guideline_preview
from theodolite.web.events import last_edition, store_record, study_in_files, study_of
from theodolite.web.models import Account, HostedStudy, SchemaDraft, SchemaRevision, SchemaVersion
from theodolite.web.questions import FormPage, form_page, humanize

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


_LINE_END = re.compile(r"\r\n?")


SHIPPED = "aria-five-categories"
"""The default schema that a new schema starts with."""


def begin_draft(hosted: HostedStudy, name: str, source: str, by: Account) -> SchemaDraft:
    """Return the draft of a schema; create it if there is none.

    Args:
        hosted: The study.
        name: Name of the schema, equal to the name of its file.
        source: Name of the schema whose text it starts with.
        by: The account that creates it.

    Raises:
        InputError: If the name is invalid, or there is no such text to start with.
    """
    if not _NAME.fullmatch(name):
        message = (
            f"a schema name contains lower-case letters, digits and single hyphens, e.g. tone-of-voice; got `{name}`"
        )
        raise InputError(message)
    there = SchemaDraft.objects.filter(hosted=hosted, name=name).first()
    if there is not None:
        return there
    text = schema_text(Path(hosted.folder), source, resource_resolver()) if hosted.folder else None
    if text is None:
        message = f"no schema `{source}` in the study's folder or among the shipped ones"
        raise InputError(message)
    with transaction.atomic():
        draft = SchemaDraft.objects.create(hosted=hosted, name=name, made_by=by)
        SchemaRevision.objects.create(draft=draft, number=1, text=tidied(text), made_by=by)
        audit(by, "started schema draft", f"schema {name}", hosted=hosted, source=source)
    return draft


def head_of(draft: SchemaDraft) -> SchemaRevision:
    """Return the latest revision."""
    return draft.revisions.select_related("made_by").order_by("-number")[0]


def save_text(draft: SchemaDraft, text: str, by: Account, *, seen: int) -> SchemaRevision:
    """Save a text as the next revision; an unchanged text adds nothing.

    Args:
        draft: The draft.
        text: Text in the editor.
        by: The saving account.
        seen: Number of the revision on which the text is based.

    Raises:
        Conflict: If another person has saved in the meantime.
        InputError: If it is too long.
    """
    if len(text) > LONGEST:
        message = f"a schema has at most {LONGEST:,} characters; this one has {len(text):,}"
        raise InputError(message)
    with transaction.atomic():
        SchemaDraft.objects.select_for_update().get(pk=draft.pk)
        head = head_of(draft)
        if tidied(text) == head.text:
            return head
        if seen != head.number and head.made_by != by:
            message = (
                f"{head.made_by} saved revision {head.number} while you edited revision {seen}; "
                "your text is still in the editor"
            )
            raise Conflict(message)
        return SchemaRevision.objects.create(draft=draft, number=head.number + 1, text=tidied(text), made_by=by)


def tidied(text: str) -> str:
    r"""Return a text with Unix line ends and a final newline.

    Example:
        >>> tidied("a: 1\r\nb: 2")
        'a: 1\nb: 2\n'
    """
    return _LINE_END.sub("\n", text).replace("\0", "").rstrip("\n") + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """The effect of publishing a draft.

    Attributes:
        schema: The schema to publish.
        before: The study's current schema with that name; None if there is none.
        changes: Change of each category.
        used_since: Time of the first annotation by the study's current version; None if there is none.
        qualified: Category to the number of people qualified for its current version; counts.
        refusal: Reason why it cannot be published; empty if it can.
    """

    schema: AnnotationSchema
    before: AnnotationSchema | None
    changes: tuple[CategoryChange, ...]
    used_since: datetime | None
    qualified: Mapping[str, int]
    refusal: str

    @property
    def version(self) -> str:
        """Content hash of the version to publish."""
        return version_of(self.schema)

    @property
    def affected(self) -> tuple[tuple[CategoryChange, int], ...]:
        """Each change with the number of people qualified for the current category."""
        return tuple((change, self.qualified.get(change.name, 0)) for change in self.changes)


def outlook_of(draft: SchemaDraft, schema: AnnotationSchema, study: Study | None) -> Outlook:
    """Return the effect of publishing a schema.

    Args:
        draft: The draft.
        schema: The schema.
        study: The study from its current files; None if they have errors.
    """
    before = next((schema for schema in study.schemas if schema.name == draft.name), None) if study else None
    changes = schema_changes(before, schema)
    used = first_use([version_of(category.guideline) for category in before.categories]) if before else None
    return Outlook(
        schema=schema,
        before=before,
        changes=changes,
        used_since=used,
        qualified={change.name: n_qualified(change.before) for change in changes if change.before},
        refusal=_refusal(schema, before, used),
    )


def _refusal(schema: AnnotationSchema, before: AnnotationSchema | None, used: datetime | None) -> str:
    if before is None:
        return ""
    if is_alike(before, schema):
        return "it is identical to the study's schema"
    if used is not None and schema.edition == before.edition:
        label = f"edition {before.edition}" if before.edition else "a schema without an edition"
        return (
            f"the study has {label}, which annotators have used since {used:%Y-%m-%d}, so it is frozen. "
            "Set another `edition:`"
        )
    return ""


def publish_schema(
    draft: SchemaDraft, number: int, by: Account, *, note: str = "", keep: Mapping[str, bool] | None = None
) -> SchemaVersion:
    """Write a revision to the study's folder as its current schema.

    People get it with the next release of the study, in dialogues that are not reserved by then.

    Args:
        draft: The draft.
        number: The revision that the publisher has read.
        by: The publishing account.
        note: Why.
        keep: Whether annotators stay qualified, by category, if only the wording has changed.

    Raises:
        Conflict: If another person has saved in the meantime, or the study's version may not be replaced.
        InputError: If qualifications should stay and no reason is stated.
        StudyError: If the study is invalid with it; lists all faults.
    """
    hosted, names = draft.hosted, {name for name, stays in (keep or {}).items() if stays}
    if names and not note.strip():
        message = f"say why those who are qualified for {', '.join(sorted(names))} need not pass the test again"
        raise InputError(message)
    with transaction.atomic():
        SchemaDraft.objects.select_for_update().get(pk=draft.pk)
        revision = head_of(draft)
        if revision.number != number:
            message = f"revision {revision.number} was saved after you opened revision {number}; review it"
            raise Conflict(message)
        outlook = _looked_at(draft, revision)
        made = _enter(draft, revision, outlook, by, note)
        for change in outlook.changes:
            if change.may_carry_over and (change.fate is Fate.SAME or change.name in names):
                _carry(change, made, by, note)
        audit(by, "published schema", f"schema {draft.name}", hosted=hosted, version=made.version, number=made.number)
        _write(Path(hosted.folder) / schema_path(draft.name), revision.text)
    return made


def _looked_at(draft: SchemaDraft, revision: SchemaRevision) -> Outlook:
    """Return the effect of publishing, after loading the whole study with the schema."""
    after = _study_with(draft.hosted, {schema_path(draft.name): revision.text.encode("utf-8")})
    schema = next((schema for schema in after.schemas if schema.name == draft.name), None)
    if schema is None:
        message = (
            f"the study does not use a schema `{draft.name}`; "
            f"write `annotation: {{schema: {draft.name}}}` in its file first"
        )
        raise Conflict(message)
    alone = read_schema(revision.text, draft.name).schema
    if alone is None or not is_alike(alone, schema):
        message = (
            f"the study's own file or pack holds a schema `{draft.name}`, which takes precedence over a separate file; "
            "remove it there, or choose another name"
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
    """Write the file atomically.

    Raises:
        Conflict: If the folder cannot be written.
    """
    beside = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(exist_ok=True)
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, path)  # noqa: PTH105 - intentionally atomic
    except OSError as error:
        reason = error.strerror or type(error).__name__
        message = f"`{path.parent.name}/{path.name}` cannot be written ({reason}); download the text and put it there"
        raise Conflict(message) from error


TRIED = 20
"""Maximum number of revisions to try until one is readable; count."""


MOST_LINES = 400
"""Maximum number of lines of a comparison on a page; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineCategory:
    """A category with those of its questions that have their own lines."""

    name: str
    title: str
    blocks: tuple[QuestionLines, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenDraft:
    """A text of a draft with the content of its page.

    Attributes:
        draft: The draft.
        revision: The text.
        reading: Its parsed schema.
        readable: The latest revision that can be previewed; None if there is none.
        categories: The categories of `readable`.
        study: The study from its current files; None if they have errors.
    """

    draft: SchemaDraft
    revision: SchemaRevision
    reading: SchemaReading
    readable: SchemaRevision | None
    categories: tuple[Category, ...]
    study: Study | None

    @property
    def faults(self) -> tuple[LocatedDiagnostic, ...]:
        """The errors in the text."""
        return self.reading.faults

    @property
    def notes(self) -> tuple[LocatedDiagnostic, ...]:
        """The warnings about its questions."""
        return self.reading.notes

    @property
    def outline(self) -> tuple[OutlineCategory, ...]:
        """The questions of each category, if they have their own lines."""
        blocks = question_blocks(self.reading.source)
        names = dict.fromkeys(block.category for block in blocks)
        titles = {category.name: category.title for category in self.categories}
        return tuple(
            OutlineCategory(
                name=name,
                title=titles.get(name) or humanize(name),
                blocks=tuple(block for block in blocks if block.category == name),
            )
            for name in names
        )

    @property
    def outlook(self) -> Outlook | None:
        """The effect of publishing; None while the text has errors."""
        schema = self.reading.schema
        return outlook_of(self.draft, schema, self.study) if schema else None

    @property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """The diff against the file of the study: kind of line and line, cut to one page."""
        return tuple(_compared(_published_text(self.draft), self.revision.text))[:MOST_LINES]

    @property
    def is_named(self) -> bool:
        """Whether the study uses a schema of this name."""
        return self.study is not None and any(schema.name == self.draft.name for schema in self.study.schemas)


def written(draft: SchemaDraft, revision: SchemaRevision) -> WrittenDraft:
    """Return a text of a draft with the content of its page."""
    reading = read_schema(revision.text, draft.name)
    readable = next(_readable(draft, revision, reading.schema), None)
    return WrittenDraft(
        draft=draft,
        revision=revision,
        reading=reading,
        readable=readable[0] if readable else None,
        categories=readable[1].categories if readable else (),
        study=study_of_files(draft.hosted),
    )


def study_of_files(hosted: HostedStudy) -> Study | None:
    """Return a study from its current files; None if they have errors."""
    try:
        return study_in_files(hosted).study
    except (NotFound, StudyError):
        return None


def _readable(
    draft: SchemaDraft, revision: SchemaRevision, schema: AnnotationSchema | None
) -> Iterator[tuple[SchemaRevision, AnnotationSchema]]:
    """Yield the revision if it is readable, then the readable ones before it."""
    if schema is not None:
        yield revision, schema
        return
    for earlier in draft.revisions.filter(number__lt=revision.number).order_by("-number")[:TRIED]:
        readable = read_schema(earlier.text, draft.name).schema
        if readable is not None:
            yield earlier, readable


def _published_text(draft: SchemaDraft) -> str:
    text = schema_text(Path(draft.hosted.folder), draft.name, resource_resolver()) if draft.hosted.folder else None
    return tidied(text) if text else ""


def _compared(before: str, after: str) -> Iterator[tuple[str, str]]:
    kinds = {"+": "put in", "-": "taken out", "@": "place", " ": "kept"}
    compared = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2)
    for line in list(compared)[2:]:
        yield kinds[line[0]], line


@allowed(Role.ORGANISER, Role.SENIOR)
@require_http_methods(["GET", "POST"])
@xframe_options_sameorigin
def preview(request: HttpRequest, access: AccessContext, draft: str, number: int, section: str) -> HttpResponse:
    """Show one category of one revision as annotators would see it; trial answers stay on the page."""
    text = (
        SchemaDraft.objects.filter(hosted=access.hosted, token=draft, revisions__number=number)
        .values_list("revisions__text", "name")
        .first()
    )
    schema = read_schema(*text).schema if text else None
    match = next((category for category in schema.categories if category.name == section), None) if schema else None
    if match is None:
        raise Http404
    return preview_page(request, access, match)


def preview_page(request: HttpRequest, access: AccessContext, category: Category) -> HttpResponse:
    """Return the annotation page of a category with an example instead of a dialogue."""
    shown = GuidelinePreview(
        guideline=category.guideline,
        title=category.title or humanize(category.guideline.name),
        reference=reference_here(access.hosted),
        context={"access": access},
        sent=request.POST if request.method == "POST" else {},
    )
    return guideline_preview(request, shown)


def reference_here(hosted: HostedStudy) -> BlindReference:
    """Return the reference of the latest release (or the files) if it has one scenario; else None."""
    release = last_edition(hosted)
    try:
        study = study_of(release) if release else study_of_files(hosted)
    except NotFound:
        study = None
    return reference_of(study) if study else BlindReference()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownInstrument:
    """An instrument of a study.

    Attributes:
        name: Name in the study.
        title: Displayed title.
        about: Text above its questions.
        version: Start of its content hash.
        whose: Its respondents, as text.
        instrument: The questions.
    """

    name: str
    title: str
    about: str
    version: str
    whose: str
    instrument: Instrument


@allowed(Role.ORGANISER, Role.SENIOR)
def instruments(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """List the questions to people, with version and weaknesses."""
    try:
        loaded = _loaded(access)
        context = {"access": access, "shown": _shown(loaded), "notes": loaded.notes}
    except InvalidStudyError as found:
        context = {
            "access": access,
            "errors": render_diagnostics(found.placed, limit=None, ending="Nothing was published."),
        }
    return render(request, "web/questions/list.html", context)


@allowed(Role.ORGANISER, Role.SENIOR)
def instrument(request: HttpRequest, access: AccessContext, name: str) -> HttpResponse:
    """Show an instrument as people see it; answers are not stored.

    A category is shown on the annotation page, a questionnaire on that of testers.
    """
    loaded = _loaded(access)
    category = next(
        (category for schema in loaded.study.schemas for category in schema.categories if category.name == name), None
    )
    if category is not None:
        return preview_page(request, access, category)
    shown = next((instrument for instrument in _shown(loaded) if instrument.name == name), None)
    if shown is None:
        raise Http404
    context = {"access": access, "title": shown.title, "about": shown.about, "shown": shown}
    return form_page(
        request, FormPage(instrument=shown.instrument, template="web/questions/preview.html", context=context)
    )


def _loaded(access: AccessContext) -> LoadedStudy:
    return load_study(access.hosted.folder, resolver=resource_resolver())


def _shown(loaded: LoadedStudy) -> list[ShownInstrument]:
    categories = [
        ShownInstrument(
            name=category.name,
            title=category.title or category.name,
            about=category.guideline.definition,
            version=version_of(category.guideline)[:SHORT],
            whose=f"annotators, schema {schema.name}",
            instrument=category.guideline.instrument,
        )
        for schema in loaded.study.schemas
        for category in schema.categories
    ]
    questionnaires = [
        ShownInstrument(
            name=questionnaire.name,
            title=questionnaire.title or questionnaire.name,
            about=questionnaire.about,
            version=version_of(questionnaire)[:SHORT],
            whose="testers, after a session",
            instrument=questionnaire.instrument,
        )
        for questionnaire in loaded.study.questionnaires
    ]
    return [*categories, *questionnaires]
