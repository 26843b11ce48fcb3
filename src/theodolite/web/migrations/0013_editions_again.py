from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    """Allow publishing an earlier version again."""

    dependencies = [("web", "0012_guess_counts")]

    operations = [migrations.RemoveConstraint(model_name="edition", name="web_edition_version")]
