"""What people fill in to come in."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.password_validation import validate_password
from django.utils.translation import gettext_lazy as _

from theodolite.web.models import Account

_WHAT_NAME = _("How shall we call you?")


class NameForm(forms.Form):
    """For testers: a name is all, and even that may be left out."""

    name = forms.CharField(
        label=_WHAT_NAME,
        max_length=120,
        required=False,
        help_text=_("A first name or a made-up one will do; you may leave it empty."),
        widget=forms.TextInput(attrs={"autocomplete": "nickname"}),
    )

    def made(self) -> Account:
        """Return a new account without address or password."""
        return Account.objects.create_user(name=self.cleaned_data["name"])


class AccountForm(forms.Form):
    """For everybody who comes back by password."""

    name = forms.CharField(label=_WHAT_NAME, max_length=120, widget=forms.TextInput(attrs={"autocomplete": "name"}))
    email = forms.EmailField(label=_("E-mail address"), widget=forms.EmailInput(attrs={"autocomplete": "email"}))
    password = forms.CharField(
        label=_("Password"),
        help_text=_("Ten characters at least; a sentence is easy to keep in mind. Password managers are welcome."),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean_email(self) -> str:
        """Return an address that nobody has yet.

        Raises:
            ValidationError: If somebody has it.
        """
        email = str(self.cleaned_data["email"]).lower()
        if Account.objects.filter(email=email).exists():
            message = _("This address has an account already. Sign in first, then open the invitation again.")
            raise forms.ValidationError(message)
        return email

    def clean(self) -> dict[str, Any]:
        """Return what was filled in, once the password is good enough for this person."""
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
    """For people with a printed slip."""

    code = forms.CharField(
        label=_("Your code"),
        max_length=80,
        help_text=_("Three words and a number, as on your slip. Capitals and hyphens do not matter."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )
