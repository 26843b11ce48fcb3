"""The demo event of `serve --demo`: loads shipped files through the services of the web app."""

from __future__ import annotations

from pathlib import Path

from theodolite.demo.annotation import load_queue, load_review
from theodolite.demo.people import load_gate, load_kitchen, load_members
from theodolite.demo.studies import kitchen_of, lay_out_event
from theodolite.demo.testers import load_combined_review, load_labels, load_testers
from theodolite.web.events import server_store
from theodolite.web.models import HostedStudy


def opening_lines(folder: str) -> tuple[str, ...]:
    """Lay the studies out, load the events, and return the lines for the operator; `{address}` is filled in later.

    Args:
        folder: Where the studies go.
    """
    server_store().events.dialogues.interrupt_all()  # nobody waits any more for what an earlier process left under way
    lay_out_event(Path(folder))
    furnish(seed(folder))
    return ("Demo event, one click for each role:  {address}/demo/",)


def seed(folder: str) -> HostedStudy:
    """Make the event with one person for each role, where it is not there yet.

    Args:
        folder: Where the event's study was laid out.
    """
    hosted = load_members(folder)
    load_queue(hosted)
    load_testers(hosted)
    return hosted


def furnish(hosted: HostedStudy) -> None:
    """Load answers, flags, questions, labels and people who came before, and the second event."""
    load_review(hosted)
    load_labels(hosted)
    load_combined_review(hosted)
    load_gate(hosted)
    load_kitchen(kitchen_of(Path(hosted.folder)))
