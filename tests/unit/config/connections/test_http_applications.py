"""Bodies of requests to HTTP applications: JSON or the fields of a form, and nothing half of both."""

from __future__ import annotations

import json

import pytest

from theodolite.config.assembly import expanded
from theodolite.config.loading import check_study, load_study
from theodolite.domain.application import BodyFormat
from theodolite.domain.errors import Severity
from theodolite.domain.identity import version_of

STUDY = """study: a
models: {m: {script: [Hello]}}
applications: {app: {kind: http, url: "http://x.example/%s", %s}}
scenarios: {s: {scripts: {hello: Hello}}}
judges: {j: {ask: Polite?, defect: "== no", model: m}}
"""
SENDS = 'body: {q: "{{ prompt }}", n: 3, tags: [a, "{{ session }}"]}'
SAID = '"{{ prompt }}"'


def application(folder, keys):
    return load_study(folder(study_yaml=STUDY % ("", keys))).study.applications[0]


def faults_of(folder, keys, path=""):
    faults = check_study(folder(study_yaml=STUDY % (path, keys)), environ={})
    return [fault.message for fault in faults if fault.severity is Severity.ERROR]


def test_a_body_is_sent_as_json_by_default(folder):
    plain, said = application(folder, SENDS), application(folder, f"{SENDS}, body_as: json")

    assert plain.connection.body_as is BodyFormat.JSON
    assert version_of(plain) == version_of(said), "what is said is what was meant before anybody could say it"


def test_another_body_encoding_is_another_application_version(folder):
    plain, form = application(folder, SENDS), application(folder, f"{SENDS}, body_as: form")

    assert (form.connection.body_as, form.connection.body) == (BodyFormat.FORM, plain.connection.body)
    assert version_of(form) != version_of(plain)


def test_the_long_form_of_a_study_preserves_the_body_encoding(folder):
    study = load_study(folder(study_yaml=STUDY % ("", f"{SENDS}, body_as: form"))).study

    again = load_study(folder(study_yaml=expanded(study))).study

    assert again.applications == study.applications
    assert json.loads(again.applications[0].connection.body)["n"] == 3


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (f"body_as: fom, body: {{q: {SAID}}}", "`body_as` of application `app` is `fom`. Did you mean `form`?"),
        ("body_as: form, body: 'q={{ prompt }}'", "`body` is a text; a form is a mapping from field to text"),
        (f"body_as: form, body: [{SAID}]", "`body` is a list; a form is a mapping from field to text"),
        (f"body_as: form, body: {{user: {{name: {SAID}}}}}", "e.g. `user[name]: ...`"),
        (f"body_as: form, body: {{q: {SAID}, user: }}", "field `user` of the form is empty; expected a text"),
        (f"body_as: form, body: {{q: {SAID}, l: [a, [b]]}}", "an item of field `l` of the form is a list"),
        ("body_as: form, body: {q: '{{ promt }}'}", "{{ promt }} is filled by nothing. Did you mean `prompt`?"),
        ("body_as: form, body: {q: Hello}", "{{ prompt }} stands nowhere"),
    ],
)
def test_a_body_that_cannot_be_form_encoded_is_an_error(folder, keys, words):
    (fault,) = faults_of(folder, keys)

    assert words in fault


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("body_as: form", "`body_as: form` needs `body`"),
        ("body_as: form, method: GET", "`method: GET` sends no body; leave `body_as` out"),
        ("body_as: form, method: GET, body: {q: a}", "`method: GET` sends no body; put {{ prompt }} into `url`"),
        ("body: {q: a}, headers: {content-type: application/x-www-form-urlencoded}", "write `body_as: form`"),
        ("body: {q: a}, body_as: form, headers: {Content-Type: text/plain}", "say different things of the body"),
    ],
)
def test_a_form_needs_a_body_a_suitable_method_and_a_matching_header(folder, keys, words):
    (fault,) = faults_of(folder, keys, path="{{ prompt }}")

    assert words in fault


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded; charset=utf-8", "application/json"])
def test_a_header_may_state_the_content_type(folder, kind):
    body_as = BodyFormat.JSON if "json" in kind else BodyFormat.FORM

    assert not faults_of(folder, f'{SENDS}, body_as: {body_as.value}, headers: {{Content-Type: "{kind}"}}')
