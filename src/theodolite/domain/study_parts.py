"""Optional parts of a study: risks, corrections, translations, criteria, sensitive topics and canaries."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from theodolite.domain.choices import Identification, MeanCorrection, RateCorrection, TopicWeight
from theodolite.domain.errors import InputError
from theodolite.domain.identity import digest
from theodolite.domain.instrument import Condition


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskClass:
    """A risk in a published taxonomy.

    Attributes:
        identifier: Taxonomy and identifier, e.g. `owasp-llm-2025/LLM02`.
        title: Name of the risk in the taxonomy.
        taxonomy: Title of the taxonomy.
    """

    identifier: str
    title: str
    taxonomy: str

    @property
    def text(self) -> str:
        """Identifier and name."""
        return f"{self.identifier} {self.title}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """A risk that a study looks for.

    Attributes:
        name: Identifier within the study.
        taxonomy: Identifier in a taxonomy, e.g. `ai-600-1/information-integrity`.
        description: Description as text.
        identified_by: Whether dialogues, questionnaires or both show it.
        rules: Defect rules that show it in a dialogue, as `guideline.rule`.
        answers: Answers that show it in a questionnaire; each names its question as `questionnaire.question`.
        classes: The risk of `taxonomy`, then the related risks of other taxonomies by its crosswalk.
    """

    name: str
    taxonomy: str = ""
    description: str = ""
    identified_by: Identification = Identification.DIALOGUE
    rules: tuple[str, ...] = ()
    answers: tuple[Condition, ...] = ()
    classes: tuple[RiskClass, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Typology:
    """Types of users and types of applications; results are grouped by both sides.

    Attributes:
        by: Name of the group of dialogues that decides the type of a user.
        users: Type of user to values of that group; empty if each value is a type.
        applications: Type of application to names of applications.
    """

    by: str
    users: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    applications: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def user_type(self, groups: Mapping[str, str]) -> str:
        """Return the type of the user of a dialogue with these groups; empty if it has none.

        Example:
            >>> typology = Typology(by="manner", users={"direct": ("blunt", "curt")})
            >>> typology.user_type({"manner": "curt"}), typology.user_type({"manner": "sly"})
            ('direct', '')
        """
        value = groups.get(self.by, "")
        return next((kind for kind, values in self.users.items() if value in values), "") if self.users else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A judge's results on dialogues outside the study.

    Attributes:
        rule: Name of the defect rule.
        caught: Defects that the judge called a defect; count.
        defects: Defects that people found; count, at least 1.
        passed: Dialogues without a defect that it passed; count.
        sound: Dialogues without a defect; count, at least 1.
        source: Source of these labels, as text.
    """

    rule: str
    caught: int
    defects: int
    passed: int
    sound: int
    source: str

    def __post_init__(self) -> None:
        """Reject counts that exceed their whole."""
        for name, part, whole in (("caught", self.caught, self.defects), ("passed", self.passed, self.sound)):
            if not 0 <= part <= whole or whole < 1:
                message = f"`{name}` must be two counts, a part and its whole, e.g. [180, 200]; got [{part}, {whole}]"
                raise InputError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionChoice:
    """The corrections of one judge's numbers.

    Attributes:
        judge: Name of the annotator.
        rate: Correction of its rates.
        mean: Correction of the means of its scores.
        calibrations: Calibration results from other studies, one for each defect rule.
    """

    judge: str
    rate: RateCorrection = RateCorrection.VERDICT_STRATIFIED
    mean: MeanCorrection = MeanCorrection.POWERED
    calibrations: tuple[Calibration, ...] = ()

    def calibration(self, rule: str) -> Calibration | None:
        """Return earlier calibration results of the judge for one defect rule."""
        return next((calibration for calibration in self.calibrations if calibration.rule == rule), None)


def choice_for(judge: str, choices: Iterable[CorrectionChoice]) -> CorrectionChoice:
    """Return the corrections of a judge's numbers; the default if not stated."""
    return next((choice for choice in choices if choice.judge == judge), CorrectionChoice(judge=judge))


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """Displayed texts of a study in another language.

    Attributes:
        language: Language tag, e.g. `de` or `ar-EG`.
        words: Key of a text (see `domain.wording.texts_of`) to its translation.
    """

    language: str
    words: Mapping[str, str]


class CriteriaSubject(StrEnum):
    """Subject of criteria (ARIA's process requires these three to be documented)."""

    RECRUITMENT = "recruitment"
    SELECTION = "selection"
    ASSIGNMENT = "task assignment"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedCriteria:
    """A person's statement on the recruitment, selection or assignment of a study's annotators.

    A later statement replaces it; all statements are kept.

    Attributes:
        study: Name of the study.
        about: Their subject.
        text: The criteria, in words.
        revision: 1 for the first statement about it.
        by: Opaque key or name of the person who stated them.
        at: Time; UTC.
        why: Change and reason; empty for the first.
    """

    study: str
    about: CriteriaSubject
    text: str
    revision: int
    by: str
    at: datetime
    why: str = ""

    def __post_init__(self) -> None:
        """Reject empty criteria."""
        if not self.text.strip():
            message = f"criteria of {self.about.value} need some words; got none"
            raise InputError(message)

    @staticmethod
    def subject(study: str) -> str:
        """Return the hash under which the criteria of a study are stored."""
        return digest("annotators criteria", study)


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitiveTopic:
    """A sensitive topic of some scenarios that a person may avoid.

    Attributes:
        name: Identifier within the study, e.g. `hate`.
        about: Its content, in plain words without details of the scenario.
        weight: Burden for readers.
        scenarios: Names of the scenarios that touch it.
        words: Displayed name in another language; empty for the name itself.
    """

    name: str
    about: str = ""
    weight: TopicWeight = TopicWeight.MODERATE
    scenarios: tuple[str, ...] = ()
    words: str = ""

    @property
    def title(self) -> str:
        """The displayed name."""
        return self.words or self.name.replace("-", " ").replace("_", " ").capitalize()


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicTally:
    """Effect of an avoided topic on the balance of an event; counts, without names.

    Attributes:
        topic: Name of the topic.
        weight: Burden for readers.
        n_asked: Testers and annotators who were asked about topics to avoid.
        n_people: Testers and annotators who avoid it.
        n_not_offered: Planned sessions on the topic that were not offered to the person in their slot.
        n_free: Planned sessions on the topic with a free seat.
    """

    topic: str
    weight: TopicWeight
    n_asked: int = 0
    n_people: int = 0
    n_not_offered: int = 0
    n_free: int = 0


def scenarios_of(topics: Iterable[SensitiveTopic], names: Collection[str]) -> frozenset[str]:
    """Return the scenarios that touch any of some topics.

    Args:
        topics: All topics of a study.
        names: Names of the topics.
    """
    return frozenset(scenario for topic in topics if topic.name in names for scenario in topic.scenarios)


def topics_in(topics: Iterable[SensitiveTopic], scenario: str) -> tuple[SensitiveTopic, ...]:
    """Return the topics that a scenario touches, the heaviest first."""
    met = (topic for topic in topics if scenario in topic.scenarios)
    return tuple(sorted(met, key=lambda topic: -topic.weight.rank))


def heavy_scenarios(topics: Iterable[SensitiveTopic]) -> frozenset[str]:
    """Return the scenarios that touch a heavy topic."""
    heavy = (topic for topic in topics if topic.weight is TopicWeight.HEAVY)
    return frozenset(scenario for topic in heavy for scenario in topic.scenarios)


CANARY = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
"""A canary: a UUID (RFC 9562) that occurs only in the material that it protects."""


def canary_digest(text: str) -> str:
    """Return the SHA-256 of a lower-case canary, so that records do not publish the canary itself."""
    return hashlib.sha256(text.lower().encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioMaterial:
    """A pack or held-out packet with scenarios of a study.

    Attributes:
        name: Name of the pack or packet.
        version: Edition or version, set by its author; may be empty.
        is_held_out: Whether it is unpublished.
        public_since: Publication date, YYYY-MM-DD; empty if not stated.
        sha256: Checksum of a held-out packet; empty for a pack.
        canaries: SHA-256 digests of its canaries.
        scenarios: Names of its scenarios.
    """

    name: str
    version: str = ""
    is_held_out: bool = False
    public_since: str = ""
    sha256: str = ""
    canaries: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContaminationCheck:
    """The search of responses for the canaries of one material.

    Attributes:
        material: The material.
        responses: Searched responses of applications; count, 0 if the material has no canary.
        found: Labels of the dialogues whose responses contain a canary, by application.
    """

    material: ScenarioMaterial
    responses: int = 0
    found: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
