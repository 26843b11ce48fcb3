"""The page on which people say how they like to have the pages."""

from __future__ import annotations

from django.forms import ModelForm, RadioSelect
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.http import url_has_allowed_host_and_scheme

from theodolite.web.access import account_of, signed_in
from theodolite.web.models import Account, Comfort


class ComfortForm(ModelForm):  # type: ignore[type-arg] # not generic when the program runs
    """What can be chosen."""

    class Meta:
        """Fields, in the order of the page."""

        model = Comfort
        fields = ("keys", "enter_sends", "streams", "text_size", "colours")
        widgets = {"text_size": RadioSelect, "colours": RadioSelect}  # noqa: RUF012 - read once by Django
        labels = {  # noqa: RUF012
            "keys": "Single letters act as keys",
            "enter_sends": "Enter sends a message (else Shift+Enter does)",
            "streams": "Replies appear piece by piece (else when they are whole)",
            "text_size": "Size of text",
            "colours": "Colours",
        }


@signed_in
def page(request: HttpRequest) -> HttpResponse:
    """Show or keep what a person has chosen, then go back to where the person was."""
    back = back_of(request)
    form = ComfortForm(request.POST or None, instance=comfort_of(account_of(request)))
    if request.method == "POST" and form.is_valid():
        form.save()
        return redirect(back)
    status = 422 if form.errors else 200
    return render(request, "web/accounts/comfort.html", {"form": form, "back": back}, status=status)


def back_of(request: HttpRequest) -> str:
    """Return the page of ours that `next` names, or the first one."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    ours = url_has_allowed_host_and_scheme(wanted, allowed_hosts=None, require_https=request.is_secure())
    return wanted if ours else reverse("home")


def comfort_of(account: Account) -> Comfort:
    """Return what a person has chosen, or what holds for those who chose nothing."""
    return Comfort.objects.filter(account=account).first() or Comfort(account=account)


def comfort(request: HttpRequest) -> dict[str, object]:
    """Give every template `comfort`; nothing is asked of the database before a template looks at it."""
    account = getattr(request, "user", None)
    return {"comfort": SimpleLazyObject(lambda: comfort_of(account) if isinstance(account, Account) else Comfort())}
