from __future__ import annotations

import pytest

from theodolite.gateways.signatures import keywords_of


@pytest.mark.parametrize(
    ("function", "taken"),
    [
        (lambda prompt: prompt, ()),
        (lambda prompt, context: prompt, ("context",)),
        (lambda prompt, *, history=(), other=0: prompt, ("history",)),
        (lambda prompt, **rest: prompt, ("context", "history")),
        (lambda context: context, ()),
        (lambda *, context: context, ("context",)),
        (type, ()),
    ],
)
def test_a_function_is_given_what_it_names_beside_its_first_argument(function, taken):
    assert keywords_of(function, ("context", "history")) == taken
