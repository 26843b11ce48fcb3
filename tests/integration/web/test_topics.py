"""Content opt-outs: explained before the start, respected by allocation and queue, counted without names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.integration.web.editing import change, published
from theodolite.annotation.queues import add_dialogues, open_queue
from theodolite.demo.people import design_of
from theodolite.domain.dialogue import Level
from theodolite.domain.event import Role
from theodolite.events.chat import send_prompt
from theodolite.store.models import DialogueRow
from theodolite.testing.assigning import allocation_design
from theodolite.testing.availability import n_avoided
from theodolite.web.annotator.home import records
from theodolite.web.events import event_of, server_store
from theodolite.web.models import Account, Membership

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


@pytest.fixture
def sensitive(own):
    """The event with a second scenario, which touches a topic."""
    change(own, "pack: aria/tv-spoilers", "pack: [aria/tv-spoilers, aria/meal-planner]")
    published(own)
    return own


def step(client, event, **sent):
    """Submit the tester's current form with all boxes ticked; return the address of the next page."""
    page = client.get(f"/s/{event.token}/test/", follow=True)
    text = page.content.decode()
    boxes = dict(re.findall(r'type="checkbox" name="(consent|content_warning)" value="(\w+)"', text))
    version = dict(re.findall(r'type="hidden" name="(version)" value="(\w+)"', text))
    client.post(page.request["PATH_INFO"], {**boxes, **version, "skip": "yes", **sent})
    return on(client, event)


def on(client, event):
    answer = client.get(f"/s/{event.token}/test/", follow=True)
    return answer.request["PATH_INFO"].partition("/test/")[2], answer.content.decode()


def ravi(event) -> str:
    return event.memberships.get(role=Role.RED_TEAMER.value).participant


def test_a_tester_opts_out_of_an_explained_topic_and_gets_no_session_with_it(sensitive, client_as):
    tester = client_as(Role.RED_TEAMER)
    told = on(tester, sensitive)
    asked = step(tester, sensitive)
    step(tester, sensitive, topic="eating")
    where, task = step(tester, sensitive)

    assert told[0] == "consent/"
    assert "(moderate)" in told[1]
    assert asked[0] == "topics/"
    assert "in 1 of 2 scenarios" in asked[1]
    assert where == "1/instructions/"
    assert "Session 1 of" in task
    assert {one.scenario for one in server_store().events.sessions.of_participant(ravi(sensitive))} == {"tv-spoilers"}


def test_a_tester_in_a_session_can_opt_out_after_a_change_of_the_consent(sensitive, client_as):
    tester = client_as(Role.RED_TEAMER)
    for _ in range(4):  # consent, topics, oneself, the task
        where, _ = step(tester, sensitive)
    change(sensitive, "consent: consent.md", "consent: consent.de.md")
    published(sensitive)
    page = tester.get(f"/s/{sensitive.token}/test/topics/")

    assert (where, page.status_code) == ("1/", 200)


def test_opting_out_during_a_session_on_the_topic_ends_it(sensitive, client_as):
    tester, context = client_as(Role.RED_TEAMER), event_of(sensitive)
    design = allocation_design(context.study, context.study.levels[0])
    grim = next(number for number in range(4) if n_avoided(design, number, "", {"meal-planner"}))
    context.sessions.allocate(context.study.name, ravi(sensitive), Level.RED_TEAMING, choose=lambda _: grim)
    for _ in range(4):  # consent, topics, oneself, the task
        where, chat = step(tester, sensitive)
    (session,) = context.sessions.of_participant(ravi(sensitive))
    send_prompt(context, session.key, "What may I eat?")
    answer = tester.post(f"/s/{sensitive.token}/test/topics/", {"topic": "eating"}, follow=True).content.decode()

    assert where == "1/"
    assert 'Topics: <span lang="en">eating</span>' in chat
    assert "has ended" in answer
    assert context.sessions.get(session.key).state.value == "interrupted"
    assert on(tester, sensitive)[0] == "guess/"


def test_topics_are_shown_in_the_language_with_a_complete_warning(sensitive, client_as):
    file = Path(sensitive.folder) / "translations" / "de.yaml"
    words = "topics: {eating: {title: Essen, about: Was Menschen essen.}}\nwarning: warning.de.md\n"
    file.write_text(file.read_text("utf-8") + words, encoding="utf-8")
    (Path(sensitive.folder) / "warning.de.md").write_text("Es geht um Essen.", encoding="utf-8")
    published(sensitive)
    german, tester = {"Accept-Language": "de"}, client_as(Role.RED_TEAMER)
    told = tester.get(f"/s/{sensitive.token}/test/consent/", headers=german).content.decode()
    step(tester, sensitive)
    asked = tester.get(f"/s/{sensitive.token}/test/topics/", headers=german).content.decode()

    assert "<strong>Essen</strong> (mittel): Was Menschen essen." in told
    assert '<strong lang="de">Essen</strong>' in asked
    assert 'name="topic" value="eating"' in asked


def test_operations_count_opt_outs_without_names(sensitive, client_as):
    server_store().events.participants.set_avoided_topics(event_of(sensitive).study.name, ravi(sensitive), ["eating"])
    page = client_as(Role.ORGANISER).get(f"/s/{sensitive.token}/organise/operations/").content.decode()
    section = page[page.index('id="topics"') :]

    assert "Eating" in section
    assert "1 of 1" in section
    assert "Ravi" not in section


def test_a_tester_without_an_allocation_after_opting_out_can_change_the_choice(sensitive, client_as):
    tester, study = client_as(Role.RED_TEAMER), event_of(sensitive).study
    plan = next(one for one in study.levels if one.level is Level.RED_TEAMING)
    design = allocation_design(study, plan)
    step(tester, sensitive)
    for number in range(plan.people):
        if n_avoided(design, number, "", {"meal-planner"}) < design.sessions:
            server_store().events.sessions.allocate(
                study.name, f"other {number}", plan.level, choose=lambda _, at=number: at
            )
    step(tester, sensitive, topic="eating")
    where, words = step(tester, sensitive)

    assert where == "no-scenario/"
    assert "do not have to change your choice" in words
    tester.post(f"/s/{sensitive.token}/test/topics/", {})
    assert on(tester, sensitive)[0] == "1/instructions/"


def test_an_annotator_opts_out_first_and_gets_no_dialogue_with_the_topic(sensitive, client_as):
    study = event_of(sensitive).study
    account = Account.objects.get(memberships__role=Role.ANNOTATOR.value)
    held = Membership.objects.get(account=account, hosted=sensitive)
    queue = open_queue(records(), sensitive.token, study, design_of(study), by="server")
    DialogueRow.objects.update(scenario="meal-planner")
    add_dialogues(records(), queue, list(DialogueRow.objects.values_list("unit__key", flat=True)))
    annotator, base = client_as(Role.ANNOTATOR), f"/s/{sensitive.token}/annotate/"

    assert annotator.post(f"{base}next/").headers["Location"].endswith("/topics/")
    annotator.post(f"{base}topics/", {"topic": "eating"})
    page = annotator.get(base).content.decode()
    assert 'Your content opt-outs: <span lang="en">eating</span>' in page
    assert server_store().events.participants.avoided_topics(study.name, held.participant) == {"eating"}
    assert annotator.post(f"{base}next/").headers["Location"] == base
