"""Scenarios as domain records: source material, scripts, instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from theodolite.config.attacks import RedTeaming, attacks_of
from theodolite.config.expressions import expression_problem
from theodolite.config.lookup import Desk, Entry
from theodolite.config.shapes.base import as_list
from theodolite.config.shapes.scenarios import ScenarioShape, ScriptShape
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
    entry: Entry[ScenarioShape], desk: Desk, *, risks: tuple[str, ...], red_teaming: RedTeaming
) -> Scenario:
    """Return the scenario that an entry describes; what is wrong with it becomes faults."""
    shape = entry.shape
    attacks = attacks_of(entry, desk, red_teaming)
    for key in ("goal", "starter"):
        problem = syntax_problem(getattr(shape, key))
        if problem:
            desk.complaints.add(entry.fault(key, message=f"`{key}` of scenario `{entry.name}`: {problem}"))
    _check_risks(entry, desk, risks)
    _note_slots(entry, desk)
    return Scenario(
        name=entry.name,
        goal=shape.goal,
        task=shape.task,
        turns=shape.turns,
        starter=shape.starter,
        stop=shape.stop,
        packet=_packet(entry, desk),
        proxy=Proxy(use_case=shape.use_case, capabilities=shape.capabilities, design=shape.design),
        scripts=_scripts(entry, desk),
        instructions={LEVELS[level].value: text for level, text in shape.instructions.items()},
        risks=tuple(shape.risks),
        personas=tuple(shape.personas),
        corpus=_corpus(entry, desk),
        passages=shape.passages,
        attacks=attacks.names,
        aims=attacks.aims,
        attacker=attacks.attacker,
        brought=attacks.brought,
        guidelines=tuple(shape.guidelines),
        questionnaires={LEVELS[level].value: tuple(as_list(names)) for level, names in shape.questionnaires.items()},
    )


def _corpus(entry: Entry[ScenarioShape], desk: Desk) -> tuple[Passage, ...]:
    passages: list[Passage] = []
    for name in as_list(entry.shape.corpus):
        text = desk.text(entry, "corpus", name=name)
        found = passages_in(name, text) if text is not None else ()
        if text is not None and not found:
            desk.complaints.add(entry.fault("corpus", message=f"`{name}` holds no text that a search could find"))
        passages += found
    return tuple(passages)


def _packet(entry: Entry[ScenarioShape], desk: Desk) -> TestPacket:
    names = as_list(entry.shape.source)
    texts = [(name, desk.text(entry, "source", name=name)) for name in names]
    return TestPacket(
        permitted=tuple(entry.shape.permitted),
        prohibited=tuple(entry.shape.prohibited),
        sources=tuple(SourceText(name=name, text=text) for name, text in texts if text is not None),
        release_signs=_signs(entry, desk, "released", entry.shape.signs.released),
        refusal_signs=_signs(entry, desk, "refused", entry.shape.signs.refused),
    )


def _signs(entry: Entry[ScenarioShape], desk: Desk, key: str, signs: Sequence[str]) -> tuple[str, ...]:
    for place, sign in enumerate(signs):
        if problem := expression_problem(sign):
            desk.complaints.add(entry.fault("signs", key, place, message=problem))
    return tuple(signs)


def _scripts(entry: Entry[ScenarioShape], desk: Desk) -> tuple[Script, ...]:
    scripts = []
    for key, form in entry.shape.scripts.items():
        if isinstance(form, ScriptShape):
            script = Script(key=key, prompts=tuple(form.prompts), purpose=form.purpose)
        else:
            script = Script(key=key, prompts=tuple(as_list(form)))
        if not script.prompts:
            message = f"script `{key}` of scenario `{entry.name}` says nothing; expected one prompt at least"
            desk.complaints.add(entry.fault("scripts", key, message=message))
        scripts.append(script)
    return tuple(scripts)


def _note_slots(entry: Entry[ScenarioShape], desk: Desk) -> None:
    """Note slots in words that no row fills: somebody expects them to be filled."""
    for key, form in entry.shape.scripts.items():
        prompts = form.prompts if isinstance(form, ScriptShape) else as_list(form)
        _note_slot(entry, desk, ("scripts", key), f"script `{key}`", prompts)
    for key, ask in entry.shape.aims.items():
        _note_slot(entry, desk, ("aims", key), f"aim `{key}`", (ask,))


def _note_slot(entry: Entry[ScenarioShape], desk: Desk, path: tuple[str, ...], what: str, texts: Sequence[str]) -> None:
    slot = next(filter(None, map(first_slot, texts)), "")
    if slot:
        message = f"`{slot}` in {what} is said as it stands: rows of personas fill `goal` and `starter` alone"
        desk.complaints.add(entry.fault(*path, message=message, words=slot, severity=Severity.NOTE))


def _check_risks(entry: Entry[ScenarioShape], desk: Desk, risks: tuple[str, ...]) -> None:
    for place, name in enumerate(entry.shape.risks):
        if name not in risks:
            tail = did_you_mean(name, risks) or "; name it under `risks`"
            message = f"scenario `{entry.name}` looks for a risk `{name}` that the study does not name{tail}"
            desk.complaints.add(entry.fault("risks", place, message=message))
