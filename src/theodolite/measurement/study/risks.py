"""Materialised risks and codings of people's reports.

Nothing is merged: if annotators differ, the record names those who reported it
and those who did not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Final

from theodolite.domain.annotation import Outcome
from theodolite.domain.answer_rules import QuestionLabels, annotators_of, positions_of
from theodolite.domain.application import Application
from theodolite.domain.choices import Identification, Impact
from theodolite.domain.coding import TRIED, Codebook, CodedAnswer, CodedState, CodingWork, OpenAnswer
from theodolite.domain.dialogue import Level
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.responses import CodeAgreement, CoderPair, CodingFinding, ThemeQuote, ThemeShare
from theodolite.domain.findings.risks import CombinedReview, MaterialisedRisk, RiskContrast, RiskFinding, RiskPart
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import Condition, Question, ScaleKind
from theodolite.domain.schema import Questionnaire, QuestionnaireResponse
from theodolite.domain.study import Study
from theodolite.domain.study_parts import Risk
from theodolite.measurement.alpha import krippendorff_alpha
from theodolite.measurement.comparison import adjust_p_values
from theodolite.measurement.labels import cluster_sizes, shared_clusters
from theodolite.measurement.proportion import defect_rate
from theodolite.measurement.questionnaires import people_permutation, set_alpha
from theodolite.measurement.study.impacts import RiskGrade, graded_positions, risk_impact

COMBINED = "combined review"
"""Conditions of a questionnaire and a dialogue that show a risk together."""


def risk_findings(evidence: Evidence) -> tuple[RiskFinding, ...]:
    """Return the places where each risk of a study materialised, for each application and level.

    Risks without stated evidence are omitted. Groups of
    people are counted separately and compared; p-values are adjusted over all risks.
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
    records = _by_position(evidence, risk, application)
    grades = graded_positions(evidence, risk, application)
    levels = _levels(evidence, application, risk)
    for level, positions in levels.items():
        materialised = [record for position in positions for record in records.get(position, ())]
        units = [
            replace(_dialogue_unit(evidence, position, records.get(position)), **_graded(grades.get(position)))
            for position in positions
        ]
        finding = RiskFinding(
            risk=risk, application=application.name, level=level, n=len(positions), materialised=tuple(materialised)
        )
        yield _grouped(evidence, finding, units)


def _dialogue_unit(evidence: Evidence, position: int, records: list[MaterialisedRisk] | None) -> RiskUnit:
    """Return the unit of a dialogue; undecided if it has no records, not even an empty list."""
    setting = evidence.answers.settings[position]
    person = setting.cluster or evidence.sessions.label(position)
    return RiskUnit(person=person, groups=setting.groups, is_real=None if records is None else bool(records))


def _graded(grade: tuple[float | None, tuple[Impact, ...]] | None) -> dict[str, Any]:
    return {} if grade is None else {"magnitude": grade[0], "impacts": grade[1]}


def _grouped(evidence: Evidence, finding: RiskFinding, units: Sequence[RiskUnit]) -> RiskFinding:
    parts = risk_parts(units)
    return replace(
        finding,
        n_undecided=sum(unit.is_real is None for unit in units),
        parts=parts,
        contrasts=tuple(risk_contrasts(units, parts, seed=evidence.study.sampling.seed)),
        impact=risk_impact(
            [
                RiskGrade(person=unit.person, is_real=unit.is_real, magnitude=unit.magnitude, impacts=unit.impacts)
                for unit in units
            ],
            n_pending=len(finding.pending),
        ),
    )


def _levels(evidence: Evidence, application: Application, risk: Risk) -> dict[Level, list[int]]:
    """Return the dialogues of an application that test a risk, by level."""
    levels: dict[Level, list[int]] = defaultdict(list)
    for position in evidence.answers.positions(application.name):
        if evidence.answers.dialogues[position] is not None and _is_looked_for(evidence, risk, position):
            levels[evidence.answers.settings[position].level].append(position)
    return levels


def _is_looked_for(evidence: Evidence, risk: Risk, position: int) -> bool:
    """Return whether a dialogue could show a risk: its scenario tests it, and one of the risk's rules applies to it.

    A risk that no scenario names is tested in all of them.
    """
    study, setting = evidence.study, evidence.answers.settings[position]
    looking = {scenario.name for scenario in study.scenarios if risk.name in scenario.risks}
    rules = (rule for guideline in study.guidelines for rule in guideline.defect_rules if _shows(risk, guideline, rule))
    return (not looking or setting.scenario in looking) and any(rule.applies_to(setting.groups) for rule in rules)


def _shows(risk: Risk, guideline: Guideline, rule: DefectRule) -> bool:
    return f"{guideline.name}.{rule.name}" in risk.rules


def _by_position(evidence: Evidence, risk: Risk, application: Application) -> dict[int, list[MaterialisedRisk]]:
    """Return the materialised risks of each labelled dialogue by its position; an empty list if labels show none."""
    records: dict[int, list[MaterialisedRisk]] = defaultdict(list)
    for guideline in evidence.study.guidelines:
        for rule in guideline.defect_rules:
            if not _shows(risk, guideline, rule):
                continue
            name = f"{guideline.name}.{rule.name}"
            for position, verdicts in _verdicts(evidence, application, guideline, rule).items():
                if _is_looked_for(evidence, risk, position):
                    records[position] += (
                        [_record(evidence, risk, position, name, verdicts)] if any(verdicts.values()) else []
                    )
    return records


def _verdicts(
    evidence: Evidence, application: Application, guideline: Guideline, rule: DefectRule
) -> dict[int, dict[str, bool]]:
    """Return, by position, whether each annotator with a label calls the dialogue a defect."""
    settings = evidence.answers.settings
    planned = positions_of(evidence.study, evidence.answers, application, guideline)
    positions = [position for position in planned if rule.applies_to(settings[position].groups)]
    question = guideline.instrument.question(rule.question)
    labels = QuestionLabels(
        table=evidence.answers, guideline=guideline, question=question, positions=positions, rule=rule
    )
    verdicts: dict[int, dict[str, bool]] = defaultdict(dict)
    for source in annotators_of(evidence.study, guideline, application, question.name).annotators:
        for position, reading in zip(positions, labels.labels(source), strict=True):
            if reading.outcome is Outcome.ANSWERED and reading.value is not None:
                verdicts[position][source.name] = rule.is_defect(reading.value, question.scale)
    return verdicts


def _record(evidence: Evidence, risk: Risk, position: int, rule: str, verdicts: dict[str, bool]) -> MaterialisedRisk:
    return MaterialisedRisk(
        risk=risk.name,
        dialogue=evidence.sessions.label(position),
        shown_by=rule,
        by=tuple(name for name, is_defect in verdicts.items() if is_defect),
        against=tuple(name for name, is_defect in verdicts.items() if not is_defect),
    )


def _in_answers(evidence: Evidence, risk: Risk, application: Application) -> Iterator[RiskFinding]:
    for level, responses in _responses(evidence, risk, application).items():
        materialised = [
            MaterialisedRisk(
                risk=risk.name, dialogue=_label(evidence, response), session=response.session, shown_by=sign.text
            )
            for response in responses
            for sign in signs_of(evidence.study, risk, response)
        ]
        real = {response.session for response in materialised}
        sessions = {response.session: response for response in responses}
        finding = RiskFinding(
            risk=risk, application=application.name, level=level, n=len(sessions), materialised=tuple(materialised)
        )
        decided = {response.session for response in responses if _tells(risk, response)}
        units = [
            RiskUnit(
                person=response.participant, groups=response.groups, is_real=key in real if key in decided else None
            )
            for key, response in sessions.items()
        ]
        yield _grouped(evidence, finding, units)


def _tells(risk: Risk, response: QuestionnaireResponse) -> bool:
    """Return whether a response answers anything that could show a risk."""
    questions = [answer.question.rpartition(".") for answer in risk.answers]
    own = (question for name, _, question in questions if name == response.questionnaire)
    return any(answer.value is not None for question in own for answer in response.to(question))


def _in_both(evidence: Evidence, risk: Risk, application: Application) -> Iterator[RiskFinding]:
    """Yield sessions with a sign by annotators or testers that a reviewer read as a whole."""
    records = _by_position(evidence, risk, application)
    reviews = {review.session: review for review in evidence.reviews if review.risk == risk.name}
    for level, responses in _responses(evidence, risk, application).items():
        by_session: dict[str, list[QuestionnaireResponse]] = defaultdict(list)
        for response in responses:
            by_session[response.session].append(response)
        signed = [
            session
            for session, answers in by_session.items()
            if any(sign for answer in answers for sign in signs_of(evidence.study, risk, answer))
            or any(records.get(evidence.answered.get(key, -1)) for answer in answers for key in answer.dialogues)
        ]
        reviewed = [reviews[session] for session in signed if session in reviews]
        real = {combined_review.session: combined_review.materialised for combined_review in reviewed}
        units = [
            RiskUnit(
                person=answers[0].participant,
                groups=answers[0].groups,
                is_real=real.get(session)
                if session in signed
                else (False if any(_tells(risk, answer) for answer in answers) else None),
                **_reviewed_grade(reviews.get(session) if real.get(session) else None),
            )
            for session, answers in by_session.items()
        ]
        finding = RiskFinding(
            risk=risk,
            application=application.name,
            level=level,
            n=len(by_session),
            materialised=tuple(
                _reviewed(combined_review, _label(evidence, by_session[combined_review.session][0]))
                for combined_review in reviewed
                if combined_review.materialised
            ),
            pending=tuple(session for session in signed if session not in reviews),
            n_dismissed=sum(not combined_review.materialised for combined_review in reviewed),
        )
        yield _grouped(evidence, finding, units)


def _reviewed_grade(review: CombinedReview | None) -> dict[str, Any]:
    if review is None:
        return {}
    return {"magnitude": None if review.magnitude is None else float(review.magnitude), "impacts": (review.impact,)}


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
    questionnaires = {answer.question.rpartition(".")[0] for answer in risk.answers}
    versions = {
        questionnaire.name: version_of(questionnaire)
        for questionnaire in evidence.study.questionnaires
        if questionnaire.name in questionnaires
    }
    levels: dict[Level, list[QuestionnaireResponse]] = defaultdict(list)
    for response in evidence.responses:
        is_valid = response.submitted and versions.get(response.questionnaire) == response.instrument_version
        if is_valid and response.application == application.name and response.level is not None:
            levels[response.level].append(response)
    return levels


def signs_of(study: Study, risk: Risk, response: QuestionnaireResponse) -> Iterator[Condition]:
    """Yield the conditions of a risk that a response satisfies."""
    for condition in risk.answers:
        name, _, question = condition.question.rpartition(".")
        if name == response.questionnaire:
            scale = study.questionnaire(name).instrument.question(question).scale
            values = [answer.value for answer in response.to(question) if answer.value is not None]
            if any(condition.holds(value, scale) for value in values):
                yield condition


def _label(evidence: Evidence, response: QuestionnaireResponse) -> str:
    """Return the label of a session's dialogue; empty if it had several or none."""
    positions = [evidence.answered[key] for key in response.dialogues if key in evidence.answered]
    return evidence.sessions.label(positions[0]) if len(positions) == 1 else ""


FEWEST: Final = 5
"""Minimum number of dialogues or sessions of a reported part; fewer would identify people; count."""

DRAWS: Final = 1_999
"""Number of random arrangements if there are more than two kinds of people; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskUnit:
    """One dialogue or session in which a risk could become real.

    Attributes:
        person: The tester, persona or script; tests exchange whole people.
        groups: Name of a group to its value.
        is_real: Whether the risk materialised; None without a decision.
        magnitude: Mean grade, 0 to 10; None without a grade.
        impacts: Directions of the impact.
    """

    person: str
    groups: Mapping[str, str]
    is_real: bool | None
    magnitude: float | None = None
    impacts: tuple[Impact, ...] = ()


def risk_parts(units: Sequence[RiskUnit]) -> tuple[RiskPart, ...]:
    """Return a count for each value of each group with several values; small ones are named but withheld.

    Args:
        units: Dialogues or sessions of one risk, application and level; undecided ones are counted separately.
    """
    return tuple(
        _part(name, value, [unit for unit in units if unit.groups.get(name) == value])
        for name, values in _groups(units).items()
        for value in values
    )


def _groups(units: Sequence[RiskUnit]) -> dict[str, tuple[str, ...]]:
    names = dict.fromkeys(name for unit in units for name in unit.groups)
    values_of = {name: tuple(sorted({unit.groups.get(name, "") for unit in units} - {""})) for name in names}
    return {name: values for name, values in values_of.items() if len(values) > 1}


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
        parts: Result of `risk_parts`.
        seed: Seed of the random arrangements.

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
    """Return findings whose p-values are adjusted for all comparisons of all risks at once (Holm)."""
    tests = [contrast.test for finding in findings for contrast in finding.contrasts]
    tested = [test.p_value for test in tests if not isinstance(test, Undefined)]
    adjusted = iter(adjust_p_values(tested) if tested else ())
    return tuple(
        replace(
            finding,
            contrasts=tuple(
                contrast if isinstance(contrast.test, Undefined) else replace(contrast, adjusted_p_value=next(adjusted))
                for contrast in finding.contrasts
            ),
        )
        for finding in findings
    )


def coding_findings(evidence: Evidence) -> Iterator[CodingFinding]:
    """Yield the coding results of each open question that has a codebook.

    Codes count for an answer if two coders, blind to each other, both assigned them,
    or agreed on them afterwards; differences are counted separately. Nothing is
    decided by majority.

    Source:
        Shares: `answer_share`; agreement: `TwiceCoded`, `coder_pairs`.
    """
    work = evidence.coding
    if work is None:
        return
    responses = (*evidence.responses, *evidence.notes)
    for questionnaire in (*evidence.study.questionnaires, TRIED):
        for question in questionnaire.instrument.questions:
            theme = _Theme(questionnaire, question, written_answers(questionnaire, question, responses), work)
            book = work.codebook_for(theme.about("").place)
            if theme.written and book is not None:
                yield _finding(evidence, work, book, theme)


def written_answers(
    questionnaire: Questionnaire, question: Question, responses: Sequence[QuestionnaireResponse]
) -> list[QuestionnaireResponse]:
    """Return the submitted responses with a free-text answer to a question.

    Args:
        questionnaire: Its current version; responses to another version are excluded.
        question: One of its questions; questions with a scale have no such answers.
        responses: All responses of a study.
    """
    if question.scale.kind is not ScaleKind.TEXT:
        return []
    version = version_of(questionnaire)
    return [
        response
        for response in responses
        if (response.questionnaire, response.instrument_version) == (questionnaire.name, version)
        and response.submitted
        and any(answer.value for answer in response.to(question.name))
    ]


@dataclass(frozen=True, slots=True)
class _Theme:
    """The answers to one open question with their codings."""

    questionnaire: Questionnaire
    question: Question
    written: Sequence[QuestionnaireResponse]
    work: CodingWork

    def about(self, session: str) -> OpenAnswer:
        """Return the reference of a session's answer."""
        return OpenAnswer(session=session, questionnaire=self.questionnaire.name, question=self.question.name)

    def stands(self) -> list[tuple[QuestionnaireResponse, CodedAnswer]]:
        """Return each response with the reference of its answer."""
        return list(
            zip(self.written, self.work.coded(self.about(response.session) for response in self.written), strict=True)
        )


def _finding(evidence: Evidence, work: CodingWork, book: Codebook, theme: _Theme) -> CodingFinding:
    stands = theme.stands()
    by_person = [(response.participant, coded) for response, coded in stands]
    twice = TwiceCoded.of(by_person)
    return CodingFinding(
        questionnaire=theme.questionnaire.name,
        question=theme.question.name,
        text=theme.question.text,
        codebook=version_of(book),
        revision=book.revision,
        name=book.name,
        n=len(stands),
        n_coders=len({coding.coder for _, coded in stands for coding in coded.codings}),
        states={state: n for state in CodedState if (n := sum(coded.state is state for _, coded in stands))},
        alike=twice.alike(),
        alpha=twice.alpha(),
        codes=tuple(twice.on(name) for name in book.names),
        pairs=tuple(coder_pairs(by_person, book.names)),
        themes=tuple(_shares(evidence, book, stands)),
        quotes=tuple(_quotes(work, book, stands)),
    )


def _shares(
    evidence: Evidence, book: Codebook, pairs: Sequence[tuple[QuestionnaireResponse, CodedAnswer]]
) -> Iterator[ThemeShare]:
    """Yield the share of each code by application and level, then by group within each."""
    groups: list[tuple[str, str] | tuple[()]] = [(), *_rater_groups([response for response, _ in pairs])]
    for group in groups:
        for level in Level:
            for application in evidence.study.applications:
                own = [
                    (response.participant, coded)
                    for response, coded in pairs
                    if response.level is level
                    and response.application == application.name
                    and (not group or response.groups.get(group[0]) == group[1])
                ]
                if own:
                    yield from (_share(name, application.name, level, group, own) for name in book.names)


def _rater_groups(responses: Sequence[QuestionnaireResponse]) -> list[tuple[str, str]]:
    names = dict.fromkeys(name for response in responses for name in response.groups)
    values = {
        name: sorted({response.groups[name] for response in responses if name in response.groups}) for name in names
    }
    return [(name, value) for name, group_values in values.items() if len(group_values) > 1 for value in group_values]


def _share(
    code: str,
    application: str,
    level: Level,
    group: tuple[str, str] | tuple[()],
    own: Sequence[tuple[str, CodedAnswer]],
) -> ThemeShare:
    decisions = [(person, coded.has(code)) for person, coded in own]
    known = [(person, has) for person, has in decisions if has is not None]
    n_undecided = sum(has is None and coded.is_coded for (_, has), (_, coded) in zip(decisions, own, strict=True))
    people = {person for person, _ in known}
    is_shown = not group or len({person for person, _ in own}) >= FEWEST
    n_with_code = sum(has for _, has in known)
    return ThemeShare(
        code=code,
        application=application,
        level=level,
        group=group,
        n=len(known),
        n_undecided=n_undecided,
        n_uncoded=len(own) - len(known) - n_undecided,
        n_people=len(people),
        share=answer_share(known) if is_shown else None,
        bounds=(n_with_code / len(own), (n_with_code + len(own) - len(known)) / len(own)) if is_shown else None,
    )


def _quotes(
    work: CodingWork, book: Codebook, pairs: Sequence[tuple[QuestionnaireResponse, CodedAnswer]]
) -> Iterator[ThemeQuote]:
    texts = {quote.answer: quote.text for quote in work.quotes}
    for response, coded in pairs:
        if coded.answer in texts and response.level is not None:
            codes = tuple(name for name in book.names if coded.has(name))
            yield ThemeQuote(
                text=texts[coded.answer], codes=codes, application=response.application, level=response.level
            )


UNIT: Final = "fraction of answers"
"""Denominator of shares."""


@dataclass(frozen=True, slots=True)
class TwiceCoded:
    """Answers that two coders have coded.

    Attributes:
        people: The tester behind each answer.
        first: Codes of one coder for each answer.
        second: Codes of the other coder for each answer.
    """

    people: Sequence[str]
    first: Sequence[Collection[str]]
    second: Sequence[Collection[str]]

    @classmethod
    def of(cls, answers: Sequence[tuple[str, CodedAnswer]]) -> TwiceCoded:
        """Return the answers that both coders have coded."""
        both = [(person, coded.codings) for person, coded in answers if coded.is_coded]
        return cls(
            people=[person for person, _ in both],
            first=[codings[0].codes for _, codings in both],
            second=[codings[1].codes for _, codings in both],
        )

    def alike(self) -> Estimate | Undefined:
        """Return the share of answers with the same codes by both."""
        return self._same(
            [
                set(first_codes) == set(second_codes)
                for first_codes, second_codes in zip(self.first, self.second, strict=True)
            ]
        )

    def alpha(self) -> Estimate | Undefined:
        """Return Krippendorff's alpha of whole sets of codes, with the distance MASI."""
        sets = [[first_codes, second_codes] for first_codes, second_codes in zip(self.first, self.second, strict=True)]
        return set_alpha(sets, clusters=shared_clusters(self.people))

    def on(self, code: str) -> CodeAgreement:
        """Return the agreement on one code."""
        coded = [
            (code in first_has, code in second_has)
            for first_has, second_has in zip(self.first, self.second, strict=True)
        ]
        rows = [[float(first_has[position]) for first_has in coded] for position in range(2)]
        return CodeAgreement(
            code=code,
            n_given=sum(sum(first_has) for first_has in coded),
            alike=self._same([first_has == second_has for first_has, second_has in coded]),
            alpha=krippendorff_alpha(rows, scale="nominal", clusters=shared_clusters(self.people)),
        )

    def _same(self, flags: Sequence[bool]) -> Estimate | Undefined:
        return answer_share(list(zip(self.people, flags, strict=True)))


def coder_pairs(answers: Sequence[tuple[str, CodedAnswer]], codes: Sequence[str]) -> Iterator[CoderPair]:
    """Yield the agreement of every two coders who have coded the same answers, in the order of their keys.

    Args:
        answers: The tester behind each answer, and its reference.
        codes: Names of the current codes.

    Source:
        As for all coders together: `defect_rate` over testers as clusters, `krippendorff_alpha`, `set_alpha`.
    """
    shared: dict[tuple[str, str], list[tuple[str, Collection[str], Collection[str]]]] = defaultdict(list)
    for person, coded in answers:
        by_coder = sorted(coded.codings, key=lambda coding: coding.coder)
        for coding, later in combinations(by_coder, 2):
            shared[coding.coder, later.coder].append((person, coding.codes, later.codes))
    for (first, second), rows in sorted(shared.items()):
        people, ones, others = zip(*rows, strict=True)
        twice = TwiceCoded(people, ones, others)
        yield CoderPair(
            first=first,
            second=second,
            n=len(rows),
            alike=twice.alike(),
            alpha=twice.alpha(),
            codes=tuple(twice.on(code) for code in codes),
        )


def answer_share(known: Sequence[tuple[str, bool]]) -> Estimate | Undefined:
    """Return the share of answers with a property.

    Args:
        known: The tester behind each answer, and whether it has the property.
    """
    flags, clusters = [has for _, has in known], shared_clusters([person for person, _ in known])
    return replace(defect_rate(sum(flags), len(flags), clusters=cluster_sizes(flags, clusters)), unit=UNIT)
