"""Which environment variables a study sends, and where, is known before anything is sent."""

from __future__ import annotations

import pytest

from theodolite.config.loading import load_study
from theodolite.config.required_access import OWN_HOSTS, host_shown, is_own_host, named_keys

SCENARIO = "scenarios: {buy: {scripts: {hello: [Hello]}}}\n"


def keys_of(folder, text, *, files=()):
    folder.mkdir(exist_ok=True)
    for name in files:
        (folder / name).write_text("def answer(prompt):\n    return prompt\n")
    (folder / "study.yaml").write_text(f"study: shop\n{text}{SCENARIO}")
    return [(use.shown, use.users, use.needs_permission) for use in named_keys(load_study(folder).study)]


def test_a_key_for_a_foreign_host_needs_permission(tmp_path):
    text = (
        "models: {m: {url: 'https://collector.example/v1', name: x, key: AWS_SECRET_ACCESS_KEY}}\n"
        "applications: {app: {kind: model, model: m}}\n"
    )

    assert keys_of(tmp_path, text) == [("AWS_SECRET_ACCESS_KEY to collector.example", ("model m",), True)]


@pytest.mark.parametrize(
    ("connection", "shown", "needed"),
    [
        ("{proxy: 'http://p.example:1'}", "OPENAI_API_KEY to api.openai.com, through the proxy p.example:1", False),
        ("{ca: own.py}", "OPENAI_API_KEY to api.openai.com, trusting own.py", True),
        ("{proxy: none}", "OPENAI_API_KEY to api.openai.com", False),
    ],
)
def test_a_certificate_authority_of_the_study_can_read_every_key(tmp_path, connection, shown, needed):
    text = (
        f"connection: {connection}\n"
        "models: {m: {url: 'https://api.openai.com/v1', name: x, key: OPENAI_API_KEY}}\n"
        "applications: {app: {kind: model, model: m}}\n"
    )

    assert keys_of(tmp_path, text, files=["own.py"]) == [(shown, ("model m",), needed)]


@pytest.mark.parametrize(
    ("variable", "url"),
    [
        ("OPENAI_API_KEY", "https://api.openai.com/v1"),
        ("OPENAI_API_KEY", "https://API.OPENAI.COM:443/v1"),
        ("ANTHROPIC_API_KEY", "https://api.anthropic.com/v1"),
        ("GROQ_API_KEY", "https://api.groq.com/openai/v1"),
    ],
)
def test_the_key_of_a_provider_is_sent_to_its_own_host_without_permission(variable, url):
    assert is_own_host(variable, url)


@pytest.mark.parametrize(
    ("variable", "url"),
    [
        ("OPENAI_API_KEY", "http://api.openai.com/v1"),
        ("OPENAI_API_KEY", "https://api.openai.com:8443/v1"),
        ("OPENAI_API_KEY", "https://api.openai.com.evil.example/v1"),
        ("OPENAI_API_KEY", "https://evil.example/api.openai.com"),
        ("OPENAI_API_KEY", "https://evil.example#api.openai.com"),
        ("OPENAI_API_KEY", "https://\u0430pi.openai.com/v1"),
        ("OPENAI_API_KEY", "https://api.anthropic.com/v1"),
        ("AZURE_OPENAI_API_KEY", "https://resource-of-anybody.openai.azure.com/openai/v1"),
        ("AZUREAI_API_KEY", "https://resource-of-anybody.services.ai.azure.com/models"),
        ("OPENAI_ADMIN_KEY", "https://api.openai.com/v1"),
        ("GEMINI_API_SECRET", "https://generativelanguage.googleapis.com/v1beta/openai"),
        ("AWS_SECRET_ACCESS_KEY", "https://api.openai.com/v1"),
        ("MY_KEY", "http://127.0.0.1:8000/v1"),
    ],
)
def test_every_other_pair_of_key_and_host_needs_permission(variable, url):
    assert not is_own_host(variable, url)


def test_no_listed_host_can_be_registered_by_customers_of_a_provider():
    assert [host for hosts in OWN_HOSTS.values() for host in hosts if host.startswith(".") or "*" in host] == []


def test_the_token_of_an_application_needs_permission_too(tmp_path):
    text = "applications: {app: {kind: http, url: 'https://bot.example:8443/{{ turn }}', key: GITHUB_TOKEN, body: {m: '{{ prompt }}'}}}\n"  # noqa: E501

    assert keys_of(tmp_path, text) == [("GITHUB_TOKEN to bot.example:8443", ("application app",), True)]


def test_variables_of_code_are_part_of_the_permission_of_the_code(tmp_path):
    text = "applications: {app: {kind: python, call: 'bot.py:answer', env: [SHOP_KEY]}}\n"

    assert keys_of(tmp_path, text, files=["bot.py"]) == [
        ("SHOP_KEY to the code bot.py:answer", ("application app",), False)
    ]


@pytest.mark.parametrize(
    ("entry", "shown", "needed"),
    [
        ("name: openai/gpt-5", None, False),
        ("name: openai/gpt-5, key: OPENAI_API_KEY", "OPENAI_API_KEY to openai, through Inspect", False),
        ("name: openai/gpt-5, key: AWS_SECRET", "AWS_SECRET to openai, through Inspect", True),
        (
            "name: openai/gpt-5, url: 'https://collector.example/v1'",
            "the key that Inspect finds for openai to collector.example",
            True,
        ),
        (
            "name: openai-api/vault/x, url: 'https://collector.example/v1'",
            "the key that Inspect finds for vault to collector.example",
            True,
        ),
    ],
    ids=["own-host", "own-key", "other-key", "other-host", "other-service"],
)
def test_keys_that_inspect_reads_need_permission_where_the_study_sets_the_host(tmp_path, entry, shown, needed):
    text = f"models: {{m: {{kind: inspect, {entry}}}}}\napplications: {{app: {{kind: model, model: m}}}}\n"

    assert keys_of(tmp_path, text) == ([(shown, ("model m",), needed)] if shown else [])


def test_a_lookalike_host_is_shown_in_punycode():
    assert host_shown("https://\u0430pi.openai.com/v1") == "xn--pi-6kc.openai.com"
    assert host_shown("https://[::1]:8000/v1") == "[::1]:8000"
