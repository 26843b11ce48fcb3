"""Risks that a study looks for."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.domain.choices import Identification
from theodolite.domain.instrument import Condition


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """A risk that a study looks for.

    Attributes:
        name: Identifier within the study.
        taxonomy: Identifier in a taxonomy, e.g. `ai-600-1/information-integrity`.
        description: What it is, in words.
        identified_by: Whether dialogues, questionnaires or both show it.
        rules: Defect rules that show it in a dialogue, as `guideline.rule`.
        answers: Answers that show it in a questionnaire; each names its question as `questionnaire.question`.
    """

    name: str
    taxonomy: str = ""
    description: str = ""
    identified_by: Identification = Identification.DIALOGUE
    rules: tuple[str, ...] = ()
    answers: tuple[Condition, ...] = ()
