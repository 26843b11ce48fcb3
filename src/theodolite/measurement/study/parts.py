"""Parts: the dialogues for which a judge is looked at apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from theodolite.domain.estimate_subject import ALL_APPLICATIONS, EstimateSubject, GroupValue
from theodolite.domain.evidence import Evidence
from theodolite.domain.plan import Setting
from theodolite.measurement.study.sightings import Sightings


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some dialogues, and what they share.

    Attributes:
        subject: The application, scenario or group that they share.
        places: Positions of the planned sessions.
    """

    subject: EstimateSubject
    places: tuple[int, ...]


def parts_of(evidence: Evidence, found: Sightings) -> Iterator[Part]:
    """Yield all dialogues, and then those of each application, scenario and group."""
    seen = found.judged.seen
    yield Part(subject=EstimateSubject(application=ALL_APPLICATIONS), places=tuple(one.place for one in seen))
    yield from _split(found, lambda setting: setting.application, _of_application)
    yield from _split(found, lambda setting: setting.scenario, _of_scenario)
    for name in evidence.study.groups:
        yield from _split(found, partial(_value, name), partial(_of_group, name))


def _split(
    found: Sightings, value_of: Callable[[Setting], str], subject_of: Callable[[str], EstimateSubject]
) -> Iterator[Part]:
    """Yield the dialogues of each value, where there are several values."""
    places: dict[str, list[int]] = {}
    for one in found.judged.seen:
        places.setdefault(value_of(one.setting), []).append(one.place)
    places.pop("", None)
    for value, part in places.items() if len(places) > 1 else ():
        yield Part(subject=subject_of(value), places=tuple(part))


def _of_application(name: str) -> EstimateSubject:
    return EstimateSubject(application=name)


def _of_scenario(name: str) -> EstimateSubject:
    return EstimateSubject(application=ALL_APPLICATIONS, scenario=name)


def _value(group: str, setting: Setting) -> str:
    return setting.groups.get(group, "")


def _of_group(name: str, value: str) -> EstimateSubject:
    return EstimateSubject(application=ALL_APPLICATIONS, group=GroupValue(name=name, value=value))
