"""The pages on which a schema is edited and published, and the impact of a change on existing answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from theodolite.annotation import queues
from theodolite.annotation.cases import settled_threads
from theodolite.annotation.submission import annotate_again, asked_by, dialogue_answers, past_answers, routed_counts
from theodolite.assessment.schema_changes import drawn_again, is_same, rule_of, strata_of, touched
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.config import schemas as schema_texts
from theodolite.config.instruments import SCHEMA_FOLDER
from theodolite.config.schemas import schema_path
from theodolite.config.yaml_source import InvalidStudyError, read_yaml, render_diagnostics
from theodolite.domain.annotating.discrepancy import FeedbackThread, ThreadEnd
from theodolite.domain.annotating.rewording import (
    DialogueAnswers,
    MeasuredShift,
    PastAnswers,
    QuestionTouch,
    SampleAim,
    SamplePlan,
    SampleWish,
)
from theodolite.domain.annotating.work import QueueDesign
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.event import Role
from theodolite.domain.guideline import Guideline
from theodolite.domain.schema import AnnotationSchema
from theodolite.measurement.sample_size import IsDefect, measured_shift, sample_plan
from theodolite.web.access import AccessContext, allowed
from theodolite.web.annotator.home import AnnotatorContext, annotator_context
from theodolite.web.models import SchemaDraft, SchemaRevision
from theodolite.web.organiser.schema_drafts import (
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
from theodolite.web.questions import humanize
from theodolite.web.rendering import interval_bar

SHOWN = 30
"""Maximum number of revisions on the page; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unsaved:
    """A text that could not be saved, as the page returns it."""

    text: str
    why: str


@allowed(Role.ORGANISER, Role.SENIOR)
@require_GET
def schemas(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """List the schemas of a study and their drafts."""
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
        return _page(request, access, schema_draft, {"errors": errors}, HTTPStatus.UNPROCESSABLE_ENTITY)
    except (Conflict, InputError) as error:
        messages.warning(request, f"Not published: {error}")
        return redirect(_address(schema_draft))
    message = f"Version {made.number} is published: {schema_path(schema_draft.name)}, {made.version[:12]}."
    messages.success(request, f"{message} Participants get it with the next published version of the study.")
    return redirect(_address(schema_draft))


@allowed(Role.ORGANISER, Role.SENIOR)
@require_GET
def file(_request: HttpRequest, access: AccessContext, draft: str, number: int) -> HttpResponse:
    """Download a revision as the schema file of a study."""
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
    """Return the category of the preview: from its button, else the current one."""
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
    """Return the number of errors and notes as text.

    Example: `2 errors, 1 note`.
    """
    n_faults, n_notes = len(seen.faults), len(seen.notes)
    return f"{n_faults} error{'' if n_faults == 1 else 's'}, {n_notes} note{'' if n_notes == 1 else 's'}"


ACT = "note"
"""Prefixes of button values, followed by thread and question: `note:THREAD:QUESTION`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledWords:
    """A thread next to the editor.

    Attributes:
        thread: Token of the thread.
        category: Name of the category.
        question: Name of the question concerned; empty for none.
        words: The decision.
        is_in_text: Whether the text of the draft already names the thread.
    """

    thread: str
    category: str
    question: str
    words: str
    is_in_text: bool

    @property
    def title(self) -> str:
        """The displayed category."""
        return humanize(self.category)


def settled_words(access: AccessContext, text: str) -> list[SettledWords]:
    """Return the decisions for the guideline, and whether a draft's text includes each."""
    return [
        SettledWords(
            thread=thread.token,
            category=thread.anchor.category,
            question=thread.anchor.question,
            words=thread.text,
            is_in_text=f"# thread {thread.token}" in text,
        )
        for thread in _threads(access)
    ]


def with_settled(access: AccessContext, draft: SchemaDraft, text: str, key: str) -> str:
    """Return a draft's text with the decision of a thread as a note, and record its author.

    Args:
        access: The account, study and membership of the request.
        draft: The draft.
        text: Text in the editor.
        key: Thread and question, `THREAD:QUESTION`; without a question, the category as a whole.

    Raises:
        InputError: If there is no such thread, or the text does not contain it.
    """
    token, _, question = key.partition(":")
    thread = next((thread for thread in _threads(access) if thread.token == token), None)
    if thread is None:
        message = "this thread no longer exists"
        raise InputError(message)
    plain = tidied(text)
    source = read_yaml(plain.encode("utf-8"), schema_path(draft.name))
    note = schema_texts.GuidelineNote(words=" ".join(thread.text.split()), thread=token)
    done = schema_texts.advised(plain, source, thread.anchor.category, question, note)
    access.audit("added guideline text to", f"schema {draft.name}", thread=token)
    return done


def _threads(access: AccessContext) -> list[FeedbackThread]:
    annotator = annotator_context(access)
    return settled_threads(annotator.queue, ThreadEnd.GUIDELINE) if annotator else []


SAVE = {"", "save", "preview"}
"""Button values that save the text unchanged."""


def rearranged(text: str, name: str, kind: str, key: str) -> str:
    """Return a text changed by a button.

    Args:
        text: Text in the editor.
        name: Name of the schema.
        kind: Operation of the button: `up`, `down`, `double`, `remove` or `add`; empty to leave the text unchanged.
        key: Category and question, `CATEGORY:QUESTION`; the category alone for `add`.

    Raises:
        InputError: If the question does not have its own lines in the text, or the operation is unknown.
    """
    if kind in SAVE:
        return text
    plain = tidied(text)
    source = read_yaml(plain.encode("utf-8"), schema_path(name))
    category, _, question = key.partition(":")
    match kind:
        case "up" | "down":
            return schema_texts.moved(plain, source, category, question, -1 if kind == "up" else 1)
        case "double":
            return schema_texts.doubled(plain, source, category, question)
        case "remove":
            return schema_texts.without(plain, source, category, question)
        case "add":
            return schema_texts.added(plain, source, category)
        case _:
            message = f"a text is moved, doubled, shortened or added to; got `{kind}`"
            raise InputError(message)


SEED = 1
"""Default seed of the sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionPair:
    """A category in an answered version, compared with the draft's.

    Attributes:
        before: Their earlier schema.
        after: The draft's version.
        version: Content hash of `before`.
        asked: Content hash of the draft's version in the queue; empty while the queue has another.
        touches: The affected questions.
        past: Past answers by question.
    """

    before: Guideline
    after: Guideline
    version: str
    asked: str
    touches: tuple[QuestionTouch, ...]
    past: dict[str, PastAnswers]

    @property
    def title(self) -> str:
        """The displayed category."""
        return humanize(self.after.name)

    @property
    def lines(self) -> list[tuple[QuestionTouch, PastAnswers | None, str]]:
        """Each affected question with its past answers and its form key."""
        lines = [(touch, self.past.get(touch.question)) for touch in self.touches]
        return [(touch, past, self.place(touch.question) if past else "") for touch, past in lines]

    @property
    def n_same(self) -> int:
        """Questions that are not affected; count."""
        return len(self.after.instrument.questions) - sum(touch.question not in self._gone for touch in self.touches)

    @property
    def _gone(self) -> set[str]:
        return {question.name for question in self.before.instrument.questions} - {
            question.name for question in self.after.instrument.questions
        }

    def place(self, question: str) -> str:
        """Return the form key of a question."""
        return f"{self.after.name}|{self.version[:12]}|{question}"


@allowed(Role.ORGANISER, Role.SENIOR)
@require_http_methods(["GET", "POST"])
def touching(request: HttpRequest, access: AccessContext, draft: str) -> HttpResponse:
    """Show the impact of a draft, and add the sample that measures it to the queue."""
    schema_draft = SchemaDraft.objects.filter(hosted=access.hosted, token=draft).select_related("hosted").first()
    if schema_draft is None:
        raise Http404
    schema = written(schema_draft, head_of(schema_draft)).reading.schema
    annotator = annotator_context(access)
    comparisons = _comparisons(annotator, schema) if annotator and schema else []
    sent = request.POST if request.method == "POST" else request.GET
    chosen = _chosen(comparisons, sent.get("of", ""))
    try:
        wish = _wish(sent)
    except InputError as error:
        messages.warning(request, f"Not planned: {error}.")
        wish = SampleWish()
    context: dict[str, object] = {"access": access, "draft": schema_draft, "schema": schema, "annotator": annotator}
    context |= {"comparisons": comparisons, "wish": wish, "aims": _aims(wish), "seed": _seed(sent)}
    context["routes"] = _routes(annotator, schema) if annotator and schema else []
    if annotator and chosen:
        sample = _Sample.of(annotator, *chosen, wish, _seed(sent))
        if request.method == "POST":
            return _put(request, access, schema_draft, annotator, sample)
        context["sample"] = sample
    return render(request, "web/schemas/impact.html", context)


def _comparisons(annotator: AnnotatorContext, schema: AnnotationSchema) -> list[VersionPair]:
    """Return each category in the answered versions that differ from the draft."""
    study, design = queues.study_name(annotator.queue), annotator.design
    comparisons = []
    for category in schema.categories:
        past = past_answers(study, category.name)
        for version in dict.fromkeys(answer.version for answer in past):
            before = annotator.records.guideline(version)
            if is_same(before, category.guideline):
                continue
            touches = touched(before, category.guideline)
            known = {answer.question: answer for answer in past if answer.version == version}
            queue_version = _asked(annotator, design, category.guideline)
            comparisons.append(
                VersionPair(
                    before=before,
                    after=category.guideline,
                    version=version,
                    asked=queue_version,
                    touches=touches,
                    past=known,
                )
            )
    return comparisons


def _asked(annotator: AnnotatorContext, design: QueueDesign, guideline: Guideline) -> str:
    queue_category = design.category(guideline.name)
    return (
        queue_category.version
        if queue_category and is_same(annotator.records.guideline(queue_category.version), guideline)
        else ""
    )


def _chosen(comparisons: Sequence[VersionPair], key: str) -> tuple[VersionPair, str] | None:
    """Return the category and question of a form key, or the first affected question with past answers."""
    open_ones = [
        (comparison, touch.question) for comparison in comparisons for touch, past, _ in comparison.lines if past
    ]
    named = next(((pair, name) for pair, name in open_ones if pair.place(name) == key), None)
    remaining = [
        (pair, name)
        for pair, name in open_ones
        if any(question.name == name for question in pair.after.instrument.questions)
    ]
    return named or next(iter(remaining), None)


def _wish(sent: QueryDict) -> SampleWish:
    aim = SampleAim.AGREEMENT if sent.get("aim") == SampleAim.AGREEMENT.value else SampleAim.SHIFT
    try:
        return SampleWish(aim=aim, size=float(sent.get("size") or 0.1), power=float(sent.get("power") or 0.8))
    except ValueError as error:
        message = "size and power are numbers, e.g. 0.1"
        raise InputError(message) from error


def _seed(sent: QueryDict) -> int:
    text = sent.get("seed", "")
    return int(text) if text.isdecimal() and len(text) < 10 else SEED


def _aims(wish: SampleWish) -> list[tuple[str, str, bool]]:
    texts = {
        SampleAim.SHIFT: "to detect a shift of the defect rate",
        SampleAim.AGREEMENT: "to estimate the agreement of old and new answers",
    }
    return [(aim.value, texts[aim], aim is wish.aim) for aim in SampleAim]


def _routes(annotator: AnnotatorContext, schema: AnnotationSchema) -> list[tuple[str, str, str, int]]:
    """Return the dialogues with changed routing: deciding answer, current and new target, number so far."""
    design = annotator.design
    route = schema.routing
    n_yes, n_no = routed_counts(annotator.queue)
    was = [design.on_violation, design.otherwise] if design.first else [(), ()]
    now = [route.on_violation, route.otherwise] if route else [(), ()]
    first: tuple[tuple[str, ...], tuple[str, ...]] = (design.first,), (route.first if route else "",)
    rows = [("first", *first, n_yes + n_no)]
    rows += [("after a violation", was[0], now[0], n_yes), ("without one", was[1], now[1], n_no)]
    return [
        (label, ", ".join(map(humanize, before)) or "all", ", ".join(map(humanize, other)) or "all", n)
        for label, before, other, n in rows
        if tuple(before) != tuple(other)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sample:
    """The sample for one question, and its results so far.

    Attributes:
        comparison: The category in both versions.
        question: Name of the question.
        plan: Planned number of dialogues.
        strata: Scenario and old answers, available dialogues, sampled dialogues.
        keys: Sampled dialogues.
        n_asked: Dialogues with old answers that the queue already asks about in the new wording; count.
        measured: Results on dialogues that were answered in both versions; None if there can be none yet.
        has_rule: Whether both versions define defects.
    """

    comparison: VersionPair
    question: str
    plan: SamplePlan
    strata: list[tuple[str, int, int]]
    keys: tuple[str, ...]
    n_asked: int
    measured: MeasuredShift | None
    has_rule: bool

    @classmethod
    def of(
        cls, annotator: AnnotatorContext, comparison: VersionPair, question: str, wish: SampleWish, seed: int
    ) -> _Sample:
        """Return the requested sample."""
        study, category = queues.study_name(annotator.queue), comparison.after.name
        answered = dialogue_answers(study, category, comparison.version, question)
        plan, strata = sample_plan(answered, wish), strata_of(answered)
        sample = drawn_again(strata, plan.n_drawn, seed)
        already_asked = asked_by(annotator.queue, category, comparison.asked) if comparison.asked else frozenset()
        asked_again = frozenset(answer.dialogue for answer in answered) & already_asked
        rules = _is_defect(comparison.before, question), _is_defect(comparison.after, question)
        return cls(
            comparison=comparison,
            question=question,
            plan=plan,
            strata=[(name, len(keys), len(sample[name])) for name, keys in strata.items()],
            keys=tuple(key for keys in sample.values() for key in keys),
            n_asked=len(asked_again),
            measured=_measured(study, comparison, question, answered, asked_again, rules) if comparison.asked else None,
            has_rule=None not in rules,
        )

    @property
    def place(self) -> str:
        """The key of the question in forms."""
        return self.comparison.place(self.question)

    @property
    def shown(self) -> list[tuple[str, str]]:
        """The measured shift as text."""
        shift = self.measured
        if shift is None:
            return []
        rows = [("Shift of the defect rate, new minus old", interval_bar(shift.shift).words)]
        return [*rows, ("Agreement of old and new answers", interval_bar(shift.alike).words)]


def _measured(
    study: str,
    comparison: VersionPair,
    question: str,
    answered: Sequence[DialogueAnswers],
    sample: frozenset[str],
    rules: tuple[IsDefect | None, IsDefect | None],
) -> MeasuredShift:
    asked_again = dialogue_answers(study, comparison.after.name, comparison.asked, question)
    return measured_shift(question, answered, asked_again, sample=sample, rules=rules)


def _is_defect(guideline: Guideline, question: str) -> IsDefect | None:
    rule = rule_of(guideline, question)
    definition = next((candidate for candidate in guideline.instrument.questions if candidate.name == question), None)
    if rule is None or definition is None:
        return None
    return lambda value: definition.scale.admits(value) and rule.is_defect(value, definition.scale)


def _put(
    request: HttpRequest, access: AccessContext, draft: SchemaDraft, annotator: AnnotatorContext, sample: _Sample
) -> HttpResponse:
    """Add the sample to the queue of the new version."""
    comparison, plan = sample.comparison, sample.plan
    back = redirect(f"{_impact_address(draft)}?of={sample.place}&aim={plan.wish.aim.value}&size={plan.wish.size}")
    try:
        n_new = annotate_again(
            annotator.records, annotator.queue, comparison.after.name, sample.keys, version=comparison.asked
        )
    except Conflict as error:
        messages.warning(request, f"Not done: {error}.")
        return back
    facts = {"category": comparison.after.name, "question": sample.question, "dialogues": n_new}
    facts |= {"before": comparison.version, "after": comparison.asked, "aim": plan.wish.aim.value}
    access.audit("added a sample to the queue", f"schema {draft.name}", **facts)
    messages.success(
        request, f"{n_new} dialogue{'' if n_new == 1 else 's'} will be annotated again with the new wording."
    )
    return back


def _impact_address(draft: SchemaDraft) -> str:
    return reverse("organiser:schema_impact", kwargs={"study": draft.hosted.token, "draft": draft.token})
