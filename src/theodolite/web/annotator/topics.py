"""What an annotator would rather not meet: said before the first dialogue, and changed at any time."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from theodolite.annotation import assignment
from theodolite.domain.people.consent import AcknowledgedText
from theodolite.domain.people.role import Role
from theodolite.domain.study import Study
from theodolite.domain.wording import LocalisedStudy, languages_of, localised
from theodolite.events.consent import save_avoided_topics
from theodolite.store.annotating.queues import queue_of
from theodolite.testing.topics import topics_version
from theodolite.web.access import allowed
from theodolite.web.annotator.desk import Desk, at_desk, library
from theodolite.web.events import server_store
from theodolite.web.languages import read_language
from theodolite.web.topics import ToldTopic, told_topics, told_topics_in


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTopics:
    """What the first page of an annotator says of topics.

    Attributes:
        told: All topics of the study; none where it names none.
        is_spared: Whether all that waits touches something that they would rather not meet.
        turn: What comes after a heavy dialogue, in words; empty where the last one was not heavy.
    """

    told: tuple[ToldTopic, ...] = ()
    is_spared: bool = False
    turn: str = ""

    @property
    def avoided(self) -> tuple[ToldTopic, ...]:
        """What they would rather not meet."""
        return tuple(one for one in self.told if one.is_avoided)


_TURNS = {
    False: "The last dialogue was about something heavy. A lighter one comes next.",
    True: (
        "The last dialogue was about something heavy, and so is the next: nothing lighter waits. "
        "Rest before you take it, or leave the topic out."
    ),
}


def own_topics(request: HttpRequest, desk: Desk, n_left: int) -> OwnTopics:
    """Return what an annotator is told of topics on their first page.

    Args:
        request: Who asks, and in which language.
        desk: Whose.
        n_left: Dialogues that they may take now; count.
    """
    study = _study(desk)
    if not study.topics:
        return OwnTopics()
    avoided = server_store().events.participants.avoided_topics(study.name, desk.participant)
    return OwnTopics(
        told=told_topics(_read(request, study), avoided),
        is_spared=not n_left and bool(assignment.n_passed_over(library(), desk.queue, desk.participant)),
        turn=_turn(desk),
    )


def _turn(desk: Desk) -> str:
    is_heavy = assignment.next_is_heavy(library(), desk.queue, desk.participant)
    return "" if is_heavy is None else _TURNS[is_heavy]


def touched_by(request: HttpRequest, desk: Desk, claim: str) -> tuple[ToldTopic, ...]:
    """Return the topics that the dialogue of one's claim touches."""
    study = _study(desk)
    return told_topics_in(_read(request, study), assignment.scenario_of(claim)) if study.topics else ()


def must_choose(desk: Desk) -> bool:
    """Tell whether somebody is still to be asked what they would rather not meet, as it is worded now."""
    version = topics_version(_study(desk))
    given = server_store().events.participants.acknowledgements(desk.participant) if version else []
    asked = any(one.subject is AcknowledgedText.TOPICS and one.version == version for one in given)
    return bool(version) and not asked


@allowed(Role.ANNOTATOR)
@require_http_methods(["GET", "POST"])
@at_desk
def topics(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Ask what an annotator would rather not meet, and take back what they hold of it."""
    study = _study(desk)
    if not study.topics:
        return redirect(desk.address("home"))
    if request.method != "POST":
        told = told_topics(
            _read(request, study), server_store().events.participants.avoided_topics(study.name, desk.participant)
        )
        context = {"here": desk.here, "topics": told, "has_chosen": not must_choose(desk)}
        return render(request, "web/topics.html", context)
    save_avoided_topics(
        server_store().events.participants, study, desk.participant, request.POST.getlist("topic"), now=timezone.now()
    )
    if assignment.let_go(library(), desk.queue, desk.participant):
        messages.info(request, "Kept. What you held of it went back without a reason; its answers are kept.")
    else:
        messages.success(request, "Kept. You can change it at any time.")
    return redirect(desk.address("home"))


def _read(request: HttpRequest, study: Study) -> LocalisedStudy:
    return localised(study, read_language(request, languages_of(study)))


def _study(desk: Desk) -> Study:
    return library().study(queue_of(desk.queue).study_content_id)
