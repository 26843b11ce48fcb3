"""Coming in by a link: an invitation into a study, or the first organiser's own."""

from __future__ import annotations

from http import HTTPStatus

from django.contrib.auth import login
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _

from theodolite.domain.errors import Conflict
from theodolite.web.access import open_to_all
from theodolite.web.accounts.adapter import INVITED
from theodolite.web.accounts.codes import give_code, words_of
from theodolite.web.accounts.forms import AccountForm, NameForm
from theodolite.web.accounts.inviting import Standing, accept, invitation_of, invitation_of_words, standing_of
from theodolite.web.approvals import TESTERS
from theodolite.web.hosting import host_all
from theodolite.web.languages import choose, chosen, page_languages, speak
from theodolite.web.models import Account, Invitation, Membership
from theodolite.web.role_home import role_home
from theodolite.web.roles import role_words

_STANDINGS = {
    Standing.USED: _("This invitation is used."),
    Standing.EXPIRED: _("This invitation is expired."),
    Standing.WITHDRAWN: _("This invitation is withdrawn."),
}

BACKEND = "allauth.account.auth_backends.AuthenticationBackend"
"""Who vouches for people whom a link or a code lets in."""


@open_to_all
def join(request: HttpRequest, signed: str) -> HttpResponse:
    """Show an invitation; let the person in who takes it up."""
    invitation = invitation_of(signed)
    if invitation is None:
        raise Http404
    request.session[INVITED] = signed
    if invitation.language and not chosen(request):
        choose(request, invitation.language)
        speak(request, page_languages())
    return _door(request, invitation)


@open_to_all
def start(request: HttpRequest, words: str) -> HttpResponse:
    """Make the first organiser of this server; the link stands in the terminal of whoever started it."""
    invitation = invitation_of_words(words)
    if invitation is None:
        raise Http404
    return _door(request, invitation)


def _door(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    if standing_of(invitation) is not Standing.OPEN:
        return _shut(request, str(_STANDINGS[standing_of(invitation)]))
    known = request.user if isinstance(request.user, Account) else None
    kind = NameForm if invitation.role in TESTERS else AccountForm
    posted = request.method == "POST"
    form = kind(request.POST if posted and not known else None, initial=_known_of(invitation))
    if posted and (known or form.is_valid()):
        return _let_in(request, invitation, known, form)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if posted else HTTPStatus.OK
    shown = {"invitation": invitation, "role": role_words(invitation.role), "form": form, "known": known}
    return render(request, "web/accounts/join.html", shown, status=status)


def _known_of(invitation: Invitation) -> dict[str, str]:
    return {"name": invitation.name, "email": invitation.email}


def _let_in(
    request: HttpRequest, invitation: Invitation, known: Account | None, form: NameForm | AccountForm
) -> HttpResponse:
    try:
        with transaction.atomic():
            account = known or form.made()
            membership = accept(invitation, account)
            code = _code_for(membership) if not known else ""
            if membership is None:
                host_all(account)
    except Conflict as conflict:
        return _shut(request, f"{str(conflict)[0].upper()}{str(conflict)[1:]}.")
    request.session.pop(INVITED, None)
    if not known:
        login(request, account, backend=BACKEND)
    if code and membership:
        return render(request, "web/accounts/own_code.html", {"code": code, "onward": role_home(membership)})
    return redirect(role_home(membership) if membership else "home")


def _code_for(membership: Membership | None) -> str:
    """Return words by which a person without password comes back; empty for people with one."""
    if membership is None or membership.as_role not in TESTERS:
        return ""
    return words_of(give_code(membership))


def _shut(request: HttpRequest, why: str) -> HttpResponse:
    return render(request, "web/accounts/shut.html", {"why": why}, status=HTTPStatus.GONE)
