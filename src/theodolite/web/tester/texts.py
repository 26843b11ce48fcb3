"""Texts that people agree to, and what they are told to do, each with its version."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as lazy

from theodolite.domain.dialogue import Level
from theodolite.domain.identity import digest
from theodolite.domain.people.consent import AcknowledgedText
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Study
from theodolite.domain.wording import CONSENT, WARNING, LocalisedStudy, goal_part, task_part
from theodolite.events.rules import STANDS_STILL, TIME_IS_UP
from theodolite.web.profiles import topics_in_words
from theodolite.web.safe_text import safe_html

_HINTS = {
    Level.RED_TEAMING: (lazy("everyday words are fine"), lazy("change tack when stuck"), lazy("no real personal data")),
    Level.FIELD_TESTING: (lazy("use it as you would at home"), lazy("no real personal data")),
}
"""What testers are told where nobody wrote them instructions."""


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
    told = (event.warning.strip(), topics_in_words(read))
    warning = Text(
        subject=AcknowledgedText.CONTENT_WARNING,
        title=gettext("What you may meet"),
        agree=gettext("I have read what I may meet"),
        words="\n\n".join(filter(None, told)) if told[1] else event.warning,
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
    asked = study.event.screening if study.event else ()
    return digest("screening", *(f"{one.wanted} {one.text}" for one in asked)) if asked else ""


def hints_for(scenario: Scenario, level: Level) -> tuple[str, ...]:
    """Return what testers are told beside the task, where the scenario has no instructions of its own."""
    return () if scenario.instructions.get(level.value) else tuple(map(str, _HINTS[level]))


def task_of(read: LocalisedStudy, scenario: str, level: Level) -> Text:
    """Return what a tester of a level is told to do in a scenario."""
    told = read.study.scenario(scenario)
    instructions = told.instructions.get(level.value, "")
    part = task_part(scenario, level) if instructions else goal_part(scenario)
    words = instructions or told.goal
    return Text(
        subject=AcknowledgedText.INSTRUCTIONS,
        title=gettext("Your task"),
        agree=gettext("I have read it"),
        words=words or gettext("Talk to the application."),
        language=read.language_of(part) if words else get_language() or "en",
    )


def said_left(seconds: float) -> str:
    """Return the time left in a session, in whole minutes that were begun."""
    return gettext("%(n)s min left") % {"n": ceil(seconds / 60)} if seconds else gettext("time is up")


def said_why(why: str, most: int) -> str:
    """Return why nothing can be said, in the language of the page; see `events.chat.refusal_of`."""
    if why == TIME_IS_UP:
        return gettext("Your time is up. End the session to answer the questions.")
    if why == STANDS_STILL:
        return gettext("The session stands still. Say it when it goes on.")
    words = gettext("This dialogue has its %(most)s turns. Begin a new one, or end the session.")
    return words % {"most": most} if why else ""
