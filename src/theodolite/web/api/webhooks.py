"""The page of a study's webhooks and their deliveries."""

from __future__ import annotations

import base64
from http import HTTPStatus

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from theodolite.annotation.queues import queue_named
from theodolite.annotation.review import disputed_tokens
from theodolite.bootstrap.webhook_sender import SECRET_PREFIX, require_receiver
from theodolite.domain.errors import InputError
from theodolite.domain.event import Role
from theodolite.web.access import AccessContext, allowed
from theodolite.web.api.deliveries import secret_of, store_test
from theodolite.web.models import Webhook, WebhookDelivery
from theodolite.web.models.api import WEBHOOK_TEXTS

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
