"""The form of an application."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.conf import settings

from theodolite.bootstrap.conformance import connection_fault
from theodolite.bootstrap.credentials import key_variable
from theodolite.domain.application import AriaClass, Connection, GuardrailSite, HttpEndpoint
from theodolite.domain.errors import InputError, TemplateError
from theodolite.domain.network import holds_secret
from theodolite.testing.templates import variables_of
from theodolite.web.credentials import can_seal, opened, seal
from theodolite.web.models import Submission
from theodolite.web.teams.connecting import (
    OPTIONS,
    application_of,
    initial_options,
    names_credentials,
    option_fields,
    options_of,
)

BODY = '{"prompt": "{{ prompt }}", "session": "{{ session }}"}'
"""Request body to an endpoint unless its team says otherwise."""

_HELP = {
    "name": "Lower-case letters, digits and hyphens. Testers and annotators never see it.",
    "url": "The endpoint for prompts, with https://. Addresses of private networks are rejected.",
    "body": "JSON; {{ prompt }}, {{ session }}, {{ turn }} and {{ history }} are filled in.",
    "reply": "Path to the reply text: $.text, $.choices[0].message.content, or text for the whole response.",
    "target": "Reviewed and installed by the operator; there is no upload.",
    "prompt": "For a class: {{ prompt }}, {{ context }} (source material and search results) and {{ turn }} "
    "are filled in. Leave it empty to send the prompt only; the class then gets no source material.",
    "system": "Models and their versions, retrieval, tools, where it runs.",
    "capabilities": "One claim per line.",
    "limitations": "One limitation per line. Limitations are tested too.",
    "guardrail_notes": "The withheld content, and the method.",
}

_LONG = ("description", "body", "prompt", "system", "capabilities", "limitations", "guardrail_notes")


class SubmissionForm(forms.ModelForm):  # type: ignore[type-arg] # not generic when the program runs
    """One application; the credentials can be written and never be read."""

    credentials = forms.CharField(
        label="Credentials",
        required=False,
        help_text="A bearer token for an endpoint, a JSON object for a class. "
        "Stored encrypted and never shown. Leave it empty to keep the stored ones.",
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}, render_value=False),
    )

    field_order = ("name", "description", "way", "url", "body", "reply", "target", "credentials", "prompt", *OPTIONS)

    class Meta:
        """Fields; credentials stand where it is said how the application is reached."""

        model = Submission
        fields = (
            "name", "description", "way", "url", "body", "reply", "target", "prompt", "system", "capabilities",
            "limitations", "guardrails", "guardrail_notes",
        )  # fmt: skip
        help_texts = _HELP
        labels = {  # noqa: RUF012 - read once by Django
            "name": "Name of the application",
            "description": "Description in one sentence",
            "way": "Connection",
            "url": "Address of the endpoint",
            "body": "Request body",
            "reply": "Path to the reply text",
            "target": "Installed class",
            "prompt": "Prompt for the class",
            "system": "System description",
            "capabilities": "Claimed capabilities",
            "limitations": "Claimed limitations",
            "guardrails": "Location of the guardrails",
            "guardrail_notes": "Description of the guardrails",
        }
        widgets = {"way": forms.RadioSelect} | {name: forms.Textarea(attrs={"rows": 3}) for name in _LONG}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Offer what this server has: installed classes, and a place for credentials if there is a key."""
        super().__init__(*args, **kwargs)
        sites = [(site.value, site.value) for site in GuardrailSite]
        self.fields["guardrails"] = forms.ChoiceField(label="Location of the guardrails", choices=sites)
        installed = [(name, name) for name in installed_classes()]
        self.fields["target"] = forms.ChoiceField(
            label="Installed class", choices=[("", "none"), *installed], required=False, help_text=_HELP["target"]
        )
        self.fields.update(option_fields())
        self.initial.update(initial_options(self.instance.options))
        self.order_fields(self.field_order)
        if not can_seal():
            self.fields["credentials"].disabled = True
            self.fields["credentials"].help_text = "This server has no key to encrypt credentials; ask its operator."
        if not self.instance.pk:
            self.initial["body"] = BODY

    def clean_name(self) -> str:
        """Return a name that no other application of the event has.

        Raises:
            ValidationError: If one has it.
        """
        name = str(self.cleaned_data["name"]).lower()
        same = Submission.objects.filter(hosted=self.instance.hosted, name=name).exclude(pk=self.instance.pk)
        if same.exclude(state__in=[Submission.State.WITHDRAWN, Submission.State.DECLINED]).exists():
            message = "This name is taken; choose another one."
            raise forms.ValidationError(message)
        return name

    def clean_body(self) -> str:
        """Return JSON.

        Raises:
            ValidationError: If it is none.
        """
        body = str(self.cleaned_data["body"]).strip()
        try:
            json.loads(body or "{}")
        except ValueError as error:
            message = f"This is not valid JSON: {error}."
            raise forms.ValidationError(message) from error
        return body

    def clean_prompt(self) -> str:
        """Return the prompt template for a class.

        Raises:
            ValidationError: If it is no template, or the prompt itself does not stand in it.
        """
        prompt = str(self.cleaned_data["prompt"]).strip()
        try:
            names = variables_of(prompt)
        except TemplateError as error:
            raise forms.ValidationError(str(error)) from error
        if prompt and "prompt" not in names:
            message = "It must contain {{ prompt }}, or the application gets no messages."
            raise forms.ValidationError(message)
        return prompt

    def clean(self) -> dict[str, Any]:
        """Return what was filled in, once an application can be made of it."""
        filled = super().clean() or {}
        if filled.get("way") == Submission.Way.ENDPOINT:
            self._look_at_url(str(filled.get("url", "")))
        elif not filled.get("target"):
            self.add_error("target", "Choose a class, or name an endpoint.")
        self._look_at_options(filled)
        return filled

    def _look_at_options(self, filled: dict[str, Any]) -> None:
        """Read the options as a study file would, and hold them against the credentials."""
        is_class = filled.get("way") == Submission.Way.INSTALLED
        options, errors = options_of(filled, is_class=is_class)
        credentials = filled.get("credentials")
        if is_class and credentials and not _is_json_object(credentials):
            errors["credentials"] = 'A class receives a JSON object, e.g. {"token": "..."}; got something else.'
        elif names_credentials(options) and not (credentials or self.instance.sealed):
            errors.setdefault("init", 'It contains {{ auth }}: enter the credentials too, e.g. {"token": "..."}.')
        for field, text in errors.items():
            self.add_error(field if field in self.fields else "target", text)
        self.instance.options = options

    def _look_at_url(self, url: str) -> None:
        parts = urlsplit(url)
        safe = parts.scheme == "https" or (parts.scheme == "http" and settings.ALLOW_PRIVATE)
        if not safe or not parts.hostname or parts.username or parts.password or "{" in parts.netloc:
            self.add_error("url", "An address begins with https:// and a fixed host, without user and password.")
        elif holds_secret(url):
            self.add_error("url", "The address contains a key. Remove it, and enter it under Credentials.")

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc] # the stubs leave it out
        if not self.errors:
            error = self._fault()
            if error:
                whole = "url" if self.instance.way == Submission.Way.ENDPOINT else "target"
                self.add_error(next((key for key in OPTIONS if error.startswith(f"`{key}`")), whole), error)

    def _fault(self) -> str:
        folder, typed = Path(self.instance.hosted.folder or "."), self.cleaned_data["credentials"]
        try:
            credentials = typed or (opened(self.instance.sealed) if self.instance.sealed else "")
            application = application_of(self.instance)
            if not credentials:
                return connection_fault(application, folder=folder, environ={})
            variable = key_variable(self.instance.token)
            reached: Connection = application.connection
            if isinstance(reached, HttpEndpoint):
                reached = replace(reached, key=variable)
            elif isinstance(reached, AriaClass):
                reached = replace(reached, auth=variable)
            candidate = replace(application, connection=reached)
            return connection_fault(candidate, folder=folder, environ={variable: credentials})
        except InputError as error:
            return str(error)

    def save(self, commit: bool = True) -> Submission:  # noqa: FBT001, FBT002 - Django's signature
        """Save the submission; earlier checks, also one in progress, no longer count."""
        self.instance.examined, self.instance.examined_at, self.instance.examining_since = None, None, None
        if self.cleaned_data["credentials"]:
            self.instance.sealed = seal(self.cleaned_data["credentials"])
        saved: Submission = super().save(commit)
        return saved


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


class AgreementForm(forms.Form):
    """The signature under the terms."""

    name = forms.CharField(label="Your full name, as signature", max_length=120)
    agrees = forms.BooleanField(label="I am authorised to sign for the team, and we agree to the terms above")


def installed_classes() -> tuple[str, ...]:
    """Return the classes that the operator has installed for teams, as `module:Class`."""
    return tuple(settings.APPLICATION_CLASSES)
