"""Add when organisers shared the reports of a measurement with the teams."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("web", "0018_submission_options"),
    ]

    operations = [
        migrations.AddField(
            model_name="measurement",
            name="shared_at",
            field=models.DateTimeField(null=True),
        ),
    ]
