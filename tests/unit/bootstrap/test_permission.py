"""Credentials of teams under the operator's key."""

from __future__ import annotations

import pytest

from theodolite.bootstrap.permission import (
    VARIABLE,
    key_request,
    key_variable,
    sealed,
    unsealed,
    with_stored_keys,
    with_team_keys,
)
from theodolite.config.loading import load_study
from theodolite.domain.errors import InputError

KEY = "quiet harbour under a slow moon"


class Vault:
    """A store that holds one team's credentials."""

    def sealed_credentials(self, study: str) -> dict[str, bytes]:
        return {"a-b": sealed("tok-91c4", KEY)} if study == "event" else {}


def test_encrypted_values_are_decrypted_by_the_same_key_only():
    kept = sealed("tok-91c4", KEY)

    assert b"tok-91c4" not in kept
    assert unsealed(kept, KEY) == "tok-91c4"
    with pytest.raises(InputError, match="another `THEODOLITE_OPERATOR_KEY`"):
        unsealed(kept, KEY + "!")


def test_a_short_key_encrypts_nothing():
    with pytest.raises(InputError, match="20 letters or more"):
        sealed("tok-91c4", "short")


def test_a_run_finds_credentials_under_the_names_in_the_study_file():
    environ = {VARIABLE: KEY, "OTHER": "1"}

    assert with_team_keys(environ, Vault(), "event")[key_variable("a-b")] == "tok-91c4"
    assert with_team_keys(environ, Vault(), "another") == environ
    assert with_team_keys({"OTHER": "1"}, Vault(), "event") == {"OTHER": "1"}


def test_environment_variables_take_precedence():
    environ = {VARIABLE: KEY, key_variable("a-b"): "own"}

    assert with_team_keys(environ, Vault(), "event")["SUBMISSION_A_B"] == "own"


class KeyVault:
    """A store that holds one key of an organiser, for `api.example.org`."""

    def stored_keys(self, study: str) -> list[tuple[str, str, bytes]]:
        return [("STUDY_KEY_JUDGE", "api.example.org", sealed("key-77", KEY))]


STUDY = """
study: keyed
applications:
  bot: {kind: recorded, file: rows.csv, id: id, prompt: prompt, response: response}
models:
  far: {url: ADDRESS, name: m, key: STUDY_KEY_JUDGE}
judges:
  reader: {model: far, guideline: tone}
guidelines:
  tone: {ask: Is it polite?, scale: ["yes", "no"], defect: "== no"}
"""


@pytest.mark.parametrize(
    ("url", "key"),
    [
        pytest.param("https://api.example.org/v1", "key-77", id="its own host"),
        pytest.param("https://evil.example.net/v1", None, id="another host"),
        pytest.param("https://api.example.org:8443/v1", None, id="another port"),
    ],
)
def test_a_stored_key_is_sent_to_its_own_host_only(tmp_path, url, key):
    (tmp_path / "rows.csv").write_text("id,prompt,response\n1,Hi,Hello\n", encoding="utf-8")
    (tmp_path / "study.yaml").write_text(STUDY.replace("ADDRESS", url), encoding="utf-8")
    loaded = load_study(tmp_path)
    environ = with_stored_keys({VARIABLE: KEY}, KeyVault(), loaded.study)

    assert environ.get("STUDY_KEY_JUDGE") == key
    assert key_request(loaded, environ) is None
    assert with_stored_keys({}, KeyVault(), loaded.study) == {}
