"""The pages of an account, and those on which people join by invitation, access code or recruiting link."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, cast

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import ratelimit
from allauth.mfa.utils import is_mfa_enabled
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django import forms
from django.contrib.auth import login
from django.contrib.auth.password_validation import validate_password
from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.db import DatabaseCache
from django.core.cache.backends.locmem import LocMemCache
from django.db import transaction
from django.forms import ChoiceField, ModelForm, RadioSelect
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.functional import SimpleLazyObject
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from theodolite.domain.errors import Conflict, TheodoliteError
from theodolite.domain.event import Role
from theodolite.domain.wording import languages_of
from theodolite.web.access import account_of, open_to_all, role_home, role_words, signed_in
from theodolite.web.accounts.invitations import (
    Sent,
    Standing,
    accept,
    come_in,
    give_code,
    invitation_of,
    invitation_of_words,
    standing_of,
    take_in,
    take_in_anybody,
    why_shut,
    words_of,
)
from theodolite.web.events import TESTERS, event_of, host_all
from theodolite.web.middleware import INVITED, choose, chosen, language_name, page_languages, speak
from theodolite.web.models import Account, DisplaySettings, Invitation, Membership, RecruitLink
from theodolite.web.models.account import GuessCount

_STANDINGS = {
    Standing.USED: lazy("This invitation has been used."),
    Standing.EXPIRED: lazy("This invitation has expired."),
    Standing.WITHDRAWN: lazy("This invitation was withdrawn."),
}


BACKEND = "allauth.account.auth_backends.AuthenticationBackend"
"""Authentication backend of sign-ins by link or code."""


@open_to_all
def join(request: HttpRequest, signed: str) -> HttpResponse:
    """Show an invitation and admit the person who accepts it."""
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
    """Create the first organiser of this server; the server prints the link in its terminal."""
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
    """Return the personal code of a person without password; empty for people with one."""
    if membership is None or membership.as_role not in TESTERS:
        return ""
    return words_of(give_code(membership))


def _shut(request: HttpRequest, why: str) -> HttpResponse:
    return render(request, "web/accounts/shut.html", {"why": why}, status=HTTPStatus.GONE)


_FAILED = "code_failed"
"""Rate limit of failed codes. Successful codes do not count, since a whole room may share one address."""


_COMING = "recruited"
"""Rate limit of joining by a recruiting link."""


@open_to_all
def code(request: HttpRequest, words: str = "") -> HttpResponse:
    """Sign in by an access code; the printed QR code fills it in, and a button submits it."""
    form = CodeForm(request.POST or None, initial={"code": words})
    if request.method != "POST":
        return render(request, "web/accounts/code.html", {"form": form})
    if not ratelimit.consume(request, action=_FAILED, dry_run=True):
        return _too_many(request)
    membership = come_in(form.cleaned_data["code"]) if form.is_valid() else None
    if membership is not None and not is_mfa_enabled(membership.account):
        login(request, membership.account, backend=BACKEND)
        return redirect(role_home(membership))
    ratelimit.consume(request, action=_FAILED)
    form.add_error("code", _("This code is not valid. Check the slip, or ask the organisers of the event."))
    return render(request, "web/accounts/code.html", {"form": form}, status=HTTPStatus.UNPROCESSABLE_ENTITY)


@open_to_all
def recruited(request: HttpRequest, link: str) -> HttpResponse:
    """Join by the link of a recruiting service, or by an open link.

    Joining needs a button, so that a link checker does not take a slot.
    """
    recruit_link = get_object_or_404(RecruitLink.objects.select_related("hosted"), token=link)
    if recruit_link.language and not chosen(request):
        choose(request, recruit_link.language)
        speak(request, page_languages())
    if request.method == "POST" and not ratelimit.consume(request, action=_COMING):
        return _too_many(request)
    try:
        return (
            _anybody(request, recruit_link)
            if recruit_link.kind == RecruitLink.Kind.OPEN
            else _named(request, recruit_link)
        )
    except Conflict as conflict:
        return render(request, "web/accounts/shut.html", {"why": f"{conflict}."}, status=HTTPStatus.GONE)


def _named(request: HttpRequest, link: RecruitLink) -> HttpResponse:
    query = request.POST if request.method == "POST" else request.GET
    sent = Sent(
        person=query.get("PROLIFIC_PID", ""), study=query.get("STUDY_ID", ""), session=query.get("SESSION_ID", "")
    )
    if request.method != "POST":
        return render(request, "web/accounts/recruited.html", {"link": link, "sent": sent})
    membership = take_in(link, sent)
    login(request, membership.account, backend=BACKEND)
    return redirect(role_home(membership))


def _anybody(request: HttpRequest, link: RecruitLink) -> HttpResponse:
    if isinstance(request.user, Account):
        membership = Membership.objects.filter(account=request.user, recruit__link=link, left_at=None).first()
        if membership is not None:
            return redirect(role_home(membership))
    shut = why_shut(link)
    if shut:
        raise Conflict(shut)
    form = NameForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        return render(request, "web/accounts/recruited.html", {"link": link, "form": form})
    with transaction.atomic():
        joined = take_in_anybody(link, form.cleaned_data["name"])
        code = words_of(give_code(joined))
    login(request, joined.account, backend=BACKEND)
    return render(request, "web/accounts/own_code.html", {"code": code, "onward": role_home(joined)})


def _too_many(request: HttpRequest) -> HttpResponse:
    return render(request, "429.html", status=HTTPStatus.TOO_MANY_REQUESTS)


_WHAT_NAME = lazy("What should we call you?")


class NameForm(forms.Form):
    """For testers: only a name, which is optional."""

    name = forms.CharField(
        label=_WHAT_NAME,
        max_length=120,
        required=False,
        help_text=lazy("A first name or an invented name is enough; you can leave the field empty."),
        widget=forms.TextInput(attrs={"autocomplete": "nickname"}),
    )

    def made(self) -> Account:
        """Return a new account without address or password."""
        return Account.objects.create_user(name=self.cleaned_data["name"])


class AccountForm(forms.Form):
    """For everyone who signs in with a password."""

    name = forms.CharField(label=_WHAT_NAME, max_length=120, widget=forms.TextInput(attrs={"autocomplete": "name"}))
    email = forms.EmailField(label=lazy("E-mail address"), widget=forms.EmailInput(attrs={"autocomplete": "email"}))
    password = forms.CharField(
        label=lazy("Password"),
        help_text=lazy("At least ten characters; a sentence is easy to remember. You can use a password manager."),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean_email(self) -> str:
        """Return an unused e-mail address.

        Raises:
            ValidationError: If the address is taken.
        """
        email = str(self.cleaned_data["email"]).lower()
        if Account.objects.filter(email=email).exists():
            message = lazy("This address has an account already. Sign in first, then open the invitation again.")
            raise forms.ValidationError(message)
        return email

    def clean(self) -> dict[str, Any]:
        """Return the submitted values if the password is strong enough for this person."""
        filled = super().clean() or {}
        if "password" in filled:
            person = Account(email=filled.get("email"), name=filled.get("name", ""))
            try:
                validate_password(filled["password"], person)
            except forms.ValidationError as error:
                self.add_error("password", error)
        return filled

    def made(self) -> Account:
        """Return a new account."""
        filled = self.cleaned_data
        return Account.objects.create_user(filled["email"], filled["password"], name=filled["name"])


class CodeForm(forms.Form):
    """For people with a printed code."""

    code = forms.CharField(
        label=lazy("Your code"),
        max_length=80,
        help_text=lazy("Three words and a number, as on your slip. Capital letters and hyphens do not matter."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )


class ClosedDoor(DefaultAccountAdapter):  # type: ignore[misc] # the library has no types
    """Disables registration by password; invitations create accounts."""

    def is_open_for_signup(self, _request: HttpRequest) -> bool:
        """Return False."""
        return False


class InvitedOnly(DefaultSocialAccountAdapter):  # type: ignore[misc] # the library has no types
    """Requires an open invitation for the first sign-in by an identity provider."""

    def is_open_for_signup(self, request: HttpRequest, _sociallogin: Any) -> bool:
        """Return whether the browser followed an invitation that is still open."""
        invitation = invitation_of(str(request.session.get(INVITED, "")))
        return invitation is not None and standing_of(invitation) is Standing.OPEN

    def populate_user(self, request: HttpRequest, sociallogin: Any, data: dict[str, Any]) -> Any:
        """Return the account with the identity provider's name for it."""
        account = super().populate_user(request, sociallogin, data)
        account.email = (account.email or "").lower() or None
        account.name = str(data.get("name") or " ".join(filter(None, [data.get("first_name"), data.get("last_name")])))
        return account


@dataclass(frozen=True, slots=True)
class StudyLink:
    """A study that an account can enter.

    Attributes:
        study: Displayed name of the study.
        role: Role there.
        address: Address of the start page.
    """

    study: str
    role: Role
    address: str

    @property
    def role_words(self) -> str:
        """Name of the role."""
        return role_words(self.role)


@signed_in
def home(request: HttpRequest) -> HttpResponse:
    """Show the studies of an account; redirect to the only one."""
    links = [
        StudyLink(str(membership.hosted), membership.as_role, role_home(membership))
        for membership in Membership.objects.select_related("hosted")
        .filter(account=account_of(request), left_at=None)
        .order_by("hosted__made_at", "id")
    ]
    if len(links) == 1 and not account_of(request).is_host:
        return redirect(links[0].address)
    return render(request, "web/accounts/home.html", {"links": links})


class DisplaySettingsForm(ModelForm):  # type: ignore[type-arg] # not generic when the program runs
    """The form of display settings.

    Languages are those of the pages; on pages of a study, also those of its texts.
    """

    language = ChoiceField(label=lazy("Language"), required=False)

    def __init__(self, *args: Any, languages: Sequence[str] = (), **more: Any) -> None:
        """Offer some languages besides those of the pages."""
        super().__init__(*args, **more)
        codes = dict.fromkeys([*page_languages(), *languages, *filter(None, [self.instance.language])])
        offered = [(code, language_name(code)) for code in codes]
        cast("ChoiceField", self.fields["language"]).choices = [("", lazy("as set in the browser")), *offered]

    class Meta:
        """Fields, in the order of the page."""

        model = DisplaySettings
        fields = ("language", "keys", "advances", "enter_sends", "streams", "text_size", "colours")
        widgets = {"text_size": RadioSelect, "colours": RadioSelect}  # noqa: RUF012 - read once by Django
        labels = {  # noqa: RUF012
            "keys": lazy("Enable single-letter shortcuts"),
            "advances": lazy("Annotation: a single choice leads to the next question"),
            "enter_sends": lazy("Enter sends a message (otherwise Shift+Enter)"),
            "streams": lazy("Replies appear word by word (otherwise when complete)"),
            "text_size": lazy("Text size"),
            "colours": lazy("Colours"),
        }


@signed_in
def display_settings(request: HttpRequest) -> HttpResponse:
    """Show or store a person's settings, then return to the previous page."""
    back = back_of(request)
    account = account_of(request)
    form = DisplaySettingsForm(
        request.POST or None, instance=display_settings_of(account), languages=_study_languages(account)
    )
    if request.method == "POST" and form.is_valid():
        form.save()
        choose(request, form.cleaned_data["language"])
        return redirect(back)
    status = 422 if form.errors else 200
    return render(request, "web/accounts/display_settings.html", {"form": form, "back": back}, status=status)


def _study_languages(account: Account) -> list[str]:
    """Return the languages of a person's studies, ignoring studies whose files have errors."""
    languages: list[str] = []
    for membership in Membership.objects.select_related("hosted").filter(account=account, left_at=None):
        with suppress(Http404, TheodoliteError):
            languages += languages_of(event_of(membership.hosted).study)
    return languages


def back_of(request: HttpRequest) -> str:
    """Return the local page that `next` names, or the first page."""
    address = request.POST.get("next") or request.GET.get("next") or ""
    ours = url_has_allowed_host_and_scheme(address, allowed_hosts=None, require_https=request.is_secure())
    return address if ours else reverse("home")


def display_settings_of(account: Account) -> DisplaySettings:
    """Return a person's settings, or the defaults."""
    return DisplaySettings.objects.filter(account=account).first() or DisplaySettings(account=account)


def display_settings_context(request: HttpRequest) -> dict[str, object]:
    """Add `display_settings` to every template; the query runs when a template uses it."""
    account = getattr(request, "user", None)
    return {
        "display_settings": SimpleLazyObject(
            lambda: display_settings_of(account) if isinstance(account, Account) else DisplaySettings()
        )
    }


@signed_in
def second_factor(request: HttpRequest) -> HttpResponse:
    """Explain the setup of a second factor; redirect accounts that have one."""
    onward = back_of(request)
    if is_mfa_enabled(account_of(request)):
        return redirect(onward)
    has_password = account_of(request).has_usable_password()
    return render(request, "web/accounts/second_factor.html", {"onward": onward, "has_password": has_password})


_LOCK = ":lock"


def hidden_key(key: str, _prefix: str, version: int) -> str:
    """Return the keyed hash under which attempts are counted."""
    return salted_hmac("theodolite.guess", f"{version}:{key}", algorithm="sha256").hexdigest()


class GuessCounts(DatabaseCache):
    """The cache in which failed attempts are counted.

    A lock orders the attempts of one process. With two processes on one database, each may admit one attempt too many.
    """

    def __init__(self, table: str, parameters: dict[str, Any]) -> None:
        """Open the table; all instances in the process share the locks."""
        super().__init__(table, parameters)
        self._locks = LocMemCache("locks of guess counts", {})

    def add(self, key: str, value: Any, *args: Any, **options: Any) -> bool:
        """Add a value if the key is new; return whether it was added."""
        if key.endswith(_LOCK):
            return self._locks.add(key, value, *args, **options)
        return super().add(key, value, *args, **options)

    def delete(self, key: str, version: int | None = None) -> bool:
        """Delete a value; return whether there was one."""
        return self._locks.delete(key) if key.endswith(_LOCK) else super().delete(key, version)

    def set(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        """Set a value and delete all expired ones; keep attempts that another process has added meanwhile."""
        with transaction.atomic():
            row = GuessCount.objects.select_for_update().filter(pk=self.make_key(key, version)).first()
            stored = None if row is None else self.get(key, version=version)
            super().set(key, _with_others(value, stored, timeout), timeout, version)
        GuessCount.objects.filter(expires__lt=timezone.now()).delete()


def _with_others(history: Any, stored: Any, span_s: Any) -> Any:
    """Return the times of attempts, newest first, including those that another process has added.

    Args:
        history: Times to store; one has been added or removed.
        stored: Times already stored.
        span_s: Time for which an attempt counts; seconds.
    """
    if not isinstance(history, list) or not isinstance(stored, list) or {*history} <= {*stored}:
        return history
    since = max(history) - span_s
    return sorted({*history, *(moment for moment in stored if moment > since)}, reverse=True)
