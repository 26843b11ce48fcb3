"""Teams read the report on their own application after organisers share it, and no data of others."""

from __future__ import annotations

import re

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from tests.browser_pages import assert_accessible
from tests.integration.web.conftest import demo_server
from tests.integration.web.test_results import hold_dialogue
from theodolite.domain.event import Role
from theodolite.web.events import event_of
from theodolite.web.models import AuditEntry, Measurement, Membership, Submission

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

WORDS = "May I hear the end?"


@pytest.fixture
def accepted(event) -> Submission:
    """The application of the one dialogue of the event, accepted as that of the team."""
    who = hold_dialogue(event, WORDS)
    (session,) = event_of(event).sessions.of_participant(who)
    return entered(event, session.application, Membership.objects.get(hosted=event, role=Role.TEAM.value))


def entered(event, name: str, team: Membership) -> Submission:
    signed = {"agreed_by": "A. Team", "agreed_at": timezone.now(), "agreed_version": "1"}
    facts = {"way": Submission.Way.INSTALLED, "target": "x:Y", "state": Submission.State.ACCEPTED, **signed}
    return Submission.objects.create(hosted=event, team=team, name=name, **facts)


@pytest.fixture
def measured(event, accepted, client_as) -> Measurement:
    client_as(Role.ORGANISER).post(f"/s/{event.token}/organise/results/measure/")
    (made,) = Measurement.objects.all()
    assert not made.problem, made.problem
    return made


def share(event, client_as, measured, *, shared: str = "yes"):
    address = f"/s/{event.token}/organise/results/{measured.token}/share/"
    return client_as(Role.ORGANISER).post(address, {"shared": shared})


def report_of(event, submission: Submission, file: str = "report.html") -> str:
    return f"/s/{event.token}/team/{submission.token}/results/{file}"


def test_a_team_reads_its_own_report_after_it_was_shared(event, accepted, measured, client_as):
    team, address = client_as(Role.TEAM), report_of(event, accepted)
    before = team.get(address).status_code
    listed = client_as(Role.ORGANISER).get(f"/s/{event.token}/organise/results/").content.decode()
    share(event, client_as, measured)
    report, home = team.get(address), team.get(f"/s/{event.token}/team/").content.decode()
    page = report.content.decode()
    others = [one.name for one in event_of(event).study.applications if one.name != accepted.name]

    assert before == 302
    assert f"reports for {accepted.name}, not shared" in listed
    assert address in home
    assert accepted.name in page
    assert others
    assert not [name for name in others if name in page]
    assert WORDS not in page  # the tester has not agreed to a release
    assert report.headers["Content-Security-Policy"].startswith("sandbox allow-scripts")
    assert AuditEntry.objects.filter(verb="opened own results").count() == 1


def test_sharing_ends_and_only_organisers_share(event, accepted, measured, client_as):
    share(event, client_as, measured)
    refused = client_as(Role.ANALYST).post(f"/s/{event.token}/organise/results/{measured.token}/share/")
    share(event, client_as, measured, shared="no")

    assert refused.status_code == 404
    assert client_as(Role.TEAM).get(report_of(event, accepted)).status_code == 302
    assert {entry.verb for entry in AuditEntry.objects.filter(subject=f"measurement {measured.token}")} >= {
        "shared team reports",
        "ended sharing of team reports",
    }


def test_other_teams_and_roles_cannot_open_the_report(event, accepted, measured, client_as):
    share(event, client_as, measured)
    stranger = Membership.objects.get(hosted=event, role=Role.FIELD_TESTER.value)
    stranger.role = Role.TEAM.value
    stranger.save()
    foreign = client_as(None)
    foreign.force_login(stranger.account)

    assert foreign.get(f"/s/{event.token}/team/").status_code == 200
    for file in ("report.html", "results.json"):
        assert foreign.get(report_of(event, accepted, file)).status_code == 404
        for role in (Role.ORGANISER, Role.ANNOTATOR, Role.RED_TEAMER):
            assert client_as(role).get(report_of(event, accepted, file)).status_code == 404


def test_an_application_that_is_not_accepted_or_has_no_dialogue_has_no_report(event, accepted, measured, client_as):
    share(event, client_as, measured)
    team = Membership.objects.get(pk=accepted.team_id)
    other = next(one.name for one in event_of(event).study.applications if one.name != accepted.name)
    unused = entered(event, other, team)
    accepted.state = Submission.State.DECLINED
    accepted.save()

    for submission in (unused, accepted):
        assert client_as(Role.TEAM).get(report_of(event, submission)).status_code == 302
    assert client_as(Role.TEAM).get(report_of(event, accepted, "tree.json")).status_code == 404


def test_a_withdrawal_ends_the_report_of_the_team(event, accepted, measured, client_as):
    share(event, client_as, measured)
    client_as(Role.RED_TEAMER).post(f"/s/{event.token}/test/leave/", {"what": "remove"})

    answer = client_as(Role.TEAM).get(report_of(event, accepted), follow=True)
    assert f"have not shared results on {accepted.name}" in answer.content.decode()


@pytest.mark.browser
class TestInABrowser:
    """The home page of a team in Chromium."""

    @pytest.fixture
    def served(self, tmp_path, seeded_copy):
        with demo_server(seeded_copy(tmp_path)) as address:
            yield address

    def test_a_team_sees_which_results_are_shared(self, page_as):
        page = page_as(Role.TEAM, bypass_csp=True)

        expect(page.get_by_role("columnheader", name="Results")).to_be_visible()
        expect(page.get_by_text("not shared yet").first).to_be_visible()
        assert re.search(r"/team/$", page.url)
        assert_accessible(page)
