"""Credentials of teams under the operator's key."""

from __future__ import annotations

import pytest

from theodolite.bootstrap.permission import VARIABLE, key_variable, sealed, unsealed, with_team_keys
from theodolite.domain.errors import InputError

KEY = "quiet harbour under a slow moon"


class Vault:
    """A store that holds one team's credentials."""

    def sealed_credentials(self, study: str) -> dict[str, bytes]:
        return {"a-b": sealed("tok-91c4", KEY)} if study == "event" else {}


def test_what_is_sealed_is_opened_by_the_same_key_only():
    kept = sealed("tok-91c4", KEY)

    assert b"tok-91c4" not in kept
    assert unsealed(kept, KEY) == "tok-91c4"
    with pytest.raises(InputError, match="another `THEODOLITE_OPERATOR_KEY`"):
        unsealed(kept, KEY + "!")


def test_a_short_key_seals_nothing():
    with pytest.raises(InputError, match="20 letters or more"):
        sealed("tok-91c4", "short")


def test_a_run_finds_credentials_under_the_names_of_the_study_file():
    environ = {VARIABLE: KEY, "OTHER": "1"}

    assert with_team_keys(environ, Vault(), "event")[key_variable("a-b")] == "tok-91c4"
    assert with_team_keys(environ, Vault(), "another") == environ
    assert with_team_keys({"OTHER": "1"}, Vault(), "event") == {"OTHER": "1"}


def test_what_the_environment_says_itself_goes_first():
    environ = {VARIABLE: KEY, key_variable("a-b"): "own"}

    assert with_team_keys(environ, Vault(), "event")["SUBMISSION_A_B"] == "own"
