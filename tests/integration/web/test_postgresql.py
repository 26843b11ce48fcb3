"""The tables of the web side on PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import DatabaseError, connection, transaction

from theodolite.bootstrap.database import configure_django, database_settings
from theodolite.bootstrap.migration import migrate
from theodolite.demo.studies import lay_out_event
from theodolite.domain.errors import WrongSchema
from theodolite.domain.event import Role
from theodolite.web.accounts.invitations import accept, invite
from theodolite.web.events import host_study
from theodolite.web.models import Account, AuditEntry

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


@pytest.fixture
def organiser(postgres_server, tmp_path):
    lay_out_event(tmp_path)
    database = database_settings(tmp_path, postgres_server.create())
    migrate(tmp_path, database, whole=True)
    configure_django(database)
    yield Account.objects.create_user("olga@example.org", "a long walk by the sea")
    connection.close()
    configure_django(database_settings(Path("/nonexistent")))


@pytest.mark.parametrize("statement", ["UPDATE web_audit_entry SET verb = 'x'", "TRUNCATE web_audit_entry"])
def test_people_sign_in_and_the_audit_log_is_stored_on_postgresql(organiser, tmp_path, statement):
    hosted = host_study(str(tmp_path), organiser)
    held = accept(invite(organiser, hosted, Role.SENIOR), Account.objects.create_user())

    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert held.role == "senior annotator"
    assert set(AuditEntry.objects.values_list("verb", flat=True)) >= {"added study to server", "invited", "joined"}


def test_tables_of_the_web_side_between_two_kept_migrations_are_refused(organiser, tmp_path):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'web' AND name LIKE '0026%'")
        cursor.execute("UPDATE django_migrations SET name = '0017_early' WHERE app = 'web' AND name LIKE '0025%'")

    with pytest.raises(WrongSchema, match=r"unreleased version.*0017_early.*0016_languages.*0025_.*another folder"):
        migrate(tmp_path, connection.settings_dict, whole=True)
