"""Questionnaires of a study: found by name or written out, and asked where a scenario says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from theodolite.config.labelling.questions import questions_of
from theodolite.config.lookup import Entry, LoadContext
from theodolite.config.packs import Pack
from theodolite.config.parts import dropped, section
from theodolite.config.specs.base import as_list
from theodolite.config.specs.instruments import QuestionnaireSpec
from theodolite.config.specs.scenarios import LevelName, ScenarioSpec
from theodolite.config.specs.study import StudySpec
from theodolite.domain.fault import did_you_mean
from theodolite.domain.instrument import Instrument
from theodolite.domain.scenario import Scenario

if TYPE_CHECKING:  # loaded by studies that have one
    from theodolite.domain.questionnaire import Questionnaire

FOLDER = "questionnaires"
"""Folder of a study, and of resources, with questionnaires."""

Asking = Iterable[tuple[Scenario, Entry[ScenarioSpec]]]
"""Scenarios with the entries that they were read from."""


def written_questionnaires(
    entry: Entry[StudySpec], pack: Pack, asking: Asking, context: LoadContext
) -> tuple[Entry[QuestionnaireSpec], ...]:
    """Return the questionnaires that a study defines or its scenarios name; faults are added to the diagnostics.

    Args:
        entry: The study file.
        pack: What its packs bring.
        asking: The scenarios.
        context: Context of the load; collects the diagnostics.
    """
    own: dict[str, Entry[Any]] = {item.name: item for item in [*pack.questionnaires, *section(entry, FOLDER)]}
    lost = set(dropped(entry, FOLDER))
    for scenario, level, name in _named(asking, context):
        if name not in own and name not in lost:
            found = _found(scenario, level, name, own, context)
            own |= {name: found} if found else {}
            lost |= set() if found else {name}
    return tuple(own.values())


def questionnaire_of(entry: Entry[QuestionnaireSpec], context: LoadContext) -> Questionnaire | None:
    """Return the questionnaire that an entry describes; None and faults where it describes none."""
    questions = questions_of(entry, context, noun="questionnaire")
    if len(questions) < len(entry.spec.questions):
        return None
    from theodolite.domain.questionnaire import Questionnaire

    return Questionnaire(
        name=entry.name,
        instrument=Instrument(name=entry.name, questions=tuple(questions.values())),
        title=entry.spec.title,
        about=entry.spec.about,
        edition=entry.spec.edition,
    )


def _named(asking: Asking, context: LoadContext) -> Iterator[tuple[Entry[ScenarioSpec], str, str]]:
    """Yield the questionnaires that scenarios name; model testing has nobody to ask."""
    for scenario, entry in asking:
        levels: dict[LevelName, Any] = dict(entry.spec.questionnaires)
        if "model_testing" in levels:
            message = (
                f"scenario `{scenario.name}` has a questionnaire for model testing, where nobody is there to answer"
            )
            context.diagnostics.add(entry.fault(FOLDER, "model_testing", message=message, at_key=True))
        for level, form in levels.items():
            for name in as_list(form):
                yield entry, level, name


def _found(
    entry: Entry[ScenarioSpec], level: str, name: str, own: Mapping[str, Entry[Any]], context: LoadContext
) -> Entry[QuestionnaireSpec] | None:
    before = len(context.diagnostics.placed)
    found = context.read_spec(FOLDER, name, QuestionnaireSpec, "questionnaire")
    if found is None and len(context.diagnostics.placed) == before:
        known = [*own, *context.names_in(FOLDER, ".yaml")]
        near = did_you_mean(name, known) or (f"; known here: {', '.join(known)}" if known else "")
        message = f"there is no questionnaire `{name}`, neither in the study nor in `{FOLDER}/` nor shipped{near}"
        context.diagnostics.add(entry.fault(FOLDER, level, message=message, words=name))
    return found
