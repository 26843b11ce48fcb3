"""Parts of a plan that an operator selects."""

from types import SimpleNamespace

import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.plan import TesterKind, selection_of


def setting(application, scenario, tester, kind=TesterKind.PERSONA):
    return SimpleNamespace(application=application, scenario=scenario, tester=tester, kind=kind)


class Sessions:
    settings = (
        setting("v1", "returns", "customers-1"),
        setting("v2", "returns", "customers-1"),
        setting("v1", "returns", "customers-2"),
        setting("v2", "returns", "customers-2"),
        setting("v1", "cases", "c014", TesterKind.SCRIPT),
        setting("v2", "cases", "c014", TesterKind.SCRIPT),
    )

    def __len__(self):
        return len(self.settings)

    def setting(self, position):
        return self.settings[position]


ROWS = (SimpleNamespace(values={"name": "Ana"}), SimpleNamespace(values={"wish": "a refund"}))
CUSTOMERS = SimpleNamespace(name="customers", rows=ROWS, key=lambda place: f"customers-{place + 1}")


@pytest.mark.parametrize(
    ("texts", "positions"),
    [
        ((), [0, 1, 2, 3, 4, 5]),
        (("application=v2",), [1, 3, 5]),
        (("application=v2", "application=v1"), [0, 1, 2, 3, 4, 5]),
        (("application=v2", "scenario=returns"), [1, 3]),
        (("persona=Ana",), [0, 1]),
        (("persona=customers-2",), [2, 3]),
        (("persona=customers",), [0, 1, 2, 3]),
        (("case=c014", "application=v1"), [4]),
    ],
    ids=["all", "one", "two", "two keys", "name", "key", "group", "case"],
)
def test_values_of_one_key_are_alternatives_and_different_keys_must_all_apply(texts, positions):
    part = selection_of(texts, Sessions(), [CUSTOMERS])

    assert list(part.positions(Sessions())) == positions
    assert part.is_all == (not texts)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (("application",), "expected KEY=VALUE, where KEY is application, scenario, persona or case"),
        (("application=",), "expected KEY=VALUE"),
        (("scenarios=returns",), "Did you mean `scenario`?"),
        (("scenario=retuns",), "names no scenario of the plan. Did you mean `returns`?"),
        (("persona=c014",), "names no persona of the plan"),
        (("case=c014", "persona=Ana"), "no dialogue of the plan has all of case=c014, persona=Ana"),
    ],
    ids=["no value", "empty value", "key", "value", "a case", "nothing left"],
)
def test_a_text_that_selects_nothing_is_an_error(texts, message):
    with pytest.raises(InputError, match=message):
        selection_of(texts, Sessions(), [CUSTOMERS])
