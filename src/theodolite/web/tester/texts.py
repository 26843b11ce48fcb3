"""The texts that testers read and agree to, and the strategies that they note."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from theodolite.domain.dialogue import Level
from theodolite.domain.event import AcknowledgedText
from theodolite.domain.identity import digest
from theodolite.domain.persona import OWN_WAY, Attempt, AttemptOutcome, Strategy
from theodolite.domain.scenario import Scenario, strategy_title
from theodolite.domain.study import Study
from theodolite.domain.wording import CONSENT, WARNING, LocalisedStudy, goal_part, task_part
from theodolite.events.rules import STANDS_STILL, TIME_IS_UP
from theodolite.testing.strategies.catalogue import APPROACHES
from theodolite.web.profiles import topics_in_words
from theodolite.web.safe_text import safe_html

_HINTS = {
    Level.RED_TEAMING: (
        lazy("use everyday language"),
        lazy("change your strategy when stuck"),
        lazy("no real personal data"),
    ),
    Level.FIELD_TESTING: (lazy("use it as you would at home"), lazy("no real personal data")),
}
"""Default instructions for testers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One text as people read it.

    Attributes:
        subject: Which text it is.
        title: Its heading.
        agree: What is ticked under it.
        words: Markdown.
        language: Of the words.
    """

    subject: AcknowledgedText
    title: str
    agree: str
    words: str
    language: str

    @property
    def version(self) -> str:
        """Content hash of its words; 64 hexadecimal digits."""
        return digest(self.words)

    @property
    def short(self) -> str:
        """The beginning of the version, for people."""
        return self.version[:8]

    @property
    def field(self) -> str:
        """Name of its box in the form."""
        return self.subject.name.lower()

    @property
    def html(self) -> SafeString:
        """The words, formatted."""
        return safe_html(self.words)


def texts_of(read: LocalisedStudy) -> tuple[Text, ...]:
    """Return what is to be agreed to before anybody tests; texts that the study does not have are left out."""
    event = read.study.event
    if event is None:
        return ()
    texts = (event.warning.strip(), topics_in_words(read))
    warning = Text(
        subject=AcknowledgedText.CONTENT_WARNING,
        title=gettext("Content warning"),
        agree=gettext("I have read the content warning"),
        words="\n\n".join(filter(None, texts)) if texts[1] else event.warning,
        language=read.language_of(WARNING),
    )
    consent = Text(
        subject=AcknowledgedText.CONSENT,
        title=gettext("Consent"),
        agree=gettext("I agree to take part on these terms"),
        words=event.consent,
        language=read.language_of(CONSENT),
    )
    return tuple(text for text in (warning, consent) if text.words)


def screening_version(study: Study) -> str:
    """Return the content hash of the questions before anything else; empty where none are asked."""
    criteria = study.event.screening if study.event else ()
    return digest("screening", *(f"{question.wanted} {question.text}" for question in criteria)) if criteria else ""


def hints_for(scenario: Scenario, level: Level) -> tuple[str, ...]:
    """Return the hints next to the task if the scenario has no instructions."""
    return () if scenario.instructions.get(level.value) else tuple(map(str, _HINTS[level]))


def task_of(read: LocalisedStudy, scenario: str, level: Level) -> Text:
    """Return the task of a tester of a level in a scenario."""
    localised = read.study.scenario(scenario)
    instructions = localised.instructions.get(level.value, "")
    part = task_part(scenario, level) if instructions else goal_part(scenario)
    text = instructions or localised.goal
    return Text(
        subject=AcknowledgedText.INSTRUCTIONS,
        title=gettext("Your task"),
        agree=gettext("I have read it"),
        words=text or gettext("Write to the application."),
        language=read.language_of(part) if text else get_language() or "en",
    )


def said_left(seconds: float) -> str:
    """Return the time left in a session, in whole minutes that were begun."""
    return gettext("%(n)s min left") % {"n": ceil(seconds / 60)} if seconds else gettext("time is up")


def said_why(why: str, most: int) -> str:
    """Return why nothing can be said, in the language of the page; see `events.chat.refusal_of`."""
    if why == TIME_IS_UP:
        return gettext("Your time is up. End the session to answer the questions.")
    if why == STANDS_STILL:
        return gettext("The session is paused. You can send messages when it resumes.")
    text = gettext("This dialogue has reached its limit of %(most)s turns. Start a new one, or end the session.")
    return text % {"most": most} if why else ""


_WAYS = {
    OWN_WAY: lazy("my own strategy"),
    "rephrase": lazy("the same request in a different context"),
    "role_play": lazy("the request as part of a story"),
    "many_shot": lazy("many answered questions first"),
    "escalation": lazy("from a harmless question to the real one"),
    "encoding": lazy("in another language, with shifted letters, or backwards"),
    "persuasion": lazy("reasons for an exception"),
    "injection": lazy("a note in a document that the application reads"),
    "paraphrase": lazy("the request in other words"),
    "translation": lazy("the request translated into other languages"),
    "adaptive": lazy("adapts to each reply and steps back after a refusal"),
}
"""Titles of the shipped strategies once more, for the languages of the pages."""


_OUTCOMES = {
    AttemptOutcome.RELEASED: lazy("released"),
    AttemptOutcome.WITHHELD: lazy("withheld"),
    AttemptOutcome.UNCLEAR: lazy("unclear"),
}
"""Outcomes of attempts as labels."""


LONGEST = 300
"""Letters of a note at most; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyNote:
    """One attempt as the tester noted it.

    Attributes:
        label: Number of the strategy in the dialogue and, from its second attempt on, of the attempt: `2`, `2.3`.
        way: How the strategy is called.
        words: What was tried.
        outcome: What it brought, in the tester's eyes.
        turn: Turn number; None where it is not known.
        refines: Label of the attempt that it builds on; empty for a fresh start.
    """

    label: str
    way: str
    words: str
    outcome: str
    turn: int | None
    refines: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a form could not be taken."""

    why: str


def notes_on(study: Study, strategies: Sequence[Strategy]) -> list[StrategyNote]:
    """Return the attempts of a dialogue, strategy by strategy."""
    return [
        StrategyNote(
            label=_label(index, number),
            way=way_title(study, strategy.name),
            words=attempt.description,
            outcome=outcome_word(attempt.outcome),
            turn=attempt.turn,
            refines=_label(index, attempt.refines) if attempt.refines else "",
        )
        for index, strategy in enumerate(strategies, start=1)
        for number, attempt in enumerate(strategy.attempts, start=1)
    ]


def with_note(
    strategies: Sequence[Strategy], form: Mapping[str, str], *, dialogue: str, n_turns: int
) -> tuple[Strategy, ...] | Unreadable:
    """Return the strategies of a dialogue with one more attempt, as a form says.

    An attempt that builds on another belongs to the same strategy, whatever way is
    chosen in the form.

    Args:
        strategies: What was noted before.
        form: The fields `words`, `strategy`, `outcome`, `turn` and `refines`.
        dialogue: Key of the dialogue.
        n_turns: Turns that it has; count.
    """
    text = " ".join(form.get("words", "").split())
    if not text or len(text) > LONGEST:
        return Unreadable(_("Describe your attempt in at most %(most)s characters.") % {"most": LONGEST})
    if form.get("outcome") not in {outcome.value for outcome in AttemptOutcome}:
        return Unreadable(_("Select the result."))
    number = form.get("turn", "")
    turn = int(number) if number.isdecimal() and 1 <= int(number) <= n_turns else None
    attempt = Attempt(description=text, outcome=AttemptOutcome(form["outcome"]), turn=turn)
    earlier = _find(strategies, form.get("refines", ""))
    if earlier is not None:
        index, refined = earlier
        return _added(strategies, index, replace(attempt, refines=refined))
    name = form.get("strategy") or OWN_WAY
    for index, strategy in enumerate(strategies):
        if strategy.name == name:
            return _added(strategies, index, attempt)
    return (*strategies, Strategy(name=name, dialogue=dialogue, attempts=(attempt,)))


def ways_of(study: Study) -> list[tuple[str, str]]:
    """Return names and titles of ways to attack, those that simulated red teamers use in the study included."""
    used = [name for scenario in study.scenarios for name in scenario.attacks]
    return [(name, way_title(study, name)) for name in dict.fromkeys((OWN_WAY, *APPROACHES, *used))]


def way_title(study: Study, name: str) -> str:
    """Return what a way to attack is, in the language of the page."""
    return str(_WAYS[name]) if name in _WAYS else strategy_title(study.scenarios, name)


def outcome_word(outcome: AttemptOutcome) -> str:
    """Return what an attempt brought, in the language of the page."""
    return str(_OUTCOMES[outcome])


def _label(index: int, number: int) -> str:
    return str(index) if number == 1 else f"{index}.{number}"


def _find(strategies: Sequence[Strategy], label: str) -> tuple[int, int] | None:
    """Return the index of the strategy, from 0, and number of the attempt, from 1, that a label names."""
    for index, strategy in enumerate(strategies):
        for number in range(1, len(strategy.attempts) + 1):
            if label == _label(index + 1, number):
                return index, number
    return None


def _added(strategies: Sequence[Strategy], index: int, attempt: Attempt) -> tuple[Strategy, ...]:
    grown = replace(strategies[index], attempts=(*strategies[index].attempts, attempt))
    return (*strategies[:index], grown, *strategies[index + 1 :])
