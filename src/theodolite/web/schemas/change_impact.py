"""The impact of a changed schema on existing annotations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from theodolite.annotation import queues
from theodolite.annotation.submission import annotate_again, asked_by, dialogue_answers, past_answers, routed_counts
from theodolite.assessment.schema_impact import drawn_again, is_same, rule_of, strata_of, touched
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
from theodolite.web.access import AccessContext, allowed, audit
from theodolite.web.annotator.context import AnnotatorContext, annotator_context
from theodolite.web.charts import interval_bar
from theodolite.web.models import SchemaDraft
from theodolite.web.questions.form import humanize
from theodolite.web.schemas.drafts import head_of, written

SEED = 1
"""Of the draw, where nobody says another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionPair:
    """One category in a version that people have answered by, beside the draft's.

    Attributes:
        before: What they answered by.
        after: What the draft says.
        version: Content hash of `before`.
        asked: Content hash by which the queue asks what the draft says; empty while it does not.
        touches: The questions that are touched.
        past: Question to what was answered.
    """

    before: Guideline
    after: Guideline
    version: str
    asked: str
    touches: tuple[QuestionTouch, ...]
    past: dict[str, PastAnswers]

    @property
    def title(self) -> str:
        """The category as people read it."""
        return humanize(self.after.name)

    @property
    def lines(self) -> list[tuple[QuestionTouch, PastAnswers | None, str]]:
        """Each touched question with its past answers, and how a form names it."""
        lines = [(touch, self.past.get(touch.question)) for touch in self.touches]
        return [(touch, past, self.place(touch.question) if past else "") for touch, past in lines]

    @property
    def n_same(self) -> int:
        """Questions that nothing touches; count."""
        return len(self.after.instrument.questions) - sum(touch.question not in self._gone for touch in self.touches)

    @property
    def _gone(self) -> set[str]:
        return {question.name for question in self.before.instrument.questions} - {
            question.name for question in self.after.instrument.questions
        }

    def place(self, question: str) -> str:
        """Return how a form names one of its questions."""
        return f"{self.after.name}|{self.version[:12]}|{question}"


@allowed(Role.ORGANISER, Role.SENIOR)
@require_http_methods(["GET", "POST"])
def touching(request: HttpRequest, access: AccessContext, draft: str) -> HttpResponse:
    """Show what a draft touches, and put the sample that shows what it moves into the queue."""
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
    return render(request, "web/schemas/touching.html", context)


def _comparisons(annotator: AnnotatorContext, schema: AnnotationSchema) -> list[VersionPair]:
    """Return each category in the versions that people have answered by and that say otherwise than the draft."""
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
    """Return category and question that a form names, or the first touched question with past answers."""
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
    """Return where dialogues go otherwise: what decides, where to now, where to by the draft, dialogues so far."""
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
    """The sample for one question, and what it has shown so far.

    Attributes:
        comparison: The category in both versions.
        question: Name of the question.
        plan: How many dialogues it takes.
        strata: Scenario and old answers, dialogues there, dialogues drawn.
        keys: Dialogues that are drawn.
        n_asked: Dialogues with old answers that the queue asks about by the new words already; count.
        measured: What was found on dialogues that both versions answered; None while nobody could have.
        has_rule: Whether both versions say which answers are defects.
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
        """Return the sample that a wish takes."""
        study, category = queues.study_name(annotator.queue), comparison.after.name
        answered = dialogue_answers(study, category, comparison.version, question)
        plan, strata = sample_plan(answered, wish), strata_of(answered)
        sample = drawn_again(strata, plan.n_drawn, seed)
        already_asked = asked_by(annotator.queue, category, comparison.asked) if comparison.asked else frozenset()
        anew = frozenset(answer.dialogue for answer in answered) & already_asked
        rules = _is_defect(comparison.before, question), _is_defect(comparison.after, question)
        return cls(
            comparison=comparison,
            question=question,
            plan=plan,
            strata=[(name, len(keys), len(sample[name])) for name, keys in strata.items()],
            keys=tuple(key for keys in sample.values() for key in keys),
            n_asked=len(anew),
            measured=_measured(study, comparison, question, answered, anew, rules) if comparison.asked else None,
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
    anew = dialogue_answers(study, comparison.after.name, comparison.asked, question)
    return measured_shift(question, answered, anew, sample=sample, rules=rules)


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
    back = redirect(f"{_address(draft)}?of={sample.place}&aim={plan.wish.aim.value}&size={plan.wish.size}")
    try:
        n_new = annotate_again(
            annotator.records, annotator.queue, comparison.after.name, sample.keys, version=comparison.asked
        )
    except Conflict as error:
        messages.warning(request, f"Not done: {error}.")
        return back
    facts = {"category": comparison.after.name, "question": sample.question, "dialogues": n_new}
    facts |= {"before": comparison.version, "after": comparison.asked, "aim": plan.wish.aim.value}
    audit(access.account, "added a sample to the queue", f"schema {draft.name}", hosted=access.hosted, **facts)
    messages.success(
        request, f"{n_new} dialogue{'' if n_new == 1 else 's'} will be annotated again with the new wording."
    )
    return back


def _address(draft: SchemaDraft) -> str:
    return reverse("organiser:schema_touches", kwargs={"study": draft.hosted.token, "draft": draft.token})
