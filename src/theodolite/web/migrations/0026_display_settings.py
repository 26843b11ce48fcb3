"""Name the table of display settings for what it stores."""

from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """Rename the model, its table and its constraints."""

    dependencies = [
        ("web", "0025_analysts_run_judges"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="comfort", name="web_comfort_size"),
        migrations.RemoveConstraint(model_name="comfort", name="web_comfort_colours"),
        migrations.RenameModel(old_name="Comfort", new_name="DisplaySettings"),
        migrations.AlterModelTable(name="displaysettings", table="web_display_settings"),
        migrations.AlterField(
            model_name="displaysettings",
            name="account",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                primary_key=True,
                related_name="display_settings",
                serialize=False,
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddConstraint(
            model_name="displaysettings",
            constraint=models.CheckConstraint(
                condition=models.Q(("text_size__range", (1, 3))), name="web_display_settings_size"
            ),
        ),
        migrations.AddConstraint(
            model_name="displaysettings",
            constraint=models.CheckConstraint(
                condition=models.Q(("colours__in", ["", "contrast", "contrast-dark"])),
                name="web_display_settings_colours",
            ),
        ),
    ]
