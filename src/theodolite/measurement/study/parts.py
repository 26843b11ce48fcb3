"""Parts: the dialogues for which a judge is looked at apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from theodolite.domain.certificate import ALL_APPLICATIONS
from theodolite.domain.evidence import Evidence
from theodolite.measurement.study.sightings import Sightings


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some dialogues, and what they share.

    Attributes:
        application: Name of the application, or all of them.
        about: What else they share.
        places: Positions of the planned sessions.
    """

    application: str
    about: Mapping[str, str]
    places: tuple[int, ...]


def parts_of(evidence: Evidence, found: Sightings) -> Iterator[Part]:
    """Yield all dialogues, and then those of each application, scenario and group."""
    seen = found.judged.seen
    yield Part(application=ALL_APPLICATIONS, about={}, places=tuple(one.place for one in seen))
    by = {
        "application": [one.setting.application for one in seen],
        "scenario": [one.setting.scenario for one in seen],
        **{f"group.{name}": [one.setting.groups.get(name, "") for one in seen] for name in evidence.study.groups},
    }
    for name, values in by.items():
        several = [value for value in dict.fromkeys(values) if value]
        for value in several if len(several) > 1 else []:
            part = tuple(one.place for one, own in zip(seen, values, strict=True) if own == value)
            application = value if name == "application" else ALL_APPLICATIONS
            about = {} if name == "application" else {"part": name, name: value}
            yield Part(application=application, about=about, places=part)
