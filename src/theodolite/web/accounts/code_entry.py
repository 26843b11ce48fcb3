"""Coming in by a personal code, or on the way from a recruiting service."""

from __future__ import annotations

from http import HTTPStatus

from allauth.core import ratelimit
from allauth.mfa.utils import is_mfa_enabled
from django.contrib.auth import login
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _

from theodolite.domain.errors import Conflict
from theodolite.web.access import open_to_all
from theodolite.web.accounts.codes import come_in, give_code, words_of
from theodolite.web.accounts.forms import CodeForm, NameForm
from theodolite.web.accounts.joining import BACKEND
from theodolite.web.accounts.recruiting import Sent, take_in, take_in_anybody, why_shut
from theodolite.web.languages import choose, chosen, page_languages, speak
from theodolite.web.models import Account, Membership, RecruitLink
from theodolite.web.role_home import role_home

_FAILED = "code_failed"
"""What is counted against guessing: failures only, since a whole room may share one address."""

_COMING = "recruited"
"""What is counted against programs that come in by a recruiting link over and over."""


@open_to_all
def code(request: HttpRequest, words: str = "") -> HttpResponse:
    """Let somebody in by the words of a slip; the printed square fills them in, and a button sends them."""
    form = CodeForm(request.POST or None, initial={"code": words})
    if request.method != "POST":
        return render(request, "web/accounts/code.html", {"form": form})
    if not ratelimit.consume(request, action=_FAILED, dry_run=True):
        return _too_many(request)
    held = come_in(form.cleaned_data["code"]) if form.is_valid() else None
    if held is not None and not is_mfa_enabled(held.account):
        login(request, held.account, backend=BACKEND)
        return redirect(role_home(held))
    ratelimit.consume(request, action=_FAILED)
    form.add_error(
        "code", _("No place has this code. Look at the slip once more, or ask the people who hold the event.")
    )
    return render(request, "web/accounts/code.html", {"form": form}, status=HTTPStatus.UNPROCESSABLE_ENTITY)


@open_to_all
def recruited(request: HttpRequest, link: str) -> HttpResponse:
    """Let somebody in whom a recruiting service sent, or who has an open link.

    It takes a button, so that a link checker takes nobody's place.
    """
    found = get_object_or_404(RecruitLink.objects.select_related("hosted"), token=link)
    if found.language and not chosen(request):
        choose(request, found.language)
        speak(request, page_languages())
    if request.method == "POST" and not ratelimit.consume(request, action=_COMING):
        return _too_many(request)
    try:
        return _anybody(request, found) if found.kind == RecruitLink.Kind.OPEN else _named(request, found)
    except Conflict as conflict:
        return render(request, "web/accounts/shut.html", {"why": f"{conflict}."}, status=HTTPStatus.GONE)


def _named(request: HttpRequest, link: RecruitLink) -> HttpResponse:
    said = request.POST if request.method == "POST" else request.GET
    sent = Sent(person=said.get("PROLIFIC_PID", ""), study=said.get("STUDY_ID", ""), session=said.get("SESSION_ID", ""))
    if request.method != "POST":
        return render(request, "web/accounts/recruited.html", {"link": link, "sent": sent})
    held = take_in(link, sent)
    login(request, held.account, backend=BACKEND)
    return redirect(role_home(held))


def _anybody(request: HttpRequest, link: RecruitLink) -> HttpResponse:
    if isinstance(request.user, Account):
        access = Membership.objects.filter(account=request.user, recruit__link=link, left_at=None).first()
        if access is not None:
            return redirect(role_home(access))
    shut = why_shut(link)
    if shut:
        raise Conflict(shut)
    form = NameForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        return render(request, "web/accounts/recruited.html", {"link": link, "form": form})
    with transaction.atomic():
        held = take_in_anybody(link, form.cleaned_data["name"])
        code = words_of(give_code(held))
    login(request, held.account, backend=BACKEND)
    return render(request, "web/accounts/own_code.html", {"code": code, "onward": role_home(held)})


def _too_many(request: HttpRequest) -> HttpResponse:
    return render(request, "429.html", status=HTTPStatus.TOO_MANY_REQUESTS)
