"""Design of a plan: testers in scenarios with their personas, repeats and applications."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, repeat

from theodolite.domain.dialogue import FOUND, Level, TesterType
from theodolite.domain.errors import TemplateError
from theodolite.domain.identity import canonical_json, digest, version_of
from theodolite.domain.persona import NAME_COLUMN, Attack, Persona, PersonaGroup, Script
from theodolite.domain.plan import KINDS, Setting, Tester, TesterKind
from theodolite.domain.scenario import Scenario, Task
from theodolite.domain.study import Study
from theodolite.testing.strategies import strategy_info
from theodolite.testing.templates import fill

_HASH_BYTES = 32
"""Bytes of a hash."""

_NO_GROUPS: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class TesterBlock:
    """Testers of one kind in one scenario, in order.

    Attributes:
        scenario: The scenario.
        testers: Personas, scripts or simulated red teamers.
        grouped_by: Names of the values by which dialogues are split.
    """

    scenario: Scenario
    testers: PersonaSequence | tuple[Script, ...] | tuple[Attack, ...]
    grouped_by: tuple[str, ...]

    @property
    def level(self) -> Level:
        """Level of testing of such testers."""
        return Level.RED_TEAMING if self._kind is TesterKind.ATTACK else Level.MODEL_TESTING

    @property
    def held_by(self) -> TesterType:
        """Testers: the tester's side of sessions."""
        return TesterType.SCRIPT if self._kind is TesterKind.SCRIPT else TesterType.SIMULATED_USER

    @property
    def _kind(self) -> TesterKind:
        return TesterKind.PERSONA if isinstance(self.testers, PersonaSequence) else KINDS[type(self.testers[0])]

    def setting(self, place: int, application: str) -> Setting:
        """Return the settings that all sessions of a tester with an application share."""
        kind, testers = self._kind, self.testers
        personas = testers if isinstance(testers, PersonaSequence) else None
        tester = None if personas else testers[place]
        key = personas.key(place) if personas else testers[place].key
        strategy = tester.strategy if isinstance(tester, Attack) else ""
        return Setting(
            application=application,
            scenario=self.scenario.name,
            level=self.level,
            held_by=self.held_by,
            cluster=strategy or key,
            groups=groups_of(self.grouped_by, self._values(place)),
            kind=kind,
            tester=key,
            model=personas.model if personas else tester.model if isinstance(tester, Attack) else "",
            strategy=strategy,
        )

    def _values(self, place: int) -> Mapping[str, str]:
        """Return the fields that may split sessions: columns of a persona, purpose of a script, strategy and aim."""
        named = {"scenario": self.scenario.name}
        if isinstance(self.testers, PersonaSequence):
            return {**named, **self.testers.values(place)}
        match self.testers[place]:
            case Script(purpose=purpose, values=values):
                return {**values, **named, **({"purpose": purpose} if purpose else {})}
            case Attack(strategy=strategy, aim=aim):
                return {**named, "strategy": strategy, "aim": aim.key}

    def stimulus_hashes(self) -> Iterator[str]:
        """Yield the hash of all that each tester's side sees.

        Raises:
            TemplateError: If a persona cannot be filled.
        """
        scenario = self.scenario
        packet = version_of(scenario.packet)
        # The tester's side never reads the corpus, but another corpus makes it another test.
        searched = [canonical_json((scenario.corpus, scenario.passages))] if scenario.corpus else []
        for tester in self.testers:
            seen = _seen(scenario, tester)
            yield digest(*seen, packet, scenario.name, str(scenario.turns), scenario.stop, *searched)


class DesignCells:
    """All testers in all their scenarios, in order of the plan; each is built on request."""

    def __init__(self, blocks: Iterable[TesterBlock]) -> None:
        """Lay cells out and determine each tester's content.

        Raises:
            TemplateError: If a persona cannot be filled.
        """
        self._blocks = [block for block in blocks if len(block.testers)]
        self._ends = list(accumulate(len(block.testers) for block in self._blocks))
        self._stimulus_hashes = bytearray()
        for block in self._blocks:
            for stimulus_hash in block.stimulus_hashes():
                self._stimulus_hashes += bytes.fromhex(stimulus_hash)

    def __len__(self) -> int:
        """Return the number of dialogues; count."""
        return self._ends[-1] if self._ends else 0

    def levels(self) -> Iterator[Level]:
        """Yield the level of testing of each cell."""
        for block in self._blocks:
            yield from repeat(block.level, len(block.testers))

    def stimulus_hash(self, cell: int) -> str:
        """Return the hash of all that the tester's side of a cell sees; 64 hexadecimal digits."""
        return self._stimulus_hashes[_HASH_BYTES * cell : _HASH_BYTES * (cell + 1)].hex()

    def tester(self, cell: int) -> Tester:
        """Return the tester of a cell, completed."""
        block, position = self._at(cell)
        return block.testers[position]

    def scenario(self, cell: int) -> str:
        """Return the name of a cell's scenario."""
        return self._at(cell)[0].scenario.name

    def setting(self, cell: int, application: str) -> Setting:
        """Return the settings that all sessions of a cell with an application share."""
        block, position = self._at(cell)
        return block.setting(position, application)

    def _at(self, cell: int) -> tuple[TesterBlock, int]:
        number = bisect_right(self._ends, cell)
        block = self._blocks[number]
        return block, cell - (self._ends[number] - len(block.testers))


def grouping_of(study: Study) -> tuple[str, ...]:
    """Return the attributes that split dialogues or that a defect rule uses."""
    requested = {name for guideline in study.guidelines for rule in guideline.defect_rules for name in rule.among}
    typed = (study.typology.by,) if study.typology else ()
    return tuple(sorted(requested.union(study.groups, typed)))


def groups_of(names: Sequence[str], values: Mapping[str, str]) -> Mapping[str, str]:
    """Return the values by which dialogues are split; without any, one shared object."""
    return {name: values[name] for name in names if name in values} or _NO_GROUPS


def tester_blocks(study: Study) -> Iterator[TesterBlock]:
    """Yield tester and scenario of a study's dialogues, in order of the plan."""
    grouped_by = grouping_of(study)
    for scenario in study.scenarios:
        for group in study.personas:
            if scenario.is_met_by(group.name):
                yield TesterBlock(scenario, PersonaSequence(group, scenario), grouped_by)
        yield TesterBlock(scenario, scenario.scripts, grouped_by)
    for scenario in study.scenarios:
        yield TesterBlock(scenario, tuple(_attacks(scenario)), grouped_by)


def _attacks(scenario: Scenario) -> Iterator[Attack]:
    for name in scenario.attacks:
        model = scenario.attacker if strategy_info(name, scenario.brought).needs_model else ""
        for aim in scenario.aims:
            yield Attack(key=f"{name}/{aim.key}", strategy=name, aim=aim, model=model)


def _seen(scenario: Scenario, tester: Tester) -> tuple[str, ...]:
    match tester:
        case Persona():
            return (tester.text, tester.goal, tester.starter, scenario.task.value, *_manner(tester))
        case Attack():
            return canonical_json(tester), "attack", str(strategy_info(tester.strategy, scenario.brought).edition)
        case _:
            return (canonical_json(tester),)


def _manner(persona: Persona) -> tuple[str, ...]:
    """Return the remaining settings of a persona's behaviour."""
    return (*persona.style, persona.language, str(persona.history or ""), persona.material)


OPENING = "(The chat is open. Write your first message.)"
"""First line of the simulated user's chat, because a chat starts with an incoming line."""

LEFT_OUT = "(Earlier messages of this chat are not shown any more.)"
"""First line of the chat once its start is outside the history window."""

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
        is_shown: Whether the simulated user reads the material as well.
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
        task: The user's request to the application.
        stop: Text that ends the dialogue.
        material: Source material of the dialogue; shown only if the task requires it.
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


class PersonaSequence:
    """The personas of one group in one scenario, each expanded on request."""

    __slots__ = ("_group", "_scenario", "_template_version")

    def __init__(self, group: PersonaGroup, scenario: Scenario) -> None:
        """Store the slots of people."""
        self._group, self._scenario = group, scenario
        self._template_version = version_of(group.template)

    def __len__(self) -> int:
        """Return the number of personas; count."""
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
        return self._group.key(place)

    def values(self, place: int) -> Mapping[str, str]:
        """Return the row whose values fill a persona."""
        return self._group.rows[place].values


def _completed(group: PersonaGroup, place: int, scenario: Scenario, template_version: str) -> Persona:
    row = group.rows[place]
    goal = fill(scenario.goal, row.values)
    slots = {"goal": goal, "scenario": scenario.name, "task": scenario.task.value, "turns": scenario.turns}
    return Persona(
        key=group.key(place),
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
