"""Admission of submitted applications: connections, conformance checks, and the decisions of organisers."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from io import StringIO
from pathlib import Path
from time import monotonic
from typing import Any

from asgiref.sync import sync_to_async
from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST
from ruamel.yaml import YAML

from theodolite.bootstrap.connections import answer_alone, examine_alone
from theodolite.config.applications import AriaSpec, interpreter_at, runtime_with
from theodolite.config.connections import HttpSpec, texts_in
from theodolite.config.study_forms import with_application
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
from theodolite.domain.errors import Conflict, ContentRefused, InputError, TemplateError, TheodoliteError
from theodolite.domain.event import Role
from theodolite.domain.flow import FILTERED_TEXT, Exchange, SayToApplication
from theodolite.domain.study import Study
from theodolite.testing.templates import variables_of
from theodolite.usecases.conformance import Examination
from theodolite.web.access import AccessContext, allowed
from theodolite.web.asgi_handler import Background, fill, once, run_in_pool
from theodolite.web.events import event_of, opened
from theodolite.web.middleware import PLAIN
from theodolite.web.models import Submission
from theodolite.web.organiser.editing import files_of
from theodolite.web.rendering import safe_html


def application_of(submission: Submission) -> Application:
    """Return the application that a submission describes.

    Raises:
        InputError: If its description is incomplete or invalid.
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
    """Return the prompts that test a claim, and why it is untestable; both are empty until organisers decide."""
    return {"prompts": [], "untestable": "", **submission.claim_tests.get(claim, {})}


def script_lines(submission: Submission) -> str:
    """Return the scripts that test a submission's claims, as text for `scripts:` of a scenario in a study file."""
    scripts = {
        claim.scripts[0]: _test_of(submission, claim.text)["prompts"]
        for claim in claims_of(submission)
        if claim.scripts
    }
    return _yaml(scripts) if scripts else ""


def study_lines(submission: Submission) -> str:
    """Return an accepted application's entry for `applications:` of a study file."""
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
"""Maximum time for a reply in an event, as stated in the criteria; seconds."""


OPTIONS = ("timeout", "init", "isolation", "sessions", "markup", "memory_mb", "cpu_seconds", "env", "python")
"""Keys that a team may set; `timeout` also for endpoints, the others for classes."""


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
    """Return a field for each key; keys that the operator does not allow are disabled with a note."""
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
    for key, permitted in (("env", settings.APPLICATION_ENV), ("python", settings.APPLICATION_PYTHONS)):
        if not permitted:
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
    """Return the options for a study file, and their errors by field.

    Args:
        filled: Values entered by the team, by field.
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
    """Return the values as parsed by the study file's own model, and the errors by key."""
    errors = {f"{key}": f"{text}." for key, text in misfits(spec, content).items()}
    fitting = {key: value for key, value in content.items() if key not in errors}
    values = spec.model_validate(fitting).model_dump(mode="json", by_alias=True)
    if values["timeout"] > MOST_TIMEOUT_S:
        message = f"`timeout` is {values['timeout']:g}; expected at most {MOST_TIMEOUT_S:g}, as the criteria state."
        errors["timeout"] = message
    refused = [name for name in values.get("env", []) if name not in settings.APPLICATION_ENV]
    if refused:
        permitted = ", ".join(settings.APPLICATION_ENV) or "none"
        errors["env"] = f"The operator does not allow `{refused[0]}`; allowed: {permitted}."
    return values, errors


def _init_from(text: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return constructor arguments parsed from JSON, and their errors."""
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
    """Return whether constructor arguments contain credentials."""
    return any(variables_of(part) for _, part in texts_in(options.get("init", {}), ()))


_background = Background()


@asynccontextmanager
async def conformance_bench() -> AsyncIterator[None]:
    """Run checks in the background while the server runs; checks interrupted by a shutdown are cleared."""
    await sync_to_async(_strike_unfinished)()
    async with _background.open():
        yield


async def check(submission: Submission) -> None:
    """Start the check of an application unless one is in progress; without a running server, run it to the end."""
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
        InputError: If the credentials were encrypted with a key other than the operator's.
    """
    environ = {submission.key_variable: opened(submission.sealed)} if submission.sealed else {}
    return application_of(submission), environ


def _begin(submission: Submission) -> datetime | None:
    now, fresh = timezone.now(), Submission.objects.filter(pk=submission.pk, examining_since=None)
    return now if fresh.update(examining_since=now) else None


def _keep(submission: Submission, since: datetime, examination: Examination) -> None:
    """Record the findings, unless the submission has changed since the check started."""
    Submission.objects.filter(pk=submission.pk, examining_since=since).update(
        examined=as_json(examination), examined_at=timezone.now(), examining_since=None
    )


def _strike_unfinished() -> None:
    Submission.objects.exclude(examining_since=None).update(examining_since=None)


def as_json(examination: Examination) -> dict[str, Any]:
    """Return the results of a check, in their stored form."""
    return {
        "calls": examination.calls,
        "slowest_s": round(examination.slowest_s, 3),
        "version": examination.version,
        "unexamined": examination.unexamined,
        "remarks": [{"severity": remark.severity.value, "message": remark.message} for remark in examination.remarks],
    }


_State = Submission.State


_DECISIONS = {"accept": _State.ACCEPTED, "return": _State.RETURNED, "decline": _State.DECLINED}


class DecisionForm(forms.Form):
    """The decision about a submission."""

    decision = forms.ChoiceField(
        label="Decision",
        choices=[("accept", "Accept"), ("return", "Return for changes"), ("decline", "Decline")],
        widget=forms.RadioSelect,
    )
    reason = forms.CharField(
        label="Reason", required=False, help_text="The team reads it.", widget=forms.Textarea(attrs={"rows": 3})
    )

    def __init__(self, *args: Any, claims: Sequence[Claim] = (), **keywords: Any) -> None:
        """Asks for each claim how it is tested.

        Args:
            args: Arguments of the form.
            claims: Claims of the submission.
            keywords: Likewise.
        """
        super().__init__(*args, **keywords)
        self._claims = tuple(claims)
        for number, claim in enumerate(self._claims, start=1):
            self.fields[f"prompts_{number}"] = forms.CharField(
                label=f"Prompts that test claim {number}: {claim.text}",
                required=False,
                help_text="A script: one prompt per line.",
                widget=forms.Textarea(attrs={"rows": 2}),
            )
            self.fields[f"untestable_{number}"] = forms.CharField(
                label=f"Reason why no dialogue can test claim {number}", required=False, max_length=500
            )

    def claim_tests(self) -> dict[str, dict[str, object]]:
        """Return the test of each claim: prompts, or the reason why there are none."""
        tests = {}
        for number, claim in enumerate(self._claims, start=1):
            prompts = [line.strip() for line in self.cleaned_data[f"prompts_{number}"].splitlines() if line.strip()]
            tests[claim.text] = {"prompts": prompts, "untestable": self.cleaned_data[f"untestable_{number}"].strip()}
        return tests

    def clean(self) -> dict[str, object]:
        """Return the decision; a rejection needs a reason, an acceptance needs a test for each claim."""
        filled = super().clean() or {}
        if filled.get("decision") == "accept":
            for number, test in enumerate(self.claim_tests().values(), start=1):
                if bool(test["prompts"]) == bool(test["untestable"]):
                    message = "Enter either prompts that test this claim, or the reason why no dialogue can."
                    self.add_error(f"prompts_{number}", message)
        if filled.get("decision") in {"return", "decline"} and not filled.get("reason"):
            self.add_error("reason", "Enter a reason for the team.")
        return filled


@allowed(Role.ORGANISER)
def submissions(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """List the teams' submissions; drafts are visible only to their teams."""
    handed_in = Submission.objects.filter(hosted=access.hosted).exclude(state=_State.DRAFT).select_related("team")
    return render(request, "web/organiser/submissions.html", {"access": access, "submissions": handed_in})


@allowed(Role.ORGANISER)
def submission(request: HttpRequest, access: AccessContext, submission: str) -> HttpResponse:
    """Show a submission without its credentials, and decide about it."""
    handed_in = Submission.objects.exclude(state=_State.DRAFT).select_related("team__account", "hosted")
    row = get_object_or_404(handed_in, token=submission, hosted=access.hosted)
    form = DecisionForm(request.POST or None, claims=claims_of(row))
    if request.method == "POST" and row.state == _State.SUBMITTED and form.is_valid():
        decided = _decide(access, row, form)
        messages.success(request, f"{decided.name}: {decided.state}.")
        return redirect("organiser:submission", study=access.hosted.token, submission=row.token)
    context = {
        "access": access,
        "submission": row,
        "form": form,
        "claims": claims_of(row),
        "lines": study_lines(row) if row.state == _State.ACCEPTED else "",
        "scripts": script_lines(row) if row.state == _State.ACCEPTED else "",
    }
    return render(request, "web/organiser/submission.html", context, status=422 if form.errors else 200)


@allowed(Role.ORGANISER)
@require_POST
def add_application(request: HttpRequest, access: AccessContext, submission: str) -> HttpResponse:
    """Add an accepted application to the draft of the study, and show it there."""
    accepted = access.hosted.submissions.filter(state=_State.ACCEPTED)
    row, files = get_object_or_404(accepted, token=submission), files_of(access.hosted)
    shown = files.read(files.main)
    try:
        text = with_application(shown.text, row.name, study_entry(row))
        files.save(files.main, text, seen=shown.version)
    except (Conflict, InputError) as error:
        messages.warning(request, f"Not added: {error}")
        return redirect("organiser:submission", study=access.hosted.token, submission=row.token)
    access.audit("added application to the draft", f"submission {row.token}")
    messages.success(request, f"{row.name} is in the draft of the study. Review and publish it.")
    address = reverse("organiser:edit_study", args=[access.hosted.token])
    return redirect(f"{address}?file={files.main}&at=applications/{row.name}")


@transaction.atomic
def _decide(access: AccessContext, submission: Submission, form: DecisionForm) -> Submission:
    locked = submission.held(_State.SUBMITTED)
    decision, reason = form.cleaned_data["decision"], form.cleaned_data["reason"]
    locked.state, locked.reason, locked.decided_at = _DECISIONS[decision], reason, timezone.now()
    if locked.state == _State.ACCEPTED:
        locked.claim_tests = form.claim_tests()
    if locked.state == _State.DECLINED:
        locked.sealed = b""
    locked.save()
    access.audit(f"decided: {decision}", f"submission {locked.token}", reason=reason)
    return locked


MOST_LETTERS = 4000
"""Maximum length of a message; characters."""


MOST_TURNS = 20
"""Maximum length of a conversation; characters."""


PATIENCE_S = 120.0
"""Timeout of a reply; seconds."""


_TRIED = (_State.SUBMITTED, _State.RETURNED, _State.ACCEPTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A trial conversation, stored only in the page.

    Attributes:
        key: Its key for the application.
        scenario: Scenario of the source material; empty for none.
        turns: The turns so far.
    """

    key: str
    scenario: str = ""
    turns: tuple[Exchange, ...] = ()

    @property
    def is_full(self) -> bool:
        """Whether it has reached its maximum number of turns."""
        return len(self.turns) >= MOST_TURNS

    @property
    def shown(self) -> list[tuple[Exchange, SafeString]]:
        """The turns with the replies as testers would see them."""
        return [(turn, safe_html(turn.response)) for turn in self.turns]


@allowed(Role.ORGANISER)
def try_submission(request: HttpRequest, access: AccessContext, submission: str) -> HttpResponse:
    """Show the conversation with the new reply."""
    conversation, study = _opened(access, submission)
    page = _TrialPage(
        request=request, access=access, submission=conversation, study=study, trial=_trial_from(request, study)
    )
    prompt = request.POST.get("text", "").strip()
    if request.method != "POST":
        return page.shown()
    if not prompt or len(prompt) > MOST_LETTERS or page.trial.is_full:
        return page.shown(error=f"Enter a message of at most {MOST_LETTERS} characters.", text=prompt[:MOST_LETTERS])
    access.audit("tried application", f"submission {conversation.token}")
    answer = HttpResponse()
    return once(answer, partial(_answered, answer, page, prompt))


@dataclass(frozen=True, slots=True, kw_only=True)
class _TrialPage:
    """The page of one trial conversation."""

    request: HttpRequest
    access: AccessContext
    submission: Submission
    study: Study
    trial: Trial

    def shown(self, **more: object) -> HttpResponse:
        """Return the page with its new entries; `error` is the error message."""
        scenarios = [scenario.name for scenario in self.study.scenarios]
        context = {
            "access": self.access,
            "submission": self.submission,
            "scenarios": scenarios,
            "trial": self.trial,
            **more,
        }
        with translation.override(PLAIN):  # the thread speaks for others next
            return render(self.request, "web/organiser/try.html", context, status=422 if "error" in more else 200)


async def _answered(answer: HttpResponse, page: _TrialPage, prompt: str) -> None:
    """Call the application without occupying a thread, and fill the response with the page."""
    began, trial = monotonic(), page.trial
    try:
        reply = await _reply(page.submission, page.study, trial, prompt)
    except (TheodoliteError, TimeoutError) as error:
        error_text = str(error) or f"no reply within {PATIENCE_S:.0f} s"
        fill(answer, await run_in_pool(page.shown, error=error_text, text=prompt))
        return
    further = replace(trial, turns=(*trial.turns, Exchange(prompt=prompt, response=reply)))
    fill(answer, await run_in_pool(replace(page, trial=further).shown, took_s=monotonic() - began))


def _opened(access: AccessContext, submission: str) -> tuple[Submission, Study]:
    handed_in = Submission.objects.select_related("hosted").filter(state__in=_TRIED)
    return get_object_or_404(handed_in, token=submission, hosted=access.hosted), event_of(access.hosted).study


def _trial_from(request: HttpRequest, study: Study) -> Trial:
    """Return the conversation that the page sent, or a new one.

    Raises:
        Http404: If the conversation is not one that our page would send.
    """
    prompts, heard = request.POST.getlist("said"), request.POST.getlist("heard")
    names: Sequence[str] = [scenario.name for scenario in study.scenarios]
    scenario = request.POST.get("scenario", names[0] if names else "")
    if len(prompts) != len(heard) or len(prompts) > MOST_TURNS or (scenario and scenario not in names):
        raise Http404
    turns = tuple(Exchange(prompt=prompt, response=response) for prompt, response in zip(prompts, heard, strict=True))
    return Trial(key=request.POST.get("key", "") or secrets.token_hex(16), scenario=scenario, turns=turns)


async def _reply(submission: Submission, study: Study, trial: Trial, text: str) -> str:
    """Return the application's reply; a text of the site's filter is a reply, too."""
    application, environ = await run_in_pool(prepared, submission)
    say_to_application = SayToApplication(
        application=submission.name,
        prompt=text,
        turn=len(trial.turns) + 1,
        history=trial.turns,
        context=study.scenario(trial.scenario).context if trial.scenario else "",
    )
    folder = Path(submission.hosted.folder or ".")
    try:
        async with asyncio.timeout(PATIENCE_S):
            return (
                await answer_alone(application, say_to_application, session=trial.key, folder=folder, environ=environ)
            ).text
    except ContentRefused:
        return FILTERED_TEXT
