"""What happens once before the server listens."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from theodolite.bootstrap.permission import code_request
from theodolite.bootstrap.shelves import plugin_shelves
from theodolite.config.loading import load_study
from theodolite.domain.errors import InputError
from theodolite.usecases.people.recovery import recover
from theodolite.web.accounts.inviting import first_invitation, invitation_path
from theodolite.web.demo import furnish, seed
from theodolite.web.hosting import host_study
from theodolite.web.models import Account, HostedStudy
from theodolite.web.venues import server_store


def opening_lines(*, demo: bool, study: str) -> tuple[str, ...]:
    """Prepare the server and return what to tell the operator; `{address}` is filled in later.

    Args:
        demo: Whether to seed the event with one-click accounts.
        study: Folder of a study to be hosted; empty for none; with `demo`, of the event's.

    Raises:
        StudyError: If the study holds faults; says all of them.
    """
    recover(server_store())  # nobody waits any more for what an earlier process left under way
    if demo:
        furnish(seed(study))
        return ("A seeded event, one click for each role:  {address}/demo/",)
    if study:
        host_study(study)
    if Account.objects.filter(is_host=True, is_active=True).exists():
        return (*_code_lines(), "Sign in:  {address}/")
    return (*_code_lines(), "Organiser, open once: {address}" + invitation_path(first_invitation()))


def _code_lines() -> Iterator[str]:
    """Yield a warning for each study whose applications cannot answer, since nobody has allowed their code."""
    for hosted in HostedStudy.objects.exclude(folder=""):
        try:
            request = code_request(load_study(hosted.folder, shelves=plugin_shelves()))
        except InputError:
            continue  # its pages say what is wrong with the study
        if request is not None:
            command = f"theodolite serve {shlex.quote(hosted.folder)} --allow-code"
            words = f"Study {request.study}: its code is not allowed, so its applications do not answer."
            yield f"{words} Restart: {command}".replace("{", "{{").replace("}", "}}")
