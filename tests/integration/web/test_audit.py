"""The audit log: entries are added, and neither the program nor a statement to the database changes them."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection, transaction

from tests.fakes.annotated_event import a_link, a_slot, an_invitation
from theodolite.domain.event import Role
from theodolite.web.access import audit
from theodolite.web.models import Account, AuditEntry, HostedStudy, Membership, TimeSlot


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


def test_organisers_see_the_actor_of_each_action(event, client_as):
    audit(Account.objects.get(memberships__role="senior annotator"), "reopened", "item <b>7</b>", hosted=event, n=2)
    page = client_as(Role.ORGANISER).get(f"/s/{event.token}/organise/audit/").content.decode()

    assert all(words in page for words in ("Sami", "reopened", "item &lt;b&gt;7&lt;/b&gt;", "n: 2"))


def test_a_long_log_is_paged(event, client_as):
    for number in range(101):
        audit(None, f"act {number}", hosted=event)
    client = client_as(Role.ORGANISER)
    first, second = (client.get(f"/s/{event.token}/organise/audit/?page={n}").content.decode() for n in (1, 2))

    assert ("act 100" in first, ">act 0</td>" in first, ">act 0</td>" in second) == (True, False, True)


def test_subjects_and_details_show_names_in_place_of_tokens(event, client_as):
    member = event.memberships.get(role="field tester")
    slot = TimeSlot.objects.get(token=a_slot(event))
    subjects = {
        f"membership {member.token}": f"membership {member.account}",
        f"invitation {an_invitation(event)}": "invitation ",
        f"link {a_link(event)}": "link ",
        f"study {event.token}": f"study {event}",
        "slot deleted-one": "slot deleted-one",
    }
    for subject in subjects:
        audit(None, "changed", subject, hosted=event, slot=slot.token)
    page = client_as(Role.ORGANISER).get(f"/s/{event.token}/organise/audit/").content.decode()

    assert all(f">{shown}" in page for shown in subjects.values())
    assert f"slot: {slot}" in page
    for token in (member.token, slot.token, *(subject.split()[1] for subject in list(subjects)[1:3])):
        assert f"{token}</td>" not in page


def test_names_of_another_study_are_not_shown(event, client_as):
    other = HostedStudy.objects.create(name="another", folder="", state=event.state)
    stranger = Account.objects.create_user("stranger@example.org", name="Stranger")
    member = Membership.objects.create(account=stranger, hosted=other, role="field tester")
    audit(None, "changed", f"membership {member.token}", hosted=event)

    assert "Stranger" not in client_as(Role.ORGANISER).get(f"/s/{event.token}/organise/audit/").content.decode()


def test_filters_apply_to_the_page_and_to_the_file(event, client_as):
    sami = Account.objects.get(memberships__role="senior annotator")
    audit(sami, "reopened", "item 7", hosted=event)
    audit(None, "ended sessions", hosted=event, n=3)
    client, page = client_as(Role.ORGANISER), f"/s/{event.token}/organise/audit/"

    def shown(query: str) -> tuple[bool, bool]:
        text = client.get(f"{page}?{query}").content.decode()
        body = text[text.index("<tbody>") :]
        return "reopened" in body, "ended sessions" in body

    assert shown(f"by={sami.token}") == (True, False)
    assert shown("by=server") == (False, True)
    assert shown("verb=reopened") == (True, False)
    assert shown("until=2020-01-01") == (False, False)
    assert shown("since=2020-01-01&until=nonsense") == (True, True)
    file = client.get(f"{page}?by=server&as=csv").content.decode().splitlines()
    assert file[0] == "time (UTC),who,action,subject,details"
    assert [line.split(",")[1:] for line in file[1:]] == [["the server", "ended sessions", "", "n: 3"]]
