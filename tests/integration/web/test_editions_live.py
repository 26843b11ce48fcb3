"""A new release during a session: the session keeps its release until it ends."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from asgiref.sync import sync_to_async
from django.test import override_settings

from tests.integration.web.editing import change, published
from theodolite.domain.dialogue import Level
from theodolite.domain.event import Role
from theodolite.events.chat import send_prompt
from theodolite.events.sessions import prepare_session, start_session
from theodolite.web.events import event_of, open_event_of, seal, server_store
from theodolite.web.models import HostedStudy, Membership, Submission
from theodolite.web.session_end import reply_manager

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

KEY = "quiet harbour under a slow moon"


@pytest.fixture
def fresh_manager(monkeypatch):
    reply_manager.cache_clear()
    yield reply_manager()
    reply_manager.cache_clear()


def a_tester(hosted: HostedStudy, role: Role = Role.RED_TEAMER) -> str:
    return Membership.objects.get(hosted=hosted, role=role.value).participant


def begun(hosted: HostedStudy, role: Role, level: Level):
    context = event_of(hosted)
    return start_session(context, prepare_session(context, a_tester(hosted, role), level, 0).key)


def test_a_session_keeps_its_release_and_the_next_person_gets_the_new_one(own):
    published(own)
    session = begun(own, Role.RED_TEAMER, Level.RED_TEAMING)
    change(own, "minutes: 30", "minutes: 45")
    published(own)
    later = begun(own, Role.FIELD_TESTER, Level.FIELD_TESTING)

    assert session.study_version != later.study_version
    assert [level.minutes for level in event_of(own, session.study_version).study.levels] == [30, 20]
    assert [level.minutes for level in event_of(own).study.levels] == [45, 20]
    assert event_of(own, session.study_version).run.key == session.run
    assert event_of(own, "0" * 64) is event_of(own)


def test_the_page_of_a_session_shows_its_own_release(own, client_as):
    published(own)
    tester = client_as(Role.RED_TEAMER)
    for _ in range(4):
        page = tester.get(f"/s/{own.token}/test/", follow=True)
        boxes = dict(re.findall(r'type="checkbox" name="(\w+)" value="(\w+)"', page.content.decode()))
        version = dict(re.findall(r'type="hidden" name="(version)" value="(\w+)"', page.content.decode()))
        tester.post(page.request["PATH_INFO"], {**boxes, **version, "skip": "yes"})
    change(own, "minutes: 30", "minutes: 45")
    published(own)

    assert "30 min left" in tester.get(f"/s/{own.token}/test/1/").content.decode()


def test_applications_of_each_release_have_separate_clients(own, client_as, fresh_manager):
    published(own)
    first = begun(own, Role.RED_TEAMER, Level.RED_TEAMING)
    change(own, '"tellers.py:careful"', '"other.py:reply"')
    change(own, '"tellers.py:leaky"', '"other.py:reply"')
    (Path(own.folder) / "other.py").write_text("def reply(prompt):\n    return 'Quite another voice.'\n")
    published(own)
    second = begun(own, Role.FIELD_TESTER, Level.FIELD_TESTING)

    async def asked(session) -> str:
        context = await sync_to_async(event_of)(own, session.study_version)
        turn, request = await sync_to_async(send_prompt)(context, session.key, "Who is in it?")
        opened = await sync_to_async(open_event_of)(own, session.study_version)
        (dialogue,) = await sync_to_async(context.dialogues.of_session)(session.key)
        await fresh_manager.ask(opened, context, session, dialogue, turn, request)
        live = fresh_manager.find(turn.key)
        if live is not None:
            await live.over()
        return (await sync_to_async(context.dialogues.of_session)(session.key))[0].turns[0].response

    async def both() -> list[str]:
        async with fresh_manager.open():
            return [await asked(first), await asked(second)]

    replies = asyncio.run(both())

    assert "Quite another voice" not in replies[0]
    assert replies[1] == "Quite another voice."


def test_credentials_of_teams_reach_the_clients_and_no_output(own):
    with override_settings(OPERATOR_KEY=KEY):
        team = Membership.objects.get(hosted=own, role=Role.TEAM.value)
        kept = Submission.objects.create(
            hosted=own, team=team, name="harbour", way="endpoint", url="https://bot.example/chat", state="accepted",
            agreed_by="Tove", sealed=seal("tok-91c4-very-secret"),
        )  # fmt: skip
        published(own)
        opened = open_event_of(own)

    assert opened.connect.keywords["environ"][kept.key_variable] == "tok-91c4-very-secret"
    assert list(server_store().sealed_credentials(own.name)) == [kept.token]
    assert "tok-91c4" not in repr(opened)
