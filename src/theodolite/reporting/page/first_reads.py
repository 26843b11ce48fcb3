"""The dialogues to read first, chosen by a stated rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import REFERENCE
from theodolite.domain.identity import keyed_draw
from theodolite.reporting.found.cases import Case, CaseRecord, records_at, rules_of, title_of
from theodolite.reporting.page.subject import Subject

_LONG = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRead:
    """One dialogue that is worth reading before the others.

    Attributes:
        case: Place in the plan.
        label: What people call it.
        why: The rule that chose it.
        prompt: Beginning of what the tester said.
        response: Beginning of what the application said, or why there is none.
        labels: What annotators said, in one line.
    """

    case: int
    label: str
    why: str
    prompt: str
    response: str
    labels: str


def first_reads(subject: Subject) -> tuple[FirstRead, ...]:
    """Return up to five dialogues: a defect, disagreements, a failure, and one drawn at random.

    Where several fit, the seed of the study draws one, so that nobody picks
    what suits the story.
    """
    rules: tuple[tuple[str, Callable[[Subject], list[Case]]], ...] = (
        ("a defect with the best evidence", _best_defects),
        ("people against judge", _people_against_judge),
        ("people against each other", _people_against_each_other),
        ("a failure", lambda subject: [case for case in subject.cases if case.failures]),
        ("drawn at random", lambda subject: [case for case in subject.cases if case.dialogue is not None]),
    )
    chosen: dict[int, FirstRead] = {}
    for why, candidates in rules:
        fresh = [case for case in candidates(subject) if case.index not in chosen]
        shown = [case for case in fresh if case.dialogue is None or not case.dialogue.withheld] or fresh
        if shown:
            seed = subject.study.sampling.seed
            case = min(shown, key=lambda case: keyed_draw(seed, f"read first: {why}", case.label))
            chosen[case.index] = _first_read(subject, case, why)
    return tuple(chosen.values())


def _best_defects(subject: Subject) -> list[Case]:
    defects = [case for guideline, rule in rules_of(subject.study) for case in subject.defects(guideline, rule)]
    best = max((_evidence_for(case) for case in defects), default=0)
    return [case for case in defects if _evidence_for(case) == best]


def _evidence_for(case: Case) -> int:
    """Return how well labels are backed: by verified quotes first, then by reasons."""
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
    found = []
    for case in subject.cases:
        people, judges = _main_values(subject, case, people=True), _main_values(subject, case, people=False)
        if len(people) == 1 and judges and not people & judges:
            found.append(case)
    return found


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
        labels=labels_line(subject, case),
    )


def _excerpts(record: CaseRecord) -> tuple[str, str]:
    if record.dialogue is None or not record.dialogue.turns:
        return "", next((failure.message for failure in record.failures), "not held yet")
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


def labels_line(subject: Subject, case: Case) -> str:
    """Return what each annotator said to the questions on which its guideline's defect rules rest, in one line.

    An answer stands alone where the rules rest on one question, and under the question's name where they rest on
    several: else a dialogue that one of them calls a defect would be shown with the harmless answer to another.
    """
    texts = []
    for guideline in subject.study.guidelines:
        own = [a for a in subject.study.annotators if a.guideline == guideline.name and case.is_assigned(a.name)]
        questions = tuple(dict.fromkeys(rule.question for rule in guideline.defect_rules))
        for annotator in own:
            name, asked = annotator.name, [question for question in questions if annotator.answers(question)]
            labels = [(question, case.dialogue_label(name, guideline, question)) for question in asked]
            words = [(question, label.value or label.outcome.value) for question, label in labels]
            told = ", ".join(word if len(questions) == 1 else f"{question} {word}" for question, word in words)
            texts += [f"{title_of(subject.study, name)}: {told}"] if told else []
    return "; ".join(texts)
