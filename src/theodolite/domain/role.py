"""Roles: what a person may do in one study."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """What a person may do in one study; somebody may have several."""

    ORGANISER = "organiser"
    SENIOR = "senior annotator"
    ANNOTATOR = "annotator"
    RED_TEAMER = "red teamer"
    FIELD_TESTER = "field tester"
    ANALYST = "analyst"
    TEAM = "application team"
