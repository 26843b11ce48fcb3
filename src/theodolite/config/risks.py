"""What shows the risks of a study: defect rules in dialogues, answers in questionnaires, or both together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from theodolite.config.labelling.defect_text import condition_problem, parse_condition
from theodolite.config.lookup import Entry, LoadContext
from theodolite.config.packs import Pack
from theodolite.config.parts import Parts, section
from theodolite.config.specs.study import RiskSpec
from theodolite.domain.choices import Identification
from theodolite.domain.fault import did_you_mean
from theodolite.domain.guideline import DefectRule, Guideline, Violation
from theodolite.domain.instrument import Condition

if TYPE_CHECKING:  # loaded by studies that name one
    from theodolite.domain.questionnaire import Questionnaire
    from theodolite.domain.risk import Risk


def shown_risks(
    risks: Iterable[Risk],
    parts: Parts,
    pack: Pack,
    guidelines: Sequence[Guideline],
    questionnaires: Sequence[Questionnaire],
    context: LoadContext,
) -> tuple[Risk, ...]:
    """Return risks with what shows them; a sign that nothing asks for is a fault.

    Args:
        risks: As they are named.
        parts: What has been read of the study.
        pack: What its packs bring.
        guidelines: The study's guidelines.
        questionnaires: What its testers are asked.
        context: What takes the faults.
    """
    entries: dict[str, Entry[RiskSpec]] = {item.name: item for item in [*pack.risks, *section(parts.entry, "risks")]}
    rules = {f"{guideline.name}.{rule.name}": rule for guideline in guidelines for rule in guideline.defect_rules}
    signs = _Signs(rules, questionnaires, context)
    return tuple(signs.given_to(risk, entries[risk.name]) if risk.name in entries else risk for risk in risks)


class _Signs:
    """Everything that may show a risk."""

    def __init__(
        self, rules: Mapping[str, DefectRule], questionnaires: Sequence[Questionnaire], context: LoadContext
    ) -> None:
        self._rules = rules
        self._asked = {
            f"{each.name}.{question.name}": question
            for each in questionnaires
            for question in each.instrument.questions
        }
        self._desk = context

    def given_to(self, risk: Risk, entry: Entry[RiskSpec]) -> Risk:
        found = [sign for place, text in enumerate(entry.spec.shown_by) for sign in self._meant(entry, place, text)]
        risk = replace(
            risk,
            rules=tuple(sign for sign in found if isinstance(sign, str) and sign),
            answers=tuple(sign for sign in found if isinstance(sign, Condition)),
        )
        if found and all(found):
            self._check_mode(risk, entry)
        return risk

    def _meant(self, entry: Entry[RiskSpec], place: int, text: str) -> Sequence[str | Condition]:
        """Return the signs that a text means: one, or all defect rules that are about one side of a guardrail."""
        if text not in set(Violation):
            return [self._sign(entry, place, text)]
        rules = [name for name, rule in self._rules.items() if rule.violation.value == text]
        if not rules and not entry.pack:  # a pack does not know by which guidelines it will be labelled
            message = f"risk `{entry.name}` is shown by `{text}`, and no defect rule of the study has that `violation`"
            self._desk.diagnostics.add(entry.fault("shown_by", place, message=message))
        return rules

    def _sign(self, entry: Entry[RiskSpec], place: int, text: str) -> str | Condition:
        """Return a rule's name or a condition; an empty text and a fault where it is neither."""
        condition = parse_condition(text)
        if not isinstance(condition, Condition):
            problem = (
                "" if text in self._rules else f"there is no defect rule `{text}`{did_you_mean(text, self._rules)}"
            )
        elif condition.question not in self._asked:
            near = did_you_mean(condition.question, self._asked)
            problem = f"no questionnaire asks `{condition.question}`{near}"
        else:
            problem = condition_problem(condition, self._asked[condition.question].scale)
        if problem:
            message = f'risk `{entry.name}` is shown by "{text}": {problem}'
            self._desk.diagnostics.add(entry.fault("shown_by", place, message=message))
            return ""
        return condition if isinstance(condition, Condition) else text

    def _check_mode(self, risk: Risk, entry: Entry[RiskSpec]) -> None:
        """Refuse a risk that nothing of the kind that is to identify it can show."""
        wanted = {
            Identification.DIALOGUE: (risk.rules, "a defect rule"),
            Identification.QUESTIONNAIRE: (risk.answers, "an answer of testers"),
            Identification.BOTH: (risk.rules and risk.answers, "a defect rule and an answer of testers"),
        }
        signs, words = wanted[risk.identified_by]
        if not signs:
            message = f"risk `{entry.name}` is identified by {risk.identified_by.value} and needs {words} in `shown_by`"
            self._desk.diagnostics.add(entry.fault("shown_by", message=message))
