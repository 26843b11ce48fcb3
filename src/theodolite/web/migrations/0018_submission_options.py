"""Add the keys of a study file that a team sets for its application."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("web", "0017_claim_tests"),
    ]

    operations = [
        migrations.AddField(
            model_name="submission",
            name="options",
            field=models.JSONField(default=dict),
        ),
    ]
