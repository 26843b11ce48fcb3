"""Which roles of a study need a second factor, and who has none yet."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from theodolite.domain.role import Role
from theodolite.web.access import Here, allowed
from theodolite.web.audit import audit
from theodolite.web.factors import FACTOR_ROLES, required_by_server, required_roles


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
    needed = [role.value for role in required_roles(here.hosted)]
    members = here.hosted.memberships.filter(left_at=None, role__in=needed).select_related("account")
    having = set(Authenticator.objects.filter(user__memberships__in=members).values_list("user_id", flat=True))
    shown = {
        "here": here,
        "form": form,
        "by_server": sorted(role.value for role in required_by_server()),
        "lacking": [one for one in members.order_by("id") if one.account_id not in having],
        "n_needed": len(members),
    }
    return render(request, "web/organiser/factors.html", shown, status=422 if form.errors else 200)
