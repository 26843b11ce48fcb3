"""Personas: templates and rows become people to be played."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from theodolite.domain.dialogue import FOUND
from theodolite.domain.errors import TemplateError
from theodolite.domain.identity import digest, version_of
from theodolite.domain.persona import Persona, PersonaGroup
from theodolite.domain.scenario import Scenario, Task
from theodolite.testing.templates import fill

OPENING = "(The chat is open. Write your first message.)"
"""What opens the chat for the simulated user, since a chat begins with an incoming line."""

LEFT_OUT = "(Earlier messages of this chat are not shown any more.)"
"""What opens the chat once its beginning has left the history window."""

_RULES = """\
You play a person who is using an application. Stay this person in everything you write.

{persona}

What you want from the application: {goal}
{task}{more}

Rules
- Write only the next message that this person would type: no quotation marks, no stage directions, no commentary.
- You are the one who asks. Never answer in the application's place and never say that you are a model.
- The first incoming line only opens the chat; every later one is the application's reply.
- When the person has what they want, or gives up, write {stop} and nothing else."""

_STYLE = """\


How this person writes. These lines are about other matters: take over the manner, never the content.
{examples}"""

_LANGUAGE = "\n\nWrite in this language, whatever language the application answers in: {language}"

_DOCUMENT = """\


The text that it is about lies before you. The application has it too, so do not copy it out.
<<<
{document}
>>>"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRules:
    """How a task shapes a session.

    Attributes:
        words: Description for the simulated user.
        column: Column of a persona's row that carries the material of that dialogue.
        is_shown: Whether the simulated user reads the material too.
    """

    words: str
    column: str
    is_shown: bool = False


TASKS: dict[Task, TaskRules] = {
    Task.QUESTION_ANSWERING: TaskRules(
        words="You ask questions. The application has material to answer from; you have not read it.",
        column="context",
    ),
    Task.CHAT: TaskRules(
        words="You chat with the application; one thing may lead to another.",
        column="context",
    ),
    Task.SEARCH: TaskRules(
        words="The application can look things up. You ask for what you look for, and go on from what it found.",
        column="context",
    ),
    Task.SUMMARISATION: TaskRules(
        words="You want a text made short. Say how long and for whom, and ask for changes until it serves you.",
        column="document",
        is_shown=True,
    ),
    Task.REWRITING: TaskRules(
        words="You want a text written in another way. Say in which way, and ask for changes until it serves you.",
        column="text",
        is_shown=True,
    ),
    Task.GENERATION: TaskRules(
        words="You want something written that does not exist yet. Say what it is for and who will read it, "
        "and ask for changes until it serves you.",
        column="brief",
        is_shown=True,
    ),
}
"""Every task with its rules."""


def player_rules(persona: Persona, task: Task, *, stop: str, material: str) -> str:
    """Return the instructions of a simulated user for a chat.

    Args:
        persona: Who is played.
        task: What the user wants of the application.
        stop: Text that ends the dialogue.
        material: What the dialogue is about; shown only where the task says so.
    """
    rules = TASKS[task]
    more = ""
    if persona.style:
        more += _STYLE.format(examples="\n".join(f"- {line}" for line in persona.style))
    if persona.language:
        more += _LANGUAGE.format(language=persona.language)
    if rules.is_shown and material:
        more += _DOCUMENT.format(document=material)
    goal = persona.goal or "not stated"
    return _RULES.format(persona=persona.text.strip(), goal=goal, task=rules.words, more=more, stop=stop)


def rules_version() -> str:
    """Return the hash of all instructions of simulated users."""
    tasks = (part for task, rules in TASKS.items() for part in (task.value, rules.words, rules.column))
    shown = (task.value for task, rules in TASKS.items() if rules.is_shown)
    return digest(_RULES, OPENING, LEFT_OUT, _STYLE, _LANGUAGE, _DOCUMENT, FOUND, *tasks, *shown)


NAME_COLUMN = "name"
"""The column that people are called by, where a table has it."""


class PersonaSequence:
    """The personas of one group in one scenario, each completed when it is asked for."""

    __slots__ = ("_group", "_scenario", "_template_version")

    def __init__(self, group: PersonaGroup, scenario: Scenario) -> None:
        """Remember who plays where."""
        self._group, self._scenario = group, scenario
        self._template_version = version_of(group.template)

    def __len__(self) -> int:
        """Return how many personas there are; count."""
        return len(self._group.rows)

    def __getitem__(self, place: int) -> Persona:
        """Return a persona, its template filled.

        Raises:
            TemplateError: If a slot has no value; names the group and the row.
        """
        try:
            return _completed(self._group, place, self._scenario, self._template_version)
        except TemplateError as error:
            message = f"persona {place + 1} of `{self._group.name}`: {error}"
            raise TemplateError(message) from error

    def __iter__(self) -> Iterator[Persona]:
        """Yield all personas, in order of the rows."""
        return (self[position] for position in range(len(self)))

    @property
    def model(self) -> str:
        """Name of the model that plays them."""
        return self._group.model

    def key(self, place: int) -> str:
        """Return the key of a persona without completing it."""
        return _key(self._group, place)

    def values(self, place: int) -> Mapping[str, str]:
        """Return the row that fills a persona."""
        return self._group.rows[place].values


def _key(group: PersonaGroup, place: int) -> str:
    return f"{group.name}-{place + 1}"


def _completed(group: PersonaGroup, place: int, scenario: Scenario, template_version: str) -> Persona:
    row = group.rows[place]
    goal = fill(scenario.goal, row.values)
    slots = {"goal": goal, "scenario": scenario.name, "task": scenario.task.value, "turns": scenario.turns}
    return Persona(
        key=_key(group, place),
        name=row.values.get(NAME_COLUMN, f"{group.name} {place + 1}"),
        group=group.name,
        text=fill(group.template.text, {**slots, **row.values}),
        goal=goal,
        model=group.model,
        starter=fill(scenario.starter, row.values),
        parameters=row.values,
        template_version=template_version,
        style=group.style,
        language=fill(group.language, row.values),
        history=group.history,
        material=row.values.get(TASKS[scenario.task].column, ""),
    )
