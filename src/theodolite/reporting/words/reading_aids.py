"""The explanations next to numbers, from one file for terminal, report and web, and the terms of NIST's ARIA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ruamel.yaml import YAML

from theodolite.domain.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Aid:
    """A reading aid: one or two sentences next to a number.

    Attributes:
        when: Conditions under which it is shown.
        words: The full text, with placeholders for values in braces.
        short: The text for a narrow terminal.
    """

    when: str
    words: str
    short: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureWords:
    """Description of a measure.

    Attributes:
        title: Displayed title.
        definition: The description.
        formula: Its computation in words.
    """

    title: str
    definition: str
    formula: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertWords:
    """Meaning of an alarm, as text.

    Attributes:
        why: The monitored quantity, and the condition of an alert.
        otherwise: Other possible causes, and its limits.
        then: Next step.
    """

    why: str
    otherwise: str
    then: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """All texts of a words file.

    Attributes:
        aids: Name to reading aid.
        measures: Description of each measuring function.
        methods: Prefix of a method's name to its source.
        alerts: Meaning of each kind of alarm.
        terms: The two sentences of each term, in order of the file.
    """

    aids: Mapping[str, Aid]
    measures: Mapping[str, MeasureWords]
    methods: Mapping[str, str]
    alerts: Mapping[str, AlertWords]
    terms: Mapping[str, str]

    def aid(self, name: str, **values: object) -> str:
        """Return the full text of a reading aid with its values filled in."""
        return _filled(self._aid(name).words, name, values)

    def short(self, name: str, **values: object) -> str:
        """Return the short text of a reading aid with its values filled in."""
        return _filled(self._aid(name).short, name, values)

    def measure(self, name: str) -> MeasureWords:
        """Return the description of a measure; a default if the file has none."""
        plain = name.replace("_", " ").capitalize()
        return self.measures.get(name, MeasureWords(title=plain, definition="", formula=""))

    def method(self, name: str) -> str:
        """Return the known facts on a method: by its exact name, or the longest name that it contains."""
        lowered = name.lower()
        fitting = [known for known in self.methods if known in lowered]
        return self.methods[max(fitting, key=len)] if fitting else ""

    def _aid(self, name: str) -> Aid:
        try:
            return self.aids[name]
        except KeyError:
            message = f"expected a reading aid of the words file, got `{name}`; it has {', '.join(self.aids)}"
            raise InputError(message) from None


def _filled(text: str, name: str, values: Mapping[str, object]) -> str:
    try:
        return text.format(**values)
    except KeyError as error:
        message = f"the reading aid `{name}` needs the value {error}; got {', '.join(values) or 'none'}"
        raise InputError(message) from None


@lru_cache(maxsize=4)
def read_words(text: str) -> Words:
    """Return the content of a words file; a text is parsed once per process.

    Raises:
        InputError: If a part of the file is missing.
    """
    parsed = YAML(typ="safe", pure=True).load(text)
    try:
        return Words(
            aids={name: Aid(**entry) for name, entry in parsed["aids"].items()},
            measures={name: MeasureWords(**entry) for name, entry in parsed["measures"].items()},
            methods=dict(parsed["methods"]),
            alerts={kind: AlertWords(**entry) for kind, entry in parsed["alerts"].items()},
            terms=dict(parsed["terms"]),
        )
    except (KeyError, TypeError) as error:
        message = f"expected a words file with `aids`, `measures`, `methods`, `alerts` and `terms`; {error} is amiss"
        raise InputError(message) from error


ARIA_TERMS: Final[tuple[tuple[str, str, str], ...]] = (
    ("evaluation", "study", "Everything to be measured and how."),
    ("evaluation series", "series", "Several studies with a published evaluation plan."),
    ("application", "application", "The system under test."),
    ("scenario, proxy", "scenario", "The situation that testers create: tasks, instructions and risks."),
    ("context-of-use", "context of use", "Users, goals, tasks, resources and environment of an application."),
    ("risk", "risk", "A harm that a study looks for."),
    ("guardrail", "guardrail", "A rule about permitted or prohibited content, and its enforcement."),
    ("test packet", "test packet", "Permitted content, prohibited content and reference of a scenario."),
    ("level of testing", "level", "Model testing, red teaming or field testing."),
    ("dialogue", "dialogue", "A complete conversation between a tester and an application."),
    ("adjacency pair", "turn", "One message of the tester and the application's reply."),
    ("session", "session", "One conversation from its start to its end."),
    ("red teamer, field tester", "tester type", "Who writes the tester's messages."),
    ("user type", "persona", "The description of the person that a simulated user plays."),
    ("model testing script", "script", "Messages that are sent as they are written."),
    ("assessment layer", "assessment", "All steps from a dialogue to its labels."),
    ("annotation schema", "annotation schema", "Categories of guidelines, each with its own annotators."),
    ("assessor", "annotator", "A person, a model or a rule that labels dialogues."),
    (
        "annotator calibration",
        "calibration session",
        "A meeting of annotators about a dialogue, with a second vote.",
    ),
    ("questionnaire", "questionnaire", "Questions that testers answer after a session."),
    ("metric", "measure", "A statistic: a rate, a mean, an agreement."),
    ("inter-annotator agreement", "agreement", "How often annotators give the same answer, corrected for chance."),
    ("measurement tree, CoRIx output", "measurement tree", "Answers at the leaves, one summary at each node above."),
    ("CoRIx", "CoRIx", "The Contextual Robustness Index: a measurement tree with one dimension for each kind of risk."),
    ("contextual robustness", "contextual robustness", "The ability to keep a level of functionality across contexts."),
    ("interpret and contextualize", "contextualization", "The description of the context in which a result holds."),
    ("benchmarking", "benchmark", "Prompts and labels that are fixed and compared across systems."),
)
"""ARIA's term, ours, and its meaning."""
