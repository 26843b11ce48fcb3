"""The `risks` and `topics` sections: risks with their evidence, and sensitive topics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import Field

from theodolite.config.load_context import Entry, LoadContext, Pack, dropped, section
from theodolite.config.questions import condition_problem, parse_condition
from theodolite.config.spec import Filled, Spec
from theodolite.config.study_parts import StudyParts
from theodolite.domain.choices import Identification, TopicWeight
from theodolite.domain.fault import Severity, did_you_mean
from theodolite.domain.guideline import DefectRule, Guideline, Violation
from theodolite.domain.instrument import Condition

if TYPE_CHECKING:
    from theodolite.domain.people.topic import SensitiveTopic
    from theodolite.domain.questionnaire import Questionnaire
    from theodolite.domain.risk import Risk


class RiskSpec(Spec):
    """A risk that the study looks for."""

    taxonomy: str = ""
    """Identifier in a taxonomy, e.g. `ai-600-1/information-integrity`."""
    description: str = ""
    """Description."""
    identified_by: Identification = Identification.DIALOGUE
    """Source of evidence: `dialogue`, `questionnaire` or `questionnaire and dialogue`."""
    shown_by: list[Filled] = Field(default_factory=list)
    """Defect rules (`guideline.rule`, or all of one side of a guardrail: `prohibited_released`, `permitted_withheld`)
    and answers of testers (`questionnaire.question >= 7`) that show it."""


class TopicSpec(Spec):
    """Something in some scenarios that people may not want to meet."""

    about: Filled
    """What they meet, in words that say it and do not hint at it; people read this before they begin."""
    weight: TopicWeight = TopicWeight.MODERATE
    """How much it may weigh on people: `light`, `moderate` or `heavy`."""


def risks_to_domain(
    risks: Iterable[Risk],
    parts: StudyParts,
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


def topics_to_domain(parts: StudyParts, pack: Pack, context: LoadContext) -> tuple[SensitiveTopic, ...]:
    """Return the topics that scenarios of a study touch, in the order in which they are written down.

    A pack's topics that no scenario of the study touches are left out.

    Args:
        parts: What has been read of the study, scenarios included.
        pack: What its packs bring.
        context: What takes the faults.
    """
    entries: dict[str, Entry[TopicSpec]] = {item.name: item for item in [*pack.topics, *section(parts.entry, "topics")]}
    touched = _touched(parts, entries, context)
    for name, entry in entries.items():
        if name not in touched and not entry.pack:
            message = f"no scenario touches the topic `{name}`; name it under `topics` of those that do"
            context.diagnostics.add(entry.fault(message=message, severity=Severity.NOTE, at_key=True))
    if not touched:
        return ()
    from theodolite.domain.people.topic import SensitiveTopic

    return tuple(
        SensitiveTopic(name=name, about=entry.spec.about, weight=entry.spec.weight, scenarios=tuple(touched[name]))
        for name, entry in entries.items()
        if name in touched
    )


def _touched(parts: StudyParts, entries: Mapping[str, Entry[TopicSpec]], context: LoadContext) -> dict[str, list[str]]:
    """Return the topics that scenarios name, with the names of these scenarios."""
    known, touched = (*entries, *dropped(parts.entry, "topics")), defaultdict[str, list[str]](list)
    for scenario, entry in parts.scenarios:
        for place, name in enumerate(entry.spec.topics):
            if name not in known:
                tail = did_you_mean(name, known) or "; say under `topics` what it is about"
                message = f"scenario `{scenario.name}` touches a topic `{name}` that the study does not name{tail}"
                context.diagnostics.add(entry.fault("topics", place, message=message))
            elif scenario.name not in touched[name]:
                touched[name].append(scenario.name)
    return dict(touched)
