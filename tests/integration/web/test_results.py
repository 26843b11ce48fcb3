"""Results on the server: measured on request, shown in a sandbox, deleted by a withdrawal."""

from __future__ import annotations

import json

import pytest
from django.conf import settings
from django.urls import reverse

from tests.browser_pages import assert_accessible, load_by_click
from theodolite.demo.studies import lay_out_event
from theodolite.domain.dialogue import Level, TurnState
from theodolite.domain.event import Role
from theodolite.domain.live import LiveEnding
from theodolite.events.chat import finish_turn, send_prompt
from theodolite.events.sessions import end_session, prepare_session, start_session
from theodolite.web.events import event_of, host_study
from theodolite.web.models import AuditEntry, HostedStudy, Measurement, Membership
from theodolite.web.organiser.results import CUT_OFF, _strike_unfinished

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


@pytest.fixture
def at(event):
    return f"/s/{event.token}/organise/results/"


def hold_dialogue(event: HostedStudy, words: str = "May I hear the end?") -> str:
    """Complete one dialogue of the red teamer; return the tester."""
    context = event_of(event)
    who = Membership.objects.get(hosted=event, role=Role.RED_TEAMER.value).participant
    session = start_session(context, prepare_session(context, who, Level.RED_TEAMING, 0).key)
    finish_turn(
        context,
        send_prompt(context, session.key, words)[0].key,
        LiveEnding(state=TurnState.COMPLETE, text="Not from me."),
    )
    end_session(context, session.key)
    return who


def test_an_event_without_data_is_reported(event, client_as, tmp_path):
    lay_out_event(tmp_path / "new")
    file = tmp_path / "new" / "study.yaml"
    file.write_text(file.read_text().replace(f"study: {event.name}", "study: a-new-one"))
    hosted = host_study(str(tmp_path / "new"), event.made_by)

    page = client_as(Role.ORGANISER).post(f"/s/{hosted.token}/organise/results/measure/", follow=True).content.decode()

    assert "no dialogue has ended" in page, page
    assert Measurement.objects.get().done_at is not None


def test_a_dialogue_of_a_person_is_measured_and_its_report_is_sandboxed(event, client_as, at):
    hold_dialogue(event)
    analyst = client_as(Role.ANALYST)
    analyst.post(f"{at}measure/")
    token = Measurement.objects.get(problem="").token
    report, told = analyst.get(f"{at}{token}/report.html"), analyst.get(f"{at}{token}/results.json")

    assert "May I hear the end?" in report.content.decode()
    assert report.headers["Content-Security-Policy"].startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in report.headers["Content-Security-Policy"]
    assert "src: url(data:font/woff2;base64," in report.content.decode()
    assert "font-src data:" in report.headers["Content-Security-Policy"]
    assert json.loads(told.content)["study"]["name"] == event.name
    assert AuditEntry.objects.filter(verb="opened results").count() == 2


def test_only_the_two_files_of_a_measurement_are_served(event, client_as, at):
    hold_dialogue(event)
    analyst = client_as(Role.ANALYST)
    analyst.post(f"{at}measure/")
    token = Measurement.objects.get().token

    for name in ("..%2F..%2Ftheodolite.db", "tree.json", "secret.key"):
        assert analyst.get(f"{at}{token}/{name}").status_code == 404
    assert analyst.get(f"{at}another/report.html").status_code == 404


def test_a_withdrawal_deletes_measurements(event, client_as, at):
    hold_dialogue(event)
    client_as(Role.ORGANISER).post(f"{at}measure/")
    folder = Measurement.objects.get(problem="").folder
    assert folder.is_dir()

    client_as(Role.RED_TEAMER).post(reverse("tester:leave", kwargs={"study": event.token}), {"what": "remove"})

    assert not folder.exists()
    assert not Measurement.objects.exists()


def test_measurements_run_one_at_a_time_and_interrupted_ones_are_marked(event, client_as, at):
    Measurement.objects.create(hosted=event, edition="0" * 64)
    organiser = client_as(Role.ORGANISER)

    assert "already running" in organiser.post(f"{at}measure/", follow=True).content.decode()
    _strike_unfinished()
    assert CUT_OFF in organiser.get(at).content.decode()
    assert (settings.WORKSPACE / "measured").exists() is False


@pytest.mark.browser
def test_the_page_shows_the_progress_of_a_measurement(page_as):
    page = page_as(Role.ANALYST, bypass_csp=True)
    assert_accessible(page)
    load_by_click(page.get_by_role("button", name="Measure now"))
    page.get_by_role("rowheader").first.wait_for()
    page.get_by_role("button", name="Measure now").wait_for(timeout=60_000)
    assert_accessible(page)
