"""Attendance: whether people took part in a study at all, asked before anything of theirs is loaded."""

from __future__ import annotations

from django.db import connection

_ANYBODY = "SELECT 1 FROM store_live_dialogue WHERE study = %s LIMIT 1"


def has_dialogues(study: str) -> bool:
    """Tell whether any person began a dialogue in a study, or any was brought in."""
    with connection.cursor() as cursor:
        cursor.execute(_ANYBODY, [study])
        return cursor.fetchone() is not None
