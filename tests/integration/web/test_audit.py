"""The audit log: entries are added, and neither the program nor a statement to the database changes them."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection, transaction

from theodolite.domain.event import Role
from theodolite.web.access import audit
from theodolite.web.models import Account, AuditEntry


@pytest.mark.parametrize("statement", ["UPDATE web_audit_entry SET verb = 'x'", "DELETE FROM web_audit_entry"])
def test_the_database_refuses_to_change_entries(event, statement):
    audit(None, "opened", hosted=event)

    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert AuditEntry.objects.filter(verb="opened").count() == 1


def test_the_program_refuses_too(event):
    entry = audit(None, "opened", hosted=event)

    with pytest.raises(TypeError, match="never changed"):
        entry.save()
    with pytest.raises(TypeError, match="never deleted"):
        entry.delete()


def test_organisers_read_who_did_what(event, client_as):
    audit(Account.objects.get(memberships__role="senior annotator"), "reopened", "item <b>7</b>", hosted=event, n=2)
    page = client_as(Role.ORGANISER).get(f"/s/{event.token}/organise/audit/").content.decode()

    assert all(words in page for words in ("Sami", "reopened", "item &lt;b&gt;7&lt;/b&gt;", "n: 2"))


def test_a_long_log_comes_in_pages(event, client_as):
    for number in range(101):
        audit(None, f"act {number}", hosted=event)
    client = client_as(Role.ORGANISER)
    first, second = (client.get(f"/s/{event.token}/organise/audit/?page={n}").content.decode() for n in (1, 2))

    assert ("act 100" in first, "<td>act 0</td>" in first, "<td>act 0</td>" in second) == (True, False, True)
