"""Instruments of a study: annotation schemas and questionnaires, with notes on their wording."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import Field, model_validator

from theodolite.assessment.form_rules import IMPACTS, NEITHER
from theodolite.config.events import AnnotationSpec
from theodolite.config.guidelines import GuidelineRegistry, GuidelineSpec, guideline_from_domain
from theodolite.config.load_context import SHIPPED, Entry, LoadContext, dropped, is_broken, section
from theodolite.config.questions import ExemplarSpec, ScaleForm, question_from_domain, questions_to_domain
from theodolite.config.scenarios import LevelName, ScenarioSpec
from theodolite.config.validation import Filled, OneOrMore, Spec, Word, YesNo, as_list, without_empty
from theodolite.domain.errors import Severity, did_you_mean
from theodolite.domain.guideline import Violation
from theodolite.domain.instrument import Construct, Instrument, Orientation, Question, Scale, ScaleKind, Topic
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Study

if TYPE_CHECKING:
    from theodolite.domain.schema import AnnotationSchema, Questionnaire, Routing
    from theodolite.domain.tree import TreeDesign


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruments:
    """Questions for the people of a study.

    Attributes:
        schemas: Questions to annotators.
        questionnaires: Questions to testers.
        entries: Position of the categories and questionnaires.
    """

    schemas: tuple[AnnotationSchema, ...]
    questionnaires: tuple[Questionnaire, ...]
    entries: tuple[Entry[CategorySpec | QuestionnaireSpec], ...]

    def note_unoriented(self, trees: Iterable[TreeDesign], context: LoadContext) -> None:
        """Add a note for every question in a tree whose bad end is not stated."""
        note_orientations(self.entries, trees, context)


def instruments_to_domain(
    entries: Sequence[Entry[QuestionnaireSpec]],
    schema_set: SchemaSet,
    registry: GuidelineRegistry,
    context: LoadContext,
) -> Instruments:
    """Return the questions to people, with notes on their form; errors are added to the diagnostics.

    Args:
        entries: The questionnaires of the study.
        schema_set: Its schemas in file form.
        registry: Its guidelines; it reads those of the schemas' categories.
        context: Context of the load; collects the diagnostics.
    """
    read = {entry.name: (entry, questionnaire_to_domain(entry, context)) for entry in entries}
    instruments = Instruments(
        schemas=schemas_to_domain(schema_set, registry, context),
        questionnaires=tuple(questionnaire for _, questionnaire in read.values() if questionnaire is not None),
        entries=(*schema_set.categories.values(), *entries),
    )
    for entry, questionnaire in read.values():
        note_questions(entry, questionnaire.instrument.questions if questionnaire else (), context)
    for guideline in registry.read():
        if guideline.name in schema_set.categories:
            note_questions(schema_set.categories[guideline.name], guideline.instrument.questions, context)
    return instruments


_LEADING = (
    (r"\b(don't|do not|wouldn't|isn't|wasn't|didn't|aren't|weren't) (you|it|that|this|they)\b", "asks for a yes"),
    (r"\b(would|do) you agree\b", "asks for a yes"),
    (r"\b(obviously|clearly|surely|of course|everybody knows|undoubtedly)\b", "takes the answer for granted"),
    (
        r"\bhow (good|bad|great|terrible|helpful|useless|useful|rude|friendly|dangerous|safe|wrong|right)\b",
        "names one end",
    ),
    (r"\bhow much (better|worse)\b", "names one end"),
)
"""Leading phrases, with their direction."""

_BOTH_NAMED = re.compile(r"\b(or|at all|if at all|whether)\b", re.IGNORECASE)
"""Words that mention the opposite answer in the question."""


def note_questions(
    entry: Entry[GuidelineSpec | QuestionnaireSpec], questions: Iterable[Question], context: LoadContext
) -> None:
    """Add notes on the questions of one instrument.

    Args:
        entry: The category of a schema, or the questionnaire, that asks them.
        questions: The questions.
        context: Collects the notes.
    """
    specs = entry.spec.questions if not getattr(entry.spec, "ask", "") else {}
    for question in questions:
        if question.name in specs:
            for text in _notes(question, needs_exemplars=isinstance(entry.spec, CategorySpec)):
                message = f"question `{question.name}` {text}"
                context.diagnostics.add(
                    entry.diagnostic("questions", question.name, message=message, severity=Severity.NOTE, at_key=True)
                )


def note_orientations(
    entries: Iterable[Entry[CategorySpec | QuestionnaireSpec]], trees: Iterable[TreeDesign], context: LoadContext
) -> None:
    """Add a note for every scale in a tree whose bad end is not stated.

    Args:
        entries: The categories and questionnaires of a study.
        trees: Its trees.
        context: Collects the notes.
    """
    from theodolite.domain.tree import AnswersNode

    nodes = [(tree.name, node) for tree in trees for node in tree.nodes if isinstance(node, AnswersNode)]
    unstated = {node.question: tree for tree, node in nodes if node.range and node.orientation is Orientation.UNSTATED}
    for entry in entries:
        for name in entry.spec.questions:
            tree = unstated.get(f"{entry.name}.{name}")
            if tree:
                message = (
                    f"question `{name}` enters tree `{tree}`, and nothing says which end of its scale is the bad one"
                )
                context.diagnostics.add(
                    entry.diagnostic("questions", name, message=message, severity=Severity.NOTE, at_key=True)
                )


def _notes(question: Question, *, needs_exemplars: bool) -> Iterator[str]:
    if needs_exemplars and not question.exemplars and question.scale not in (IMPACTS, NEITHER):
        yield "has no exemplar: annotators will each make up what it means"
    missing = _unnamed_ends(question.scale)
    if missing:
        verb = "means" if len(missing) == 1 else "mean"
        yield f"does not say what {' and '.join(missing)} {verb}; name both ends of its scale"
    for pattern, why in _LEADING:
        match = re.search(pattern, question.text, re.IGNORECASE)
        if match and not (why == "names one end" and _BOTH_NAMED.search(question.text)):
            yield f'leads: "{match.group()}" {why}'
    if question.text.count("?") > 1:
        yield "asks two things at once; nobody can tell which of them was answered"


def _unnamed_ends(scale: Scale) -> list[str]:
    if scale.kind is not ScaleKind.NUMBERS:
        return []
    named = {label.value for label in scale.labels if label.meaning}
    return [end for end in (str(scale.lowest), str(scale.highest)) if end not in named]


class CategorySpec(GuidelineSpec):
    """One category of an annotation schema: a guideline that annotators qualify for."""

    title: str = ""
    """Heading for people."""


class RouteSpec(Spec):
    """Route of a dialogue after the first category."""

    first: Filled
    """First category of every dialogue; its guardrail rules detect a violation."""
    violation: OneOrMore
    """Categories after a violation: names, or `all` for all others."""
    none: OneOrMore | None = None
    """Categories without a violation; after them the dialogue is final."""


class AnnotationSchemaSpec(Spec):
    """An annotation schema: ordered categories, and the route of a dialogue after the first one."""

    edition: Word = ""
    """Edition, set by its author."""
    about: str = ""
    """Description and source."""
    route: RouteSpec | None = None
    """Categories after the first one; default: all."""
    categories: dict[str, CategorySpec] = Field(min_length=1)
    """Categories by name, in order."""


SCHEMA_FOLDER = "schemas"
"""Folder of a study, and of resources, with annotation schemas."""

ALL = "all"
"""Word in a route for all categories but the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaSet:
    """The schemas of a study in file form.

    Attributes:
        entries: One entry for each schema.
        categories: One entry for each category of each schema, by name.
        shipped: Names of the categories that come from shipped schemas.
    """

    entries: tuple[Entry[AnnotationSchemaSpec], ...]
    categories: dict[str, Entry[CategorySpec]]
    shipped: frozenset[str]


class SchemaKeys(Protocol):
    """The keys of a study file that name its schemas."""

    @property
    def schemas(self) -> Mapping[str, AnnotationSchemaSpec]:
        """The schemas of the study."""

    @property
    def annotation(self) -> AnnotationSpec | None:
        """The organisation of human annotation."""

    @property
    def guidelines(self) -> Mapping[str, GuidelineSpec]:
        """The guidelines of the study."""


def read_schemas(
    entry: Entry[Spec],
    keys: SchemaKeys,
    packed: Iterable[Entry[AnnotationSchemaSpec]],
    context: LoadContext,
    *,
    default: str = "",
) -> SchemaSet:
    """Return the schemas that a study defines or names; errors are added to the diagnostics.

    Args:
        entry: The study file.
        keys: Its keys.
        packed: The schemas of its packs.
        context: Context of the load; collects the diagnostics.
        default: The schema named by its packs.
    """
    own = {item.name: item for item in [*packed, *section(entry, "schemas", keys.schemas)]}
    named = (keys.annotation.schema_ or default) if keys.annotation else ""
    if named and named not in own and not is_broken(entry, "schemas"):
        result = _find_schema(entry, named, own, context)
        own |= {named: result} if result else {}
    if len(own) > 1 and not named:
        names = ", ".join(own)
        message = f"the study has several schemas ({names}); say with `annotation.schema` by which people annotate"
        context.diagnostics.add(entry.diagnostic("schemas", message=message, at_key=True))
    shipped = {item.name for item in context.found if item.noun == "schema" and item.where == SHIPPED}
    categories: dict[str, Entry[CategorySpec]] = {}
    for schema in own.values():
        for category in category_entries(schema):
            _refuse_twin(category, categories, entry, keys, context)
            categories[category.name] = category
    of_shipped = (category.name for name in shipped for category in category_entries(own[name]))
    return SchemaSet(entries=tuple(own.values()), categories=categories, shipped=frozenset(of_shipped))


def schemas_to_domain(
    schema_set: SchemaSet, registry: GuidelineRegistry, context: LoadContext
) -> tuple[AnnotationSchema, ...]:
    """Return the schemas of a study, with the guidelines of their categories.

    Args:
        schema_set: The schemas in the form of the file.
        registry: The study's guidelines; it reads those of the categories.
        context: Collects the errors.
    """
    read = [_schema(entry, registry, context) for entry in schema_set.entries]
    return tuple(schema for schema in read if schema is not None)


def _find_schema(
    entry: Entry[Spec], name: str, own: Iterable[str], context: LoadContext
) -> Entry[AnnotationSchemaSpec] | None:
    before = len(context.diagnostics.placed)
    result = context.read_spec(SCHEMA_FOLDER, name, AnnotationSchemaSpec, "schema")
    if result is None and len(context.diagnostics.placed) == before:
        known = [*own, *context.names_in(SCHEMA_FOLDER, ".yaml")]
        near = did_you_mean(name, known) or f"; known here: {', '.join(known)}"
        message = (
            f"there is no annotation schema `{name}`, neither in the study nor in `{SCHEMA_FOLDER}/` nor shipped{near}"
        )
        context.diagnostics.add(entry.diagnostic("annotation", "schema", message=message))
    return result


def category_entries(schema: Entry[AnnotationSchemaSpec]) -> list[Entry[CategorySpec]]:
    """Return the categories of a schema in file form, each with its position in the file."""
    return [
        Entry(name=name, spec=spec, source=schema.source, path=(*schema.path, "categories", name), pack=schema.pack)
        for name, spec in schema.spec.categories.items()
    ]


def _refuse_twin(
    category: Entry[CategorySpec],
    others: Container[str],
    entry: Entry[Spec],
    keys: SchemaKeys,
    context: LoadContext,
) -> None:
    if category.name in others:
        message = f"two schemas of the study have a category `{category.name}`; its answers could not be distinguished"
        context.diagnostics.add(category.diagnostic(message=message, at_key=True))
    if category.name in keys.guidelines:
        message = f"`{category.name}` is a category of a schema; call this guideline otherwise"
        context.diagnostics.add(entry.diagnostic("guidelines", category.name, message=message, at_key=True))


def _schema(
    entry: Entry[AnnotationSchemaSpec], registry: GuidelineRegistry, context: LoadContext
) -> AnnotationSchema | None:
    from theodolite.domain.schema import AnnotationSchema, Category

    read = {name: registry.named(name, entry, "categories") for name in entry.spec.categories}
    routing = _routing(entry, context)
    categories = tuple(
        Category(guideline=guideline, title=entry.spec.categories[name].title)
        for name, guideline in read.items()
        if guideline is not None
    )
    if len(categories) < len(read) or (entry.spec.route and routing is None):
        return None
    return AnnotationSchema(
        name=entry.name,
        categories=categories,
        routing=routing,
        edition=entry.spec.edition,
        about=entry.spec.about,
    )


def _routing(entry: Entry[AnnotationSchemaSpec], context: LoadContext) -> Routing | None:
    route, names = entry.spec.route, tuple(entry.spec.categories)
    if route is None:
        return None
    from theodolite.domain.schema import Routing

    faulty = [_check_name(entry, "first", route.first, names, context)]
    follows: dict[str, tuple[str, ...]] = {}
    for key, form in (("violation", route.violation), ("none", route.none)):
        requested = as_list(form)
        rest = [name for name in names if name != route.first]
        follows[key] = tuple(rest if requested == [ALL] else requested)
        faulty += [_check_name(entry, key, name, names, context) for name in follows[key]]
    if any(faulty):
        return None
    _check_deciding(entry, route.first, context)
    return Routing(first=route.first, on_violation=follows["violation"], otherwise=follows["none"])


def _check_name(
    entry: Entry[AnnotationSchemaSpec], key: str, name: str, known: Sequence[str], context: LoadContext
) -> bool:
    """Add an error if a route names no category, and return whether it names one."""
    if name not in known:
        near = did_you_mean(name, known) or f"; categories are {', '.join(known)}"
        message = f"the route of schema `{entry.name}` names a category `{name}` that it does not have{near}"
        context.diagnostics.add(entry.diagnostic("route", key, message=message))
    return name not in known


def _check_deciding(entry: Entry[AnnotationSchemaSpec], first: str, context: LoadContext) -> None:
    """Reject a route that nothing could decide: the first category needs a rule about a guardrail."""
    rules = entry.spec.categories[first].defects.values()
    if all(rule.violation is Violation.NOT_A_GUARDRAIL for rule in rules):
        sides = ", ".join(f"`{side}`" for side in Violation if side is not Violation.NOT_A_GUARDRAIL)
        message = f"nothing tells a violation: no defect rule of `{first}` has a `violation`, one of {sides}"
        context.diagnostics.add(entry.diagnostic("route", "first", message=message))


def schemas_from_domain(study: Study) -> dict[str, Any]:
    """Return all annotation schemas of a study in full form, including shipped ones."""
    return {schema.name: _schema_from_domain(schema) for schema in study.schemas}


def _schema_from_domain(schema: AnnotationSchema) -> dict[str, Any]:
    long: dict[str, Any] = without_empty(edition=schema.edition, about=schema.about)
    if schema.routing:
        route: dict[str, Any] = {"first": schema.routing.first, "violation": list(schema.routing.on_violation)}
        long["route"] = route | ({"none": list(schema.routing.otherwise)} if schema.routing.otherwise else {})
    long["categories"] = {
        category.name: without_empty(title=category.title) | guideline_from_domain(category.guideline)
        for category in schema.categories
    }
    return long


class QuestionnaireQuestionSpec(Spec):
    """A question to testers about their session."""

    ask: Filled
    """The question, as people read it."""
    scale: ScaleForm | None = None
    """Possible values; default: yes and no."""
    topic: Topic | None = None
    """Topic: `perceived risk and impact exposure`, `perception of output`, `task-specific impact` or `future
    behaviour`."""
    construct_: Construct | None = Field(default=None, alias="construct")
    """Evidence on users: how they `perceive`, `make sense` of, `adapt` to or `act` on the content."""
    several: YesNo = False
    """Whether several labels of a list may be chosen."""
    orientation: Orientation = Orientation.UNSTATED
    """Bad end of the scale: `higher_is_worse` or `lower_is_worse`."""
    may_be_unable: YesNo = False
    """Whether "unable to determine" is an allowed answer."""
    may_not_apply: YesNo = False
    """Whether "does not apply" is an allowed answer."""
    when: str = ""
    """Answer to an earlier question that leads to this question, e.g. `released == yes`."""
    exemplars: list[ExemplarSpec] = Field(default_factory=list)
    """Examples of answers, shown on demand."""

    @model_validator(mode="after")
    def _several_of_a_list(self) -> QuestionnaireQuestionSpec:
        if self.several and not isinstance(self.scale, list | dict):
            message = "has `several`, which needs a list of labels as its scale"
            raise ValueError(message)
        return self


class QuestionnaireSpec(Spec):
    """Questions for testers after a session."""

    title: str = ""
    """Heading for testers."""
    about: str = ""
    """One or two sentences above the questions."""
    edition: Word = ""
    """Edition, set by its author."""
    questions: dict[str, QuestionnaireQuestionSpec] = Field(min_length=1)
    """Questions by name, in order."""


QUESTIONNAIRE_FOLDER = "questionnaires"
"""Folder of a study, and of resources, with questionnaires."""

Asking = Iterable[tuple[Scenario, Entry[ScenarioSpec]]]
"""Scenarios with their entries."""


def written_questionnaires(
    entry: Entry[Spec],
    own: dict[str, Entry[QuestionnaireSpec]],
    asking: Asking,
    context: LoadContext,
) -> tuple[Entry[QuestionnaireSpec], ...]:
    """Return the questionnaires that a study defines or its scenarios name; errors are added to the diagnostics.

    Args:
        entry: The study file.
        own: The questionnaires of the study and its packs.
        asking: The scenarios.
        context: Context of the load; collects the diagnostics.
    """
    lost = set(dropped(entry, QUESTIONNAIRE_FOLDER))
    for scenario, level, name in _named(asking, context):
        if name not in own and name not in lost:
            result = _find_questionnaire(scenario, level, name, own, context)
            own |= {name: result} if result else {}
            lost |= set() if result else {name}
    return tuple(own.values())


def questionnaire_to_domain(entry: Entry[QuestionnaireSpec], context: LoadContext) -> Questionnaire | None:
    """Return the questionnaire of an entry; None and errors if it describes none."""
    questions = questions_to_domain(entry, context, noun="questionnaire")
    if len(questions) < len(entry.spec.questions):
        return None
    from theodolite.domain.schema import Questionnaire

    return Questionnaire(
        name=entry.name,
        instrument=Instrument(name=entry.name, questions=tuple(questions.values())),
        title=entry.spec.title,
        about=entry.spec.about,
        edition=entry.spec.edition,
    )


def _named(asking: Asking, context: LoadContext) -> Iterator[tuple[Entry[ScenarioSpec], str, str]]:
    """Yield the questionnaires that scenarios name; model testing has no respondents."""
    for scenario, entry in asking:
        levels: dict[LevelName, Any] = dict(entry.spec.questionnaires)
        if "model_testing" in levels:
            message = (
                f"scenario `{scenario.name}` has a questionnaire for model testing, where nobody is there to answer"
            )
            context.diagnostics.add(
                entry.diagnostic(QUESTIONNAIRE_FOLDER, "model_testing", message=message, at_key=True)
            )
        for level, form in levels.items():
            for name in as_list(form):
                yield entry, level, name


def _find_questionnaire(
    entry: Entry[ScenarioSpec], level: str, name: str, own: Iterable[str], context: LoadContext
) -> Entry[QuestionnaireSpec] | None:
    before = len(context.diagnostics.placed)
    result = context.read_spec(QUESTIONNAIRE_FOLDER, name, QuestionnaireSpec, "questionnaire")
    if result is None and len(context.diagnostics.placed) == before:
        known = [*own, *context.names_in(QUESTIONNAIRE_FOLDER, ".yaml")]
        near = did_you_mean(name, known) or (f"; known here: {', '.join(known)}" if known else "")
        message = (
            f"there is no questionnaire `{name}`, neither in the study nor in `{QUESTIONNAIRE_FOLDER}/`"
            f" nor shipped{near}"
        )
        context.diagnostics.add(entry.diagnostic(QUESTIONNAIRE_FOLDER, level, message=message, words=name))
    return result


def questionnaires_from_domain(study: Study) -> dict[str, Any]:
    """Return all questionnaires of a study in full form, including shipped ones."""
    return {questionnaire.name: _questionnaire_from_domain(questionnaire) for questionnaire in study.questionnaires}


def _questionnaire_from_domain(questionnaire: Questionnaire) -> dict[str, Any]:
    long: dict[str, Any] = without_empty(
        title=questionnaire.title, about=questionnaire.about, edition=questionnaire.edition
    )
    return long | {
        "questions": {question.name: _question_from_domain(question) for question in questionnaire.instrument.questions}
    }


def _question_from_domain(question: Question) -> dict[str, Any]:
    long = question_from_domain(question)
    del long["level"]
    long |= {"topic": question.topic.value} if question.topic else {}
    return long | ({"several": "yes"} if question.several else {})
