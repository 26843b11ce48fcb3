"""Agreements, corrected rates and unreadable replies of annotators among the findings of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.annotator import PEOPLE, REFERENCE, Annotator
from theodolite.domain.answer_rules import pools_of
from theodolite.domain.estimate import Estimate, Findings, Measurement, Undefined, ValidationReport
from theodolite.domain.estimate_subject import Measure, ScoreStatistic
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.study import Study
from theodolite.domain.undefined_reasons import undefined_text
from theodolite.reporting.queries.cases import Case
from theodolite.reporting.queries.rates import Rate
from theodolite.reporting.words import figures

MOST_SHARES = 4

"""Largest number of applications for which a judge's agreement with a pool is listed; of more the range. Count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """A statement on the agreement of annotators, with its index among the findings.

    Attributes:
        place: Index in the list `estimates` of the results file, from 0.
        measurement: The number and its subject.
        annotators: Names of the compared annotators.
    """

    place: int
    measurement: Measurement
    annotators: tuple[str, ...]

    @property
    def estimate(self) -> Estimate | None:
        """The number, or None if it is undefined."""
        result = self.measurement.result
        return result if isinstance(result, Estimate) else None

    @property
    def unreadable(self) -> int:
        """Dialogues that the coefficients leave out because a label on them cannot be read or was refused; count."""
        outcomes = self.measurement.outcomes
        return outcomes.unparseable + outcomes.refused


def agreements_of(findings: Findings) -> tuple[Agreement, ...]:
    """Return all agreements in order."""
    return tuple(
        Agreement(place=position, measurement=measurement, annotators=annotators)
        for position, measurement in enumerate(findings.measurements)
        if len(annotators := measurement.subject.annotators) > 1
    )


def people_of(study: Study, guideline: str) -> tuple[str, ...]:
    """Return the names of the human annotators of a guideline: those who label everything, if there are any.

    People who label a sample by hand are not mixed with them: their sample was chosen to be difficult.
    """
    people = [a for a in study.annotators if a.guideline == guideline and a.kind is AnnotatorKind.PERSON]
    return tuple(a.name for a in people if not a.by_hand) or tuple(a.name for a in people)


def judges_of(study: Study, guideline: str) -> tuple[Annotator, ...]:
    """Return the models and rules that label under a guideline."""
    return tuple(a for a in study.annotators if a.guideline == guideline and a.kind is not AnnotatorKind.PERSON)


def among_people(
    study: Study, agreements: Sequence[Agreement], guideline: Guideline, measure: Measure
) -> tuple[Agreement, ...]:
    """Return people's agreement with each other on a guideline's main question."""
    people = set(people_of(study, guideline.name))
    return tuple(agreement for agreement in _of(agreements, guideline, measure) if set(agreement.annotators) <= people)


def plain_agreement(study: Study, agreements: Sequence[Agreement], guideline: Guideline) -> tuple[Agreement, ...]:
    """Return the number of dialogues on which people give the same label: pair by pair, or as a whole in a pool."""
    measure = Measure.UNANIMITY if guideline.name in pools_of(study) else Measure.EXACT_AGREEMENT
    return among_people(study, agreements, guideline, measure)


def subject_text(study: Study, guideline: Guideline) -> str:
    """Return guideline and question before a sentence if there are several of them: `useful, score: `."""
    parts = [guideline.name] if len(study.guidelines) > 1 else []
    parts += [guideline.question.name] if len(guideline.instrument.questions) > 1 else []
    return f"{', '.join(parts)}: " if parts else ""


def with_people(
    study: Study, agreements: Sequence[Agreement], guideline: Guideline, judge: str, measure: Measure
) -> tuple[Agreement, ...]:
    """Return a judge's agreement with the reference or, without one, with people: a pool, or each of them."""
    result = [agreement for agreement in _of(agreements, guideline, measure) if judge in agreement.annotators]
    for standard in (REFERENCE, PEOPLE):
        if own := tuple(agreement for agreement in result if standard in agreement.annotators):
            return own
    people = set(people_of(study, guideline.name))
    return tuple(agreement for agreement in result if people & set(agreement.annotators))


def opponent_text(agreements: Sequence[Agreement]) -> str:
    """Return the reference that `with_people` compares a judge with: the final labels, or people."""
    return "the final labels" if any(REFERENCE in agreement.annotators for agreement in agreements) else "people"


def agreement_text(agreements: Sequence[Agreement], note: str = "") -> str:
    """Return a judge's agreement with the final labels or people, over all applications.

    Beside a pool every application has one share of dialogues with its interval, since people who
    label one dialogue may differ: `81.2% (72.0 to 88.1) of 40 dialogues (bot-1)`. Else there are
    counts: `333 to 421 of 450 (74.0 to 93.6%)`.

    Args:
        agreements: One per application, or one per application and person.
        note: A note on the labels, for the parentheses.
    """
    shares = [agreement for agreement in agreements if PEOPLE in agreement.annotators and agreement.estimate]
    if not shares or len(shares) > MOST_SHARES:
        inside = [percents_text(agreements, with_unreadable=True), note]
        notes = "; ".join(text for text in inside if text)
        return f"{counts_text(agreements, with_unreadable=True)}{f' ({notes})' if notes else ''}"
    parts = [
        _pooled_text(share) + (f" ({share.measurement.application})" if len(shares) > 1 else "") for share in shares
    ]
    return ", ".join(parts) + (f" ({note})" if note else "")


def _pooled_text(agreement: Agreement) -> str:
    estimate = agreement.estimate
    if estimate is None:
        return "unknown"
    if estimate.n < figures.FEW:
        return f"{f'{estimate.value * estimate.n:.1f}'.removesuffix('.0')} of {estimate.n} dialogues"
    ends = "" if estimate.low is None or estimate.high is None else f" ({figures.span(estimate.low, estimate.high)})"
    return f"{figures.percent(estimate.value)}{ends} of {figures.number_of(estimate.n, 'dialogue')}"


def _of(agreements: Sequence[Agreement], guideline: Guideline, measure: Measure) -> list[Agreement]:
    return [
        agreement
        for agreement in agreements
        if agreement.measurement.measure is measure
        and agreement.measurement.subject.guideline == guideline.name
        and agreement.measurement.subject.question in {"", guideline.question.name}
    ]


def agreed(agreement: Agreement) -> int:
    """Return the number of units with agreement; count."""
    estimate = agreement.estimate
    if estimate is None:
        return 0
    return estimate.count if estimate.count is not None else round(estimate.value * estimate.n)


def is_tried(study: Study, agreements: Sequence[Agreement], guideline: Guideline, judge: str) -> bool:
    """Return whether a judge was compared with people at all."""
    measures = (Measure.EXACT_AGREEMENT, Measure.SCORE_AGREEMENT)
    result = [person for measure in measures for person in with_people(study, agreements, guideline, judge, measure)]
    return any(agreement.estimate is not None for agreement in result)


def is_checked(evidence: Evidence, agreements: Sequence[Agreement], guideline: Guideline, judge: str) -> bool:
    """Return whether a judge is validated, or was compared with people in this run."""
    return validation_of_judge(evidence, judge) is not None or is_tried(evidence.study, agreements, guideline, judge)


def judge_note(evidence: Evidence, agreements: Sequence[Agreement], guideline: Guideline, judge: str) -> str:
    """Return a judge's agreement with people in this run: of its labels or, if it only scores, of its scores."""
    exact = with_people(evidence.study, agreements, guideline, judge, Measure.EXACT_AGREEMENT)
    if any(agreement.estimate is not None for agreement in exact):
        counts = counts_text(exact, with_unreadable=True)
        has_final = any(REFERENCE in agreement.annotators for agreement in exact)
        return f"agrees on {counts} final labels" if has_final else f"agrees with people on {counts}"
    scores = score_distances(evidence.study, agreements, guideline, judge)
    if scores:
        return f"differs from {opponent_text(scores)} by {distance_text(scores)}"
    if validation_of_judge(evidence, judge) is not None:
        return "no human labels to compare with in this run"
    return "not compared with human labels"


def score_distances(
    study: Study, agreements: Sequence[Agreement], guideline: Guideline, judge: str
) -> tuple[Agreement, ...]:
    """Return the root mean square difference of a judge's scores from people's."""
    scores = with_people(study, agreements, guideline, judge, Measure.SCORE_AGREEMENT)
    return tuple(score for score in scores if score.measurement.statistic is ScoreStatistic.RMSE and score.estimate)


def distance_text(distances: Sequence[Agreement]) -> str:
    """Return the distance between scores, over all applications: `1.20 points (root mean square, n 223)`."""
    known = [agreement.estimate for agreement in distances if agreement.estimate is not None]
    values = sorted(estimate.value for estimate in known)
    ends = " to ".join(dict.fromkeys((f"{values[0]:.2f}", f"{values[-1]:.2f}")))
    return f"{ends} points (root mean square, n {_range([estimate.n for estimate in known])})"


def counts_text(agreements: Sequence[Agreement], *, with_unreadable: bool = False) -> str:
    """Return the number of units with agreement, over all applications: `333 to 421 of 450`.

    Args:
        agreements: One per application.
        with_unreadable: Whether units with an unreadable label count as disagreements.
    """
    whole = [
        estimate.n + (agreement.unreadable if with_unreadable else 0)
        for agreement in agreements
        if (estimate := agreement.estimate)
    ]
    return f"{_range([agreed(agreement) for agreement in agreements if agreement.estimate])} of {_range(whole)}"


def percents_text(agreements: Sequence[Agreement], *, with_unreadable: bool = False) -> str:
    """Return the agreement in percent, `74.0 to 93.6%`; empty for too few units."""
    measured = [(agreement, agreement.estimate) for agreement in agreements if agreement.estimate is not None]
    if not measured or min(estimate.n for _, estimate in measured) < figures.FEW:
        return ""
    values = sorted(
        agreement.measurement.bounds[0] if with_unreadable and agreement.measurement.bounds else estimate.value
        for agreement, estimate in measured
    )
    ends = dict.fromkeys((figures.points(values[0]), figures.points(values[-1])))
    return f"{' to '.join(ends)}%"


def common_reason(agreements: Sequence[Agreement]) -> str:
    """Return the reasons why an agreement is unknown, most frequent first; empty if it is known."""
    reasons = [
        agreement.measurement.result.reason
        for agreement in agreements
        if isinstance(agreement.measurement.result, Undefined)
    ]
    if not reasons or len(reasons) < len(agreements):
        return ""
    return Counter(reasons).most_common(1)[0][0]


def coefficients_text(agreements: Sequence[Agreement]) -> str:
    """Return the coefficients, lowest to highest: `.89 to .97`; `unknown` where none is defined."""
    values = sorted(agreement.estimate.value for agreement in agreements if agreement.estimate is not None)
    if not values:
        return "unknown"
    return " to ".join(dict.fromkeys((figures.coefficient(values[0]), figures.coefficient(values[-1]))))


def _range(counts: Sequence[int]) -> str:
    if not counts:
        return "0"
    return " to ".join(dict.fromkeys((figures.count(min(counts)), figures.count(max(counts)))))


def unreadable_cases(
    cases: Sequence[Case], guideline: Guideline, annotator: str, outcome: Outcome = Outcome.UNPARSEABLE
) -> tuple[Case, ...]:
    """Return the cases in which an annotator's reply to the main question has an outcome without a label."""
    return tuple(case for case in cases if case.dialogue_label(annotator, guideline).outcome is outcome)


CORRECTED = (Measure.CORRECTED_RATE, Measure.ROGAN_GLADEN_RATE, Measure.CORRECTED_MEAN)

"""Measures that correct a judge's number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A judge's rate as corrected by one person, with its index among the findings.

    Attributes:
        place: Index in the list `estimates` of the results file, from 0.
        measurement: The corrected rate.
    """

    place: int
    measurement: Measurement

    @property
    def judge(self) -> str:
        """Name of the judge."""
        return self.measurement.subject.annotator

    @property
    def by(self) -> str:
        """Name of the person whose labels correct it, or the dialogues used to estimate the judge's errors."""
        subject = self.measurement.subject
        return subject.corrected_by or subject.calibrated_on

    @property
    def result(self) -> Estimate | Undefined:
        """The corrected rate, or why there is none."""
        return self.measurement.result

    @property
    def is_defined(self) -> bool:
        """Whether there is a corrected rate."""
        return isinstance(self.result, Estimate)

    @property
    def text(self) -> str:
        """The corrected rate in words, e.g. `12.1%, 5.2 to 21.0, from 40 labels`."""
        result = self.result
        if isinstance(result, Undefined):
            return undefined_text(result)
        if self.is_mean:
            return f"mean {_mean_text(result)}, from {figures.number_of(result.n, 'label')}"
        ends = figures.span(result.low or 0.0, 1.0 if result.high is None else result.high)
        counted = "verdict" if self.is_transported else "label"
        return f"{figures.percent(result.value)}, {ends}, from {figures.number_of(result.n, counted)}"

    @property
    def is_transported(self) -> bool:
        """Whether the judge's errors are known from other dialogues."""
        return self.measurement.measure is Measure.ROGAN_GLADEN_RATE

    @property
    def is_mean(self) -> bool:
        """Whether it is a mean of scores rather than a rate."""
        return self.measurement.measure is Measure.CORRECTED_MEAN


def _mean_text(result: Estimate) -> str:
    ends = "" if result.low is None or result.high is None else f", {result.low:.2f} to {result.high:.2f}"
    return f"{result.value:.2f}{ends}"


def corrections_of(findings: Findings, guideline: Guideline, rule: DefectRule | None = None) -> tuple[Correction, ...]:
    """Return the corrected rates of a guideline, or of one of its rules, in order; and means of what a rule asks."""
    return tuple(
        Correction(place=position, measurement=one)
        for position, one in enumerate(findings.measurements)
        if one.measure in CORRECTED
        and one.subject.guideline == guideline.name
        and (rule is None or one.subject.rule == rule.name or one.subject.question == rule.question)
    )


def corrections_to_tell(
    study: Study, findings: Findings, guideline: Guideline, rule: DefectRule | None = None
) -> tuple[Correction, ...]:
    """Return the corrected rates that readers are shown.

    Undefined ones by single people of a pool are left out: the pool has its own rate, and each
    of its people labelled a non-random part.
    """
    pool = pools_of(study).get(guideline.name, ())
    return tuple(
        correction
        for correction in corrections_of(findings, guideline, rule)
        if correction.is_defined or correction.by not in pool
    )


def own_words(correction: Correction, findings: Findings, rates: Sequence[Rate]) -> str:
    """Return the number by the judge alone next to a corrected one; empty if there is none."""
    if not correction.is_mean:
        own = own_rate(correction, rates)
        return own_text(own) if own else ""
    uncorrected = replace(correction.measurement.subject, corrected_by="")
    for measurement in findings.measurements:
        same = measurement.measure is Measure.JUDGE_MEAN and measurement.subject == uncorrected
        if same and isinstance(measurement.result, Estimate):
            return f"mean {_mean_text(measurement.result)} of {figures.count(measurement.result.n)}"
    return ""


def own_rate(correction: Correction, rates: Sequence[Rate]) -> Rate | None:
    """Return the judge's own rate next to a corrected rate."""
    uncorrected = replace(correction.measurement.subject, corrected_by="", calibrated_on="")
    for rate in rates:
        if replace(rate.measurement.subject, violation=None, among=()) == uncorrected:
            return rate
    return None


def own_text(rate: Rate) -> str:
    """Return the judge's own rate as text, e.g. `9 of 57 (15.8%)`."""
    return figures.share(rate.defects, rate.measurement.result.n)


def validation_of_judge(evidence: Evidence, annotator: str) -> ValidationReport | None:
    """Return the validation report of an annotator's current version, or None."""
    return next(
        (
            validation_report
            for validation_report in evidence.validation_reports
            if validation_report.judge == annotator
        ),
        None,
    )


def validation_note(evidence: Evidence, annotator: str) -> str:
    """Return whether a judge is validated; empty for people and final labels."""
    known = next((one for one in evidence.study.annotators if one.name == annotator), None)
    if known is None or known.kind is AnnotatorKind.PERSON:
        return ""
    result = validation_of_judge(evidence, annotator)
    return f"validated {result.issued:%Y-%m-%d}" if result else "not validated"


_TOO_OFTEN = 0.1


_EXCERPT = 120


def unreadable_judges(study: Study, cases: Sequence[Case]) -> list[str]:
    """Return a warning for each judge that could not be read too often, with one of its replies."""
    return [
        warning
        for guideline in study.guidelines
        for judge in judges_of(study, guideline.name)
        if (warning := _unreadable(cases, guideline, judge))
    ]


def _unreadable(cases: Sequence[Case], guideline: Guideline, judge: Annotator) -> str:
    annotated = [case for case in cases if case.has_annotation(judge.name)]
    unread = unreadable_cases(annotated, guideline, judge.name)
    if len(unread) <= _TOO_OFTEN * len(annotated):
        return ""
    reply = unread[0].table.unreadable_replies.get((judge.name, guideline.name, guideline.question.name), "")
    raw = " ".join(reply.split())
    example = f' It said, for instance: "{raw[:_EXCERPT]}".' if raw else ""
    name = judge.title or judge.name
    return f"The judge {name} could not be read on {figures.share(len(unread), len(annotated))}.{example}"
