"""Webhooks of a study: their page, and deliveries.

Facts of the store become messages, and messages are sent until they are accepted.
A message is stored before it is sent and keeps its id, so a killed server sends it again: receivers
get each message at least once.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path

from asgiref.sync import sync_to_async
from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import DatabaseError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.views.decorators.http import require_http_methods, require_POST

from theodolite.annotation.queues import queue_named
from theodolite.annotation.review import disputed_tokens
from theodolite.bootstrap.database import own_connection
from theodolite.bootstrap.reports import RESULTS
from theodolite.bootstrap.run_process import process_end
from theodolite.bootstrap.webhook_sender import (
    SECRET_PREFIX,
    DeliveryOutcome,
    WebhookMessage,
    require_receiver,
    send_webhook,
)
from theodolite.domain.errors import InputError, TheodoliteError
from theodolite.domain.event import Role
from theodolite.domain.run import Run
from theodolite.usecases.viewing import RunActivity
from theodolite.web.access import AccessContext, allowed
from theodolite.web.events import server_store
from theodolite.web.models import AuditEntry, HostedStudy, Webhook, WebhookDelivery
from theodolite.web.models.api import WEBHOOK_TEST, WEBHOOK_TEXTS, WebhookEvent
from theodolite.web.organiser.runs import server_study

MOST_WEBHOOKS = 10
"""Maximum number of webhooks per study; count."""

SHOWN = 50
"""Number of recent deliveries on the page; count."""


class WebhookForm(forms.Form):
    """A new webhook."""

    url = forms.CharField(
        label="Address", max_length=500, help_text="An address with https:// that accepts POST requests with JSON."
    )
    events = forms.MultipleChoiceField(
        label="Events",
        choices=[(event.value, f"{text} ({event.value})") for event, text in WEBHOOK_TEXTS.items()],
        widget=forms.CheckboxSelectMultiple,
    )

    def clean_url(self) -> str:
        """Return the address.

        Raises:
            ValidationError: If webhooks may not use this address.
        """
        url = str(self.cleaned_data["url"])
        try:
            require_receiver(url, public_only=not settings.ALLOW_PRIVATE)
        except InputError as error:
            text = str(error)
            message = f"{text[:1].upper()}{text[1:]}."
            raise forms.ValidationError(message) from error
        return url


@allowed(Role.ORGANISER)
@require_http_methods(["GET", "POST"])
def webhooks(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show the webhooks of a study with their deliveries, or create one; the secret is shown once."""
    form, secret = WebhookForm(request.POST if request.method == "POST" else None), ""
    if request.method == "POST" and form.is_valid():
        secret = _create(access, form)
        form = WebhookForm() if secret else form
    deliveries = WebhookDelivery.objects.select_related("webhook").filter(webhook__hosted=access.hosted)[:SHOWN]
    context = {
        "access": access,
        "form": form,
        "secret": secret,
        "webhooks": [(webhook, ", ".join(webhook.events)) for webhook in access.hosted.webhooks.all()],
        "deliveries": [(delivery, _state(delivery)) for delivery in deliveries],
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else HTTPStatus.OK
    return render(request, "web/organiser/webhooks.html", context, status=status)


def _create(access: AccessContext, form: WebhookForm) -> str:
    """Create a webhook and return its secret; empty if the study has too many."""
    if access.hosted.webhooks.count() >= MOST_WEBHOOKS:
        form.add_error(None, f"This study has {MOST_WEBHOOKS} webhooks. Remove one first.")
        return ""
    queue = queue_named(access.hosted.token)
    with transaction.atomic():
        webhook = Webhook.objects.create(
            hosted=access.hosted,
            url=form.cleaned_data["url"],
            events=form.cleaned_data["events"],
            known_disputes=disputed_tokens(queue) if queue else [],
            made_by=access.account,
        )
        access.audit("created webhook", f"webhook {webhook.token}", events=webhook.events)
    return SECRET_PREFIX + base64.b64encode(secret_of(webhook)).decode()


def _state(delivery: WebhookDelivery) -> str:
    if delivery.done_at is not None:
        return "failed" if delivery.problem else "delivered"
    if delivery.webhook.disabled_at is not None:
        return "not sent"
    return "will be repeated" if delivery.problem else "waiting"


@allowed(Role.ORGANISER)
@require_POST
def test(request: HttpRequest, access: AccessContext, webhook: str) -> HttpResponse:
    """Send a test message; also re-enables a disabled webhook."""
    row = get_object_or_404(Webhook, hosted=access.hosted, token=webhook)
    Webhook.objects.filter(pk=row.pk).update(disabled_at=None)
    store_test(row)
    messages.success(request, "The test message is sent within a few seconds. Reload the page to see the outcome.")
    return redirect("organiser:webhooks", study=access.hosted.token)


@allowed(Role.ORGANISER)
@require_POST
def again(request: HttpRequest, access: AccessContext, webhook: str, delivery: str) -> HttpResponse:
    """Send a message again, with the same id."""
    row = get_object_or_404(WebhookDelivery, webhook__hosted=access.hosted, webhook__token=webhook, token=delivery)
    changes = {"next_at": timezone.now(), "attempts": 0, "status": None, "problem": ""}
    if WebhookDelivery.objects.filter(pk=row.pk).exclude(done_at=None).update(done_at=None, **changes):
        messages.success(request, "The message is sent again within a few seconds.")
    return redirect("organiser:webhooks", study=access.hosted.token)


@allowed(Role.ORGANISER)
@require_POST
def remove(request: HttpRequest, access: AccessContext, webhook: str) -> HttpResponse:
    """Remove a webhook with its deliveries."""
    with transaction.atomic():
        row = get_object_or_404(Webhook, hosted=access.hosted, token=webhook)
        access.audit("removed webhook", f"webhook {row.token}")
        row.delete()
    messages.success(request, "Webhook removed.")
    return redirect("organiser:webhooks", study=access.hosted.token)


EVERY_S = 5
"""Time between two searches for facts and due messages; seconds."""

WAITS = tuple(timedelta(seconds=wait) for wait in (30, 120, 600, 3600, 6 * 3600))
"""Pauses after failed attempts; after the last one the message is abandoned."""

LEASE = timedelta(seconds=60)
"""Time after which an attempt without an outcome counts as interrupted; longer than any attempt takes."""

AT_ONCE = 20
"""Messages that are sent at the same time; count."""

_GONE = 410

_ENDS_OF_RUNS = (0, 1, 3)
"""Exit codes of runs without an error: done, gate not met, incomplete."""

_STATES = {
    "set event open": WebhookEvent.EVENT_OPENED,
    "set event paused": WebhookEvent.EVENT_PAUSED,
    "set event closed": WebhookEvent.EVENT_CLOSED,
}
"""Entries of the audit log that are facts for webhooks."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFact:
    """Something that happened in a study; it names records and contains no texts.

    Attributes:
        event: Type of the message.
        key: Identifies the fact among those of its type.
        at: Time of the fact; UTC.
        details: Ids of the records, and states.
    """

    event: WebhookEvent
    key: str
    at: datetime
    details: Mapping[str, object]


def secret_of(webhook: Webhook) -> bytes:
    """Return the secret of a webhook; derived from the server's key, so that the database does not contain it."""
    return salted_hmac("theodolite.webhook", webhook.token, algorithm="sha256").digest()


def facts_of(webhook: Webhook) -> Iterator[StudyFact]:
    """Yield the facts since a webhook was created, limited to those it subscribes to."""
    wanted, hosted = {WebhookEvent(event) for event in webhook.events}, webhook.hosted
    found = [*_measurement_facts(webhook), *_event_facts(webhook)]
    if WebhookEvent.RUN_FINISHED in wanted:
        found += _run_facts(webhook)
    if wanted & {WebhookEvent.RUN_STOPPED, WebhookEvent.RUN_FAILED} and hosted.folder:
        found += _process_facts(webhook)
    if WebhookEvent.DISPUTE_OPENED in wanted and (queue := queue_named(hosted.token)):
        known, now = {*webhook.known_disputes}, timezone.now()
        found += [
            StudyFact(event=WebhookEvent.DISPUTE_OPENED, key=item, at=now, details={"item": item})
            for item in disputed_tokens(queue)
            if item not in known
        ]
    yield from (fact for fact in found if fact.event in wanted)


def _measurement_facts(webhook: Webhook) -> Iterator[StudyFact]:
    for row in webhook.hosted.measurements.filter(done_at__gt=webhook.made_at):
        if row.done_at is None:
            continue
        details = {"measurement": row.token, "state": "failed" if row.problem else "done"}
        yield StudyFact(event=WebhookEvent.MEASUREMENT_FINISHED, key=row.token, at=row.done_at, details=details)
        if WebhookEvent.GATE_FAILED.value in webhook.events and not row.problem:
            for gate in failed_gates(row.folder / RESULTS):
                details = {"measurement": row.token, "gate": gate}
                key = f"{row.token} {gate}"[:150]
                yield StudyFact(event=WebhookEvent.GATE_FAILED, key=key, at=row.done_at, details=details)


@lru_cache(maxsize=256)
def failed_gates(file: Path) -> tuple[str, ...]:
    """Return the names of the gates that are not met in a results file; none if the file was deleted."""
    try:
        entry = json.loads(file.read_bytes()).get("gates")
    except (OSError, ValueError):
        return ()
    gates = entry["gates"] if entry else []
    return tuple(str(gate["name"]) for gate in gates if gate["state"] == "not met")


def _event_facts(webhook: Webhook) -> Iterator[StudyFact]:
    entries = AuditEntry.objects.filter(hosted=webhook.hosted, verb__in=_STATES, at__gt=webhook.made_at)
    for entry in entries.order_by("id"):
        yield StudyFact(event=_STATES[entry.verb], key=str(entry.pk), at=entry.at, details={})


def _run_facts(webhook: Webhook) -> Iterator[StudyFact]:
    for run in server_store().runs(webhook.hosted.name):
        if run.finished is not None and run.finished > webhook.made_at:
            details = {"run": run.number, "study_version": run.study_version}
            key = run.key if _is_first_end(webhook, run) else f"{run.key} {run.finished.timestamp():.0f}"
            yield StudyFact(event=WebhookEvent.RUN_FINISHED, key=key, at=run.finished, details=details)


def _is_first_end(webhook: Webhook, run: Run) -> bool:
    """Return whether a run ended for the first time; a run with new dialogues of people ends again."""
    first = webhook.deliveries.filter(subject=f"{WebhookEvent.RUN_FINISHED.value} {run.key}").first()
    return first is None or run.finished is None or json.loads(first.body)["timestamp"] == run.finished.isoformat()


def _process_facts(webhook: Webhook) -> Iterator[StudyFact]:
    """Yield the end of the latest run process of a study, unless its run is complete: that is another fact."""
    study = server_study(webhook.hosted)
    end = process_end(study.home)
    if end is None or end.at <= webhook.made_at:
        return
    latest = study.readable_runs().latest
    is_failed = end.exit_code is not None and end.exit_code not in _ENDS_OF_RUNS
    if not is_failed and latest is not None and latest.activity is RunActivity.FINISHED:
        return
    event = WebhookEvent.RUN_FAILED if is_failed else WebhookEvent.RUN_STOPPED
    run = {"run": latest.number, "study_version": latest.status.run.study_version} if latest else {"run": None}
    yield StudyFact(event=event, key=end.key, at=end.at, details={**run, "exit_code": end.exit_code})


def store_facts(webhook: Webhook) -> int:
    """Store a message for each new fact of a webhook, and return their number; count."""
    known, n_new = {*webhook.deliveries.values_list("subject", flat=True)}, 0
    for fact in facts_of(webhook):
        subject = f"{fact.event.value} {fact.key}"
        if subject not in known:
            _, is_new = WebhookDelivery.objects.get_or_create(
                webhook=webhook,
                subject=subject,
                defaults=_message(webhook.hosted, fact.event.value, fact.at, fact.details),
            )
            n_new += is_new
    return n_new


def store_test(webhook: Webhook) -> WebhookDelivery:
    """Store a test message without a fact for the receiver."""
    now = timezone.now()
    return WebhookDelivery.objects.create(
        webhook=webhook,
        subject=f"{WEBHOOK_TEST} {secrets.token_hex(8)}",
        **_message(webhook.hosted, WEBHOOK_TEST, now, {}),
    )


def _message(hosted: HostedStudy, event: str, at: datetime, details: Mapping[str, object]) -> dict[str, object]:
    body = {"type": event, "timestamp": at.isoformat(), "data": {"study": hosted.token, **details}}
    return {
        "token": f"msg_{secrets.token_hex(12)}",
        "event": event,
        "body": json.dumps(body, ensure_ascii=False),
        "next_at": timezone.now(),
    }


def lease_due() -> list[WebhookDelivery]:
    """Return the due messages, leased by this process."""
    now = timezone.now()
    due = WebhookDelivery.objects.select_related("webhook").filter(
        done_at=None, next_at__lte=now, webhook__disabled_at=None
    )
    leased = []
    for row in due.order_by("next_at", "id")[:AT_ONCE]:
        same = WebhookDelivery.objects.filter(pk=row.pk, done_at=None, next_at=row.next_at)
        if same.update(next_at=now + LEASE, attempts=row.attempts + 1):
            row.attempts += 1
            leased.append(row)
    return leased


def record_outcome(row: WebhookDelivery, outcome: DeliveryOutcome) -> None:
    """Store the outcome of an attempt: delivered, to be repeated, or abandoned."""
    now = timezone.now()
    is_over = not outcome.problem or outcome.status == _GONE or row.attempts > len(WAITS)
    changes: dict[str, object] = {"status": outcome.status, "problem": outcome.problem}
    changes |= {"done_at": now} if is_over else {"next_at": now + WAITS[row.attempts - 1]}
    WebhookDelivery.objects.filter(pk=row.pk).update(**changes)
    if outcome.status == _GONE:
        Webhook.objects.filter(pk=row.webhook_id, disabled_at=None).update(disabled_at=now)


def prepare() -> list[WebhookDelivery]:
    """Store messages for new facts, and return the messages that are due; an error of one study affects no other."""
    with own_connection():
        try:
            for webhook in Webhook.objects.select_related("hosted").filter(disabled_at=None):
                try:
                    store_facts(webhook)
                except TheodoliteError as error:
                    _LOG.warning("could not look for facts of a webhook: %s", error)
            return lease_due()
        except DatabaseError as error:
            _LOG.warning("could not look for due webhooks: %s", error)
            return []


async def deliver_due() -> int:
    """Send the messages that are due once, and return how many; count."""
    due = await sync_to_async(prepare, thread_sensitive=False)()
    await asyncio.gather(*map(_deliver, due))
    return len(due)


async def _deliver(row: WebhookDelivery) -> None:
    """Send a message and store its outcome at once, so that a slow receiver delays no other outcome."""
    outcome = await _send(row)
    await sync_to_async(_stored, thread_sensitive=False)(row, outcome)


def _stored(row: WebhookDelivery, outcome: DeliveryOutcome) -> None:
    with own_connection():
        try:
            record_outcome(row, outcome)
        except DatabaseError as error:  # the lease ends, and the message is sent again with the same id
            _LOG.warning("could not store the outcome of a webhook: %s", error)


async def _send(row: WebhookDelivery) -> DeliveryOutcome:
    message = WebhookMessage(id=row.token, url=row.webhook.url, body=row.body, secret=secret_of(row.webhook))
    timestamp = int(timezone.now().timestamp())
    return await send_webhook(message, timestamp, public_only=not settings.ALLOW_PRIVATE)
