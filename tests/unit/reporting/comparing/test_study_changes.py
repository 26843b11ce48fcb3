"""What another edition of a study changes."""

from __future__ import annotations

from dataclasses import replace

from tests.fakes.builders import live, study
from theodolite.domain.event import Event
from theodolite.domain.identity import version_of
from theodolite.reporting.comparing.study_changes import ChangeKind, changes_between

EARLIER = study(
    applications=(live("blue"), live("green")), event=Event(consent="You are invited.\nStop when you like.")
)


def test_one_version_has_no_changes():
    assert changes_between(EARLIER, replace(EARLIER)) == ()


def test_parts_are_added_and_removed_by_name():
    later = replace(EARLIER, applications=(live("green"), live("red")))

    assert [(each.name, each.kind) for each in changes_between(EARLIER, later)] == [
        ("blue", ChangeKind.REMOVED),
        ("red", ChangeKind.ADDED),
    ]


def test_a_text_shows_the_changed_lines_and_no_others():
    later = replace(EARLIER, event=Event(consent="You are invited.\nStop at any moment."))
    (change,) = changes_between(EARLIER, later)

    assert (change.section, change.name, change.kind) == ("event", "", ChangeKind.CHANGED)
    assert len(change.lines) == 2
    assert change.lines[0].startswith("- Stop when you like.")
    assert change.lines[1].startswith("+ Stop at any moment.")


def test_every_change_of_the_version_is_shown():
    for later in (
        replace(EARLIER, title="Another"),
        replace(EARLIER, applications=EARLIER.applications[::-1]),
        replace(EARLIER, event=None),
    ):
        assert version_of(later) != version_of(EARLIER)
        assert changes_between(EARLIER, later)
