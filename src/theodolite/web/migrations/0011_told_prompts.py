"""What a class of a team is told may be more than the prompt."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    """Adds the form in which prompts are told."""

    dependencies: ClassVar = [("web", "0010_people_and_times")]

    operations: ClassVar = [
        migrations.AddField(model_name="submission", name="prompt", field=models.TextField(blank=True, default="")),
    ]
