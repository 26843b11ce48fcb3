from __future__ import annotations

from datetime import date

import pytest
from ruamel.yaml import YAML

from theodolite.config.connections import url_problem
from theodolite.config.load_context import shipped_text
from theodolite.config.loading import check_study, load_study
from theodolite.config.models import known_price
from theodolite.config.required_access import hosts_of
from theodolite.config.starters import StarterKind, write_starter
from theodolite.domain.application import CacheUse, ModelKind, Price
from theodolite.domain.errors import InputError, Severity

STUDY = """study: a
models: {m: %s}
applications: {app: {kind: model, model: m}}
scenarios: {s: {scripts: {hello: Hello}}}
judges: {j: {ask: Polite?, defect: "== no", model: m}}
"""


def model(folder, text):
    return load_study(folder(study_yaml=STUDY % text)).study.models[0]


def test_parameters_have_the_types_that_an_endpoint_expects(folder):
    text = "{url: 'http://x.example/v1', name: x, params: {temperature: 0, top_p: 0.5, stop: '0', logprobs: true}}"

    assert model(folder, text).params == {"temperature": 0, "top_p": 0.5, "stop": "0", "logprobs": True}


def test_parameters_may_be_nested_and_null_removes_a_field(folder):
    text = "{url: 'http://x.example/v1', name: x, params: {stop: [a], thinking: {budget: 9}, max_tokens: null}}"

    assert model(folder, text).params == {"stop": ["a"], "thinking": {"budget": 9}, "max_tokens": None}


def test_a_parameter_without_a_value_is_an_error(folder):
    path = folder(study_yaml=STUDY % "{url: 'http://x.example/v1', name: x, params: {seed: }}")

    faults = check_study(path)

    assert [fault.place for fault in faults] == ["study.yaml:2:65"]
    assert "expected a value, or `null`" in faults[0].message


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("{url: 'https://api.anthropic.com/v1', name: x}", ModelKind.ANTHROPIC),
        ("{url: 'https://api.anthropic.com/v1', name: x, kind: openai}", ModelKind.OPENAI),
        ("{url: 'http://127.0.0.1:1/v1', name: x, kind: anthropic}", ModelKind.ANTHROPIC),
        ("{url: 'http://127.0.0.1:1/v1', name: x}", ModelKind.OPENAI),
        ("{script: [a]}", ModelKind.OPENAI),
        ("{url: 'https://api.openai.com/v1', name: x, kind: responses}", ModelKind.RESPONSES),
        ("{url: 'https://generativelanguage.googleapis.com/v1beta', name: x}", ModelKind.GEMINI),
        ("{url: 'https://generativelanguage.googleapis.com/v1beta/openai', name: x}", ModelKind.OPENAI),
        ("{url: 'https://bedrock-runtime.eu-west-1.amazonaws.com', name: x}", ModelKind.BEDROCK),
        ("{url: 'https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1', name: x, key: K}", ModelKind.OPENAI),
        (
            "{url: 'https://europe-west1-aiplatform.googleapis.com/v1/projects/p/publishers/google', name: x}",
            ModelKind.VERTEX,
        ),
        (
            "{url: 'https://aiplatform.googleapis.com/v1/projects/p/endpoints/openapi', name: x, key: K}",
            ModelKind.OPENAI,
        ),
    ],
)
def test_an_address_implies_its_format_unless_the_study_sets_it(folder, text, kind):
    assert model(folder, text).kind is kind


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("{url: 'https://x.example/v1', name: x}", ""),
        ("{url: 'https://r.openai.azure.com/openai/v1', name: x}", "api-key"),
        ("{url: 'https://r.openai.azure.com/openai/v1', name: x, key: K, key_header: Authorization}", "Authorization"),
        ("{url: 'https://x.example/v1', name: x, key: K, key_header: X-Api-Key}", "X-Api-Key"),
        ("{url: 'https://openai.azure.com.x.example/v1', name: x}", ""),
    ],
)
def test_an_address_implies_the_header_of_its_key_unless_the_study_sets_it(folder, text, header):
    assert model(folder, text).key_header == header


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{url: 'http://x.example/v1/chat/completions', name: x}", "leave `/chat/completions` out"),
        ("{url: 'http://x.example/v1/messages/?a=b', name: x}", "leave `/messages` out"),
        ("{url: 'http://x.example/v1', name: x, key_header: 'X: y'}", "expected the name of a header"),
        ("{url: 'http://x.example/v1', name: x, key_header: X-Key}", "`key_header` needs `key`"),
        ("{kind: inspect, name: google/x, key_header: X-Key}", "leave `key_header` out"),
    ],
)
def test_an_unusable_endpoint_is_an_error(folder, text, words):
    [fault] = check_study(folder(study_yaml=STUDY % text))

    assert words in fault.message


def test_a_price_in_the_study_takes_precedence_over_the_list(folder):
    text = "{url: 'https://api.openai.com/v1', name: gpt-4o-mini, price: {input: 1, output: 2, as_of: 2026-10-01}}"

    assert model(folder, text).price == Price(input_usd=1.0, output_usd=2.0, as_of="2026-10-01")


def test_a_listed_price_applies_to_the_address_of_its_provider():
    price = known_price("https://api.openai.com/v1", "gpt-4o-mini")

    assert price == Price(input_usd=0.15, output_usd=0.6, as_of="2024-07-18")
    assert known_price("http://127.0.0.1:8000/v1", "gpt-4o-mini") is None
    assert known_price("http://[", "gpt-4o-mini") is None


def test_a_script_needs_no_address(folder):
    endpoint = model(folder, "{script: [Hello, 'Bye']}")

    assert (endpoint.script, endpoint.is_scripted) == (("Hello", "Bye"), True)


CREDENTIALS = [
    "https://ana:Pa55word@h.example/v1",
    "https://Pa55word@h.example/v1",
    "https://:Pa55word@h.example/v1",
    "https://an a:Pa55word@h.example/v1",
    "https://ana:Pa55/word@h.example/v1",
    "https://ana:p@Pa55word@h.example:99999/v1",
    "//ana:Pa55word@h.example",
    "ana:Pa55word@h.example/v1",
]


@pytest.mark.parametrize("url", CREDENTIALS)
@pytest.mark.parametrize(
    "study",
    [
        STUDY % '{url: "%s", name: x}',
        STUDY.replace("{kind: model, model: m}", '{kind: http, url: "%s", body: {q: "{{ prompt }}"}}').replace(
            "{m: %s}", "{m: {script: [a]}}"
        ),
    ],
    ids=["model", "application"],
)
def test_a_password_in_an_address_is_an_error_and_never_repeated(folder, study, url):
    faults = check_study(folder(study_yaml=study % url))

    assert [fault.line for fault in faults if "environment variable" in fault.message] in ([2], [3])
    assert [fault for fault in faults if "Pa55" in str(fault)] == []


def test_a_password_is_never_written_to_the_first_files_of_a_study(tmp_path):
    with pytest.raises(InputError, match="no user and no password") as caught:
        write_starter(tmp_path / "new", StarterKind.APPLICATION, {"app": CREDENTIALS[0]})

    assert "Pa55" not in str(caught.value)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "url",
    [
        "https://x.example/@ana",
        "http://127.0.0.1:8000/v1",
        "https://x.example",
        "http://[::1]:80/",
        "https://x.example/{{ a b }}",
    ],
)
def test_valid_addresses_are_accepted(url):
    assert url_problem(url) == ""


@pytest.mark.parametrize("url", ["", "x.example", "ftp://x.example", "http://", "http://x y.example", "http://x:port"])
def test_malformed_addresses_are_refused(url):
    assert "not an address" in url_problem(url)


def test_limits_and_deadline_are_loaded(folder):
    limited = model(folder, "{url: 'http://h/v1', name: m, rpm: 60, tpm: 9000, parallel: 4, deadline: 90}")

    assert (limited.rpm, limited.tpm, limited.parallel, limited.deadline_s) == (60, 9000, 4, 90.0)


@pytest.mark.parametrize(
    ("written", "use"),
    [("yes", CacheUse.YES), ("true", CacheUse.YES), ("no", CacheUse.NO), ("False", CacheUse.NO), ("all", CacheUse.ALL)],
)
def test_the_cache_is_requested_by_keyword(folder, written, use):
    assert model(folder, f"{{url: 'http://h/v1', name: m, cache: {written}}}").cache is use


@pytest.mark.parametrize(("written", "structured"), [("yes", True), ("no", False), ("true", True)])
def test_a_study_may_require_or_disable_answer_schemas(folder, written, structured):
    assert model(folder, f"{{url: 'http://h/v1', name: m, structured: {written}}}").structured is structured


def test_answer_schemas_are_sent_where_supported_unless_the_study_decides_otherwise(folder):
    assert model(folder, "{url: 'http://h/v1', name: m}").structured is None


@pytest.mark.parametrize("wrong", ["structured: so", "cache: maybe", "rpm: 0", "tpm: -1", "deadline: 0", "rpm: many"])
def test_an_invalid_limit_is_one_error_at_its_location(folder, wrong):
    path = folder(study_yaml=STUDY % f"{{url: 'http://h/v1', name: m, {wrong}}}")

    [fault] = [fault for fault in check_study(path) if fault.severity is Severity.ERROR]
    assert fault.place.startswith("study.yaml:2:")
    assert wrong.partition(":")[0] in str(fault)


def test_every_listed_price_has_a_date_and_source_and_each_model_one_price():
    listed = YAML(typ="safe", pure=True).load(shipped_text("prices.yaml"))["prices"]
    models = [(entry["host"], model) for entry in listed for model in entry["models"]]

    assert len(set(models)) == len(models)
    assert all(date.fromisoformat(str(entry["as_of"])) and entry["source"] for entry in listed)


def test_a_model_behind_messages_has_a_listed_price(folder):
    opus = model(folder, "{url: 'https://api.anthropic.com/v1', name: claude-opus-5-5}")

    assert opus.price == Price(input_usd=4.0, output_usd=20.0, as_of="2026-09-23")


def test_a_model_through_inspect_needs_a_provider_and_no_address(folder):
    gemini = model(folder, "{kind: inspect, name: google/gemini-x, params: {temperature: 0}}")

    assert (gemini.kind, gemini.model, gemini.url, gemini.is_scripted) == (
        ModelKind.INSPECT,
        "google/gemini-x",
        "",
        False,
    )


@pytest.mark.parametrize("name", ["gemini-x", "google/", "/gemini-x"])
def test_a_model_through_inspect_without_a_provider_is_a_fault(folder, name):
    path = folder(study_yaml=STUDY % f"{{kind: inspect, name: {name}}}")

    faults = [fault for fault in check_study(path) if fault.severity is Severity.ERROR]
    assert "needs a `name` with its provider" in str(faults[0])


def test_a_model_through_inspect_is_listed_by_its_provider(folder):
    study = load_study(folder(study_yaml=STUDY % "{kind: inspect, name: google/gemini-x}")).study

    assert hosts_of(study) == ("google, through Inspect",)


@pytest.mark.parametrize(("found", "notes"), [(None, ["Inspect is not installed here"]), (object(), [])])
def test_validation_reports_a_missing_extra_for_inspect(folder, monkeypatch, found, notes):
    monkeypatch.setattr("theodolite.config.models.find_spec", lambda _name: found)
    path = folder(study_yaml=STUDY % "{kind: inspect, name: google/gemini-x}")

    said = [fault for fault in check_study(path, looks_at_code=True) if "Inspect is not" in fault.message]

    assert [fault.message.split(";")[0] for fault in said] == notes
    assert all(fault.severity is Severity.NOTE for fault in said)


def test_credentials_of_this_machine_for_a_foreign_host_are_an_error(folder):
    path = folder(study_yaml=STUDY % "{kind: vertex, url: 'https://models.example/v1', name: x}")

    faults = [fault for fault in check_study(path) if fault.severity is Severity.ERROR]
    assert "sends the credentials of this machine" in str(faults[0])
