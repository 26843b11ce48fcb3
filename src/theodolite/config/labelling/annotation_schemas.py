"""Annotation schemas of a study: their categories become guidelines, their routes are checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from theodolite.config.labelling.annotators import GuidelineShelf
from theodolite.config.lookup import Desk, Entry
from theodolite.config.packs import Pack
from theodolite.config.parts import is_broken, section
from theodolite.config.shapes.base import as_list
from theodolite.config.shapes.instruments import CategoryShape, SchemaShape
from theodolite.config.shapes.study import StudyShape
from theodolite.config.shelves import SHIPPED
from theodolite.domain.fault import did_you_mean
from theodolite.domain.guideline import Violation

if TYPE_CHECKING:  # loaded by studies that have a schema
    from theodolite.domain.schema import AnnotationSchema, Routing

FOLDER = "schemas"
"""Folder of a study, and of the shelves, that holds annotation schemas."""

ALL = "all"
"""What stands in a route for all categories but the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The schemas of a study as they are written.

    Attributes:
        entries: One for each schema.
        categories: One for each category of each schema, by its name.
        shipped: Names of the categories that come from shipped schemas.
    """

    entries: tuple[Entry[SchemaShape], ...]
    categories: dict[str, Entry[Any]]
    shipped: frozenset[str]


def written_schemas(entry: Entry[StudyShape], pack: Pack, desk: Desk) -> Written:
    """Return the schemas that a study has or names; faults go to the desk.

    Args:
        entry: The study file.
        pack: What its packs bring.
        desk: Where the study lies, and what takes the faults.
    """
    own: dict[str, Entry[Any]] = {item.name: item for item in [*pack.schemas, *section(entry, "schemas")]}
    named = (entry.shape.annotation.schema_ or pack.schema) if entry.shape.annotation else ""
    if named and named not in own and not is_broken(entry, "schemas"):
        found = _found(entry, named, own, desk)
        own |= {named: found} if found else {}
    if len(own) > 1 and not named:
        names = ", ".join(own)
        message = f"the study has several schemas ({names}); say with `annotation.schema` by which people annotate"
        desk.complaints.add(entry.fault("schemas", message=message, at_key=True))
    shipped = {item.name for item in desk.found if item.noun == "schema" and item.where == SHIPPED}
    categories: dict[str, Entry[Any]] = {}
    for schema in own.values():
        for category in category_entries(schema):
            _refuse_twin(category, categories, entry, desk)
            categories[category.name] = category
    of_shipped = (category.name for name in shipped for category in category_entries(own[name]))
    return Written(entries=tuple(own.values()), categories=categories, shipped=frozenset(of_shipped))


def schemas_of(written: Written, shelf: GuidelineShelf, desk: Desk) -> tuple[AnnotationSchema, ...]:
    """Return the schemas of a study, whose categories' guidelines are read by the shelf.

    Args:
        written: The schemas as they are written.
        shelf: The study's guidelines; it reads those of the categories.
        desk: What takes the faults.
    """
    read = [_schema(entry, shelf, desk) for entry in written.entries]
    return tuple(schema for schema in read if schema is not None)


def _found(entry: Entry[StudyShape], name: str, own: dict[str, Entry[Any]], desk: Desk) -> Entry[SchemaShape] | None:
    before = len(desk.complaints.placed)
    found = desk.shaped_file(FOLDER, name, SchemaShape, "schema")
    if found is None and len(desk.complaints.placed) == before:
        known = [*own, *desk.names_in(FOLDER, ".yaml")]
        near = did_you_mean(name, known) or f"; known here: {', '.join(known)}"
        message = f"there is no annotation schema `{name}`, neither in the study nor in `{FOLDER}/` nor shipped{near}"
        desk.complaints.add(entry.fault("annotation", "schema", message=message))
    return found


def category_entries(schema: Entry[SchemaShape]) -> list[Entry[CategoryShape]]:
    """Return the categories of a schema as it is written, each with its place in the file."""
    return [
        Entry(name=name, shape=shape, source=schema.source, path=(*schema.path, "categories", name), pack=schema.pack)
        for name, shape in schema.shape.categories.items()
    ]


def _refuse_twin(
    category: Entry[CategoryShape], others: dict[str, Entry[Any]], entry: Entry[StudyShape], desk: Desk
) -> None:
    if category.name in others:
        message = f"two schemas of the study have a category `{category.name}`; its answers could not be told apart"
        desk.complaints.add(category.fault(message=message, at_key=True))
    if category.name in entry.shape.guidelines:
        message = f"`{category.name}` is a category of a schema; call this guideline otherwise"
        desk.complaints.add(entry.fault("guidelines", category.name, message=message, at_key=True))


def _schema(entry: Entry[SchemaShape], shelf: GuidelineShelf, desk: Desk) -> AnnotationSchema | None:
    from theodolite.domain.schema import AnnotationSchema, Category

    read = {name: shelf.named(name, entry, "categories") for name in entry.shape.categories}
    routing = _routing(entry, desk)
    categories = tuple(
        Category(guideline=guideline, title=entry.shape.categories[name].title)
        for name, guideline in read.items()
        if guideline is not None
    )
    if len(categories) < len(read) or (entry.shape.route and routing is None):
        return None
    return AnnotationSchema(
        name=entry.name,
        categories=categories,
        routing=routing,
        edition=entry.shape.edition,
        about=entry.shape.about,
    )


def _routing(entry: Entry[SchemaShape], desk: Desk) -> Routing | None:
    route, names = entry.shape.route, tuple(entry.shape.categories)
    if route is None:
        return None
    from theodolite.domain.schema import Routing

    faulty = [_check_name(entry, "first", route.first, names, desk)]
    follows: dict[str, tuple[str, ...]] = {}
    for key, form in (("violation", route.violation), ("none", route.none)):
        wanted = as_list(form)
        rest = [name for name in names if name != route.first]
        follows[key] = tuple(rest if wanted == [ALL] else wanted)
        faulty += [_check_name(entry, key, name, names, desk) for name in follows[key]]
    if any(faulty):
        return None
    _check_deciding(entry, route.first, desk)
    return Routing(first=route.first, on_violation=follows["violation"], otherwise=follows["none"])


def _check_name(entry: Entry[SchemaShape], key: str, name: str, known: Sequence[str], desk: Desk) -> bool:
    """Add a fault where a route names no category, and tell whether it does so."""
    if name not in known:
        near = did_you_mean(name, known) or f"; categories are {', '.join(known)}"
        message = f"the route of schema `{entry.name}` names a category `{name}` that it does not have{near}"
        desk.complaints.add(entry.fault("route", key, message=message))
    return name not in known


def _check_deciding(entry: Entry[SchemaShape], first: str, desk: Desk) -> None:
    """Refuse a route that nothing could decide: the first category needs a rule about a guardrail."""
    rules = entry.shape.categories[first].defects.values()
    if all(rule.violation is Violation.NOT_A_GUARDRAIL for rule in rules):
        sides = ", ".join(f"`{side}`" for side in Violation if side is not Violation.NOT_A_GUARDRAIL)
        message = f"nothing tells a violation: no defect rule of `{first}` has a `violation`, one of {sides}"
        desk.complaints.add(entry.fault("route", "first", message=message))
