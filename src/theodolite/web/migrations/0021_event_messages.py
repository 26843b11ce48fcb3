"""Add questions of testers, their answers, and messages to all testers."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("web", "0020_advances"),
    ]

    operations = [
        migrations.CreateModel(
            name="EventMessage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("author", models.CharField(blank=True, max_length=32)),
                ("location", models.CharField(blank=True, max_length=80)),
                ("text", models.TextField()),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "hosted",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="event_messages", to="web.hostedstudy"
                    ),
                ),
                (
                    "membership",
                    models.ForeignKey(
                        null=True, on_delete=models.CASCADE, related_name="event_messages", to="web.membership"
                    ),
                ),
            ],
            options={"db_table": "web_event_message", "ordering": ["id"]},
        ),
    ]
