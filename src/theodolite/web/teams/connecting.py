"""From a submission to an application, and to the lines of a study file that say the same."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

from django.conf import settings
from ruamel.yaml import YAML

from theodolite.domain.application import (
    Application,
    AriaClass,
    Claim,
    ClaimKind,
    GuardrailSite,
    HttpEndpoint,
)
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
    """Return what a team claims, a claim a line."""
    told = ((ClaimKind.CAPABILITY, submission.capabilities), (ClaimKind.LIMITATION, submission.limitations))
    return tuple(
        Claim(text=line.strip(), kind=kind) for kind, text in told for line in text.splitlines() if line.strip()
    )


def study_lines(submission: Submission) -> str:
    """Return what a study file says of an accepted application, below `applications:`."""
    stream = StringIO()
    writer = YAML()
    writer.width = 110
    writer.dump({submission.name: study_entry(submission)}, stream)
    return stream.getvalue()


def study_entry(submission: Submission) -> dict[str, Any]:
    """Return the keys and values of an application in a study file; empty ones are left out."""
    said: dict[str, Any] = {"description": submission.description, "guardrails": submission.guardrails}
    if submission.way == Submission.Way.ENDPOINT:
        said |= {"kind": "http", "url": submission.url, "body": json.loads(submission.body or "{}")}
        said |= {"reply": submission.reply, "key": submission.key_variable, "public_only": _public_only()}
    else:
        said |= {"kind": "aria", "class": submission.target, "auth": submission.key_variable}
        said |= {"prompt": submission.prompt}
    said["claims"] = [{"text": claim.text, "kind": claim.kind.value} for claim in claims_of(submission)]
    return {key: value for key, value in said.items() if value}


def _endpoint(submission: Submission) -> HttpEndpoint:
    return HttpEndpoint(
        url=submission.url,
        body=submission.body or "{}",
        reply=submission.reply or "$.text",
        key=submission.key_variable,
        public_only=_public_only(),
    )


def _class(submission: Submission) -> AriaClass:
    return AriaClass(target=submission.target, auth=submission.key_variable, prompt=submission.prompt)


def _public_only() -> bool:
    return not settings.ALLOW_PRIVATE
