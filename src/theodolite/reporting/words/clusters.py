"""What dialogues resemble each other by, in a word: a persona, a strategy, a script, a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from theodolite.domain.dialogue import HeldBy
from theodolite.domain.plan import Setting, TesterKind

_WORDS: Mapping[TesterKind, tuple[str, str]] = {
    TesterKind.PERSONA: ("persona", "personas"),
    TesterKind.ATTACK: ("strategy", "strategies"),
    TesterKind.SCRIPT: ("script", "scripts"),
    TesterKind.SEAT: ("person", "people"),
}


def cluster_words(settings: Iterable[Setting], about: Mapping[str, str]) -> tuple[str, str]:
    """Return what one cluster and what several are called among the sessions that a number is about.

    Args:
        settings: Of all sessions.
        about: What the number is about; `level` and `held_by` count where they are there.
    """
    meant = [setting for setting in settings if _is_meant(setting, about)]
    kinds = {setting.kind for setting in meant}
    if len(kinds) != 1 or any(setting.held_by is HeldBy.RECORDED for setting in meant):
        return "tester", "testers"
    return _WORDS[kinds.pop()]


def _is_meant(setting: Setting, about: Mapping[str, str]) -> bool:
    level, held_by = setting.level.value, setting.held_by.value
    return about.get("level", level) == level and about.get("held_by", held_by) == held_by
