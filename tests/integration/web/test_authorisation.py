"""Every address of the web side against every role: the table below is the whole truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from tests.fakes.annotated_event import a_case, a_draft, a_measurement, a_room, an_item, submitted
from theodolite.domain.role import Role
from theodolite.web.models import HostedStudy

ANYBODY, SIGNED_IN, HOST = "anybody", "signed in", "host"

_TESTERS = {Role.RED_TEAMER, Role.FIELD_TESTER}
_TESTER_PAGES = (
    *(
        "consent",
        "profile",
        "instructions",
        "chat",
        "state",
        "unsent",
        "pause",
        "resume",
        "anew",
        "end",
        "questions",
        "questionnaire",
    ),
    *("questionnaire", "say", "notes", "reply", "stop", "retry", "mark", "guess", "done", "leave"),
)

_SITTING = ("take", "sheet", "answer", "undo", "submit", "release", "skip", "flag", "comment")
_TRAINING = ("read", "practice", "qualify", "result")
_ROOM = ("room", "room_vote", "room_say")
_SENIOR = (
    *("home", "resolution", "begin", "resolve", "reopen", "open_room", "room_step", "check", "judge"),
    *("questions", "thread", "case", "look", "act", "people", "admit", "agreement", "fill"),
    *("judges", "decide", "cases", "gold", "make_gold", "drop_gold"),
)

_WRITING = ("schemas", "schema_begin", "schema", "schema_publish", "schema_file", "schema_preview")

_ORGANISING = (
    "ethics", "people", "ask", "ask_many", "make_slips", "slips", "remind", "take_back",
    "operations", "pause", "go_on", "close", "rest",
)  # fmt: skip

PAGES: dict[str, object] = {
    "home": SIGNED_IN,
    "comfort": SIGNED_IN,
    "static": ANYBODY,
    "no_address_page": ANYBODY,
    "no_confirmation_page": ANYBODY,
    "demo": ANYBODY,
    "demo_enter": ANYBODY,
    "start": ANYBODY,
    "join": ANYBODY,
    "code_entry": ANYBODY,
    "code": ANYBODY,
    "recruited": ANYBODY,
    "organiser:home": {Role.ORGANISER},
    "studies": HOST,
    "organiser:editions": {Role.ORGANISER},
    "organiser:audit": {Role.ORGANISER},
    "organiser:results": {Role.ORGANISER, Role.ANALYST},
    "organiser:measure": {Role.ORGANISER, Role.ANALYST},
    "organiser:measured_file": {Role.ORGANISER, Role.ANALYST},
    "organiser:blinding": {Role.ORGANISER, Role.ANALYST},
    "organiser:questions": {Role.ORGANISER, Role.SENIOR},
    "organiser:question": {Role.ORGANISER, Role.SENIOR},
    **{f"organiser:{name}": {Role.ORGANISER, Role.SENIOR} for name in _WRITING},
    **{f"senior:{name}": {Role.SENIOR} for name in _SENIOR},
    "annotator:home": {Role.ANNOTATOR},
    **{f"annotator:{name}": {Role.ANNOTATOR} for name in (*_SITTING, *_TRAINING)},
    **{f"annotator:{name}": {Role.ANNOTATOR, Role.SENIOR} for name in _ROOM},
    "label_door": ANYBODY,
    "tester:home": _TESTERS,
    **{f"tester:{page}": _TESTERS for page in _TESTER_PAGES},
    "tester:left": ANYBODY,
    "teams:home": {Role.TEAM},
    "teams:criteria": {Role.TEAM, Role.ORGANISER},
    "teams:kit": {Role.TEAM, Role.ORGANISER},
    "teams:new": {Role.TEAM},
    "teams:submission": {Role.TEAM},
    "teams:edit": {Role.TEAM},
    "teams:examine": {Role.TEAM},
    "teams:submit": {Role.TEAM},
    "teams:withdraw": {Role.TEAM},
    **{f"organiser:{name}": {Role.ORGANISER} for name in _ORGANISING},
    "organiser:submissions": {Role.ORGANISER},
    "organiser:submission": {Role.ORGANISER},
}
"""Who may see the page of a name: a set of roles of the study, or one of the three words above."""

OTHERS = ("account_", "mfa_", "socialaccount_", "openid_connect_")
"""Beginnings of the names of the sign-in library's own pages; `test_signing_in.py` looks at them."""

STAND_INS: dict[str, str | Callable[[HostedStudy], str]] = {
    "claim": submitted,
    "item": an_item,
    "case": a_case,
    "room": a_room,
    "thread": "none",
    "category": "risk_assessment",
    "example": "1",
    "subject": "rules",
    "name": "tv-spoilers-red-teaming",
    "place": "1",
    "dialogue": "1",
    "turn": "1",
    "invitation": "none",
    "number": "1",
    "draft": a_draft,
    "section": "risk-assessment",
    "measurement": a_measurement,
    "file": "report.html",
    "submission": lambda hosted: hosted.submissions.get(name="echo-two").token,
}
"""What an address is filled with, beside the study: by the name of the argument; seeded things by a function."""


def patterns(resolver: URLResolver, space: str = "") -> Iterator[tuple[str, URLPattern]]:
    for each in resolver.url_patterns:
        if isinstance(each, URLResolver):
            yield from patterns(each, f"{space}{each.namespace}:" if each.namespace else space)
        else:
            yield f"{space}{each.name or ''}", each


def ours() -> dict[str, URLPattern]:
    return {name: each for name, each in patterns(get_resolver()) if each.lookup_str.startswith("theodolite.")}


def test_every_address_is_in_the_table_and_its_view_says_the_same():
    said = {name: getattr(each.callback, "access", None) for name, each in ours().items()}

    assert said == PAGES


def test_addresses_of_others_are_the_sign_in_librarys():
    names = {name for name, each in patterns(get_resolver()) if not each.lookup_str.startswith("theodolite.")}

    assert {name for name in names if not name.startswith(OTHERS)} <= {""}


@pytest.mark.parametrize("role", [None, *Role], ids=str)
def test_a_page_opens_to_its_roles_and_is_not_there_for_others(event, client_as, role):
    client = client_as(role)
    for name, who in PAGES.items():
        if isinstance(who, str):
            continue
        status = client.get(address(name, event.token)).status_code
        expected = {302} if role is None else {200, 302, 405} if role in who else {404}

        assert status in expected, f"{name} as {role}"


@pytest.mark.parametrize("role", list(Role), ids=str)
def test_a_role_in_one_study_opens_nothing_of_another(event, client_as, role):
    other = HostedStudy.objects.create(name="another")
    client = client_as(role)

    inner = [name for name, who in PAGES.items() if not isinstance(who, str)]

    assert {name: client.get(address(name, event.token, other.token)).status_code for name in inner} == dict.fromkeys(
        inner, 404
    )


def address(name: str, study: str, below: str = "") -> str:
    """Return the address of a page of a study; or of the same things below another study."""
    fillings = {key: STAND_INS[key] for key in ours()[name].pattern.converters if key != "study"}
    hosted = HostedStudy.objects.get(token=study)
    filled = {key: each if isinstance(each, str) else each(hosted) for key, each in fillings.items()}
    return reverse(name, kwargs={"study": below or study, **filled})
