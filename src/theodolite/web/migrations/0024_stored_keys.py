"""Add keys that organisers store."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import theodolite.web.models.account


class Migration(migrations.Migration):
    dependencies = [
        ("web", "0023_webhooks"),
    ]

    operations = [
        migrations.CreateModel(
            name="StoredKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "token",
                    models.CharField(default=theodolite.web.models.account.new_token, max_length=32, unique=True),
                ),
                ("variable", models.CharField(max_length=60)),
                ("receiver", models.CharField(max_length=255)),
                ("sealed", models.BinaryField()),
                ("made_at", models.DateTimeField(auto_now=True)),
                (
                    "hosted",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="stored_keys", to="web.hostedstudy"
                    ),
                ),
                (
                    "made_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={"db_table": "web_stored_key", "ordering": ["variable"]},
        ),
        migrations.AddConstraint(
            model_name="storedkey",
            constraint=models.UniqueConstraint(fields=("hosted", "variable"), name="web_stored_key_once"),
        ),
    ]
