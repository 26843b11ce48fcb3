"""Add the permission by which analysts start judges."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("web", "0024_stored_keys"),
    ]

    operations = [
        migrations.AddField(
            model_name="hostedstudy",
            name="analysts_run_judges",
            field=models.BooleanField(default=False),
        ),
    ]
