"""Let participants choose whether their dialogues may be released."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("store", "0026_estimated_tokens"),
    ]

    operations = [
        migrations.RemoveConstraint("acknowledgementrow", "acknowledged_text"),
        migrations.AddConstraint(
            "acknowledgementrow",
            models.CheckConstraint(
                name="acknowledged_text",
                condition=models.Q(
                    subject__in=["consent", "content warning", "instructions", "topics", "release"],
                ),
            ),
        ),
    ]
