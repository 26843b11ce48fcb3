"""Proxy and certificates of calls: whole study or one endpoint, and messages about what cannot be used."""

from __future__ import annotations

import pytest

from theodolite.config.loading import check_study, load_study
from theodolite.config.required_access import hosts_of
from theodolite.domain.network import NetworkSettings

STUDY = """study: a
{study}
models:
  m: {{url: "https://m.example/v1", name: m{model}}}
applications:
  app: {{kind: http, url: "https://app.example/chat", body: {{q: "{{{{ prompt }}}}"}}}}
scenarios: {{s: {{scripts: {{hello: Hello}}}}}}
judges: {{j: {{ask: Polite?, defect: "== no", model: m}}}}
"""


def written(study="", model=""):
    return STUDY.format(study=study, model=f", connection: {model}" if model else "")


def loaded(folder, **texts):
    path = folder(study_yaml=written(**texts))
    (path / "ca.pem").write_text("authorities")
    return load_study(path).study


def test_connection_settings_of_the_study_apply_to_every_endpoint(folder):
    study = loaded(folder, study="connection: {proxy: 'http://p.example:3128/', no_proxy: [10.0.0.0/8], ca: ca.pem}")

    expected = NetworkSettings(proxy="http://p.example:3128", no_proxy=("10.0.0.0/8",), ca="ca.pem")
    assert study.models[0].network == expected
    assert study.applications[0].connection.network == expected


def test_connection_settings_of_an_endpoint_replace_those_of_the_study(folder):
    study = loaded(folder, study="connection: {proxy: 'http://p.example:3128'}", model="{proxy: none}")

    assert study.models[0].network == NetworkSettings(proxy="none")
    assert study.applications[0].connection.network.proxy == "http://p.example:3128"


def test_connection_settings_are_not_part_of_the_version_of_an_application(folder):
    plain, proxied = loaded(folder), loaded(folder, study="connection: {proxy: 'http://p.example:3128'}")

    assert plain.run_fingerprint == proxied.run_fingerprint
    assert plain.models[0].version == proxied.models[0].version


def test_the_proxy_of_a_study_is_listed_among_its_hosts(folder):
    assert "p.example:3128" in hosts_of(loaded(folder, study="connection: {proxy: 'http://p.example:3128'}"))


@pytest.mark.parametrize(
    ("connection", "place", "words"),
    [
        ("{proxy: 'http://ana:secret@p.example'}", "study.yaml:2:21", "set `HTTPS_PROXY`"),
        ("{proxy: 'socks5://p.example:1080'}", "study.yaml:2:21", "only HTTP proxies are supported"),
        ("{proxy: p.example}", "study.yaml:2:21", "expected `http://HOST:PORT`"),
        ("{proxy: 'http://p.example:port'}", "study.yaml:2:21", "expected `http://HOST:PORT`"),
        ("{no_proxy: [a.example]}", "study.yaml:2:24", "`no_proxy` needs `proxy`"),
        ("{ca: missing.pem}", "study.yaml:2:18", "there is no file `missing.pem`"),
        ("{ca: ../../outside.pem}", "study.yaml:2:18", "there is no file"),
        ("{ca: /etc/hostname}", "study.yaml:2:18", "leads out of the study's folder"),
        ("{client_key: ca.pem}", "study.yaml:2:26", "`client_key` needs `client_cert`"),
        ("{client_cert: ca.pem, client_key_password: hunter2 x}", "study.yaml:2:56", "name of an environment variable"),
        ("{proxies: x}", "study.yaml:2:14", "proxy"),
    ],
)
def test_unusable_settings_are_errors(folder, connection, place, words):
    path = folder(study_yaml=written(study=f"connection: {connection}"))
    (path / "ca.pem").write_text("authorities")

    faults = check_study(path)

    assert any(fault.place == place and words in fault.message for fault in faults)
    assert not any("ana:secret" in fault.message for fault in faults)


def test_a_model_called_through_inspect_uses_its_own_connections(folder):
    path = folder(
        study_yaml=written()
        .replace("url: ", "kind: inspect, url: ")
        .replace("name: m", "name: a/b, connection: {proxy: none}")
    )

    assert any("makes its own connections" in fault.message for fault in check_study(path))
