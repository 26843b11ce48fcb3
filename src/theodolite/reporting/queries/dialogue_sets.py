"""Sets of dialogues that a reader looks at together: disagreements, unparseable labels, changes between applications.

The report and the pages of `theodolite view` count with these functions, so that their numbers agree.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from theodolite.domain.annotation import Outcome
from theodolite.domain.answer_rules import labels_of, positions_of, reference_names
from theodolite.domain.answers import OUTCOME_CODES, DialogueLabels
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.reporting.queries.cases import Case, cases_of, rules_of


def disagreements(evidence: Evidence) -> list[int]:
    """Return the dialogues with different labels by two annotators; unreadable answers are not labels."""
    result: set[int] = set()
    for columns in _labels_by_question(evidence):
        readable = zip(*(column.values for column in columns), strict=True)
        for position, values in enumerate(readable):
            if len(set(values)) > 1:
                distinct_values = {value for column in columns if (value := column[position].value) is not None}
                result.update([position] * (len(distinct_values) > 1))
    return sorted(result)


def unparseable(evidence: Evidence) -> list[int]:
    """Return the dialogues with a reply of an annotator that fits no label."""
    code = OUTCOME_CODES[Outcome.UNPARSEABLE]
    columns = (column.outcomes for by_question in _labels_by_question(evidence) for column in by_question)
    return sorted(
        {
            position
            for outcomes in columns
            if code in outcomes
            for position, outcome in enumerate(outcomes)
            if outcome == code
        }
    )


def _labels_by_question(evidence: Evidence) -> Iterator[list[DialogueLabels]]:
    """Yield the labels of all annotators on the whole plan, question by question."""
    for guideline in evidence.study.guidelines:
        names = [annotator.name for annotator in evidence.study.annotators if annotator.guideline == guideline.name]
        for question in guideline.instrument.questions:
            yield [labels_of(evidence.answers, name, guideline, question) for name in names]


def defects(evidence: Evidence, guideline: Guideline, rule: DefectRule) -> set[int]:
    """Return the dialogues with a defect in the labels that decide the rate of a rule."""
    table, question = evidence.answers, guideline.instrument.question(rule.question)
    result: set[int] = set()
    for application in evidence.study.applications:
        positions = positions_of(evidence.study, table, application, guideline)
        for name in reference_names(evidence.study, guideline, application):
            labels = labels_of(table, name, guideline, question, rule=rule)
            result.update(
                position
                for position in positions
                if (value := labels[position].value) is not None
                and rule.applies_to(table.settings[position].groups)
                and rule.is_defect(value, question.scale)
            )
    return result


def changed(evidence: Evidence, defects_of: Callable[[Guideline, DefectRule], Collection[int]]) -> list[int]:
    """Return the dialogues with a defect in one application and none in another on the same prompts.

    Args:
        evidence: The evidence of the run.
        defects_of: Returns the positions of the dialogues with a defect under a rule.
    """
    if len(evidence.study.applications) == 1:
        return []
    result: list[int] = []
    cases = cases_of(evidence.answers)
    for guideline, rule in rules_of(evidence.study):
        found = set(defects_of(guideline, rule))
        labelled = list(_labelled(evidence, cases, guideline, rule))
        # Defects are few and pair keys are long, so of the other keys only those that match a defect are stored.
        bad = {case.index: case.pair_key for case in labelled if case.index in found}
        keys = set(bad.values())
        good = {case.index: key for case in labelled if case.index not in found and (key := case.pair_key) in keys}
        met = set(good.values())
        result += [place for place, key in bad.items() if key in met] + [*good]
    return result


def _labelled(evidence: Evidence, cases: Collection[Case], guideline: Guideline, rule: DefectRule) -> Iterator[Case]:
    """Yield the cases of a rule that have a label from which its rate is computed."""
    study, applications = evidence.study, evidence.study.applications
    names = {application.name: reference_names(study, guideline, application) for application in applications}
    for case in cases:
        own = names.get(case.setting.application, ())
        if rule.applies_to(case.setting.groups) and any(
            case.dialogue_label(name, guideline, rule.question).outcome is Outcome.ANSWERED for name in own
        ):
            yield case
