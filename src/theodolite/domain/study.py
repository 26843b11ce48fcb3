"""Studies: the content of a study file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from theodolite.domain.annotator import Annotator, ModelJudge
from theodolite.domain.application import Application, ModelEndpoint, PromptedModel
from theodolite.domain.dialogue import Dialogue, Level
from theodolite.domain.errors import require_counts, require_positive
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import digest, version_of
from theodolite.domain.persona import PersonaGroup
from theodolite.domain.scenario import Scenario

if TYPE_CHECKING:  # unused parts of a study need not be loaded
    from theodolite.domain.event import AnnotationProcess, Event, LevelPlan, Series
    from theodolite.domain.gate import Gate
    from theodolite.domain.schema import AnnotationSchema, Questionnaire
    from theodolite.domain.study_parts import (
        CorrectionChoice,
        Risk,
        ScenarioMaterial,
        SensitiveTopic,
        Translation,
        Typology,
    )
    from theodolite.domain.tree import TreeDesign


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Number of dialogues, and selection.

    Attributes:
        seed: Seed of all draws.
        dialogues: Dialogues with each application; None means one for each persona or script in each scenario.
        repeats: Repetitions of each persona or script if `dialogues` is None; count.
    """

    seed: int = 1
    dialogues: int | None = None
    repeats: int = 1

    def __post_init__(self) -> None:
        """Refuse to draw nothing."""
        require_counts("sampling", dialogues=self.dialogues, repeats=self.repeats)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits at which a run stops; None means no limit.

    Attributes:
        usd: US dollars.
        tokens: Tokens read and written together; count.
        calls: Calls to models and applications; count.
    """

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None

    def __post_init__(self) -> None:
        """Reject a limit that no run could keep."""
        require_positive("budget", usd=self.usd, tokens=self.tokens, calls=self.calls)

    @property
    def is_limited(self) -> bool:
        """Whether there is any limit."""
        return not (self.usd is None and self.tokens is None and self.calls is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The recorded final labels that rates and judges are compared with.

    Attributes:
        column: Name of the column of the recorded file.
        guideline: Name of the guideline that they answer.
        spelling: Spellings in the file, mapped to the intended label.
    """

    column: str
    guideline: str
    spelling: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """Definition of a measurement: questions, dialogues, annotators.

    Attributes:
        name: Identifier, e.g. `support-bot`.
        title: Heading of the report.
        about: One or two sentences for the report's first screen.
        series: Name of the series that it belongs to.
        models: Language models by endpoint.
        applications: The things under test, in the order of the file.
        scenarios: Situations and goals.
        personas: Personas of simulated users.
        guidelines: Guidelines for annotators.
        annotators: The annotators, in the order of the file.
        reference: Recorded final labels, if the study has them.
        groups: Names of the columns that dialogues are split by.
        risks: The risks.
        sampling: Number of dialogues.
        budget: Limit of a run.
        pack: Name of the scenario pack that it builds on; empty for none.
        materials: Its packs and its held-out packet, for the contamination note.
        levels: Settings of each level of testing; empty means only model testing.
        annotation: How people's annotation is organised.
        event: When and how people take part; None if nobody does.
        trees: Measurement trees that summarise the answers.
        corrections: Corrections of judges' numbers by people's labels, if stated.
        schemas: Schemas that people annotate by; their guidelines are among the guidelines too.
        questionnaires: Questionnaires for testers after a session.
        annotator_attributes: The study's attributes of its annotators: attribute to annotator to group.
        preregistered: Its series' publication before the start; None if there is none.
        language: Language that its texts are written in, as a tag.
        translations: Its displayed texts in further languages.
        topics: Sensitive topics in its scenarios.
        gates: Limits on the results.
        measures: Names of the measures of plugins that are computed.
        typology: Types of users and of applications; None if the study names none.
    """

    name: str
    applications: tuple[Application, ...]
    scenarios: tuple[Scenario, ...]
    title: str = ""
    about: str = ""
    series: str = ""
    models: tuple[ModelEndpoint, ...] = ()
    personas: tuple[PersonaGroup, ...] = ()
    guidelines: tuple[Guideline, ...] = ()
    annotators: tuple[Annotator, ...] = ()
    reference: Reference | None = None
    groups: tuple[str, ...] = ()
    risks: tuple[Risk, ...] = ()
    sampling: Sampling = field(default_factory=Sampling)
    budget: Budget = field(default_factory=Budget)
    pack: str = ""
    levels: tuple[LevelPlan, ...] = ()
    annotation: AnnotationProcess | None = None
    event: Event | None = None
    trees: tuple[TreeDesign, ...] = ()
    corrections: tuple[CorrectionChoice, ...] = ()
    schemas: tuple[AnnotationSchema, ...] = ()
    questionnaires: tuple[Questionnaire, ...] = ()
    annotator_attributes: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict, metadata={"stored_as": "described"}
    )
    preregistered: Series | None = field(default=None, metadata={"stored_as": "announced"})
    language: str = "en"
    translations: tuple[Translation, ...] = ()
    topics: tuple[SensitiveTopic, ...] = ()
    gates: tuple[Gate, ...] = ()
    measures: tuple[str, ...] = ()
    materials: tuple[ScenarioMaterial, ...] = ()
    typology: Typology | None = None

    @property
    def run_fingerprint(self) -> str:
        """Content hash of everything that decides a run's calls.

        It excludes words, claims, budget, keys, prices, limits, trees and corrections, people who label by hand,
        attributes of annotators, people's questionnaires, languages, topics, and the publications of a series.
        """
        applications = tuple(
            replace(application.deciding_part, scenarios=application.scenarios) for application in self.applications
        )
        endpoints = tuple(model.deciding_part for model in self.models)
        run_study = replace(self, models=endpoints, applications=applications, annotators=self.asked)
        run_study = replace(
            run_study, guidelines=self._called_guidelines(), schemas=(), questionnaires=(), annotation=None
        )
        run_study = replace(run_study, scenarios=_scenarios_of_runs(self), levels=_levels_of_runs(self), event=None)
        run_study = replace(
            run_study,
            trees=(),
            corrections=(),
            annotator_attributes={},
            preregistered=None,
            budget=Budget(),
            topics=(),
            gates=(),
            measures=(),
            materials=(),
            typology=replace(self.typology, users={}, applications={}) if self.typology else None,
        )
        return version_of(replace(run_study, title="", about="", series="", language="en", translations=()))

    @property
    def asked(self) -> tuple[Annotator, ...]:
        """The annotators that a run calls, without people who label by hand."""
        return tuple(annotator for annotator in self.annotators if not annotator.by_hand)

    def _called_guidelines(self) -> tuple[Guideline, ...]:
        by_people = self.categories - {annotator.guideline for annotator in self.asked}
        return tuple(guideline for guideline in self.guidelines if guideline.name not in by_people)

    @property
    def categories(self) -> frozenset[str]:
        """Names of the guidelines that are categories of a schema."""
        return frozenset(category.name for schema in self.schemas for category in schema.categories)

    def schema(self, name: str = "") -> AnnotationSchema | None:
        """Return the schema of that name; without a name, that of people's annotation. None if there is none."""
        schema_name = name or (self.annotation.schema if self.annotation else "")
        matches = (schema for schema in self.schemas if schema.name == schema_name or not schema_name)
        return next(matches, None)

    def questionnaire(self, name: str) -> Questionnaire:
        """Return the questionnaire of that name."""
        return next(questionnaire for questionnaire in self.questionnaires if questionnaire.name == name)

    def questionnaires_after(self, scenario: str, level: Level) -> tuple[Questionnaire, ...]:
        """Return the questions to a tester after a session of a scenario at a level, in order."""
        names = self.scenario(scenario).questionnaires.get(level.value, ())
        return tuple(self.questionnaire(name) for name in names)

    def guideline(self, name: str) -> Guideline:
        """Return the guideline of that name."""
        return next(guideline for guideline in self.guidelines if guideline.name == name)

    def model(self, name: str) -> ModelEndpoint:
        """Return the model of that name."""
        return next(model for model in self.models if model.name == name)

    def application(self, name: str) -> Application:
        """Return the application of that name."""
        return next(application for application in self.applications if application.name == name)

    def scenario(self, name: str) -> Scenario:
        """Return the scenario of that name; recorded dialogues may name one that the study does not define."""
        match = next((scenario for scenario in self.scenarios if scenario.name == name), None)
        return Scenario(name=name) if match is None else match

    def asks(self, guideline: str, scenario: str) -> bool:
        """Return whether a scenario's dialogues are labelled by a guideline; recorded ones without a scenario are.

        The categories of a schema are the same for all scenarios and levels.
        """
        named = self.scenario(scenario).guidelines
        return not named or guideline in named or guideline in self.categories

    def labelled_by(self, dialogue: Dialogue, guideline: str = "") -> bool:
        """Return whether a dialogue is labelled by a guideline; by any if its scenario names none."""
        return not guideline or self.asks(guideline, dialogue.scenario)

    def application_version(self, name: str) -> str:
        """Return the content hash of an application, without its claims, together with the model that it runs on."""
        application = self.application(name)
        if isinstance(application.connection, PromptedModel):
            return digest(version_of(application.deciding_part), self.model(application.connection.model).version)
        return version_of(application.deciding_part)

    def annotator(self, name: str) -> Annotator:
        """Return the annotator of that name."""
        return next(annotator for annotator in self.annotators if annotator.name == name)

    def annotator_version(self, name: str) -> str:
        """Return the content hash of an annotator together with its guideline and its model."""
        annotator = self.annotator(name)
        parts = [version_of(annotator), version_of(self.guideline(annotator.guideline))]
        if isinstance(annotator.labelling, ModelJudge):
            parts.append(self.model(annotator.labelling.model).version)
        return digest(*parts)


def deviations_of(study: Study) -> tuple[str, ...]:
    """Return as text the parts of a study that its series has not preregistered."""
    if study.preregistered is None:
        return ()
    return study.preregistered.deviations(
        applications=[application.name for application in study.applications],
        scenarios=[scenario.name for scenario in study.scenarios],
        risks=[(risk.name, risk.taxonomy) for risk in study.risks],
        user_types=list(dict.fromkeys(kind for plan in study.levels for kind in plan.quotas)),
    )


def _scenarios_of_runs(study: Study) -> tuple[Scenario, ...]:
    """Return the scenarios without texts for people only."""
    return tuple(replace(scenario, instructions={}, questionnaires={}) for scenario in study.scenarios)


def _levels_of_runs(study: Study) -> tuple[LevelPlan, ...]:
    """Return the levels without people."""
    return tuple(plan.of_runs() for plan in study.levels)
