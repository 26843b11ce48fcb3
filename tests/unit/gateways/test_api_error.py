"""A server's error is found however it is written."""

import json
from typing import Any

import pytest

from theodolite.gateways.api_error import ApiError, api_error_in, read_api_error


@pytest.mark.parametrize(
    ("body", "words", "code"),
    [
        ({"error": {"message": "no such model", "code": "model_not_found"}}, "no such model", "model_not_found"),
        ({"error": "model 'x' not found"}, "model 'x' not found", ""),
        ({"detail": "Not Found"}, "Not Found", ""),
        ({"message": "busy"}, "busy", ""),
        ({"error": {"message": "m", "code": 400}}, "m", ""),
        ({"error": {"message": "m", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}, "m", "Resp"),
        ([{"error": {"message": "no such key", "code": 400}}], "no such key", ""),
        ({"detail": [{"loc": ["body", "n", 0], "msg": "too many"}, {"msg": "odd"}]}, "body.n.0: too many; odd", ""),
        ({"object": "error", "message": {"detail": [{"loc": ["body"], "msg": "missing"}]}}, "body: missing", ""),
        ({"error": {"message": {"message": {"message": {"message": {"message": "deep"}}}}}}, "", ""),
        ({"ok": True}, "", ""),
        ([1], "", ""),
    ],
)
def test_json_complaints_are_read(body: Any, words: str, code: str) -> None:
    api_error = read_api_error(json.dumps(body).encode())

    assert api_error.words == words
    assert api_error.code.startswith(code)


@pytest.mark.parametrize(
    ("body", "words"),
    [(b"upstream away", "upstream away"), (b" <!doctype html><p>502", "with an HTML page"), (b"", ""), (b"\xff", "�")],
)
def test_other_complaints_are_read_too(body: bytes, words: str) -> None:
    assert read_api_error(body).words == words


def test_a_deeply_nested_body_does_no_harm() -> None:
    assert read_api_error(b"[" * 60_000).words.startswith("[")


@pytest.mark.parametrize("found", [None, [], "text", {"choices": []}, {"error": ""}, {"error": {}}])
def test_an_answer_without_complaint_has_none(found: Any) -> None:
    assert api_error_in(found) is None


def test_filters_and_empty_accounts_are_known_by_their_codes() -> None:
    assert ApiError(words="", code="content_filter").is_filter
    assert ApiError(words="", code="insufficient_quota").is_quota


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"message": "m", "type": "overloaded_error"}, 529),
        ({"message": "m", "code": 502, "type": "server_error"}, 502),
        ({"message": "m", "code": "429"}, 429),
        ({"message": "m", "code": 7, "type": "odd"}, 0),
        ({"message": "m", "code": None, "type": ["server_error"]}, 0),
    ],
)
def test_a_complaint_may_name_the_status_that_it_would_have_had(error: dict[str, Any], status: int) -> None:
    api_error = api_error_in({"error": error})

    assert api_error is not None
    assert api_error.status == status
