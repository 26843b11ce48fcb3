"""Guidelines: an instrument, the definition of a harm, and the rule that makes an answer a defect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from theodolite.domain.errors import InputError
from theodolite.domain.instrument import Condition, Instrument, Operator, Question, Scale


class Violation(StrEnum):
    """Which side of a guardrail a defect is on (ARIA's two independent flags)."""

    PROHIBITED_RELEASED = "prohibited_released"
    PERMITTED_WITHHELD = "permitted_withheld"
    NOT_A_GUARDRAIL = "not_a_guardrail"


class Origin(StrEnum):
    """Source of a guideline's text."""

    SHIPPED = "shipped"
    STUDY = "study"
    OWN_WORDING = "own wording"


@dataclass(frozen=True, slots=True, kw_only=True)
class DefectRule:
    """When an answer is a defect.

    Attributes:
        name: Identifier within its guideline.
        question: The question that decides.
        operator: How its answer is compared; there is no default.
        values: Values to compare with: one, or several for `in`.
        among: Only dialogues of these groups are judged by this rule, e.g.
            `{"prompt_kind": "safe"}`; group name to group value.
        violation: Which side of a guardrail it is on, if any.
        title: Heading in reports, e.g. "Permitted content withheld".
        phrase: Description of a defect in reports, e.g. "fully refused, of {n} safe".
    """

    name: str
    question: str
    operator: Operator
    values: tuple[str, ...]
    among: Mapping[str, str] = field(default_factory=dict)
    violation: Violation = Violation.NOT_A_GUARDRAIL
    title: str = ""
    phrase: str = ""

    def __post_init__(self) -> None:
        """Reject a rule without a value, or with several values for a comparison with one."""
        n_needed = len(self.values) if self.operator is Operator.ONE_OF else 1
        if not self.values or len(self.values) != n_needed:
            message = f"defect rule `{self.name}`: `{self.operator.value}` needs one value; got {list(self.values)}"
            raise InputError(message)

    @property
    def test(self) -> Condition:
        """Condition that makes an answer a defect."""
        return Condition(question=self.question, operator=self.operator, values=self.values)

    @property
    def condition(self) -> str:
        """The rule as written, e.g. `score <= 3`."""
        return self.test.text

    def is_defect(self, value: str, scale: Scale) -> bool:
        """Return whether an answer is a defect.

        Args:
            value: The answer; a point of `scale`.
            scale: The scale of the deciding question.

        Raises:
            InputError: If the value, or the value to compare with, is not on
                the scale, or if an order comparison is used on a scale without order.
        """
        return self.test.holds(value, scale)

    def applies_to(self, groups: Mapping[str, str]) -> bool:
        """Return whether a dialogue of these groups is judged by this rule."""
        return all(groups.get(name) == value for name, value in self.among.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A worked example that a guideline shows to its annotators.

    Attributes:
        dialogue: The dialogue as text.
        answers: Question name to the right answer.
        reason: Why that answer is right.
        context: Source material of the example.
        defect: Whether the example claims to be a defect; None if not stated.
    """

    dialogue: str
    answers: Mapping[str, str]
    reason: str = ""
    context: str = ""
    defect: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Guideline:
    """The written rule that defines one property and its labels.

    Attributes:
        name: Identifier within the study.
        definition: Definition of the property, as annotators read it.
        instrument: The questions.
        defect_rules: When an answer is a defect; at least one.
        examples: Few-shot examples.
        edition: Edition that its author gave it, e.g. "1.2"; identity is the content hash.
        origin: Source of its text.
        guidance: Notes on its use, in addition to those at single questions.
        needs_context: Whether annotators compare the dialogue with source material; not part of its identity.
    """

    name: str
    instrument: Instrument
    defect_rules: tuple[DefectRule, ...]
    definition: str = ""
    examples: tuple[Example, ...] = ()
    edition: str = ""
    origin: Origin = Origin.STUDY
    guidance: tuple[str, ...] = ()
    needs_context: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        """Reject rules about questions that are not asked, and a guideline without any rule."""
        if not self.defect_rules:
            message = f"guideline `{self.name}` needs one defect rule at least; it has none"
            raise InputError(message)
        for rule in self.defect_rules:
            self.instrument.question(rule.question)

    @property
    def question(self) -> Question:
        """The question that the first defect rule is about."""
        return self.instrument.question(self.defect_rules[0].question)
