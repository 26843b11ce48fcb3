"""The repository of statistics about replies: counts, costs, failures and applications that name themselves."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Count, Q, Sum

from theodolite.domain.dialogue import TurnState
from theodolite.domain.live import FailedReply, NamingCount, ReplyCounts
from theodolite.store.executor import Repository, reads
from theodolite.store.models.people import LiveTurnRow

_APPLICATION = "dialogue__session__application"
_PARTICIPANT = "dialogue__session__participant__key"


class ReplyRepository(Repository):
    """Statistics about the replies to the participants of a study."""

    @reads
    def waiting_since(self, study: str) -> dict[str, datetime]:
        """Return when the reply in progress of each session was requested, by key of the session."""
        turns = LiveTurnRow.objects.filter(dialogue__study=study, state="")
        return dict(turns.values_list("dialogue__session__key", "asked"))

    @reads
    def counts(self, study: str, *, now: datetime, stuck_s: float) -> dict[str, ReplyCounts]:
        """Return how the replies of each application ended.

        Args:
            study: Name of the study.
            now: The present moment.
            stuck_s: Time in progress from which a reply counts as stuck; seconds.
        """
        turns = LiveTurnRow.objects.filter(dialogue__study=study).order_by().values(_APPLICATION)
        counted = turns.annotate(
            complete=Count("id", filter=Q(state=TurnState.COMPLETE.value)),
            interrupted=Count("id", filter=Q(state=TurnState.INTERRUPTED.value)),
            errors=Count("id", filter=Q(state=TurnState.ERROR.value)),
            stuck=Count("id", filter=Q(state="", asked__lt=now - timedelta(seconds=stuck_s))),
            cost_microusd=Sum("cost_microusd"),
        )
        return {row.pop(_APPLICATION): ReplyCounts(**row) for row in counted}

    @reads
    def recent_failures(self, study: str, limit: int) -> list[FailedReply]:
        """Return the latest replies that failed, the last one first."""
        failed = LiveTurnRow.objects.filter(dialogue__study=study, state=TurnState.ERROR.value).order_by("-asked")
        rows = failed.values_list("asked", _APPLICATION, _PARTICIPANT, "number", "cause")[:limit]
        return [
            FailedReply(asked=asked, application=application, participant=participant, turn=number, cause=cause)
            for asked, application, participant, number, cause in rows
        ]

    @reads
    def broken_guardrails(self, study: str) -> dict[str, int]:
        """Return how many turns each participant marked as broken guardrails; counts by key."""
        marked = LiveTurnRow.objects.filter(dialogue__study=study, broke=True)
        return dict(marked.values_list(_PARTICIPANT).annotate(n=Count("id")).order_by())

    @reads
    def naming_counts(self, study: str) -> list[NamingCount]:
        """Return how often each application identified itself, in order of the names."""
        turns = LiveTurnRow.objects.filter(dialogue__study=study)
        counted = turns.values_list(_APPLICATION).annotate(n=Count("id"), named=Count("id", filter=~Q(claims="")))
        return [
            NamingCount(
                application=application,
                turns=n,
                named=named,
                phrases=_phrases(study, application) if named else (),
            )
            for application, n, named in counted.order_by(_APPLICATION)
        ]


def _phrases(study: str, application: str) -> tuple[str, ...]:
    """Return the phrases by which an application identified itself, each once."""
    turns = LiveTurnRow.objects.filter(dialogue__study=study, dialogue__session__application=application)
    claims = turns.exclude(claims="").order_by("id").values_list("claims", flat=True)
    return tuple(dict.fromkeys(phrase for text in claims for phrase in text.splitlines()))
