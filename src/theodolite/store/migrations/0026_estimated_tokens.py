"""Rename the columns of estimated tokens."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("store", "0025_live_turn_original"),
    ]

    operations = [
        migrations.RenameField("journalentryrow", "supposed_tokens", "estimated_tokens"),
        migrations.RenameField("journalentryrow", "supposed_microusd", "estimated_microusd"),
    ]
