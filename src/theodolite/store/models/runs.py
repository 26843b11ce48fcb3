"""Runs and their units of work, replies, failures, stored contents, dialogues, annotations and final labels."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from theodolite.domain.annotation import AdjudicationOrigin, Control, Outcome
from theodolite.domain.dialogue import Ending, Level, TesterType, TurnState
from theodolite.domain.flow import SchemaUse
from theodolite.domain.persona import AttemptOutcome
from theodolite.domain.run import FailureSource, RunState, UnitKind, UnitState
from theodolite.store.fields import HashField, MomentField, StorableTextField


class ContentRow(models.Model):
    """A record's canonical JSON, stored once for all references.

    `text` is empty if the JSON is `packed` (compressed against the text of `base` if there is
    one) and, with SQLite, if it is so large that it is in a file of the workspace's
    `blobs` folder; the file is named by the version.
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
    """One execution of a plan; study and plan are among the contents."""

    key = HashField(unique=True)
    study = StorableTextField()
    number = models.IntegerField()
    study_content = models.ForeignKey(ContentRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    plan_content = models.ForeignKey(ContentRow, on_delete=models.PROTECT, related_name="+")
    state = models.TextField(default=RunState.UNFINISHED.value)
    started = MomentField()
    finished = MomentField(null=True)

    class Meta:
        """Table options: numbering within a study, states."""

        db_table = "store_run"
        constraints: ClassVar = [
            models.UniqueConstraint(name="run_number", fields=["study", "number"]),
            models.CheckConstraint(name="run_state", condition=models.Q(state__in=[s.value for s in RunState])),
        ]


class UnitRow(models.Model):
    """The smallest piece of work that is leased and resumed.

    `adopted_from` names the unit of an earlier run whose result this one uses;
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
        """Table options, indexes for finding units, states."""

        db_table = "store_unit"
        # SQLite uses a partial index only if the query repeats its condition word
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
    """An opaque key; the person behind it is never known here."""

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
        """Table options: one reply per position, valid counts."""

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
    """The failure of a unit, and the cost of its last call; marked as invalid rather than deleted on a retry."""

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
        """Table options: one valid failure per unit, with its source; the kinds of failure are an open list."""

        db_table = "store_failure"
        constraints: ClassVar = [
            models.UniqueConstraint(name="failure_of_unit", fields=["unit"], condition=Q(struck=False)),
            models.CheckConstraint(name="failure_party", condition=Q(party__in=[v.value for v in FailureSource])),
        ]


class FiledRow(models.Model):
    """A stored record under the hash of its subject; only withdrawals delete rows."""

    subject = HashField()
    content = models.ForeignKey(ContentRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    created = MomentField()

    class Meta:
        """Table options: one row per record and subject."""

        db_table = "store_filed"
        constraints: ClassVar = [models.UniqueConstraint(name="filed_once", fields=["subject", "content"])]


class DialogueRow(models.Model):
    """Result of one session; its key is the unit's, persona and context are contents."""

    unit = models.OneToOneField(UnitRow, on_delete=models.PROTECT, related_name="+")
    label = StorableTextField()
    application = StorableTextField()
    application_version = HashField()
    scenario = StorableTextField()
    scenario_version = HashField()
    level = models.TextField()
    held_by = models.TextField()
    pair_key = HashField()
    cluster = StorableTextField()
    ending = models.TextField()
    repeat = models.IntegerField(default=1)
    persona = models.ForeignKey(ContentRow, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    context = models.ForeignKey(ContentRow, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    created = MomentField()

    class Meta:
        """Table options and closed lists of words."""

        db_table = "store_dialogue"
        constraints: ClassVar = [
            models.CheckConstraint(name="dialogue_level", condition=Q(level__in=[v.value for v in Level])),
            models.CheckConstraint(name="dialogue_held_by", condition=Q(held_by__in=[v.value for v in TesterType])),
            models.CheckConstraint(name="dialogue_ending", condition=Q(ending__in=[v.value for v in Ending])),
        ]


class DialogueGroupRow(models.Model):
    """A group of a dialogue."""

    dialogue = models.ForeignKey(DialogueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    name = StorableTextField()
    value = StorableTextField()

    class Meta:
        """Table, one value a name."""

        db_table = "store_dialogue_group"
        constraints: ClassVar = [
            models.UniqueConstraint(name="dialogue_group_name", fields=["dialogue", "name"]),
        ]


class ScriptedEndpointRow(models.Model):
    """One endpoint of a dialogue at which a script answered for a model."""

    dialogue = models.ForeignKey(DialogueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    position = models.IntegerField()
    name = StorableTextField()

    class Meta:
        """Table, order."""

        db_table = "store_scripted_endpoint"
        constraints: ClassVar = [
            models.UniqueConstraint(name="scripted_endpoint_position", fields=["dialogue", "position"]),
        ]


class TurnRow(models.Model):
    """One prompt and one response.

    A text is NULL where it is in the journal of the dialogue's unit, at
    `prompt_at` or `response_at`. Source material of the turn is content.
    """

    dialogue = models.ForeignKey(DialogueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    number = models.IntegerField()
    prompt = StorableTextField(null=True)
    response = StorableTextField(null=True)
    prompt_at = models.IntegerField(null=True)
    response_at = models.IntegerField(null=True)
    withheld = StorableTextField(default="")
    latency_s = models.FloatField(null=True)
    state = models.TextField(default=TurnState.COMPLETE.value)
    repaired = models.IntegerField(default=0)
    context = models.ForeignKey(ContentRow, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)

    class Meta:
        """Table options: numbering, every text stored here or in the journal."""

        db_table = "store_turn"
        constraints: ClassVar = [
            models.UniqueConstraint(name="turn_number", fields=["dialogue", "number"]),
            models.CheckConstraint(
                name="turn_texts_somewhere",
                condition=(Q(prompt__isnull=False) | Q(prompt_at__isnull=False))
                & (Q(response__isnull=False) | Q(response_at__isnull=False)),
            ),
            models.CheckConstraint(name="turn_state", condition=Q(state__in=[v.value for v in TurnState])),
        ]


class StrategyRow(models.Model):
    """One attack strategy in one dialogue."""

    dialogue = models.ForeignKey(DialogueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    position = models.IntegerField()
    name = StorableTextField()

    class Meta:
        """Table, order."""

        db_table = "store_strategy"
        constraints: ClassVar = [
            models.UniqueConstraint(name="strategy_position", fields=["dialogue", "position"]),
        ]


class AttemptRow(models.Model):
    """An attempt of a strategy; `refines` is the number of the attempt on which it builds."""

    strategy = models.ForeignKey(StrategyRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    number = models.IntegerField()
    description = StorableTextField()
    outcome = models.TextField()
    turn = models.IntegerField(null=True)
    refines = models.IntegerField(null=True)
    planted = StorableTextField(default="")

    class Meta:
        """Table options: numbering, the closed list of outcomes."""

        db_table = "store_attempt"
        constraints: ClassVar = [
            models.UniqueConstraint(name="attempt_number", fields=["strategy", "number"]),
            models.CheckConstraint(name="attempt_outcome", condition=Q(outcome__in=[v.value for v in AttemptOutcome])),
        ]


OUTCOMES = [outcome.value for outcome in Outcome]
"""Words for the outcome of a question."""


CONTROLS = [control.value for control in Control]
"""Words for the result of the control question."""


VALUE_ONLY_WHEN_ANSWERED = Q(outcome="answered", value__isnull=False) | (
    ~Q(outcome="answered") & Q(value__isnull=True, number__isnull=True)
)
"""A question has a value if and only if it was answered."""


class AnnotationRow(models.Model):
    """One annotation; a revision is a further row, and rows never change.

    A person who labels by hand does no unit of a run: such a row belongs to its
    dialogue, in whichever run it is, and has no `unit`. `shown` states the order of the
    sitting in words, and `sitting` is its number among the annotator's sittings.
    """

    unit = models.ForeignKey(UnitRow, null=True, on_delete=models.PROTECT, related_name="+")
    dialogue = models.ForeignKey(DialogueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    annotator = StorableTextField()
    annotator_version = HashField()
    guideline = StorableTextField()
    instrument_version = HashField()
    revision = models.IntegerField(default=1)
    scripted = models.BooleanField(default=False)
    control = models.TextField(default=Control.NOT_ASKED.value)
    answered_as = StorableTextField(default="")
    shown = StorableTextField(default="")
    sitting = models.IntegerField(default=0)
    created = MomentField()

    class Meta:
        """Table options: one row per revision."""

        db_table = "store_annotation"
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="annotation_revision",
                fields=["dialogue", "annotator_version", "instrument_version", "revision"],
            ),
            models.CheckConstraint(name="annotation_revision_from_1", condition=Q(revision__gte=1)),
            models.CheckConstraint(name="annotation_control", condition=Q(control__in=CONTROLS)),
        ]


class AnswerRow(models.Model):
    """An answer; `number` repeats a numeric value, for arithmetic in SQL."""

    annotation = models.ForeignKey(AnnotationRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    position = models.IntegerField()
    question = StorableTextField()
    outcome = models.TextField()
    value = StorableTextField(null=True)
    number = models.FloatField(null=True)
    turn = models.IntegerField(null=True)
    replicate = models.IntegerField(default=1)
    reasoning = StorableTextField(default="")
    raw = StorableTextField(default="")
    repaired = models.IntegerField(default=0)

    class Meta:
        """Table options: order, outcomes, values."""

        db_table = "store_answer"
        constraints: ClassVar = [
            models.UniqueConstraint(name="answer_position", fields=["annotation", "position"]),
            models.CheckConstraint(name="answer_outcome", condition=Q(outcome__in=OUTCOMES)),
            models.CheckConstraint(name="answer_value_when_answered", condition=VALUE_ONLY_WHEN_ANSWERED),
        ]


class QuoteRow(models.Model):
    """A quote from the dialogue as evidence for an answer."""

    answer = models.ForeignKey(AnswerRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    position = models.IntegerField()
    turn = models.IntegerField()
    text = StorableTextField()
    verified = models.BooleanField(default=False)

    class Meta:
        """Table, order."""

        db_table = "store_quote"
        constraints: ClassVar = [
            models.UniqueConstraint(name="quote_position", fields=["answer", "position"]),
        ]


class VoteRow(models.Model):
    """One answer of one reading by a judge that reads several times; quotes are in the journal's reply."""

    annotation = models.ForeignKey(AnnotationRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    position = models.IntegerField()
    replicate = models.IntegerField()
    arrangement = StorableTextField(default="")
    control = models.TextField(default=Control.NOT_ASKED.value)
    question = StorableTextField()
    outcome = models.TextField()
    value = StorableTextField(null=True)
    turn = models.IntegerField(null=True)
    reasoning = StorableTextField(default="")
    raw = StorableTextField(default="")

    class Meta:
        """Table options: order, outcomes, values."""

        db_table = "store_vote"
        constraints: ClassVar = [
            models.UniqueConstraint(name="vote_position", fields=["annotation", "position"]),
            models.CheckConstraint(name="vote_replicate_from_1", condition=Q(replicate__gte=1)),
            models.CheckConstraint(name="vote_control", condition=Q(control__in=CONTROLS)),
            models.CheckConstraint(name="vote_outcome", condition=Q(outcome__in=OUTCOMES)),
            models.CheckConstraint(
                name="vote_value_when_answered",
                condition=Q(outcome="answered", value__isnull=False) | (~Q(outcome="answered") & Q(value__isnull=True)),
            ),
        ]


class AdjudicationRow(models.Model):
    """One final label.

    It belongs to the run that imported it: a study with changed labels
    adopts the dialogues of the earlier run, but not its final labels.
    """

    run = models.ForeignKey(RunRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    dialogue = models.ForeignKey(DialogueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    guideline = StorableTextField()
    question = StorableTextField()
    outcome = models.TextField()
    origin = models.TextField()
    value = StorableTextField(null=True)
    number = models.FloatField(null=True)
    rationale = StorableTextField(default="")
    decided = MomentField(null=True)
    raw = StorableTextField(default="")
    repaired = models.IntegerField(default=0)

    class Meta:
        """Table options: one final label per question, outcomes, values."""

        db_table = "store_adjudication"
        constraints: ClassVar = [
            models.UniqueConstraint(name="adjudication_question", fields=["run", "dialogue", "guideline", "question"]),
            models.CheckConstraint(name="adjudication_outcome", condition=Q(outcome__in=OUTCOMES)),
            models.CheckConstraint(
                name="adjudication_origin", condition=Q(origin__in=[v.value for v in AdjudicationOrigin])
            ),
            models.CheckConstraint(name="adjudication_value_when_answered", condition=VALUE_ONLY_WHEN_ANSWERED),
        ]


class AdjudicatorRow(models.Model):
    """One author of a final label."""

    adjudication = models.ForeignKey(AdjudicationRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")
    position = models.IntegerField()

    class Meta:
        """Table, order."""

        db_table = "store_adjudicator"
        constraints: ClassVar = [
            models.UniqueConstraint(name="adjudicator_position", fields=["adjudication", "position"]),
        ]


class WorkerRow(models.Model):
    """A process that works on a run, until its heartbeat ends; `held_*` is its part of the run's budget."""

    owner = StorableTextField(unique=True)
    run = models.ForeignKey(RunRow, on_delete=models.PROTECT, related_name="+")
    host = StorableTextField()
    process = models.BigIntegerField()
    started = MomentField()
    until = models.FloatField()
    held_calls = models.BigIntegerField(default=0)
    held_tokens = models.BigIntegerField(default=0)
    held_microusd = models.BigIntegerField(default=0)

    class Meta:
        """Table."""

        db_table = "store_worker"


class SlotLeaseRow(models.Model):
    """Calls to one account that one worker may have in flight."""

    account = HashField()
    owner = StorableTextField()
    slots = models.IntegerField()
    until = models.FloatField()

    class Meta:
        """Table."""

        db_table = "store_slotlease"
        constraints: ClassVar = [models.UniqueConstraint(name="slot_lease_owner", fields=["account", "owner"])]


class StartBlockRow(models.Model):
    """A block of requests that count in a limit per minute until `until`."""

    limit_key = HashField()
    owner = StorableTextField()
    requests = models.IntegerField()
    tokens = models.BigIntegerField()
    until = models.FloatField()

    class Meta:
        """Table options, index for the blocks of a limit."""

        db_table = "store_startblock"
        indexes: ClassVar = [models.Index(name="start_block_in_window", fields=["limit_key", "until"])]
