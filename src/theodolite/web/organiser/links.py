"""Recruiting links: for people whom Prolific sends, and open ones with a cap and a closing time."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.contrib import messages
from django.db import transaction
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from theodolite.domain.people.role import Role
from theodolite.domain.wording import languages_of
from theodolite.web.access import Here, allowed
from theodolite.web.accounts.recruiting import COMPLETION, why_shut
from theodolite.web.approvals import NO_APPROVAL, TESTERS, may_invite
from theodolite.web.audit import audit
from theodolite.web.languages import offer_languages
from theodolite.web.models import RecruitLink
from theodolite.web.moments import moment_field, told, zone_of
from theodolite.web.pages import absolute
from theodolite.web.venues import venue_of

PARAMETERS = "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
"""What Prolific fills in, as its study pages want it written."""


class LinkForm(forms.ModelForm):  # type: ignore[type-arg] # not generic when the program runs
    """A further link."""

    class Meta:
        """Fields, in the order of the page."""

        model = RecruitLink
        fields = (
            "name",
            "kind",
            "role",
            "most",
            "closes_at",
            "language",
            "study_id",
            "completion_code",
            "screened_out_code",
        )
        labels = {  # noqa: RUF012 - read once by Django
            "name": "What you call it",
            "kind": "Who comes in by it",
            "most": "How many people at most",
            "study_id": "Prolific's study id (empty: any)",
            "completion_code": "Completion code (empty: one is made)",
            "screened_out_code": "Code for people who are screened out",
        }
        help_texts = {  # noqa: RUF012
            "name": "People never see it.",
            "completion_code": "For Prolific: shown to each person at the end, with a button that hands it in.",
            "screened_out_code": "For Prolific; empty for none.",
        }
        widgets = {"kind": forms.RadioSelect}  # noqa: RUF012

    role = forms.ChoiceField(label="As", choices=[(role.value, role.value) for role in reversed(TESTERS)])
    closes_at = moment_field("Lets nobody new in from (empty: no such time)", required=False)
    language = forms.ChoiceField(label="Language that people are met in", required=False)

    def __init__(self, *args: Any, zone: ZoneInfo, languages: Sequence[str], **kwargs: Any) -> None:
        """Read times by the event's own clock, and offer the languages of the study."""
        super().__init__(*args, **kwargs)
        offer_languages(self, languages)
        self._zone = zone
        self.initial["most"] = 50

    def clean_closes_at(self) -> Any:
        """Return the moment as the event's clock means it.

        Raises:
            ValidationError: If it lies in the past.
        """
        local = self.cleaned_data["closes_at"]
        moment = local.replace(tzinfo=self._zone) if local else None
        if moment and moment <= timezone.now():
            message = "This lies in the past."
            raise forms.ValidationError(message)
        return moment

    def clean(self) -> dict[str, Any]:
        """Return what was filled in; a completion code is made where Prolific needs one."""
        filled = super().clean() or {}
        if filled.get("kind") == RecruitLink.Kind.PROLIFIC and not filled.get("completion_code"):
            filled["completion_code"] = "C" + secrets.token_hex(4).upper()
        if filled.get("most") == 0:
            self.add_error("most", "At least 1.")
        return filled


@allowed(Role.ORGANISER)
def links(request: HttpRequest, here: Here) -> HttpResponse:
    """Show the links and how many came by each; make another one."""
    study = venue_of(here.hosted).study
    zone, link = zone_of(study), RecruitLink(hosted=here.hosted)
    form = LinkForm(request.POST or None, instance=link, zone=zone, languages=languages_of(study))
    if request.method == "POST":
        if form.is_valid() and not may_invite(here.hosted, Role(form.cleaned_data["role"])):
            form.add_error(None, NO_APPROVAL)
        if form.is_valid():
            with transaction.atomic():
                made = form.save()
                audit(here.account, "made recruiting link", f"link {made.token}", hosted=here.hosted, kind=made.kind,
                      role=made.role, most=made.most)  # fmt: skip
            messages.success(request, "Made. Copy the address below.")
            return redirect("organiser:links", study=here.hosted.token)
    shown = {"here": here, "form": form, "links": _told(request, here, zone), "completion": COMPLETION}
    return render(request, "web/organiser/links.html", shown, status=422 if form.errors else 200)


def _told(request: HttpRequest, here: Here, zone: ZoneInfo) -> list[dict[str, object]]:
    known = here.hosted.recruit_links.select_related("hosted").annotate(
        came=Count("recruits"), finished=Count("recruits__finished_at")
    )
    return [
        {
            "link": one,
            "address": absolute(request, reverse("recruited", args=[one.token]))
            + (PARAMETERS if one.kind == RecruitLink.Kind.PROLIFIC else ""),
            "closes": told(one.closes_at, zone) if one.closes_at else "",
            "shut": why_shut(one),
        }
        for one in known.order_by("-id")
    ]


@allowed(Role.ORGANISER)
@require_POST
def close_link(request: HttpRequest, here: Here, link: str) -> HttpResponse:
    """Let nobody new in by a link, or open it again; who is in stays in."""
    found = get_object_or_404(RecruitLink, token=link, hosted=here.hosted)
    with transaction.atomic():
        found.closed_at = (found.closed_at or timezone.now()) if request.POST.get("shut") == "yes" else None
        found.save(update_fields=["closed_at"])
        verb = "closed recruiting link" if found.closed_at else "opened recruiting link"
        audit(here.account, verb, f"link {found.token}", hosted=here.hosted)
    messages.success(request, "Closed." if found.closed_at else "Open again.")
    return redirect("organiser:links", study=here.hosted.token)
