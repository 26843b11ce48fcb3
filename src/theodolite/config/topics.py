"""Sensitive topics of a study: what its scenarios touch, in words for the people who meet it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from theodolite.config.lookup import Entry, LoadContext
from theodolite.config.packs import Pack
from theodolite.config.parts import Parts, dropped, section
from theodolite.config.specs.study import TopicSpec
from theodolite.domain.fault import Severity, did_you_mean

if TYPE_CHECKING:  # loaded by studies that touch one
    from theodolite.domain.people.topic import SensitiveTopic


def topics_of(parts: Parts, pack: Pack, context: LoadContext) -> tuple[SensitiveTopic, ...]:
    """Return the topics that scenarios of a study touch, in the order in which they are written down.

    A pack's topics that no scenario of the study touches are left out.

    Args:
        parts: What has been read of the study, scenarios included.
        pack: What its packs bring.
        context: What takes the faults.
    """
    entries: dict[str, Entry[TopicSpec]] = {item.name: item for item in [*pack.topics, *section(parts.entry, "topics")]}
    touched = _touched(parts, entries, context)
    for name, entry in entries.items():
        if name not in touched and not entry.pack:
            message = f"no scenario touches the topic `{name}`; name it under `topics` of those that do"
            context.diagnostics.add(entry.fault(message=message, severity=Severity.NOTE, at_key=True))
    if not touched:
        return ()
    from theodolite.domain.people.topic import SensitiveTopic

    return tuple(
        SensitiveTopic(name=name, about=entry.spec.about, weight=entry.spec.weight, scenarios=tuple(touched[name]))
        for name, entry in entries.items()
        if name in touched
    )


def _touched(parts: Parts, entries: Mapping[str, Entry[TopicSpec]], context: LoadContext) -> dict[str, list[str]]:
    """Return the topics that scenarios name, with the names of these scenarios."""
    known, touched = (*entries, *dropped(parts.entry, "topics")), defaultdict[str, list[str]](list)
    for scenario, entry in parts.scenarios:
        for place, name in enumerate(entry.spec.topics):
            if name not in known:
                tail = did_you_mean(name, known) or "; say under `topics` what it is about"
                message = f"scenario `{scenario.name}` touches a topic `{name}` that the study does not name{tail}"
                context.diagnostics.add(entry.fault("topics", place, message=message))
            elif scenario.name not in touched[name]:
                touched[name].append(scenario.name)
    return dict(touched)
