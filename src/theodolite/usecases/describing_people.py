"""Describing people: what a label file says of those who labelled becomes part of their profiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from theodolite.domain.people.participant import PersonProfile
from theodolite.ports.store import Store


def keep_descriptions(store: Store, annotator_attributes: Mapping[str, Mapping[str, str]], *, now: datetime) -> int:
    """Store what was said of people as further revisions of their profiles; return how many changed, count.

    What a profile says of other attributes stays. Reading one file twice adds nothing.

    Args:
        store: The database.
        annotator_attributes: Annotator to attribute to group.
        now: The present moment.
    """
    changed = 0
    for name, groups in annotator_attributes.items():
        before = store.profile(name) or PersonProfile()
        if any(before.annotator_attributes.get(attribute) != group for attribute, group in groups.items()):
            store.add_profile(name, replace(before, groups={**before.groups, **groups}), now=now)
            changed += 1
    return changed
