"""Adds the template of prompts for a team's class."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    """Adds the format of prompts."""

    dependencies: ClassVar = [("web", "0010_people_and_times")]

    operations: ClassVar = [
        migrations.AddField(model_name="submission", name="prompt", field=models.TextField(blank=True, default="")),
    ]
