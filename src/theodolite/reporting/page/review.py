"""Dialogues to review first, and the filters above the list of dialogues."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.annotator import REFERENCE
from theodolite.domain.identity import keyed_draw
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.queries.cases import Case, CaseRecord, records_at, rules_of, title_of
from theodolite.reporting.queries.dialogue_sets import changed, disagreements, unparseable
from theodolite.reporting.words import figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A filter of the list.

    Attributes:
        name: Name of its set.
        title: Its heading.
        meaning: Its effect.
        n: Matching dialogues; count.
    """

    name: str
    title: str
    meaning: str
    n: int


def chips_of(subject: Subject) -> tuple[Chip, ...]:
    """Return the chips in their fixed order, including empty ones, and store their sets."""
    every = (
        ("all", "All", "every planned dialogue", [case.index for case in subject.cases]),
        ("defect", "Defect", "a defect in the labels that decide the rates", _defects(subject)),
        ("disagreement", "Disagreement", "two annotators gave different labels", disagreements(subject.evidence)),
        ("failed", "Failed", "the dialogue or a label of it failed", [c.index for c in subject.cases if c.failures]),
        ("unparseable", "Unparseable", "an annotator's reply fits no label", unparseable(subject.evidence)),
        (
            "flipped",
            "Changed",
            "a defect in one application and none in another on the same prompts",
            changed(subject.evidence, lambda *rule: {case.index for case in subject.defects(*rule)}),
        ),
        ("withheld", "Withheld text", "the texts are not shown", _withheld(subject)),
    )
    chips = []
    for name, title, meaning, places in every:
        subject.sets.add(name, title if name != "all" else "All dialogues", places)
        chips.append(Chip(name=name, title=title, meaning=meaning, n=len(set(places))))
    return tuple(chips)


def _defects(subject: Subject) -> list[int]:
    return [case.index for guideline, rule in rules_of(subject.study) for case in subject.defects(guideline, rule)]


def _withheld(subject: Subject) -> list[int]:
    return [case.index for case in subject.cases if case.dialogue is not None and case.dialogue.withheld]


_LONG = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRead:
    """A dialogue that is worth reading first.

    Attributes:
        case: Position in the plan.
        label: Displayed label.
        why: The rule that chose it.
        prompt: Start of the tester's prompt.
        response: Start of the application's reply, or the reason why there is none.
        labels: The annotators' labels, in one line.
        application: The application.
        tint: Number of its colour.
        quotes: Annotators' quotes from the response, verified.
    """

    case: int
    label: str
    why: str
    prompt: str
    response: str
    labels: str
    application: str = ""
    tint: int = 0
    quotes: tuple[str, ...] = ()

    @property
    def pieces(self) -> tuple[tuple[str, bool], ...]:
        """The response in pieces, each with whether an annotator quotes it."""
        pieces: list[tuple[str, bool]] = []
        rest = self.response
        for quote in sorted(self.quotes, key=rest.find):
            before, met, after = rest.partition(quote)
            if met:
                pieces += [(before, False), (quote, True)]
                rest = after
        return (*(piece for piece in pieces if piece[0]), (rest, False))


def first_reads(subject: Subject) -> tuple[FirstRead, ...]:
    """Return up to five dialogues: a defect, disagreements, a failure, and one drawn at random.

    If several match, the seed of the study draws one, so that no one selects
    what suits the story.
    """
    rules: tuple[tuple[str, str, Callable[[Subject], list[Case]]], ...] = (
        ("a defect with the best evidence", "Defect, best evidence", _best_defects),
        ("people against judge", "Judge against people", _people_against_judge),
        ("people against each other", "People disagree", _people_against_each_other),
        ("a failure", "Failure", lambda subject: [case for case in subject.cases if case.failures]),
        ("drawn at random", "Drawn at random", lambda subject: [case for case in subject.cases if case.dialogue]),
    )
    chosen: dict[int, FirstRead] = {}
    for key, why, candidates in rules:
        fresh = [case for case in candidates(subject) if case.index not in chosen]
        shown = [case for case in fresh if case.dialogue is None or not case.dialogue.withheld] or fresh
        if shown:
            seed = subject.study.sampling.seed
            case = min(shown, key=lambda case: keyed_draw(seed, f"read first: {key}", case.label))
            chosen[case.index] = _first_read(subject, case, why)
    return tuple(chosen.values())


def _best_defects(subject: Subject) -> list[Case]:
    defects = [case for guideline, rule in rules_of(subject.study) for case in subject.defects(guideline, rule)]
    best = max((_evidence_for(case) for case in defects), default=0)
    return [case for case in defects if _evidence_for(case) == best]


def _evidence_for(case: Case) -> int:
    """Return how well labels are supported: verified quotes first, then reasons."""
    support = case.table.support
    return support[case.index] if support else 0


def _main_values(subject: Subject, case: Case, *, people: bool) -> set[str]:
    """Return the labels that people, or all others, gave to the main question of the first guideline."""
    guideline = subject.study.guidelines[0]
    names = [
        a.name
        for a in subject.study.annotators
        if a.guideline == guideline.name and (a.kind is AnnotatorKind.PERSON) == people
    ]
    if people and not names:
        names = [REFERENCE]
    labels = (case.dialogue_label(name, guideline) for name in names)
    return {label.value for label in labels if label.value is not None}


def _people_against_judge(subject: Subject) -> list[Case]:
    if not subject.study.guidelines:
        return []
    result = []
    for case in subject.cases:
        people, judges = _main_values(subject, case, people=True), _main_values(subject, case, people=False)
        if len(people) == 1 and judges and not people & judges:
            result.append(case)
    return result


def _people_against_each_other(subject: Subject) -> list[Case]:
    if not subject.study.guidelines:
        return []
    return [case for case in subject.cases if len(_main_values(subject, case, people=True)) > 1]


def _first_read(subject: Subject, case: Case, why: str) -> FirstRead:
    (record,) = records_at(subject.evidence, (case.index,))
    prompt, response = _excerpts(record)
    return FirstRead(
        case=case.index,
        label=case.label,
        why=why,
        prompt=prompt,
        response=response,
        labels=grouped_labels(subject, case),
        application=case.setting.application,
        tint=subject.tint(case.setting.application),
        quotes=_quotes(record),
    )


def _quotes(record: CaseRecord) -> tuple[str, ...]:
    """Return the verified quotes of annotators, each in one line and as long as an excerpt may be."""
    answers = [answer for annotation in record.annotations.values() for answer in annotation.answers]
    texts = (_short(quote.text) for answer in answers for quote in answer.evidence if quote.verified)
    return tuple(dict.fromkeys(text for text in texts if text))


def _excerpts(record: CaseRecord) -> tuple[str, str]:
    if record.dialogue is None or not record.dialogue.turns:
        return "", next((failure.message for failure in record.failures), "not completed yet")
    turn = record.dialogue.turns[_telling_turn(record, len(record.dialogue.turns)) - 1]
    if turn.withheld:
        return "", f"Texts withheld: {turn.withheld}"
    return _short(turn.prompt), _short(turn.response)


def _telling_turn(record: CaseRecord, last: int) -> int:
    """Return the number of the first turn that an annotator quotes, or of the last turn."""
    answers = [answer for annotation in record.annotations.values() for answer in annotation.answers]
    quoted = [quote.turn for answer in answers for quote in answer.evidence if quote.verified and quote.turn <= last]
    return min(quoted, default=last)


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONG else flat[: _LONG - 1].rstrip() + "…"


def grouped_labels(subject: Subject, case: Case) -> str:
    """Return the labels of a dialogue, each with its annotators: `partial refusal: A, B; full compliance: GPT-4`."""
    by_label: dict[str, list[str]] = defaultdict(list)
    for title, label in _labels(subject, case):
        by_label[_rounded(label)].append(title)
    if len(by_label) > 1:  # a guideline of other scenarios has no labels for these dialogues
        for outcome in (Outcome.MISSING, Outcome.NOT_APPLICABLE):
            by_label.pop(outcome.value, None)
    n = sum(map(len, by_label.values()))
    if len(by_label) == 1 and n > 1:
        return f"{next(iter(by_label))} by {n} of {n}"
    return "; ".join(f"{label}: {_titles(titles)}" for label, titles in by_label.items())


_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
"""A number with more decimals than a summary has room for; the dialogue itself shows all of them."""


def _rounded(label: str) -> str:
    """Return a label with at most two decimals."""
    return f"{float(label):.2f}" if _LONG_NUMBER.fullmatch(label) else label


_MOST_TITLES = 3


def _titles(titles: list[str]) -> str:
    distinct = list(dict.fromkeys(titles))
    return ", ".join(distinct) if len(distinct) <= _MOST_TITLES else figures.count(len(titles))


def _labels(subject: Subject, case: Case) -> Iterator[tuple[str, str]]:
    """Yield the title of each annotator and its answers to the questions of its guideline's defect rules.

    An answer is alone where the rules rest on one question, and under the question's name where they rest on
    several. Otherwise a dialogue that one of them calls a defect would appear with the harmless answer to another.
    """
    for guideline in subject.study.guidelines:
        own = [a for a in subject.study.annotators if a.guideline == guideline.name and case.is_assigned(a.name)]
        questions = tuple(dict.fromkeys(rule.question for rule in guideline.defect_rules))
        for annotator in own:
            name, own_questions = annotator.name, [question for question in questions if annotator.answers(question)]
            labels = [(question, case.dialogue_label(name, guideline, question)) for question in own_questions]
            words = [(question, label.value or label.outcome.value) for question, label in labels]
            answer_text = ", ".join(word if len(questions) == 1 else f"{question} {word}" for question, word in words)
            if answer_text:
                yield title_of(subject.study, name), answer_text
