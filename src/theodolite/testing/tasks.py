"""Tasks: what the simulated user is told, and which column carries the material that a task is about."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.domain.identity import digest
from theodolite.domain.passage import FOUND
from theodolite.domain.persona import Persona
from theodolite.domain.scenario import Task

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
        words: What the simulated user is told about it.
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
    """Return what a simulated user is told before a chat.

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
    """Return the hash of all words that simulated users are told."""
    tasks = (part for task, rules in TASKS.items() for part in (task.value, rules.words, rules.column))
    shown = (task.value for task, rules in TASKS.items() if rules.is_shown)
    return digest(_RULES, OPENING, LEFT_OUT, _STYLE, _LANGUAGE, _DOCUMENT, FOUND, *tasks, *shown)
