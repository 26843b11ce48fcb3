"""The review of a series: terms as data, evidence, feedback, decisions, and what the next series takes over."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser_pages import assert_accessible
from tests.integration.web.conftest import demo_server
from tests.integration.web.editing import change, published
from tests.integration.web.test_release_choice import agree
from tests.integration.web.test_results import hold_dialogue
from theodolite.demo.studies import lay_out_event
from theodolite.domain.event import Role
from theodolite.domain.event_record import Withdrawal
from theodolite.domain.series_review import DecisionState, FeedbackSource
from theodolite.usecases.series_review import MOST_FEEDBACK, review_of
from theodolite.web.events import host_study, server_store
from theodolite.web.models import Account, AuditEntry, Membership, Submission
from theodolite.web.teams.submissions import programme_terms

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


def at(event, rest: str = "") -> str:
    return f"/s/{event.token}/organise/series/{rest}"


def enter(client, event, **sent):
    return client.post(at(event, "add/"), {"part": "guardrails", "kind": "assessment", **sent})


def review(event):
    return review_of(server_store(), event.name)


def test_assessment_feedback_and_decision_refer_to_each_other(event, client_as):
    organiser = client_as(Role.ORGANISER)
    enter(organiser, event, text="Hints pass the guardrail.")
    enter(client_as(Role.ANALYST), event, kind="feedback", source="workshop", text="Name more kinds of hints.")
    enter(organiser, event, kind="decision", text="State hints in the packet.", because="1, 2")
    key = review(event)[2].entry.key
    organiser.post(at(event, f"decisions/{key}/"), {"state": "done", "note": "Packet 1.5."})
    page = organiser.get(at(event)).content.decode()

    assert [line.because for line in review(event)] == [(), (), (1, 2)]
    assert review(event)[2].state is DecisionState.DONE
    for words in ("Feedback of workshop", "because of 1, 2", "Packet 1.5.", "Hints pass the guardrail."):
        assert words in page
    assert AuditEntry.objects.filter(verb="added review entry").count() == 3


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"text": " "}, "needs a text"),
        ({"kind": "feedback", "text": "x"}, "feedback names its source"),
        ({"kind": "decision", "text": "x"}, "a decision names the assessments or feedback"),
        ({"kind": "decision", "text": "x", "because": "7"}, "there is no entry 7"),
        ({"kind": "decision", "text": "x", "because": "first"}, "enter numbers of entries"),
        ({"part": "weather", "text": "x"}, "Choose a part"),
    ],
    ids=["empty", "no-source", "no-reason", "unknown", "no-number", "no-part"],
)
def test_invalid_input_is_explained_and_kept_in_the_form(event, client_as, sent, message):
    answer = enter(client_as(Role.ORGANISER), event, **sent)

    assert answer.status_code == 422
    assert message in answer.content.decode().replace("&#x27;", "'")
    assert review(event) == ()


def test_each_part_shows_the_evidence_of_the_latest_measurement(event, client_as):
    hold_dialogue(event)
    organiser = client_as(Role.ORGANISER)
    before = organiser.get(at(event)).content.decode()
    organiser.post(f"/s/{event.token}/organise/results/measure/")
    page = organiser.get(at(event)).content.decode()

    assert before.count("No result bears on this part yet.") == 6
    assert page.count("No result bears on this part yet.") < 6


def test_criteria_and_terms_are_data_of_the_series_and_of_the_page(own, client_as):
    shipped = programme_terms(own)
    change(own, "name: varn-spring", "name: varn-spring\n  terms: [Results are public after a year.]")
    published(own)
    of_file = programme_terms(own)
    organiser, team = client_as(Role.ORGANISER), client_as(Role.TEAM)
    sent = {"criteria": "It answers.", "terms": "You may leave.\nWe publish.", "follows": "0", "why": "Plain words."}
    organiser.post(at(own, "terms/"), sent)
    late = organiser.post(at(own, "terms/"), {**sent, "criteria": "It answers soon."})
    page = team.get(f"/s/{own.token}/team/criteria/").content.decode()

    assert (of_file.terms, of_file.criteria) == (("Results are public after a year.",), shipped.criteria)
    assert (late.status_code, "revision 1 meanwhile" in late.content.decode()) == (422, True)
    assert programme_terms(own).terms == ("You may leave.", "We publish.")
    assert "We publish." in page
    assert "Results are public" not in page
    assert programme_terms(own).version != of_file.version != shipped.version


def test_a_signature_names_the_version_of_the_terms_that_were_shown(event, client_as):
    row = Submission.objects.get(hosted=event, name="echo-two")

    assert row.agreed_version == programme_terms(event).version


def test_the_next_series_takes_over_open_decisions_of_its_organisers_only(own, tmp_path, client_as):
    published(own)
    organiser = client_as(Role.ORGANISER)
    enter(organiser, own, text="Hints pass.")
    enter(organiser, own, kind="decision", text="State hints.", because="1")
    lay_out_event(tmp_path / "next")
    file = tmp_path / "next" / "study.yaml"
    file.write_text(
        file.read_text()
        .replace(f"study: {own.name}", "study: autumn-1")
        .replace("name: varn-spring\n  follows: varn-autumn", "name: autumn\n  follows: varn-spring")
    )
    account = Account.objects.get(memberships__hosted=own, memberships__role=Role.ORGANISER.value)
    later = host_study(str(tmp_path / "next"), account)
    page = organiser.get(at(later)).content.decode()
    key = review(own)[1].entry.key
    foreign = Account.objects.get(memberships__hosted=own, memberships__role=Role.TEAM.value)
    Membership.objects.create(account=foreign, hosted=later, role=Role.ORGANISER.value)
    refused = client_as(Role.TEAM).post(at(later, f"earlier/{key}/"))
    organiser.post(at(later, f"earlier/{key}/"))
    again = organiser.post(at(later, f"earlier/{key}/"))

    assert "Open decisions of the preceding series" in page
    assert refused.status_code == 404
    assert again.status_code == 404
    assert [(line.entry.text, line.entry.carried_from[0]) for line in review(later)] == [("State hints.", own.name)]
    assert review(own)[1].state is DecisionState.CARRIED


class TestOwnFeedback:
    """Feedback that teams and testers enter on their own pages."""

    def test_a_team_sends_feedback_and_sees_the_decision_based_on_it(self, event, client_as):
        team, organiser, address = client_as(Role.TEAM), client_as(Role.ORGANISER), f"/s/{event.token}/team/feedback/"
        team.post(address, {"part": "guardrails", "text": "State which hints count."})
        before = team.get(address).content.decode()
        enter(organiser, event, kind="decision", text="Secret plan.", because="1")
        page, reviewed = team.get(address).content.decode(), organiser.get(at(event)).content.decode()

        first = review(event)[0].entry
        assert (first.source, first.text) == (FeedbackSource.TEAM, "State which hints count.")
        assert "No decision rests on it yet." in before
        assert "Considered in 1 decision: open." in page
        assert "Secret plan." not in page
        assert "Feedback of application team" in reviewed

    def test_a_tester_sends_feedback_without_a_name(self, event, client_as):
        tester, address = client_as(Role.RED_TEAMER), f"/s/{event.token}/test/feedback/"
        before = tester.get(address)
        agree(tester, event)
        tester.post(address, {"part": "organisation of the event", "text": "The breaks were <too> short."})
        again = tester.post(address, {"part": "organisation of the event", "text": "The breaks were <too> short."})
        own = tester.get(address).content.decode()
        page = client_as(Role.ORGANISER).get(at(event)).content.decode()
        name = Account.objects.get(memberships__hosted=event, memberships__role=Role.RED_TEAMER.value).name

        assert (before.status_code, again.status_code) == (302, 302)
        assert [line.entry.source for line in review(event)] == [FeedbackSource.TESTER]
        assert "The breaks were &lt;too&gt; short." in own
        assert "by a tester" in page
        assert name not in page

    @pytest.mark.parametrize(
        "sent",
        [{"part": "measurement tree", "text": "x"}, {"text": "x"}, {"part": "scenarios as proxies", "text": " "}],
        ids=["foreign-part", "no-part", "no-text"],
    )
    def test_incomplete_feedback_of_a_tester_is_refused_and_stays_in_the_form(self, event, client_as, sent):
        tester = client_as(Role.RED_TEAMER)
        agree(tester, event)
        answer = tester.post(f"/s/{event.token}/test/feedback/", sent)

        assert (answer.status_code, review(event)) == (422, ())
        assert "Choose a topic and write a text." in answer.content.decode()
        assert sent["text"] in answer.content.decode()

    @pytest.mark.parametrize(
        ("sent", "message"),
        [({"text": "x"}, "choose a part"), ({"part": "guardrails", "text": " "}, "needs a text")],
        ids=["no-part", "no-text"],
    )
    def test_incomplete_feedback_of_a_team_is_explained(self, event, client_as, sent, message):
        answer = client_as(Role.TEAM).post(f"/s/{event.token}/team/feedback/", sent)

        assert (answer.status_code, message in answer.content.decode()) == (422, True)

    def test_one_person_sends_a_limited_number_of_entries(self, event, client_as):
        team, address = client_as(Role.TEAM), f"/s/{event.token}/team/feedback/"
        for number in range(MOST_FEEDBACK):
            team.post(address, {"part": "guardrails", "text": f"Entry {number}."})
        answer = team.post(address, {"part": "guardrails", "text": "One more."})

        assert (answer.status_code, len(review(event))) == (422, MOST_FEEDBACK)

    def test_the_own_data_of_a_tester_contain_the_feedback(self, event, client_as):
        tester = client_as(Role.RED_TEAMER)
        agree(tester, event)
        tester.post(f"/s/{event.token}/test/feedback/", {"part": "scenarios as proxies", "text": "Too easy."})
        page = tester.get(f"/s/{event.token}/test/my-data/").content.decode()
        file = json.loads(tester.get(f"/s/{event.token}/test/my-data/file/").content)

        assert "<strong>The task</strong>" in page
        assert [(one["about"], one["text"]) for one in file["feedback"]] == [("scenarios as proxies", "Too easy.")]

    @pytest.mark.parametrize(
        ("wish", "text"),
        [("remove", "withdrawn by the person who took part"), ("anonymise", "Write to ")],
        ids=["remove", "anonymise"],
    )
    def test_a_withdrawal_removes_the_person_and_keeps_the_number(self, event, client_as, wish, text):
        tester = client_as(Role.RED_TEAMER)
        agree(tester, event)
        sent = {"part": "scenarios as proxies", "text": "Write to ravi.k@example.org, the task is unclear."}
        tester.post(f"/s/{event.token}/test/feedback/", sent)
        enter(client_as(Role.ORGANISER), event, kind="decision", text="Reword the task.", because="1")
        tester.post(f"/s/{event.token}/test/leave/", {"what": Withdrawal[wish.upper()].value})
        first, second = review(event)
        page = client_as(Role.ORGANISER).get(at(event)).content.decode()

        assert (first.number, first.entry.by, second.because) == (1, "", (1,))
        assert first.entry.text.startswith(text)
        assert "ravi.k@example.org" not in page + first.entry.text


def test_only_organisers_decide_and_read(event, client_as):
    enter(client_as(Role.ORGANISER), event, text="Hints pass.")

    assert client_as(Role.ANALYST).post(at(event, "terms/")).status_code == 404
    for role in (Role.ANNOTATOR, Role.SENIOR, Role.TEAM, Role.RED_TEAMER):
        assert client_as(role).get(at(event)).status_code == 404


@pytest.mark.browser
class TestInABrowser:
    """The page in Chromium."""

    @pytest.fixture
    def served(self, tmp_path, seeded_copy):
        with demo_server(seeded_copy(tmp_path)) as address:
            yield address

    def test_feedback_of_a_workshop_is_entered(self, page_as):
        page = page_as(Role.ORGANISER, bypass_csp=True)
        page.goto("/")
        event = page.locator('a[href*="/organise/"]').first.get_attribute("href").split("/organise/")[0]
        page.goto(f"{event}/organise/series/")
        page.get_by_label("Kind of entry").select_option("feedback")
        page.get_by_label("Source of feedback").select_option("workshop")
        page.get_by_label("Text", exact=True).fill("The task was unclear.")
        page.get_by_role("button", name="Save entry").click()

        expect(page.get_by_role("status")).to_contain_text("Saved: feedback about simulation of real use.")
        expect(page.get_by_text(re.compile("The task was unclear."))).to_be_visible()
        assert_accessible(page)
