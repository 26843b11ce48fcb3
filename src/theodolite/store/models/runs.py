"""Runs, their units of work, replies and failures, and stored contents."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from theodolite.domain.flow import SchemaUse
from theodolite.domain.run import FailureSource, RunState, UnitKind, UnitState
from theodolite.store.fields import HashField, MomentField, StorableTextField


class ContentRow(models.Model):
    """A record's canonical JSON, kept once for all that refer to it.

    `text` is empty where the JSON is `packed`, against the text of `base` where it has
    one, and where it is so large that it stands in a file of the workspace's `blobs`
    folder; the file is named by the version.
    """

    version = HashField(primary_key=True)
    tag = models.TextField()
    text = models.TextField(null=True)  # noqa: DJ001  # NULL means "elsewhere", which no text means
    packed = models.BinaryField(null=True)
    base = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="+", db_index=False)

    class Meta:
        """Table."""

        db_table = "store_content"
        constraints: ClassVar = [
            models.CheckConstraint(name="content_tagged", condition=~models.Q(tag="")),
            models.CheckConstraint(
                name="content_in_one_place",
                condition=(models.Q(text__isnull=True) | models.Q(packed__isnull=True))
                & (models.Q(base__isnull=True) | models.Q(packed__isnull=False)),
            ),
        ]


class RunRow(models.Model):
    """One execution of a plan; study and plan stand among the contents."""

    key = HashField(unique=True)
    study = StorableTextField()
    number = models.IntegerField()
    study_content = models.ForeignKey(ContentRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    plan_content = models.ForeignKey(ContentRow, on_delete=models.PROTECT, related_name="+")
    state = models.TextField(default=RunState.UNFINISHED.value)
    started = MomentField()
    finished = MomentField(null=True)

    class Meta:
        """Table, numbering within a study, states."""

        db_table = "store_run"
        constraints: ClassVar = [
            models.UniqueConstraint(name="run_number", fields=["study", "number"]),
            models.CheckConstraint(name="run_state", condition=models.Q(state__in=[s.value for s in RunState])),
        ]


class UnitRow(models.Model):
    """The smallest piece of work that is leased and resumed.

    `adopted_from` names the unit of an earlier run whose result stands for this one;
    it is always a unit that did the work itself. An annotation is `ready` once the
    session that it is about is done. `lease_until` is in seconds since 1970 by the
    database's clock.
    """

    run = models.ForeignKey(RunRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    key = HashField(unique=True)
    kind = models.TextField()
    work_key = HashField()
    position = models.BigIntegerField()
    label = StorableTextField()
    application = StorableTextField()
    subject = HashField(null=True)
    annotator = StorableTextField(default="")
    state = models.TextField(default=UnitState.WAITING.value)
    owner = StorableTextField(default="")
    lease_until = models.FloatField(null=True)
    tries = models.IntegerField(default=0)
    ready = models.SmallIntegerField(default=1)  # a number, since SQLite has no index serve `WHERE ready`
    adopted_from = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="+", db_index=False)

    class Meta:
        """Table, paths by which units are found, states."""

        db_table = "store_unit"
        # SQLite uses a partial index only where the query repeats its condition word
        # for word, without parameters: hence "is null" and "is not null".
        indexes: ClassVar = [
            models.Index(name="unit_in_plan", fields=["run", "kind", "state", "ready", "position"]),
            models.Index(name="unit_subject", fields=["subject"], condition=Q(subject__isnull=False)),
            models.Index(name="unit_leased", fields=["owner"], condition=Q(lease_until__isnull=False)),
            models.Index(name="unit_adoptable", fields=["work_key"], condition=Q(adopted_from__isnull=True)),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(name="unit_kind", condition=Q(kind__in=[k.value for k in UnitKind])),
            models.CheckConstraint(name="unit_ready", condition=Q(ready__in=[0, 1])),
            models.CheckConstraint(name="unit_state", condition=Q(state__in=[s.value for s in UnitState])),
            models.CheckConstraint(
                name="unit_lease",
                condition=Q(state="leased", lease_until__isnull=False) & ~Q(owner="")
                | (~Q(state="leased") & Q(lease_until__isnull=True, owner="")),
            ),
            models.CheckConstraint(
                name="unit_adopted_is_done", condition=Q(adopted_from__isnull=True) | Q(state__in=["done", "withdrawn"])
            ),
        ]


class ParticipantRow(models.Model):
    """An opaque key; who is behind it is never known here."""

    key = StorableTextField(unique=True)

    class Meta:
        """Table."""

        db_table = "store_participant"
        constraints: ClassVar = [models.CheckConstraint(name="participant_key", condition=~models.Q(key=""))]


class JournalEntryRow(models.Model):
    """One reply of a model or an application, committed before the next request."""

    unit = models.ForeignKey(UnitRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    position = models.IntegerField()
    request_hash = HashField()
    text = StorableTextField()
    withheld = StorableTextField(default="")
    answered_as = StorableTextField(default="")
    finish = StorableTextField(default="")
    tokens_in = models.BigIntegerField(default=0)
    tokens_out = models.BigIntegerField(default=0)
    cost_microusd = models.BigIntegerField(null=True)
    latency_s = models.FloatField(default=0.0)
    attempts = models.IntegerField(default=1)
    scripted = models.BooleanField(default=False)
    repaired = models.IntegerField(default=0)
    schema_use = models.TextField(default="")
    original = StorableTextField(default="")
    estimated_tokens = models.BigIntegerField(null=True)
    estimated_microusd = models.BigIntegerField(null=True)
    created = MomentField()

    class Meta:
        """Table, one reply a position, counts that are counts."""

        db_table = "store_journalentry"
        constraints: ClassVar = [
            models.UniqueConstraint(name="reply_position", fields=["unit", "position"]),
            models.CheckConstraint(
                name="reply_counts",
                condition=Q(position__gte=0, tokens_in__gte=0, tokens_out__gte=0, attempts__gte=0, repaired__gte=0),
            ),
            models.CheckConstraint(
                name="reply_schema_use", condition=Q(schema_use__in=[use.value for use in SchemaUse])
            ),
        ]


class FailureRow(models.Model):
    """Why a unit brought nothing, and what its last call cost; struck, not deleted, when the unit is tried again."""

    unit = models.ForeignKey(UnitRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    label = StorableTextField()
    application = StorableTextField()
    party = models.TextField()
    kind = models.TextField()
    message = StorableTextField()
    turn = models.IntegerField(null=True)
    annotator = StorableTextField(default="")
    endpoint = StorableTextField(default="")
    tries = models.IntegerField(default=1)
    attempts = models.IntegerField(default=0)
    tokens_in = models.BigIntegerField(default=0)
    tokens_out = models.BigIntegerField(default=0)
    cost_microusd = models.BigIntegerField(default=0)
    unpriced_calls = models.IntegerField(default=0)
    struck = models.BooleanField(default=False)
    repaired = models.IntegerField(default=0)
    created = MomentField()

    class Meta:
        """Table, one valid failure a unit, whose fault; the kinds of failure are no closed list."""

        db_table = "store_failure"
        constraints: ClassVar = [
            models.UniqueConstraint(name="failure_of_unit", fields=["unit"], condition=Q(struck=False)),
            models.CheckConstraint(name="failure_party", condition=Q(party__in=[v.value for v in FailureSource])),
        ]


class FiledRow(models.Model):
    """A record among the contents, filed under the hash of its subject; only withdrawals take any out."""

    subject = HashField()
    content = models.ForeignKey(ContentRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    created = MomentField()

    class Meta:
        """Table, one row a record and subject."""

        db_table = "store_filed"
        constraints: ClassVar = [models.UniqueConstraint(name="filed_once", fields=["subject", "content"])]
