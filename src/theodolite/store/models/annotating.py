"""Annotation queues: items, reservations, drafts, training, reviews, calibration and sensitive cases."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from theodolite.domain.annotating.case import CaseAct, FlagKind, TurnText
from theodolite.domain.annotating.discrepancy import AnchorKind, DissentCause, RoomState, ThreadEnd
from theodolite.domain.annotating.quality import ReviewVerdict
from theodolite.domain.annotating.work import ItemState, ReservationState
from theodolite.store.fields import HashField, MomentField, StorableTextField
from theodolite.store.models.runs import OUTCOMES, AnnotationRow, ContentRow, DialogueRow, ParticipantRow


class QueueRow(models.Model):
    """A queue: dialogues of a study that people annotate; `token` reveals nothing, and `salt` is secret."""

    token = StorableTextField(unique=True)
    name = StorableTextField(unique=True)
    salt = StorableTextField()
    study = StorableTextField()
    study_content = models.ForeignKey(ContentRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    design = models.ForeignKey(ContentRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    created = MomentField()

    class Meta:
        """Table."""

        db_table = "store_queue"


class QueueEditionRow(models.Model):
    """One design of a queue, with its start and its author; rows are never changed."""

    queue = models.ForeignKey(QueueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    number = models.IntegerField()
    design = models.ForeignKey(ContentRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    by = StorableTextField(default="")
    created = MomentField()

    class Meta:
        """Table, numbering."""

        db_table = "store_queue_edition"
        constraints: ClassVar = [models.UniqueConstraint(name="queue_edition", fields=["queue", "number"])]


class WorkItemRow(models.Model):
    """One dialogue in one category; `live` counts the reservations that take a pass.

    `disputed` counts the questions that complete passes answered differently; items that a senior annotator
    prioritised come before the others. `again` is 0 if a dialogue is annotated for the first
    time; otherwise it numbers the repeated samples.
    """

    token = StorableTextField(null=True, unique=True)
    queue = models.ForeignKey(QueueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    dialogue = models.ForeignKey(DialogueRow, on_delete=models.PROTECT, related_name="+")
    category = StorableTextField()
    version = HashField()
    again = models.IntegerField(default=0)
    tester = StorableTextField(default="")
    passes = models.IntegerField()
    live = models.IntegerField(default=0)
    done = models.IntegerField(default=0)
    disputed = models.IntegerField(default=0)
    draw = models.FloatField()
    is_first = models.BooleanField(default=False)
    state = models.TextField(default=ItemState.OPEN.value)
    created = MomentField()

    class Meta:
        """Table options, the index for finding the next item, and a limit on the number of annotations."""

        db_table = "store_work_item"
        indexes: ClassVar = [
            models.Index(name="work_item_next", fields=["queue", "state", "live", "draw"]),
            models.Index(name="work_item_disputed", fields=["queue", "-disputed", "id"], condition=Q(disputed__gt=0)),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(name="work_item_once", fields=["queue", "dialogue", "category", "again"]),
            models.CheckConstraint(name="work_item_state", condition=Q(state__in=[s.value for s in ItemState])),
            models.CheckConstraint(
                name="work_item_passes",
                condition=Q(passes__gte=1, live__gte=0, done__gte=0, live__lte=F("passes"), done__lte=F("live")),
            ),
        ]


class RoutedRow(models.Model):
    """Route of a dialogue after its first category, with its rule; rows are only added."""

    queue = models.ForeignKey(QueueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    dialogue = models.ForeignKey(DialogueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    number = models.IntegerField()
    violation = models.BooleanField(null=True)
    disputed = models.BooleanField()
    reason = StorableTextField()
    created = MomentField()

    class Meta:
        """Table, numbering."""

        db_table = "store_routed"
        constraints: ClassVar = [models.UniqueConstraint(name="routed_number", fields=["queue", "dialogue", "number"])]


class ReservationRow(models.Model):
    """An annotator's reservation of an item; an active one takes one of the item's numbered slots.

    `of` repeats the item's passes at the time of reservation: the database itself refuses a slot
    beyond them, even if the program is wrong. `annotation` is the latest submitted revision.
    `shown` states the fixed order of the sitting in words, and
    `sitting` is its number among the annotator's sittings when it was first submitted.
    """

    token = StorableTextField(unique=True)
    item = models.ForeignKey(WorkItemRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")
    state = models.TextField()
    place = models.IntegerField(null=True)
    of = models.IntegerField(default=1)
    until = MomentField(null=True)
    reason = StorableTextField(default="")
    revision = models.IntegerField(default=0)
    shown = StorableTextField(default="")
    sitting = models.IntegerField(default=0)
    annotation = models.ForeignKey(AnnotationRow, null=True, on_delete=models.PROTECT, related_name="+")
    created = MomentField()
    submitted = MomentField(null=True)

    class Meta:
        """Table options: one reservation per person and item, one person per slot, no excess slots."""

        db_table = "store_reservation"
        indexes: ClassVar = [models.Index(name="reservation_until", fields=["until"], condition=Q(state="reserved"))]
        constraints: ClassVar = [
            models.UniqueConstraint(name="reservation_once", fields=["item", "participant"]),
            models.UniqueConstraint(
                name="reservation_place", fields=["item", "place"], condition=Q(place__isnull=False)
            ),
            models.CheckConstraint(
                name="reservation_state", condition=Q(state__in=[state.value for state in ReservationState])
            ),
            models.CheckConstraint(
                name="reservation_place_when_live",
                condition=Q(state__in=["reserved", "submitted"], place__gte=1, place__lte=F("of"))
                | (~Q(state__in=["reserved", "submitted"]) & Q(place__isnull=True)),
            ),
            models.CheckConstraint(
                name="reservation_ends",
                condition=Q(state="reserved", until__isnull=False) | (~Q(state="reserved") & Q(until__isnull=True)),
            ),
            models.CheckConstraint(
                name="reservation_submitted",
                condition=~Q(state="submitted") | Q(submitted__isnull=False, revision__gte=1),
            ),
        ]


class ReservationEventRow(models.Model):
    """An event in the history of a reservation; rows are only added."""

    reservation = models.ForeignKey(ReservationRow, on_delete=models.PROTECT, related_name="+")
    state = models.TextField()
    by = StorableTextField(default="")
    reason = StorableTextField(default="")
    created = MomentField()

    class Meta:
        """Table."""

        db_table = "store_reservation_event"


class DraftRow(models.Model):
    """A saved answer; rows are only added, and `current` marks the valid one for its question.

    `turn` is 0 for the dialogue as a whole. `outcome` is empty if the answer was
    withdrawn. `undoes` is the number of the row that this one undoes.
    """

    reservation = models.ForeignKey(ReservationRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    number = models.IntegerField()
    question = StorableTextField()
    turn = models.IntegerField(default=0)
    outcome = models.TextField(default="")
    value = StorableTextField(null=True)
    reasoning = StorableTextField(default="")
    undoes = models.IntegerField(null=True)
    current = models.BooleanField(default=True)
    created = MomentField()

    class Meta:
        """Table options: numbering, one current answer per question and turn."""

        db_table = "store_draft"
        constraints: ClassVar = [
            models.UniqueConstraint(name="draft_number", fields=["reservation", "number"]),
            models.UniqueConstraint(
                name="draft_current", fields=["reservation", "question", "turn"], condition=Q(current=True)
            ),
            models.CheckConstraint(name="draft_outcome", condition=Q(outcome__in=["", *OUTCOMES])),
            models.CheckConstraint(
                name="draft_value_when_answered",
                condition=Q(outcome="answered", value__isnull=False) | (~Q(outcome="answered") & Q(value__isnull=True)),
            ),
        ]


class DraftQuoteRow(models.Model):
    """A quote from the dialogue as evidence for a saved answer."""

    draft = models.ForeignKey(DraftRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    position = models.IntegerField()
    turn = models.IntegerField()
    text = StorableTextField()

    class Meta:
        """Table, order."""

        db_table = "store_draft_quote"
        constraints: ClassVar = [models.UniqueConstraint(name="draft_quote", fields=["draft", "position"])]


class OnboardingRow(models.Model):
    """A text that an annotator acknowledged: background material, or the impartiality rules."""

    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    subject = StorableTextField()
    version = HashField()
    created = MomentField()

    class Meta:
        """Table options: each text once per person."""

        db_table = "store_onboarding"
        constraints: ClassVar = [
            models.UniqueConstraint(name="onboarding_once", fields=["participant", "subject", "version"])
        ]


class PracticeRow(models.Model):
    """One example that an annotator practised with feedback, in one series and one version of its category."""

    queue = models.ForeignKey(QueueRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")
    version = HashField()
    example = models.IntegerField()
    created = MomentField()

    class Meta:
        """Table options: each example once per person and series."""

        db_table = "store_practice"
        constraints: ClassVar = [
            models.UniqueConstraint(name="practice_once", fields=["queue", "participant", "version", "example"])
        ]


class QualificationRow(models.Model):
    """One attempt at the test of a category in one version; a senior's admission is an attempt without questions."""

    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    category = StorableTextField()
    version = HashField()
    attempt = models.IntegerField()
    right = models.IntegerField()
    asked = models.IntegerField()
    passed = models.BooleanField()
    by = StorableTextField(default="")
    reason = StorableTextField(default="")
    created = MomentField()

    class Meta:
        """Table options: numbering of attempts, valid counts."""

        db_table = "store_qualification"
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="qualification_attempt", fields=["participant", "category", "version", "attempt"]
            ),
            models.CheckConstraint(
                name="qualification_counts", condition=Q(right__gte=0, right__lte=models.F("asked"), attempt__gte=1)
            ),
        ]


class TestAnswerRow(models.Model):
    """An answer given in practice or in a test, with the expected answer."""

    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")
    qualification = models.ForeignKey(QualificationRow, null=True, on_delete=models.PROTECT, related_name="+")
    version = HashField()
    example = models.IntegerField()
    question = StorableTextField()
    given = StorableTextField()
    expected = StorableTextField()
    created = MomentField()

    class Meta:
        """Table."""

        db_table = "store_test_answer"


class ResolutionRow(models.Model):
    """Outcome of a review for one question; later outcomes are new rows, and `current` marks the valid one.

    `turn` is 0 for the dialogue as a whole.
    """

    item = models.ForeignKey(WorkItemRow, on_delete=models.PROTECT, related_name="+")
    question = StorableTextField()
    turn = models.IntegerField(default=0)
    outcome = models.TextField(default="")
    value = StorableTextField(null=True)
    cause = models.TextField(default="")
    rationale = StorableTextField()
    current = models.BooleanField(default=True)
    created = MomentField()

    class Meta:
        """Table of current results: one per question and turn, a consensus or the cause of dissent."""

        db_table = "store_resolution"
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="resolution_current", fields=["item", "question", "turn"], condition=Q(current=True)
            ),
            models.CheckConstraint(
                name="resolution_result",
                condition=Q(outcome__in=OUTCOMES, cause="")
                | Q(outcome="", cause__in=[cause.value for cause in DissentCause]),
            ),
            models.CheckConstraint(
                name="resolution_value_when_answered",
                condition=Q(outcome="answered", value__isnull=False) | (~Q(outcome="answered") & Q(value__isnull=True)),
            ),
        ]


class ResolverRow(models.Model):
    """One participant of a review."""

    resolution = models.ForeignKey(ResolutionRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")
    position = models.IntegerField()

    class Meta:
        """Table, order."""

        db_table = "store_resolver"
        constraints: ClassVar = [models.UniqueConstraint(name="resolver", fields=["resolution", "position"])]


class QualityReviewRow(models.Model):
    """One quality review of a revision of an annotation by a senior annotator; rows are never changed."""

    reservation = models.ForeignKey(ReservationRow, on_delete=models.PROTECT, related_name="+")
    revision = models.IntegerField()
    verdict = models.TextField()
    comment = StorableTextField(default="")
    by = StorableTextField()
    created = MomentField()

    class Meta:
        """Table options: verdicts, no return without a comment."""

        db_table = "store_quality_review"
        constraints: ClassVar = [
            models.CheckConstraint(
                name="quality_review_verdict", condition=Q(verdict__in=[verdict.value for verdict in ReviewVerdict])
            ),
            models.CheckConstraint(name="quality_review_comment", condition=~Q(verdict="returned") | ~Q(comment="")),
        ]


class GoldRow(models.Model):
    """A correct answer to one item, whose dialogue is part of the queue like any other."""

    item = models.ForeignKey(WorkItemRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    question = StorableTextField()
    turn = models.IntegerField(default=0)
    value = StorableTextField()
    reason = StorableTextField(default="")
    by = StorableTextField(default="")
    created = MomentField()

    class Meta:
        """Table options: one correct answer per question and turn."""

        db_table = "store_gold"
        constraints: ClassVar = [models.UniqueConstraint(name="gold_once", fields=["item", "question", "turn"])]


class ThreadRow(models.Model):
    """One thread; `version` is the guideline's version at its start."""

    token = StorableTextField(unique=True)
    queue = models.ForeignKey(QueueRow, on_delete=models.PROTECT, related_name="+")
    reservation = models.ForeignKey(ReservationRow, null=True, on_delete=models.PROTECT, related_name="+")
    kind = models.TextField()
    category = StorableTextField()
    version = HashField()
    question = StorableTextField(default="")
    turn = models.IntegerField(null=True)
    end = models.TextField(default="")
    text = StorableTextField(default="")
    by = StorableTextField(default="")
    created = MomentField()
    ended = MomentField(null=True)

    class Meta:
        """Table and closed lists."""

        db_table = "store_thread"
        constraints: ClassVar = [
            models.CheckConstraint(name="thread_kind", condition=Q(kind__in=[kind.value for kind in AnchorKind])),
            models.CheckConstraint(name="thread_end", condition=Q(end__in=["", *(end.value for end in ThreadEnd)])),
        ]


class PostRow(models.Model):
    """One contribution to a thread; contributions never change."""

    thread = models.ForeignKey(ThreadRow, on_delete=models.PROTECT, related_name="+")
    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")
    text = StorableTextField()
    created = MomentField()

    class Meta:
        """Table."""

        db_table = "store_post"


class CaseRow(models.Model):
    """A sensitive position of a dialogue; its outcome is in its steps."""

    token = StorableTextField(unique=True)
    study = StorableTextField()
    dialogue = models.ForeignKey(DialogueRow, on_delete=models.PROTECT, related_name="+")
    kind = models.TextField()
    turn = models.IntegerField(null=True)
    words = StorableTextField(default="")
    note = StorableTextField(default="")
    by_detector = models.BooleanField(default=False)

    class Meta:
        """Table options and the closed list of kinds."""

        db_table = "store_case"
        constraints: ClassVar = [
            models.CheckConstraint(name="case_kind", condition=Q(kind__in=[kind.value for kind in FlagKind])),
        ]


class CaseStepRow(models.Model):
    """One step in handling a case; rows are only added."""

    case = models.ForeignKey(CaseRow, on_delete=models.PROTECT, related_name="+")
    act = models.TextField()
    by = StorableTextField()
    note = StorableTextField(default="")
    created = MomentField()

    class Meta:
        """Table options and the closed list of acts."""

        db_table = "store_case_step"
        constraints: ClassVar = [
            models.CheckConstraint(name="case_act", condition=Q(act__in=[act.value for act in CaseAct])),
        ]


class RedactionRow(models.Model):
    """A span of text that is hidden from annotators, except in the categories that must judge it."""

    case = models.ForeignKey(CaseRow, on_delete=models.PROTECT, related_name="+")
    turn = models.IntegerField()
    side = models.TextField()
    start = models.IntegerField()
    end = models.IntegerField()
    shown_in = StorableTextField(default="")

    class Meta:
        """Table options: non-empty spans, sides."""

        db_table = "store_redaction"
        constraints: ClassVar = [
            models.CheckConstraint(name="redaction_stretch", condition=Q(start__gte=0, end__gt=F("start"))),
            models.CheckConstraint(name="redaction_side", condition=Q(side__in=[side.value for side in TurnText])),
        ]


class OriginalAccessRow(models.Model):
    """One reading of the original of a dialogue with a case; rows are never changed."""

    dialogue = models.ForeignKey(DialogueRow, on_delete=models.PROTECT, related_name="+")
    by = StorableTextField()
    reason = StorableTextField()
    created = MomentField()

    class Meta:
        """Table options: each reading needs a reason."""

        db_table = "store_original_access"
        constraints: ClassVar = [models.CheckConstraint(name="original_access_reason", condition=~Q(reason=""))]


class RoomRow(models.Model):
    """One dialogue in one category, in the version that is calibrated."""

    token = StorableTextField(unique=True)
    queue = models.ForeignKey(QueueRow, on_delete=models.PROTECT, related_name="+")
    dialogue = models.ForeignKey(DialogueRow, on_delete=models.PROTECT, related_name="+")
    category = StorableTextField()
    version = HashField()
    state = models.TextField(default=RoomState.VOTING.value)
    by = StorableTextField()
    created = MomentField()

    class Meta:
        """Table and states."""

        db_table = "store_room"
        constraints: ClassVar = [
            models.CheckConstraint(name="room_state", condition=Q(state__in=[state.value for state in RoomState])),
        ]


class RoomVoteRow(models.Model):
    """One answer in a calibration session: `ballot` 1 is blind, 2 follows the discussion."""

    room = models.ForeignKey(RoomRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")
    ballot = models.IntegerField()
    question = StorableTextField()
    turn = models.IntegerField(default=0)
    outcome = models.TextField()
    value = StorableTextField(null=True)
    reasoning = StorableTextField(default="")
    created = MomentField()

    class Meta:
        """Table options: one vote per person, question, turn and ballot."""

        db_table = "store_room_vote"
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="room_vote_once", fields=["room", "participant", "ballot", "question", "turn"]
            ),
            models.CheckConstraint(name="room_vote_ballot", condition=Q(ballot__in=[1, 2])),
            models.CheckConstraint(name="room_vote_outcome", condition=Q(outcome__in=OUTCOMES)),
        ]


class RoomPostRow(models.Model):
    """One contribution to the discussion of a calibration session."""

    room = models.ForeignKey(RoomRow, on_delete=models.PROTECT, related_name="+")
    participant = models.ForeignKey(ParticipantRow, on_delete=models.PROTECT, related_name="+")
    text = StorableTextField()
    created = MomentField()

    class Meta:
        """Table."""

        db_table = "store_room_post"


class ReviewWishRow(models.Model):
    """A request that seniors review all submissions for an item, drawn by the plan or not."""

    item = models.OneToOneField(WorkItemRow, on_delete=models.PROTECT, related_name="+")
    by = StorableTextField()
    created = MomentField()

    class Meta:
        """Table."""

        db_table = "store_review_wish"
