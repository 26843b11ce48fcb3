"""What another version of an annotation schema changes, and which annotators it makes qualify again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from theodolite.domain.guideline import Guideline, Origin
from theodolite.domain.identity import canonical_json, digest, version_of
from theodolite.domain.instrument import Question, Scale
from theodolite.domain.schema import AnnotationSchema


class Fate(StrEnum):
    """What becomes of a category in another version of its schema.

    Attributes:
        NEW: It was not there before.
        GONE: It is not there any more.
        SAME: Nothing of it has changed but the edition that its author gave it.
        WORDS: The same questions with the same answers are put in other words, or explained otherwise.
        KIND: Other questions, other answers, or another rule about what is a defect.
    """

    NEW = "new"
    GONE = "gone"
    SAME = "as before"
    WORDS = "other words"
    KIND = "changed in kind"


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryChange:
    """What another version of a schema makes of one category.

    Attributes:
        name: Name of the category.
        fate: What becomes of it.
        before: Content hash of its guideline; empty where it is new.
        after: The same afterwards; empty where it is gone.
        told: What is different, question by question, in words.
    """

    name: str
    fate: Fate
    before: str = ""
    after: str = ""
    told: tuple[str, ...] = ()

    @property
    def qualifies_again(self) -> bool:
        """Whether everybody has to pass the test of this category again, whoever decides."""
        return self.fate is Fate.KIND

    @property
    def may_carry_over(self) -> bool:
        """Whether somebody may decide that those who passed before need not pass again."""
        return self.fate in {Fate.SAME, Fate.WORDS} and self.before != self.after


def schema_changes(before: AnnotationSchema | None, after: AnnotationSchema) -> tuple[CategoryChange, ...]:
    """Return what becomes of each category, those of the later version first and in its order.

    Args:
        before: The version that people have; None where there is none.
        after: The version that follows.
    """
    earlier = {one.name: one.guideline for one in before.categories} if before else {}
    names = {one.name for one in after.categories}
    kept = [_change(earlier.get(one.name), one.guideline) for one in after.categories]
    gone = [
        CategoryChange(name=name, fate=Fate.GONE, before=version_of(guideline))
        for name, guideline in earlier.items()
        if name not in names
    ]
    return (*kept, *gone)


def is_alike(one: AnnotationSchema, other: AnnotationSchema) -> bool:
    """Tell whether two schemas say the same, wherever their guidelines come from."""
    return canonical_json(_placeless(one)) == canonical_json(_placeless(other))


def kind_of(guideline: Guideline) -> str:
    """Return a hash of everything about a guideline that makes its answers comparable.

    That is which questions are asked of what, when, what may answer them, and which answers are
    defects. The order of questions and the words of questions, definitions, meanings and examples are
    left out: whether other words ask the same is for people to decide.
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
    told = _told(before, after)
    if kind_of(before) != kind_of(after):
        fate = Fate.KIND
    elif canonical_json(_plain(before)) == canonical_json(_plain(after)):
        fate = Fate.SAME
    else:
        fate = Fate.WORDS
    return CategoryChange(name=after.name, fate=fate, before=version_of(before), after=version_of(after), told=told)


def _told(before: Guideline, after: Guideline) -> tuple[str, ...]:
    was = {question.name: question for question in before.instrument.questions}
    now = {question.name: question for question in after.instrument.questions}
    told = [f"`{name}` is asked no more" for name in was if name not in now]
    told += [f"`{name}` is new" for name in now if name not in was]
    told += [
        f"`{name}`: {', '.join(words)}" for name in now if name in was and (words := _differs(was[name], now[name]))
    ]
    if [name for name in was if name in now] != [name for name in now if name in was]:
        told.append("the questions stand in another order")
    if before.definition != after.definition:
        told.append("the definition reads otherwise")
    if before.guidance != after.guidance:
        told.append("other notes say how it is to be applied")
    if _rules(before) != _rules(after):
        told.append("other answers are defects")
    if before.examples != after.examples:
        told.append("there are other worked examples, and so another test")
    return tuple(told)


def _differs(was: Question, now: Question) -> list[str]:
    """Return what is different about one question."""
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
    """Return which values answer a question."""
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
    """Return what the points of a scale are said to mean."""
    return {label.value: label.meaning for label in scale.labels if label.meaning}


def _rules(guideline: Guideline) -> list[tuple[str, str]]:
    return [(rule.condition, rule.violation.value) for rule in guideline.defect_rules]


def _plain(guideline: Guideline) -> Guideline:
    return replace(guideline, origin=Origin.STUDY, edition="")


def _placeless(schema: AnnotationSchema) -> AnnotationSchema:
    categories = (replace(one, guideline=replace(one.guideline, origin=Origin.STUDY)) for one in schema.categories)
    return replace(schema, categories=tuple(categories))
