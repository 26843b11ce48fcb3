"""Requests are filled strictly, and no prompt can change their form."""

import json
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theodolite.domain.application import HTTP_SLOTS
from theodolite.domain.errors import InputError, TemplateError
from theodolite.domain.flow import Exchange, SayToApplication
from theodolite.gateways.templates import (
    LARGEST_TEXT,
    address_template,
    body_template,
    form_template,
    text_template,
    variables_of,
)

SAID = SayToApplication(
    application="app",
    prompt='He said "stop" {{ turn }}',
    turn=2,
    history=(Exchange(prompt="hi", response="hello"),),
    context="30 days",
)
VARIABLES = variables_of(SAID, session="s-1")


def filled(body: str) -> object:
    return body_template(body, what="`body`")(VARIABLES)


def test_texts_are_filled_inside_the_document() -> None:
    body = {"q": "{{ prompt }}", "meta": [{"sid": "{{ session }}-{{ turn }}"}, 7, None], "doc": "{{ context }}"}

    assert filled(json.dumps(body)) == {
        "q": 'He said "stop" {{ turn }}',
        "meta": [{"sid": "s-1-2"}, 7, None],
        "doc": "30 days",
    }


@given(prompt=st.text())
def test_whatever_the_prompt_the_form_of_the_body_stays(prompt: str) -> None:
    fill = body_template('{"a": {"q": "{{ prompt }}"}, "b": 1}', what="`body`")

    assert fill(VARIABLES | {"prompt": prompt}) == {"a": {"q": prompt}, "b": 1}


def test_history_and_turn_alone_keep_their_type() -> None:
    assert filled('["{{ history }}", "{{ turn }}", "turn {{ turn }}"]') == [
        [{"prompt": "hi", "response": "hello"}],
        2,
        "turn 2",
    ]


def fields(body: object, **variables: object) -> list[tuple[str, str]]:
    written = form_template(json.dumps(body), what="`body`")(VARIABLES | variables)
    return parse_qsl(written, keep_blank_values=True, strict_parsing=True)


def test_the_fields_of_a_form_are_texts_a_list_is_its_field_several_times_and_the_rest_is_json() -> None:
    body = {"q": "{{ prompt }}", "n": "{{ turn }}", "all": "{{ history }}", "tag": ["a", "{{ session }}"]}

    assert fields(body | {"none": [], "on": True, "x": 1.5, "": ""}) == [
        ("q", 'He said "stop" {{ turn }}'),
        ("n", "2"),
        ("all", '[{"prompt": "hi", "response": "hello"}]'),
        ("tag", "a"),
        ("tag", "s-1"),
        ("on", "true"),
        ("x", "1.5"),
        ("", ""),
    ]


@given(prompt=st.text())
def test_no_prompt_can_add_a_field_to_a_form(prompt: str) -> None:
    assert fields({"q": "{{ prompt }}", "b": "1"}, prompt=prompt) == [("q", prompt), ("b", "1")]


def test_letters_that_nothing_can_encode_do_not_end_a_form() -> None:
    assert fields({"q": "{{ prompt }}"}, prompt="a\ud800b") == [("q", "a?b")]


@pytest.mark.parametrize("body", ['["{{ prompt }}"]', '"{{ prompt }}"', "3"])
def test_a_form_of_no_fields_is_refused(body: str) -> None:
    with pytest.raises(InputError, match="must be an object of texts"):
        form_template(body, what="`body`")


def test_values_in_an_address_are_encoded() -> None:
    fill = address_template("http://h/ask?q={{ prompt }}&s={{ session }}", what="`url`")

    assert fill(VARIABLES | {"prompt": "a&b=c/../d é"}) == "http://h/ask?q=a%26b%3Dc%2F..%2Fd%20%C3%A9&s=s-1"


@pytest.mark.parametrize("source", ["{{ prompt.secret.deep }}", "{{ 1 / 0 }}", "{{ prompt + 1 }}"])
@pytest.mark.parametrize("template", [text_template, address_template])
def test_what_cannot_be_filled_is_said(template, source: str) -> None:
    with pytest.raises(TemplateError, match="`q`: the template cannot be filled"):
        template(source, what="`q`")(VARIABLES)


@pytest.mark.parametrize("template", [text_template, address_template, body_template])
def test_a_slot_that_nothing_fills_is_said_before_anything_is_sent(template) -> None:
    with pytest.raises(InputError, match="names `nme`, which nothing fills; it may name prompt, session"):
        template('"{{ nme }}"', what="`q`")


def test_what_a_study_is_checked_for_is_what_a_request_fills() -> None:
    assert set(HTTP_SLOTS) == set(VARIABLES)


@pytest.mark.parametrize("source", ["{{ prompt", "{% if %}", "{{ prompt | nofilter }}", "{{ range(9) }}"])
def test_what_is_no_template_is_said_before_anything_is_sent(source: str) -> None:
    with pytest.raises(InputError, match="not a template"):
        body_template(json.dumps({"q": source}), what="`body`")


@pytest.mark.parametrize("body", ["{", "", "{'q': 1}"])
def test_a_body_that_is_no_json_is_said(body: str) -> None:
    with pytest.raises(InputError, match="must be a JSON document"):
        body_template(body, what="`body`")


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ self.__init__.__globals__ }}",
        "{{ prompt | random }}",
        "{{ history.append(1) }}",
    ],
)
def test_the_sandbox_holds(source: str) -> None:
    with pytest.raises(InputError):
        text_template(source, what="`q`")(VARIABLES)


def test_a_template_does_not_grow_without_end() -> None:
    with pytest.raises(TemplateError, match="longer than 1000000 characters"):
        text_template("{% for a in context %}{{ context }}{% endfor %}", what="`q`")(
            VARIABLES | {"context": "x" * (LARGEST_TEXT // 100)}
        )
