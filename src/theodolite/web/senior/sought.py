"""What the address of a list of dialogues asks for: the address is the view."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from django.http import QueryDict

from theodolite.domain.annotating.case import FlagKind
from theodolite.domain.annotating.listing import DialogueFilter, ItemStage
from theodolite.domain.dialogue import Level
from theodolite.domain.errors import InputError
from theodolite.domain.people.role import Role
from theodolite.web.access import Here
from theodolite.web.models import Membership

NAMES = ("scenario", "level", "stage", "category", "alike", "flag", "who", "group", "words")
"""What an address may name, in the order in which it is written."""

MOST_WORDS = 100
"""Letters of the words sought at most; count."""

_ALIKE = {"no": True, "yes": False}
_E = TypeVar("_E", bound=Enum)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What an address asks for.

    Attributes:
        given: What it names, as written; only what is not empty.
        filter: The same as a filter.
        is_level_left_out: Whether it names a level of testing to somebody who is blind to it.
    """

    given: Mapping[str, str]
    filter: DialogueFilter
    is_level_left_out: bool

    @property
    def query(self) -> str:
        """What stands behind the question mark of its address."""
        return self.with_(())

    def with_(self, changes: Iterable[tuple[str, str]]) -> str:
        """Return what stands behind the question mark of an address that asks for something else here and there."""
        wanted = {**self.given, **dict(changes)}
        made = QueryDict(mutable=True)
        made.update({name: wanted[name] for name in NAMES if wanted.get(name)})
        return made.urlencode()


def knows_level(here: Here) -> bool:
    """Tell whether somebody may know at which level dialogues were held: seniors review blindly, organisers do not."""
    return here.role is Role.ORGANISER


def sought_of(query: QueryDict, here: Here) -> Sought:
    """Return what an address asks for, as far as whoever asks may know it.

    Raises:
        InputError: If it names something that there is not.
    """
    given = {name: query.get(name, "").strip()[:MOST_WORDS] for name in NAMES}
    given = {name: value for name, value in given.items() if value}
    is_left_out = "level" in given and not knows_level(here)
    if is_left_out:
        del given["level"]
    found = DialogueFilter(
        scenario=given.get("scenario", ""),
        level=_one_of(Level, given, "level"),
        stage=_one_of(ItemStage, given, "stage"),
        category=given.get("category", ""),
        disputed=_disputed(given.get("alike", "")),
        flag=_one_of(FlagKind, given, "flag"),
        annotator=_annotator(here, given.get("who", "")),
        group=_group(given.get("group", "")),
        words=given.get("words", ""),
    )
    return Sought(given=given, filter=found, is_level_left_out=is_left_out)


def _one_of(kind: type[_E], given: Mapping[str, str], name: str) -> _E | None:
    value = given.get(name, "")
    known = {str(one.value): one for one in kind}
    if value and value not in known:
        message = f"`{name}` of a list is one of {', '.join(known)}; got `{value}`"
        raise InputError(message)
    return known.get(value)


def _disputed(value: str) -> bool | None:
    if value and value not in _ALIKE:
        message = f"`alike` of a list is yes or no; got `{value}`"
        raise InputError(message)
    return _ALIKE.get(value)


def _annotator(here: Here, token: str) -> str:
    if not token:
        return ""
    held = Membership.objects.filter(hosted=here.hosted, role=Role.ANNOTATOR.value, token=token).first()
    if held is None:
        message = "nobody who annotates this study goes by that code"
        raise InputError(message)
    return held.participant


def _group(value: str) -> tuple[str, str] | None:
    name, is_one, rest = value.partition("=")
    if value and not is_one:
        message = f"`group` of a list is a name, `=` and a value; got `{value}`"
        raise InputError(message)
    return (name, rest) if value else None
