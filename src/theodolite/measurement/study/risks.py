"""Materialised risks: by what annotators found, by what testers answered, or by reading both together.

Nothing is merged: where annotators differ, the record names those who say so
and those who do not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from theodolite.domain.annotation import Outcome
from theodolite.domain.answer_rules import QuestionLabels, annotators_of, positions_of
from theodolite.domain.application import Application
from theodolite.domain.choices import Identification
from theodolite.domain.dialogue import Level
from theodolite.domain.estimate import Undefined
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.risks import CombinedReview, MaterialisedRisk, RiskContrast, RiskFinding, RiskPart
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import Condition
from theodolite.domain.questionnaire import QuestionnaireResponse
from theodolite.domain.risk import Risk
from theodolite.domain.study import Study
from theodolite.measurement.comparison.significance import adjust_p_values
from theodolite.measurement.questionnaire.answers import people_permutation

COMBINED = "combined review"

"""What shows a risk that is identified by questionnaire and dialogue together."""


def risk_findings(evidence: Evidence) -> tuple[RiskFinding, ...]:
    """Return where each risk of a study became real, for each application and level.

    Risks of which the study does not say what shows them are left out. Groups of
    people are counted apart and compared; p-values are adjusted over all risks.

    Args:
        evidence: All records of one run.
    """
    return adjusted_together(tuple(_findings(evidence)))


def _findings(evidence: Evidence) -> Iterator[RiskFinding]:
    for risk in evidence.study.risks:
        for application in evidence.study.applications:
            if risk.identified_by is Identification.DIALOGUE and risk.rules:
                yield from _in_dialogues(evidence, risk, application)
            elif risk.identified_by is Identification.QUESTIONNAIRE and risk.answers:
                yield from _in_answers(evidence, risk, application)
            elif risk.identified_by is Identification.BOTH and risk.rules and risk.answers:
                yield from _in_both(evidence, risk, application)


def _in_dialogues(evidence: Evidence, risk: Risk, application: Application) -> Iterator[RiskFinding]:
    records = _by_place(evidence, risk, application)
    levels = _levels(evidence, application, risk)
    for level, places in levels.items():
        found = [record for place in places for record in records.get(place, ())]
        units = [_dialogue_unit(evidence, place, records.get(place)) for place in places]
        finding = RiskFinding(
            risk=risk, application=application.name, level=level, n=len(places), materialised=tuple(found)
        )
        yield _grouped(evidence, finding, units)


def _dialogue_unit(evidence: Evidence, place: int, said: list[MaterialisedRisk] | None) -> RiskUnit:
    """Return a dialogue; nobody has said anything of it where there is not even an empty list."""
    setting = evidence.answers.settings[place]
    person = setting.cluster or evidence.sessions.label(place)
    return RiskUnit(person=person, groups=setting.groups, is_real=None if said is None else bool(said))


def _grouped(evidence: Evidence, finding: RiskFinding, units: Sequence[RiskUnit]) -> RiskFinding:
    parts = risk_parts(units)
    return replace(
        finding,
        n_undecided=sum(unit.is_real is None for unit in units),
        parts=parts,
        contrasts=tuple(risk_contrasts(units, parts, seed=evidence.study.sampling.seed)),
    )


def _levels(evidence: Evidence, application: Application, risk: Risk) -> dict[Level, list[int]]:
    """Return the held dialogues of an application in which a risk is looked for, by level."""
    levels: dict[Level, list[int]] = defaultdict(list)
    for place in evidence.answers.positions(application.name):
        if evidence.answers.dialogues[place] is not None and _is_looked_for(evidence, risk, place):
            levels[evidence.answers.settings[place].level].append(place)
    return levels


def _is_looked_for(evidence: Evidence, risk: Risk, place: int) -> bool:
    """Tell whether a dialogue could show a risk: its scenario looks for it, and one of the risk's rules is about it.

    A risk that no scenario names is looked for in all of them.
    """
    study, setting = evidence.study, evidence.answers.settings[place]
    looking = {scenario.name for scenario in study.scenarios if risk.name in scenario.risks}
    rules = (rule for guideline in study.guidelines for rule in guideline.defect_rules if _shows(risk, guideline, rule))
    return (not looking or setting.scenario in looking) and any(rule.applies_to(setting.groups) for rule in rules)


def _shows(risk: Risk, guideline: Guideline, rule: DefectRule) -> bool:
    return f"{guideline.name}.{rule.name}" in risk.rules


def _by_place(evidence: Evidence, risk: Risk, application: Application) -> dict[int, list[MaterialisedRisk]]:
    """Return what annotators found by the rules of a risk, by position in the plan; nothing where they looked alone."""
    found: dict[int, list[MaterialisedRisk]] = defaultdict(list)
    for guideline in evidence.study.guidelines:
        for rule in guideline.defect_rules:
            if not _shows(risk, guideline, rule):
                continue
            name = f"{guideline.name}.{rule.name}"
            for place, verdicts in _verdicts(evidence, application, guideline, rule).items():
                if _is_looked_for(evidence, risk, place):
                    found[place] += [_record(evidence, risk, place, name, verdicts)] if any(verdicts.values()) else []
    return found


def _verdicts(
    evidence: Evidence, application: Application, guideline: Guideline, rule: DefectRule
) -> dict[int, dict[str, bool]]:
    """Return by position whether each annotator who gave a label calls the dialogue a defect."""
    settings = evidence.answers.settings
    asked = positions_of(evidence.study, evidence.answers, application, guideline)
    places = [place for place in asked if rule.applies_to(settings[place].groups)]
    question = guideline.instrument.question(rule.question)
    sheet = QuestionLabels(table=evidence.answers, guideline=guideline, question=question, positions=places, rule=rule)
    said: dict[int, dict[str, bool]] = defaultdict(dict)
    for source in annotators_of(evidence.study, guideline, application, question.name).annotators:
        for place, reading in zip(places, sheet.labels(source), strict=True):
            if reading.outcome is Outcome.ANSWERED and reading.value is not None:
                said[place][source.name] = rule.is_defect(reading.value, question.scale)
    return said


def _record(evidence: Evidence, risk: Risk, place: int, rule: str, verdicts: dict[str, bool]) -> MaterialisedRisk:
    return MaterialisedRisk(
        risk=risk.name,
        dialogue=evidence.sessions.label(place),
        shown_by=rule,
        by=tuple(name for name, is_defect in verdicts.items() if is_defect),
        against=tuple(name for name, is_defect in verdicts.items() if not is_defect),
    )


def _in_answers(evidence: Evidence, risk: Risk, application: Application) -> Iterator[RiskFinding]:
    for level, given in _responses(evidence, risk, application).items():
        found = [
            MaterialisedRisk(risk=risk.name, dialogue=_label(evidence, one), session=one.session, shown_by=sign.text)
            for one in given
            for sign in signs_of(evidence.study, risk, one)
        ]
        real = {one.session for one in found}
        sessions = {one.session: one for one in given}
        finding = RiskFinding(
            risk=risk, application=application.name, level=level, n=len(sessions), materialised=tuple(found)
        )
        told = {one.session for one in given if _tells(risk, one)}
        units = [
            RiskUnit(person=one.participant, groups=one.groups, is_real=key in real if key in told else None)
            for key, one in sessions.items()
        ]
        yield _grouped(evidence, finding, units)


def _tells(risk: Risk, response: QuestionnaireResponse) -> bool:
    """Tell whether a response answers anything that could show a risk."""
    asked = [answer.question.rpartition(".") for answer in risk.answers]
    own = (question for name, _, question in asked if name == response.questionnaire)
    return any(answer.value is not None for question in own for answer in response.to(question))


def _in_both(evidence: Evidence, risk: Risk, application: Application) -> Iterator[RiskFinding]:
    """Yield sessions in which annotators or testers saw a sign, as far as somebody read both together."""
    records = _by_place(evidence, risk, application)
    reviews = {one.session: one for one in evidence.reviews if one.risk == risk.name}
    for level, given in _responses(evidence, risk, application).items():
        by_session: dict[str, list[QuestionnaireResponse]] = defaultdict(list)
        for one in given:
            by_session[one.session].append(one)
        signed = [
            session
            for session, answers in by_session.items()
            if any(sign for one in answers for sign in signs_of(evidence.study, risk, one))
            or any(records.get(evidence.answered.get(key, -1)) for one in answers for key in one.dialogues)
        ]
        reviewed = [reviews[session] for session in signed if session in reviews]
        real = {one.session: one.materialised for one in reviewed}
        units = [
            RiskUnit(
                person=answers[0].participant,
                groups=answers[0].groups,
                is_real=real.get(session)
                if session in signed
                else (False if any(_tells(risk, one) for one in answers) else None),
            )
            for session, answers in by_session.items()
        ]
        finding = RiskFinding(
            risk=risk,
            application=application.name,
            level=level,
            n=len(by_session),
            materialised=tuple(
                _reviewed(one, _label(evidence, by_session[one.session][0])) for one in reviewed if one.materialised
            ),
            pending=tuple(session for session in signed if session not in reviews),
            n_dismissed=sum(not one.materialised for one in reviewed),
        )
        yield _grouped(evidence, finding, units)


def _reviewed(review: CombinedReview, label: str) -> MaterialisedRisk:
    return MaterialisedRisk(
        risk=review.risk,
        dialogue=label,
        magnitude=review.magnitude,
        impact=review.impact,
        session=review.session,
        shown_by=COMBINED,
        by=(review.reviewer,),
    )


def _responses(evidence: Evidence, risk: Risk, application: Application) -> dict[Level, list[QuestionnaireResponse]]:
    """Return the responses that could show a risk, by level."""
    wanted = {answer.question.rpartition(".")[0] for answer in risk.answers}
    versions = {each.name: version_of(each) for each in evidence.study.questionnaires if each.name in wanted}
    levels: dict[Level, list[QuestionnaireResponse]] = defaultdict(list)
    for one in evidence.responses:
        is_valid = one.submitted and versions.get(one.questionnaire) == one.instrument_version
        if is_valid and one.application == application.name and one.level is not None:
            levels[one.level].append(one)
    return levels


def signs_of(study: Study, risk: Risk, response: QuestionnaireResponse) -> Iterator[Condition]:
    """Yield the conditions of a risk that a response meets.

    Args:
        study: For its questionnaires.
        risk: The risk.
        response: What a tester answered.
    """
    for condition in risk.answers:
        name, _, asked = condition.question.rpartition(".")
        if name == response.questionnaire:
            scale = study.questionnaire(name).instrument.question(asked).scale
            values = [answer.value for answer in response.to(asked) if answer.value is not None]
            if any(condition.holds(value, scale) for value in values):
                yield condition


def _label(evidence: Evidence, response: QuestionnaireResponse) -> str:
    """Return the label of a session's dialogue; empty where it had several or none."""
    places = [evidence.answered[key] for key in response.dialogues if key in evidence.answered]
    return evidence.sessions.label(places[0]) if len(places) == 1 else ""


FEWEST: Final = 5

"""Dialogues or sessions below which a part's count is withheld: it would speak of single people; count."""


DRAWS: Final = 1_999

"""Arrangements of people that are drawn where people are of more than two kinds; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskUnit:
    """One dialogue or session in which a risk could become real.

    Attributes:
        person: Whose it is: the tester, or the persona or script; whole ones are exchanged in tests.
        groups: Name of a group to its value.
        is_real: Whether the risk became real; None where nobody has said so or otherwise.
    """

    person: str
    groups: Mapping[str, str]
    is_real: bool | None


def risk_parts(units: Sequence[RiskUnit]) -> tuple[RiskPart, ...]:
    """Return a count for each value of each group that has several; small ones are named and withheld.

    Args:
        units: Dialogues or sessions of one risk, application and level; undecided ones are counted apart.
    """
    return tuple(
        _part(name, value, [unit for unit in units if unit.groups.get(name) == value])
        for name, values in _groups(units).items()
        for value in values
    )


def _groups(units: Sequence[RiskUnit]) -> dict[str, tuple[str, ...]]:
    names = dict.fromkeys(name for unit in units for name in unit.groups)
    found = {name: tuple(sorted({unit.groups.get(name, "") for unit in units} - {""})) for name in names}
    return {name: values for name, values in found.items() if len(values) > 1}


def _part(group: str, value: str, units: Sequence[RiskUnit]) -> RiskPart:
    known = [unit.is_real for unit in units if unit.is_real is not None]
    return RiskPart(
        group=group,
        part=value,
        n=len(known),
        n_undecided=len(units) - len(known),
        n_people=len({unit.person for unit in units if unit.is_real is not None}),
        count=sum(known) if len(known) >= FEWEST else None,
    )


def risk_contrasts(units: Sequence[RiskUnit], parts: Sequence[RiskPart], *, seed: int) -> Iterator[RiskContrast]:
    """Yield a test of every two parts of a group that are not withheld; p-values are not adjusted yet.

    Args:
        units: Dialogues or sessions of one risk, application and level.
        parts: What `risk_parts` made of them.
        seed: Of the arrangements that are drawn.

    Source:
        `people_permutation`.
    """
    for first, second in combinations([part for part in parts if part.count is not None], 2):
        if first.group == second.group:
            order = {first.part: "0", second.part: "1"}
            own = [unit for unit in units if unit.groups.get(first.group) in order]
            test = people_permutation(
                [None if unit.is_real is None else float(unit.is_real) for unit in own],
                [order[unit.groups[first.group]] for unit in own],
                [unit.person for unit in own],
                draws=DRAWS,
                seed=seed,
            )
            yield RiskContrast(group=first.group, first=first.part, second=second.part, test=test)


def adjusted_together(findings: Sequence[RiskFinding]) -> tuple[RiskFinding, ...]:
    """Return findings whose p-values are adjusted for all comparisons of all risks at once (Holm).

    Args:
        findings: All findings of one run.
    """
    tests = [contrast.test for one in findings for contrast in one.contrasts]
    tested = [test.p_value for test in tests if not isinstance(test, Undefined)]
    adjusted = iter(adjust_p_values(tested) if tested else ())
    return tuple(
        replace(
            one,
            contrasts=tuple(
                each if isinstance(each.test, Undefined) else replace(each, adjusted_p_value=next(adjusted))
                for each in one.contrasts
            ),
        )
        for one in findings
    )
