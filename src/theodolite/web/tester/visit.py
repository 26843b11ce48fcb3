"""A visit: a tester on a page, with everything that is known of the way through the event."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.http import Http404, HttpRequest
from django.urls import reverse

from theodolite.domain.dialogue import Level
from theodolite.domain.people.consent import AcknowledgedText
from theodolite.domain.people.event import LevelPlan
from theodolite.domain.people.role import Role
from theodolite.domain.people.session import Session, SessionState
from theodolite.domain.questionnaire import Questionnaire
from theodolite.domain.wording import TITLE, LocalisedStudy, languages_of
from theodolite.testing.steps import Next, Screened, SittingSoFar, Standing, going_on, next_step
from theodolite.testing.topics import topics_version
from theodolite.usecases.people.exposure import has_had_enough
from theodolite.usecases.people.seating import next_place, places_left, stratum_of
from theodolite.usecases.people.venue import Venue
from theodolite.web.access import Here
from theodolite.web.booking import booked_slot, needs_slot
from theodolite.web.languages import speak
from theodolite.web.models import HostedStudy, Screening
from theodolite.web.read_studies import read_study
from theodolite.web.tester.texts import Text, screening_version, texts_of
from theodolite.web.venues import venue_of

LEVELS = {Role.RED_TEAMER: Level.RED_TEAMING, Role.FIELD_TESTER: Level.FIELD_TESTING}
"""The level of testing that each role of testers belongs to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A tester on a page.

    Attributes:
        here: Who asks.
        venue: The event, put together: as it was published last, or as a session of the person began with it.
        level: Of testing, as the person's role says.
        sessions: Those of the person that were made, in order.
        agreed: What the person acknowledged: text and version, with the session where it is about one.
        language: Language that the person reads the study in.
    """

    here: Here
    venue: Venue
    level: Level
    sessions: tuple[Session, ...]
    agreed: frozenset[tuple[AcknowledgedText, str, str]]
    language: str = ""

    @property
    def participant(self) -> str:
        """Key under which the store knows the person."""
        return self.here.membership.participant

    @property
    def plan(self) -> LevelPlan:
        """What the level is to hold."""
        plans = (plan for plan in self.venue.study.levels if plan.level is self.level)
        return next(plans, LevelPlan(level=self.level))

    @property
    def read(self) -> LocalisedStudy:
        """The study as the person reads it; what is stored names the study as it was written."""
        return read_study(self.venue.study, self.language)

    @property
    def texts(self) -> tuple[Text, ...]:
        """What is to be agreed to before anything else."""
        return texts_of(self.read)

    def has_agreed(self) -> bool:
        """Tell whether every text was agreed to as it is worded now, in whichever language."""
        worded = [text for language in languages_of(self.venue.study) for text in self._texts_in(language)]
        met = {text.subject for text in worded if (text.subject, text.version, "") in self.agreed}
        return met >= {text.subject for text in worded}

    def _texts_in(self, language: str) -> tuple[Text, ...]:
        return texts_of(read_study(self.venue.study, language))

    def session(self, place: int) -> Session:
        """Return a session of the person by its number, from 1.

        Raises:
            Http404: If it was not begun.
        """
        for session in self.sessions:
            if session.place == place - 1:
                return session
        raise Http404

    def seated(self, session: Session) -> Visit:
        """Return the visit in the edition that a session was made for: whoever began with it ends with it."""
        return replace(self, venue=_venue(self.here.hosted, session.edition))

    def at(self, place: int) -> Visit:
        """Return the visit as it is in the session of a number, from 1; as it stands where there is none yet."""
        known = next((session for session in self.sessions if session.place == place - 1), None)
        return self.seated(known) if known is not None else self

    def has_read(self, session: Session) -> bool:
        """Tell whether the instructions of a session were acknowledged."""
        return any(subject is AcknowledgedText.INSTRUCTIONS and key == session.key for subject, _, key in self.agreed)

    def to_answer(self, session: Session) -> list[Questionnaire]:
        """Return the questionnaires of a session that are not submitted yet, in order."""
        asked = self.seated(session).venue.study.questionnaires_after(session.scenario, session.level)
        if not asked:
            return []
        answered = {given.questionnaire for given in self.venue.store.responses_to(session.key) if given.submitted}
        return [questionnaire for questionnaire in asked if questionnaire.name not in answered]

    @property
    def screening_version(self) -> str:
        """Content hash of the questions before anything else; empty where none are asked."""
        return screening_version(self.venue.study)

    def standing(self) -> Standing:
        """Return how far the person has come."""
        store = self.venue.store
        over = [session for session in self.sessions if session.is_over]
        return Standing(
            screened=self._screened(),
            has_agreed=self.has_agreed(),
            has_chosen=has_chosen(self),
            upcoming=_upcoming_place(self),
            was_asked=bool(over) or store.profile(self.participant) is not None,
            has_slot=self._has_slot(),
            has_place=bool(self.sessions) or self._finds_place(),
            is_enough=has_had_enough(self.venue, self.participant),
            sittings=self.sittings,
            has_guessed=bool(over)
            and bool(self.keys & {guess.session for guess in store.guesses(self.venue.study.name)}),
        )

    @property
    def sittings(self) -> tuple[SittingSoFar, ...]:
        """The sessions of the level in order, those not begun included."""
        made = {session.place: self._sitting(session) for session in self.sessions}
        return tuple(made.get(place, SittingSoFar()) for place in range(self.plan.sessions))

    def _screened(self) -> Screened:
        version = self.screening_version
        kept = Screening.objects.filter(membership=self.here.membership, version=version).first() if version else None
        if not version:
            return Screened.PASSED
        return Screened.OPEN if kept is None else Screened.PASSED if kept.passed else Screened.OUT

    def _has_slot(self) -> bool:
        if not needs_slot(self.here.hosted, self.here.membership.role):
            return True
        return booked_slot(self.here.membership, self.venue.clock.now()) is not None

    def _finds_place(self) -> bool:
        known = self.venue.store.profile(self.participant) is not None
        stratum = stratum_of(self.venue, self.participant, self.plan) if known else None
        return places_left(self.venue, self.level, stratum) > 0

    @property
    def keys(self) -> set[str]:
        """Keys of the sessions."""
        return {session.key for session in self.sessions}

    def upcoming(self) -> Next:
        """Return what the person does next; nothing more is asked of the store while a session goes on."""
        return going_on(self.sittings) or next_step(self.standing())

    def address(self, upcoming: Next) -> str:
        """Return the page of a step."""
        study = self.here.hosted.token
        arguments = [study, upcoming.place] if upcoming.place else [study]
        return reverse(f"tester:{upcoming.step.value}", args=arguments)

    def _sitting(self, session: Session) -> SittingSoFar:
        # Interrupted is what was taken out of the person's hands: nothing is asked about it.
        asks = session.is_over and session.state is not SessionState.INTERRUPTED
        return SittingSoFar(
            is_read=self.has_read(session),
            is_over=session.is_over,
            to_answer=len(self.to_answer(session)) if asks else 0,
        )


def title_of(visit: Visit) -> tuple[str, str] | None:
    """Return the study's title in the person's language, and which that is; None where it is shown as it is called."""
    if TITLE not in visit.read.parts or str(visit.here.hosted) != visit.venue.study.title:
        return None
    return visit.read.study.title, visit.read.language


def visit_of(request: HttpRequest, here: Here) -> Visit:
    """Return the visit of who asks; from now on the request speaks the person's language."""
    venue = _venue(here.hosted)
    level = LEVELS[here.role]
    given = venue.store.acknowledgements(here.membership.participant)
    mine = (one for one in venue.store.sessions_of(here.membership.participant) if one.level is level)
    return Visit(
        here=here,
        venue=venue,
        level=level,
        sessions=tuple(sorted(mine, key=lambda session: session.place)),
        agreed=frozenset((each.subject, each.version, each.session) for each in given),
        language=speak(request, languages_of(venue.study)),
    )


def _venue(hosted: HostedStudy, edition: str = "") -> Venue:
    return replace(venue_of(hosted, edition), keeps_hours=hosted.keeps_hours)


def has_chosen(visit: Visit) -> bool:
    """Tell whether a person was asked what is not to be met, as it is worded now."""
    version = topics_version(visit.venue.study)
    return not version or (AcknowledgedText.TOPICS, version, "") in visit.agreed


def _upcoming_place(visit: Visit) -> int | None:
    """Return the number of the session that comes next; None where no topic has a say in it."""
    if not visit.venue.study.topics or not visit.plan.people:
        return None
    place = next_place(visit.venue, visit.participant, visit.level)
    return 0 if place is None else place + 1
