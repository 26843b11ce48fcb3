"""The form in which a class with ARIA's dialogue interface hears a prompt: its one slot is a text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from theodolite.domain.application import ARIA_SLOTS
from theodolite.gateways.templates import text_template

PromptForm: TypeAlias = Callable[[str, int, str], str]
"""From a prompt, the number of its turn and the source material to what `GetResponse` is given."""


def prompt_template(source: str, name: str) -> PromptForm:
    """Return how an application is told a prompt.

    The interface has no place for source material, so a study says where in the
    text it is to stand; without a template the prompt goes through as it is.

    Args:
        source: The template; empty for the prompt alone.
        name: Name of the application in the study.

    Raises:
        InputError: If it is no template, or names what nothing fills.
    """
    if not source:
        return lambda prompt, _turn, _context: prompt
    fill = text_template(source, what=f"`prompt` of application `{name}`", slots=ARIA_SLOTS)
    return lambda prompt, turn, context: fill({"prompt": prompt, "turn": turn, "context": context})
