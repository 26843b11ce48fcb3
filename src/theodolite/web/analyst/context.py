"""The context of an analyst's request: event, evidence and addresses of what is read."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.safestring import SafeString

from theodolite.annotation.cases import cases
from theodolite.assessment.blinding import mask_for
from theodolite.assessment.redacting import redacted
from theodolite.domain.annotating.case import CaseAct, Redaction
from theodolite.domain.annotation import Outcome
from theodolite.domain.errors import Conflict, InputError, NotFound
from theodolite.domain.event import Role
from theodolite.domain.evidence import Evidence
from theodolite.domain.schema import QuestionnaireResponse
from theodolite.domain.study import Study
from theodolite.events.coding import CodingProject, OpenText, coding_project, notes_in
from theodolite.events.context import EventContext, EventStore
from theodolite.events.results import event_evidence
from theodolite.testing.people import event_sessions
from theodolite.testing.planning import draw_plan
from theodolite.usecases.measuring import evidence_of
from theodolite.web.access import AccessContext, allowed
from theodolite.web.events import open_event_of, server_store
from theodolite.web.models import Membership
from theodolite.web.safe_text import safe_html

READERS = (Role.ANALYST, Role.ORGANISER, Role.SENIOR)
"""Roles that read the answers of testers. The work of a person is stored under the key of the first role."""

BLIND = (Role.ANNOTATOR, Role.RED_TEAMER, Role.FIELD_TESTER)
"""Roles that may not read them, whatever other role they have, because answers would bias their work."""

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
        return event_evidence(self.store, self.study).responses

    def coding_project(self) -> CodingProject:
        """Return the open answers of the study with their codings."""
        notes = notes_in(self.study, self.store.events.dialogues.summaries(self.study.name))
        return coding_project(self.store, self.study, (*self.responses(), *notes), self.gone())

    def gone(self) -> frozenset[str]:
        """Return the keys of readers who have left the study."""
        left = self.access.hosted.memberships.filter(left_at__isnull=False)
        return frozenset(left.values_list("participant", flat=True))

    def names_of(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the names of some readers by key, in order of joining."""
        members = self.access.hosted.memberships.filter(participant__in=set(keys)).select_related("account")
        return {member.participant: f"{member.account} ({member.role})" for member in members.order_by("id")}

    def evidence(self) -> Evidence:
        """Return the evidence of the study's run."""
        opened = open_event_of(self.access.hosted)
        _, planned = draw_plan(self.study, opened.loaded.recordings)
        sessions = event_sessions(self.study, planned, self.store.events.dialogues.summaries(self.study.name))
        event = event_evidence(self.store, self.study)
        return evidence_of(self.store, self.study, sessions, self.event.run, event=event)

    def token_of(self, *parts: str) -> str:
        """Return a token for addresses of this study, which reveals nothing."""
        value = "\n".join((self.access.hosted.token, *parts))
        return salted_hmac("theodolite.analyst", value, algorithm="sha256").hexdigest()[:TOKEN]

    def address(self, name: str, **parts: str | int) -> str:
        """Return the address of an analyst's page."""
        return reverse(f"analyst:{name}", kwargs={"study": self.access.hosted.token, **parts})

    def token_of_text(self, text: OpenText) -> str:
        """Return the token of an answer."""
        return self.token_of(text.answer.session, text.answer.questionnaire, text.answer.question)

    def text_in(self, project: CodingProject, token: str) -> OpenText:
        """Return the answer that an address means.

        Raises:
            Http404: If there is none.
        """
        for text in project.texts:
            if self.token_of_text(text) == token:
                return text
        raise Http404


def for_analysts(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Call a view as `view(request, analyst, ...)` for readers who are not blinded; a refusal explains itself."""

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
    """Tell whether a person tests or annotates in the study, or did so before."""
    roles = [role.value for role in BLIND]
    return Membership.objects.filter(account=access.account, hosted=access.hosted, role__in=roles).exists()


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidTurn:
    """One turn of a dialogue, safe to be shown."""

    number: int
    prompt: str
    response: SafeString


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidDialogue:
    """One dialogue as readers see it.

    Attributes:
        turns: What was said; nothing of a dialogue that is restricted.
        is_restricted: Whether a case keeps everybody from it for now.
    """

    turns: tuple[SaidTurn, ...] = ()
    is_restricted: bool = False


def said_in(analyst: AnalystContext, keys: Sequence[str]) -> list[SaidDialogue]:
    """Return some dialogues in order, with names of applications and redactions masked.

    Args:
        analyst: Where the reader sits.
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
