"""Participants: people, known to the store by opaque identifiers only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from theodolite.domain.choices import UserType


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonProfile:
    """What a person says of themselves after consent; kept apart from identity.

    Attributes:
        user_type: How they meet the application; None where the person did not say, which is no type of its own.
        expertise: In their own words.
        languages: Language tags, e.g. `("en", "de")`.
        groups: Self-described groups by attribute.
    """

    user_type: UserType | None = None
    expertise: str = ""
    languages: tuple[str, ...] = ()
    groups: Mapping[str, str] = field(default_factory=dict)

    @property
    def annotator_attributes(self) -> dict[str, str]:
        """What the person says of herself: first language, groups."""
        first = {"language": self.languages[0]} if self.languages else {}
        return {**first, **self.groups}

    @property
    def attributes(self) -> dict[str, str]:
        """What dialogues may be split by: type of user, first language, groups; what was not said is left out."""
        known = {"user_type": self.user_type.value} if self.user_type else {}
        return {**known, **self.annotator_attributes}
