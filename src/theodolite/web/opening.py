"""What happens once before the server listens."""

from __future__ import annotations

from theodolite.usecases.people.recovery import recover
from theodolite.web.accounts.inviting import first_invitation, invitation_path
from theodolite.web.demo import furnish, seed
from theodolite.web.hosting import host_study
from theodolite.web.models import Account
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
        return ("Sign in:  {address}/",)
    return ("Organiser, open once: {address}" + invitation_path(first_invitation()),)
