"""Changes between versions of an annotation schema, their impact, and samples to measure it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from theodolite.domain.annotating.rewording import DialogueAnswers, QuestionTouch, Touch
from theodolite.domain.guideline import DefectRule, Guideline, Origin
from theodolite.domain.identity import canonical_json, digest, keyed_draw, version_of
from theodolite.domain.instrument import Question, Scale
from theodolite.domain.schema import AnnotationSchema


class Fate(StrEnum):
    """Change of a category in another version of its schema.

    Attributes:
        NEW: It was not there before.
        GONE: It was removed.
        SAME: Only the edition stated by its author has changed.
        WORDS: The same questions with the same answers have other words or explanations.
        KIND: Other questions, other answers, or another defect rule.
    """

    NEW = "new"
    GONE = "gone"
    SAME = "as before"
    WORDS = "other words"
    KIND = "changed in kind"


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryChange:
    """Difference of one category between two versions of a schema.

    Attributes:
        name: Name of the category.
        fate: Outcome of the item.
        before: Content hash of its guideline; empty if it is new.
        after: The same afterwards; empty if it was removed.
        differences: The differences in words, for each question.
    """

    name: str
    fate: Fate
    before: str = ""
    after: str = ""
    differences: tuple[str, ...] = ()

    @property
    def qualifies_again(self) -> bool:
        """Whether all annotators must pass the test of this category again in any case."""
        return self.fate is Fate.KIND

    @property
    def may_carry_over(self) -> bool:
        """Whether a senior may exempt annotators who passed before."""
        return self.fate in {Fate.SAME, Fate.WORDS} and self.before != self.after


def schema_changes(before: AnnotationSchema | None, after: AnnotationSchema) -> tuple[CategoryChange, ...]:
    """Return the change of each category, those of the later version first and in its order.

    Args:
        before: The version that people have; None if there is none.
        after: The version that follows.
    """
    earlier = {category.name: category.guideline for category in before.categories} if before else {}
    names = {category.name for category in after.categories}
    changes = [_change(earlier.get(category.name), category.guideline) for category in after.categories]
    removed = [
        CategoryChange(name=name, fate=Fate.GONE, before=version_of(guideline))
        for name, guideline in earlier.items()
        if name not in names
    ]
    return (*changes, *removed)


def is_alike(schema: AnnotationSchema, other: AnnotationSchema) -> bool:
    """Return whether two schemas have the same content, regardless of where their guidelines come from."""
    return canonical_json(_placeless(schema)) == canonical_json(_placeless(other))


def kind_of(guideline: Guideline) -> str:
    """Return a hash of all parts of a guideline that make its answers comparable.

    These are the questions with their subject and condition, the permitted answers, and the answers that are
    defects. The order of questions and the words of questions, definitions, meanings and examples are
    left out: people decide whether other words ask the same.
    """
    questions = sorted(_form(question) for question in guideline.instrument.questions)
    rules = sorted(
        "|".join([rule.question, rule.condition, rule.violation.value, *map(":".join, sorted(rule.among.items()))])
        for rule in guideline.defect_rules
    )
    return digest("guideline kind", *questions, "rules", *rules)


def _change(before: Guideline | None, after: Guideline) -> CategoryChange:
    if before is None:
        return CategoryChange(name=after.name, fate=Fate.NEW, after=version_of(after))
    differences = _differences(before, after)
    if kind_of(before) != kind_of(after):
        fate = Fate.KIND
    elif canonical_json(_plain(before)) == canonical_json(_plain(after)):
        fate = Fate.SAME
    else:
        fate = Fate.WORDS
    return CategoryChange(
        name=after.name, fate=fate, before=version_of(before), after=version_of(after), differences=differences
    )


def _differences(before: Guideline, after: Guideline) -> tuple[str, ...]:
    was = {question.name: question for question in before.instrument.questions}
    now = {question.name: question for question in after.instrument.questions}
    differences = [f"`{name}` is asked no more" for name in was if name not in now]
    differences += [f"`{name}` is new" for name in now if name not in was]
    differences += [
        f"`{name}`: {', '.join(words)}" for name in now if name in was and (words := _differs(was[name], now[name]))
    ]
    if [name for name in was if name in now] != [name for name in now if name in was]:
        differences.append("the questions stand in another order")
    if before.definition != after.definition:
        differences.append("the definition reads otherwise")
    if before.guidance != after.guidance:
        differences.append("other notes say how it is to be applied")
    if _rules(before) != _rules(after):
        differences.append("other answers are defects")
    if before.examples != after.examples:
        differences.append("there are other worked examples, and so another test")
    return tuple(differences)


def _differs(was: Question, now: Question) -> list[str]:
    """Return the changes of one question."""
    compared = {
        "reads otherwise": (was.text, now.text),
        "takes other answers": (answers_of(was), answers_of(now)),
        "explains its answers otherwise": (meanings_of(was.scale), meanings_of(now.scale)),
        "another end of its scale is the bad one": (was.scale.orientation, now.scale.orientation),
        "is asked of something else": (was.level, now.level),
        "is asked after another answer": (was.when, now.when),
        "is explained by other notes": (was.guidance, now.guidance),
        "has other examples": (was.exemplars, now.exemplars),
        "may be moved or not, where orders are varied": (was.stays, now.stays),
    }
    return [words for words, (one, other) in compared.items() if one != other]


def _form(question: Question) -> str:
    when = question.when.text if question.when else ""
    return "|".join(
        [question.name, question.level.value, when, question.scale.orientation.value, *map(str, answers_of(question))]
    )


def answers_of(question: Question) -> tuple[object, ...]:
    """Return the values that answer a question."""
    scale = question.scale
    return (
        scale.kind.value,
        *scale.categories,
        scale.lowest,
        scale.highest,
        scale.ordered,
        question.may_be_unable,
        question.may_not_apply,
        question.several,
    )


def meanings_of(scale: Scale) -> dict[str, str]:
    """Return the stated meanings of a scale's points."""
    return {label.value: label.meaning for label in scale.labels if label.meaning}


def _rules(guideline: Guideline) -> list[tuple[str, str]]:
    return [(rule.condition, rule.violation.value) for rule in guideline.defect_rules]


def _plain(guideline: Guideline) -> Guideline:
    return replace(guideline, origin=Origin.STUDY, edition="")


def _placeless(schema: AnnotationSchema) -> AnnotationSchema:
    categories = (
        replace(category, guideline=replace(category.guideline, origin=Origin.STUDY)) for category in schema.categories
    )
    return replace(schema, categories=tuple(categories))


def touched(before: Guideline, after: Guideline) -> tuple[QuestionTouch, ...]:
    """Return the questions that another version affects: those of the later version first, in its order.

    Other words in the definition or notes affect every question of the category; a question
    that follows an affected one is affected through it, since it is now asked in other cases.

    Args:
        before: The version by which the answers were given.
        after: The version that follows.
    """
    was = {question.name: question for question in before.instrument.questions}
    now = {question.name: question for question in after.instrument.questions}
    direct = {name: _direct(was.get(name), one, before, after) for name, one in now.items()}
    result = []
    for name, (kinds, differences) in direct.items():
        through = _through(name, now, {each for each, (touches, _) in direct.items() if touches})
        if kinds or through:
            result.append(
                QuestionTouch(question=name, kinds=kinds or (Touch.THROUGH,), differences=differences, through=through)
            )
    result += [QuestionTouch(question=name, kinds=(Touch.GONE,)) for name in was if name not in now]
    return tuple(result)


def is_same(guideline: Guideline, other: Guideline) -> bool:
    """Return whether two guidelines have the same content, regardless of where they come from."""
    first, there = (canonical_json(replace(each, origin=Origin.STUDY)) for each in (guideline, other))
    return first == there


def _direct(
    was: Question | None, now: Question, before: Guideline, after: Guideline
) -> tuple[tuple[Touch, ...], tuple[str, ...]]:
    """Return the effect on a question, in words."""
    if was is None:
        return (Touch.NEW,), ()
    compared = (
        (Touch.WORDS, "reads otherwise", was.text, now.text),
        (Touch.WORDS, "explains its answers otherwise", meanings_of(was.scale), meanings_of(now.scale)),
        (Touch.WORDS, "has other notes or examples", (was.guidance, was.exemplars), (now.guidance, now.exemplars)),
        (Touch.WORDS, "stands under another definition", before.definition, after.definition),
        (Touch.WORDS, "stands under other notes of its category", before.guidance, after.guidance),
        (Touch.ANSWERS, "takes other answers", answers_of(was), answers_of(now)),
        (Touch.ANSWERS, "has another bad end", was.scale.orientation, now.scale.orientation),
        (
            Touch.ANSWERS,
            "has other answers that are defects",
            _rules_of_question(before, now.name),
            _rules_of_question(after, now.name),
        ),
        (Touch.PLACE, "is asked of something else", was.level, now.level),
        (Touch.PLACE, "is asked after another answer", was.when, now.when),
    )
    differing = [(kind, words) for kind, words, one, other in compared if one != other]
    return tuple(dict.fromkeys(kind for kind, _ in differing)), tuple(words for _, words in differing)


def _rules_of_question(guideline: Guideline, question: str) -> list[tuple[str, str, Mapping[str, str]]]:
    rules = (rule for rule in guideline.defect_rules if rule.question == question)
    return [(rule.condition, rule.violation.value, dict(rule.among)) for rule in rules]


def _through(name: str, questions: Mapping[str, Question], touched_ones: set[str]) -> tuple[str, ...]:
    """Return the affected questions on which one depends, the nearest first."""
    result: list[str] = []
    seen = {name}
    current = questions[name]
    while current.when is not None and current.when.question in questions and current.when.question not in seen:
        seen.add(current.when.question)
        current = questions[current.when.question]
        if current.name in touched_ones:
            result.append(current.name)
    return tuple(result)


def rule_of(guideline: Guideline, question: str) -> DefectRule | None:
    """Return the first rule that defines defects by a question's answers; None if there is none."""
    return next((rule for rule in guideline.defect_rules if rule.question == question), None)


def strata_of(answered: Sequence[DialogueAnswers]) -> dict[str, list[str]]:
    """Return the keys of dialogues by scenario and old answers, without dialogues that have no value."""
    strata: dict[str, list[str]] = {}
    for answers in sorted(answered, key=lambda answers: (answers.stratum, answers.dialogue)):
        if any(value is not None for _, _, value in answers.said):
            strata.setdefault(answers.stratum, []).append(answers.dialogue)
    return strata


def drawn_again(strata: Mapping[str, Sequence[str]], n: int, seed: int) -> dict[str, tuple[str, ...]]:
    """Return the dialogues of each stratum that are annotated again, in proportion to its size.

    Args:
        strata: Scenario and old answers to the keys of dialogues.
        n: Number of dialogues; count.
        seed: Seed of the draw; in each stratum, a larger sample contains the smaller one.
    """
    shares = allot({name: len(keys) for name, keys in strata.items()}, dict.fromkeys(strata, 1.0), n, least=0)
    return draw(strata, shares, seed)


_PURPOSE = "label sample"


def draw(strata: Mapping[str, Sequence[str]], shares: Mapping[str, int], seed: int) -> dict[str, tuple[str, ...]]:
    """Return the sample of each stratum; each of its members has equal probability.

    Args:
        strata: Stratum to its members.
        shares: Stratum to the number drawn from it; count.
        seed: Seed of the sample.
    """
    return {
        name: tuple(sorted(members, key=lambda member: keyed_draw(seed, _PURPOSE, member))[: shares.get(name, 0)])
        for name, members in strata.items()
    }


def shuffled(members: Sequence[str], seed: int) -> list[str]:
    """Return members in an order that reveals nothing about their strata."""
    return sorted(members, key=lambda member: keyed_draw(seed, "order of a label file", member))


def allot(sizes: Mapping[str, int], weights: Mapping[str, float], n: int, *, least: int = 2) -> dict[str, int]:
    """Return the size of each stratum's sample: in proportion to size and weight, none left out.

    Args:
        sizes: Stratum to its members; count.
        weights: Stratum to the expected spread of its members; standard
            deviation of a yes or no, fraction.
        n: Wanted in all; count.
        least: Smallest draw from each stratum, as far as its size allows; count.

    Returns:
        Counts that add up to `n`, or to all members where there are fewer.
    """
    counts = {name: min(size, least) for name, size in sizes.items() if size}
    while sum(counts.values()) > max(n, 0):
        largest = max(counts, key=lambda name: (counts[name], name))
        counts[largest] -= 1
    total = min(n, sum(sizes.values()))
    while sum(counts.values()) < total:
        open_ones = [name for name in counts if counts[name] < sizes[name]]
        # The stratum that is furthest behind its due share takes the next one.
        behind = min(open_ones, key=lambda name: ((counts[name] + 0.5) / max(sizes[name] * weights[name], 1e-9), name))
        counts[behind] += 1
    return counts
