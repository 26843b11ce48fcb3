"""The ethics approval of an event: recorded before any tester is asked in."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from theodolite.domain.people.role import Role
from theodolite.web.access import Here, allowed
from theodolite.web.approvals import approval_of
from theodolite.web.audit import audit
from theodolite.web.models import EthicsApproval


class ApprovalForm(forms.ModelForm):  # type: ignore[type-arg] # not generic when the program runs
    """Who approved what, and for how long."""

    class Meta:
        """Fields, in the order of the page."""

        model = EthicsApproval
        fields = ("body", "number", "granted", "expires")
        labels = {  # noqa: RUF012 - read once by Django
            "body": "Body that approved the event",
            "number": "Number or words of the decision",
            "granted": "Holds from",
            "expires": "Holds until (empty: no end)",
        }
        widgets = {name: forms.DateInput(attrs={"type": "date"}) for name in ("granted", "expires")}  # noqa: RUF012

    def clean(self) -> dict[str, Any]:
        """Return what was filled in, once its dates follow each other."""
        filled = super().clean() or {}
        granted, expires = filled.get("granted"), filled.get("expires")
        if granted and expires and expires < granted:
            self.add_error("expires", "It would end before it begins.")
        return filled


@allowed(Role.ORGANISER)
def ethics(request: HttpRequest, here: Here) -> HttpResponse:
    """Show the approvals of an event and record another one."""
    form = ApprovalForm(request.POST or None, instance=EthicsApproval(hosted=here.hosted, made_by=here.account))
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            kept = form.save()
            audit(here.account, "recorded ethics approval", f"study {here.hosted.token}", hosted=here.hosted,
                  body=kept.body, number=kept.number)  # fmt: skip
        messages.success(request, "Recorded. Testers can be invited.")
        return redirect("organiser:people", study=here.hosted.token)
    told = {"here": here, "form": form, "approvals": here.hosted.approvals.all(), "holds": approval_of(here.hosted)}
    return render(request, "web/organiser/ethics.html", told, status=422 if form.errors else 200)
