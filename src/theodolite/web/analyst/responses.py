"""The context of an analyst, and the responses to questionnaires: distributions side by side with tests."""

from __future__ import annotations

import functools
import hmac
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.db import close_old_connections
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET

from theodolite.annotation.cases import cases
from theodolite.annotation.comparisons import annotations_about
from theodolite.assessment.blinding import mask_for
from theodolite.assessment.redaction import redacted
from theodolite.domain.annotating.case import CaseAct, Redaction
from theodolite.domain.annotation import Outcome
from theodolite.domain.coding import OpenAnswer
from theodolite.domain.errors import Conflict, InputError, NotFound, TheodoliteError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.event import Role
from theodolite.domain.evidence import Evidence, listed_evidence
from theodolite.domain.findings.number import Significance
from theodolite.domain.findings.responses import AnswerComparison, AnswerSide, AnswerSpread
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import ScaleKind
from theodolite.domain.plan import ListedSessions
from theodolite.domain.schema import Questionnaire, QuestionnaireResponse
from theodolite.domain.study import Study
from theodolite.domain.undefined_reasons import undefined_text
from theodolite.events.coding import (
    CodingIndex,
    CodingProject,
    OpenText,
    coding_index,
    coding_project,
    notes_in,
    open_questions,
)
from theodolite.events.context import EventContext, EventStore
from theodolite.events.results import current_responses, event_evidence, response_counts
from theodolite.measurement.comparison import Adjustment
from theodolite.measurement.study.responses import compare_sides, side_model
from theodolite.reporting.words import figures
from theodolite.testing.people import event_sessions
from theodolite.testing.planning import draw_plan
from theodolite.usecases.measuring import evidence_of, with_people, with_representative_people
from theodolite.usecases.running import as_planned
from theodolite.web.access import AccessContext, allowed
from theodolite.web.events import open_event_of, server_store
from theodolite.web.models import Membership
from theodolite.web.participants import zone_of
from theodolite.web.rendering import Histogram, histogram, safe_html

READERS = (Role.ANALYST, Role.ORGANISER, Role.SENIOR)
"""Roles that read the answers of testers. The work of a person is stored under the key of the first role."""


BLIND = (Role.ANNOTATOR, Role.RED_TEAMER, Role.FIELD_TESTER)
"""Roles that may not read the answers, whatever other role they have, because answers would bias their work."""


TOKEN = 16
"""Characters of a token in an address; 64 bits of a keyed hash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalystContext:
    """The request context of an analyst.

    Attributes:
        access: The account, study and membership of the request.
        event: The study's event.
    """

    access: AccessContext
    event: EventContext

    @property
    def reader(self) -> str:
        """Opaque key of the reader."""
        return self.access.membership.participant

    @property
    def study(self) -> Study:
        """The study in its latest release."""
        return self.event.study

    @property
    def store(self) -> EventStore:
        """The store of this server."""
        return server_store()

    def responses(self) -> tuple[QuestionnaireResponse, ...]:
        """Return the responses of testers, drafts included."""
        return tuple(current_responses(self.store, self.study))

    def coding_project(self, sessions: Sequence[str] | None = None) -> CodingProject:
        """Return the open answers of the study, or of some sessions, with their texts and codings."""
        notes = notes_in(self.study, self.store.events.dialogues.noted_summaries(self.study.name, sessions))
        responses = current_responses(self.store, self.study, sessions=sessions)
        return coding_project(self.store, self.study, (*responses, *notes), self.gone(), sessions)

    def coding_index(self) -> CodingIndex:
        """Return the open answers of the study with their codes, without their texts.

        Answers of a large study may be a minute old; codes, discussions and codebooks are current.
        """
        store, study, gone, now = self.store, self.study, self.gone(), timezone.now()
        read = latest_figures(
            (self.event.plan.run_fingerprint, "index"),
            lambda: {"index": coding_index(store, study, gone)},
            n_responses=sum(response_counts(store, study).values()),
            now=now,
            waits=True,
        )
        index: CodingIndex = read["index"]
        if "as_of" not in read:
            return index
        changed = store.events.codings.changed_since(study.name, read["as_of"] - _LONGEST_WRITE)
        return index.updated(coding_index(store, study, gone, changed))

    def project_of(self, answers: Iterable[OpenAnswer]) -> CodingProject:
        """Return some open answers with their texts and codings, and the others of their sessions."""
        return self.coding_project(list(dict.fromkeys(answer.session for answer in answers)))

    def project_about(self, token: str) -> tuple[CodingProject, OpenText]:
        """Return the answer for a token in an address, with the answers of its session.

        Raises:
            Http404: If there is no such answer.
        """
        places = [(questionnaire.name, question.name) for questionnaire, question in open_questions(self.study)]
        keys = self.store.events.sessions.keys(self.study.name)
        found = self.meant(token, ((key, *place) for place in places for key in keys))
        project = self.coding_project([found[0]])
        for text in project.texts:
            if self.token_of_answer(text.answer) == token:
                return project, text
        raise Http404

    def gone(self) -> frozenset[str]:
        """Return the keys of readers who have left the study."""
        left = self.access.hosted.memberships.filter(left_at__isnull=False)
        return frozenset(left.values_list("participant", flat=True))

    def names_of(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the names of some readers by key, in order of joining."""
        members = self.access.hosted.memberships.filter(participant__in=set(keys)).select_related("account")
        return {member.participant: f"{member.account} ({member.role})" for member in members.order_by("id")}

    def evidence(self) -> Evidence:
        """Return the evidence from the study's run."""
        opened = open_event_of(self.access.hosted)
        _, planned = draw_plan(self.study, opened.loaded.recordings)
        sessions = event_sessions(self.study, planned, self.store.events.dialogues.summaries(self.study.name))
        event = event_evidence(self.store, self.study)
        return evidence_of(self.store, self.study, sessions, self.event.run, event=event)

    def evidence_about(self, session: str) -> Evidence:
        """Return the part of the evidence that decides about the risks in one session."""
        responses = current_responses(self.store, self.study, sessions=[session])
        held = self.store.events.dialogues.summaries(self.study.name, [session])
        sessions = event_sessions(self.study, ListedSessions(()), held)
        keys = [summary.unit for summary in held if summary.unit]
        about = annotations_about(self.study, self.event.run, keys)
        by_hand = [annotation for key in keys for annotation in about[key] if not annotation.unit]
        labelled = {annotation.annotator: annotation.guideline for annotation in by_hand}
        return listed_evidence(
            with_representative_people(with_people(self.study, labelled), labelled, ()),
            self.event.run,
            sessions,
            dialogues=[one for _, one in as_planned(self.store.dialogues_of(keys).values(), sessions)],
            annotations=[annotation for key in keys for annotation in about[key]],
            responses=responses,
            assignments=[(annotation.annotator, annotation.dialogue) for annotation in by_hand],
        )

    def token_of(self, *parts: str) -> str:
        """Return an opaque token for addresses of this study."""
        return _token(self._token_key(), parts)

    def meant(self, token: str, candidates: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
        """Return the first of some candidates with a token.

        Raises:
            Http404: If none has it.
        """
        key = self._token_key()
        for parts in candidates:
            if _token(key, parts) == token:
                return parts
        raise Http404

    def _token_key(self) -> bytes:
        return salted_hmac("theodolite.analyst", self.access.hosted.token, algorithm="sha256").digest()

    def address(self, name: str, **parts: str | int) -> str:
        """Return the address of a page for analysts."""
        return reverse(f"analyst:{name}", kwargs={"study": self.access.hosted.token, **parts})

    def token_of_answer(self, answer: OpenAnswer) -> str:
        """Return the token of an answer."""
        return self.token_of(answer.session, answer.questionnaire, answer.question)


def _token(key: bytes, parts: Iterable[str]) -> str:
    return hmac.digest(key, "\n".join(parts).encode(), "sha256").hex()[:TOKEN]


def for_analysts(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Call a view as `view(request, analyst, ...)` for readers who are not blinded; a refusal explains the reason."""

    @functools.wraps(view)
    def seated(request: HttpRequest, access: AccessContext, **rest: Any) -> HttpResponse:
        if is_blind(access):
            return render(request, "web/analyst/blind.html", {"access": access}, status=403)
        analyst = AnalystContext(access=access, event=open_event_of(access.hosted).event)
        try:
            return view(request, analyst, **rest)
        except NotFound as error:
            raise Http404 from error
        except (Conflict, InputError) as error:
            messages.warning(request, f"Not done: {error}.".replace("..", "."))
            return redirect(request.path if request.method == "POST" else analyst.address("home"))

    return allowed(*READERS)(seated)


def is_blind(access: AccessContext) -> bool:
    """Return whether a person tests or annotates in the study, or did so before."""
    roles = [role.value for role in BLIND]
    return Membership.objects.filter(account=access.account, hosted=access.hosted, role__in=roles).exists()


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidTurn:
    """A turn of a dialogue that is safe to show."""

    number: int
    prompt: str
    response: SafeString


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidDialogue:
    """A dialogue as readers see it.

    Attributes:
        turns: The turns; empty for a restricted dialogue.
        is_restricted: Whether a case currently restricts it for everyone.
    """

    turns: tuple[SaidTurn, ...] = ()
    is_restricted: bool = False


def said_in(analyst: AnalystContext, keys: Sequence[str]) -> list[SaidDialogue]:
    """Return some dialogues in order, with names of applications and redactions masked.

    Args:
        analyst: The context of the reader.
        keys: Keys of the dialogues.
    """
    dialogues, mask = analyst.store.dialogues_of(keys), mask_for(analyst.study)
    hidden, restricted = _overlays(analyst.study.name, keys)
    return [
        SaidDialogue(is_restricted=True)
        if key in restricted
        else SaidDialogue(
            turns=tuple(
                SaidTurn(number=turn.number, prompt=mask(turn.prompt), response=safe_html(mask(turn.response)))
                for turn in redacted(dialogues[key], hidden[key], "").turns
            )
        )
        for key in keys
    ]


def _overlays(study: str, keys: Sequence[str]) -> tuple[dict[str, list[Redaction]], set[str]]:
    """Return the redactions of some dialogues, and the dialogues that are withheld."""
    hidden: dict[str, list[Redaction]] = defaultdict(list)
    restricted = set()
    for case in cases(study):
        is_dismissed = any(step.act is CaseAct.DISMISSED for step in case.steps)
        if case.dialogue in keys and not is_dismissed:
            hidden[case.dialogue] += case.redactions
            restricted |= {case.dialogue} if case.is_restricted else set()
    return hidden, restricted


def answered_in(analyst: AnalystContext, response: QuestionnaireResponse) -> Iterator[tuple[str, str]]:
    """Yield each question with its answer, in the order of the questionnaire."""
    for question in analyst.study.questionnaire(response.questionnaire).instrument.questions:
        answers = response.to(question.name)
        values = [answer.value if answer.value is not None else answer.outcome.value for answer in answers]
        absent = Outcome.NOT_APPLICABLE if question.when else Outcome.MISSING
        yield question.text, ", ".join(values) or absent.value


Responses = Sequence[QuestionnaireResponse]


PLAIN: dict[str, Callable[[QuestionnaireResponse], str]] = {
    "application": lambda response: response.application,
    "scenario": lambda response: response.scenario,
    "level": lambda response: response.level.value if response.level else "",
}
"""Attributes to compare responses by, beside groups of testers."""


ADJUSTMENTS: dict[str, tuple[Adjustment, str]] = {
    "holm": ("holm", "Holm: controls any false positive"),
    "bh": ("bh", "Benjamini and Hochberg: controls the share of false positives"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SideColumn:
    """One side of a question as the page draws it.

    Attributes:
        name: Its name.
        people: Number of testers, as text.
        drawn: The chart; None if there are no labels, or they are withheld.
        middle: Median and quartiles as text; empty if the labels have no order.
        left_out: Excluded answers, as text.
        note: Text that replaces the chart; empty if there is a chart.
    """

    name: str
    people: str
    drawn: Histogram | None
    middle: str = ""
    left_out: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseBlock:
    """A question with all its results on the page."""

    text: str
    topic: str
    sides: tuple[SideColumn, ...]
    legend: tuple[tuple[str, str], ...]
    test: str
    pairs: tuple[tuple[str, str], ...]
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseSelection:
    """The selection of the page.

    Attributes:
        questionnaire: The questionnaire whose answers are shown.
        level: Level of testing; empty if levels are compared with each other.
        scenario: Scenario; empty for all.
        by: Groups to compare.
        adjustment: Method that adjusts p-values.
        has_models: Whether a model of all answers is shown beside each test.
    """

    questionnaire: Questionnaire
    level: str
    scenario: str
    by: str
    adjustment: Adjustment
    has_models: bool

    def side(self, response: QuestionnaireResponse) -> str:
        """Return the side of a response."""
        plain = PLAIN.get(self.by)
        return plain(response) if plain else response.groups.get(self.by, "")

    def takes(self, response: QuestionnaireResponse) -> bool:
        """Return whether a response is of the level and scenario."""
        return self.level in {"", PLAIN["level"](response)} and self.scenario in {
            "",
            response.scenario,
        }


@for_analysts
@require_GET
def responses(request: HttpRequest, analyst: AnalystContext) -> HttpResponse:
    """Show the answers to one questionnaire, split as requested."""
    counts = response_counts(analyst.store, analyst.study)
    met = [questionnaire for questionnaire in analyst.study.questionnaires if questionnaire.name in counts]
    context: dict[str, object] = {"access": analyst.access, "questionnaires": met}
    if met:
        most = max(met, key=lambda questionnaire: counts[questionnaire.name])
        wanted = request.GET.get("questionnaire")
        shown = next((questionnaire for questionnaire in met if questionnaire.name == wanted), most)
        query = {name: request.GET[name] for name in QUERY if name in request.GET}
        context |= latest_figures(
            (analyst.event.plan.run_fingerprint, shown.name, *query.items()),
            lambda: _figures(analyst.store, analyst.study, shown, query),
            n_responses=counts[shown.name],
            now=timezone.now(),
        )
        context["zone"] = zone_of(analyst.study).key
    return render(request, "web/analyst/responses.html", context)


MOST_IN_REQUEST = 500
"""Responses from which the server computes a page between requests; count."""

LOOK_EVERY_S = 5
"""Time between two looks for large pages that must be computed; seconds."""

FRESH_FOR = timedelta(minutes=1)
"""Age at which the figures of a page that somebody views are computed again."""

_VIEWED_FOR = timedelta(minutes=5)

_SHARE_OF_TIME = 10
"""The computation of a page takes at most one part in so many of the server's time."""

_MOST_PAGES = 50

_LONGEST_WRITE = timedelta(minutes=1)
"""Time that a write may take, and by which the clocks of server and database may differ."""

_LOG = logging.getLogger(__name__)

Figures = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class _LargePage:
    """The figures of a large page with the time of their computation, of the next one, and of the last view."""

    compute: Callable[[], Figures]
    viewed: datetime
    figures: Figures = field(default_factory=dict)
    at: datetime | None = None
    due: datetime


_large_pages: dict[tuple[object, ...], _LargePage] = {}
"""The large pages of this process that somebody has viewed lately."""


def latest_figures(
    key: tuple[object, ...],
    compute: Callable[[], Figures],
    *,
    n_responses: int,
    now: datetime,
    waits: bool = False,
) -> Figures:
    """Return the figures of a page: current ones if it is small, else those that the server computed last.

    Figures of a large page have their time as `as_of`. Without any, the result has only `is_pending`,
    and the server computes them within seconds.

    Args:
        key: Identifies the page.
        compute: Computes the figures; the server calls it again while the page is viewed.
        n_responses: Responses on the page; count.
        now: The present moment.
        waits: Whether the request computes the figures if there are none.
    """
    if n_responses <= MOST_IN_REQUEST:
        return compute()
    page = _large_pages.setdefault(key, _LargePage(compute=compute, viewed=now, due=now))
    page.viewed = now
    for oldest in sorted(_large_pages, key=lambda large_page: _large_pages[large_page].viewed)[:-_MOST_PAGES]:
        del _large_pages[oldest]
    if page.at is None and waits:
        _compute(page, now)
    return {"is_pending": True} if page.at is None else page.figures | {"as_of": page.at}


async def refresh_pages() -> None:
    """Compute the large pages that are open, so that no request has to."""
    await sync_to_async(refresh_large_pages, thread_sensitive=False)()


def refresh_large_pages() -> None:
    """Compute the large pages that somebody has viewed lately, and forget the others."""
    close_old_connections()
    for key, page in list(_large_pages.items()):
        began = timezone.now()
        if began - page.viewed > _VIEWED_FOR:
            _large_pages.pop(key, None)
        elif began >= page.due:
            _compute(page, began)
    close_old_connections()


def _compute(page: _LargePage, began: datetime) -> None:
    try:
        page.figures, page.at = page.compute(), began
    except TheodoliteError as error:
        _LOG.warning("could not compute a page for analysts: %s", error)
    page.due = began + max(FRESH_FOR, _SHARE_OF_TIME * (timezone.now() - began))


def _figures(store: EventStore, study: Study, questionnaire: Questionnaire, query: Mapping[str, str]) -> Figures:
    own = current_responses(store, study, questionnaire.name)
    return _shown(_choice(query, questionnaire, own), own)


QUERY = ("by", "level", "scenario", "adjust", "model")
"""Parameters of the page, beside the questionnaire."""


def _choice(query: Mapping[str, str], questionnaire: Questionnaire, own: Responses) -> ResponseSelection:
    levels = list(dict.fromkeys(PLAIN["level"](response) for response in own))
    by = query.get("by", "application")
    level = query.get("level", "")
    return ResponseSelection(
        questionnaire=questionnaire,
        # Levels answer different questions: they can be compared with each other, and are never added.
        level="" if by == "level" else level if level in levels else levels[0],
        scenario=query.get("scenario", ""),
        by=by if by in {*PLAIN, *_groups(own)} else "application",
        adjustment=ADJUSTMENTS.get(query.get("adjust", ""), ADJUSTMENTS["holm"])[0],
        has_models=query.get("model", "") == "ordinal",
    )


def _groups(own: Responses) -> list[str]:
    names = dict.fromkeys(name for response in own for name in response.groups)
    return [name for name in names if len({response.groups[name] for response in own if name in response.groups}) > 1]


def _shown(choice: ResponseSelection, own: Responses) -> dict[str, object]:
    version = version_of(choice.questionnaire)
    valid = [response for response in own if response.instrument_version == version]
    submitted = [response for response in valid if response.submitted]
    about = [response for response in submitted if choice.takes(response)]
    comparisons = compare_sides(
        choice.questionnaire.instrument.questions,
        about,
        choice.side,
        small_are_withheld=choice.by not in PLAIN,
        adjustment=choice.adjustment,
    )
    return {
        "choice": choice,
        "levels": list(dict.fromkeys(PLAIN["level"](response) for response in own)),
        "scenarios": list(dict.fromkeys(response.scenario for response in own)),
        "ways": [*PLAIN, *_groups(own)],
        "adjustments": [(name, label) for name, (_, label) in ADJUSTMENTS.items()],
        "n": len(about),
        "n_people": len({response.participant for response in about}),
        "n_drafts": len(valid) - len(submitted),
        "n_other": len(own) - len(valid),
        "blocks": [
            _block(comparison, _model_words(choice, comparison, about) if choice.has_models else "")
            for comparison in comparisons
        ],
        "task": _task(about),
    }


def _task(about: Responses) -> str:
    """Return the number of testers who have answered all their questions, as text."""
    whole = sum(all(answer.outcome is not Outcome.MISSING for answer in response.answers) for response in about)
    return f"{figures.count(whole)} of {figures.count(len(about))} answered all that they were asked" if about else ""


def _block(answer_comparison: AnswerComparison, model: str) -> ResponseBlock:
    sides = tuple(_column(side, answer_comparison) for side in answer_comparison.sides)
    legends = [side.drawn.legend for side in sides if side.drawn]
    return ResponseBlock(
        text=answer_comparison.question.text,
        topic=answer_comparison.question.topic.value if answer_comparison.question.topic else "",
        sides=sides,
        legend=legends[0] if legends else (),
        test=_test_words(answer_comparison),
        pairs=tuple(
            (f"{pair.first} and {pair.second}", _words(pair.test, pair.adjusted_p_value, pair.effect))
            for pair in answer_comparison.pairs
        ),
        model=model,
    )


def _model_words(choice: ResponseSelection, compared: AnswerComparison, about: Responses) -> str:
    """Return the model's comparison of the displayed sides; empty without a comparison."""
    if compared.test is None:
        return ""
    shown = {side.name for side in compared.sides if side.spread is not None}
    equal = {name: PLAIN[name] for name in ("application", "scenario") if name != choice.by}
    model = side_model(
        compared.question, [response for response in about if choice.side(response) in shown], choice.side, equal
    )
    if isinstance(model, Undefined):
        return f"model {undefined_text(model)}"
    odds = [f"{_times(ratio)} with {side} as with {model.against}" for side, ratio in model.odds.items()]
    parts = [f"Odds of a higher answer: {'; '.join(odds)}"]
    parts += [f"{' and '.join(model.held_equal)} held constant"] if model.held_equal else []
    parts.append(f"{figures.number_of(model.n, 'answer')} of {figures.number_of(model.n_people, 'tester')}")
    uneven = "" if model.is_even else ". The difference changes along the scale: see the chart"
    return f"{', '.join(parts)}{uneven}."


def _times(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.2f} times as high"
    return f"{estimate.value:.2f} times ({estimate.low:.2f} to {estimate.high:.2f}) as high"


def _column(side: AnswerSide, answer_comparison: AnswerComparison) -> SideColumn:
    people = figures.number_of(side.n_people, "tester")
    spread = side.spread
    if spread is None:
        return SideColumn(name=side.name, people=people, drawn=None, note="too few testers to tell")
    is_text = answer_comparison.question.scale.kind is ScaleKind.TEXT
    return SideColumn(
        name=side.name,
        people=people,
        drawn=histogram(spread) if spread.n else None,
        middle=_middle(spread),
        left_out="; ".join(f"{figures.count(n)} {outcome.value}" for outcome, n in spread.outcomes.items() if n),
        note=f"{figures.count(len(spread.texts))} free-text answers" if is_text else "",
    )


def _middle(spread: AnswerSpread) -> str:
    if spread.quartiles is None:
        return f"n {figures.count(spread.n)}"
    low, middle, high = spread.quartiles
    return f"n {figures.count(spread.n)}, median {middle}, quartiles {low} and {high}"


def _test_words(answer_comparison: AnswerComparison) -> str:
    if answer_comparison.test is None:
        return ""
    text = _words(answer_comparison.test, answer_comparison.adjusted_p_value, answer_comparison.effect)
    return f"{text}{'; compared within testers' if answer_comparison.is_within else ''}"


def _words(test: Significance | Undefined, adjusted_p_value: float | None, effect: Estimate | Undefined | None) -> str:
    if isinstance(test, Undefined):
        return undefined_text(test)
    parts = [f"{test.method}: p {test.p_value:.3f}"]
    parts += [] if adjusted_p_value is None else [f"adjusted {adjusted_p_value:.3f}"]
    parts += [f"{test.effect_name} {test.effect:+.2f}"] if test.effect is not None and test.effect_name else []
    if isinstance(effect, Estimate) and effect.low is not None and effect.high is not None:
        parts.append(f"second group higher with probability {effect.value:.2f} ({effect.low:.2f} to {effect.high:.2f})")
    parts.append(f"{figures.count(test.n)} testers")
    return ", ".join(parts)
