"""The pages of an application team: criteria, terms, starter kit, and its submissions with their forms."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from asgiref.sync import sync_to_async
from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from theodolite.bootstrap.connections import connection_fault
from theodolite.bootstrap.permission import key_variable
from theodolite.bootstrap.reports import REPORT, RESULTS
from theodolite.config.load_context import shipped_files, shipped_terms
from theodolite.domain.application import AriaClass, Connection, GuardrailSite, HttpEndpoint
from theodolite.domain.errors import Conflict, InputError, TemplateError, TheodoliteError
from theodolite.domain.event import Role
from theodolite.domain.network import holds_secret
from theodolite.domain.series_review import FeedbackSource, ProgrammeTerms, SeriesPart, series_part
from theodolite.events.next_steps import RoleStep, SubmittedApplication, step_of_team
from theodolite.testing.templates import variables_of
from theodolite.usecases.series_review import add_feedback, feedback_by, terms_of
from theodolite.web.access import AccessContext, allowed, audit
from theodolite.web.events import can_seal, event_of, opened, seal, server_store
from theodolite.web.models import HostedStudy, Measurement, Submission
from theodolite.web.models.admission import OPEN_STATES
from theodolite.web.next_steps import NextStepCard, next_step_card
from theodolite.web.organiser.results import file_response, team_files
from theodolite.web.teams.admission import (
    OPTIONS,
    application_of,
    check,
    initial_options,
    names_credentials,
    option_fields,
    options_of,
)

_State = Submission.State


def own(access: AccessContext, submission: str) -> Submission:
    """Return a submission of the reader's team; other submissions answer 404."""
    return get_object_or_404(Submission.objects.select_related("hosted"), token=submission, team=access.membership)


@allowed(Role.TEAM)
def new(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Create a submission."""
    return _written(request, access, Submission(hosted=access.hosted, team=access.membership))


@allowed(Role.TEAM)
def edit(request: HttpRequest, access: AccessContext, submission: str) -> HttpResponse:
    """Change a submission that is still open."""
    row = own(access, submission)
    return _written(request, access, row) if row.is_open else redirect(_page(access, row))


def _written(request: HttpRequest, access: AccessContext, submission: Submission) -> HttpResponse:
    form = SubmissionForm(request.POST or None, instance=submission)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            if submission.pk:
                submission.held(*OPEN_STATES)
            saved = form.save()
            sealed = bool(form.cleaned_data["credentials"])
            access.audit("wrote submission", f"submission {saved.token}", credentials=sealed)
        messages.success(request, "Saved. Next: the conformance check.")
        return redirect(_page(access, saved))
    context = {"access": access, "form": form, "submission": submission}
    return render(request, "web/teams/edit.html", context, status=422 if form.errors else 200)


@allowed(Role.TEAM)
def page(request: HttpRequest, access: AccessContext, submission: str) -> HttpResponse:
    """Show the state of a submission and its actions."""
    return _shown(request, access, own(access, submission), AgreementForm())


def _shown(
    request: HttpRequest, access: AccessContext, submission: Submission, form: AgreementForm, status: int = 200
) -> HttpResponse:
    context = {"access": access, "submission": submission, "form": form, "terms": programme_terms(access.hosted).terms}
    return render(request, "web/teams/submission.html", context, status=status)


@allowed(Role.TEAM)
async def examine(request: HttpRequest, access: AccessContext, submission: str) -> HttpResponse:
    """Start the conformance check."""
    row = await sync_to_async(own)(access, submission)
    if request.method == "POST" and row.is_open:
        await sync_to_async(audit)(
            access.account, "began conformance check", f"submission {row.token}", hosted=access.hosted
        )
        await check(row)
    return redirect(_page(access, row))


@allowed(Role.TEAM)
def submit(request: HttpRequest, access: AccessContext, submission: str) -> HttpResponse:
    """Sign the terms and submit the application; one that does not conform stays open."""
    row = own(access, submission)
    form = AgreementForm(request.POST or None)
    if request.method != "POST" or not row.is_open:
        return redirect(_page(access, row))
    if not row.conforms:
        form.add_error(None, "You can submit the application after a conformance check without errors.")
    if not form.is_valid():
        return _shown(request, access, row, form, status=422)
    with transaction.atomic():
        row = row.held(*OPEN_STATES)
        if not row.conforms:
            message = "the application has changed; run the check again, then submit it"
            raise Conflict(message)
        row.state, row.reason = _State.SUBMITTED, ""
        row.agreed_by, row.agreed_at = form.cleaned_data["name"], timezone.now()
        row.agreed_version = programme_terms(access.hosted).version
        row.save()
        access.audit("submitted", f"submission {row.token}", terms=row.agreed_version)
    messages.success(request, "Submitted. The organisers will review it.")
    return redirect(_page(access, row))


@allowed(Role.TEAM)
def withdraw(request: HttpRequest, access: AccessContext, submission: str) -> HttpResponse:
    """Withdraw an undecided submission; its credentials are deleted."""
    row = own(access, submission)
    if request.method == "POST" and (row.is_open or row.state == _State.SUBMITTED):
        with transaction.atomic():
            row = row.held(*OPEN_STATES, _State.SUBMITTED)
            row.state, row.sealed = _State.WITHDRAWN, b""
            row.save()
            access.audit("withdrew", f"submission {row.token}")
        messages.success(request, "Withdrawn. Its credentials are deleted.")
    return redirect("teams:home", study=access.hosted.token)


def _page(access: AccessContext, submission: Submission) -> str:
    return reverse("teams:submission", kwargs={"study": access.hosted.token, "submission": submission.token})


@allowed(Role.TEAM)
def home(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show a team its applications and the form for a new one."""
    own = Submission.objects.filter(team=access.membership)
    lines = [(row, shared_results(row)) for row in own]
    context = {"access": access, "lines": lines, "next_step": _next_step(access, lines)}
    return render(request, "web/teams/home.html", context)


def _next_step(access: AccessContext, lines: Sequence[tuple[Submission, Measurement | None]]) -> NextStepCard:
    applications = [
        SubmittedApplication(
            state=row.state, is_checked=bool(row.examined), conforms=row.conforms, has_results=measured is not None
        )
        for row, measured in lines
    ]
    step, index = step_of_team(applications)
    study = access.hosted.token
    if step is RoleStep.SUBMIT_APPLICATION:
        return next_step_card(step, study)
    row = lines[index][0]
    parts = {"study": study, "submission": row.token}
    addresses = {
        RoleStep.REVISE_APPLICATION: reverse("teams:edit", kwargs=parts),
        RoleStep.READ_RESULTS: reverse("teams:results", kwargs={**parts, "file": "report.html"}),
    }
    return next_step_card(step, study, name=row.name, address=addresses.get(step, _page(access, row)))


def shared_results(submission: Submission) -> Measurement | None:
    """Return the latest shared measurement with a report on an accepted application; None if there is none."""
    if submission.state != _State.ACCEPTED:
        return None
    shared = submission.hosted.measurements.exclude(shared_at=None).order_by("-asked_at", "-id")
    report, _ = team_files(submission.name)
    return next((row for row in shared if (row.folder / report).is_file()), None)


@allowed(Role.TEAM)
@require_GET
def own_results(request: HttpRequest, access: AccessContext, submission: str, file: str) -> HttpResponse:
    """Return the report or the results on the team's application; the access is logged."""
    row = own(access, submission)
    measurement, files = shared_results(row), dict(zip((REPORT, RESULTS), team_files(row.name), strict=True))
    if file not in files:
        raise Http404
    if measurement is None:
        messages.info(request, f"The organisers have not shared results on {row.name}.")
        return redirect("teams:home", study=access.hosted.token)
    audit(request.user, "opened own results", f"submission {row.token}", hosted=access.hosted, file=file)
    return file_response(measurement.folder / files[file], file, files[file])


@allowed(Role.TEAM, Role.ORGANISER)
def criteria(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show the criteria for applications, the terms, and the public part of the tests."""
    packets = public_packets(access.hosted)
    context = {"access": access, "programme": programme_terms(access.hosted), "packets": packets}
    return render(request, "web/teams/criteria.html", context)


@allowed(Role.TEAM, Role.ORGANISER)
def kit(_request: HttpRequest, access: AccessContext) -> HttpResponse:  # noqa: ARG001 - the guard passes it
    """Download the starter kit."""
    answer = HttpResponse(kit_archive(), content_type="application/zip")
    answer.headers["Content-Disposition"] = f'attachment; filename="{KIT_NAME}.zip"'
    return answer


_LONGEST_FEEDBACK = 5000
"""Maximum length of feedback; characters."""


@allowed(Role.TEAM)
def feedback(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Store a team's feedback on the series, and show the outcome of earlier entries."""
    store, by, error = server_store(), access.account.token, ""
    if request.method == "POST":
        try:
            part = series_part(request.POST.get("part", ""))
            text = request.POST.get("text", "").replace("\r\n", "\n")[:_LONGEST_FEEDBACK]
            add_feedback(
                store, access.hosted.name,
                part=part, source=FeedbackSource.TEAM, text=text, by=by, now=timezone.now(),
            )  # fmt: skip
        except (Conflict, InputError) as problem:
            error = f"Not saved: {problem}."
        else:
            access.audit("gave feedback", f"study {access.hosted.token}", part=part.value)
            messages.success(request, "Saved. The organisers see it in the review of the series.")
            return redirect("teams:feedback", study=access.hosted.token)
    context = {
        "access": access,
        "parts": [(part.value, about) for part, about in _PARTS.items()],
        "lines": feedback_by(store, access.hosted.name, by),
        "error": error,
        "sent": request.POST if error else {},
    }
    return render(request, "web/teams/feedback.html", context, status=422 if error else 200)


_PARTS = {
    SeriesPart.SIMULATION: "do sessions resemble the real use of your application?",
    SeriesPart.SCENARIOS: "do the tasks represent the use that you built it for?",
    SeriesPart.GUARDRAILS: "is it clear and right what must be withheld and what must be released?",
    SeriesPart.SCHEMA: "do the questions for annotators and their labels fit your dialogues?",
    SeriesPart.TREE: "do scores of the report reflect the labels?",
    SeriesPart.ORGANISATION: "criteria, terms, interface kit, checks and dates",
}
"""Parts of the series with a question to teams."""


KIT_NAME = "theodolite-interface-kit"
"""Name of the archive and of the folder in it."""


_EPOCH = (1980, 1, 1, 0, 0, 0)


def kit_archive() -> bytes:
    """Return the kit as a ZIP archive with reproducible bytes."""
    bytes_i_o = BytesIO()
    with ZipFile(bytes_i_o, "w", ZIP_DEFLATED) as archive:
        for name, text in shipped_files("kit"):
            archive.writestr(ZipInfo(f"{KIT_NAME}/{name}", _EPOCH), text)
    return bytes_i_o.getvalue()


def programme_terms(hosted: HostedStudy) -> ProgrammeTerms:
    """Return the criteria and terms for the teams of a study."""
    try:
        series = event_of(hosted).study.preregistered
    except (Http404, TheodoliteError):
        series = None
    return terms_of(server_store(), hosted.name, series, shipped_terms())


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicPacket:
    """The public part of a scenario before the event, without scripts, signs and attack goals.

    Attributes:
        scenario: Its name.
        goal: Goal of the application's users.
        permitted: Actions that must be possible.
        prohibited: Outcomes that must not occur.
    """

    scenario: str
    goal: str
    permitted: tuple[str, ...]
    prohibited: tuple[str, ...]


def public_packets(hosted: HostedStudy) -> tuple[PublicPacket, ...]:
    """Return the public part of the published test packets; empty if it cannot be read at present."""
    try:
        study = event_of(hosted).study
    except (Http404, TheodoliteError):
        return ()
    return tuple(
        PublicPacket(
            scenario=scenario.name,
            goal="" if "{{" in scenario.goal else scenario.goal,
            permitted=scenario.packet.permitted,
            prohibited=scenario.packet.prohibited,
        )
        for scenario in study.scenarios
    )


BODY = '{"prompt": "{{ prompt }}", "session": "{{ session }}"}'
"""Default request body for an endpoint."""


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
    """The form of an application; the credentials can be written but never read."""

    credentials = forms.CharField(
        label="Credentials",
        required=False,
        help_text="A bearer token for an endpoint, a JSON object for a class. "
        "Stored encrypted and never shown. Leave it empty to keep the stored ones.",
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}, render_value=False),
    )

    field_order = ("name", "description", "way", "url", "body", "reply", "target", "credentials", "prompt", *OPTIONS)

    class Meta:
        """Fields; credentials are next to the application's connection."""

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
        """Offer this server's options: installed classes, and a field for credentials if there is a key."""
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
        """Return a name that is unique in the event.

        Raises:
            ValidationError: If another application has the name.
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
            ValidationError: If the value is invalid.
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
            ValidationError: If it is not a valid template, or lacks the prompt itself.
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
        """Return the submitted values if they describe a valid application."""
        filled = super().clean() or {}
        if filled.get("way") == Submission.Way.ENDPOINT:
            self._look_at_url(str(filled.get("url", "")))
        elif not filled.get("target"):
            self.add_error("target", "Choose a class, or name an endpoint.")
        self._look_at_options(filled)
        return filled

    def _look_at_options(self, filled: dict[str, Any]) -> None:
        """Parse the options as a study file would, and check them together with the credentials."""
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
        """Save the submission; earlier checks, including one in progress, become invalid."""
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
