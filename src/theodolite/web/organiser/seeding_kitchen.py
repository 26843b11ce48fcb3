"""A second, small event of the demonstration: its testers say what they would rather not meet."""

from __future__ import annotations

from pathlib import Path

from theodolite.domain.people.role import Role
from theodolite.testing.assigning import people_levels
from theodolite.usecases.people.seating import seat_choice
from theodolite.usecases.people.topics import keep_choice
from theodolite.web.accounts.inviting import join
from theodolite.web.hosting import host_study
from theodolite.web.models import Account, HostedStudy
from theodolite.web.organiser.seeding import seed_approval
from theodolite.web.venues import server_store, venue_of

CHOSEN = {"Kira": ("eating",), "Levi": ()}
"""What testers who have been asked would rather not meet."""


def seed_kitchen(folder: Path, organiser: Account, newcomer: Account) -> None:
    """Make the event where it is not there yet, with two testers who have chosen and one who comes now.

    Args:
        folder: Where its study was laid out.
        organiser: Who runs it.
        newcomer: The tester who comes now.
    """
    hosted = host_study(str(folder), organiser)
    if hosted.state == HostedStudy.State.OPEN:
        return
    seed_approval(hosted)
    join(newcomer, hosted, Role.FIELD_TESTER)
    for name, topics in CHOSEN.items():
        _seat(hosted, join(Account.objects.create_user(name=name), hosted, Role.FIELD_TESTER).participant, topics)
    HostedStudy.objects.filter(pk=hosted.pk).update(state=HostedStudy.State.OPEN)


def _seat(hosted: HostedStudy, participant: str, topics: tuple[str, ...]) -> None:
    """Let a tester choose, and take the seat that suits best."""
    venue, store = venue_of(hosted), server_store()
    keep_choice(store, venue.study, participant, topics, now=venue.clock.now())
    for plan in people_levels(venue.study):
        store.take_seat(venue.study.name, participant, plan.level, choose=seat_choice(venue, participant, plan.level))
