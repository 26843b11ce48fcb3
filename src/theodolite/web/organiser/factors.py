"""Which roles of a study need a second factor, and who has none yet."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from django import forms
from django.contrib import messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from theodolite.domain.people.role import Role
from theodolite.web.access import Here, allowed
from theodolite.web.audit import audit
from theodolite.web.factors import FACTOR_ROLES, required_by_server, required_roles
from theodolite.web.models import HostedStudy, Membership


class FactorForm(forms.Form):
    """The roles that need one here."""

    roles = forms.MultipleChoiceField(
        label="Roles that need a second factor in this study",
        choices=[(role.value, role.value) for role in FACTOR_ROLES],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Who has none is led to the page on which it is set up, at the next click.",
    )


@allowed(Role.ORGANISER)
def factors(request: HttpRequest, here: Here) -> HttpResponse:
    """Show and keep which roles need a second factor."""
    form = FactorForm(request.POST or None, initial={"roles": here.hosted.second_factor})
    if request.method == "POST":
        form = FactorForm(request.POST)
        if form.is_valid():
            with transaction.atomic():
                here.hosted.second_factor = form.cleaned_data["roles"]
                here.hosted.save(update_fields=["second_factor"])
                audit(here.account, "set second factors", f"study {here.hosted.token}", hosted=here.hosted,
                      roles=here.hosted.second_factor)  # fmt: skip
            messages.success(request, "Kept.")
            return redirect("organiser:factors", study=here.hosted.token)
    shown = {
        "here": here,
        "form": form,
        "by_server": sorted(role.value for role in required_by_server()),
        "lacking": lacking_factor(here.hosted),
        "n_needed": _needing(here.hosted).count(),
    }
    return render(request, "web/organiser/factors.html", shown, status=422 if form.errors else 200)


def lacking_factor(hosted: HostedStudy) -> list[Membership]:
    """Return those of a study who need a second factor and have none."""
    having = Authenticator.objects.values("user_id")
    return list(_needing(hosted).exclude(account_id__in=having).order_by("id"))


def _needing(hosted: HostedStudy) -> QuerySet[Membership]:
    needed = [role.value for role in required_roles(hosted)]
    return hosted.memberships.filter(left_at=None, role__in=needed).select_related("account")
