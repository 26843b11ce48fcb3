"""Subjects of estimates: the measure, and its dialogues, labels and people; also in the flat form of results 1.x."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.guideline import Violation

ALL_APPLICATIONS = "all applications"
"""Application of an estimate over all applications of a run."""


class Measure(StrEnum):
    """All measures of a study; a measure computed by a public function has the function's name."""

    DEFECT_RATE = "defect_rate"
    ZERO_DEFECT_BOUND = "zero_defect_bound"
    CORRECTED_RATE = "corrected_rate"
    ROGAN_GLADEN_RATE = "rogan_gladen_rate"
    JUDGE_MEAN = "judge_mean"
    CORRECTED_MEAN = "corrected_mean"
    EXACT_AGREEMENT = "exact_agreement"
    RELAXED_AGREEMENT = "relaxed_agreement"
    COHEN_KAPPA = "cohen_kappa"
    FLEISS_KAPPA = "fleiss_kappa"
    KRIPPENDORFF_ALPHA = "krippendorff_alpha"
    GWET_AC = "gwet_ac"
    SCORE_AGREEMENT = "score_agreement"
    UNANIMITY = "unanimity"
    MACRO_F1 = "macro_f1"
    CLASS_PRECISION = "class_precision"
    CLASS_RECALL = "class_recall"
    CLASS_F1 = "class_f1"
    CROSS_AGREEMENT = "cross_agreement"
    AGREEMENT_WITH_PEOPLE = "agreement_with_people"
    AGREEMENT_AMONG_PEOPLE = "agreement_among_people"
    NEARER_THAN_PEOPLE = "nearer_than_people"
    JUDGE_SENSITIVITY = "judge_sensitivity"
    JUDGE_SPECIFICITY = "judge_specificity"
    JUDGE_PRECISION = "judge_precision"
    JUDGE_CLEAN_RATE = "judge_clean_rate"
    JUDGE_BIAS = "judge_bias"
    JUDGE_RATE = "judge_rate"
    REFUSED_DEFECTS = "refused_defects"
    UNPARSEABLE_SHARE = "unparseable_share"
    REFUSED_SHARE = "refused_share"
    UNGROUNDED_SHARE = "ungrounded_share"
    CONTROL_FAILED_SHARE = "control_failed_share"
    FLIP_RATE = "flip_rate"
    RETEST_ALPHA = "retest_alpha"
    ORDER_CONSISTENT = "order_consistent"
    PREFERS_FIRST = "prefers_first"
    LENGTH_BIAS = "length_bias"
    VERDICTS_TURNED = "verdicts_turned"


class Weighting(StrEnum):
    """How much a disagreement counts in a coefficient of agreement.

    `nominal` to `ratio` are the levels of measurement of Krippendorff's alpha,
    `identity` to `band` the weights of Gwet's AC.
    """

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"
    RATIO = "ratio"
    IDENTITY = "identity"
    LINEAR = "linear"
    QUADRATIC = "quadratic"
    BAND = "band"


class ScoreStatistic(StrEnum):
    """One of the five numbers of `score_agreement`."""

    RMSE = "rmse"
    BIAS = "bias"
    PEARSON = "pearson"
    SPEARMAN = "spearman"
    KENDALL = "kendall"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupValue:
    """A group of dialogues or people: the name of the attribute and its value."""

    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateSubject:
    """The dialogues, labels and people that one estimate describes; an empty field sets no limit.

    Attributes:
        application: Name of the application, or `ALL_APPLICATIONS`.
        guideline: Name of the guideline.
        question: Name of the question, if the estimate is about its labels.
        label: Label of that question, if the estimate is about one label.
        rule: Name of the defect rule, if it is about defects.
        condition: That rule as written, e.g. `== yes`.
        violation: Side of a guardrail of a defect.
        annotators: Names of the annotators whose labels are used; for a pair, the reference comes
            first and the judge second. `reference` stands for the final labels.
        corrected_by: Name of the person whose labels correct a judge's number.
        calibrated_on: Dialogues on which the errors of a judge are known, as text.
        level: Level of testing, if an application was tested at several or by several tester types.
        tester_type: Tester type; empty if there is only one.
        among: Groups that the rule is limited to.
        group: Group of dialogues by which the estimate is split.
        scenario: Scenario by which the estimate is split.
        annotator_group: Self-described group of people whose labels are used.
        n_people: People behind a combined estimate; count.
        is_human_ceiling: Whether it is the human agreement with which a judge is compared.
        attempt: Name of the injection tried on a judge; `all` for all together.
        repetition: Repeated readings of the judge, as text.
    """

    application: str
    guideline: str = ""
    question: str = ""
    label: str = ""
    rule: str = ""
    condition: str = ""
    violation: Violation | None = None
    annotators: tuple[str, ...] = ()
    corrected_by: str = ""
    calibrated_on: str = ""
    level: Level | None = None
    tester_type: TesterType | None = None
    among: tuple[GroupValue, ...] = ()
    group: GroupValue | None = None
    scenario: str = ""
    annotator_group: GroupValue | None = None
    n_people: int | None = None
    is_human_ceiling: bool = False
    attempt: str = ""
    repetition: str = ""

    @property
    def annotator(self) -> str:
        """Name of the only annotator; empty if there are several or none."""
        return self.annotators[0] if len(self.annotators) == 1 else ""

    @property
    def authority(self) -> str:
        """Name of the first of a pair, the baseline for the second; empty if there is no pair."""
        return self.annotators[0] if len(self.annotators) == 2 else ""

    @property
    def is_part(self) -> bool:
        """Whether the estimate covers only one scenario or group."""
        return bool(self.scenario or self.group or self.annotator_group)

    @property
    def test_setting(self) -> str:
        """Level of testing and tester type as text; empty if there is one of each."""
        return f"{self.level.value}, {self.tester_type.value}" if self.level and self.tester_type else ""


_KAPPAS = (Measure.COHEN_KAPPA, Measure.FLEISS_KAPPA)


class FormerSubject(NamedTuple):
    """The subject of a flat object, and the variant of the measure in it."""

    subject: EstimateSubject
    weighting: Weighting | None
    statistic: ScoreStatistic | None


def former_subject(measure: Measure, application: str, about: Mapping[str, str]) -> FormerSubject:
    """Return the typed subject of an estimate from its application and its flat object.

    Raises:
        ValueError: If a word is unknown.
    """
    transported = measure is Measure.ROGAN_GLADEN_RATE
    by = about.get("by", "")
    subject = EstimateSubject(
        application=application or ALL_APPLICATIONS,
        guideline=about.get("guideline", ""),
        question=about.get("question", ""),
        label=about.get("label", ""),
        rule=about.get("rule", ""),
        condition=about.get("condition", ""),
        violation=Violation(about["violation"]) if "violation" in about else None,
        annotators=_annotators(about),
        corrected_by="" if transported else by,
        calibrated_on=by if transported else "",
        level=Level(about["level"]) if "level" in about else None,
        tester_type=TesterType(about["held_by"]) if "held_by" in about else None,
        among=_groups(about, "among."),
        group=next(iter(_groups(about, "group.")), None),
        scenario=about.get("scenario", ""),
        annotator_group=next(iter(_groups(about, "annotators.")), None),
        n_people=int(about["people"]) if "people" in about else None,
        is_human_ceiling="ceiling" in about,
        attempt=about.get("attempt", ""),
        repetition=about.get("readings", ""),
    )
    weighting = about.get("scale") or about.get("weights") or ("identity" if measure in _KAPPAS else "")
    statistic = about.get("statistic")
    return FormerSubject(
        subject=subject,
        weighting=Weighting(weighting) if weighting else None,
        statistic=ScoreStatistic(statistic) if statistic else None,
    )


def _annotators(about: Mapping[str, str]) -> tuple[str, ...]:
    if "annotators" in about:
        return tuple(about["annotators"].split(", "))
    if "second" in about:
        return (about["first"], about["second"]) if "first" in about else (about["second"],)
    return (about["annotator"],) if "annotator" in about else ()


def _groups(about: Mapping[str, str], prefix: str) -> tuple[GroupValue, ...]:
    return tuple(
        GroupValue(name=name.removeprefix(prefix), value=value)
        for name, value in about.items()
        if name.startswith(prefix)
    )
