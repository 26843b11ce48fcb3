"""Suggested rotations after much work on one topic, and what content opt-outs cost an event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from theodolite.annotation.listing import heavy_workloads, topic_demand
from theodolite.domain.event import LATELY_H, MUCH_MIN, Role
from theodolite.events.consent import heavy_minutes, opt_out_tallies
from theodolite.web.annotator.home import records
from theodolite.web.events import event_of
from theodolite.web.models import HostedStudy, Membership


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation:
    """A suggestion to give a person other work, or a break; nothing happens by itself.

    Attributes:
        who: Name of the tester, or code of the annotator.
        member: Token of the membership; empty if nobody holds it any more.
        topic: The topic.
        much: The amount, in words.
    """

    who: str
    member: str
    topic: str
    much: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OptOutEffect:
    """The effect of content opt-outs from a topic on an event; counts.

    Attributes:
        title: The topic.
        weight: Weight of the topic.
        n_asked: Testers and annotators who were asked.
        n_people: Those among them who opted out.
        n_spared: Planned sessions that were not offered to the participant of their slot.
        n_free: Planned sessions whose slot is not allocated.
        n_waiting: Dialogues and categories that wait for an annotator.
        n_annotators: Annotators who did not opt out.
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
        """Whether fewer annotators than needed accept the topic."""
        return self.n_waiting > 0 and self.n_annotators < self.passes


def opt_out_effects(hosted: HostedStudy) -> list[OptOutEffect]:
    """Return what content opt-outs cost an event, one entry for each topic; empty if its study has none."""
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
            n_spared=tally.n_spared,
            n_free=tally.n_free,
            n_waiting=demands[tally.topic].waiting,
            n_annotators=sum(tally.topic not in avoided.get(key, ()) for key in annotators),
            passes=demands[tally.topic].overlap,
        )
        for tally in opt_out_tallies(event)
    ]


def rotations(hosted: HostedStudy) -> list[Rotation]:
    """Return the suggested rotations: testers by name, and annotators by code."""
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
