"""Whatever a script sends, it gets an answer: never a failure of the server, never a trace of the machinery.

What schemathesis draws from an API description, Hypothesis draws here from the forms themselves: these addresses
take forms and give JSON to scripts, so there is no such description to draw from.
"""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from theodolite.domain.event import Role

pytestmark = pytest.mark.integration

MACHINERY = re.compile(r"Traceback|django|\.py\b|sqlite|Exception", re.IGNORECASE)
ODD = st.one_of(
    st.text(max_size=40),
    st.sampled_from(["", "0", "-1", "999999999999999999999", "1e9", "NaN", "\x00", "yes", "a:b@c", "null", "[]", "{}"]),
)
KEYS = st.one_of(
    st.sampled_from(
        ["key", "a:severity", "a:released", "a:harm@1", "number", "text", "broke", "words", "turn", "hand_in"]
    ),
    st.text(max_size=12),
)
FORMS = st.dictionaries(KEYS, st.one_of(ODD, st.lists(ODD, max_size=3)), max_size=5)
DRAWN = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def is_calm(answer) -> bool:
    body = b"".join(answer.streaming_content).decode() if answer.streaming else answer.content.decode()
    return answer.status_code < 500 and not MACHINERY.search(body.partition("<main")[2] or body)


@pytest.fixture
def anna(client_as):
    client = client_as(Role.ANNOTATOR)
    client.raise_request_exception = False
    return client


def test_addresses_of_annotators_respond_to_any_input(anna, event):
    sheet = anna.post(reverse("annotator:take", args=[event.token])).headers["Location"]

    @DRAWN
    @given(form=FORMS, place=st.sampled_from(["answer/", "undo/", "submit/", "flag/", "comment/"]), query=ODD)
    def sent(form, place, query):
        for headers in ({"accept": "application/json"}, {}):
            assert is_calm(anna.post(f"{sheet}{place}", form, headers=headers))
        assert is_calm(anna.get(sheet, {"at": query}))

    sent()


def test_addresses_of_testers_respond_to_any_input(client_as, event):
    ravi = client_as(Role.RED_TEAMER)
    ravi.raise_request_exception = False
    home = reverse("tester:home", args=[event.token])
    begin(ravi, home)

    @DRAWN
    @given(form=FORMS, place=st.sampled_from(["unsent/", "1/notes/", "1/1/mark/", "1/1/retry/", "state/", "end/"]))
    def sent(form, place):
        for headers in ({"accept": "application/json"}, {"hx-request": "true"}, {"x-part": "turn"}):
            assert is_calm(ravi.post(f"{home}1/{place}", form, headers=headers))

    sent()
    ravi.post(f"{home}1/end/")

    @DRAWN
    @given(form=FORMS)
    def answered(form):
        assert is_calm(ravi.post(f"{home}1/questions/1/", form, headers={"x-autosave": "1"}))

    answered()


def begin(client, home):
    page = client.get(f"{home}consent/").content.decode()
    client.post(f"{home}consent/", dict(re.findall(r'type="checkbox" name="(\w+)" value="(\w+)"', page)))
    client.post(f"{home}profile/", {"skip": "yes"})
    task = client.get(f"{home}1/instructions/").content.decode()
    client.post(f"{home}1/instructions/", {"version": re.search(r'name="version" value="(\w+)"', task)[1]})
