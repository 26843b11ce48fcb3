"""What dialogues resemble each other by, in a word: a persona, a strategy, a script, a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from theodolite.domain.dialogue import TesterType
from theodolite.domain.estimate_subject import EstimateSubject
from theodolite.domain.plan import Setting, TesterKind

_WORDS: Mapping[TesterKind, tuple[str, str]] = {
    TesterKind.PERSONA: ("persona", "personas"),
    TesterKind.ATTACK: ("strategy", "strategies"),
    TesterKind.SCRIPT: ("script", "scripts"),
    TesterKind.SLOT: ("person", "people"),
}

_RECORDED: Mapping[TesterKind, tuple[str, str]] = {
    **_WORDS,
    TesterKind.SCRIPT: ("prompt", "prompts"),  # rows of one id are repeats of one prompt
    TesterKind.SLOT: ("tester", "testers"),  # imported: people or programs
}


def cluster_words(settings: Iterable[Setting], subject: EstimateSubject) -> tuple[str, str]:
    """Return what one cluster and what several are called among the sessions of an estimate.

    Args:
        settings: Of all sessions.
        subject: Of the estimate; level and tester type count where it has them.
    """
    meant = [setting for setting in settings if _is_meant(setting, subject)]
    met = {(setting.kind, setting.held_by is TesterType.RECORDED) for setting in meant}
    if len(met) != 1:
        return "cluster", "clusters"
    kind, is_recorded = met.pop()
    return _RECORDED[kind] if is_recorded else _WORDS[kind]


def _is_meant(setting: Setting, subject: EstimateSubject) -> bool:
    return subject.level in {None, setting.level} and subject.tester_type in {None, setting.held_by}
