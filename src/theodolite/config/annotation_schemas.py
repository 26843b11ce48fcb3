"""The `schemas` section: annotation schemas, their categories and routes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from theodolite.config.guidelines import GuidelineRegistry, GuidelineSpec, guideline_from_domain
from theodolite.config.load_context import Entry, LoadContext, Pack, is_broken, section
from theodolite.config.resources import SHIPPED
from theodolite.config.spec import Filled, OneOrMore, Spec, Word, as_list, without_empty
from theodolite.domain.fault import did_you_mean
from theodolite.domain.guideline import Violation
from theodolite.domain.study import Study

if TYPE_CHECKING:
    from theodolite.domain.schema import AnnotationSchema, Routing


class CategorySpec(GuidelineSpec):
    """One category of an annotation schema: a guideline that annotators qualify for."""

    title: str = ""
    """Heading for people."""


class RouteSpec(Spec):
    """Where a dialogue goes after the first category."""

    first: Filled
    """First category of every dialogue; its guardrail rules detect a violation."""
    violation: OneOrMore
    """Categories after a violation: names, or `all` for all others."""
    none: OneOrMore | None = None
    """Categories without a violation; after them the dialogue is final."""


class AnnotationSchemaSpec(Spec):
    """An annotation schema: ordered categories, and where a dialogue goes after the first one."""

    edition: Word = ""
    """Edition, set by its author."""
    about: str = ""
    """Description and source."""
    route: RouteSpec | None = None
    """Categories after the first one; default: all."""
    categories: dict[str, CategorySpec] = Field(min_length=1)
    """Categories by name, in order."""


FOLDER = "schemas"
"""Folder of a study, and of resources, with annotation schemas."""

ALL = "all"
"""What stands in a route for all categories but the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaSet:
    """The schemas of a study as they are written.

    Attributes:
        entries: One for each schema.
        categories: One for each category of each schema, by its name.
        shipped: Names of the categories that come from shipped schemas.
    """

    entries: tuple[Entry[AnnotationSchemaSpec], ...]
    categories: dict[str, Entry[Any]]
    shipped: frozenset[str]


def read_schemas(entry: Entry[Any], pack: Pack, context: LoadContext) -> SchemaSet:
    """Return the schemas that a study has or names; faults are added to the diagnostics.

    Args:
        entry: The study file.
        pack: What its packs bring.
        context: Context of the load; collects the diagnostics.
    """
    own: dict[str, Entry[Any]] = {item.name: item for item in [*pack.schemas, *section(entry, "schemas")]}
    named = (entry.spec.annotation.schema_ or pack.schema) if entry.spec.annotation else ""
    if named and named not in own and not is_broken(entry, "schemas"):
        found = _found(entry, named, own, context)
        own |= {named: found} if found else {}
    if len(own) > 1 and not named:
        names = ", ".join(own)
        message = f"the study has several schemas ({names}); say with `annotation.schema` by which people annotate"
        context.diagnostics.add(entry.fault("schemas", message=message, at_key=True))
    shipped = {item.name for item in context.found if item.noun == "schema" and item.where == SHIPPED}
    categories: dict[str, Entry[Any]] = {}
    for schema in own.values():
        for category in category_entries(schema):
            _refuse_twin(category, categories, entry, context)
            categories[category.name] = category
    of_shipped = (category.name for name in shipped for category in category_entries(own[name]))
    return SchemaSet(entries=tuple(own.values()), categories=categories, shipped=frozenset(of_shipped))


def schemas_to_domain(
    schema_set: SchemaSet, registry: GuidelineRegistry, context: LoadContext
) -> tuple[AnnotationSchema, ...]:
    """Return the schemas of a study, with the guidelines of their categories.

    Args:
        schema_set: The schemas as they are written.
        registry: The study's guidelines; it reads those of the categories.
        context: What takes the faults.
    """
    read = [_schema(entry, registry, context) for entry in schema_set.entries]
    return tuple(schema for schema in read if schema is not None)


def _found(
    entry: Entry[Any], name: str, own: dict[str, Entry[Any]], context: LoadContext
) -> Entry[AnnotationSchemaSpec] | None:
    before = len(context.diagnostics.placed)
    found = context.read_spec(FOLDER, name, AnnotationSchemaSpec, "schema")
    if found is None and len(context.diagnostics.placed) == before:
        known = [*own, *context.names_in(FOLDER, ".yaml")]
        near = did_you_mean(name, known) or f"; known here: {', '.join(known)}"
        message = f"there is no annotation schema `{name}`, neither in the study nor in `{FOLDER}/` nor shipped{near}"
        context.diagnostics.add(entry.fault("annotation", "schema", message=message))
    return found


def category_entries(schema: Entry[AnnotationSchemaSpec]) -> list[Entry[CategorySpec]]:
    """Return the categories of a schema as it is written, each with its place in the file."""
    return [
        Entry(name=name, spec=spec, source=schema.source, path=(*schema.path, "categories", name), pack=schema.pack)
        for name, spec in schema.spec.categories.items()
    ]


def _refuse_twin(
    category: Entry[CategorySpec], others: dict[str, Entry[Any]], entry: Entry[Any], context: LoadContext
) -> None:
    if category.name in others:
        message = f"two schemas of the study have a category `{category.name}`; its answers could not be told apart"
        context.diagnostics.add(category.fault(message=message, at_key=True))
    if category.name in entry.spec.guidelines:
        message = f"`{category.name}` is a category of a schema; call this guideline otherwise"
        context.diagnostics.add(entry.fault("guidelines", category.name, message=message, at_key=True))


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
        wanted = as_list(form)
        rest = [name for name in names if name != route.first]
        follows[key] = tuple(rest if wanted == [ALL] else wanted)
        faulty += [_check_name(entry, key, name, names, context) for name in follows[key]]
    if any(faulty):
        return None
    _check_deciding(entry, route.first, context)
    return Routing(first=route.first, on_violation=follows["violation"], otherwise=follows["none"])


def _check_name(
    entry: Entry[AnnotationSchemaSpec], key: str, name: str, known: Sequence[str], context: LoadContext
) -> bool:
    """Add a fault where a route names no category, and tell whether it does so."""
    if name not in known:
        near = did_you_mean(name, known) or f"; categories are {', '.join(known)}"
        message = f"the route of schema `{entry.name}` names a category `{name}` that it does not have{near}"
        context.diagnostics.add(entry.fault("route", key, message=message))
    return name not in known


def _check_deciding(entry: Entry[AnnotationSchemaSpec], first: str, context: LoadContext) -> None:
    """Refuse a route that nothing could decide: the first category needs a rule about a guardrail."""
    rules = entry.spec.categories[first].defects.values()
    if all(rule.violation is Violation.NOT_A_GUARDRAIL for rule in rules):
        sides = ", ".join(f"`{side}`" for side in Violation if side is not Violation.NOT_A_GUARDRAIL)
        message = f"nothing tells a violation: no defect rule of `{first}` has a `violation`, one of {sides}"
        context.diagnostics.add(entry.fault("route", "first", message=message))


def schemas_from_domain(study: Study) -> dict[str, Any]:
    """Return all annotation schemas of a study in their long form, shipped ones included."""
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
