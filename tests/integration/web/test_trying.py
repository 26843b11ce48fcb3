"""Organisers try submitted applications with their credentials; nothing is stored and no secret is shown."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from asgiref.sync import async_to_sync
from django.test import Client, override_settings

from theodolite.bootstrap.page_checks import Form, PageAnswer
from theodolite.domain.event import Role
from theodolite.store.models.events import LiveTurnRow
from theodolite.web.events import seal
from theodolite.web.models import AuditEntry, HostedStudy, Membership, Submission

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

SECRET = "tok-91c4-very-secret"


@pytest.fixture
def tattler(event: HostedStudy) -> Submission:
    team = Membership.objects.get(hosted=event, role=Role.TEAM.value)
    with override_settings(OPERATOR_KEY="quiet harbour under a slow moon"):
        yield Submission.objects.create(
            hosted=event, team=team, name="tattler", way=Submission.Way.INSTALLED, state=Submission.State.SUBMITTED,
            target="tests.fakes.tattler:Tattler", sealed=seal(f'{{"key": "{SECRET}"}}'), agreed_by="Tove",
            agreed_at=datetime(2026, 1, 1, tzinfo=UTC),
        )  # fmt: skip


@pytest.fixture
def organiser(client_as) -> Client:
    return client_as(Role.ORGANISER)


def page_of(submission: Submission) -> str:
    return f"/s/{submission.hosted.token}/organise/submissions/{submission.token}/try/"


def post(organiser: Client, submission: Submission, sent: dict[str, object]):
    """Return the response to a form after the coroutines of the server have completed."""
    answer = organiser.post(page_of(submission), sent)
    if hasattr(answer, "awaited"):
        async_to_sync(answer.awaited)()
    return answer


def forms_of(response) -> list[Form]:
    return PageAnswer("", response.status_code, "", response.content.decode()).forms


def test_a_trial_conversation_continues_from_the_state_of_the_page(tattler, organiser):
    first = post(organiser, tattler, {"text": "one", "key": "k1"})
    (form,) = (one for one in forms_of(first) if "said" in one.fields)
    second = post(organiser, tattler, {**form.fields, "text": "two"})

    assert (form.fields["said"], form.fields["key"]) == ("one", "k1")
    assert "heard one + two" in second.content.decode()
    assert second.content.decode().count('name="said"') == 2


def test_a_trial_reply_never_runs_and_contains_no_secret(tattler, organiser, caplog):
    page = post(organiser, tattler, {"text": "one"}).content.decode()
    broken = post(organiser, tattler, {"text": "fail"})

    assert ("<strong>bold</strong>" in page, "<script>alert" in page) == (True, False)
    assert broken.status_code == 422
    assert "No reply:" in broken.content.decode()
    assert SECRET not in page + broken.content.decode() + caplog.text


def test_only_the_fact_of_a_trial_is_stored(tattler, organiser):
    before = LiveTurnRow.objects.count()
    post(organiser, tattler, {"text": "my words"})

    tried = AuditEntry.objects.get(verb="tried application")
    assert (LiveTurnRow.objects.count(), "my words" in str(tried.facts)) == (before, False)


@pytest.mark.parametrize("state", ["declined", "withdrawn"])
def test_declined_or_withdrawn_applications_are_not_called(tattler, organiser, state):
    Submission.objects.filter(pk=tattler.pk).update(state=state, sealed=b"")

    assert post(organiser, tattler, {"text": "one"}).status_code == 404


@pytest.mark.parametrize("sent", [{"text": " "}, {"text": "x" * 4001}])
def test_empty_and_too_long_prompts_are_not_sent(tattler, organiser, sent):
    answer = post(organiser, tattler, sent)

    assert (answer.status_code, AuditEntry.objects.filter(verb="tried application").count()) == (422, 0)


@pytest.mark.parametrize(
    "sent", [{"said": ["a", "b"], "heard": ["c"]}, {"scenario": "another"}, {"said": ["a"] * 21, "heard": ["b"] * 21}]
)
def test_forged_conversations_are_refused(tattler, organiser, sent):
    assert post(organiser, tattler, {"text": "one", **sent}).status_code == 404


def test_no_thread_waits_for_the_reply_of_the_application(tattler, organiser):
    answer = organiser.post(page_of(tattler), {"text": "one"})
    before = answer.content

    async_to_sync(answer.awaited)()

    assert (before, b"heard one" in answer.content) == (b"", True)
    assert answer.headers["Content-Length"] == str(len(answer.content))
