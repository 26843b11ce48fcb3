"""Make the database itself reject changes and deletions of audit log entries.

SQLite drops triggers with a recreated table: a later change of `web_audit_entry` must create them again.
"""

from typing import Any

from django.db import migrations

REFUSED = 'entries of the audit log are never changed and never removed'

SQLITE = [
    f"CREATE TRIGGER web_audit_entry_no_{what} BEFORE {what} ON web_audit_entry BEGIN SELECT RAISE(ABORT, '{REFUSED}'); END"
    for what in ('UPDATE', 'DELETE')
]

POSTGRESQL = [
    "CREATE FUNCTION web_audit_entry_kept() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN RAISE EXCEPTION '{REFUSED}'; END $$",
    'CREATE TRIGGER web_audit_entry_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON web_audit_entry '
    'FOR EACH STATEMENT EXECUTE FUNCTION web_audit_entry_kept()',
]


def keep(_apps: Any, schema_editor: Any) -> None:
    for statement in POSTGRESQL if schema_editor.connection.vendor == 'postgresql' else SQLITE:
        schema_editor.execute(statement)


class Migration(migrations.Migration):

    dependencies = [
        ('web', '0003_ways_in'),
    ]

    operations = [
        migrations.RunPython(keep),
    ]
