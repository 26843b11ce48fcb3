"""Annotators and judges of a queue: status, quality figures, admission, promotion and agreement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from theodolite.annotation import agreement as figures
from theodolite.annotation import quality
from theodolite.annotation.agreement import QuestionFigures, attributes, item_tokens, question_figures
from theodolite.annotation.listing import heavy_workloads, topic_demand
from theodolite.annotation.queues import demote, judge_statuses, promote
from theodolite.annotation.rules import most_by_judges
from theodolite.domain.annotating.quality import (
    BesidePeople,
    Conscientiousness,
    Demotion,
    JudgeStatus,
    Onboarding,
    Promotion,
)
from theodolite.domain.errors import InputError
from theodolite.domain.event import LATELY_H, MUCH_MIN, Role
from theodolite.domain.findings.agreement import (
    AgreementPeriod,
    GroupAgreement,
    PairAgreement,
    QuestionAgreement,
    UnitSpread,
)
from theodolite.domain.findings.number import Undefined
from theodolite.domain.findings.order import OrderEffect
from theodolite.domain.instrument import ScaleKind
from theodolite.events.sessions import heavy_minutes, opt_out_tallies
from theodolite.measurement.annotator_agreement import MOST_IN_PAIRS
from theodolite.reporting.terminal.judges import validation_text
from theodolite.reporting.words.order_metrics import SUGGESTION_NOTE, moved_text, shift_text, side_text
from theodolite.web.access import allowed
from theodolite.web.annotator.home import AnnotatorContext, records
from theodolite.web.events import event_of
from theodolite.web.models import HostedStudy, Membership
from theodolite.web.questions import humanize
from theodolite.web.rendering import MARGIN, WIDTH, IntervalBar, SpreadBar, bar_of, interval_bar, place_of
from theodolite.web.senior.home import Pages, page_number, page_of, senior_view


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorStatus:
    """Status and quality of an annotator.

    Attributes:
        code: Token of the annotator's membership.
        read: Acknowledged texts, as text.
        practised: Categories with practised examples; count.
        passed: Categories with a passed test; count.
        n_categories: Categories; count.
        open_to: Titles of the categories in which the annotator may work.
        work: Figures of the annotator's work; None before the first submission.
    """

    code: str
    read: str
    practised: int
    passed: int
    n_categories: int
    open_to: tuple[str, ...]
    work: Conscientiousness | None

    @classmethod
    def of(cls, code: str, way: Onboarding, work: Conscientiousness | None) -> AnnotatorStatus:
        """Return the state of an annotator from their progress towards the queue and their work."""
        read = {"background": way.background_read, "rules": way.rules_read}
        return cls(
            code=code,
            read=" and ".join(name for name, is_read in read.items() if is_read) or "nothing",
            practised=sum(category.practised for category in way.categories),
            passed=sum(category.qualified for category in way.categories),
            n_categories=len(way.categories),
            open_to=tuple(
                humanize(category.category) for category in way.categories if category.category in way.open_to
            ),
            work=work,
        )


@allowed(Role.SENIOR)
@require_GET
@senior_view
def people(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Show quality indicators of annotators, under the tokens of their memberships."""
    annotators = Membership.objects.filter(hosted=annotator.access.hosted, role=Role.ANNOTATOR.value, left_at=None)
    memberships = list(annotators.order_by("id"))
    ways = quality.onboardings(
        annotator.records, annotator.queue, [membership.participant for membership in memberships]
    )
    seen = {check.participant: check for check in quality.from_above(annotator.records, annotator.queue)}
    standing = [
        AnnotatorStatus.of(membership.token, ways[membership.participant], seen.get(membership.participant))
        for membership in memberships
    ]
    design = annotator.design
    process = design.process
    context = {
        "access": annotator.access,
        "asks_practice": process.practice,
        "asks_tests": bool(process.pass_mark),
        "people": standing,
        "rotations": annotator_rotations(annotator.access.hosted),
        "categories": [(category.name, humanize(category.name)) for category in design.categories],
    }
    return render(request, "web/senior/people.html", context)


@allowed(Role.SENIOR)
@require_POST
@senior_view
def admit(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Qualify an annotator for a category without a test, with a reason."""
    membership = Membership.objects.filter(
        hosted=annotator.access.hosted, role=Role.ANNOTATOR.value, token=request.POST.get("who", "")
    ).first()
    if membership is None:
        raise Http404
    category, reason = request.POST.get("category", ""), request.POST.get("reason", "")[:500]
    with transaction.atomic():
        quality.admit(
            annotator.records,
            annotator.queue,
            membership.participant,
            category,
            by=annotator.participant,
            reason=reason,
        )
        annotator.access.audit("admitted", f"membership {membership.token}", category=category)
    messages.success(request, "Admitted.")
    return redirect(page_of(annotator, "people"))


COLUMNS = 76
"""Width of a validation report; characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionLine:
    """A question with the labels of judge and people."""

    title: str
    n_people: int
    alike: IntervalBar
    alpha: IntervalBar
    people: IntervalBar


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeView:
    """A judge as the page shows it.

    Attributes:
        standing: State of the judge in the queue, with its evidence.
        title: Humanised name of its guideline.
        validation_report: The text of the report; empty without one.
        lines: Results by question.
        past: Past decisions as text, in order.
        is_in_queue: Whether people annotate by its guideline here.
    """

    standing: JudgeStatus
    title: str
    validation_report: str
    lines: tuple[QuestionLine, ...]
    past: tuple[str, ...]
    is_in_queue: bool


@allowed(Role.SENIOR)
@require_GET
@senior_view
def judges(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Show the judges of the study, each compared with people."""
    process = annotator.design.process
    context = {
        "access": annotator.access,
        "judges": [_view(annotator, standing) for standing in judge_statuses(annotator.records, annotator.queue)],
        "passes": process.passes,
        "most": most_by_judges(process, process.passes),
    }
    return render(request, "web/senior/judges.html", context)


def _view(annotator: AnnotatorContext, standing: JudgeStatus) -> JudgeView:
    is_in_queue = annotator.design.category(standing.guideline) is not None
    comparisons = (
        figures.beside_people(annotator.records, annotator.queue, standing) if is_in_queue and standing.n_read else ()
    )
    validation_report = standing.validation_report
    return JudgeView(
        standing=standing,
        title=humanize(standing.guideline),
        validation_report=validation_text(validation_report, width=COLUMNS) if validation_report else "",
        lines=tuple(map(_judge_question_line, comparisons)),
        past=tuple(map(_decision, standing.past)),
        is_in_queue=is_in_queue,
    )


def _judge_question_line(beside_people: BesidePeople) -> QuestionLine:
    return QuestionLine(
        title=humanize(beside_people.question),
        n_people=beside_people.n_people,
        alike=interval_bar(beside_people.alike),
        alpha=interval_bar(beside_people.alpha),
        people=interval_bar(beside_people.people),
    )


def _decision(promotion: Promotion | Demotion) -> str:
    verb = "Promoted" if isinstance(promotion, Promotion) else "Withdrawn"
    return f"{verb}: {promotion.reason}"


@allowed(Role.SENIOR)
@require_POST
@senior_view
def decide(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Promote a judge, or withdraw its promotion."""
    judge, reason = request.POST.get("judge", "")[:200], request.POST.get("reason", "")[:1000]
    with transaction.atomic():
        if request.POST.get("step") == "promote":
            promote(annotator.records, annotator.queue, judge, by=annotator.participant, reason=reason)
            verb, texts = "promoted a judge", f"{judge} is promoted. Its labels stay marked as a model's."
        else:
            n = demote(annotator.records, annotator.queue, judge, by=annotator.participant, reason=reason)
            verb = "withdrew a judge"
            texts = f"{judge} is no longer promoted. {n} of its passes {'is' if n == 1 else 'are'} open for people."
        annotator.access.audit(verb, f"judge {judge}")
    messages.success(request, texts)
    return redirect(page_of(annotator, "judges"))


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAgreementLine:
    """A question with its charts."""

    name: str
    ask: str
    found: QuestionAgreement
    alike: IntervalBar
    alpha: IntervalBar
    given: SpreadBar
    periods: tuple[tuple[AgreementPeriod, IntervalBar], ...]
    moved: tuple[str, ...]


@allowed(Role.SENIOR)
@require_GET
@senior_view
def agreement(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Show progress by category, and agreement by question of one category."""
    design = annotator.design
    names = [category.name for category in design.categories]
    chosen = design.category(request.GET.get("category", "")) or design.categories[0]
    category = chosen.name
    texts = {
        question.name: question.text for question in annotator.records.guideline(chosen.version).instrument.questions
    }
    agreements = figures.agreement(annotator.records, annotator.queue, category)
    orders = figures.orders(annotator.records, annotator.queue, category)
    context = {
        "access": annotator.access,
        "progress": [(humanize(progress.category), progress) for progress in figures.progress(annotator.queue)],
        "categories": [(name, humanize(name), name == category) for name in names],
        "category": category,
        "title": humanize(category),
        "lines": [
            _line(agreement_line, texts.get(agreement_line.question, ""), orders.get(agreement_line.question, ()))
            for agreement_line in agreements
        ],
        "width": WIDTH + 2 * MARGIN,
        "zero": place_of(0.0),
        "rooms": [
            (humanize(before.question), interval_bar(before.alpha), interval_bar(after.alpha))
            for _, before, after in figures.calibration(annotator.records, annotator.queue)
        ],
    }
    return render(request, "web/senior/agreement.html", context)


def _line(question_agreement: QuestionAgreement, ask: str, orders: Sequence[OrderEffect]) -> QuestionAgreementLine:
    periods = tuple((segment, interval_bar(segment.alpha)) for segment in question_agreement.over_time)
    return QuestionAgreementLine(
        name=humanize(question_agreement.question),
        ask=ask,
        found=question_agreement,
        alike=interval_bar(question_agreement.alike),
        alpha=interval_bar(question_agreement.alpha),
        given=bar_of(question_agreement.prevalence),
        periods=periods,
        moved=tuple(moved_text(effect) for effect in orders if effect.is_clear),
    )


HALF_WIDTH = 0.1
"""Default half-width of an interval for the planner: scale points, or a fraction for categories."""


WIDEST = 50.0
"""Maximum half-width; scale points."""


PAGE = 25
"""Dialogues per page of the list of divided dialogues; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterLine:
    """An annotator, under the number on this page."""

    number: int
    n_answers: int
    n_without_value: int
    alike: IntervalBar
    given: SpreadBar


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorPairLine:
    """Two annotators under the numbers on this page, or an annotator and a judge."""

    first: str
    second: str
    alike: IntervalBar
    alpha: IntervalBar


@dataclass(frozen=True, slots=True, kw_only=True)
class DividedLine:
    """A dialogue or turn with the distribution of its labels; `item` links to its review."""

    item: str
    turn: int | None
    n: int
    given: SpreadBar


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderLine:
    """An order effect as text: the factor, both sides, and the shift."""

    factor: str
    first: str
    second: str
    shift: str
    is_clear: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLine:
    """People with the same self-description."""

    found: GroupAgreement
    within: IntervalBar
    across: IntervalBar


@allowed(Role.SENIOR)
@require_GET
@senior_view
def raters(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Show one question in detail."""
    if not request.GET.get("question"):
        return redirect(page_of(annotator, "agreement"))
    figures = _figures(request, annotator)
    numbers = {rater.annotator: number for number, rater in enumerate(figures.raters(), 1)}
    results, again = figures.agreement(), figures.repeated()
    divided, page = figures.divided(), page_number(request)
    context = {
        "access": annotator.access,
        "category": figures.category,
        "title": humanize(figures.category),
        "question": figures.asked.name,
        "name": humanize(figures.asked.name),
        "text": figures.asked.text,
        "found": results,
        "alike": interval_bar(results.alike),
        "alpha": interval_bar(results.alpha),
        "again": again and (interval_bar(again.alike), interval_bar(again.alpha), again.n_shared),
        "raters": [
            RaterLine(
                number=numbers[rater.annotator],
                n_answers=rater.n_answers,
                n_without_value=rater.n_without_value,
                alike=interval_bar(rater.alike),
                given=bar_of(rater.prevalence),
            )
            for rater in figures.raters()
        ],
        "orders": [_order(order) for order in figures.orders()],
        "note": SUGGESTION_NOTE if figures.suggested_by else "",
        "divided": _divided(annotator, figures.category, divided[page * PAGE : (page + 1) * PAGE]),
        "pages": Pages(page=page, n=len(divided), size=PAGE),
        "width": WIDTH + 2 * MARGIN,
        "zero": place_of(0.0),
    }
    rest = _paired(request, figures, numbers) | _grouped(request, annotator, figures) | _planned(request, figures)
    return render(request, "web/senior/raters.html", context | rest)


def _order(order_effect: OrderEffect) -> OrderLine:
    return OrderLine(
        factor=order_effect.factor.value.capitalize(),
        first=side_text(order_effect.first),
        second=side_text(order_effect.second),
        shift=shift_text(order_effect),
        is_clear=order_effect.is_clear,
    )


def _figures(request: HttpRequest, annotator: AnnotatorContext) -> QuestionFigures:
    try:
        question = question_figures(
            annotator.records, annotator.queue, request.GET.get("category", ""), request.GET.get("question", "")
        )
    except InputError as error:
        raise Http404 from error
    if question.asked.scale.kind is ScaleKind.TEXT:
        raise Http404
    return question


def _paired(request: HttpRequest, figures: QuestionFigures, numbers: dict[str, int]) -> dict[str, object]:
    """Return every pair if there are few, else the pairs of the selected annotator; judges are always included."""
    annotator_key = next(
        (name for name, number in numbers.items() if str(number) == request.GET.get("annotator", "")), ""
    )
    is_shown = len(numbers) <= MOST_IN_PAIRS or annotator_key
    people = figures.pairs(annotator_key) if is_shown else ()
    return {
        "pairs": [_pair(person, numbers) for person in (*people, *figures.models_beside_people())],
        "is_shown": is_shown,
        "asked": numbers.get(annotator_key),
        "numbers": numbers.values(),
    }


def _pair(pair_agreement: PairAgreement, numbers: dict[str, int]) -> AnnotatorPairLine:
    return AnnotatorPairLine(
        first=f"Annotator {numbers[pair_agreement.first]}",
        second=f"{pair_agreement.second} (a model)"
        if pair_agreement.is_model
        else f"Annotator {numbers[pair_agreement.second]}",
        alike=interval_bar(pair_agreement.alike),
        alpha=interval_bar(pair_agreement.alpha),
    )


def _divided(annotator: AnnotatorContext, category: str, spreads: Iterable[UnitSpread]) -> list[DividedLine]:
    shown = list(spreads)
    tokens = item_tokens(annotator.queue, category, [group.dialogue for group in shown])
    return [
        DividedLine(item=tokens.get(group.dialogue, ""), turn=group.turn, n=group.n, given=bar_of(group.counts))
        for group in shown
    ]


def _grouped(request: HttpRequest, annotator: AnnotatorContext, figures: QuestionFigures) -> dict[str, object]:
    """Return the agreement of people with the same self-description, by the selected attribute."""
    known = sorted(attributes(annotator.queue))
    attribute = request.GET.get("attribute", "")
    group_agreements = figures.groups(attribute) if attribute in known else ()
    groups = [
        GroupLine(found=group, within=interval_bar(group.within), across=interval_bar(group.across))
        for group in group_agreements
    ]
    return {"attributes": [(name, humanize(name), name == attribute) for name in known], "groups": groups}


def _planned(request: HttpRequest, figures: QuestionFigures) -> dict[str, object]:
    half_width = _half_width(request.GET.get("half_width", ""))
    try:
        plan = figures.plan(half_width)
    except InputError as error:
        plan = Undefined(reason=str(error))
    return {
        "half_width": half_width,
        "plan": () if isinstance(plan, Undefined) else plan,
        "no_plan": plan.reason if isinstance(plan, Undefined) else "",
    }


def _half_width(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return HALF_WIDTH
    return number if 0 < number <= WIDEST else HALF_WIDTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation:
    """A suggestion to give a person other work, or a break; nothing happens automatically.

    Attributes:
        who: Name of the tester, or code of the annotator.
        member: Token of the membership; empty if the person has left.
        topic: The topic.
        much: The amount, as text.
    """

    who: str
    member: str
    topic: str
    much: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OptOutEffect:
    """The effect of opt-outs from a topic on an event; counts.

    Attributes:
        title: The topic.
        weight: Weight of the topic.
        n_asked: Testers and annotators who were asked.
        n_people: Those of them who opted out.
        n_not_offered: Planned sessions that were not offered to the participant of their slot.
        n_free: Planned sessions with a free slot.
        n_waiting: Dialogues and categories that wait for an annotator.
        n_annotators: Annotators who did not opt out.
        passes: Number of different annotators that each of them needs.
    """

    title: str
    weight: str
    n_asked: int
    n_people: int
    n_not_offered: int
    n_free: int
    n_waiting: int
    n_annotators: int
    passes: int

    @property
    def lacks_annotators(self) -> bool:
        """Whether fewer annotators than needed accept the topic."""
        return self.n_waiting > 0 and self.n_annotators < self.passes


def opt_out_effects(hosted: HostedStudy) -> list[OptOutEffect]:
    """Return the effect of content opt-outs on an event, one entry per topic; empty if its study has none."""
    event = event_of(hosted)
    if not event.study.topics:
        return []
    avoided = event.participants.avoided_topics_in(event.study.name)
    annotators, topics = _annotators(hosted), {topic.name: topic for topic in event.study.topics}
    demands = {topic: topic_demand(records(), hosted.token, topics[topic].scenarios) for topic in topics}
    return [
        OptOutEffect(
            title=topics[tally.topic].title,
            weight=tally.weight.value,
            n_asked=tally.n_asked,
            n_people=tally.n_people,
            n_not_offered=tally.n_not_offered,
            n_free=tally.n_free,
            n_waiting=demands[tally.topic].waiting,
            n_annotators=sum(tally.topic not in avoided.get(key, ()) for key in annotators),
            passes=demands[tally.topic].overlap,
        )
        for tally in opt_out_tallies(event)
    ]


def rotations(hosted: HostedStudy) -> list[Rotation]:
    """Return the suggested rotations: testers by name, annotators by code."""
    event = event_of(hosted)
    if not event.study.topics:
        return []
    known = Membership.objects.filter(hosted=hosted).values_list("participant", "account__name", "token")
    people = {participant: (name, token) for participant, name, token in known}
    testers = [
        Rotation(
            who=name_of(key, people),
            member=people.get(key, ("", ""))[1],
            topic=topic.title,
            much=f"{minutes:.0f} minutes in sessions of the last {LATELY_H} hours",
        )
        for (key, topic), minutes in heavy_minutes(event).items()
        if minutes >= MUCH_MIN
    ]
    return testers + annotator_rotations(hosted)


def annotator_rotations(hosted: HostedStudy) -> list[Rotation]:
    """Return the suggested rotations of annotators, by code."""
    codes = _annotators(hosted)
    return [
        Rotation(
            who=f"annotator {codes[load.participant][:4]}",
            member=codes[load.participant],
            topic=load.topic,
            much=f"{load.dialogues} dialogues in the last {LATELY_H} hours",
        )
        for load in heavy_workloads(records(), hosted.token)
        if load.participant in codes
    ]


def _annotators(hosted: HostedStudy) -> Mapping[str, str]:
    memberships = Membership.objects.filter(hosted=hosted, role=Role.ANNOTATOR.value, left_at=None)
    return dict(memberships.values_list("participant", "token"))


def name_of(participant: str, people: Mapping[str, tuple[str, str]]) -> str:
    """Return the name of a person by key, or the start of the key if the person is unknown."""
    return people.get(participant, ("", ""))[0] or f"person {participant[:4]}"
