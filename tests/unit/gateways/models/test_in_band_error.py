"""What passes is asked again though the server said 200 first; what stays is left to whoever reads the answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from theodolite.domain.errors import RateLimited, ServerFault
from theodolite.gateways.models.in_band_error import passing_error
from theodolite.gateways.secret_redaction import Secret

SECRET = Secret("swordfish-9")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": 429, "message": "slower, swordfish-9"}, RateLimited),
        ({"type": "overloaded_error", "message": "slower, swordfish-9"}, RateLimited),
        ({"code": "502", "message": "slower, swordfish-9"}, ServerFault),
    ],
)
@pytest.mark.parametrize("form", ["{}", 'data: {{"choices": []}}\n\ndata: {}\n\n'])
def test_what_would_pass_under_its_own_status_passes_here_too(error: Any, kind: type, form: str) -> None:
    attempt_error = passing_error(form.format(json.dumps({"error": error})).encode(), SECRET)

    assert attempt_error is not None
    assert (attempt_error.kind, attempt_error.words) == (kind, "200 with an error: slower, ***")


@pytest.mark.parametrize(
    "error",
    [
        {"code": "content_filter", "type": "server_error", "message": "withheld"},
        {"code": "500", "innererror": {"code": "ResponsibleAIPolicyViolation"}},
        {"code": "insufficient_quota", "type": "rate_limit_error", "message": "no money left"},
        {"code": 400, "message": "no such field"},
        "something",
        None,
    ],
)
def test_what_no_further_try_mends_is_not_asked_again(error: Any) -> None:
    assert passing_error(json.dumps({"error": error}).encode(), SECRET) is None
