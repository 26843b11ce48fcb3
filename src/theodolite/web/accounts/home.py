"""The pages of an account: studies, display settings and second factor."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from allauth.mfa.utils import is_mfa_enabled
from django.forms import ChoiceField, ModelForm, RadioSelect
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _

from theodolite.domain.errors import TheodoliteError
from theodolite.domain.event import Role
from theodolite.domain.wording import languages_of
from theodolite.web.access import account_of, role_home, role_words, signed_in
from theodolite.web.events import event_of
from theodolite.web.languages import choose, language_name, page_languages
from theodolite.web.models import Account, Comfort, Membership


@dataclass(frozen=True, slots=True)
class StudyLink:
    """A way into a study.

    Attributes:
        study: What people are told that the study is called.
        role: What one is there.
        address: Where it begins.
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


class ComfortForm(ModelForm):  # type: ignore[type-arg] # not generic when the program runs
    """The form of display settings.

    Languages are those of the pages and, on the way from a study, of what it can be read in.
    """

    language = ChoiceField(label=_("Language"), required=False)

    def __init__(self, *args: Any, languages: Sequence[str] = (), **more: Any) -> None:
        """Offer some languages beside those of the pages."""
        super().__init__(*args, **more)
        codes = dict.fromkeys([*page_languages(), *languages, *filter(None, [self.instance.language])])
        offered = [(code, language_name(code)) for code in codes]
        cast("ChoiceField", self.fields["language"]).choices = [("", _("as set in the browser")), *offered]

    class Meta:
        """Fields, in the order of the page."""

        model = Comfort
        fields = ("language", "keys", "enter_sends", "streams", "text_size", "colours")
        widgets = {"text_size": RadioSelect, "colours": RadioSelect}  # noqa: RUF012 - read once by Django
        labels = {  # noqa: RUF012
            "keys": _("Enable single-letter shortcuts"),
            "enter_sends": _("Enter sends a message (otherwise Shift+Enter)"),
            "streams": _("Replies appear word by word (otherwise when complete)"),
            "text_size": _("Text size"),
            "colours": _("Colours"),
        }


@signed_in
def display_settings(request: HttpRequest) -> HttpResponse:
    """Show or keep what a person has chosen, then go back to where the person was."""
    back = back_of(request)
    account = account_of(request)
    form = ComfortForm(request.POST or None, instance=comfort_of(account), languages=_study_languages(account))
    if request.method == "POST" and form.is_valid():
        form.save()
        choose(request, form.cleaned_data["language"])
        return redirect(back)
    status = 422 if form.errors else 200
    return render(request, "web/accounts/comfort.html", {"form": form, "back": back}, status=status)


def _study_languages(account: Account) -> list[str]:
    """Return the languages of the studies that somebody belongs to; none of those whose files hold faults."""
    languages: list[str] = []
    for membership in Membership.objects.select_related("hosted").filter(account=account, left_at=None):
        with suppress(Http404, TheodoliteError):
            languages += languages_of(event_of(membership.hosted).study)
    return languages


def back_of(request: HttpRequest) -> str:
    """Return the page of ours that `next` names, or the first one."""
    address = request.POST.get("next") or request.GET.get("next") or ""
    ours = url_has_allowed_host_and_scheme(address, allowed_hosts=None, require_https=request.is_secure())
    return address if ours else reverse("home")


def comfort_of(account: Account) -> Comfort:
    """Return what a person has chosen, or what holds for those who chose nothing."""
    return Comfort.objects.filter(account=account).first() or Comfort(account=account)


def comfort(request: HttpRequest) -> dict[str, object]:
    """Add `comfort` to every template; the query runs when a template uses it."""
    account = getattr(request, "user", None)
    return {"comfort": SimpleLazyObject(lambda: comfort_of(account) if isinstance(account, Account) else Comfort())}


@signed_in
def second_factor(request: HttpRequest) -> HttpResponse:
    """Explain the setup of a second factor; redirect accounts that have one."""
    onward = back_of(request)
    if is_mfa_enabled(account_of(request)):
        return redirect(onward)
    has_password = account_of(request).has_usable_password()
    return render(request, "web/accounts/second_factor.html", {"onward": onward, "has_password": has_password})
