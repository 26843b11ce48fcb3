"""Scenarios as domain records: source material, scripts, instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from theodolite.config.attacks import RedTeaming, attacks_of
from theodolite.config.expressions import expression_problem
from theodolite.config.lookup import Entry, LoadContext
from theodolite.config.specs.base import as_list
from theodolite.config.specs.scenarios import ScenarioSpec, ScriptSpec
from theodolite.config.templates import first_slot, syntax_problem
from theodolite.domain.dialogue import Level
from theodolite.domain.fault import Severity, did_you_mean
from theodolite.domain.passage import Passage, passages_in
from theodolite.domain.persona import Script
from theodolite.domain.scenario import Proxy, Scenario, SourceText, TestPacket

LEVELS: Mapping[str, Level] = {
    "model_testing": Level.MODEL_TESTING,
    "red_teaming": Level.RED_TEAMING,
    "field_testing": Level.FIELD_TESTING,
}
"""Level as study files write it to the level."""


def scenario_of(
    entry: Entry[ScenarioSpec], context: LoadContext, *, risks: tuple[str, ...], red_teaming: RedTeaming
) -> Scenario:
    """Return the scenario that an entry describes; what is wrong with it becomes faults."""
    spec = entry.spec
    attacks = attacks_of(entry, context, red_teaming)
    for key in ("goal", "starter"):
        problem = syntax_problem(getattr(spec, key))
        if problem:
            context.diagnostics.add(entry.fault(key, message=f"`{key}` of scenario `{entry.name}`: {problem}"))
    _check_risks(entry, context, risks)
    _note_slots(entry, context)
    return Scenario(
        name=entry.name,
        goal=spec.goal,
        task=spec.task,
        turns=spec.turns,
        starter=spec.starter,
        stop=spec.stop,
        packet=_packet(entry, context),
        proxy=Proxy(use_case=spec.use_case, capabilities=spec.capabilities, design=spec.design),
        scripts=_scripts(entry, context),
        instructions={LEVELS[level].value: text for level, text in spec.instructions.items()},
        risks=tuple(spec.risks),
        personas=tuple(spec.personas),
        corpus=_corpus(entry, context),
        passages=spec.passages,
        attacks=attacks.names,
        aims=attacks.aims,
        attacker=attacks.attacker,
        brought=attacks.brought,
        guidelines=tuple(spec.guidelines),
        questionnaires={LEVELS[level].value: tuple(as_list(names)) for level, names in spec.questionnaires.items()},
    )


def _corpus(entry: Entry[ScenarioSpec], context: LoadContext) -> tuple[Passage, ...]:
    passages: list[Passage] = []
    for name in as_list(entry.spec.corpus):
        text = context.text(entry, "corpus", name=name)
        found = passages_in(name, text) if text is not None else ()
        if text is not None and not found:
            context.diagnostics.add(entry.fault("corpus", message=f"`{name}` holds no text that a search could find"))
        passages += found
    return tuple(passages)


def _packet(entry: Entry[ScenarioSpec], context: LoadContext) -> TestPacket:
    names = as_list(entry.spec.source)
    texts = [(name, context.text(entry, "source", name=name)) for name in names]
    return TestPacket(
        permitted=tuple(entry.spec.permitted),
        prohibited=tuple(entry.spec.prohibited),
        sources=tuple(SourceText(name=name, text=text) for name, text in texts if text is not None),
        release_signs=_signs(entry, context, "released", entry.spec.signs.released),
        refusal_signs=_signs(entry, context, "refused", entry.spec.signs.refused),
    )


def _signs(entry: Entry[ScenarioSpec], context: LoadContext, key: str, signs: Sequence[str]) -> tuple[str, ...]:
    for place, sign in enumerate(signs):
        if problem := expression_problem(sign):
            context.diagnostics.add(entry.fault("signs", key, place, message=problem))
    return tuple(signs)


def _scripts(entry: Entry[ScenarioSpec], context: LoadContext) -> tuple[Script, ...]:
    scripts = []
    for key, form in entry.spec.scripts.items():
        if isinstance(form, ScriptSpec):
            script = Script(key=key, prompts=tuple(form.prompts), purpose=form.purpose)
        else:
            script = Script(key=key, prompts=tuple(as_list(form)))
        if not script.prompts:
            message = f"script `{key}` of scenario `{entry.name}` says nothing; expected one prompt at least"
            context.diagnostics.add(entry.fault("scripts", key, message=message))
        scripts.append(script)
    return tuple(scripts)


def _note_slots(entry: Entry[ScenarioSpec], context: LoadContext) -> None:
    """Note slots in words that no row fills: somebody expects them to be filled."""
    for key, form in entry.spec.scripts.items():
        prompts = form.prompts if isinstance(form, ScriptSpec) else as_list(form)
        _note_slot(entry, context, ("scripts", key), f"script `{key}`", prompts)
    for key, ask in entry.spec.aims.items():
        _note_slot(entry, context, ("aims", key), f"aim `{key}`", (ask,))


def _note_slot(
    entry: Entry[ScenarioSpec], context: LoadContext, path: tuple[str, ...], what: str, texts: Sequence[str]
) -> None:
    slot = next(filter(None, map(first_slot, texts)), "")
    if slot:
        message = f"`{slot}` in {what} is said as it stands: rows of personas fill `goal` and `starter` alone"
        context.diagnostics.add(entry.fault(*path, message=message, words=slot, severity=Severity.NOTE))


def _check_risks(entry: Entry[ScenarioSpec], context: LoadContext, risks: tuple[str, ...]) -> None:
    for place, name in enumerate(entry.spec.risks):
        if name not in risks:
            tail = did_you_mean(name, risks) or "; name it under `risks`"
            message = f"scenario `{entry.name}` looks for a risk `{name}` that the study does not name{tail}"
            context.diagnostics.add(entry.fault("risks", place, message=message))
