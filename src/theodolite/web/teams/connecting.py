"""From a submission to an application, and to the lines of a study file that say the same."""

from __future__ import annotations

import json
import os
from io import StringIO
from pathlib import Path
from typing import Any

from django.conf import settings
from ruamel.yaml import YAML

from theodolite.config.applications import interpreter_at, runtime_with
from theodolite.config.specs.applications import AriaSpec
from theodolite.domain.application import (
    Application,
    AriaClass,
    Claim,
    ClaimKind,
    GuardrailSite,
    HttpEndpoint,
)
from theodolite.domain.errors import InputError
from theodolite.web.models import Submission
from theodolite.web.teams.options import MOST_TIMEOUT_S


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
    lines = [(kind, line.strip()) for kind, text in told for line in text.splitlines() if line.strip()]
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
    said: dict[str, Any] = {"description": submission.description, "guardrails": submission.guardrails}
    if submission.way == Submission.Way.ENDPOINT:
        said |= {"kind": "http", "url": submission.url, "body": json.loads(submission.body or "{}")}
        said |= {"reply": submission.reply, "key": submission.key_variable, "public_only": _public_only()}
    else:
        said |= {"kind": "aria", "class": submission.target, "auth": submission.key_variable}
        said |= {"prompt": submission.prompt}
    said["claims"] = [_claim_entry(claim) for claim in claims_of(submission)]
    return {key: value for key, value in (said | submission.options).items() if value}


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
