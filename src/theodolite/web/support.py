"""Questions of testers to the organisers of an event, their answers, and messages to all testers."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Max, Q, QuerySet

from theodolite.web.models import EventMessage, HostedStudy, Membership

LONGEST_MESSAGE = 1_000
"""Maximum length of a message; characters."""

MOST_QUESTIONS = 50
"""Maximum number of questions per tester; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HelpThread:
    """The questions of one tester with their answers.

    Attributes:
        membership: The tester.
        messages: Questions and answers, latest last.
    """

    membership: Membership
    messages: tuple[EventMessage, ...]

    @property
    def is_open(self) -> bool:
        """Whether the last message is a question."""
        return not self.messages[-1].is_from_organiser


def messages_for(membership: Membership) -> QuerySet[EventMessage]:
    """Return a tester's questions and their answers, and the messages to all testers since they joined."""
    own = Q(membership=membership) | Q(membership=None, at__gte=membership.joined_at)
    return EventMessage.objects.filter(own, hosted=membership.hosted)


def latest_for(membership: Membership) -> EventMessage | None:
    """Return the latest message of an organiser to a tester; None if there is none."""
    return messages_for(membership).exclude(author="").last()


def ask_organisers(membership: Membership, text: str, location: str) -> bool:
    """Store a question of a tester; return False if the tester has reached the maximum.

    Args:
        membership: The tester.
        text: The question.
        location: The session, dialogue and turn at which it is asked; empty for none.
    """
    if membership.event_messages.filter(author="").count() >= MOST_QUESTIONS:
        return False
    EventMessage.objects.create(hosted=membership.hosted, membership=membership, text=text, location=location)
    return True


def threads_of_testers(hosted: HostedStudy) -> list[HelpThread]:
    """Return the questions of all testers with their answers: open ones first, then the latest."""
    by_member: dict[Membership, list[EventMessage]] = {}
    messages = EventMessage.objects.filter(hosted=hosted).select_related("membership__account")
    for message in messages:
        if message.membership is not None:
            by_member.setdefault(message.membership, []).append(message)
    threads = [HelpThread(membership=membership, messages=tuple(own)) for membership, own in by_member.items()]
    return sorted(threads, key=lambda thread: (not thread.is_open, -thread.messages[-1].pk))


def n_open_questions(hosted: HostedStudy) -> int:
    """Return the number of testers who wait for an answer, because their last message is a question; count."""
    own = EventMessage.objects.filter(hosted=hosted, membership__isnull=False).order_by()
    latest = own.values("membership").annotate(last=Max("id")).values("last")
    return EventMessage.objects.filter(id__in=latest, author="").count()


def broadcasts(hosted: HostedStudy) -> QuerySet[EventMessage]:
    """Return the messages to all testers of an event, latest first."""
    return EventMessage.objects.filter(hosted=hosted, membership=None).order_by("-id")
