"""Reviews of disagreements, gold items, questions of annotators and flagged cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from theodolite.annotation import cases, quality, queues, review, submission
from theodolite.annotation.listing import case_lines
from theodolite.domain.annotating.case import CaseView, SensitiveCase
from theodolite.domain.annotating.discrepancy import (
    AnchorKind,
    Discrepancy,
    DissentCause,
    FeedbackThread,
    Resolution,
    ReviewSheet,
    ThreadEnd,
)
from theodolite.domain.annotating.quality import GoldItem, ReviewVerdict
from theodolite.domain.annotation import NON_RESPONSE_OPTIONS, Outcome
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import InputError
from theodolite.domain.event import Role
from theodolite.web.access import allowed
from theodolite.web.annotator.annotation_page import AnnotationItem, AnnotationPage, annotation_page
from theodolite.web.annotator.home import AnnotatorContext
from theodolite.web.models import Membership
from theodolite.web.questions import (
    CoderAnswer,
    answer_text,
    coder_view,
    humanize,
    key_parts,
    question_key,
    submitted_value,
)
from theodolite.web.senior.home import Pages, own_item, page_number, page_of, senior_view

CAUSES = (
    (DissentCause.AMBIGUOUS_GUIDELINE, "Guideline ambiguous"),
    (DissentCause.MISSING_FACT, "Deciding fact missing"),
    (DissentCause.VALUE_DIFFERENCE, "Different values"),
)
"""Reasons why there may be no consensus, in the words of the page."""


MOST_KEYS = 9
"""Number of decisions with a keyboard shortcut; count."""

LONGEST_RECENT = 60
"""Maximum length of a recent rationale on the page; characters."""

N_RECENT = 3
"""Number of recent rationales on the page; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One result that a review can record.

    Attributes:
        key: The keyboard shortcut; empty for none.
        value: Value submitted by the form.
        title: The text of the decision.
        is_chosen: Whether it is the latest recorded result.
    """

    key: str
    value: str
    title: str
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedPiece:
    """A piece of a text, with the letters of the annotators who quoted it; no letters for the rest."""

    text: str
    letters: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputedTurn:
    """A turn of the dialogue with the quotes marked."""

    number: int
    prompt: tuple[QuotedPiece, ...]
    response: tuple[QuotedPiece, ...]
    is_disputed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """A discrepancy as the page shows it.

    Attributes:
        item: The question and its position, with its choices.
        voices: The answer behind each letter.
        recorded: Recorded result of the review; None if there is none yet.
        words: The recorded result as text; empty for none.
        positions: The answer of each letter as the form submits it, in order of letters.
    """

    item: AnnotationItem
    voices: tuple[CoderAnswer, ...]
    recorded: Resolution | None
    words: str
    positions: tuple[tuple[str, str], ...]

    @property
    def as_given(self) -> tuple[Decision, ...]:
        """The different answers, each with the letters of its annotators."""
        letters: dict[str, list[str]] = {}
        for letter, value in self.positions:
            letters.setdefault(value, []).append(letter)
        return tuple(
            self._decision(key, f"value:{value}", f"As {' and '.join(who)}: {humanize(value).lower()}")
            for key, (value, who) in enumerate(letters.items(), start=1)
        )

    @property
    def key_of_others(self) -> str:
        """The keyboard shortcut that opens the other answers."""
        return str(len(self.as_given) + 1)

    @property
    def others(self) -> tuple[Decision, ...]:
        """The missing answers."""
        given = {decision.value for decision in self.as_given}
        options = (*self.item.field.plain, *self.item.field.aside)
        return tuple(
            self._decision(0, f"value:{option.value}", option.words)
            for option in options
            if f"value:{option.value}" not in given
        )

    @property
    def causes(self) -> tuple[Decision, ...]:
        """The reasons for which there may be no consensus."""
        first = len(self.as_given) + 1 + bool(self.others)
        return tuple(
            self._decision(key, f"cause:{cause.value}", title) for key, (cause, title) in enumerate(CAUSES, start=first)
        )

    def _decision(self, key: int, value: str, title: str) -> Decision:
        return Decision(
            key=str(key) if 0 < key <= MOST_KEYS else "",
            value=value,
            title=title,
            is_chosen=self.recorded is not None and value == _submitted(self.recorded),
        )


def _submitted(resolution: Resolution) -> str:
    if resolution.cause is not None:
        return f"cause:{resolution.cause.value}"
    return f"value:{resolution.value or _non_response(resolution)}"


def _non_response(resolution: Resolution) -> str:
    return next(word for word, outcome in NON_RESPONSE_OPTIONS.items() if outcome is resolution.outcome)


@allowed(Role.SENIOR)
@require_GET
@senior_view
def resolution(request: HttpRequest, annotator: AnnotatorContext, item: str) -> HttpResponse:
    """Show a dialogue and one of the questions with disagreements, with all positions on it."""
    seen = review.review_sheet(annotator.records, own_item(annotator, item), annotator.participant)
    disputes = [_dispute(seen, discrepancy) for discrepancy in seen.discrepancies]
    page = annotation_page(seen.guideline, seen.dialogue, ())
    index = _index(disputes, request.GET.get("dispute", ""))
    n_settled = sum(dispute.recorded is not None for dispute in disputes)
    context = {
        "access": annotator.access,
        "review": seen,
        "page": page,
        "title": humanize(seen.guideline.name),
        "disputes": disputes,
        "dispute": disputes[index] if disputes else None,
        "number": index + 1,
        "previous": disputes[index - 1].item.key if index else "",
        "following": disputes[index + 1].item.key if index + 1 < len(disputes) else "",
        "turns": _turns(page, disputes[index] if disputes else None),
        "is_settled": bool(disputes) and n_settled == len(disputes),
        "next_item": review.next_disputed(annotator.queue, item) if n_settled == len(disputes) else "",
        "recent": request.session.get(_RECENT, []),
        "can_undo": bool(request.session.get(_DECIDED)),
        "took_part": request.session.get(f"{_TOOK_PART} {item}", []),
        "n_known": len(quality.known_from_review(annotator.records, item)),
    }
    return render(request, "web/senior/resolution.html", context)


_RECENT, _TOOK_PART, _DECIDED = "recent rationales", "took part", "decided disputes"
"""Keys of the browser session: recent rationales, letters of the participants of a review, disputes to undo."""

MOST_UNDONE = 20
"""Decisions that can be undone; count."""


def _index(disputes: list[Dispute], key: str) -> int:
    """Return the index of the dispute with a key; without a key, of the first dispute without a result."""
    keys = [dispute.item.key for dispute in disputes]
    if key in keys:
        return keys.index(key)
    return next((index for index, dispute in enumerate(disputes) if dispute.recorded is None), 0)


def _turns(page: AnnotationPage, dispute: Dispute | None) -> list[DisputedTurn]:
    quotes: dict[str, str] = {}
    for voice in dispute.voices if dispute else ():
        for text in voice.quotes:
            quotes[text] = quotes.get(text, "") + voice.letter
    turn = dispute.item.turn if dispute else None
    return [
        DisputedTurn(
            number=spoken.number,
            prompt=quoted_pieces("".join(spoken.prompt), quotes),
            response=quoted_pieces("".join(spoken.response), quotes),
            is_disputed=spoken.number == turn,
        )
        for spoken in page.turns
    ]


def quoted_pieces(text: str, quotes: Mapping[str, str]) -> tuple[QuotedPiece, ...]:
    """Split a text at the quotes that it contains; a quote that overlaps an earlier one is not marked.

    Args:
        text: The text.
        quotes: Quotes, with the letters of their annotators.

    Example:
        >>> [(piece.text, piece.letters) for piece in quoted_pieces("In the tower.", {"the tower": "AB"})]
        [('In ', ''), ('the tower', 'AB'), ('.', '')]
    """
    places = sorted((text.find(words), words) for words in quotes if words and words in text)
    pieces, end = [], 0
    for start, words in places:
        if start < end:
            continue
        pieces += [QuotedPiece(text=text[end:start], letters=""), QuotedPiece(text=words, letters=quotes[words])]
        end = start + len(words)
    pieces.append(QuotedPiece(text=text[end:], letters=""))
    return tuple(piece for piece in pieces if piece.text)


def _dispute(seen: ReviewSheet, discrepancy: Discrepancy) -> Dispute:
    question = seen.guideline.instrument.question(discrepancy.question)
    ref = (discrepancy.question, discrepancy.turn)
    recorded = next(
        (resolution for resolution in seen.resolutions if (resolution.question, resolution.turn) == ref), None
    )
    return Dispute(
        item=AnnotationItem(key=question_key(*ref), question=question, turn=discrepancy.turn, is_asked=True),
        voices=tuple(coder_view(position, question) for position in discrepancy.positions),
        recorded=recorded,
        words=_in_words(recorded) if recorded else "",
        positions=tuple((position.letter, submitted_value(position.answer)) for position in discrepancy.positions),
    )


def _in_words(resolution: Resolution) -> str:
    if resolution.cause is not None:
        return f"No consensus: {resolution.cause.value}"
    return f"Consensus: {humanize(resolution.value or _non_response(resolution))}"


@allowed(Role.SENIOR)
@require_POST
@senior_view
def begin(_request: HttpRequest, annotator: AnnotatorContext, item: str) -> HttpResponse:
    """Start the review, which freezes the answers."""
    with transaction.atomic():
        review.open_review(own_item(annotator, item))
        annotator.access.audit("opened a review", f"item {item}")
    return redirect(page_of(annotator, "resolution", item=item))


@allowed(Role.SENIOR)
@require_POST
@senior_view
def reopen(request: HttpRequest, annotator: AnnotatorContext, item: str) -> HttpResponse:
    """Reopen the answers for changes."""
    with transaction.atomic():
        review.reopen(own_item(annotator, item))
        annotator.access.audit("reopened an item", f"item {item}")
    messages.info(request, "Reopened. Earlier results of the review stay on record.")
    return redirect(page_of(annotator, "resolution", item=item))


@allowed(Role.SENIOR)
@require_POST
@senior_view
def resolve(request: HttpRequest, annotator: AnnotatorContext, item: str) -> HttpResponse:
    """Record a consensus, or that there is none and the reason."""
    resolution = _sent(request, annotator, own_item(annotator, item))
    request.session[f"{_TOOK_PART} {item}"] = request.POST.getlist("letter")
    if request.POST.get("rationale", "").strip():
        recent = [resolution.rationale, *request.session.get(_RECENT, [])]
        request.session[_RECENT] = list(dict.fromkeys(text for text in recent if len(text) <= LONGEST_RECENT))[
            :N_RECENT
        ]
    with transaction.atomic():
        routed = review.resolve(annotator.records, own_item(annotator, item), resolution)
        verb = "recorded a consensus" if resolution.is_consensus else "recorded no consensus"
        annotator.access.audit(verb, f"item {item}", question=resolution.question)
    messages.success(request, "Recorded." + (f" {routed.reason}." if routed else ""))
    decided = [item, question_key(resolution.question, resolution.turn)]
    request.session[_DECIDED] = [*request.session.get(_DECIDED, []), decided][-MOST_UNDONE:]
    place = _next_place(annotator, item, question_key(resolution.question, resolution.turn))
    return redirect(f"{page_of(annotator, 'resolution', item=item)}?dispute={quote(place, safe='@')}")


@allowed(Role.SENIOR)
@require_POST
@senior_view
def undo(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Reopen the dispute that this person settled last; a further call reopens the one before it."""
    decided = request.session.get(_DECIDED, [])
    if not decided:
        message = "no decision of this visit is left to undo"
        raise InputError(message)
    *request.session[_DECIDED], (item, place) = decided
    question, turn = key_parts(place)
    with transaction.atomic():
        review.undo_resolution(annotator.records, own_item(annotator, item), question, turn, by=annotator.participant)
        annotator.access.audit("undid a decision", f"item {item}", question=question)
    messages.success(request, "Undone. The dispute is open again.")
    return redirect(f"{page_of(annotator, 'resolution', item=item)}?dispute={quote(place, safe='@')}")


def _next_place(annotator: AnnotatorContext, item: str, recorded: str) -> str:
    """Return the key of the next dispute without a result after the recorded one; else the recorded one."""
    seen = review.review_sheet(annotator.records, item, annotator.participant)
    settled = {question_key(one.question, one.turn) for one in seen.resolutions}
    places = [question_key(discrepancy.question, discrepancy.turn) for discrepancy in seen.discrepancies]
    at = places.index(recorded) if recorded in places else 0
    return next((place for place in (*places[at:], *places[:at]) if place not in settled), recorded)


def _sent(request: HttpRequest, annotator: AnnotatorContext, item: str) -> Resolution:
    question, turn = key_parts(request.POST.get("place", ""))
    chosen = request.POST.get("found", "")
    cause = next((dissent_cause for dissent_cause in DissentCause if chosen == f"cause:{dissent_cause.value}"), None)
    value = chosen.removeprefix("value:")
    outcome = None if cause else NON_RESPONSE_OPTIONS.get(value, Outcome.ANSWERED)
    return Resolution(
        question=question,
        turn=turn,
        participants=(annotator.participant, *_others(request, item)),
        rationale=request.POST.get("rationale", "")[:4000].strip() or _as_given(annotator, item, question, turn, value),
        outcome=outcome,
        value=value if outcome is Outcome.ANSWERED else None,
        cause=cause,
    )


def _as_given(annotator: AnnotatorContext, item: str, question: str, turn: int | None, value: str) -> str:
    """Return the default rationale of a result that annotators chose, e.g. `As A.`; empty for another result."""
    seen = review.review_sheet(annotator.records, item, annotator.participant)
    positions = (
        position
        for discrepancy in seen.discrepancies
        if (discrepancy.question, discrepancy.turn) == (question, turn)
        for position in discrepancy.positions
    )
    letters = [position.letter for position in positions if submitted_value(position.answer) == value]
    return f"As {' and '.join(letters)}." if letters else ""


def _others(request: HttpRequest, item: str) -> tuple[str, ...]:
    """Return the other participants: letters stand for annotators of this item; other names stay as entered."""
    letters = review.people_at(item)
    written = [name.strip()[:80] for name in request.POST.get("others", "").split(",") if name.strip()]
    names = dict.fromkeys([*request.POST.getlist("letter"), *written])
    return tuple(letters.get(name.upper(), name) for name in names)


@allowed(Role.SENIOR)
@require_GET
@senior_view
def check(request: HttpRequest, annotator: AnnotatorContext, reservation: str) -> HttpResponse:
    """Show an annotation without its annotator."""
    task = submission.task(annotator.records, reservation, quality.annotator_of(annotator.queue, reservation))
    page = annotation_page(task.guideline, task.dialogue, task.answers)
    context = {
        "access": annotator.access,
        "reservation": reservation,
        "title": humanize(task.guideline.name),
        "page": page,
        "answers": [(item, answer_text(item.answer)) for item in page.items if item.is_asked and item.answer],
        "reviews": quality.reviews_of(reservation),
        "is_sampled": reservation in quality.to_review(annotator.records, annotator.queue),
    }
    return render(request, "web/senior/check.html", context)


@allowed(Role.SENIOR)
@require_POST
@senior_view
def judge(request: HttpRequest, annotator: AnnotatorContext, reservation: str) -> HttpResponse:
    """Accept the annotation, or return it with a comment."""
    quality.annotator_of(annotator.queue, reservation)
    verdict = ReviewVerdict.RETURNED if request.POST.get("verdict") == "return" else ReviewVerdict.ACCEPTED
    with transaction.atomic():
        quality.review(reservation, verdict, by=annotator.participant, comment=request.POST.get("comment", "")[:2000])
        annotator.access.audit(f"{verdict.value} an annotation", f"reservation {reservation}")
    messages.success(request, f"{verdict.value.capitalize()}.")
    waiting = quality.to_review(annotator.records, annotator.queue)
    return redirect(page_of(annotator, "check", reservation=waiting[0]) if waiting else page_of(annotator, "home"))


MOST_MORE = 20
"""Maximum number of additional annotators for a gold item; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldView:
    """A gold item as the page shows it.

    Attributes:
        gold: The item.
        title: Humanised name of its category.
        known: Question, turn and value as text.
        met: Code of each annotator, with right answers and all known answers.
    """

    gold: GoldItem
    title: str
    known: tuple[tuple[str, int | None, str], ...]
    met: tuple[tuple[str, int, int], ...]


@allowed(Role.SENIOR)
@require_GET
@senior_view
def gold_list(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Show the known answers and annotators' answers to them."""
    codes = dict(Membership.objects.filter(hosted=annotator.access.hosted).values_list("participant", "token"))
    page = page_number(request)
    gold_views = [_view(gold_item, codes) for gold_item in quality.gold_items(annotator.queue, page=page)]
    pages = Pages(page=page, n=quality.n_gold(annotator.queue), size=quality.PAGE)
    return render(request, "web/senior/gold.html", {"access": annotator.access, "gold": gold_views, "pages": pages})


def _view(gold_item: GoldItem, codes: dict[str, str]) -> GoldView:
    return GoldView(
        gold=gold_item,
        title=humanize(gold_item.category),
        known=tuple((humanize(answer.question), answer.turn, humanize(answer.value)) for answer in gold_item.known),
        met=tuple((codes.get(person, person)[:4], right, asked) for person, right, asked in gold_item.met),
    )


@allowed(Role.SENIOR)
@require_POST
@senior_view
def make(request: HttpRequest, annotator: AnnotatorContext, item: str) -> HttpResponse:
    """Create a gold item from the answers of a review or of unanimous annotators."""
    more = request.POST.get("more", "0")
    if not more.isdecimal() or int(more) > MOST_MORE:
        message = f"enter a number of additional annotators from 0 to {MOST_MORE}; got {more!r}"
        raise InputError(message)
    reason = request.POST.get("reason", "")[:1000]
    with transaction.atomic():
        n = quality.make_gold(
            annotator.records, own_item(annotator, item), by=annotator.participant, reason=reason, more=int(more)
        )
        annotator.access.audit("added a gold item", f"item {item}", answers=n, more=int(more))
    messages.success(request, f"{n} answer{'' if n == 1 else 's'} of this dialogue are now gold answers.")
    return redirect(page_of(annotator, "gold"))


@allowed(Role.SENIOR)
@require_POST
@senior_view
def drop(request: HttpRequest, annotator: AnnotatorContext, item: str) -> HttpResponse:
    """Remove a gold item; its annotations are kept."""
    with transaction.atomic():
        n = quality.remove_gold(own_item(annotator, item))
        annotator.access.audit("removed a gold item", f"item {item}", answers=n)
    messages.success(request, "Gold item removed. The answers stay.")
    return redirect(page_of(annotator, "gold"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownThread:
    """A thread with its subject as heading and the text of its question; empty for none."""

    thread: FeedbackThread
    title: str
    ask: str


def _shown_thread(annotator: AnnotatorContext, thread: FeedbackThread) -> ShownThread:
    anchor = thread.anchor
    about = f"turn {anchor.turn}" if anchor.kind is AnchorKind.TURN else f"the {anchor.kind.value}"
    where = f", turn {anchor.turn}" if anchor.turn and anchor.kind is not AnchorKind.TURN else ""
    known = {
        question.name: question.text for question in annotator.records.guideline(thread.version).instrument.questions
    }
    title = f"{humanize(anchor.category)}: about {about}{where}"
    return ShownThread(thread=thread, title=title, ask=known.get(anchor.question, ""))


@allowed(Role.SENIOR)
@require_GET
@senior_view
def questions(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Show open or settled threads, page by page."""
    n_open, n_ended = cases.n_threads(annotator.queue)
    is_open, page = request.GET.get("view") != "settled", page_number(request)
    page_threads = cases.thread_page(annotator.queue, annotator.participant, is_open=is_open, page=page)
    context = {
        "access": annotator.access,
        "views": [("open", n_open, is_open), ("settled", n_ended, not is_open)],
        "is_open": is_open,
        "threads": [_shown_thread(annotator, thread) for thread in page_threads],
        "pages": Pages(page=page, n=n_open if is_open else n_ended, size=cases.THREADS_PAGE),
        "for_guideline": [
            (humanize(category), text) for category, text in cases.settled(annotator.queue, end=ThreadEnd.GUIDELINE)
        ],
        "ends": [(end.name.lower(), end.value) for end in ThreadEnd],
    }
    return render(request, "web/senior/questions.html", context)


@allowed(Role.SENIOR)
@require_POST
@senior_view
def answer(request: HttpRequest, annotator: AnnotatorContext, thread: str) -> HttpResponse:
    """Reply in a thread, and settle it if requested."""
    if not cases.is_thread_of(annotator.queue, thread):
        raise Http404
    text, end = request.POST.get("text", "")[:4000], request.POST.get("end", "")
    with transaction.atomic():
        cases.reply(thread, annotator.participant, text, senior=True)
        ended = next((thread_end for thread_end in ThreadEnd if thread_end.name.lower() == end), None)
        if ended is not None:
            cases.end_thread(thread, ended, by=annotator.participant, text=request.POST.get("settled", "")[:4000])
            annotator.access.audit("resolved a thread", f"thread {thread}", end=ended.value)
    messages.success(request, "Answered." if ended is None else "Answered and resolved.")
    return redirect(page_of(annotator, "questions"))


@allowed(Role.SENIOR)
@require_POST
@senior_view
def open_room(_request: HttpRequest, annotator: AnnotatorContext, item: str) -> HttpResponse:
    """Open a calibration session on the dialogue of an item."""
    with transaction.atomic():
        token = review.open_room_on(annotator.records, own_item(annotator, item), by=annotator.participant)
        annotator.access.audit("opened a calibration session", f"room {token}")
    return redirect(reverse("annotator:room", args=[annotator.access.hosted.token, token]))


@allowed(Role.SENIOR)
@require_POST
@senior_view
def room_step(request: HttpRequest, annotator: AnnotatorContext, room: str) -> HttpResponse:
    """Reveal the votes of a calibration session, or close it."""
    if room not in {token for token, _, _ in review.rooms(annotator.queue)}:
        raise Http404
    step = request.POST.get("step", "")
    with transaction.atomic():
        if step == "reveal":
            review.reveal(room)
        elif step == "close":
            review.close_room(room)
        annotator.access.audit(f"room: {step}", f"room {room}")
    return redirect(reverse("annotator:room", args=[annotator.access.hosted.token, room]))


@allowed(Role.SENIOR)
@require_GET
@senior_view
def case_list(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Show the suggested, open and closed cases of the study, without the harmful words."""
    study = queues.study_name(annotator.queue)
    counts = cases.n_cases(study)
    view = next(
        (case_view for case_view in CaseView if case_view.name.lower() == request.GET.get("view", "")), CaseView.OPEN
    )
    page = page_number(request)
    context = {
        "access": annotator.access,
        "views": [
            (case_view.name.lower(), case_view.value, counts[case_view], case_view is view) for case_view in CaseView
        ],
        "view": view.name.lower(),
        "cases": case_lines(annotator.records, annotator.queue, view, reader=annotator.participant, page=page),
        "pages": Pages(page=page, n=counts[view], size=cases.CASES_PAGE),
    }
    return render(request, "web/senior/cases.html", context)


@allowed(Role.SENIOR)
@require_GET
@senior_view
def case(request: HttpRequest, annotator: AnnotatorContext, case: str) -> HttpResponse:
    """Show a case and its steps, without the dialogue."""
    return _case_page(request, annotator, _case(annotator, case), None)


@allowed(Role.SENIOR)
@require_POST
@senior_view
def look(request: HttpRequest, annotator: AnnotatorContext, case: str) -> HttpResponse:
    """Show the unredacted dialogue after recording the reader and the reason."""
    case_row = _case(annotator, case)
    original = cases.original(
        annotator.records, case, by=annotator.participant, reason=request.POST.get("reason", "")[:500]
    )
    annotator.access.audit("viewed an original", f"case {case}")
    return _case_page(request, annotator, case_row, original)


@allowed(Role.SENIOR)
@require_POST
@senior_view
def act(request: HttpRequest, annotator: AnnotatorContext, case: str) -> HttpResponse:
    """Confirm, dismiss, restrict, redact, notify or close."""
    _case(annotator, case)
    step, note = request.POST.get("step", ""), request.POST.get("note", "")[:1000]
    with transaction.atomic():
        _done(request, annotator, case, step, note)
        annotator.access.audit(f"case: {step}", f"case {case}")
    messages.success(request, "Done.")
    return redirect(page_of(annotator, "case", case=case))


def _done(request: HttpRequest, annotator: AnnotatorContext, case: str, step: str, note: str) -> None:
    by = annotator.participant
    plain = {"restrict": cases.restrict, "confirm": cases.confirm, "dismiss": cases.dismiss, "close": cases.close}
    if step in plain:
        plain[step](case, by=by, note=note)
    elif step == "redact":
        shown_in = [name for name in request.POST.getlist("shown_in") if name]
        cases.redact(annotator.records, case, request.POST.get("words", ""), by=by, shown_in=shown_in, note=note)
    elif step == "notify":
        cases.notify(case, by=by, note=note)
    else:
        raise Http404


def _case(annotator: AnnotatorContext, token: str) -> SensitiveCase:
    """Return a case of this study; others answer 404."""
    if not cases.is_case_of(queues.study_name(annotator.queue), token):
        raise Http404
    return cases.case_of(token)


def _case_page(
    request: HttpRequest, annotator: AnnotatorContext, sensitive_case: SensitiveCase, original: Dialogue | None
) -> HttpResponse:
    design = annotator.design
    seats = Membership.objects.filter(hosted=annotator.access.hosted).select_related("account")
    people = {seat.participant: seat.account for seat in seats}
    context = {
        "access": annotator.access,
        "case": sensitive_case,
        "turns": original.turns if original else (),
        "categories": [(category.name, humanize(category.name)) for category in design.categories],
        "shown_in": sorted({humanize(name) for redaction in sensitive_case.redactions for name in redaction.shown_in}),
        "accesses": [(people.get(access.by, access.by), access) for access in cases.accesses(sensitive_case.token)],
    }
    return render(request, "web/senior/case.html", context)
