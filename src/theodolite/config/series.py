"""The `series` and `risks` keys: evaluation series, taxonomies of risks and the risks of a study."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import Discriminator, Field, Tag, field_validator

from theodolite.config.load_context import SHIPPED, Entry, LoadContext
from theodolite.config.permissions import SERVING, USUAL, read_file
from theodolite.config.questions import condition_problem, parse_condition
from theodolite.config.scenarios import ScenarioSpec
from theodolite.config.validation import KIND, Filled, Spec, form_of
from theodolite.config.yaml_source import InvalidStudyError, LocatedDiagnostic, read_yaml
from theodolite.domain.choices import AiType, Identification, TopicWeight, UserType
from theodolite.domain.errors import InputError, Severity, did_you_mean
from theodolite.domain.guideline import DefectRule, Guideline, Violation
from theodolite.domain.instrument import Condition
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Study, deviations_of

if TYPE_CHECKING:
    from theodolite.domain.event import Series
    from theodolite.domain.schema import Questionnaire
    from theodolite.domain.study_parts import Risk, RiskClass, SensitiveTopic


class SeriesSpec(Spec):
    """An evaluation event of several teams, published before its start."""

    name: str = ""
    """Name; default: the name of its file."""
    ai_type: AiType = AiType.GENERATIVE
    """Kind of system under evaluation: `generative` or `predictive`."""
    user_types: list[UserType] = Field(default_factory=list)
    """Types of users: `adversarial`, `everyday`, `domain expert`."""
    risks: list[Filled] = Field(default_factory=list)
    """Its risks: names in the study, or identifiers like `ai-600-1/confabulation`."""
    teams: dict[str, list[Filled]] = Field(default_factory=dict)
    """Applications by team."""
    scenarios: list[Filled] = Field(default_factory=list)
    """Scenarios for all applications."""
    studies: list[Filled] = Field(default_factory=list)
    """Files of its studies, for `theodolite report`; default: those with `series: NAME`."""
    requirements: str = ""
    """Requirements on applications."""
    criteria: str = ""
    """Evaluation criteria."""
    expected_behaviour: str = ""
    """Expected behaviour of an application."""
    methods: str = ""
    """Methods of testing, annotation and measurement."""
    follows: str = ""
    """Preceding series; its open decisions are offered on the page *Series*."""
    submission_criteria: list[Filled] = Field(default_factory=list)
    """Criteria that an application of a team must meet; default: the shipped ones."""
    terms: list[Filled] = Field(default_factory=list)
    """Terms of participation that teams sign; default: the shipped ones."""

    @field_validator("user_types", mode="before")
    @classmethod
    def _types_in_words(cls, value: object) -> object:
        return [str(item).replace("_", " ") for item in value] if isinstance(value, list) else value


SeriesForm: TypeAlias = Annotated[
    Annotated[Filled, Tag(KIND + "text")] | Annotated[SeriesSpec, Tag(KIND + "mapping")],
    Discriminator(form_of),
]
"""Name of a series (`series/<name>.yaml`), or the series itself."""


class TaxonomySpec(Spec):
    """A taxonomy of risks: `taxonomies/<name>.yaml`, or shipped."""

    title: Filled
    """Name."""
    source: str = ""
    """Publication."""
    licence: str = ""
    """Licence of identifiers and names."""
    risks: dict[str, str] = Field(min_length=1)
    """Names of the risks by identifier."""
    crosswalk: dict[str, list[str]] = Field(default_factory=dict)
    """Related risks in other taxonomies by identifier, e.g. `leak: [owasp-llm-2025/LLM02]`."""


_FOLDER, _SHELF = "series", "taxonomies"


def series_to_domain(
    entry: Entry[Spec], form: SeriesSpec | str, context: LoadContext
) -> tuple[str, Entry[SeriesSpec] | None]:
    """Return the name of the series that a study belongs to, and the series itself if it is written down.

    A name without a file is only a label; if the folder
    `series/` contains other files, it is an error.
    """
    if isinstance(form, SeriesSpec):
        if not form.name:
            context.diagnostics.add(entry.diagnostic("series", message="the series needs a `name`", at_key=True))
        return form.name, Entry(name=form.name, spec=form, source=entry.source, path=("series",))
    if not form or "/" in form:
        return form, None
    result = context.read_spec(_FOLDER, form, SeriesSpec, "series")
    known = context.own_names_in(_FOLDER, ".yaml")
    if result is None and known and form not in known:
        message = f"there is no series `{form}` in `{_FOLDER}/`{did_you_mean(form, known)}"
        context.diagnostics.add(entry.diagnostic("series", message=message))
    return form, result


def preregistered(entry: Entry[SeriesSpec] | None, name: str, context: LoadContext) -> Series | None:
    """Return the preregistration of a series; None if there is none."""
    if entry is None:
        return None
    from theodolite.domain.event import EvaluationPlan, Series, Team

    spec = entry.spec
    named = Counter(application for applications in spec.teams.values() for application in applications)
    for application in (application for application, n in named.items() if n > 1):
        message = f"application `{application}` is named twice in the series' `teams`"
        context.diagnostics.add(entry.diagnostic("teams", message=message, at_key=True))
    return Series(
        name=name,
        ai_type=spec.ai_type,
        user_types=tuple(spec.user_types),
        risks=tuple(spec.risks),
        teams=tuple(Team(name=team, applications=tuple(names)) for team, names in spec.teams.items()),
        plan=EvaluationPlan(
            requirements=spec.requirements,
            scenarios=tuple(spec.scenarios),
            criteria=spec.criteria,
            expected_behaviour=spec.expected_behaviour,
            methods=spec.methods,
        ),
        follows=spec.follows,
        submission_criteria=tuple(spec.submission_criteria),
        terms=tuple(spec.terms),
    )


def note_deviations(study: Study, entry: Entry[SeriesSpec] | None, context: LoadContext) -> None:
    """Note tests of a study that its series has not preregistered, and check the series' own risks."""
    if entry is None:
        return
    for text in deviations_of(study):
        message = f"{text} (series `{study.series}`)"
        context.diagnostics.add(entry.diagnostic(message=message, severity=Severity.NOTE, at_key=True))
    own = {risk.name for risk in study.risks}
    for index, risk in enumerate(entry.spec.risks):
        if risk not in own and "/" in risk:
            _check(entry, ("risks", index), risk, context)


def check_taxonomies(risks: Iterable[Entry[RiskSpec]], context: LoadContext) -> None:
    """Reject identifiers that their taxonomy lacks; an unknown taxonomy gives a note."""
    for entry in risks:
        if entry.spec.taxonomy:
            _check(entry, ("taxonomy",), entry.spec.taxonomy, context)


def _check(
    entry: Entry[RiskSpec] | Entry[SeriesSpec] | Entry[TaxonomySpec],
    path: tuple[str | int, ...],
    named: str,
    context: LoadContext,
) -> None:
    name, _, risk = named.partition("/")
    known = context.names_in(_SHELF, ".yaml")
    if name not in known:
        message = f"taxonomy `{name}` is not known; write it into `{_SHELF}/{name}.yaml`{did_you_mean(name, known)}"
        context.diagnostics.add(entry.diagnostic(*path, message=message, severity=Severity.NOTE))
        return
    risks = _risks_of(name, context)
    if risks is not None and risk not in risks:
        tail = did_you_mean(risk, risks) or f"; it has {', '.join(risks)}"
        message = f"taxonomy `{name}` has no risk `{risk}`{tail}"
        context.diagnostics.add(entry.diagnostic(*path, message=message))


def risk_classes(identifier: str, context: LoadContext) -> tuple[RiskClass, ...]:
    """Return the risk of an identifier and the related risks of its crosswalk, as far as taxonomies have them."""
    from theodolite.domain.study_parts import RiskClass

    name, _, risk = identifier.partition("/")
    spec = _taxonomy_of(name, context)
    related = spec.crosswalk.get(risk, ()) if spec else ()
    named = [(one, one.partition("/")) for one in (identifier, *related)]
    return tuple(
        RiskClass(identifier=one, title=known.risks[key], taxonomy=known.title)
        for one, (taxonomy, _, key) in named
        if (known := _taxonomy_of(taxonomy, context)) is not None and key in known.risks
    )


def _risks_of(taxonomy: str, context: LoadContext) -> Mapping[str, str] | None:
    """Return the risks of a taxonomy; None if it cannot be read."""
    spec = _taxonomy_of(taxonomy, context)
    return spec.risks if spec else None


def _taxonomy_of(taxonomy: str, context: LoadContext) -> TaxonomySpec | None:
    """Return a taxonomy, read once; None if it cannot be read."""
    if taxonomy not in context.names_in(_SHELF, ".yaml"):
        return None
    if taxonomy not in context.taxonomies:
        result = context.read_spec(_SHELF, taxonomy, TaxonomySpec, "taxonomy")
        context.taxonomies[taxonomy] = result.spec if result else None
        # A shipped taxonomy does not affect the study, so its origin is not reported.
        context.found[:] = [item for item in context.found if (item.noun, item.where) != ("taxonomy", SHIPPED)]
        if result is not None and taxonomy in context.own_names_in(_SHELF, ".yaml"):
            _check_crosswalk(result, context)
    spec = context.taxonomies[taxonomy]
    return spec if isinstance(spec, TaxonomySpec) else None


def _check_crosswalk(entry: Entry[TaxonomySpec], context: LoadContext) -> None:
    """Reject a crosswalk from or to identifiers that no taxonomy has; a test checks the shipped crosswalks."""
    for risk, targets in entry.spec.crosswalk.items():
        if risk not in entry.spec.risks:
            near = did_you_mean(risk, entry.spec.risks)
            message = f"`crosswalk` names `{risk}`, which is not a risk of this taxonomy{near}"
            context.diagnostics.add(entry.diagnostic("crosswalk", risk, message=message))
        for index, named in enumerate(targets):
            _check(entry, ("crosswalk", risk, index), named, context)


def series_from_domain(series: Series) -> dict[str, Any]:
    """Return a series in the form of a study file."""
    plan = series.plan
    whole: dict[str, Any] = {
        "name": series.name,
        "ai_type": series.ai_type.value,
        "user_types": [kind.value for kind in series.user_types],
        "risks": list(series.risks),
        "teams": {team.name: list(team.applications) for team in series.teams},
        "scenarios": list(plan.scenarios),
        "requirements": plan.requirements,
        "criteria": plan.criteria,
        "expected_behaviour": plan.expected_behaviour,
        "methods": plan.methods,
        "follows": series.follows,
        "submission_criteria": list(series.submission_criteria),
        "terms": list(series.terms),
    }
    return {key: value for key, value in whole.items() if value}


FOLDER = "series"
"""Folder next to the studies that contains the files of series."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesStudies:
    """A series from a file.

    Attributes:
        name: The file name without its suffix, by which studies name the series.
        folder: The folder that contains `series/`; paths of studies are relative to it.
        preregistered: Its preregistration.
        files: The files of its studies, relative to the folder.
    """

    name: str
    folder: Path
    preregistered: Series | None
    files: tuple[Path, ...]


def is_series_file(path: Path) -> bool:
    """Return whether a path names a series: a YAML file in a folder `series/`."""
    return path.suffix in {".yaml", ".yml"} and path.absolute().parent.name == FOLDER and path.is_file()


def series_studies(path: Path) -> SeriesStudies:
    """Return a series and the locations of its studies.

    Raises:
        InvalidStudyError: If the file of the series has errors.
        InputError: If it has no studies, or names a study that does not exist or is outside its folder.
    """
    folder, name = path.absolute().parent.parent, path.stem
    context = LoadContext(folder=folder)
    entry = context.read_spec(FOLDER, name, SeriesSpec, "series")
    series = preregistered(entry, name, context)
    diagnostics = tuple(
        diagnostic for diagnostic in context.diagnostics.in_order() if diagnostic.severity is Severity.ERROR
    )
    if diagnostics or entry is None:
        raise InvalidStudyError(diagnostics, ending="No report was written.")
    named = [_named(study, folder, name) for study in entry.spec.studies]
    files = tuple(named or _found(folder, name))
    if not files:
        message = (
            f"series `{name}` has no studies: no study file in `{folder}` or a folder below it says `series: {name}`."
            f" Add that line to each study, or list their files under `studies` in {FOLDER}/{path.name}"
        )
        raise InputError(message)
    return SeriesStudies(name=name, folder=folder, preregistered=series, files=files)


def _named(study: str, folder: Path, series: str) -> Path:
    file = folder / study
    file = file / USUAL if file.is_dir() else file
    if not file.resolve().is_relative_to(folder.resolve()):
        message = f"series `{series}`: study `{study}` lies outside of the series' folder `{folder}`; move it there"
        raise InputError(message)
    if not file.is_file():
        message = (
            f"series `{series}`: there is no study file `{study}` in `{folder}`; correct the entry under `studies`"
        )
        raise InputError(message)
    return file.relative_to(folder)


def _found(folder: Path, series: str) -> Iterator[Path]:
    """Yield the study files that name the series: those of the folder first, then `study.yaml` one folder below."""
    candidates = sorted(file for file in folder.iterdir() if file.suffix in {".yaml", ".yml"} and file.name != SERVING)
    below = sorted(file for file in folder.glob(f"*/{USUAL}") if not file.parent.name.startswith("."))
    for file in (*candidates, *below):
        if file.is_file() and file.resolve().is_relative_to(folder.resolve()) and _series_of(file) == series:
            yield file.relative_to(folder)


def _series_of(file: Path) -> str:
    raw = read_file(file)
    content = None if isinstance(raw, LocatedDiagnostic) else read_yaml(raw, file.name).content
    if not isinstance(content, dict) or "study" not in content:
        return ""
    named = content.get("series", "")
    return str(named.get("name", "")) if isinstance(named, dict) else str(named)


class RiskSpec(Spec):
    """A risk that the study tests."""

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
    """A sensitive topic of some scenarios that people may avoid."""

    about: Filled
    """Its content in plain words, without scenario details; people read this before they start."""
    weight: TopicWeight = TopicWeight.MODERATE
    """How heavy it may be for people: `light`, `moderate` or `heavy`."""


def risks_to_domain(
    risks: Iterable[Risk],
    entries: Mapping[str, Entry[RiskSpec]],
    guidelines: Sequence[Guideline],
    questionnaires: Sequence[Questionnaire],
    context: LoadContext,
) -> tuple[Risk, ...]:
    """Return risks with their signs; a sign without a question is an error.

    Args:
        risks: The names used by scenarios.
        entries: The risks of the study and its packs, by name.
        guidelines: The study's guidelines.
        questionnaires: Questions to its testers.
        context: Collects the errors.
    """
    rules = {f"{guideline.name}.{rule.name}": rule for guideline in guidelines for rule in guideline.defect_rules}
    signs = _Signs(rules, questionnaires, context)
    return tuple(signs.given_to(risk, entries[risk.name]) if risk.name in entries else risk for risk in risks)


class _Signs:
    """Possible signs of a risk."""

    def __init__(
        self, rules: Mapping[str, DefectRule], questionnaires: Sequence[Questionnaire], context: LoadContext
    ) -> None:
        self._rules = rules
        self._asked = {
            f"{questionnaire.name}.{question.name}": question
            for questionnaire in questionnaires
            for question in questionnaire.instrument.questions
        }
        self._desk = context

    def given_to(self, risk: Risk, entry: Entry[RiskSpec]) -> Risk:
        result = [sign for index, text in enumerate(entry.spec.shown_by) for sign in self._meant(entry, index, text)]
        risk = replace(
            risk,
            rules=tuple(sign for sign in result if isinstance(sign, str) and sign),
            answers=tuple(sign for sign in result if isinstance(sign, Condition)),
        )
        if result and all(result):
            self._check_mode(risk, entry)
        return risk

    def _meant(self, entry: Entry[RiskSpec], position: int, text: str) -> Sequence[str | Condition]:
        """Return the signs for a text: a single sign, or all defect rules on one side of a guardrail."""
        if text not in set(Violation):
            return [self._sign(entry, position, text)]
        rules = [name for name, rule in self._rules.items() if rule.violation.value == text]
        if not rules and not entry.pack:  # a pack does not determine its guidelines
            message = f"risk `{entry.name}` is shown by `{text}`, and no defect rule of the study has that `violation`"
            self._desk.diagnostics.add(entry.diagnostic("shown_by", position, message=message))
        return rules

    def _sign(self, entry: Entry[RiskSpec], position: int, text: str) -> str | Condition:
        """Return a rule's name or a condition; an empty text and an error if it is neither."""
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
            self._desk.diagnostics.add(entry.diagnostic("shown_by", position, message=message))
            return ""
        return condition if isinstance(condition, Condition) else text

    def _check_mode(self, risk: Risk, entry: Entry[RiskSpec]) -> None:
        """Reject a risk without any sign of the required kind of evidence."""
        requested = {
            Identification.DIALOGUE: (risk.rules, "a defect rule"),
            Identification.QUESTIONNAIRE: (risk.answers, "an answer of testers"),
            Identification.BOTH: (risk.rules and risk.answers, "a defect rule and an answer of testers"),
        }
        signs, text = requested[risk.identified_by]
        if not signs:
            message = f"risk `{entry.name}` is identified by {risk.identified_by.value} and needs {text} in `shown_by`"
            self._desk.diagnostics.add(entry.diagnostic("shown_by", message=message))


def topics_to_domain(
    entries: Mapping[str, Entry[TopicSpec]],
    scenarios: Iterable[tuple[Scenario, Entry[ScenarioSpec]]],
    lost: Iterable[str],
    context: LoadContext,
) -> tuple[SensitiveTopic, ...]:
    """Return the topics in the scenarios of a study, in the order of their definition.

    Topics of a pack that no scenario of the study uses are omitted.

    Args:
        entries: The topics of the study and its packs, by name.
        scenarios: Its scenarios with their entries.
        lost: Names of topics that could not be read.
        context: Collects the errors.
    """
    touched = _touched(scenarios, (*entries, *lost), context)
    for name, entry in entries.items():
        if name not in touched and not entry.pack:
            message = f"no scenario touches the topic `{name}`; name it under `topics` of those that do"
            context.diagnostics.add(entry.diagnostic(message=message, severity=Severity.NOTE, at_key=True))
    if not touched:
        return ()
    from theodolite.domain.study_parts import SensitiveTopic

    return tuple(
        SensitiveTopic(name=name, about=entry.spec.about, weight=entry.spec.weight, scenarios=tuple(touched[name]))
        for name, entry in entries.items()
        if name in touched
    )


def _touched(
    scenarios: Iterable[tuple[Scenario, Entry[ScenarioSpec]]], known: Sequence[str], context: LoadContext
) -> dict[str, list[str]]:
    """Return the topics that scenarios name, with the names of these scenarios."""
    touched = defaultdict[str, list[str]](list)
    for scenario, entry in scenarios:
        for index, name in enumerate(entry.spec.topics):
            if name not in known:
                tail = did_you_mean(name, known) or "; say under `topics` what it is about"
                message = f"scenario `{scenario.name}` touches a topic `{name}` that the study does not name{tail}"
                context.diagnostics.add(entry.diagnostic("topics", index, message=message))
            elif scenario.name not in touched[name]:
                touched[name].append(scenario.name)
    return dict(touched)
