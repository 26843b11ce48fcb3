"""The dialogues that the report embeds as JSON: which of them, their calls and their sets."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from theodolite.domain.annotation import Annotation, Answer, Outcome
from theodolite.domain.annotator import REFERENCE, Annotator, ModelJudge
from theodolite.domain.dialogue import Dialogue, Ending, TesterType, found_in
from theodolite.domain.estimate import Estimate, Measurement, Undefined
from theodolite.domain.identity import SHORT, Json, keyed_draw
from theodolite.domain.persona import Persona, Strategy
from theodolite.domain.run import Failure
from theodolite.domain.scenario import Scenario, strategy_title
from theodolite.domain.status import Call
from theodolite.domain.undefined_reasons import undefined_text
from theodolite.reporting.page.review import Chip
from theodolite.reporting.page.subject import CaseSet, Subject
from theodolite.reporting.queries.cases import CaseRecord, records_at, title_of
from theodolite.reporting.results.estimates import estimate_entry
from theodolite.reporting.words import figures
from theodolite.reporting.words.descriptions import call_texts, notes_of, spent_text

_AT_ONCE = 1_000

"""Number of entries of a list that are written together; count."""


def data_pieces(subject: Subject, chips: Sequence[Chip], sample: Embedded) -> Iterator[str]:
    """Yield everything that the page's scripts read as JSON, one dialogue at a time.

    Sets are added for the numerators of all estimates, so call it after all
    views are made.
    """
    is_paired = len(subject.study.applications) > 1
    interned = _Kept(calls=CallTexts(room=sample.room), scenarios=subject.study.scenarios, is_paired=is_paired)
    estimates: list[Json] = [
        _estimate(subject, index, measurement) for index, measurement in enumerate(subject.findings.measurements)
    ]
    run = f"{subject.study.name}, run {subject.evidence.run.number}, {subject.facts.generated:%Y-%m-%d}"
    annotators: list[Json] = [
        {
            "name": a.name,
            "title": a.title or a.name,
            "kind": a.kind.value,
            "guideline": a.guideline,
            **_scale(subject, a),
        }
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
        yield ("," if number else "") + data_text(_case(record, interned) | _final(subject, record.index))
    yield "]"
    tail: dict[str, Iterable[Json]] = {
        "sittings": (dict(zip(_SITTING, sitting, strict=True)) for sitting in interned.sittings),
        "contexts": interned.contexts,
        "estimates": estimates,
        "chips": ({"name": chip.name, "title": chip.title, "meaning": chip.meaning, "n": chip.n} for chip in chips),
    }
    if interned.calls.lines:
        tail["lines"] = interned.calls.lines
    for name, entries in tail.items():
        yield from _list_pieces(name, entries)
    yield ',"sets":' + data_text(dict(_sets(subject.sets.sets.values(), sample))) + "}"


def _final(subject: Subject, index: int) -> dict[str, Json]:
    """Return the final label on the main question of the first guideline; empty without one."""
    if not subject.study.reference or not subject.study.guidelines:
        return {}
    label = subject.cases[index].dialogue_label(REFERENCE, subject.study.guidelines[0]).value
    return {} if label is None else {"final": label}


_MOST_STEPS = 10
"""Maximum number of labels that the page draws as steps of a scale; count."""


def _scale(subject: Subject, annotator: Annotator) -> dict[str, Json]:
    """Return the labels of an annotator's main question in order, if they are few numbers."""
    guideline = next((one for one in subject.study.guidelines if one.name == annotator.guideline), None)
    labels = guideline.question.scale.categories if guideline else ()
    is_scale = 2 < len(labels) <= _MOST_STEPS and all(label.isdecimal() for label in labels)
    return {"scale": [*labels]} if is_scale else {}


def _list_pieces(name: str, entries: Iterable[Json]) -> Iterator[str]:
    """Yield a list of an object some entries at a time, because all lines have millions of characters."""
    rest = iter(entries)
    yield f',"{name}":['
    comma = ""
    while some := [*islice(rest, _AT_ONCE)]:
        yield comma + data_text(some)[1:-1]
        comma = ","
    yield "]"


def _sets(sets: Iterable[CaseSet], sample: Embedded) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield the sets by name; a set with the same dialogues as an earlier one refers to it."""
    known: dict[tuple[int, ...], str] = {}
    for case_set in sets:
        first = known.setdefault(case_set.cases, case_set.name)
        yield (
            case_set.name,
            _set(case_set, sample) if first == case_set.name else {"title": case_set.title, "as": first},
        )


def _set(case_set: CaseSet, sample: Embedded) -> dict[str, Json]:
    """Return a set by the positions of its dialogues in the file, with their total if some are missing."""
    cases: list[Json] = [*sample.within(case_set.cases)]
    entry: dict[str, Json] = {"title": case_set.title, "cases": cases}
    return entry if len(cases) == len(case_set.cases) else {**entry, "n": len(case_set.cases)}


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
    """Shared data of many cases, each with its index: source materials, annotators with versions, lines of prompts."""

    calls: CallTexts
    scenarios: Sequence[Scenario]
    is_paired: bool = False
    pairs: dict[str, int] = field(default_factory=dict)
    contexts: dict[str, int] = field(default_factory=dict)
    sittings: dict[Sitting, int] = field(default_factory=dict)

    def context(self, text: str) -> int:
        """Return the index of a text that cases share."""
        return self.contexts.setdefault(text, len(self.contexts))


def _case(case: CaseRecord, interned: _Kept) -> dict[str, Json]:
    entry: dict[str, Json] = {
        "label": case.session.label,
        "application": case.session.application,
        "scenario": case.session.scenario,
        "level": case.session.level.value,
        "by": case.session.held_by.value,
        "groups": dict(case.session.groups),
        "annotations": [_annotation(annotation, case, interned) for annotation in case.annotations.values()],
        "finals": [
            {"guideline": g, "question": q, "value": f.value or f.outcome.value, "origin": f.origin.value}
            for (g, q), f in case.adjudications.items()
        ],
    }
    if interned.is_paired:
        entry["pair"] = interned.pairs.setdefault(case.session.pair_key, len(interned.pairs))
    if case.failures:
        entry["failures"] = [_failure(failure, case) for failure in case.failures]
    if isinstance(case.session.tester, Persona):
        entry["persona"] = {"name": case.session.tester.name, "text": case.session.tester.text}
    if case.dialogue is not None:
        entry |= _dialogue(case.dialogue, interned)
        if spent := spent_text(case.calls.get(case.dialogue.key, ())):
            entry["spent"] = spent
    return entry


def _dialogue(dialogue: Dialogue, interned: _Kept) -> dict[str, Json]:
    entry: dict[str, Json] = {
        "turns": [[turn.prompt, turn.response] for turn in dialogue.turns],
        "ending": _ending(dialogue),
        "version": dialogue.application_version[:SHORT],
    }
    if dialogue.withheld:
        entry["withheld"] = dialogue.withheld
    if dialogue.strategies:
        entry["strategies"] = [_strategy(strategy, interned.scenarios) for strategy in dialogue.strategies]
    if dialogue.scripted:
        entry["scripted"] = list(dialogue.scripted)
    material, searches = found_in(dialogue.context, [turn.prompt for turn in dialogue.turns])
    if material:
        entry["context"] = interned.context(material)
    if any(turn.context for turn in dialogue.turns):
        entry["sources"] = [interned.context(turn.context) if turn.context else None for turn in dialogue.turns]
    if searches:
        entry["found"] = [
            [interned.context(f"{passage.name}\n{passage.text}") for passage in result.passages] for result in searches
        ]
    return entry


def _ending(dialogue: Dialogue) -> str:
    """Return why a dialogue ended; a simulated red teamer has no script and stops at a release."""
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


def _annotation(annotation: Annotation, case: CaseRecord, interned: _Kept) -> dict[str, Json]:
    versions = annotation.annotator_version[:SHORT], annotation.instrument_version[:SHORT]
    source = (annotation.annotator, versions[0], annotation.guideline, versions[1])
    entry: dict[str, Json] = {
        "sitting": interned.sittings.setdefault(source, len(interned.sittings)),
        "answers": [_answer(answer) for answer in annotation.answers],
    }
    if annotation.scripted:
        entry["scripted"] = True
    if notes := notes_of(annotation):
        entry["notes"] = [*notes]
    if calls := interned.calls.entry(case.calls.get(annotation.unit, ())):
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
    for name in ("dialogues", "non_defects", "unlabelled"):
        del entry[name]
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
        ends = figures.span(result.low, result.high) + "%" if result.low is not None and result.high is not None else ""
        if result.n < figures.FEW:
            return text
    else:
        text = f"{figures.coefficient(result.value)} (n = {figures.count(result.n)})"
        low, high = result.low, result.high
        ends = (
            f"{figures.coefficient(low)} to {figures.coefficient(high)}" if low is not None and high is not None else ""
        )
    return f"{text}, {100 * result.confidence:.0f}% interval {ends}" if ends else text


LETTERS = 10_000_000

"""Approximate size of the dialogues in a report that browsers open without a noticeable delay; characters."""


_AROUND = 400

"""Approximate overhead of one dialogue's texts: names, labels, punctuation; characters."""


_TELLING_PART = 0.8

"""Share of the bound that the informative dialogues may fill; fraction."""


_DIALOGUES_PART = 0.6

"""Share of the bound that dialogues may fill if judges' prompts and replies need space too; fraction."""


_TELLING = ("defect", "disagreement", "failed", "unparseable")

"""Sets with the most informative dialogues."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """The dialogues that are in a report.

    Attributes:
        places: Their positions in the plan, in order.
        n_planned: Planned dialogues; count.
        n_telling: Informative dialogues among them; count.
        n_all_telling: Informative dialogues of the whole run; count.
        show_command: Command that shows a dialogue, before the label of any other dialogue.
        room: Remaining size for the prompts and raw replies of judges; characters.
    """

    places: Sequence[int]
    n_planned: int
    n_telling: int = 0
    n_all_telling: int = 0
    show_command: str = ""
    room: int = 0
    _index: dict[int, int] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Whether all planned dialogues are in the file."""
        return len(self.places) == self.n_planned

    @property
    def words(self) -> str:
        """The number of dialogues in the file and how to read the rest; empty if all are in the file."""
        if self.is_whole:
            return ""
        embedded, planned = figures.count(len(self.places)), figures.count(self.n_planned)
        telling, all_telling = figures.count(self.n_telling), figures.count(self.n_all_telling)
        rest = figures.count(len(self.places) - self.n_telling)
        return (
            f"{embedded} of {planned} dialogues stand in this file: {telling} of the {all_telling} with a defect, "
            f"a disagreement, a failure or no label, and {rest} of the others, drawn by the study's seed. "
            f"All counts are of all dialogues. To read another one:  {self.show_command} LABEL"
        )

    def within(self, places: Iterable[int]) -> Iterator[int]:
        """Yield the positions of the dialogues in the file."""
        if self.is_whole:
            yield from places
            return
        yield from (self._index[place] for place in places if place in self._index)


def embedded_in(subject: Subject, first: Collection[int], *, letters: int = LETTERS) -> Embedded:
    """Return which dialogues are in a report.

    Args:
        subject: The run; its chips are made.
        first: Positions of dialogues that must be included.
        letters: Approximate maximum size of the dialogues; characters.
    """
    sizes, planned = subject.evidence.answers.characters, len(subject.cases)
    room = letters - sum(sizes) - _AROUND * planned
    if room >= 0:
        return Embedded(places=range(planned), n_planned=planned, room=room)
    bound = _DIALOGUES_PART * letters if _has_judge(subject) else letters
    telling = _telling(subject)
    chosen = dict.fromkeys(first)
    used = sum(sizes[place] + _AROUND for place in chosen)
    for group, most in ((telling, _TELLING_PART * bound), (set(range(planned)) - telling, bound)):
        for place in _sampled(subject, group - chosen.keys()):
            used += sizes[place] + _AROUND
            if used > most:
                break
            chosen[place] = None
    places = sorted(chosen)
    size = sum(sizes[place] + _AROUND for place in places)
    return Embedded(
        places=places,
        n_planned=planned,
        n_telling=len(telling & chosen.keys()),
        n_all_telling=len(telling),
        show_command=subject.facts.show_command,
        room=max(0, letters - size),
        _index={place: number for number, place in enumerate(places)},
    )


def _has_judge(subject: Subject) -> bool:
    return any(isinstance(annotator.labelling, ModelJudge) for annotator in subject.study.annotators)


def _telling(subject: Subject) -> set[int]:
    """Return the positions of the dialogues with a defect, a disagreement, a failure or no label."""
    case_sets = subject.sets.sets
    telling = {place for name in _TELLING if name in case_sets for place in case_sets[name].cases}
    for account in subject.accounts:
        for part in account.unmeasured:
            telling.update(part.cases if part.outcome is not Outcome.NOT_APPLICABLE else ())
    return telling


def _sampled(subject: Subject, places: Collection[int]) -> list[int]:
    """Return positions in a random order determined by the study's seed."""
    seed, label = subject.study.sampling.seed, subject.evidence.sessions.label
    return sorted(places, key=lambda place: keyed_draw(seed, "embedded in the report", label(place)))


_AROUND_LINE = 6

"""Approximate number of characters that a line takes if a text refers to it by number; count."""


@dataclass(slots=True)
class CallTexts:
    """The texts of calls in one file, with equal lines of all prompts once.

    Prompts of one guideline differ in little more than the dialogue, and those of
    several readings in an order.

    Attributes:
        room: Maximum size of further texts; characters.
        lines: All lines so far, each with its number.
    """

    room: int
    lines: dict[str, int] = field(default_factory=dict)

    def entry(self, calls: Sequence[Call]) -> dict[str, Json]:
        """Return a judge's calls on the page; empty if there were none."""
        if not calls:
            return {}
        entry: dict[str, Json] = {"spent": spent_text(calls)}
        texts = [(name, text.split("\n")) for name, text in call_texts(calls)]
        new = {line for _, lines in texts for line in lines if line not in self.lines}
        letters = sum(map(len, new)) + _AROUND_LINE * sum(len(lines) for _, lines in texts)
        if letters > self.room:
            return {**entry, "leftOut": True}
        self.room -= letters
        encoded: list[Json] = [[name, [self._number(line) for line in lines]] for name, lines in texts]
        return {**entry, "texts": encoded}

    def _number(self, line: str) -> int:
        return self.lines.setdefault(line, len(self.lines))
