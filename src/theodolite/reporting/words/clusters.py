"""What dialogues resemble each other by, in a word: a persona, a strategy, a script, a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from theodolite.domain.dialogue import HeldBy
from theodolite.domain.estimate_subject import EstimateSubject
from theodolite.domain.plan import Setting, TesterKind

_WORDS: Mapping[TesterKind, tuple[str, str]] = {
    TesterKind.PERSONA: ("persona", "personas"),
    TesterKind.ATTACK: ("strategy", "strategies"),
    TesterKind.SCRIPT: ("script", "scripts"),
    TesterKind.SEAT: ("person", "people"),
}


def cluster_words(settings: Iterable[Setting], subject: EstimateSubject) -> tuple[str, str]:
    """Return what one cluster and what several are called among the sessions of an estimate.

    Args:
        settings: Of all sessions.
        subject: Of the estimate; level and tester type count where it has them.
    """
    meant = [setting for setting in settings if _is_meant(setting, subject)]
    kinds = {setting.kind for setting in meant}
    if len(kinds) != 1 or any(setting.held_by is HeldBy.RECORDED for setting in meant):
        return "tester", "testers"
    return _WORDS[kinds.pop()]


def _is_meant(setting: Setting, subject: EstimateSubject) -> bool:
    return subject.level in {None, setting.level} and subject.tester_type in {None, setting.held_by}
