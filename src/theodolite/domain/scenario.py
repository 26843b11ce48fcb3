"""Scenarios: the situation and the goal that all levels of testing share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from theodolite.domain.dialogue import Passage
from theodolite.domain.errors import require_counts
from theodolite.domain.persona import TITLES, Aim, AttemptOutcome, Script, StrategyInfo


class Task(StrEnum):
    """The user's request to the application."""

    QUESTION_ANSWERING = "question_answering"
    CHAT = "chat"
    SEARCH = "search"
    SUMMARISATION = "summarisation"
    REWRITING = "rewriting"
    GENERATION = "generation"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceText:
    """One document of ground truth."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TestPacket:
    """Permitted and withheld content of a scenario, and its facts.

    Attributes:
        permitted: Behaviour that must be possible; clauses.
        prohibited: Behaviour that must not occur; clauses.
        sources: Ground truth.
        release_signs: Case-insensitive regular expressions that detect
            prohibited content in a response without a model.
        refusal_signs: Regular expressions that find a refusal in a response.
    """

    permitted: tuple[str, ...] = ()
    prohibited: tuple[str, ...] = ()
    sources: tuple[SourceText, ...] = ()
    release_signs: tuple[str, ...] = ()
    refusal_signs: tuple[str, ...] = ()

    def outcome_of(self, response: str) -> AttemptOutcome:
        """Return the result of an attempt, as far as the packet's signs show."""
        if found(self.release_signs, response):
            return AttemptOutcome.RELEASED
        if self.release_signs and (found(self.refusal_signs, response) or not self.refusal_signs):
            return AttemptOutcome.WITHHELD
        return AttemptOutcome.UNCLEAR


def found(signs: tuple[str, ...], text: str) -> str:
    """Return the first text that one of some regular expressions matches; empty for none."""
    for sign in signs:
        if match := re.search(sign, text, re.IGNORECASE):
            return match.group()
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """Real-world risk behind a scenario (ARIA's three steps).

    Attributes:
        use_case: The use that it is a proxy of.
        capabilities: Key enabling capabilities.
        design: Methods, data and measurements.
    """

    use_case: str = ""
    capabilities: str = ""
    design: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Situation and goal of some dialogues.

    Attributes:
        name: Identifier within the study.
        task: The user's request to the application.
        goal: The tester's goal; a template over the persona's row.
        turns: Maximum number of turns of a dialogue; count.
        starter: First prompt if it is fixed; a template.
        stop: Text of the simulated user that ends the dialogue.
        packet: Permitted and withheld content.
        proxy: The real use that the scenario represents.
        scripts: Fixed prompts; without personas these are the testers.
        instructions: Level to the instructions that testers read.
        risks: Names of the risks that it tests.
        personas: Names of its persona groups; empty for those of `is_met_by`.
        corpus: Source of the search for each prompt; matches become the material of that turn.
        passages: Maximum number of passages per search; count.
        attacks: Names of the strategies that simulated red teamers try in it.
        brought: Cards of the strategies that come from a plugin.
        aims: Answers that the simulated users want to hear.
        attacker: Name of the model for strategies that need one; empty for none.
        guidelines: Names of the guidelines for its dialogues; empty for all.
        questionnaires: Level to the names of testers' questionnaires after a session.
    """

    name: str
    goal: str = ""
    task: Task = Task.CHAT
    turns: int = 1
    starter: str = ""
    stop: str = ""
    packet: TestPacket = field(default_factory=TestPacket)
    proxy: Proxy = field(default_factory=Proxy)
    scripts: tuple[Script, ...] = ()
    instructions: Mapping[str, str] = field(default_factory=dict)
    risks: tuple[str, ...] = ()
    personas: tuple[str, ...] = ()
    corpus: tuple[Passage, ...] = ()
    passages: int = 3
    attacks: tuple[str, ...] = ()
    aims: tuple[Aim, ...] = ()
    attacker: str = ""
    guidelines: tuple[str, ...] = ()
    brought: tuple[StrategyInfo, ...] = ()
    questionnaires: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Reject dialogues without a turn, and searches that can find nothing."""
        require_counts(f"scenario `{self.name}`", turns=self.turns, passages=self.passages)

    def is_met_by(self, group: str) -> bool:
        """Return whether a persona group tests it: if named; else if there is a goal, a starter or no script."""
        if self.personas:
            return group in self.personas
        return bool(self.goal or self.starter or not self.scripts)

    @property
    def context(self) -> str:
        """The source material as one text."""
        return "\n\n".join(source.text for source in self.packet.sources)


def strategy_title(scenarios: Iterable[Scenario], name: str) -> str:
    """Return a one-line description of a strategy; its name if there is none.

    Args:
        scenarios: The study's; they include the strategies of plugins.
        name: Name in study files.
    """
    titles = {card.name: card.title for scenario in scenarios for card in scenario.brought}
    return titles.get(name) or TITLES.get(name) or name.replace("_", " ")
