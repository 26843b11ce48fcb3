"""One dialogue on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from theodolite.domain.annotation import SOURCE_MATERIAL, Adjudication, Annotation, Answer, Quote
from theodolite.domain.answer_rules import label_of
from theodolite.domain.dialogue import Dialogue, TesterType, found_in
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.persona import Persona
from theodolite.domain.run import Failure
from theodolite.domain.scenario import strategy_title
from theodolite.domain.status import Call
from theodolite.domain.study import Study
from theodolite.domain.text import printable
from theodolite.reporting.queries.cases import title_of
from theodolite.reporting.terminal.layout import labelled
from theodolite.reporting.words import figures
from theodolite.reporting.words.descriptions import call_texts, notes_of, spent_text

_INDENT = 2
_WHO = 8
_WHO_AT_MOST = 20


def show_text(
    study: Study,
    dialogue: Dialogue,
    annotations: Sequence[Annotation] = (),
    adjudications: Sequence[Adjudication] = (),
    *,
    failures: Sequence[Failure] = (),
    calls: Mapping[str, Sequence[Call]] | None = None,
    width: int = 80,
) -> str:
    """Return one dialogue with all annotations of it.

    Args:
        study: The study of the dialogue.
        dialogue: The dialogue.
        annotations: Annotators' answers about it.
        adjudications: Its final labels.
        failures: Its failures.
        calls: Calls by unit, if prompts, raw replies and costs are requested.
        width: Columns of the terminal; count.
    """
    entries = _turns(study, dialogue)
    entries += [("final", f"{final.value or final.outcome.value} ({final.origin.value})") for final in adjudications]
    entries += [(title_of(study, a.annotator), text) for a in annotations for text in _annotation_texts(study, a)]
    entries += [("failed", failure_text(failure)) for failure in failures]
    if calls is not None:
        entries += _call_entries(study, dialogue, annotations, calls)
    margin = _INDENT + min(_WHO_AT_MOST, max(_WHO, *(len(who) + 2 for who, _ in entries), _WHO))
    lines = [line for who, text in entries for line in said_lines(who, text, margin=margin, width=width)]
    return "\n".join([_heading(study, dialogue, annotations), *lines])


def _call_entries(
    study: Study, dialogue: Dialogue, annotations: Sequence[Annotation], calls: Mapping[str, Sequence[Call]]
) -> list[tuple[str, str]]:
    """Return the calls of a dialogue and of each of its annotators: cost, requests and replies."""
    spent = spent_text(calls.get(dialogue.key, ()))
    entries = [("dialogue took", spent)] if spent else []
    for annotation in annotations:
        if made := calls.get(annotation.unit, ()):
            entries.append((title_of(study, annotation.annotator), f"took {spent_text(made) or 'nothing'}"))
            entries += call_texts(made)
    return entries


def first_text(
    study: Study,
    dialogues: Sequence[Dialogue],
    annotations: Sequence[Annotation],
    failures: Sequence[Failure],
    *,
    width: int = 80,
) -> str:
    """Return the preview before paid calls: the first dialogue in full, all others on one line each."""
    by_dialogue = {d.key: [a for a in annotations if a.dialogue == d.key] for d in dialogues}
    texts = [show_text(study, dialogue, by_dialogue[dialogue.key], width=width) for dialogue in dialogues[:1]]
    rest = [
        f"{d.label}  {verdict_text(study, by_dialogue[d.key], d.groups) or 'not labelled yet'}" for d in dialogues[1:]
    ]
    rest += [f"{failure.label}  {failure_text(failure)}: a failure" for failure in failures]
    lines = labelled("", "     ".join(rest), margin=0, width=width) if len("     ".join(rest)) <= width else rest
    return "\n".join([*texts, *lines])


def failure_text(failure: Failure) -> str:
    """Return a failure as text: party, error, location."""
    where = f" in turn {failure.turn}" if failure.turn is not None else ""
    who = f"{failure.party.value} {failure.kind.value}{where}"
    return f"{who} ({failure.message})" if failure.message else who


def verdict_text(study: Study, annotations: Sequence[Annotation], groups: Mapping[str, str]) -> str:
    """Return annotators' findings, e.g. `groundedness 2: defect (score <= 3)`."""
    return "; ".join(dict.fromkeys(text for annotation in annotations for text in _verdicts(study, annotation, groups)))


def _verdicts(study: Study, annotation: Annotation, groups: Mapping[str, str]) -> list[str]:
    guideline = study.guideline(annotation.guideline)
    rules = [rule for rule in guideline.defect_rules if rule.applies_to(groups)]
    return [text for rule in rules if (text := _verdict(guideline, rule, annotation))]


def _verdict(guideline: Guideline, rule: DefectRule, annotation: Annotation) -> str:
    question = guideline.instrument.question(rule.question)
    label = label_of(annotation, question, (rule,))
    if label is None:
        return ""
    if label.value is None:
        return f"{guideline.name}: {label.outcome.value}"
    is_defect = rule.is_defect(label.value, question.scale)
    return f"{guideline.name} {label.value}: {'defect' if is_defect else 'no defect'} ({rule.condition})"


def _heading(study: Study, dialogue: Dialogue, annotations: Sequence[Annotation]) -> str:
    who = dialogue.persona.name if isinstance(dialogue.persona, Persona) else dialogue.held_by.value
    verdict = verdict_text(study, annotations, dialogue.groups) if len(annotations) == 1 else ""
    parts = [who, figures.number_of(len(dialogue.turns), "turn"), verdict]
    scripted = f"  SCRIPTED: {', '.join(dialogue.scripted)}" if dialogue.scripted else ""
    return f"{dialogue.label}  {', '.join(part for part in parts if part)}{scripted}"


def _turns(study: Study, dialogue: Dialogue) -> list[tuple[str, str]]:
    if dialogue.withheld:
        return [("texts", f"withheld: {dialogue.withheld}")]
    user = dialogue.persona.name if dialogue.persona is not None else "user"
    material, searches = found_in(dialogue.context, [turn.prompt for turn in dialogue.turns])
    result = {search.turn: "; ".join(passage.name for passage in search.passages) or "nothing" for search in searches}
    entries = [("source", material)] if material and dialogue.held_by is TesterType.RECORDED else []
    for turn in dialogue.turns:
        entries += [(user, turn.prompt), *([("found", result[turn.number])] if turn.number in result else [])]
        entries += [("source", turn.context)] if turn.context else []
        entries += [("bot", turn.response), *_attempts(study, dialogue, turn.number)]
    return entries


def _attempts(study: Study, dialogue: Dialogue, turn: int) -> Iterator[tuple[str, str]]:
    """Yield a red teamer's attempts in a turn and their results."""
    for strategy in dialogue.strategies:
        title = strategy_title(study.scenarios, strategy.name)
        for attempt in strategy.attempts:
            if attempt.turn == turn:
                refines = f" (refines attempt {attempt.refines})" if attempt.refines else ""
                yield "tried", f"{title}: {attempt.description}{refines}; {attempt.outcome.value}"


def said_lines(who: str, text: str, *, margin: int, width: int) -> list[str]:
    """Return speaker and text as lines of a terminal, without control characters.

    Args:
        who: The name at the left.
        text: The text.
        margin: Columns before the text; count.
        width: Columns of the terminal; count.
    """
    lines: list[str] = []
    name = who if len(who) < margin - _INDENT else f"{who[: margin - _INDENT - 3]}~"
    for number, paragraph in enumerate(printable(text).strip().splitlines() or [""]):
        label = " " * _INDENT + (name if number == 0 else "")
        lines += labelled(label, paragraph, margin=margin, width=width) or [label.rstrip()]
    return lines


def _annotation_texts(study: Study, annotation: Annotation) -> list[str]:
    """Return an annotator's answers, votes, and reasons for doubt.

    A reason and quotes of several answers are shown once.
    """
    several = len(study.guideline(annotation.guideline).instrument.questions) > 1
    texts, shown_grounds = [], set()
    for answer in annotation.answers:
        grounds = (answer.reasoning, answer.evidence)
        is_repeated = grounds in shown_grounds
        shown_grounds.add(grounds)
        brief = replace(answer, reasoning="", evidence=()) if is_repeated else answer
        texts.append(_answer_text(brief, named=several))
    return texts + notes_of(annotation)


def _answer_text(answer: Answer, *, named: bool) -> str:
    turn = f" (turn {answer.turn})" if answer.turn is not None else ""
    name = f"{answer.question}: " if named else ""
    parts = [f"{name}{answer.value or answer.outcome.value}{turn}.", answer.reasoning]
    parts += [_quote_text(quote) for quote in answer.evidence]
    if answer.value is None and answer.raw:
        parts.append(f'Reply: "{answer.raw[:200]}"')
    return " ".join(part for part in parts if part)


def _quote_text(quote: Quote) -> str:
    position = f"turn {quote.turn}" if quote.turn > 0 else "no turn named"
    position = "source material" if quote.turn == SOURCE_MATERIAL else position
    return f'"{quote.text}" ({position}, {"verified" if quote.verified else "NOT in the text"})'
