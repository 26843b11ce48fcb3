"""The top level of study files and packs, and the `tree` key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

from pydantic import Discriminator, Field, Tag, field_validator

from theodolite.config.annotators import AnnotatorSpec, ReferenceSpec
from theodolite.config.applications import AnyApplication
from theodolite.config.cases import CasesForm
from theodolite.config.connections import ConnectionSpec
from theodolite.config.events import AnnotationSpec, BreaksSpec, EventSpec, LevelSpec, ScreeningSpec
from theodolite.config.guidelines import GuidelineSpec
from theodolite.config.instruments import AnnotationSchemaSpec, QuestionnaireSpec
from theodolite.config.judges import CorrectionSpec, JudgeSpec
from theodolite.config.load_context import Entry, Found, LoadContext, ResourceResolver, no_plugin_part
from theodolite.config.models import ModelSpec
from theodolite.config.packets import HeldOutSpec
from theodolite.config.personas import PersonaGroupSpec
from theodolite.config.scenarios import LevelName, ScenarioSpec
from theodolite.config.series import RiskSpec, SeriesForm, TopicSpec
from theodolite.config.validation import KIND, Filled, OneOrMore, Spec, Word, as_list, form_of, validated, without_empty
from theodolite.config.yaml_source import YamlSource, read_yaml
from theodolite.domain.choices import Assignment, ImpactSide, Per, TransformForm, Weighing
from theodolite.domain.errors import InputError, did_you_mean
from theodolite.domain.instrument import Orientation
from theodolite.domain.study import Study

if TYPE_CHECKING:
    from theodolite.domain.gate import Gate
    from theodolite.domain.study_parts import ScenarioMaterial, Typology


S = TypeVar("S", bound=Spec)


class SamplingSpec(Spec):
    """Number of dialogues, and selection."""

    dialogues: int | None = Field(default=None, ge=1)
    """Number of dialogues with each application; default: each persona and script once."""
    seed: int = 1
    """Random seed."""
    repeats: int = Field(default=1, ge=1)
    """Repetitions of each persona or script without `dialogues`."""


class BudgetSpec(Spec):
    """Limits at which a run stops."""

    usd: float | None = Field(default=None, gt=0)
    """US dollars."""
    tokens: int | None = Field(default=None, gt=0)
    """Input and output tokens together."""
    calls: int | None = Field(default=None, gt=0)
    """Calls to models and applications."""


class UserTypesSpec(Spec):
    """The types of users, by a group of dialogues."""

    by: Filled
    """Group that decides the type: a column, `purpose` of scripts, or `user_type` of testers."""
    types: dict[str, OneOrMore] = Field(default_factory=dict)
    """Values of the group by type of user; default: each value is a type."""


class TypologySpec(Spec):
    """Types of users and of applications."""

    users: UserTypesSpec
    """Types of users."""
    applications: dict[str, OneOrMore] = Field(min_length=1)
    """Applications by type."""


class PackSpec(Spec):
    """A scenario pack: the common part of several studies."""

    pack: str = ""
    """Name of the pack."""
    edition: Word = ""
    """Edition, set by its author."""
    about: str = ""
    """Its content and author."""
    public_since: date | None = None
    """Date of its publication, for the contamination note of reports."""
    canary: str = ""
    """UUID that occurs nowhere else; one in a response shows that an application has seen the pack."""
    warning: str = ""
    """Unpleasant content of its scenarios, unless a study states its own warning."""
    validity: str = ""
    """Evidence that its results mean what they claim, e.g. agreement of people."""
    limits: str = ""
    """Limits of its results."""
    licence: str = ""
    """Licence of its texts."""
    scenarios: dict[str, ScenarioSpec] = Field(default_factory=dict)
    """Situations and goals by name."""
    personas: dict[str, PersonaGroupSpec] = Field(default_factory=dict)
    """Persona groups by name."""
    guidelines: dict[str, GuidelineSpec] = Field(default_factory=dict)
    """Guidelines by name."""
    risks: dict[str, RiskSpec] = Field(default_factory=dict)
    """Risks by name."""
    topics: dict[str, TopicSpec] = Field(default_factory=dict)
    """Sensitive topics by name; scenarios name their topics."""
    schemas: dict[str, AnnotationSchemaSpec] = Field(default_factory=dict)
    """Annotation schemas by name."""
    schema_: str = Field(default="", alias="schema")
    """Default annotation schema if a study has `annotation` and names none there."""
    questionnaires: dict[str, QuestionnaireSpec] = Field(default_factory=dict)
    """Questionnaires by name."""


class StudySpec(Spec):
    """A study: the measures, the applications and the annotators."""

    study: Filled
    """Name of the study, e.g. `support-bot`."""
    title: str = ""
    """Heading of the report."""
    about: str = ""
    """One or two sentences for the report's first screen."""
    language: Word = "en"
    """Language of its texts, as a tag; translations are in `translations/<language>.yaml`."""
    series: SeriesForm = ""
    """Evaluation series of the study: a name (`series/<name>.yaml`), or the series itself."""
    held_out: HeldOutSpec | None = None
    """Packet with scripts and secrets of scenarios that are never published."""
    pack: OneOrMore | None = None
    """Scenario pack or packs that the study builds on, e.g. `aria/tv-spoilers`."""
    connection: ConnectionSpec | None = None
    """Proxy and certificates of all calls to models and HTTP applications."""
    models: dict[str, ModelSpec] = Field(default_factory=dict)
    """Language models by name."""
    applications: dict[str, AnyApplication] = Field(default_factory=dict)
    """Applications under test, by name."""
    scenarios: dict[str, ScenarioSpec] = Field(default_factory=dict)
    """Situations and goals by name."""
    cases: CasesForm | None = None
    """Test cases: a CSV, TSV or JSONL file, the file with the names of its columns, or a list of cases."""
    personas: dict[str, PersonaGroupSpec] = Field(default_factory=dict)
    """Persona groups by name."""
    guidelines: dict[str, GuidelineSpec] = Field(default_factory=dict)
    """Guidelines by name; `guidelines/<name>.yaml` and shipped ones need not be repeated."""
    judges: dict[str, JudgeSpec] = Field(default_factory=dict)
    """Models and rules that label dialogues, by name."""
    annotators: dict[str, AnnotatorSpec] = Field(default_factory=dict)
    """Recorded labels by annotator."""
    spelling: dict[str, Word] = Field(default_factory=dict)
    """Values in the recorded file, mapped to labels."""
    reference: ReferenceSpec | None = None
    """Recorded final labels."""
    corrections: dict[str, CorrectionSpec] = Field(default_factory=dict)
    """Corrections of a judge's numbers by human labels, by judge."""
    groups: list[Filled] = Field(default_factory=list)
    """Groups for results: columns, `scenario`, `purpose` of scripts, `strategy` or `aim` of attacks."""
    typology: TypologySpec | None = None
    """Types of users and of applications; results are grouped by both."""
    risks: dict[str, RiskSpec] = Field(default_factory=dict)
    """Risks that the study tests."""
    topics: dict[str, TopicSpec] = Field(default_factory=dict)
    """Sensitive topics for content opt-outs, by name; scenarios name their topics."""
    tree: TreeForm | None = None
    """Measurement tree or trees: names (`by-guideline`, `aria-six-levels`, a file in `trees/`), or a tree itself."""
    sampling: SamplingSpec = Field(default_factory=SamplingSpec)
    """Number of dialogues, and the random seed."""
    budget: BudgetSpec = Field(default_factory=BudgetSpec)
    """Limits of calls, tokens and cost at which a run stops."""
    gates: dict[str, Word] = Field(default_factory=dict)
    """Limits on the results of a judge, annotator or guideline, e.g. `upper <= 20%`; `theodolite gate` checks them."""
    measures: list[Filled] = Field(default_factory=list)
    """Measures of plugins to compute, by name; `theodolite plugins` lists them."""
    levels: dict[LevelName, LevelSpec] = Field(default_factory=dict)
    """Levels of testing; default: model testing only."""
    assign: Assignment = Assignment.WITHIN_SUBJECTS
    """Applications for each tester: `within_subjects` (all) or `between_subjects` (one)."""
    annotation: AnnotationSpec | None = None
    """Organisation of human annotation."""
    schemas: dict[str, AnnotationSchemaSpec] = Field(default_factory=dict)
    """Annotation schemas by name; `schemas/<name>.yaml` and shipped ones need not be repeated."""
    questionnaires: dict[str, QuestionnaireSpec] = Field(default_factory=dict)
    """Questionnaires by name; `questionnaires/<name>.yaml` and shipped ones need not be repeated."""
    event: EventSpec | None = None
    """Times of the event."""
    consent: str = ""
    """File with the consent text."""
    warning: str = ""
    """File with the content warning; people accept it before they test."""
    breaks: BreaksSpec | None = None
    """Reminders to take a break, and limits for testers."""
    screening: list[ScreeningSpec] = Field(default_factory=list)
    """Screening questions before the consent."""
    contact: str = ""
    """Contact for participants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """The entries of a pack, with their sources.

    `schema` names the default annotation schema;
    `warning` describes unpleasant content for people.
    """

    scenarios: tuple[Entry[ScenarioSpec], ...] = ()
    personas: tuple[Entry[PersonaGroupSpec], ...] = ()
    guidelines: tuple[Entry[GuidelineSpec], ...] = ()
    risks: tuple[Entry[RiskSpec], ...] = ()
    topics: tuple[Entry[TopicSpec], ...] = ()
    schemas: tuple[Entry[AnnotationSchemaSpec], ...] = ()
    questionnaires: tuple[Entry[QuestionnaireSpec], ...] = ()
    schema: str = ""
    warning: str = ""
    materials: tuple[ScenarioMaterial, ...] = ()


def pack_names() -> tuple[str, ...]:
    """Return the names of all shipped packs, e.g. `aria/tv-spoilers`."""
    return ResourceResolver().packs()


def pack_guidelines(name: str, resolver: ResourceResolver) -> tuple[str, ...]:
    """Return the names of a pack's guidelines; none if there is no such pack."""
    resource = resolver.resource(f"packs/{name}/pack.yaml") if name in resolver.packs() else None
    content = read_yaml(resource.raw, f"{name}/pack.yaml").content if resource is not None else {}
    named = content.get("guidelines") if isinstance(content, dict) else None
    return tuple(named) if isinstance(named, dict) else ()


def read_packs(entry: Entry[StudySpec], context: LoadContext) -> Pack:
    """Return a study's packs merged into one; an empty pack if it has none.

    If two packs have an entry of the same name, the later pack's entry is used.
    """
    packs = [_read_pack(entry, context, name) for name in as_list(entry.spec.pack)]
    return Pack(
        scenarios=tuple(item for pack in packs for item in pack.scenarios),
        personas=tuple(item for pack in packs for item in pack.personas),
        guidelines=tuple(item for pack in packs for item in pack.guidelines),
        risks=tuple(item for pack in packs for item in pack.risks),
        topics=tuple(item for pack in packs for item in pack.topics),
        schemas=tuple(item for pack in packs for item in pack.schemas),
        questionnaires=tuple(item for pack in packs for item in pack.questionnaires),
        schema=next((pack.schema for pack in reversed(packs) if pack.schema), ""),
        warning="\n\n".join(dict.fromkeys(pack.warning for pack in packs if pack.warning)),
        materials=tuple(item for pack in packs for item in pack.materials),
    )


def _read_pack(entry: Entry[StudySpec], context: LoadContext, name: str) -> Pack:
    known = context.resolver.packs()
    resource = context.resolver.resource(f"packs/{name}/pack.yaml") if name in known else None
    if resource is None:
        tail = did_you_mean(name, known) or f"; known here: {', '.join(known)}"
        context.diagnostics.add(entry.diagnostic("pack", message=f"there is no scenario pack `{name}`{tail}"))
        return Pack()
    source = read_yaml(resource.raw, f"{name}/pack.yaml")
    spec = validated(source, PackSpec, owner=f"pack `{name}`")
    context.diagnostics.add(*source.faults)
    if spec is None:
        return Pack()
    context.packs.append(f"packs/{name}")
    context.found.append(Found(noun="scenario pack", name=name, edition=spec.edition, where=resource.origin))
    return Pack(
        scenarios=tuple(_entries(source, name, "scenarios", spec.scenarios)),
        personas=tuple(_entries(source, name, "personas", spec.personas)),
        guidelines=tuple(_entries(source, name, "guidelines", spec.guidelines)),
        risks=tuple(_entries(source, name, "risks", spec.risks)),
        topics=tuple(_entries(source, name, "topics", spec.topics)),
        schemas=tuple(_entries(source, name, "schemas", spec.schemas)),
        questionnaires=tuple(_entries(source, name, "questionnaires", spec.questionnaires)),
        schema=spec.schema_,
        warning=spec.warning.strip(),
        materials=(_material(name, spec),),
    )


def _material(name: str, spec: PackSpec) -> ScenarioMaterial:
    """Return the recorded facts about a pack for the contamination note."""
    from theodolite.domain.study_parts import ScenarioMaterial, canary_digest

    return ScenarioMaterial(
        name=name,
        version=spec.edition,
        public_since=spec.public_since.isoformat() if spec.public_since else "",
        canaries=(canary_digest(spec.canary),) if spec.canary else (),
        scenarios=tuple(spec.scenarios),
    )


def _entries(source: YamlSource, pack: str, section: str, specs: Mapping[str, S]) -> list[Entry[S]]:
    return [
        Entry(name=name, spec=spec, source=source, path=(section, name), pack=f"packs/{pack}")
        for name, spec in specs.items()
    ]


def gates_to_domain(entry: Entry[StudySpec], study: Study, context: LoadContext) -> tuple[Gate, ...]:
    """Return the gates of a study; errors are added to the diagnostics.

    Args:
        entry: The study file.
        study: The study without its gates.
        context: Context of the load; collects the diagnostics.
    """
    if not entry.spec.gates:
        return ()
    from theodolite.domain.gate import Gate  # a study without gates does not load their rules

    known = [
        *(annotator.name for annotator in study.annotators),
        *(annotator.name for annotator in study.guidelines if annotator.defect_rules),
    ]
    gates = []
    for name, text in entry.spec.gates.items():
        if name not in known:
            near = did_you_mean(name, known) or f"; known here: {', '.join(dict.fromkeys(known))}"
            message = f"gate `{name}` names no judge, annotator or guideline with a defect rule{near}"
            context.diagnostics.add(entry.diagnostic("gates", name, message=message, at_key=True))
        try:
            gates.append(Gate.parse(name, text))
        except InputError as error:
            context.diagnostics.add(entry.diagnostic("gates", name, message=str(error)))
    return tuple(gates)


def measures_to_domain(entry: Entry[StudySpec], context: LoadContext) -> tuple[str, ...]:
    """Return the plugin measures that a study names; a diagnostic is added for each that is not installed."""
    known = context.resolver.measures
    for index, name in enumerate(entry.spec.measures):
        if name not in known:
            message = no_plugin_part("measure", name, known)
            context.diagnostics.add(entry.diagnostic("measures", index, message=message))
    return tuple(dict.fromkeys(entry.spec.measures))


def typology_to_domain(entry: Entry[StudySpec], applications: Sequence[str], context: LoadContext) -> Typology | None:
    """Return the types of users and applications; a diagnostic is added for each application without exactly one type.

    Args:
        entry: The study file.
        applications: Names of all applications of the study.
        context: Context of the load; collects the diagnostics.
    """
    spec = entry.spec.typology
    if spec is None:
        return None
    from theodolite.domain.study_parts import Typology  # few studies have one

    users = {kind: tuple(as_list(values)) for kind, values in spec.users.types.items()}
    types = {kind: tuple(as_list(names)) for kind, names in spec.applications.items()}
    unknown = {name: kind for kind, names in types.items() for name in names if name not in applications}
    for name, kind in unknown.items():
        near = did_you_mean(name, applications) or f"; applications are {', '.join(applications)}"
        message = f"type `{kind}` names an application `{name}` that the study does not have{near}"
        context.diagnostics.add(entry.diagnostic("typology", "applications", kind, message=message))
    for where, noun, result, expected in (
        ("applications", "application", types, () if unknown else applications),
        ("users", f"value of `{spec.users.by}`", users, ()),
    ):
        listed = [name for names in result.values() for name in names]
        for name in dict.fromkeys([*listed, *expected]):
            if listed.count(name) != 1:
                how_many = "no type" if name not in listed else "more than one type"
                message = f"{noun} `{name}` has {how_many}; name it under exactly one"
                context.diagnostics.add(entry.diagnostic("typology", where, message=message))
    return Typology(by=spec.users.by, users=users, applications=types)


def typology_from_domain(study: Study) -> dict[str, Any]:
    """Return the typology of a study in file form; empty if there is none."""
    if study.typology is None:
        return {}
    users: dict[str, Any] = {"by": study.typology.by}
    users |= without_empty(types={kind: list(values) for kind, values in study.typology.users.items()})
    types = {kind: list(names) for kind, names in study.typology.applications.items()}
    return {"typology": {"users": users, "applications": types}}


Weighted: TypeAlias = Annotated[
    Annotated[Filled, Tag(KIND + "text")]
    | Annotated[list[Filled], Tag(KIND + "list")]
    | Annotated[dict[str, Annotated[float, Field(ge=0)]], Tag(KIND + "mapping")],
    Discriminator(form_of),
]
"""One name, several, or names with weights."""

TreeScale: TypeAlias = Annotated[
    Annotated[Word, Tag(KIND + "text")] | Annotated[list[Word], Tag(KIND + "list")], Discriminator(form_of)
]
"""`1-10`, a list of labels, or `text`."""


class NodeSpec(Spec):
    """One node of a tree; `answers`, `transform`, `per` or `summary` determines its kind."""

    answers: Word | None = None
    """The question whose individual answers are its leaves, `guideline.question`."""
    levels: OneOrMore | None = None
    """With `answers`: only these levels of testing, e.g. `red teaming`."""
    held_by: OneOrMore | None = None
    """With `answers`: only dialogues by these tester types: `script`, `simulated user`, `person`, `recorded`."""
    by: OneOrMore | None = None
    """With `answers`: only answers of these annotators, or of `person`, `model`, `rule`, `reference`, `tester`."""
    among: dict[str, Word] | None = None
    """With `answers`: only dialogues of these groups: column to value."""
    scale: TreeScale | None = None
    """Possible answers, or the target range of values."""
    orientation: Orientation | None = None
    """Bad end of the scale: `higher_is_worse` or `lower_is_worse`."""
    transform: TransformForm | None = None
    """Function for each value: `reverse`, `rescale` or `recode`."""
    values: dict[str, float | None] | None = None
    """With `transform: recode`: value to its replacement; `null` omits an answer."""
    per: Per | None = None
    """One value for each `dialogue`, each `turn`, or each `annotator` of a dialogue instead of several."""
    summary: Filled | None = None
    """Summary of the children: `mean`, `median`, `scale-normalised median`, `max`, `product`, ..."""
    of: Weighted | None = None
    """Children: a name, names, or names with weights."""
    weigh: Weighing | None = None
    """Whether each `dialogue` or each `answer` has equal weight."""
    side: ImpactSide | None = None
    """Whether the node concerns `positive` or `negative` impacts."""
    beside: OneOrMore | None = None
    """Nodes that are shown with it but do not affect its value."""
    title: str | None = None
    """Name in reports."""
    about: str | None = None
    """Its meaning, in a sentence."""

    @field_validator("values", mode="before")
    @classmethod
    def _null_is_nothing(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        return {key: None if getattr(value, "tag", "") == "null" else value for key, value in values.items()}


class DimensionSpec(Spec):
    """Subject of one branch of a tree."""

    definition: str = ""
    """Its description."""
    risks: list[Filled] = Field(default_factory=list)
    """Risks that belong to it."""
    metrics: list[Filled] = Field(default_factory=list)
    """Description of the measure."""
    criteria: list[Filled] = Field(default_factory=list)
    """Description of the reference of its values."""
    crosswalk: Weighted | None = None
    """Questions, defect rules or guidelines about it, optionally with weights."""


class TreeSpec(Spec):
    """A measurement tree: a topology to construct, or explicit nodes."""

    tree: str = ""
    """Name of the tree; default: the name of its file."""
    edition: Word = ""
    """Edition, set by its author."""
    about: str = ""
    """Its content and source."""
    topology: str = ""
    """`six-levels` or `five-levels`: constructed from the study's guidelines; instead of `nodes`."""
    nodes: dict[str, NodeSpec] = Field(default_factory=dict)
    """Nodes by name."""
    dimensions: dict[str, DimensionSpec] = Field(default_factory=dict)
    """Subjects of the branches, by node."""
    views: dict[str, dict[str, float]] = Field(default_factory=dict)
    """Named weightings across dimensions, by name: node to weight."""


TreeForm: TypeAlias = Annotated[
    Annotated[Filled, Tag(KIND + "text")]
    | Annotated[list[Filled], Tag(KIND + "list")]
    | Annotated[TreeSpec, Tag(KIND + "mapping")],
    Discriminator(form_of),
]
"""Name or names of trees, or a tree written out."""
