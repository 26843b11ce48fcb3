"""Heavy work from above: who had much of one topic lately, and what it costs that nobody has to meet one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from theodolite.annotation import assignment
from theodolite.domain.choices import TopicWeight
from theodolite.domain.people.exposure import LATELY_H, MUCH_DIALOGUES, MUCH_MIN
from theodolite.domain.people.role import Role
from theodolite.domain.people.topic import SensitiveTopic, topics_in
from theodolite.store.models.annotating import QueueRow
from theodolite.testing.topics import topic_tallies
from theodolite.usecases.people.venue import Venue
from theodolite.web.annotator.desk import library
from theodolite.web.models import HostedStudy, Membership
from theodolite.web.venues import venue_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation:
    """A suggestion to give somebody other work, or a rest; nothing is done by itself.

    Attributes:
        who: Name of the person, or code of the annotator.
        member: Token of the membership; empty where nobody holds it any more.
        topic: What it was about.
        much: How much of it, in words.
    """

    who: str
    member: str
    topic: str
    much: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicDay:
    """What it costs an event that nobody has to meet a topic; counts.

    Attributes:
        title: The topic.
        weight: How much it may weigh.
        n_asked: Testers and annotators who were asked.
        n_people: Those among them who would rather not meet it.
        n_spared: Planned sessions that were not offered to who has their seat.
        n_free: Planned sessions whose seat nobody has yet.
        n_waiting: Dialogues and categories that wait for an annotator.
        n_annotators: Annotators who would take them.
        passes: Different annotators that each of them needs.
    """

    title: str
    weight: str
    n_asked: int
    n_people: int
    n_spared: int
    n_free: int
    n_waiting: int
    n_annotators: int
    passes: int

    @property
    def lacks_annotators(self) -> bool:
        """Whether fewer people would annotate it than it takes."""
        return self.n_waiting > 0 and self.n_annotators < self.passes


def topic_days(hosted: HostedStudy) -> list[TopicDay]:
    """Return what opting out costs an event, a topic each; empty where its study names none."""
    venue = venue_of(hosted)
    if not venue.study.topics:
        return []
    queue = QueueRow.objects.filter(name=hosted.token).first()
    store, name = venue.store, venue.study.name
    avoided = store.avoided_topics(name)
    annotators = _annotators(hosted)
    titles = {topic.name: topic for topic in venue.study.topics}
    return [
        TopicDay(
            title=titles[one.topic].title,
            weight=one.weight.value,
            n_asked=one.n_asked,
            n_people=one.n_people,
            n_spared=one.n_spared,
            n_free=one.n_free,
            n_waiting=assignment.n_waiting_in(queue, titles[one.topic].scenarios) if queue else 0,
            n_annotators=sum(one.topic not in avoided.get(key, ()) for key in annotators),
            passes=library().design(queue.design_id).process.passes if queue else 0,
        )
        for one in topic_tallies(venue.study, store.seats(name), store.sessions(name), avoided)
    ]


def rotations(hosted: HostedStudy) -> list[Rotation]:
    """Return whom an organiser is advised to give a rest or other work: testers, and annotators by code."""
    venue = venue_of(hosted)
    if not venue.study.topics:
        return []
    known = Membership.objects.filter(hosted=hosted).values_list("participant", "account__name", "token")
    people = {participant: (name, token) for participant, name, token in known}
    testers = [
        Rotation(
            who=people.get(key, ("", ""))[0] or f"person {key[:4]}",
            member=people.get(key, ("", ""))[1],
            topic=topic.title,
            much=f"{minutes:.0f} minutes in sessions of the last {LATELY_H} hours",
        )
        for (key, topic), minutes in _heavy_minutes(venue, timezone.now()).items()
        if minutes >= MUCH_MIN
    ]
    return testers + annotator_rotations(hosted)


def annotator_rotations(hosted: HostedStudy) -> list[Rotation]:
    """Return which annotators a senior is advised to give a rest or other work, by code."""
    queue = QueueRow.objects.filter(name=hosted.token).first()
    if queue is None:
        return []
    titles = {one.name: one.title for one in library().study(queue.study_content_id).topics}
    codes = _annotators(hosted)
    return [
        Rotation(who=f"annotator {codes[key][:4]}", member=codes[key], topic=titles[topic],
                 much=f"{n} dialogues in the last {LATELY_H} hours")
        for key, counts in assignment.n_heavy_lately(library(), queue.token).items()
        for topic, n in counts.items()
        if n >= MUCH_DIALOGUES and key in codes
    ]  # fmt: skip


def _annotators(hosted: HostedStudy) -> Mapping[str, str]:
    held = Membership.objects.filter(hosted=hosted, role=Role.ANNOTATOR.value, left_at=None)
    return dict(held.values_list("participant", "token"))


def _heavy_minutes(venue: Venue, now: datetime) -> Mapping[tuple[str, SensitiveTopic], float]:
    """Return how long people tested each heavy topic lately, by key and topic; minutes."""
    heavy = [topic for topic in venue.study.topics if topic.weight is TopicWeight.HEAVY]
    since, found = now - timedelta(hours=LATELY_H), defaultdict[tuple[str, SensitiveTopic], float](float)
    for session in venue.store.sessions(venue.study.name):
        started = session.clock.started
        if started is not None and started >= since:
            for topic in topics_in(heavy, session.scenario):
                found[session.participant, topic] += session.clock.elapsed_s(now) / 60
    return found
