"""The page of an account's API tokens."""

from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from theodolite.web.access import account_of, audit, signed_in
from theodolite.web.models import Account, ApiToken
from theodolite.web.models.api import SCOPE_TEXTS, new_secret

MOST_TOKENS = 50
"""Maximum number of valid tokens per account; count."""

LIFETIMES = ((30, "30 days"), (90, "90 days"), (365, "one year"))
"""Possible lifetimes of a token; days and label."""


class TokenForm(forms.Form):
    """A new token."""

    name = forms.CharField(label="Name", max_length=80, help_text="For example, the program that uses it.")
    scopes = forms.MultipleChoiceField(
        label="Scopes",
        choices=[(scope.value, f"{text} ({scope.value})") for scope, text in SCOPE_TEXTS.items()],
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text="Every token can list your studies and their runs. No token can do more than you can.",
    )
    days = forms.TypedChoiceField(label="Valid for", choices=LIFETIMES, coerce=int, initial=90)


@signed_in
@require_http_methods(["GET", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """Show the tokens of an account, or create one; the secret is shown once."""
    account = account_of(request)
    form, secret = TokenForm(request.POST if request.method == "POST" else None), ""
    if request.method == "POST" and form.is_valid():
        secret = _create(account, form)
        form = TokenForm() if secret else form
    context = {"form": form, "secret": secret, "tokens": _lines(account)}
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else HTTPStatus.OK
    return render(request, "web/organiser/tokens.html", context, status=status)


def _create(account: Account, form: TokenForm) -> str:
    """Create a token and return its secret; empty if the account has too many."""
    now = timezone.now()
    valid = ApiToken.objects.filter(account=account, revoked_at=None, expires_at__gt=now)
    if valid.count() >= MOST_TOKENS:
        form.add_error(None, f"You have {MOST_TOKENS} valid tokens. Revoke one first.")
        return ""
    public, secret, hashed = new_secret()
    scopes = [str(scope) for scope in form.cleaned_data["scopes"]]
    with transaction.atomic():
        ApiToken.objects.create(
            account=account,
            token=public,
            name=form.cleaned_data["name"],
            hash=hashed,
            scopes=scopes,
            expires_at=now + timedelta(days=form.cleaned_data["days"]),
        )
        audit(account, "created API token", f"token {public}", scopes=scopes, days=form.cleaned_data["days"])
    return secret


def _lines(account: Account) -> list[tuple[ApiToken, str]]:
    """Return the tokens of an account with their states."""
    now = timezone.now()
    return [
        (token, "revoked" if token.revoked_at else "valid" if token.is_valid(now) else "expired")
        for token in ApiToken.objects.filter(account=account)
    ]


@signed_in
@require_POST
def revoke(request: HttpRequest, token: str) -> HttpResponse:
    """Revoke a token of the account, effective immediately."""
    account = account_of(request)
    with transaction.atomic():
        row = get_object_or_404(ApiToken.objects.select_for_update(), account=account, token=token)
        if row.revoked_at is None:
            row.revoked_at = timezone.now()
            row.save(update_fields=["revoked_at"])
            audit(account, "revoked API token", f"token {row.token}")
    messages.success(request, f"Token {row.name} revoked.")
    return redirect("api_tokens")
