"""Keys of a study file that a team may set for its application on the submission page (ADR-0084)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings

from theodolite.config.http_bodies import texts_in
from theodolite.config.specs.applications import AriaSpec, HttpSpec
from theodolite.config.validation import misfits
from theodolite.domain.application import Isolation, Markup
from theodolite.domain.errors import TemplateError
from theodolite.testing.templates import variables_of

MOST_TIMEOUT_S = 60.0
"""Longest time for a reply that an event accepts, as the criteria state; seconds."""

OPTIONS = ("timeout", "init", "isolation", "sessions", "markup", "memory_mb", "cpu_seconds", "env", "python")
"""Keys that a team may set; `timeout` for endpoints too, the others for classes."""

_DEFAULTS = {"isolation": Isolation.APPLICATION.value, "markup": Markup.TEXT.value}
_LABELS = {
    "timeout": "Time limit for a reply, in seconds",
    "init": "Constructor arguments",
    "isolation": "Processes",
    "sessions": "Sessions at one time",
    "markup": "Format of the replies",
    "memory_mb": "Memory limit of a process, in MB",
    "cpu_seconds": "CPU time limit of a process, in seconds",
    "env": "Environment variables",
    "python": "Interpreter",
}
_HELP = {
    "timeout": f"At most {MOST_TIMEOUT_S:g}; {MOST_TIMEOUT_S:g} if empty.",
    "init": 'For a class: a JSON object, e.g. {"token": "{{ auth.token }}", "model": "small"}. '
    "{{ auth.token }} is the value of `token` in the credentials.",
    "isolation": "For a class that returns the same instance for all sessions: one process per session.",
    "sessions": "For a class: how many sessions may be open at one time. Any number if empty.",
    "markup": "For a class: HTML is converted to text.",
    "memory_mb": "For a class, on Linux and macOS. No limit if empty.",
    "cpu_seconds": "For a class, on Linux and macOS. No limit if empty.",
    "env": "For a class: names, separated by commas. The operator allows: ",
    "python": "For a class that needs libraries of its own: an interpreter or environment that the operator installed.",
}
_NONE_ALLOWED = {
    "env": "The operator of this server allows no environment variables (THEODOLITE_APPLICATION_ENV).",
    "python": "The operator of this server offers no other interpreters (THEODOLITE_APPLICATION_PYTHONS). "
    "Send the operator your requirements.txt: libraries are never installed from this page.",
}


def option_fields() -> dict[str, forms.Field]:
    """Return a field for each key; those that the operator allows nothing for are disabled and say so."""
    fields: dict[str, forms.Field] = {
        key: forms.CharField(label=_LABELS[key], required=False, help_text=_HELP[key]) for key in OPTIONS
    }
    fields["init"].widget = forms.Textarea(attrs={"rows": 2})
    fields["env"].help_text += ", ".join(settings.APPLICATION_ENV)
    one_each = [(Isolation.APPLICATION.value, "one for all sessions"), (Isolation.SESSION.value, "one per session")]
    formats = [(Markup.TEXT.value, "text or Markdown"), (Markup.HTML.value, "HTML")]
    pythons = [("", "that of the server"), *((path, path) for path in settings.APPLICATION_PYTHONS)]
    for key, choices in (("isolation", one_each), ("markup", formats), ("python", pythons)):
        fields[key] = forms.ChoiceField(label=_LABELS[key], choices=choices, required=False, help_text=_HELP[key])
    for key, allowed in (("env", settings.APPLICATION_ENV), ("python", settings.APPLICATION_PYTHONS)):
        if not allowed:
            fields[key].disabled, fields[key].help_text = True, _NONE_ALLOWED[key]
    return fields


def initial_options(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the saved options as the fields show them."""
    shown = {key: str(value) for key, value in options.items()}
    if "init" in options:
        shown["init"] = json.dumps(options["init"], ensure_ascii=False)
    if "env" in options:
        shown["env"] = ", ".join(options["env"])
    return shown


def options_of(filled: Mapping[str, Any], *, is_class: bool) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the options as a study file has them, and what is wrong, by field.

    Args:
        filled: What the team entered, by field.
        is_class: Whether the application is an installed class; else it is an endpoint.
    """
    entered = {key: str(filled.get(key) or "").strip() for key in OPTIONS}
    content: dict[str, Any] = {key: text for key, text in entered.items() if text and text != _DEFAULTS.get(key)}
    if not is_class:
        foreign = dict.fromkeys(content.keys() - {"timeout"}, "An endpoint has no such setting; leave it empty.")
        found, faults = _checked(HttpSpec, {"kind": "http", "url": "https://x", **_only(content, "timeout")})
        return _only(found, *content), {**faults, **foreign}
    early: dict[str, str] = {}
    if "env" in content:
        content["env"] = content["env"].replace(",", " ").split()
    if "init" in content:
        content["init"], early = _init_from(content["init"])
    found, faults = _checked(AriaSpec, {"kind": "aria", "class": filled.get("target") or "x:X", **content})
    return _only(found, *content), {**faults, **early}


def _only(content: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: content[key] for key in keys if key in content}


def _checked(spec: type[AriaSpec | HttpSpec], content: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values as the study file's own model reads them, and the faults by key."""
    faults = {f"{key}": f"{words}." for key, words in misfits(spec, content).items()}
    fitting = {key: value for key, value in content.items() if key not in faults}
    found = spec.model_validate(fitting).model_dump(mode="json", by_alias=True)
    if found["timeout"] > MOST_TIMEOUT_S:
        message = f"`timeout` is {found['timeout']:g}; expected at most {MOST_TIMEOUT_S:g}, as the criteria state."
        faults["timeout"] = message
    refused = [name for name in found.get("env", []) if name not in settings.APPLICATION_ENV]
    if refused:
        allowed = ", ".join(settings.APPLICATION_ENV) or "none"
        faults["env"] = f"The operator does not allow `{refused[0]}`; allowed: {allowed}."
    return found, faults


def _init_from(text: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return constructor arguments out of JSON, and what is wrong with them."""
    try:
        arguments = json.loads(text)
    except ValueError as error:
        return {}, {"init": f"This is no JSON: {error}."}
    if not isinstance(arguments, dict):
        return {}, {"init": 'Expected a JSON object of arguments by name, e.g. {"model": "small"}.'}
    try:
        unknown = [name for _, part in texts_in(arguments, ()) for name in variables_of(part) if name != "auth"]
    except TemplateError as error:
        return {}, {"init": str(error)}
    if unknown:
        return {}, {"init": f"Nothing fills {{{{ {unknown[0]} }}}}; arguments may contain {{{{ auth.NAME }}}} alone."}
    return arguments, {}


def names_credentials(options: Mapping[str, Any]) -> bool:
    """Tell whether constructor arguments contain credentials."""
    return any(variables_of(part) for _, part in texts_in(options.get("init", {}), ()))
