"""Profiles: what people say of themselves, if they like."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext as _

from theodolite.domain.choices import UserType
from theodolite.domain.errors import InputError
from theodolite.domain.people.participant import PersonProfile


def read_profile(sent: Mapping[str, str]) -> PersonProfile:
    """Return what a form says of a person; saying nothing is an answer, too.

    Args:
        sent: Fields of the form; `skip` leaves everything unsaid.

    Raises:
        InputError: If a line of the self-description names a thing and not what it is.
    """
    given = {} if sent.get("skip") else sent
    return PersonProfile(
        user_type=next((kind for kind in UserType if kind.value == given.get("user_type")), None),
        expertise=given.get("expertise", "")[:300].strip(),
        languages=tuple(filter(None, (word.strip() for word in given.get("languages", "")[:120].split(",")))),
        groups=_groups(given.get("groups", "")),
    )


def _groups(text: str) -> dict[str, str]:
    groups: dict[str, str] = {}
    for line in filter(None, (line.strip() for line in text[:600].splitlines())):
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not (name and colon and value):
            words = _("“%(line)s”: please put a colon between what and which, as in “age: 40 to 49”.")
            message = words % {"line": line}
            raise InputError(message)
        groups[name] = value
    return groups
