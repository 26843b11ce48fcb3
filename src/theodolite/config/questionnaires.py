"""The `questionnaires` section: questions to testers after a session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field, model_validator

from theodolite.config.load_context import Entry, LoadContext, Pack, dropped, section
from theodolite.config.questions import ExemplarSpec, ScaleForm, question_from_domain, questions_to_domain
from theodolite.config.scenarios import LevelName, ScenarioSpec
from theodolite.config.spec import Filled, Spec, Word, YesNo, as_list, without_empty
from theodolite.domain.fault import did_you_mean
from theodolite.domain.instrument import Instrument, Orientation, Question, Topic
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Study

if TYPE_CHECKING:
    from theodolite.domain.questionnaire import Questionnaire


class QuestionnaireQuestionSpec(Spec):
    """One question that testers answer about their session."""

    ask: Filled
    """The question, as people read it."""
    scale: ScaleForm | None = None
    """Possible values; default: yes and no."""
    topic: Topic | None = None
    """Topic: `perceived risk and impact exposure`, `perception of output`, `task-specific impact` or `future
    behaviour`."""
    several: YesNo = False
    """Whether several labels of a list may be chosen."""
    orientation: Orientation = Orientation.UNSTATED
    """Which end is the bad one: `higher_is_worse` or `lower_is_worse`."""
    may_be_unable: YesNo = False
    """Whether "unable to determine" is an allowed answer."""
    may_not_apply: YesNo = False
    """Whether "does not apply" is an allowed answer."""
    when: str = ""
    """Answer to an earlier question that opens this one, e.g. `released == yes`."""
    exemplars: list[ExemplarSpec] = Field(default_factory=list)
    """Examples of answers, shown on demand."""

    @model_validator(mode="after")
    def _several_of_a_list(self) -> QuestionnaireQuestionSpec:
        if self.several and not isinstance(self.scale, list | dict):
            message = "has `several`, which needs a list of labels as its scale"
            raise ValueError(message)
        return self


class QuestionnaireSpec(Spec):
    """What testers are asked once a session is over."""

    title: str = ""
    """Heading for testers."""
    about: str = ""
    """One or two sentences above the questions."""
    edition: Word = ""
    """Edition, set by its author."""
    questions: dict[str, QuestionnaireQuestionSpec] = Field(min_length=1)
    """Questions by name, in order."""


FOLDER = "questionnaires"
"""Folder of a study, and of resources, with questionnaires."""

Asking = Iterable[tuple[Scenario, Entry[ScenarioSpec]]]
"""Scenarios with the entries that they were read from."""


def written_questionnaires(
    entry: Entry[Any], pack: Pack, asking: Asking, context: LoadContext
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


def questionnaire_to_domain(entry: Entry[QuestionnaireSpec], context: LoadContext) -> Questionnaire | None:
    """Return the questionnaire that an entry describes; None and faults where it describes none."""
    questions = questions_to_domain(entry, context, noun="questionnaire")
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


def questionnaires_from_domain(study: Study) -> dict[str, Any]:
    """Return all questionnaires of a study in their long form, shipped ones included."""
    return {questionnaire.name: _questionnaire_from_domain(questionnaire) for questionnaire in study.questionnaires}


def _questionnaire_from_domain(questionnaire: Questionnaire) -> dict[str, Any]:
    long: dict[str, Any] = without_empty(
        title=questionnaire.title, about=questionnaire.about, edition=questionnaire.edition
    )
    return long | {"questions": {each.name: _question_from_domain(each) for each in questionnaire.instrument.questions}}


def _question_from_domain(question: Question) -> dict[str, Any]:
    long = question_from_domain(question)
    del long["level"]
    long |= {"topic": question.topic.value} if question.topic else {}
    return long | ({"several": "yes"} if question.several else {})
