"""Connections to submitted applications: their options, the gateway, and the conformance check."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any

from asgiref.sync import sync_to_async
from django import forms
from django.conf import settings
from django.utils import timezone
from ruamel.yaml import YAML

from theodolite.bootstrap.connections import examine_alone
from theodolite.config.applications import AriaSpec, interpreter_at, runtime_with
from theodolite.config.connections import HttpSpec, texts_in
from theodolite.config.validation import misfits
from theodolite.domain.application import (
    Application,
    AriaClass,
    Claim,
    ClaimKind,
    GuardrailSite,
    HttpEndpoint,
    Isolation,
    Markup,
)
from theodolite.domain.errors import InputError, TemplateError
from theodolite.testing.templates import variables_of
from theodolite.usecases.conformance import Examination
from theodolite.web.asgi_handler import Background
from theodolite.web.events import opened
from theodolite.web.models import Submission


def application_of(submission: Submission) -> Application:
    """Return the application that a submission describes.

    Raises:
        InputError: If it cannot be reached in the way that it says.
    """
    return Application(
        name=submission.name,
        connection=_endpoint(submission) if submission.way == Submission.Way.ENDPOINT else _class(submission),
        description=submission.description,
        claims=claims_of(submission),
        guardrails=GuardrailSite(submission.guardrails),
    )


def claims_of(submission: Submission) -> tuple[Claim, ...]:
    """Return the claims of a team, one per line."""
    texts = ((ClaimKind.CAPABILITY, submission.capabilities), (ClaimKind.LIMITATION, submission.limitations))
    lines = [(kind, line.strip()) for kind, text in texts for line in text.splitlines() if line.strip()]
    return tuple(
        Claim(
            text=line,
            kind=kind,
            scripts=(script_name(submission, number),) if _test_of(submission, line)["prompts"] else (),
            untestable=_test_of(submission, line)["untestable"],
        )
        for number, (kind, line) in enumerate(lines, start=1)
    )


def script_name(submission: Submission, number: int) -> str:
    """Return the name of the script that tests a claim, by the claim's number from 1."""
    return f"{submission.name}-claim-{number}"


def _test_of(submission: Submission, claim: str) -> dict[str, Any]:
    """Return the prompts that test a claim, and why none can; both are empty until organisers decide."""
    return {"prompts": [], "untestable": "", **submission.claim_tests.get(claim, {})}


def script_lines(submission: Submission) -> str:
    """Return the scripts that test a submission's claims as a study file says them, below `scripts:` of a scenario."""
    scripts = {
        claim.scripts[0]: _test_of(submission, claim.text)["prompts"]
        for claim in claims_of(submission)
        if claim.scripts
    }
    return _yaml(scripts) if scripts else ""


def study_lines(submission: Submission) -> str:
    """Return what a study file says of an accepted application, below `applications:`."""
    return _yaml({submission.name: study_entry(submission)})


def _yaml(content: dict[str, Any]) -> str:
    stream = StringIO()
    writer = YAML()
    writer.width = 110
    writer.dump(content, stream)
    return stream.getvalue()


def study_entry(submission: Submission) -> dict[str, Any]:
    """Return the keys and values of an application in a study file; empty ones are left out."""
    texts: dict[str, Any] = {"description": submission.description, "guardrails": submission.guardrails}
    if submission.way == Submission.Way.ENDPOINT:
        texts |= {"kind": "http", "url": submission.url, "body": json.loads(submission.body or "{}")}
        texts |= {"reply": submission.reply, "key": submission.key_variable, "public_only": _public_only()}
    else:
        texts |= {"kind": "aria", "class": submission.target, "auth": submission.key_variable}
        texts |= {"prompt": submission.prompt}
    texts["claims"] = [_claim_entry(claim) for claim in claims_of(submission)]
    return {key: value for key, value in (texts | submission.options).items() if value}


def _claim_entry(claim: Claim) -> dict[str, Any]:
    entry: dict[str, Any] = {"text": claim.text, "kind": claim.kind.value}
    if claim.scripts:
        entry["scripts"] = list(claim.scripts)
    if claim.untestable:
        entry["untestable"] = claim.untestable
    return entry


def _endpoint(submission: Submission) -> HttpEndpoint:
    return HttpEndpoint(
        url=submission.url,
        body=submission.body or "{}",
        reply=submission.reply or "$.text",
        key=submission.key_variable,
        public_only=_public_only(),
        timeout_s=float(submission.options.get("timeout", MOST_TIMEOUT_S)),
    )


def _class(submission: Submission) -> AriaClass:
    spec = AriaSpec.model_validate({"kind": "aria", "class": submission.target, **submission.options})
    python = interpreter_at(spec.python, Path(submission.hosted.folder or ".")) if spec.python else None
    if spec.python and python is None:
        message = f"there is no interpreter `{spec.python}` on this server; ask its operator"
        raise InputError(message)
    return AriaClass(
        target=submission.target,
        auth=submission.key_variable,
        prompt=submission.prompt,
        init=json.dumps(spec.init, ensure_ascii=False),
        markup=spec.markup,
        timeout_s=spec.timeout,
        runtime=runtime_with(spec, python=os.path.abspath(python) if python else ""),  # noqa: PTH100 - links stay
    )


def _public_only() -> bool:
    return not settings.ALLOW_PRIVATE


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
        values, errors = _validated(HttpSpec, {"kind": "http", "url": "https://x", **_only(content, "timeout")})
        return _only(values, *content), {**errors, **foreign}
    early: dict[str, str] = {}
    if "env" in content:
        content["env"] = content["env"].replace(",", " ").split()
    if "init" in content:
        content["init"], early = _init_from(content["init"])
    values, errors = _validated(AriaSpec, {"kind": "aria", "class": filled.get("target") or "x:X", **content})
    return _only(values, *content), {**errors, **early}


def _only(content: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: content[key] for key in keys if key in content}


def _validated(spec: type[AriaSpec | HttpSpec], content: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values as the study file's own model reads them, and the faults by key."""
    errors = {f"{key}": f"{text}." for key, text in misfits(spec, content).items()}
    fitting = {key: value for key, value in content.items() if key not in errors}
    values = spec.model_validate(fitting).model_dump(mode="json", by_alias=True)
    if values["timeout"] > MOST_TIMEOUT_S:
        message = f"`timeout` is {values['timeout']:g}; expected at most {MOST_TIMEOUT_S:g}, as the criteria state."
        errors["timeout"] = message
    refused = [name for name in values.get("env", []) if name not in settings.APPLICATION_ENV]
    if refused:
        allowed = ", ".join(settings.APPLICATION_ENV) or "none"
        errors["env"] = f"The operator does not allow `{refused[0]}`; allowed: {allowed}."
    return values, errors


def _init_from(text: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return constructor arguments out of JSON, and what is wrong with them."""
    try:
        arguments = json.loads(text)
    except ValueError as error:
        return {}, {"init": f"This is not valid JSON: {error}."}
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


_background = Background()


@asynccontextmanager
async def conformance_bench() -> AsyncIterator[None]:
    """Run checks in the background while the server runs; checks cut off by its end are cleared."""
    await sync_to_async(_strike_unfinished)()
    async with _background.open():
        yield


async def check(submission: Submission) -> None:
    """Start the check of an application unless one is in progress; without a running server, wait for it."""
    since = await sync_to_async(_begin)(submission)
    if since is not None:
        await _background.do(_run_check(submission, since))


async def _run_check(submission: Submission, since: datetime) -> None:
    try:
        application, environ = await sync_to_async(prepared)(submission)
        examination = await examine_alone(application, folder=Path(submission.hosted.folder or "."), environ=environ)
    except InputError as error:
        examination = Examination(name=submission.name)
        examination.note(str(error))
    except Exception as error:  # noqa: BLE001 - a foreign class may raise whatever it likes, and no check may stay open
        examination = Examination(name=submission.name, unexamined=f"the check stopped ({type(error).__name__})")
    await sync_to_async(_keep)(submission, since, examination)


def prepared(submission: Submission) -> tuple[Application, dict[str, str]]:
    """Return a submitted application and the variable that holds its credentials, for the calls that need them.

    Raises:
        InputError: If the credentials were sealed under another key than the operator's.
    """
    environ = {submission.key_variable: opened(submission.sealed)} if submission.sealed else {}
    return application_of(submission), environ


def _begin(submission: Submission) -> datetime | None:
    now, fresh = timezone.now(), Submission.objects.filter(pk=submission.pk, examining_since=None)
    return now if fresh.update(examining_since=now) else None


def _keep(submission: Submission, since: datetime, examination: Examination) -> None:
    """Write down what was found, unless the submission has been changed since the check began."""
    Submission.objects.filter(pk=submission.pk, examining_since=since).update(
        examined=as_json(examination), examined_at=timezone.now(), examining_since=None
    )


def _strike_unfinished() -> None:
    Submission.objects.exclude(examining_since=None).update(examining_since=None)


def as_json(examination: Examination) -> dict[str, Any]:
    """Return what a check found, as it is kept."""
    return {
        "calls": examination.calls,
        "slowest_s": round(examination.slowest_s, 3),
        "version": examination.version,
        "unexamined": examination.unexamined,
        "remarks": [{"severity": remark.severity.value, "message": remark.message} for remark in examination.remarks],
    }
