"""Contamination: the material of a study, its publication, and canaries in responses."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

CANARY = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
"""A canary: a UUID (RFC 9562) that occurs only in the material that it protects."""


def canary_digest(text: str) -> str:
    """Return the SHA-256 of a lower-case canary, so that records do not publish the canary itself."""
    return hashlib.sha256(text.lower().encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioMaterial:
    """A pack or held-out packet with scenarios of a study.

    Attributes:
        name: Name of the pack or packet.
        version: Edition or version, set by its author; may be empty.
        is_held_out: Whether it is unpublished.
        public_since: Publication date, YYYY-MM-DD; empty if not stated.
        sha256: Checksum of a held-out packet; empty for a pack.
        canaries: SHA-256 digests of its canaries.
        scenarios: Names of its scenarios.
    """

    name: str
    version: str = ""
    is_held_out: bool = False
    public_since: str = ""
    sha256: str = ""
    canaries: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContaminationCheck:
    """The search of responses for the canaries of one material.

    Attributes:
        material: The material.
        responses: Searched responses of applications; count, 0 if the material has no canary.
        found: Labels of the dialogues whose responses contain a canary, by application.
    """

    material: ScenarioMaterial
    responses: int = 0
    found: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
