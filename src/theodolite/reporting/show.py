"""A dialogue as a terminal shows it."""

from __future__ import annotations

from collections.abc import Sequence

from theodolite.domain.annotation import Adjudication, Annotation, Answer
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.failure import Failure
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.persona import Persona
from theodolite.domain.study import Study
from theodolite.reporting import figures
from theodolite.reporting.brief_lines import labelled
from theodolite.reporting.cases import title_of

_INDENT = 2
_WHO = 8


def show_text(
    study: Study,
    dialogue: Dialogue,
    annotations: Sequence[Annotation] = (),
    adjudications: Sequence[Adjudication] = (),
    *,
    failures: Sequence[Failure] = (),
    width: int = 80,
) -> str:
    """Return one dialogue with everything that was said about it.

    Args:
        study: The study that it belongs to.
        dialogue: What was said.
        annotations: What annotators answered about it.
        adjudications: Its final labels.
        failures: What failed in it.
        width: Columns of the terminal; count.
    """
    lines = [_heading(study, dialogue, annotations), *_turns(dialogue, width)]
    for final in adjudications:
        lines += _said("final", f"{final.value or final.outcome.value} ({final.origin.value})", width)
    for annotation in annotations:
        name = title_of(study, annotation.annotator)
        for answer in annotation.answers:
            lines += _said(name, _answer_text(answer), width)
    return "\n".join(
        [*lines, *(line for failure in failures for line in _said("failed", failure_text(failure), width))]
    )


def first_text(
    study: Study,
    dialogues: Sequence[Dialogue],
    annotations: Sequence[Annotation],
    failures: Sequence[Failure],
    *,
    width: int = 80,
) -> str:
    """Return what a look before paying shows: the first dialogue in full, all others in one line each."""
    by_dialogue = {d.key: [a for a in annotations if a.dialogue == d.key] for d in dialogues}
    texts = [show_text(study, dialogue, by_dialogue[dialogue.key], width=width) for dialogue in dialogues[:1]]
    rest = [f"{d.label}  {verdict_text(study, by_dialogue[d.key]) or 'not labelled yet'}" for d in dialogues[1:]]
    rest += [f"{failure.label}  {failure_text(failure)}: a failure" for failure in failures]
    lines = labelled("", "     ".join(rest), margin=0, width=width) if len("     ".join(rest)) <= width else rest
    return "\n".join([*texts, *lines])


def failure_text(failure: Failure) -> str:
    """Return a failure in words: whose fault, what, where."""
    where = f" in turn {failure.turn}" if failure.turn is not None else ""
    who = f"{failure.party.value} {failure.kind.value}{where}"
    return f"{who} ({failure.message})" if failure.message else who


def verdict_text(study: Study, annotations: Sequence[Annotation]) -> str:
    """Return what annotators found, e.g. `groundedness 2: defect (score <= 3)`."""
    return "; ".join(text for annotation in annotations for text in _verdicts(study, annotation))


def _verdicts(study: Study, annotation: Annotation) -> list[str]:
    guideline = study.guideline(annotation.guideline)
    return [
        text for rule in guideline.defect_rules if (text := _verdict(guideline, rule, annotation.answer(rule.question)))
    ]


def _verdict(guideline: Guideline, rule: DefectRule, answer: Answer | None) -> str:
    if answer is None:
        return ""
    if answer.value is None:
        return f"{guideline.name}: {answer.outcome.value}"
    scale = guideline.instrument.question(rule.question).scale
    if not scale.admits(answer.value):
        return f"{guideline.name}: unparseable"
    is_defect = rule.is_defect(answer.value, scale)
    return f"{guideline.name} {answer.value}: {'defect' if is_defect else 'no defect'} ({rule.condition})"


def _heading(study: Study, dialogue: Dialogue, annotations: Sequence[Annotation]) -> str:
    who = dialogue.persona.name if isinstance(dialogue.persona, Persona) else dialogue.held_by.value
    parts = [who, figures.number_of(len(dialogue.turns), "turn"), verdict_text(study, annotations)]
    scripted = f"  SCRIPTED: {', '.join(dialogue.scripted)}" if dialogue.scripted else ""
    return f"{dialogue.label}  {', '.join(part for part in parts if part)}{scripted}"


def _turns(dialogue: Dialogue, width: int) -> list[str]:
    if dialogue.withheld:
        return _said("texts", f"withheld: {dialogue.withheld}", width)
    user = dialogue.persona.name if dialogue.persona is not None else "user"
    lines: list[str] = []
    for turn in dialogue.turns:
        lines += _said(user, turn.prompt, width) + _said("bot", turn.response, width)
    return lines


def _said(who: str, text: str, width: int) -> list[str]:
    margin = _INDENT + max(_WHO, min(len(who) + 1, 20))
    lines: list[str] = []
    for number, paragraph in enumerate(text.splitlines() or [""]):
        label = " " * _INDENT + (who[:20] if number == 0 else "")
        lines += labelled(label, paragraph, margin=margin, width=width) or [label]
    return lines


def _answer_text(answer: Answer) -> str:
    turn = f" (turn {answer.turn})" if answer.turn is not None else ""
    parts = [f"{answer.value or answer.outcome.value}{turn}.", answer.reasoning]
    parts += [f'"{q.text}" (turn {q.turn}, {"verified" if q.verified else "NOT in the text"})' for q in answer.evidence]
    if answer.value is None and answer.raw:
        parts.append(f'It said: "{answer.raw[:200]}"')
    return " ".join(part for part in parts if part)
