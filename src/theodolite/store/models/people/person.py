"""What people agree to, say of themselves and guess, and what is left when they withdraw."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from theodolite.domain.choices import UserType
from theodolite.domain.people.blinding import GuessedThing
from theodolite.domain.people.consent import AcknowledgedText
from theodolite.domain.people.withdrawal import Withdrawal
from theodolite.store.fields import HashField, MomentField, StorableTextField
from theodolite.store.models.participant import ParticipantRow
from theodolite.store.models.people.session import SessionRow


class AcknowledgementRow(models.Model):
    """One agreement to one version of one text."""

    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")
    study = StorableTextField()
    subject = models.TextField()
    version = HashField()
    session = models.ForeignKey(SessionRow, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    at = MomentField()

    class Meta:
        """Table, the closed list of texts."""

        db_table = "store_acknowledgement"
        constraints: ClassVar = [
            models.CheckConstraint(
                name="acknowledged_text", condition=Q(subject__in=[v.value for v in AcknowledgedText])
            ),
        ]


class AvoidedTopicRow(models.Model):
    """One topic that a person would rather not meet in a study, as long as they say so."""

    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    study = StorableTextField(db_index=True)
    topic = StorableTextField()

    class Meta:
        """Table, one row a topic."""

        db_table = "store_avoided_topic"
        constraints: ClassVar = [
            models.UniqueConstraint(name="avoided_topic_once", fields=["participant", "study", "topic"]),
        ]


class ProfileRow(models.Model):
    """One revision of what a person says of themselves; the type of user is empty where it was not said."""

    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    revision = models.IntegerField()
    user_type = models.TextField()
    expertise = StorableTextField(default="")
    created = MomentField()

    class Meta:
        """Table, numbering, types of users."""

        db_table = "store_profile"
        constraints: ClassVar = [
            models.UniqueConstraint(name="profile_revision", fields=["participant", "revision"]),
            models.CheckConstraint(
                name="profile_user_type", condition=Q(user_type__in=["", *(v.value for v in UserType)])
            ),
        ]


class ProfileEntryRow(models.Model):
    """A language (without a name) or a self-described group of one profile."""

    profile = models.ForeignKey(ProfileRow, on_delete=models.CASCADE, related_name="+", db_index=False)
    name = StorableTextField(default="")
    value = StorableTextField()

    class Meta:
        """Table, one row an entry."""

        db_table = "store_profile_entry"
        constraints: ClassVar = [
            models.UniqueConstraint(name="profile_entry", fields=["profile", "name", "value"]),
        ]


class GuessRow(models.Model):
    """What a tester believes of a session; `options` are lines."""

    session = models.ForeignKey(SessionRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    about = models.TextField()
    guess = StorableTextField(default="")
    options = StorableTextField()
    at = MomentField()

    class Meta:
        """Table, one guess a session and thing."""

        db_table = "store_guess"
        constraints: ClassVar = [
            models.UniqueConstraint(name="guess_once", fields=["session", "about"]),
            models.CheckConstraint(name="guess_about", condition=Q(about__in=[v.value for v in GuessedThing])),
        ]


class TombstoneRow(models.Model):
    """That somebody withdrew; no content and no key."""

    study = StorableTextField(db_index=True)
    kind = models.TextField()
    at = MomentField()
    sessions = models.IntegerField()
    dialogues = models.IntegerField()
    answers = models.IntegerField()

    class Meta:
        """Table, kinds."""

        db_table = "store_tombstone"
        constraints: ClassVar = [
            models.CheckConstraint(name="tombstone_kind", condition=Q(kind__in=[v.value for v in Withdrawal])),
        ]
