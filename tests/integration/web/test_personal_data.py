"""Testers see their personal data; organisers export them on request."""

from __future__ import annotations

import json

import pytest

from tests.fakes.event import exchange
from theodolite.domain.dialogue import Level
from theodolite.domain.event import PersonProfile, Role
from theodolite.domain.persona import Attempt, AttemptOutcome, Strategy
from theodolite.events.sessions import prepare_session, start_session
from theodolite.web.events import event_of
from theodolite.web.models import AuditEntry, Membership

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


@pytest.fixture
def ravi(event) -> Membership:
    """The red teamer with a profile and a session of one turn."""
    member, context = Membership.objects.get(hosted=event, role=Role.RED_TEAMER.value), event_of(event)
    context.participants.add_profile(member.participant, PersonProfile(expertise="sailor"), now=context.clock.now())
    session = prepare_session(context, member.participant, Level.RED_TEAMING, 0)
    start_session(context, session.key)
    exchange(context, session, "Who is <b>in</b> it?", "<script>x</script> **nobody**")
    dialogue = context.dialogues.of_session(session.key)[0].key
    tried = Attempt(description="as a nurse", outcome=AttemptOutcome.WITHHELD, turn=1)
    context.dialogues.set_strategies(dialogue, [Strategy(name="role_play", dialogue=dialogue, attempts=(tried,))])
    return member


def test_a_tester_sees_all_personal_data_and_nothing_that_unblinds(event, ravi, client_as):
    tester = client_as(Role.RED_TEAMER)
    page = tester.get(f"/s/{event.token}/test/my-data/").content.decode()
    file = json.loads(tester.get(f"/s/{event.token}/test/my-data/file/").content)

    assert ("sailor" in page, "Who is &lt;b&gt;in&lt;/b&gt; it?" in page, "<strong>nobody</strong>" in page) == (
        True,
    ) * 3
    assert "<script>x" not in page
    assert "the request as part of a story: as a nurse (withheld)" in page
    assert file["sessions"][0]["dialogues"][0]["turns"][0]["you"] == "Who is <b>in</b> it?"
    assert not any(name in page + json.dumps(file) for name in ("careful-toy", "leaky-toy", ravi.participant))


def test_personal_data_are_visible_only_to_their_person(event, ravi, client_as):
    file = json.loads(client_as(Role.FIELD_TESTER).get(f"/s/{event.token}/test/my-data/file/").content)

    assert (file["sessions"], file["about_you"]) == ([], {})


def test_organisers_can_export_personal_data_and_the_export_is_logged(event, ravi, client_as):
    page = f"/s/{event.token}/organise/people/member/{ravi.token}/"
    file = client_as(Role.ORGANISER).get(f"{page}data/")
    ravi.withdrew = True
    ravi.save()

    assert json.loads(file.content)["about_you"]["expertise"] == "sailor"
    assert AuditEntry.objects.filter(verb="exported a person's data").count() == 1
    assert client_as(Role.ORGANISER).get(f"{page}data/").status_code == 404
    assert b"/data/" not in client_as(Role.ORGANISER).get(page).content
