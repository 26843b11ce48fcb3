"""Participants, sessions, live dialogues, questionnaire responses and codings of open answers."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from theodolite.domain.choices import UserType
from theodolite.domain.coding import CODERS
from theodolite.domain.dialogue import Ending, Level, TurnState
from theodolite.domain.event import AcknowledgedText
from theodolite.domain.event_record import GuessedThing, Withdrawal
from theodolite.domain.persona import AttemptOutcome
from theodolite.domain.session import SessionState
from theodolite.store.fields import HashField, MomentField, StorableTextField
from theodolite.store.models.runs import OUTCOMES, VALUE_ONLY_WHEN_ANSWERED, ParticipantRow, RunRow, UnitRow

_LEVELS = [level.value for level in Level]


class SlotRow(models.Model):
    """A slot of the design of a level and its participant; a released slot has a row with `freed`."""

    study = StorableTextField()
    level = models.TextField()
    stratum = StorableTextField(default="")
    number = models.IntegerField()
    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    freed = models.BooleanField(default=False)

    class Meta:
        """Table options: one holder per number, one number per holder."""

        db_table = "store_seat"
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="seat_number", fields=["study", "level", "stratum", "number"], condition=Q(freed=False)
            ),
            models.UniqueConstraint(
                name="seat_holder", fields=["study", "level", "participant"], condition=Q(freed=False)
            ),
            models.CheckConstraint(name="seat_level", condition=Q(level__in=_LEVELS)),
            models.CheckConstraint(name="seat_number_from_0", condition=Q(number__gte=0)),
        ]


class SessionRow(models.Model):
    """One session of one person with one application."""

    key = HashField(unique=True)
    study = StorableTextField(db_index=True)
    edition = HashField()
    run = models.ForeignKey(RunRow, on_delete=models.PROTECT, related_name="+")
    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")
    level = models.TextField()
    scenario = StorableTextField()
    scenario_version = HashField()
    application = StorableTextField()
    application_version = HashField()
    stratum = StorableTextField(default="")
    slot = models.IntegerField()
    place = models.IntegerField()
    alias = StorableTextField(default="")
    state = models.TextField(default=SessionState.WAITING.value)
    started = MomentField(null=True)
    ended = MomentField(null=True)
    stood_s = models.FloatField(default=0.0)
    paused = MomentField(null=True)
    paused_by_tester = models.BooleanField(default=False)
    paused_by_organiser = models.BooleanField(default=False)
    task_done = models.BooleanField(null=True)
    brought = models.BooleanField(default=False)
    language = StorableTextField(default="")

    class Meta:
        """Table options: one session per person and position, states."""

        db_table = "store_session"
        constraints: ClassVar = [
            models.UniqueConstraint(name="session_place", fields=["study", "participant", "level", "place"]),
            models.CheckConstraint(name="session_level", condition=Q(level__in=_LEVELS)),
            models.CheckConstraint(name="session_state", condition=Q(state__in=[s.value for s in SessionState])),
        ]


class AcknowledgementRow(models.Model):
    """One agreement to one version of one text."""

    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")
    study = StorableTextField()
    subject = models.TextField()
    version = HashField()
    session = models.ForeignKey(SessionRow, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    at = MomentField()

    class Meta:
        """Table options and the closed list of texts."""

        db_table = "store_acknowledgement"
        constraints: ClassVar = [
            models.CheckConstraint(
                name="acknowledged_text", condition=Q(subject__in=[v.value for v in AcknowledgedText])
            ),
        ]


class AvoidedTopicRow(models.Model):
    """One topic that a person avoids in a study until they change it."""

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
    """One revision of a person's profile; the user type is empty if not stated."""

    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    revision = models.IntegerField()
    user_type = models.TextField()
    expertise = StorableTextField(default="")
    created = MomentField()

    class Meta:
        """Table options: numbering, user types."""

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
    """A tester's guess about a session; `options` are lines."""

    session = models.ForeignKey(SessionRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    about = models.TextField()
    guess = StorableTextField(default="")
    options = StorableTextField()
    at = MomentField()

    class Meta:
        """Table options: one guess per session and subject."""

        db_table = "store_guess"
        constraints: ClassVar = [
            models.UniqueConstraint(name="guess_once", fields=["session", "about"]),
            models.CheckConstraint(name="guess_about", condition=Q(about__in=[v.value for v in GuessedThing])),
        ]


class TombstoneRow(models.Model):
    """Record of a withdrawal, without content and key."""

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


class LiveDialogueRow(models.Model):
    """The turns from a start or reset to the next one; `ordinal` numbers those of one study."""

    key = HashField(unique=True)
    session = models.ForeignKey(SessionRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    study = StorableTextField()
    number = models.IntegerField()
    ordinal = models.IntegerField()
    ending = models.TextField(default="")
    unit = models.OneToOneField(UnitRow, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        """Table options: numbering, one open dialogue per session."""

        db_table = "store_live_dialogue"
        constraints: ClassVar = [
            models.UniqueConstraint(name="live_dialogue_number", fields=["session", "number"]),
            models.UniqueConstraint(name="live_dialogue_ordinal", fields=["study", "ordinal"]),
            models.UniqueConstraint(name="live_dialogue_open", fields=["session"], condition=Q(ending="")),
            models.CheckConstraint(
                name="live_dialogue_ending",
                condition=Q(ending__in=["", *(v.value for v in Ending)]),
            ),
        ]


class LiveTurnRow(models.Model):
    """One prompt and the response so far; `state` is empty while it is in progress."""

    key = HashField(unique=True)
    dialogue = models.ForeignKey(LiveDialogueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    number = models.IntegerField()
    prompt = StorableTextField()
    asked = MomentField()
    response = StorableTextField(default="")
    original = StorableTextField(default="")
    state = models.TextField(default="")
    latency_s = models.FloatField(null=True)
    waited_s = models.FloatField(null=True)
    kind = models.TextField(default="")
    cause = StorableTextField(default="")
    tries = models.IntegerField(default=1)
    broke = models.BooleanField(default=False)
    claims = StorableTextField(default="")
    tokens_in = models.BigIntegerField(default=0)
    tokens_out = models.BigIntegerField(default=0)
    cost_microusd = models.BigIntegerField(null=True)

    class Meta:
        """Table options: numbering, states, one reply in progress per dialogue."""

        db_table = "store_live_turn"
        constraints: ClassVar = [
            models.UniqueConstraint(name="live_turn_number", fields=["dialogue", "number"]),
            models.UniqueConstraint(name="live_turn_under_way", fields=["dialogue"], condition=Q(state="")),
            models.CheckConstraint(name="live_turn_state", condition=Q(state__in=["", *(v.value for v in TurnState)])),
        ]


class LiveAttemptRow(models.Model):
    """One attempt of a strategy, as a red teamer describes it; number 0 means a strategy without attempts."""

    dialogue = models.ForeignKey(LiveDialogueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    place = models.IntegerField()
    name = StorableTextField()
    number = models.IntegerField()
    description = StorableTextField(default="")
    outcome = models.TextField(default=AttemptOutcome.UNCLEAR.value)
    turn = models.IntegerField(null=True)
    refines = models.IntegerField(null=True)

    class Meta:
        """Table options: numbering, the closed list of outcomes."""

        db_table = "store_live_attempt"
        constraints: ClassVar = [
            models.UniqueConstraint(name="live_attempt_number", fields=["dialogue", "place", "number"]),
            models.CheckConstraint(
                name="live_attempt_outcome", condition=Q(outcome__in=[v.value for v in AttemptOutcome])
            ),
        ]


class ResponseRow(models.Model):
    """A revision of a response; revisions never change, and none follows a submitted one."""

    session = models.ForeignKey(SessionRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    questionnaire = StorableTextField()
    instrument_version = HashField()
    revision = models.IntegerField()
    submitted = models.BooleanField(default=False)
    created = MomentField()

    class Meta:
        """Table options: numbering, one submission."""

        db_table = "store_response"
        constraints: ClassVar = [
            models.UniqueConstraint(name="response_revision", fields=["session", "questionnaire", "revision"]),
            models.UniqueConstraint(
                name="response_submitted", fields=["session", "questionnaire"], condition=Q(submitted=True)
            ),
            models.CheckConstraint(name="response_revision_from_1", condition=Q(revision__gte=1)),
        ]


class ResponseAnswerRow(models.Model):
    """One answer; a question that takes several options has one row for each of them."""

    response = models.ForeignKey(ResponseRow, on_delete=models.CASCADE, related_name="+", db_index=False)
    position = models.IntegerField()
    question = StorableTextField()
    outcome = models.TextField()
    value = StorableTextField(null=True)
    number = models.FloatField(null=True)
    turn = models.IntegerField(null=True)
    replicate = models.IntegerField(default=1)
    reasoning = StorableTextField(default="")
    raw = StorableTextField(default="")

    class Meta:
        """Table options: order, outcomes, values."""

        db_table = "store_response_answer"
        constraints: ClassVar = [
            models.UniqueConstraint(name="response_answer_position", fields=["response", "position"]),
            models.CheckConstraint(name="response_answer_outcome", condition=Q(outcome__in=OUTCOMES)),
            models.CheckConstraint(name="response_answer_value_when_answered", condition=VALUE_ONLY_WHEN_ANSWERED),
        ]


ANSWER = ["session", "questionnaire", "question"]
"""Columns that name an answer."""


class CodingRow(models.Model):
    """One revision of one coder's codes for one answer; the slot limits the number of coders."""

    session = models.ForeignKey(SessionRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    questionnaire = StorableTextField()
    question = StorableTextField()
    slot = models.IntegerField()
    coder = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")
    codebook = HashField()
    revision = models.IntegerField()
    memo = StorableTextField(default="")
    created = MomentField()

    class Meta:
        """Table options: numbering, a fixed number of coders."""

        db_table = "store_coding"
        constraints: ClassVar = [
            models.UniqueConstraint(name="coding_revision", fields=[*ANSWER, "slot", "revision"]),
            models.CheckConstraint(name="coding_slot", condition=Q(slot__gte=1, slot__lte=CODERS)),
            models.CheckConstraint(name="coding_revision_from_1", condition=Q(revision__gte=1)),
        ]


class CodingCodeRow(models.Model):
    """One code of a coding."""

    coding = models.ForeignKey(CodingRow, on_delete=models.CASCADE, related_name="+", db_index=False)
    position = models.IntegerField()
    code = StorableTextField()

    class Meta:
        """Table options: a code is assigned once."""

        db_table = "store_coding_code"
        constraints: ClassVar = [models.UniqueConstraint(name="coding_code_once", fields=["coding", "code"])]


class CodingResolutionRow(models.Model):
    """A revision of the outcome of a discussion about an answer with different codings."""

    session = models.ForeignKey(SessionRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    questionnaire = StorableTextField()
    question = StorableTextField()
    codebook = HashField()
    revision = models.IntegerField()
    is_agreed = models.BooleanField()
    rationale = StorableTextField(default="")
    created = MomentField()

    class Meta:
        """Table and numbering."""

        db_table = "store_coding_resolution"
        constraints: ClassVar = [
            models.UniqueConstraint(name="coding_resolution_revision", fields=[*ANSWER, "revision"]),
        ]


class ResolvedCodeRow(models.Model):
    """One agreed code."""

    resolution = models.ForeignKey(CodingResolutionRow, on_delete=models.CASCADE, related_name="+", db_index=False)
    position = models.IntegerField()
    code = StorableTextField()

    class Meta:
        """Table options: a code is agreed once."""

        db_table = "store_resolved_code"
        constraints: ClassVar = [models.UniqueConstraint(name="resolved_code_once", fields=["resolution", "code"])]


class CodingTalkerRow(models.Model):
    """One participant of a discussion about an answer."""

    resolution = models.ForeignKey(CodingResolutionRow, on_delete=models.CASCADE, related_name="+", db_index=False)
    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")

    class Meta:
        """Table options: a person takes part once."""

        db_table = "store_coding_talker"
        constraints: ClassVar = [
            models.UniqueConstraint(name="coding_talker_once", fields=["resolution", "participant"])
        ]


class QuoteReleaseRow(models.Model):
    """A revision of the permission to show an answer."""

    session = models.ForeignKey(SessionRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    questionnaire = StorableTextField()
    question = StorableTextField()
    by = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")
    revision = models.IntegerField()
    is_given = models.BooleanField()
    created = MomentField()

    class Meta:
        """Table and numbering."""

        db_table = "store_quote_release"
        constraints: ClassVar = [
            models.UniqueConstraint(name="quote_release_revision", fields=[*ANSWER, "revision"]),
        ]


class QuoteStretchRow(models.Model):
    """A hidden span of an answer."""

    release = models.ForeignKey(QuoteReleaseRow, on_delete=models.CASCADE, related_name="+", db_index=False)
    start = models.IntegerField()
    end = models.IntegerField()

    class Meta:
        """Table options: non-empty spans."""

        db_table = "store_quote_stretch"
        constraints: ClassVar = [
            models.CheckConstraint(name="quote_stretch", condition=Q(start__gte=0, end__gt=F("start"))),
            models.UniqueConstraint(name="quote_stretch_once", fields=["release", "start"]),
        ]
