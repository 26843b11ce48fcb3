"""Packs: scenarios, personas, guidelines, questionnaires and risks that several studies share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from theodolite.config.lookup import Entry, Found, LoadContext
from theodolite.config.resources import ResourceResolver
from theodolite.config.specs.base import as_list
from theodolite.config.specs.guidelines import GuidelineSpec
from theodolite.config.specs.instruments import AnnotationSchemaSpec, QuestionnaireSpec
from theodolite.config.specs.scenarios import PersonaGroupSpec, ScenarioSpec
from theodolite.config.specs.study import PackSpec, RiskSpec, StudySpec, TopicSpec
from theodolite.config.validation import validated
from theodolite.config.yaml_source import YamlSource, read_yaml
from theodolite.domain.fault import did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """The entries of a pack, with the places that they come from.

    `schema` names the annotation schema by which people annotate where the study names none;
    `warning` tells people what they may meet.
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


def pack_names() -> tuple[str, ...]:
    """Return the names of all shipped packs, e.g. `aria/tv-spoilers`."""
    return ResourceResolver().packs()


def pack_guidelines(name: str, resolver: ResourceResolver) -> tuple[str, ...]:
    """Return the names of the guidelines that a pack brings; none where there is no such pack."""
    resource = resolver.resource(f"packs/{name}/pack.yaml") if name in resolver.packs() else None
    content = read_yaml(resource.raw, f"{name}/pack.yaml").content if resource is not None else {}
    named = content.get("guidelines") if isinstance(content, dict) else None
    return tuple(named) if isinstance(named, dict) else ()


def read_packs(entry: Entry[StudySpec], context: LoadContext) -> Pack:
    """Return the packs that a study builds on as one; an empty one where it builds on none.

    Where two packs have an entry of one name, the later pack's is taken.
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
    )


def _read_pack(entry: Entry[StudySpec], context: LoadContext, name: str) -> Pack:
    known = context.resolver.packs()
    resource = context.resolver.resource(f"packs/{name}/pack.yaml") if name in known else None
    if resource is None:
        tail = did_you_mean(name, known) or f"; known here: {', '.join(known)}"
        context.diagnostics.add(entry.fault("pack", message=f"there is no scenario pack `{name}`{tail}"))
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
    )


def _entries(source: YamlSource, pack: str, section: str, specs: Mapping[str, Any]) -> list[Entry[Any]]:
    return [
        Entry(name=name, spec=spec, source=source, path=(section, name), pack=f"packs/{pack}")
        for name, spec in specs.items()
    ]
