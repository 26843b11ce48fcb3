"""The start of the server, before it listens."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator

from theodolite.bootstrap.permission import code_request, key_request
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.config.loading import load_study
from theodolite.domain.errors import InputError
from theodolite.web.accounts.invitations import first_invitation, invitation_path
from theodolite.web.events import host_study, server_store
from theodolite.web.models import Account, HostedStudy


def opening_lines(study: str) -> tuple[str, ...]:
    """Prepare the server and return what to tell the operator; `{address}` is filled in later.

    Args:
        study: Folder of a study to be hosted; empty for none.

    Raises:
        StudyError: If the study holds faults; says all of them.
    """
    server_store().events.dialogues.interrupt_all()  # no process waits for replies of an earlier one
    if study:
        host_study(study)
    if Account.objects.filter(is_host=True, is_active=True).exists():
        return (*_permission_lines(), "Sign in:  {address}/")
    return (*_permission_lines(), "Organiser, open once: {address}" + invitation_path(first_invitation()))


def _permission_lines() -> Iterator[str]:
    """Yield a warning for each study whose applications cannot answer, since code or keys have not been allowed."""
    for hosted in HostedStudy.objects.exclude(folder=""):
        try:
            loaded = load_study(hosted.folder, resolver=resource_resolver())
        except InputError:
            continue  # its pages say what is wrong with the study
        missing = [("code", code_request(loaded)), ("keys", key_request(loaded, os.environ))]
        names = [name for name, request in missing if request is not None]
        if names:
            options = " ".join(f"--allow-{name}" for name in names)
            command = f"theodolite serve {shlex.quote(hosted.folder)} {options}"
            summary = f"Study {loaded.study.name}: its {' and its '.join(names)} need permission"
            text = f"{summary}, so its applications do not answer. Restart: {command}"
            yield text.replace("{", "{{").replace("}", "}}")
