"""The data that the page browses: one JSON block, texts once, sets by place."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from theodolite.domain.annotation import Annotation, Answer
from theodolite.domain.dialogue import Dialogue, Ending, TesterType
from theodolite.domain.estimate import Estimate, Measurement, Undefined
from theodolite.domain.failure import Failure
from theodolite.domain.identity import SHORT, Json
from theodolite.domain.passage import found_in
from theodolite.domain.persona import Persona
from theodolite.domain.scenario import Scenario, strategy_title
from theodolite.domain.strategy import Strategy
from theodolite.reporting.found.cases import CaseRecord, records_at, title_of
from theodolite.reporting.page.calls_view import CallTexts
from theodolite.reporting.page.chips import Chip
from theodolite.reporting.page.embedded import Embedded
from theodolite.reporting.page.sets import CaseSet
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.results.estimates import estimate_entry
from theodolite.reporting.words import figures
from theodolite.reporting.words.annotations import notes_of
from theodolite.reporting.words.calls import spent_text
from theodolite.reporting.words.estimates import undefined_text

_AT_ONCE = 1_000
"""Entries of a list that are written together; count."""


def data_pieces(subject: Subject, chips: Sequence[Chip], sample: Embedded) -> Iterator[str]:
    """Yield everything that the page's scripts read as JSON, one dialogue at a time.

    Sets are added for the numerators of all estimates, so call it after all
    views are made.
    """
    kept = _Kept(calls=CallTexts(room=sample.room), scenarios=subject.study.scenarios)
    estimates: list[Json] = [
        _estimate(subject, place, measurement) for place, measurement in enumerate(subject.findings.measurements)
    ]
    run = f"{subject.study.name}, run {subject.evidence.run.number}, {subject.facts.generated:%Y-%m-%d}"
    annotators: list[Json] = [
        {"name": a.name, "title": a.title or a.name, "kind": a.kind.value, "guideline": a.guideline}
        for a in subject.study.annotators
    ]
    head: dict[str, Json] = {
        "run": run,
        "applications": [application.name for application in subject.study.applications],
        "annotators": annotators,
        "show": subject.facts.show_command,
    }
    if not sample.is_whole:
        head["planned"] = sample.n_planned
    yield data_text(head)[:-1] + ',"cases":['
    for number, record in enumerate(records_at(subject.evidence, sample.places, with_calls=True)):
        yield ("," if number else "") + data_text(_case(record, kept))
    yield "]"
    tail: dict[str, Iterable[Json]] = {
        "sittings": (dict(zip(_SITTING, sitting, strict=True)) for sitting in kept.sittings),
        "contexts": kept.contexts,
        "estimates": estimates,
        "chips": ({"name": chip.name, "title": chip.title, "meaning": chip.meaning, "n": chip.n} for chip in chips),
    }
    if kept.calls.lines:
        tail["lines"] = kept.calls.lines
    for name, entries in tail.items():
        yield from _list_pieces(name, entries)
    yield ',"sets":' + data_text(dict(_sets(subject.sets.sets.values(), sample))) + "}"


def _list_pieces(name: str, entries: Iterable[Json]) -> Iterator[str]:
    """Yield a list of an object some entries at a time, since the lines of all prompts are millions of letters."""
    rest = iter(entries)
    yield f',"{name}":['
    comma = ""
    while some := [*islice(rest, _AT_ONCE)]:
        yield comma + data_text(some)[1:-1]
        comma = ","
    yield "]"


def _sets(sets: Iterable[CaseSet], sample: Embedded) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield the sets by name; one of the same dialogues as an earlier one names that one."""
    known: dict[tuple[int, ...], str] = {}
    for kept in sets:
        first = known.setdefault(kept.cases, kept.name)
        yield kept.name, _set(kept, sample) if first == kept.name else {"title": kept.title, "as": first}


def _set(kept: CaseSet, sample: Embedded) -> dict[str, Json]:
    """Return a set by the places of its dialogues in the file, with their number in all if not all are there."""
    cases: list[Json] = [*sample.within(kept.cases)]
    entry: dict[str, Json] = {"title": kept.title, "cases": cases}
    return entry if len(cases) == len(kept.cases) else {**entry, "n": len(kept.cases)}


def data_text(data: Json) -> str:
    """Return data as JSON that no HTML parser can mistake for markup."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


_ENDINGS_OF_ATTACKS = {
    Ending.STOP_RULE: "something was released",
    Ending.SCRIPT_END: "nothing left to try",
}

_SITTING = ("by", "version", "guideline", "instrument")

Sitting = tuple[str, str, str, str]
"""Annotator, its version, guideline and its version: the same for thousands of annotations."""


@dataclass(slots=True)
class _Kept:
    """What many cases share, each with its place: source materials, who labelled by which version, lines of prompts."""

    calls: CallTexts
    scenarios: Sequence[Scenario]
    contexts: dict[str, int] = field(default_factory=dict)
    sittings: dict[Sitting, int] = field(default_factory=dict)

    def context(self, text: str) -> int:
        """Return the place of a text that cases share."""
        return self.contexts.setdefault(text, len(self.contexts))


def _case(case: CaseRecord, kept: _Kept) -> dict[str, Json]:
    entry: dict[str, Json] = {
        "label": case.session.label,
        "application": case.session.application,
        "scenario": case.session.scenario,
        "level": case.session.level.value,
        "by": case.session.held_by.value,
        "groups": dict(case.session.groups),
        "annotations": [_annotation(annotation, case, kept) for annotation in case.annotations.values()],
        "finals": [
            {"guideline": g, "question": q, "value": f.value or f.outcome.value, "origin": f.origin.value}
            for (g, q), f in case.adjudications.items()
        ],
    }
    if case.failures:
        entry["failures"] = [_failure(failure, case) for failure in case.failures]
    if isinstance(case.session.tester, Persona):
        entry["persona"] = {"name": case.session.tester.name, "text": case.session.tester.text}
    if case.dialogue is not None:
        entry |= _dialogue(case.dialogue, kept)
        if spent := spent_text(case.calls.get(case.dialogue.key, ())):
            entry["spent"] = spent
    return entry


def _dialogue(dialogue: Dialogue, kept: _Kept) -> dict[str, Json]:
    entry: dict[str, Json] = {
        "turns": [[turn.prompt, turn.response] for turn in dialogue.turns],
        "ending": _ending(dialogue),
        "version": dialogue.application_version[:SHORT],
    }
    if dialogue.withheld:
        entry["withheld"] = dialogue.withheld
    if dialogue.strategies:
        entry["strategies"] = [_strategy(strategy, kept.scenarios) for strategy in dialogue.strategies]
    if dialogue.scripted:
        entry["scripted"] = list(dialogue.scripted)
    material, searches = found_in(dialogue.context, [turn.prompt for turn in dialogue.turns])
    if material:
        entry["context"] = kept.context(material)
    if any(turn.context for turn in dialogue.turns):
        entry["sources"] = [kept.context(turn.context) if turn.context else None for turn in dialogue.turns]
    if searches:
        entry["found"] = [[kept.context(f"{one.name}\n{one.text}") for one in found.passages] for found in searches]
    return entry


def _ending(dialogue: Dialogue) -> str:
    """Return why a dialogue ended; a simulated red teamer follows no script, and what stops it is a release."""
    by_program = dialogue.strategies and dialogue.held_by is TesterType.SIMULATED_USER
    return _ENDINGS_OF_ATTACKS.get(dialogue.ending, dialogue.ending.value) if by_program else dialogue.ending.value


def _strategy(strategy: Strategy, scenarios: Sequence[Scenario]) -> dict[str, Json]:
    return {
        "title": strategy_title(scenarios, strategy.name),
        "attempts": [
            {
                "turn": a.turn,
                "what": a.description,
                "outcome": a.outcome.value,
                "refines": a.refines,
                "planted": a.planted,
            }
            for a in strategy.attempts
        ],
    }


def _annotation(annotation: Annotation, case: CaseRecord, kept: _Kept) -> dict[str, Json]:
    versions = annotation.annotator_version[:SHORT], annotation.instrument_version[:SHORT]
    sitting = (annotation.annotator, versions[0], annotation.guideline, versions[1])
    entry: dict[str, Json] = {
        "sitting": kept.sittings.setdefault(sitting, len(kept.sittings)),
        "answers": [_answer(answer) for answer in annotation.answers],
    }
    if annotation.scripted:
        entry["scripted"] = True
    if notes := notes_of(annotation):
        entry["notes"] = [*notes]
    if calls := kept.calls.entry(case.calls.get(annotation.unit, ())):
        entry["calls"] = calls
    return entry


def _answer(answer: Answer) -> dict[str, Json]:
    entry: dict[str, Json] = {"question": answer.question}
    optional: dict[str, Json] = {
        "outcome": answer.outcome.value if answer.value is None else "",
        "value": answer.value,
        "turn": answer.turn,
        "replicate": answer.replicate if answer.replicate > 1 else None,
        "reasoning": answer.reasoning,
        "raw": answer.raw,
        "quotes": [[quote.turn, quote.text, quote.verified] for quote in answer.evidence],
    }
    return entry | {name: value for name, value in optional.items() if value}


def _failure(failure: Failure, case: CaseRecord) -> dict[str, Json]:
    spent = spent_text(case.calls.get(failure.unit, ()))
    entry: dict[str, Json] = {
        "party": failure.party.value,
        "kind": failure.kind.value,
        "message": failure.message,
        "turn": failure.turn,
        "annotator": failure.annotator,
        "tries": failure.tries,
    }
    return {**entry, "spent": spent} if spent else entry


def _estimate(subject: Subject, place: int, measurement: Measurement) -> dict[str, Json]:
    words = subject.words.measure(measurement.measure)
    numerator = [case.index for case in subject.labelled(measurement.dialogues)]
    title = f"{words.title}, {measurement.application}"
    entry = estimate_entry(measurement)
    del entry["dialogues"]
    return entry | {
        "title": words.title,
        "definition": words.definition,
        "formula": words.formula,
        "source": subject.words.method(measurement.result.method),
        "text": estimate_text(measurement.result),
        "subject_text": _subject_words(subject, measurement),
        "set": subject.sets.add(f"estimate{place}", f"{title}: counted", numerator),
    }


def _subject_words(subject: Subject, measurement: Measurement) -> str:
    of = measurement.subject
    names = [title_of(subject.study, name) for name in of.annotators]
    by = f"by {' and '.join(names)}" if len(names) <= 2 else ", ".join(of.annotators)
    rule = f"{of.guideline}: {of.condition}" if of.condition else of.guideline
    group = f"{of.group.name} {of.group.value}" if of.group else ""
    texts = [of.application, rule, group, by if names else ""]
    return "; ".join(text for text in texts if text)


def estimate_text(result: Estimate | Undefined) -> str:
    """Return a number with its count and interval, ready to be pasted."""
    if isinstance(result, Undefined):
        return undefined_text(result)
    if result.count is not None or result.unit.startswith("fraction"):
        part = result.count if result.count is not None else round(result.value * result.n)
        text = figures.share(part, result.n)
        ends = (
            figures.span(result.low, result.high) + " %" if result.low is not None and result.high is not None else ""
        )
        if result.n < figures.FEW:
            return text
    else:
        text = f"{figures.coefficient(result.value)} (n = {figures.count(result.n)})"
        low, high = result.low, result.high
        ends = (
            f"{figures.coefficient(low)} to {figures.coefficient(high)}" if low is not None and high is not None else ""
        )
    return f"{text}, {100 * result.confidence:.0f} % interval {ends}" if ends else text
