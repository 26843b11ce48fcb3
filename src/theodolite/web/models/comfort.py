"""How a person likes to have the pages."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

SIZES = ((1, _("as the browser has it")), (2, _("larger")), (3, _("largest")))
"""Sizes of text, and what people are told that they are."""

COLOURS = (
    ("", _("as the machine has them")),
    ("contrast", _("black on white")),
    ("contrast-dark", _("white on black")),
)
"""Colours of the pages, and what people are told that they are."""


class Comfort(models.Model):
    """What one person has chosen; who has chosen nothing has no row.

    Attributes:
        keys: Whether single letters act as keys.
        enter_sends: Whether Enter sends a message and Shift+Enter breaks its line, or the reverse.
        streams: Whether replies appear piece by piece, or only when they are whole.
        text_size: One of `SIZES`.
        colours: One of `COLOURS`; those of strong contrast are for people who see little.
        language: Tag of the language of pages and study texts; empty for what the browser asks for.
    """

    account = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="comfort", primary_key=True)
    keys = models.BooleanField(default=True)
    enter_sends = models.BooleanField(default=True)
    streams = models.BooleanField(default=True)
    text_size = models.PositiveSmallIntegerField(
        default=1, choices=SIZES, validators=[MinValueValidator(1), MaxValueValidator(3)]
    )
    colours = models.CharField(max_length=16, default="", blank=True, choices=COLOURS)
    language = models.CharField(max_length=35, default="", blank=True)

    class Meta:
        """Table."""

        db_table = "web_comfort"
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(text_size__range=(1, 3)), name="web_comfort_size"),
            models.CheckConstraint(
                condition=models.Q(colours__in=[name for name, _ in COLOURS]), name="web_comfort_colours"
            ),
        ]

    def __str__(self) -> str:
        """Return what was chosen, in a line."""
        return f"keys {self.keys}, Enter sends {self.enter_sends}, streams {self.streams}, size {self.text_size}"
