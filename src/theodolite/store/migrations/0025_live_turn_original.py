"""Add the HTML that an application gave to the turns of people."""

from django.db import migrations

import theodolite.store.fields


class Migration(migrations.Migration):
    dependencies = [
        ("store", "0024_reply_original"),
    ]

    operations = [
        migrations.AddField(
            model_name="liveturnrow",
            name="original",
            field=theodolite.store.fields.StorableTextField(default=""),
        ),
    ]
