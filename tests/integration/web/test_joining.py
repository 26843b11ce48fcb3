"""Sign-in by invitation, first organiser's link, personal code or recruiting service, and by nothing else."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.core.cache.backends import locmem
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.utils import timezone

from theodolite.domain.errors import Conflict
from theodolite.domain.event import Role
from theodolite.web.accounts.invitations import (
    code_path,
    completion_of,
    first_invitation,
    give_code,
    hand_out_codes,
    invitation_path,
    invite,
    withdraw_invitation,
    words_of,
)
from theodolite.web.models import (
    Account,
    AuditEntry,
    GuessCount,
    HostedStudy,
    Invitation,
    Membership,
    Recruit,
    RecruitLink,
)

GOOD = {"name": "Nora", "email": "Nora@example.org", "password": "a long walk by the sea"}
SENT = {"PROLIFIC_PID": "p" * 24, "STUDY_ID": "s" * 24, "SESSION_ID": "v" * 24}


@pytest.fixture
def stranger() -> Client:
    return Client(SERVER_NAME="localhost")


@pytest.fixture
def organiser(event) -> Account:
    return Account.objects.get(memberships__role="organiser")


def test_an_invited_annotator_creates_an_account_and_signs_in(event, organiser, stranger):
    path = invitation_path(invite(organiser, event, Role.ANNOTATOR, email=GOOD["email"]))

    assert b"annotator" in stranger.get(path).content
    assert stranger.post(path, GOOD).headers["Location"] == f"/s/{event.token}/annotate/"
    stranger.post("/account/logout/")
    stranger.post("/account/login/", {"login": "nora@example.org", "password": GOOD["password"]})

    assert stranger.get(f"/s/{event.token}/annotate/").status_code == 200
    assert Account.objects.get(email="nora@example.org").password.startswith("argon2")


def test_an_invitation_admits_one_person(event, organiser, stranger):
    path = invitation_path(invite(organiser, event, Role.ANNOTATOR))
    stranger.post(path, GOOD)
    second = Client(SERVER_NAME="localhost").post(path, {**GOOD, "email": "second@example.org"})

    assert second.status_code == 410
    assert not Account.objects.filter(email="second@example.org").exists()


@pytest.mark.parametrize("ending", ["withdrawn", "expired"])
def test_an_expired_invitation_gives_no_access(event, organiser, stranger, ending):
    invitation = invite(organiser, event, Role.ANNOTATOR)
    if ending == "withdrawn":
        withdraw_invitation(organiser, invitation)
    else:
        Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    answer = stranger.post(invitation_path(invitation), GOOD)

    assert (answer.status_code, ending.encode() in answer.content) == (410, True)


def test_a_used_invitation_cannot_be_revoked(event, organiser, stranger):
    invitation = invite(organiser, event, Role.ANNOTATOR)
    stranger.post(invitation_path(invitation), GOOD)

    with pytest.raises(Conflict, match="already used this invitation"):
        withdraw_invitation(organiser, invitation)


def test_a_forged_link_is_rejected(event, organiser, stranger):
    invitation = invite(organiser, event, Role.ORGANISER)
    path = invitation_path(invitation)

    assert stranger.get(f"/join/{invitation.token}/").status_code == 404
    assert stranger.get(path[:-2] + ("A/" if path[-2] != "A" else "B/")).status_code == 404


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"password": "short"}, "at least 10"),
        ({"password": "nora@example.org"}, "too similar"),
        ({"password": "password1234"}, "too common"),
        ({"email": "organiser@demo.invalid"}, "has an account already"),
        ({"email": "nobody"}, "valid email"),
    ],
)
def test_an_invalid_answer_is_reported_and_the_invitation_stays_valid(event, organiser, stranger, change, words):
    path = invitation_path(invite(organiser, event, Role.SENIOR))
    answer = stranger.post(path, {**GOOD, **change})

    assert (answer.status_code, words in answer.content.decode()) == (422, True)
    assert stranger.post(path, GOOD).status_code == 302


def test_a_signed_in_person_accepts_a_second_role(event, organiser, client_as):
    client = client_as(Role.ANNOTATOR)
    client.post(invitation_path(invite(organiser, event, Role.FIELD_TESTER)))

    assert {held.role for held in Membership.objects.filter(account__name="Anna")} == {"annotator", "field tester"}


def test_a_tester_needs_no_address_and_returns_with_a_code(event, organiser, stranger):
    answer = stranger.post(invitation_path(invite(organiser, event, Role.FIELD_TESTER)), {"name": ""})
    words = words_of(Membership.objects.latest("id").code)
    again = Client(SERVER_NAME="localhost")

    assert words in answer.content.decode()
    assert again.post("/code/", {"code": words.upper()}).headers["Location"] == f"/s/{event.token}/test/"
    assert Membership.objects.latest("id").account.email is None


def test_access_codes_open_their_own_position_and_only_by_a_button(event, organiser, stranger):
    codes = hand_out_codes(organiser, event, Role.RED_TEAMER, ["A1", "A2"])
    page = stranger.get(code_path(codes[0]))

    assert words_of(codes[0]) in page.content.decode()
    assert "_auth_user_id" not in stranger.session
    stranger.post("/code/", {"code": words_of(codes[0])})
    assert stranger.session["_auth_user_id"] == str(codes[0].membership.account_id)


def test_a_code_that_was_replaced_opens_nothing(event, organiser, stranger):
    (code,) = hand_out_codes(organiser, event, Role.RED_TEAMER, ["A1"])
    old = words_of(code)
    give_code(code.membership)

    assert stranger.post("/code/", {"code": old}).status_code == 422


@pytest.mark.parametrize("role", [Role.ORGANISER, Role.SENIOR, Role.ANALYST, Role.TEAM], ids=str)
def test_an_access_code_opens_no_role_with_more_permissions(event, organiser, role):
    with pytest.raises(Conflict, match="invite the person by link"):
        hand_out_codes(organiser, event, role, ["A1"])


def test_guessing_codes_is_limited_without_blocking_other_addresses(event, organiser, stranger):
    (code,) = hand_out_codes(organiser, event, Role.RED_TEAMER, ["A1"])
    answers = [stranger.post("/code/", {"code": f"palm-river-otter-{n:04}"}).status_code for n in range(21)]
    elsewhere = Client(SERVER_NAME="localhost", REMOTE_ADDR="192.0.2.7")

    assert answers == [422] * 20 + [429]
    assert stranger.post("/code/", {"code": words_of(code)}).status_code == 429
    assert elsewhere.post("/code/", {"code": words_of(code)}).status_code == 302


@pytest.mark.parametrize("header", ["X_FORWARDED_FOR", "X_REAL_IP", "FORWARDED"])
def test_guessing_with_forged_addresses_is_limited_equally(event, stranger, header):
    guesses = [(f"palm-river-otter-{n:04}", {f"HTTP_{header}": f"198.51.100.{n}"}) for n in range(21)]

    answers = [stranger.post("/code/", {"code": code}, **headers).status_code for code, headers in guesses]

    assert answers == [422] * 20 + [429]


def test_counts_of_guesses_survive_a_restart_and_contain_no_names(event, stranger):
    for n in range(20):
        stranger.post("/code/", {"code": f"palm-river-otter-{n:04}"})
    locmem._caches.clear()  # what a process keeps in its memory is gone

    assert stranger.post("/code/", {"code": "palm-river-otter-0020"}).status_code == 429
    assert [len(count.cache_key) for count in GuessCount.objects.all()] == [64]
    assert not GuessCount.objects.filter(cache_key__contains="127.0.0.1").exists()


def test_attempts_counted_by_two_processes_are_all_stored(event):
    now = 1_000_000.0
    cache.set("attempts", [now - 301.0, now - 5.0], 300)
    seen_by_one, seen_by_two = cache.get("attempts"), cache.get("attempts")

    cache.set("attempts", [now, *seen_by_one[1:]], 300)
    cache.set("attempts", [now + 1, *seen_by_two[1:]], 300)
    assert cache.get("attempts") == [now + 1, now, now - 5.0]

    cache.set("attempts", [now + 1, now - 5.0], 300)  # a right password takes its attempt back
    assert cache.get("attempts") == [now + 1, now - 5.0]


def test_a_correct_code_writes_no_count(event, organiser, stranger):
    (code,) = hand_out_codes(organiser, event, Role.RED_TEAMER, ["A1"])
    asked: list[str] = []

    def note(execute, sql, *rest):
        asked.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(note):
        assert stranger.post("/code/", {"code": words_of(code)}).status_code == 302

    assert {sql.split()[0] for sql in asked if "web_guess_count" in sql} == {"SELECT"}


def test_counts_expire(event, stranger):
    GuessCount.objects.create(cache_key="long ago", value="", expires=timezone.now() - timedelta(minutes=1))
    stranger.post("/code/", {"code": "palm-river-otter-0001"})

    assert GuessCount.objects.count() == 1
    assert not GuessCount.objects.filter(cache_key="long ago").exists()


def test_many_people_behind_one_address_sign_in_by_code(event, organiser):
    codes = hand_out_codes(organiser, event, Role.FIELD_TESTER, [str(n) for n in range(60)])
    answers = [Client(SERVER_NAME="localhost").post("/code/", {"code": words_of(code)}) for code in codes]

    assert {answer.status_code for answer in answers} == {302}


def test_guessing_a_password_is_limited(event, organiser, stranger):
    organiser.set_password(GOOD["password"])
    organiser.save()
    tries = [{"login": organiser.email, "password": f"guess number {n}"} for n in range(8)]
    answers = [stranger.post("/account/login/", one).content.decode() for one in tries]
    right = stranger.post("/account/login/", {"login": organiser.email, "password": GOOD["password"]})

    assert ["Too many" in answer for answer in answers] == [False] * 5 + [True] * 3
    assert (right.status_code, "_auth_user_id" in stranger.session) == (200, False)


def test_the_link_of_the_first_organiser_works_once(event, stranger):
    path = invitation_path(first_invitation())
    own = HostedStudy.objects.create(name="own")

    assert stranger.post(path, GOOD).headers["Location"] == "/"
    account = Account.objects.get(email="nora@example.org")
    assert account.is_host
    assert list(account.memberships.values_list("hosted", "role")) == [(own.pk, "organiser")]
    assert Client(SERVER_NAME="localhost").get(path).status_code == 410


def test_the_first_organiser_without_a_study_sees_the_first_steps(event, stranger):
    stranger.post(invitation_path(first_invitation()), GOOD)
    page = stranger.get("/").content.decode()

    assert "Create your first study from a template." in page
    assert "who invited you" not in page


def test_registration_is_closed(event, stranger):
    stranger.post("/account/signup/", {"email": "x@example.org", "password1": GOOD["password"]})

    assert not Account.objects.filter(email="x@example.org").exists()


class TestRecruiting:
    @pytest.fixture
    def link(self, event) -> RecruitLink:
        return RecruitLink.objects.create(hosted=event, study_id=SENT["STUDY_ID"], completion_code="C0FFEE", most=1)

    def come(self, link: RecruitLink, **changed: str) -> Client:
        client = Client(SERVER_NAME="localhost")
        client.answer = client.post(f"/from/{link.token}/", {**SENT, **changed})
        return client

    def test_a_participant_of_a_panel_enters_completes_and_is_paid(self, event, link):
        assert self.come(link).answer.headers["Location"] == f"/s/{event.token}/test/"
        assert self.come(link).answer.status_code == 302
        held = Recruit.objects.get().membership

        assert Recruit.objects.count() == 1
        assert completion_of(held) == ("C0FFEE", "https://app.prolific.com/submissions/complete?cc=C0FFEE")
        assert Recruit.objects.get().finished_at

    @pytest.mark.parametrize(
        "changed",
        [{"SESSION_ID": "w" * 24}, {"PROLIFIC_PID": "q" * 24}, {"STUDY_ID": "t" * 24}, {"PROLIFIC_PID": "<script>"}],
        ids=["another visit", "no places left", "another study", "no name"],
    )
    def test_people_outside_the_panel_have_no_access(self, link, changed):
        self.come(link)

        assert self.come(link, **changed).answer.status_code == 410

    def test_opening_the_link_uses_no_capacity(self, link, stranger):
        assert stranger.get(f"/from/{link.token}/", SENT).status_code == 200
        assert Recruit.objects.count() == 0


def test_the_audit_log_contains_every_action_and_no_secret(event, organiser, stranger):
    path = invitation_path(invite(organiser, event, Role.ANNOTATOR, email=GOOD["email"]))
    stranger.post(path, GOOD)
    (code,) = hand_out_codes(organiser, event, Role.RED_TEAMER, ["A1"])
    stranger.post("/code/", {"code": words_of(code)})
    lines = [f"{entry} {entry.facts}" for entry in AuditEntry.objects.order_by("id")]

    verbs = ["invited", "joined", "created codes", "joined by code"]
    assert [entry.verb for entry in AuditEntry.objects.order_by("id")][-4:] == verbs
    assert not any(secret in line for secret in (words_of(code), path, GOOD["password"]) for line in lines)


@pytest.mark.parametrize("role", [Role.ORGANISER, Role.SENIOR, Role.ANALYST, Role.TEAM])
@pytest.mark.parametrize("has_left", [False, True])
def test_people_with_unblinding_knowledge_cannot_become_annotators(event, organiser, client_as, role, has_left):
    path = invitation_path(invite(organiser, event, Role.ANNOTATOR))
    client = client_as(role)
    Membership.objects.filter(role=role.value).update(left_at=timezone.now() if has_left else None)

    refused = client.post(path)

    assert (refused.status_code, b"cannot annotate the study" in refused.content) == (410, True)
    assert Membership.objects.filter(account__memberships__role=role.value).count() == 1
    assert Invitation.objects.get(role=Role.ANNOTATOR.value, used_at=None)


def test_an_annotator_gets_unblinding_roles_only_after_the_annotation(event, organiser, client_as):
    path, anna = invitation_path(invite(organiser, event, Role.ANALYST)), client_as(Role.ANNOTATOR)

    refused = anna.post(path)
    Membership.objects.filter(role=Role.ANNOTATOR.value).update(left_at=timezone.now())

    assert (refused.status_code, b"Remove the person as annotator first" in refused.content) == (410, True)
    assert anna.post(path).status_code == 302


def test_an_organiser_is_warned_at_once_about_people_who_cannot_annotate(event, organiser, client_as):
    olga, people = client_as(Role.ORGANISER), f"/s/{event.token}/organise/people/"
    one = {"role": Role.ANNOTATOR.value, "email": organiser.email}
    rows = b"email,role\nnew@example.org,annotator\nnew@example.org,analyst\n"
    many = {"list": SimpleUploadedFile("people.csv", rows)}

    refused = [olga.post(f"{people}invite/", one), olga.post(f"{people}invite-list/", many)]

    assert [answer.status_code for answer in refused] == [422, 422]
    assert b"A current or former organiser cannot annotate the study" in refused[0].content
    assert b"new@example.org: a current or former analyst" in refused[1].content
    assert not Invitation.objects.filter(used_at=None, role=Role.ANNOTATOR.value).exists()
