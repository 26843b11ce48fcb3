"""Name the slot of a session, and the table of allocated slots, by the term of the design."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("store", "0027_release_choice"),
    ]

    operations = [
        migrations.RenameField("sessionrow", "seat", "slot"),
        migrations.RenameModel("SeatRow", "SlotRow"),
    ]
