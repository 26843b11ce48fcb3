"""Cells: testers in scenarios, which repeats are drawn for and applications are met by."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, repeat

from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.identity import canonical_json, digest, version_of
from theodolite.domain.persona import Attack, Persona, Script
from theodolite.domain.plan import KINDS, Setting, Tester, TesterKind
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Study
from theodolite.testing.personas import PersonaSequence
from theodolite.testing.strategies.catalogue import strategy_info

_HASH_BYTES = 32
"""Bytes of a hash."""

_NO_GROUPS: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class TesterBlock:
    """Testers of one kind in one scenario, in order.

    Attributes:
        scenario: The scenario.
        testers: Personas, scripts or simulated red teamers.
        grouped_by: Names of the values that dialogues are split by.
    """

    scenario: Scenario
    testers: PersonaSequence | tuple[Script, ...] | tuple[Attack, ...]
    grouped_by: tuple[str, ...]

    @property
    def level(self) -> Level:
        """Level of testing that such testers belong to."""
        return Level.RED_TEAMING if self._kind is TesterKind.ATTACK else Level.MODEL_TESTING

    @property
    def held_by(self) -> TesterType:
        """Who holds the tester's side of their sessions."""
        return TesterType.SCRIPT if self._kind is TesterKind.SCRIPT else TesterType.SIMULATED_USER

    @property
    def _kind(self) -> TesterKind:
        return TesterKind.PERSONA if isinstance(self.testers, PersonaSequence) else KINDS[type(self.testers[0])]

    def setting(self, place: int, application: str) -> Setting:
        """Return what all sessions of a tester with an application share."""
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
        """Return what sessions may be split by: columns of a persona, purpose of a script, strategy and aim."""
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
        # Nobody on the tester's side reads the corpus, but with another one this is another test.
        searched = [canonical_json((scenario.corpus, scenario.passages))] if scenario.corpus else []
        for tester in self.testers:
            seen = _seen(scenario, tester)
            yield digest(*seen, packet, scenario.name, str(scenario.turns), scenario.stop, *searched)


class DesignCells:
    """All testers in all their scenarios, in order of the plan; nobody is completed before being asked for."""

    def __init__(self, blocks: Iterable[TesterBlock]) -> None:
        """Lay cells out and look at what each tester sees.

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
        """Return how many there are; count."""
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
        """Return what all sessions of a cell with an application share."""
        block, position = self._at(cell)
        return block.setting(position, application)

    def _at(self, cell: int) -> tuple[TesterBlock, int]:
        number = bisect_right(self._ends, cell)
        block = self._blocks[number]
        return block, cell - (self._ends[number] - len(block.testers))


def grouping_of(study: Study) -> tuple[str, ...]:
    """Return the names of what dialogues are split by, or what a defect rule asks for."""
    requested = {name for guideline in study.guidelines for rule in guideline.defect_rules for name in rule.among}
    return tuple(sorted(requested.union(study.groups)))


def groups_of(names: Sequence[str], values: Mapping[str, str]) -> Mapping[str, str]:
    """Return those values that dialogues are split by; where there are none, one object stands for all."""
    return {name: values[name] for name in names if name in values} or _NO_GROUPS


def tester_blocks(study: Study) -> Iterator[TesterBlock]:
    """Yield who speaks in which scenario of a study, in order of the plan."""
    grouped_by = grouping_of(study)
    for scenario in study.scenarios:
        requested = scenario.personas or tuple(group.name for group in study.personas)
        for group in study.personas:
            if group.name in requested:
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
    """Return what else decides how a persona is played."""
    return (*persona.style, persona.language, str(persona.history or ""), persona.material)
