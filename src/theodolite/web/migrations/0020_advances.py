"""Add the setting by which a single choice leads to the next question."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("web", "0019_shared_measurements"),
    ]

    operations = [
        migrations.AddField(
            model_name="comfort",
            name="advances",
            field=models.BooleanField(default=True),
        ),
    ]
