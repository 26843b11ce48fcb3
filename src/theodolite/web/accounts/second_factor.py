"""The page that leads people to a second factor, where their role needs one."""

from __future__ import annotations

from allauth.mfa.utils import is_mfa_enabled
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from theodolite.web.access import account_of, signed_in
from theodolite.web.accounts.comfort import back_of


@signed_in
def page(request: HttpRequest) -> HttpResponse:
    """Say what is needed and how it is set up; whoever has it is led on to where they wanted to go."""
    onward = back_of(request)
    if is_mfa_enabled(account_of(request)):
        return redirect(onward)
    has_password = account_of(request).has_usable_password()
    return render(request, "web/accounts/second_factor.html", {"onward": onward, "has_password": has_password})
