"""Texts that people agree to, and what they are told to do, each with its version."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString

from theodolite.domain.consent import AcknowledgedText
from theodolite.domain.dialogue import Level
from theodolite.domain.identity import digest
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Study
from theodolite.web.safe_text import safe_html

_HINTS = {
    Level.RED_TEAMING: ("everyday words are fine", "change tack when stuck", "no real personal data"),
    Level.FIELD_TESTING: ("use it as you would at home", "no real personal data"),
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
    """

    subject: AcknowledgedText
    title: str
    agree: str
    words: str

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


def texts_of(study: Study) -> tuple[Text, ...]:
    """Return what is to be agreed to before anybody tests; texts that the study does not have are left out."""
    if study.event is None:
        return ()
    warning = Text(
        subject=AcknowledgedText.CONTENT_WARNING,
        title="What you may meet",
        agree="I have read what I may meet",
        words=study.event.warning,
    )
    consent = Text(
        subject=AcknowledgedText.CONSENT,
        title="Consent",
        agree="I agree to take part on these terms",
        words=study.event.consent,
    )
    return tuple(text for text in (warning, consent) if text.words)


def screening_version(study: Study) -> str:
    """Return the content hash of the questions before anything else; empty where none are asked."""
    asked = study.event.screening if study.event else ()
    return digest("screening", *(f"{one.wanted} {one.text}" for one in asked)) if asked else ""


def hints_for(scenario: Scenario, level: Level) -> tuple[str, ...]:
    """Return what testers are told beside the task, where the scenario has no instructions of its own."""
    return () if scenario.instructions.get(level.value) else _HINTS[level]


def task_of(scenario: Scenario, level: Level) -> Text:
    """Return what a tester of a level is told to do in a scenario."""
    words = scenario.instructions.get(level.value) or scenario.goal or "Talk to the application."
    return Text(subject=AcknowledgedText.INSTRUCTIONS, title="Your task", agree="I have read it", words=words)
