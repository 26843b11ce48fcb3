"""The pages on which a schema is edited and published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from theodolite.annotation.threads import settled_threads
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.config import schema_editing
from theodolite.config.instruments import SCHEMA_FOLDER
from theodolite.config.schema_editing import schema_path
from theodolite.config.yaml_source import InvalidStudyError, read_yaml, render_diagnostics
from theodolite.domain.annotating.discrepancy import FeedbackThread, ThreadEnd
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.event import Role
from theodolite.web.access import AccessContext, allowed, audit
from theodolite.web.annotator.context import annotator_context
from theodolite.web.models import SchemaDraft, SchemaRevision
from theodolite.web.questions.form import humanize
from theodolite.web.schemas.drafts import (
    SHIPPED,
    WrittenDraft,
    begin_draft,
    head_of,
    publish_schema,
    save_text,
    study_of_files,
    tidied,
    written,
)

SHOWN = 30
"""Revisions that the page lists at most; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unsaved:
    """A text that could not be saved, as the page gives it back."""

    text: str
    why: str


@allowed(Role.ORGANISER, Role.SENIOR)
@require_GET
def schemas(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """List the schemas of a study, and the drafts that people work on."""
    study = study_of_files(access.hosted)
    context = {
        "access": access,
        "schemas": study.schemas if study else (),
        "is_broken": study is None,
        "drafts": [
            (schema_draft, head_of(schema_draft), schema_draft.versions.first())
            for schema_draft in access.hosted.schema_drafts.all()
        ],
        "sources": [*resource_resolver().names(SCHEMA_FOLDER, ".yaml")],
        "shipped": SHIPPED,
    }
    return render(request, "web/schemas/list.html", context)


@allowed(Role.ORGANISER, Role.SENIOR)
@require_POST
def begin(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Open a draft of a schema of the study, or of a new one."""
    source = request.POST.get("source", "")
    try:
        draft = begin_draft(access.hosted, request.POST.get("name", "").strip() or source, source, access.account)
    except InputError as error:
        messages.warning(request, f"Not created: {error}.")
        return redirect("organiser:schemas", study=access.hosted.token)
    return redirect(_address(draft))


@allowed(Role.ORGANISER, Role.SENIOR)
@require_http_methods(["GET", "POST"])
def schema(request: HttpRequest, access: AccessContext, draft: str) -> HttpResponse:
    """Show the editor of a draft and save its text; scripts get JSON."""
    schema_draft = _draft(access, draft)
    if request.method != "POST":
        return _page(request, access, schema_draft)
    text, act = request.POST.get("text", ""), request.POST.get("act", "")
    try:
        revision = _saved(schema_draft, text, act, access, seen=int(request.POST.get("seen") or 0))
    except (Conflict, InputError, ValueError) as error:
        if _is_script(request):
            return JsonResponse({"problem": f"{error}."}, status=HTTPStatus.CONFLICT)
        unsaved = _Unsaved(text=text, why=f"Not saved: {error}.")
        return _page(request, access, schema_draft, {"unsaved": unsaved}, HTTPStatus.CONFLICT)
    if _is_script(request):
        return JsonResponse(_told(request, access, written(schema_draft, revision)))
    messages.success(request, f"Saved as revision {revision.number}.")
    back = urlencode({"show": _shown(request), "at": act} if act.partition(":")[2] else {"show": _shown(request)})
    return redirect(f"{_address(schema_draft)}?{back}")


def _saved(draft: SchemaDraft, text: str, act: str, access: AccessContext, *, seen: int) -> SchemaRevision:
    """Save the text after the action of a button; restoring a revision saves it as a new one."""
    kind, _, rest = act.partition(":")
    if kind == "back":
        old = draft.revisions.filter(number=int(rest)).first()
        if old is None:
            message = f"there is no revision {rest}"
            raise InputError(message)
        return save_text(draft, old.text, access.account, seen=seen)
    if kind == ACT:
        return save_text(draft, with_settled(access, draft, text, rest), access.account, seen=seen)
    return save_text(draft, rearranged(text, draft.name, kind, rest), access.account, seen=seen)


@allowed(Role.ORGANISER, Role.SENIOR)
@require_POST
def publish(request: HttpRequest, access: AccessContext, draft: str) -> HttpResponse:
    """Publish the revision that the page showed."""
    schema_draft, sent = _draft(access, draft), request.POST
    keep = dict.fromkeys(sent.getlist("keep"), True)
    number = int(sent.get("revision") or 0) if sent.get("revision", "").isdecimal() else 0
    try:
        made = publish_schema(schema_draft, number, access.account, note=sent.get("note", "").strip(), keep=keep)
    except InvalidStudyError as faulty:
        errors = render_diagnostics(faulty.placed, limit=None, ending="Nothing was published.")
        return _page(request, access, schema_draft, {"faults": errors}, HTTPStatus.UNPROCESSABLE_ENTITY)
    except (Conflict, InputError) as error:
        messages.warning(request, f"Not published: {error}")
        return redirect(_address(schema_draft))
    message = f"Version {made.number} is published: {schema_path(schema_draft.name)}, {made.version[:12]}."
    messages.success(request, f"{message} Participants get it with the next published version of the study.")
    return redirect(_address(schema_draft))


@allowed(Role.ORGANISER, Role.SENIOR)
@require_GET
def file(_request: HttpRequest, access: AccessContext, draft: str, number: int) -> HttpResponse:
    """Hand out one revision as the file that a study reads."""
    schema_draft = _draft(access, draft)
    revision = schema_draft.revisions.filter(number=number).first()
    if revision is None:
        raise Http404
    answer = HttpResponse(revision.text, content_type="application/yaml; charset=utf-8")
    answer.headers["Content-Disposition"] = f'attachment; filename="{schema_draft.name}.yaml"'
    return answer


def _draft(access: AccessContext, token: str) -> SchemaDraft:
    schema_draft = SchemaDraft.objects.filter(hosted=access.hosted, token=token).select_related("hosted").first()
    if schema_draft is None:
        raise Http404
    return schema_draft


def _address(draft: SchemaDraft) -> str:
    return reverse("organiser:schema", kwargs={"study": draft.hosted.token, "draft": draft.token})


def _shown(request: HttpRequest) -> str:
    """Return the category that the preview is wanted of: by its button, else the one that is there already."""
    return request.POST.get("show") or request.POST.get("now") or request.GET.get("show", "")


def _is_script(request: HttpRequest) -> bool:
    return request.headers.get("Accept", "").startswith("application/json")


def _context(request: HttpRequest, access: AccessContext, seen: WrittenDraft) -> dict[str, object]:
    names = [category.name for category in seen.categories]
    section = _shown(request)
    return {
        "access": access,
        "draft": seen.draft,
        "seen": seen,
        "asked": settled_words(access, seen.revision.text),
        "at": request.GET.get("at", ""),
        "outlook": seen.outlook,
        "show": section if section in names else next(iter(names), ""),
        "revisions": seen.draft.revisions.select_related("made_by")[:SHOWN],
        "versions": seen.draft.versions.select_related("made_by", "revision"),
    }


def _page(
    request: HttpRequest,
    access: AccessContext,
    draft: SchemaDraft,
    more: Mapping[str, object] | None = None,
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    context = _context(request, access, written(draft, head_of(draft))) | dict(more or {})
    return render(request, "web/schemas/editor.html", context, status=status)


def _told(request: HttpRequest, access: AccessContext, seen: WrittenDraft) -> dict[str, object]:
    """Return the response for the editor's script: updated parts and the revision of the preview."""
    context = _context(request, access, seen)
    return {
        "revision": seen.revision.number,
        "saved": seen.revision.made_at.isoformat(timespec="seconds"),
        "count": _count(seen),
        "file": reverse("organiser:schema_file", args=[access.hosted.token, seen.draft.token, seen.revision.number]),
        "findings": render_to_string("web/schemas/_findings.html", context, request),
        "around": render_to_string("web/schemas/_around.html", context, request),
        "preview": render_to_string("web/schemas/_preview.html", context, request),
    }


def _count(seen: WrittenDraft) -> str:
    """Return how many faults and notes there are, in words.

    Example: `2 faults, 1 note`.
    """
    n_faults, n_notes = len(seen.faults), len(seen.notes)
    return f"{n_faults} fault{'' if n_faults == 1 else 's'}, {n_notes} note{'' if n_notes == 1 else 's'}"


ACT = "note"
"""Prefixes of button values, followed by thread and question: `note:THREAD:QUESTION`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledWords:
    """Words of one thread beside the editor.

    Attributes:
        thread: Token of the thread.
        category: Name of the category.
        question: Name of the question that was asked about; empty for none.
        words: What was settled.
        stands: Whether the text of the draft names the thread already.
    """

    thread: str
    category: str
    question: str
    words: str
    stands: bool

    @property
    def title(self) -> str:
        """The category as people read it."""
        return humanize(self.category)


def settled_words(access: AccessContext, text: str) -> list[SettledWords]:
    """Return what was settled for the guideline, with whether a draft's text holds it."""
    return [
        SettledWords(
            thread=thread.token,
            category=thread.anchor.category,
            question=thread.anchor.question,
            words=thread.text,
            stands=f"# thread {thread.token}" in text,
        )
        for thread in _threads(access)
    ]


def with_settled(access: AccessContext, draft: SchemaDraft, text: str, key: str) -> str:
    """Return a draft's text with the words of a thread as a note, and write down who put them there.

    Args:
        access: The account, study and membership of the request.
        draft: The draft.
        text: What stands in the editor.
        key: Thread and question, `THREAD:QUESTION`; without a question, the category as a whole.

    Raises:
        InputError: If there is no such thread, or the text has no lines for it.
    """
    token, _, question = key.partition(":")
    thread = next((thread for thread in _threads(access) if thread.token == token), None)
    if thread is None:
        message = "this thread no longer exists"
        raise InputError(message)
    plain = tidied(text)
    source = read_yaml(plain.encode("utf-8"), schema_path(draft.name))
    note = schema_editing.GuidelineNote(words=" ".join(thread.text.split()), thread=token)
    done = schema_editing.advised(plain, source, thread.anchor.category, question, note)
    audit(access.account, "added guideline text to", f"schema {draft.name}", hosted=access.hosted, thread=token)
    return done


def _threads(access: AccessContext) -> list[FeedbackThread]:
    annotator = annotator_context(access)
    return settled_threads(annotator.queue, ThreadEnd.GUIDELINE) if annotator else []


SAVE = {"", "save", "preview"}
"""Button values that save the text unchanged."""


def rearranged(text: str, name: str, kind: str, key: str) -> str:
    """Return a text as a button wants it.

    Args:
        text: What stands in the editor.
        name: Name of the schema.
        kind: What the button does: `up`, `down`, `double`, `remove` or `add`; empty to leave the text.
        key: Category and question, `CATEGORY:QUESTION`; the category alone for `add`.

    Raises:
        InputError: If the text does not have that question in lines of its own, or no button does that.
    """
    if kind in SAVE:
        return text
    plain = tidied(text)
    source = read_yaml(plain.encode("utf-8"), schema_path(name))
    category, _, question = key.partition(":")
    match kind:
        case "up" | "down":
            return schema_editing.moved(plain, source, category, question, -1 if kind == "up" else 1)
        case "double":
            return schema_editing.doubled(plain, source, category, question)
        case "remove":
            return schema_editing.without(plain, source, category, question)
        case "add":
            return schema_editing.added(plain, source, category)
        case _:
            message = f"a text is moved, doubled, shortened or added to; got `{kind}`"
            raise InputError(message)
