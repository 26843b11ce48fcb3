"""Rules of annotation by people: plain functions without a database."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from math import ceil, floor
from statistics import median
from typing import Final, TypeVar

from theodolite.domain.annotating.case import ItemStage
from theodolite.domain.annotating.discrepancy import Discrepancy, Position, Resolution
from theodolite.domain.annotating.quality import (
    AnnotatorStep,
    Marked,
    Onboarding,
    ReviewCandidate,
    StepStatus,
    is_model,
)
from theodolite.domain.annotating.work import AnnotatorState, ItemState, QueueCategory, QueueDesign, Routed, WorkItem
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.errors import InputError
from theodolite.domain.event import AnnotationProcess, Route
from theodolite.domain.findings.number import Undefined
from theodolite.domain.guideline import DefectRule, Example, Guideline, Violation
from theodolite.domain.identity import digest, keyed_draw, version_of
from theodolite.domain.instrument import Instrument, Question, ScaleKind
from theodolite.domain.schema import AnnotationSchema
from theodolite.domain.shown_order import ShownOrder, n_orders
from theodolite.domain.study import Study
from theodolite.domain.undefined_reasons import NO_TEST_ANSWER, NO_WRONG_TEST_ANSWER


def steps_of(design: QueueDesign, onboarding: Onboarding) -> tuple[StepStatus, ...]:
    """Return the steps that a queue requires of an annotator, and the next one.

    Only this function decides on an annotator's next step. Work follows as soon as one category
    is open, even if examples or tests of other categories are left.

    Args:
        design: Design of the queue.
        onboarding: Completed onboarding: texts read, practice and test.
    """
    has_examples = any(category.n_practice for category in onboarding.categories)
    steps = {
        AnnotatorStep.BACKGROUND: (bool(design.background), onboarding.background_read),
        AnnotatorStep.RULES: (bool(design.rules), onboarding.rules_read),
        AnnotatorStep.PRACTICE: (
            design.process.practice and has_examples,
            all(category.practised for category in onboarding.categories),
        ),
        AnnotatorStep.TEST: (
            bool(design.process.pass_mark),
            all(category.qualified for category in onboarding.categories),
        ),
        AnnotatorStep.WORK: (True, False),
    }
    required = [(step, is_done) for step, (is_required, is_done) in steps.items() if is_required]
    waiting = (step for step, is_done in required if not is_done)
    current = AnnotatorStep.WORK if onboarding.is_cleared else next(waiting, AnnotatorStep.WORK)
    return tuple(
        StepStatus(number=number, step=step, is_done=is_done, is_next=step is current)
        for number, (step, is_done) in enumerate(required, start=1)
    )


def why_not(item: WorkItem, who: AnnotatorState, process: AnnotationProcess) -> str:
    """Return why an annotator may not take an item, in words; empty if they may."""
    elsewhere = who.met.get(item.dialogue, frozenset()) - {item.category}
    share = most_items(who.n_items.get(item.category, 0), process)
    obstacles = {
        f"it is {item.state.value}": item.state is not ItemState.OPEN,
        "all its passes are taken": item.n_live >= item.passes,
        "the annotator is not qualified for its category": item.category not in who.qualified,
        "the annotator had it before": item.key in who.had,
        "the annotator was the tester of the dialogue": bool(item.tester) and item.tester == who.participant,
        "it contains a topic that the annotator opted out of": item.scenario in who.avoided,
        "the annotator has annotated another category of the same dialogue": process.apart and bool(elsewhere),
        "the annotator has reached the maximum share of its category": who.n_taken.get(item.category, 0) >= share,
    }
    return next((reason for reason, stands in obstacles.items() if stands), "")


def most_items(n_items: int, process: AnnotationProcess) -> int:
    """Return how many items of a category one annotator may take; count, at least 1.

    Example:
        >>> most_items(10, AnnotationProcess(most_share=0.6))
        6
    """
    return max(1, floor(n_items * process.most_share + 1e-9))


IMPARTIALITY_RULES = (
    "Judge the text of the dialogue, not your assumptions about it.",
    "Do not judge the intention of the user or the application; judge their messages.",
    "You are not checking facts: if a question depends on the truth, the reference decides.",
    "Each question is independent. The answer to one does not decide another.",
    "If the dialogue does not contain the answer, select “unable to determine” where possible; do not guess.",
    "Do not discuss a dialogue with others before its review. Ask in a comment.",
)
"""Every annotator acknowledges these before the first dialogue, in this order, and can read them on each page."""


def queue_design(study: Study) -> QueueDesign:
    """Return a study's questions for its annotators.

    Raises:
        InputError: If it has no schema.
    """
    schema = study.schema()
    if schema is None:
        message = (
            f"study `{study.name}` has no schema; write `annotation: {{schema: aria-five-categories}}` in its file"
        )
        raise InputError(message)
    design = design_of(study.name, schema, study.annotation or AnnotationProcess())
    return replace(design, background=study.about, rules=IMPARTIALITY_RULES)


def design_of(study: str, schema: AnnotationSchema, process: AnnotationProcess) -> QueueDesign:
    """Return the design of a queue for a schema: questions and annotators.

    Args:
        study: Name of the study.
        schema: The categories and the routing between them.
        process: Overlap, routing, reservation times, tests and shares.
    """
    routing = schema.routing
    return QueueDesign(
        study=study,
        categories=tuple(
            QueueCategory(name=category.name, version=version_of(category.guideline)) for category in schema.categories
        ),
        process=process,
        first=routing.first if routing else "",
        on_violation=routing.on_violation if routing else (),
        otherwise=routing.otherwise if routing else (),
    )


W = TypeVar("W")

WAYS: Final = (False, True)
"""As written, and reversed."""


def next_order(
    process: AnnotationProcess,
    instrument: Instrument,
    *,
    sitting: str,
    of_dialogue: Sequence[ShownOrder] = (),
    of_annotator: Sequence[ShownOrder] = (),
    backwards: bool | None = None,
) -> ShownOrder:
    """Return the fixed order of the questions of one sitting.

    Args:
        process: Factors that vary, and the seed of draws.
        instrument: The questions.
        sitting: Identifier of the sitting within the study; the draws depend on it.
        of_dialogue: Orders in which others saw this dialogue in this category.
        of_annotator: Orders that this annotator saw in this category.
        backwards: Whether this annotator gets the queue from its end; None if the direction is not varied.

    Source:
        Taves (1974), Minimization: a new method of assigning patients to
        treatment and control groups, Clinical Pharmacology and Therapeutics 15:443-453;
        Pocock, Simon (1975), Sequential treatment assignment with balancing for
        prognostic factors in the controlled clinical trial, Biometrics 31:103-115.
    """
    plan, rows = process.order, n_orders(instrument, process.order.questions)

    def least_shown(name: str, ways: Sequence[W], way_of: Callable[[ShownOrder], W | None]) -> W:
        counts = [[way_of(order) for order in orders] for orders in (of_dialogue, of_annotator)]
        draws = {way: keyed_draw(process.seed, f"order of {name}", f"{sitting} {way}") for way in ways}
        return min(ways, key=lambda way: (counts[0].count(way), counts[1].count(way), draws[way]))

    return ShownOrder(
        row=least_shown(
            "questions", range(1, rows + 1), lambda shown_order: shown_order.row if shown_order.rows == rows else None
        )
        if rows
        else 0,
        rows=rows,
        options=least_shown("options", WAYS, lambda shown_order: shown_order.options) if plan.options else None,
        turns=least_shown("turns", WAYS, lambda shown_order: shown_order.turns) if plan.turns else None,
        dialogues=backwards,
    )


def comes_backwards(process: AnnotationProcess, annotator: str, others: Sequence[bool]) -> bool:
    """Return whether a new annotator gets the queue from its end: the direction with fewer others.

    Args:
        process: Seed of the draw if both directions are equally frequent.
        annotator: Opaque key of the annotator.
        others: Direction of each other annotator of the queue.
    """
    n_back = sum(others)
    if 2 * n_back != len(others):
        return 2 * n_back < len(others)
    return keyed_draw(process.seed, "direction of the queue", annotator) < 0.5


class Reviewed(StrEnum):
    """Outcome of a formal review of the first category."""

    NOT_YET = "not yet"
    VIOLATION = "violation"
    NO_VIOLATION = "no violation"
    NO_CONSENSUS = "no consensus"

    @property
    def is_final(self) -> bool:
        """Whether a review has an outcome."""
        return self is not Reviewed.NOT_YET


def sees_violation(guideline: Guideline, answers: Sequence[Answer], groups: Mapping[str, str]) -> bool:
    """Return whether one annotator's answers contain a violation.

    A guardrail violation if the guideline has rules on guardrails, else any
    defect. An answer without a value does not count as yes.

    Args:
        guideline: Guideline of the first category.
        answers: One annotator's.
        groups: Groups of the dialogue, which rules may be restricted to.
    """
    rules = [rule for rule in guideline.defect_rules if rule.violation is not Violation.NOT_A_GUARDRAIL]
    applicable = [rule for rule in rules or guideline.defect_rules if rule.applies_to(groups)]
    return any(_holds(rule, guideline, answers) for rule in applicable)


def _holds(rule: DefectRule, guideline: Guideline, answers: Sequence[Answer]) -> bool:
    scale = guideline.instrument.question(rule.question).scale
    values = (answer.value for answer in answers if answer.question == rule.question)
    return any(value is not None and scale.admits(value) and rule.is_defect(value, scale) for value in values)


def routed(votes: Sequence[bool], rule: Route, reviewed: Reviewed = Reviewed.NOT_YET) -> Routed:
    """Return the route of a dialogue.

    - `any_violation`: one yes among the passes is sufficient.
    - `all`: it continues if all answer yes and ends if all answer no; otherwise a review decides.
    - `adjudicated`: as soon as one answers yes, a review decides.
    - A review without consensus lets it continue, and it is recorded as disputed.

    Args:
        votes: Whether each pass found a violation; at least one.
        rule: The study's rule.
        reviewed: Outcome of a formal review, if there was one.
    """
    n_yes = sum(votes)
    mixed = 0 < n_yes < len(votes)
    counts = f"{n_yes} of {len(votes)} passes saw a violation; rule `{rule.value}`"
    if reviewed is Reviewed.NO_CONSENSUS:
        return Routed(violation=True, disputed=True, reason=f"{counts}; the review found no consensus")
    if reviewed is not Reviewed.NOT_YET:
        agreed = reviewed is Reviewed.VIOLATION
        return Routed(violation=agreed, disputed=mixed, reason=f"{counts}; the review agreed on {reviewed.value}")
    if _waits(n_yes, rule, mixed=mixed):
        return Routed(violation=None, disputed=mixed, reason=f"{counts}; a review has to decide")
    return Routed(violation=n_yes > 0, disputed=mixed, reason=counts)


def _waits(n_yes: int, rule: Route, *, mixed: bool) -> bool:
    match rule:
        case Route.ANY_VIOLATION:
            return False
        case Route.ALL:
            return mixed
        case Route.ADJUDICATED:
            return n_yes > 0


def continues_at_once(process: AnnotationProcess) -> bool:
    """Return whether the annotator of a first category continues with the following ones before submitting it.

    The route must depend on this annotator alone, the same person may annotate all categories,
    and nothing about the following ones is drawn when they are reserved.
    """
    is_alone = process.passes == 1 and not process.apart
    return is_alone and not process.order.is_varied and process.pre_annotation is None


READABLE = frozenset({Outcome.ANSWERED, Outcome.MISSING, Outcome.NOT_APPLICABLE})
"""Outcomes of a judge's reading that count as a pass; items with refused and unparseable ones go to a person."""


def most_by_judges(process: AnnotationProcess, passes: int) -> int:
    """Return how many passes of an item promoted judges may give; count.

    As many as the study states, but never all of them: at least one
    pass of every item is given by a person.

    Args:
        process: The study's rules.
        passes: Required passes of the item; count.

    Example:
        >>> most_by_judges(AnnotationProcess(passes=3, judge_passes=2), 3)
        2
        >>> most_by_judges(AnnotationProcess(passes=3, judge_passes=2), 2)
        1
    """
    return max(0, min(process.judge_passes, passes - 1))


def is_pass(outcomes: Iterable[Outcome]) -> bool:
    """Return whether a judge's answers count as a pass: there are some, and each has a usable outcome."""
    result = set(outcomes)
    return bool(result) and result <= READABLE


_SPEAKER = re.compile(r"(?:^|(?<=[.?!:\"')])\s+)(User:|Reply:)")

WITHIN = 1
"""Points by which an answer on a long number scale may differ and still count as right."""

LONG = 6
"""Number of points from which a number scale counts as long; on a shorter one only the exact answer is right."""


def worked_examples(guideline: Guideline) -> tuple[Example, ...]:
    """Return all examples for practice: the worked examples, then the examples of each question.

    An example of a question asks only that question.

    Args:
        guideline: Source of the examples.
    """
    further = (
        Example(dialogue=_in_lines(exemplar.text), answers={question.name: exemplar.answer}, reason=exemplar.reason)
        for question in guideline.instrument.questions
        for exemplar in question.exemplars
    )
    return (*guideline.examples, *further)


def _in_lines(text: str) -> str:
    """Return an example with a line for each speaker, as worked examples are written."""
    return _SPEAKER.sub(r"\n\1", text).lstrip("\n")


def examples_for(guideline: Guideline) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the indices of the examples for practice, and of those in the test bank.

    Practice reveals the answers, so it never uses an example of the bank, except
    if there is only one. Every second whole dialogue is for practice, the others
    and all examples of questions are in the bank. If a guideline has fewer
    than two whole dialogues, every second example of any kind is for practice.
    The test has priority: if all examples together have ten keyed answers, practice
    leaves as many in the bank, even if no example is left to practise on.

    Args:
        guideline: Source of the worked examples.
    """
    examples = worked_examples(guideline)
    whole = [index for index, example in enumerate(guideline.examples) if example.answers]
    further = list(range(len(guideline.examples), len(examples)))
    positions = whole if len(whole) > 1 else whole + further
    if len(positions) < 2:
        return tuple(positions), tuple(positions)
    practice, bank = positions[::2], positions[1::2] + (further if len(whole) > 1 else [])
    n_keyed = {place: len(examples[place].answers) for place in (*practice, *bank)}
    if sum(n_keyed.values()) >= FEWEST_KEYED:
        while sum(n_keyed[place] for place in bank) < FEWEST_KEYED:
            bank.append(practice.pop())
    return tuple(practice), tuple(sorted(bank))


FEWEST_KEYED: Final = 10
"""Minimum number of keyed answers of a test, if the examples of its category have as many; count."""


def drawn_test(guideline: Guideline, participant: str, attempt: int) -> tuple[int, ...]:
    """Return the indices of the examples that an attempt asks, among all worked examples.

    Each annotator has their own order of the bank. An attempt takes examples in this order until it
    has ten keyed answers; the next one continues from there and repeats nothing before the bank is used up.

    Args:
        guideline: Source of the bank.
        participant: Opaque key of the annotator.
        attempt: Number of the attempt, from 1.
    """
    examples, seed = worked_examples(guideline), version_of(guideline)
    order = sorted(examples_for(guideline)[1], key=lambda place: digest("test", seed, participant, str(place)))
    start = 0
    for _ in range(attempt):
        n_keyed, selected = 0, list[int]()
        while n_keyed < FEWEST_KEYED and len(selected) < len(order):
            place = order[(start + len(selected)) % len(order)]
            selected.append(place)
            n_keyed += len(examples[place].answers)
        start += len(selected)
    return tuple(selected)


def marked(guideline: Guideline, example: Example, values: Mapping[str, str]) -> tuple[Marked, ...]:
    """Return each question of an example with the given and the expected answer.

    Args:
        guideline: The questions.
        example: The worked example.
        values: Question name to its answer; missing answers count as wrong.
    """
    return tuple(
        _marked(guideline, question, values.get(question, ""), expected, example.reason)
        for question, expected in example.answers.items()
    )


def _marked(guideline: Guideline, name: str, value: str, expected: str, reason: str) -> Marked:
    question = guideline.instrument.question(name)
    scale = question.scale
    within = WITHIN if scale.kind is ScaleKind.NUMBERS and len(scale.categories) >= LONG else 0
    is_right = value == expected
    if within and not is_right and scale.admits(value) and scale.admits(expected):
        is_right = abs(int(value) - int(expected)) <= within
    return Marked(
        question=name,
        given=value,
        expected=expected,
        is_right=is_right,
        within=within,
        chance=_chance(question, expected, within),
        reason=reason,
    )


def _chance(question: Question, expected: str, within: int) -> float:
    """Return the probability that a uniform guess counts as right; 0 if no options are offered."""
    categories = question.scale.categories
    n_options = len(categories) + question.may_be_unable + question.may_not_apply
    if not categories:
        return 0.0
    is_number = bool(within) and question.scale.admits(expected)
    n_right = sum(abs(int(point) - int(expected)) <= within for point in categories) if is_number else 1
    return n_right / n_options


SCORE: Final = "coefficient S of an annotator and the key"
"""Name of the statistic that decides whether a test is passed."""


def score_beyond_chance(answers: Sequence[Marked]) -> float | Undefined:
    """Return the share of right answers, corrected for guessing: (p_o - p_e) / (1 - p_e).

    p_o is the share of right answers, and p_e the mean probability that a uniform guess among the
    offered answers is right: the coefficient S, or kappa with free marginals, of an annotator and the key,
    averaged over questions with different numbers of options. 0 is guessing, 1 is all correct.

    Args:
        answers: All questions of the test.

    Returns:
        Unit: coefficient, at most 1. `Undefined` without questions, or if no answer can be wrong.

    Source:
        Bennett, Alpert, Goldstein (1954), Public Opinion Quarterly 18:303-308, doi:10.1086/266520.
        Brennan, Prediger (1981), Educational and Psychological Measurement 41:687-699,
        doi:10.1177/001316448104100307.
    """
    if not answers:
        return Undefined(reason=NO_TEST_ANSWER, method=SCORE)
    observed = sum(answer.is_right for answer in answers) / len(answers)
    expected = sum(answer.chance for answer in answers) / len(answers)
    if expected >= 1:
        return Undefined(reason=NO_WRONG_TEST_ANSWER, n=len(answers), method=SCORE)
    return (observed - expected) / (1 - expected)


def is_passed(answers: Sequence[Marked], pass_mark: float) -> bool:
    """Return whether an attempt reaches the pass mark; a test whose score is undefined is never passed.

    Args:
        answers: All questions of the test.
        pass_mark: Required share of right answers, corrected for guessing; fraction 0..1.
    """
    score = score_beyond_chance(answers)
    return not isinstance(score, Undefined) and score >= pass_mark - 1e-9


def review_sample(candidates: Sequence[ReviewCandidate], rate: float, seed: int) -> tuple[str, ...]:
    """Return the keys of the annotations that seniors review: a share of each stratum.

    The share is rounded up, so that each stratum with a rate above 0 is reviewed.
    The draw depends on seed and key alone: a later draw selects the same people
    later, unless the stratum's share is filled by earlier draws.

    Args:
        candidates: All annotations.
        rate: Share that is reviewed; fraction 0..1.
        seed: Seed of the sample.
    """
    strata: dict[str, list[ReviewCandidate]] = defaultdict(list)
    for candidate in candidates:
        strata[candidate.stratum].append(candidate)
    sampled: list[str] = []
    for members in strata.values():
        order = sorted(members, key=lambda member: (keyed_draw(seed, "quality check", member.key), member.key))
        sampled += [review_candidate.key for review_candidate in order[: ceil(rate * len(members) - 1e-9)]]
    return tuple(sampled)


BREAK = timedelta(minutes=10)
"""Shortest pause that counts as a break."""

REST_AFTER_MIN = 45
"""Minutes of work after which an annotator is reminded to rest, unless the study states another number."""


def minutes_at_work(moments: Collection[datetime], now: datetime) -> float:
    """Return the time that an annotator has worked without a break; minutes, 0 during a break.

    Args:
        moments: Times of the annotator's actions: reserving, saving, submitting.
        now: The present moment.

    Example:
        >>> from datetime import UTC
        >>> at = [datetime(2026, 11, 22, 9, minute, tzinfo=UTC) for minute in (0, 30, 36, 44)]
        >>> minutes_at_work(at, datetime(2026, 11, 22, 9, 50, tzinfo=UTC))
        20.0
    """
    started = now
    for moment in sorted(moments, reverse=True):
        if started - moment >= BREAK:
            break
        started = moment
    return (now - started).total_seconds() / 60


def minutes_left(spent: Collection[float], n_left: int) -> float | None:
    """Return the time that open items take at an annotator's pace; minutes, None before the third dialogue.

    Args:
        spent: Durations of their dialogues from reserving to submitting; minutes. A night in between counts
            no more than any long duration, because the median is used.
        n_left: Dialogues that wait for them; count.
    """
    return median(spent) * n_left if len(spent) >= 3 else None


def stage_of(state: ItemState, *, n_live: int, n_disputed: int, n_resolved: int) -> ItemStage:
    """Return the progress of a work item.

    An item on which all agree may still be changed by its annotators: it is final
    only if its review has decided each discrepancy.

    Args:
        state: Its state in the queue.
        n_live: Reserved or submitted annotations; count.
        n_disputed: Questions and turns that its passes answered differently; count.
        n_resolved: Questions and turns that a review has decided; count.

    Example:
        >>> stage_of(ItemState.COMPLETE, n_live=2, n_disputed=1, n_resolved=0).value
        'disputed'
    """
    match state:
        case ItemState.ASIDE:
            return ItemStage.ASIDE
        case ItemState.OPEN:
            return ItemStage.IN_WORK if n_live else ItemStage.WAITING
        case ItemState.COMPLETE:
            return ItemStage.DISPUTED if n_disputed else ItemStage.ANNOTATED
        case ItemState.FROZEN:
            return ItemStage.UNDER_REVIEW if n_resolved < n_disputed else ItemStage.FINAL


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

Given = Mapping[str, Sequence[Answer]]
"""Annotator to their answers."""


def letters_for(annotators: Sequence[str], salt: str) -> Mapping[str, str]:
    """Return a letter for each annotator, in an order that only the salt determines.

    Args:
        annotators: Names.
        salt: Secret of the queue together with the item, so that A is another annotator at the next item.
    """
    order = sorted(annotators, key=lambda name: digest("position", salt, name))
    return {name: _letter(index) for index, name in enumerate(order)}


def _letter(place: int) -> str:
    times, rest = divmod(place, len(_LETTERS))
    return _LETTERS[rest] + (str(times + 1) if times else "")


def discrepancies(guideline: Guideline, answers_by_person: Given, salt: str) -> tuple[Discrepancy, ...]:
    """Return the questions with different answers, in the order of asking; free text is never compared.

    Args:
        guideline: The questions.
        answers_by_person: Each annotator's answers.
        salt: See `letters_for`.
    """
    letters = letters_for(list(answers_by_person), salt)
    result = []
    for question, turn in _places(guideline, answers_by_person):
        answers = {name: _answer(answers, question, turn) for name, answers in answers_by_person.items()}
        labels = {(answer.outcome, answer.value) for answer in answers.values() if answer}
        if len(labels) > 1:
            positions = [
                Position(letter=letters[name], answer=one, is_model=is_model(name))
                for name, one in answers.items()
                if one
            ]
            result.append(Discrepancy(question=question, turn=turn, positions=_sorted(positions)))
    return tuple(result)


def _sorted(positions: Sequence[Position]) -> tuple[Position, ...]:
    return tuple(sorted(positions, key=lambda position: position.letter))


def _places(guideline: Guideline, answers_by_person: Given) -> list[tuple[str, int | None]]:
    seen = {(answer.question, answer.turn) for answers in answers_by_person.values() for answer in answers}
    order = {
        question.name: index
        for index, question in enumerate(guideline.instrument.questions)
        if question.scale.kind is not ScaleKind.TEXT
    }
    return sorted((one for one in seen if one[0] in order), key=lambda one: (order[one[0]], one[1] or 0))


def _answer(answers: Sequence[Answer], question: str, turn: int | None) -> Answer | None:
    return next((answer for answer in answers if (answer.question, answer.turn) == (question, turn)), None)


def reviewed(
    guideline: Guideline, answers_by_person: Given, resolutions: Sequence[Resolution], groups: Mapping[str, str]
) -> Reviewed:
    """Return the outcome of a finished review of violations: the agreed label, else "no consensus".

    A question on which all agree counts with that answer; there is no majority vote.

    Args:
        guideline: Guideline of the first category.
        answers_by_person: Each annotator's answers.
        resolutions: Answers recorded by the review.
        groups: Groups of the dialogue.
    """
    resolution_of = {(resolution.question, resolution.turn): resolution for resolution in resolutions}
    open_places = {
        (discrepancy.question, discrepancy.turn) for discrepancy in discrepancies(guideline, answers_by_person, "")
    } - resolution_of.keys()
    if open_places:
        return Reviewed.NOT_YET
    agreed = [
        answer
        for answer in next(iter(answers_by_person.values()), ())
        if (answer.question, answer.turn) not in resolution_of
    ]
    agreed += [_agreed(resolution) for resolution in resolutions if resolution.outcome is not None]
    if sees_violation(guideline, agreed, groups):
        return Reviewed.VIOLATION
    deciding = {rule.question for rule in guideline.defect_rules}
    if any(not resolution.is_consensus and resolution.question in deciding for resolution in resolutions):
        return Reviewed.NO_CONSENSUS
    return Reviewed.NO_VIOLATION


def _agreed(resolution: Resolution) -> Answer:
    outcome = resolution.outcome or Outcome.MISSING
    return Answer(question=resolution.question, turn=resolution.turn, outcome=outcome, value=resolution.value)
