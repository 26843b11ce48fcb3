"""One session as it is read: its dialogues, what is sensitive in them hidden, and what the tester answered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from theodolite.annotation.cases import cases
from theodolite.assessment.blinding import mask_for
from theodolite.assessment.redacting import redacted
from theodolite.domain.annotating.case import CaseAct, Redaction
from theodolite.domain.annotation import Outcome
from theodolite.domain.questionnaire import QuestionnaireResponse
from theodolite.web.analyst.desk import ReadingDesk
from theodolite.web.safe_text import safe_html


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidTurn:
    """One turn of a dialogue, made safe to be shown."""

    number: int
    prompt: str
    response: SafeString


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidDialogue:
    """One dialogue as readers see it.

    Attributes:
        turns: What was said; nothing of a dialogue that is restricted.
        is_restricted: Whether a case keeps everybody from it for now.
    """

    turns: tuple[SaidTurn, ...] = ()
    is_restricted: bool = False


def said_in(desk: ReadingDesk, keys: Sequence[str]) -> list[SaidDialogue]:
    """Return some dialogues, in order: names of applications masked, and what cases hide blocked out.

    Args:
        desk: Where the reader sits.
        keys: Keys of the dialogues.
    """
    held, mask = desk.store.dialogues_of(keys), mask_for(desk.study)
    hidden, restricted = _overlays(desk.study.name, keys)
    return [
        SaidDialogue(is_restricted=True)
        if key in restricted
        else SaidDialogue(
            turns=tuple(
                SaidTurn(number=turn.number, prompt=mask(turn.prompt), response=safe_html(mask(turn.response)))
                for turn in redacted(held[key], hidden[key], "").turns
            )
        )
        for key in keys
    ]


def _overlays(study: str, keys: Sequence[str]) -> tuple[dict[str, list[Redaction]], set[str]]:
    """Return what is hidden in each of some dialogues, and those that are kept from everybody."""
    hidden: dict[str, list[Redaction]] = defaultdict(list)
    restricted = set()
    for case in cases(study):
        is_dismissed = any(step.act is CaseAct.DISMISSED for step in case.steps)
        if case.dialogue in keys and not is_dismissed:
            hidden[case.dialogue] += case.redactions
            restricted |= {case.dialogue} if case.is_restricted else set()
    return hidden, restricted


def answered_in(desk: ReadingDesk, response: QuestionnaireResponse) -> Iterator[tuple[str, str]]:
    """Yield each question with what was answered, in the order of the questionnaire."""
    for question in desk.study.questionnaire(response.questionnaire).instrument.questions:
        given = response.to(question.name)
        values = [one.value if one.value is not None else one.outcome.value for one in given]
        absent = Outcome.NOT_APPLICABLE if question.when else Outcome.MISSING
        yield question.text, ", ".join(values) or absent.value
