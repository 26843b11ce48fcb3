from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest

from theodolite.config.loading import check_study, load_study
from theodolite.config.yaml_source import render_diagnostics
from theodolite.domain.application import ClaimKind, GuardrailSite, PromptedModel
from theodolite.domain.errors import Severity

STUDY = """study: a
models: {m: {script: [Hello]}}
applications: {app: %s}
scenarios: {s: {scripts: {hello: Hello}}}
judges: {j: {ask: Polite?, defect: "== no", model: m}}
"""


def application(folder, text, **files):
    return load_study(folder(study_yaml=STUDY % text, **files)).study.applications[0]


def test_an_http_body_preserves_its_types_and_its_templates(folder):
    text = '{kind: http, url: "http://x.example/{{ session }}", body: {q: "{{ prompt }}", n: 3, s: yes, t: [true]}}'

    connection = application(folder, text).connection

    assert json.loads(connection.body) == {"q": "{{ prompt }}", "n": 3, "s": "yes", "t": [True]}


def test_a_site_may_stream_create_sessions_and_use_a_regular_expression(folder):
    reached = 'kind: http, url: "http://x.example/?q={{ prompt }}"'
    text = "{%s, reply: {regex: '<a>(.*)</a>'}, stream: yes, session: $.id}" % reached  # noqa: UP031 - braces

    connection = application(folder, text).connection

    assert (connection.reply, connection.reply_pattern) == ("text", "<a>(.*)</a>")
    assert (connection.stream, connection.session) == (True, "$.id")


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ('reply: {regex: "("}', "`regex` is not a regular expression"),
        ("reply: {regx: a}", "mean `regex`?"),
        ("reply: answer", "expected a path such as"),
        ("session: id", "`session` is `id`; expected a path"),
    ],
)
def test_invalid_response_paths_are_errors(folder, keys, words):
    text = f'{{kind: http, url: "http://x.example/?q={{{{ prompt }}}}", {keys}}}'

    faults = check_study(folder(study_yaml=STUDY % text))

    assert [fault for fault in faults if words in fault.message]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("key: K, key_header: X-Api-Key", ""),
        ("key_header: X-Api-Key", "`key_header` needs `key`"),
        ('key: K, key_header: "X Key"', "`key_header` is `X Key`; expected the name of a header"),
        ("key: K, key_header: X-Key, headers: {x-key: a}", "`key_header` and `headers` both set `X-Key`"),
    ],
)
def test_the_header_of_a_token_has_a_name_and_a_token(folder, keys, words):
    study = folder(study_yaml=STUDY % f'{{kind: http, url: "http://x.example/", body: ["{{{{ prompt }}}}"], {keys}}}')

    faults = [fault.message for fault in check_study(study, environ={}) if fault.severity is Severity.ERROR]

    assert [fault[: len(words)] for fault in faults] == ([words] if words else [])


def test_a_model_may_be_given_files(folder):
    text = '{kind: model, model: m, system: "Use {{ context }}", context: [facts.md]}'

    connection = application(folder, text, facts_md="Water is wet.\n").connection

    assert connection == PromptedModel(model="m", system="Use {{ context }}", context={"facts.md": "Water is wet.\n"})


def test_a_function_in_a_file_is_identified_by_the_hash_of_the_file(folder):
    code = "def reply(prompt):\n    return prompt\n"

    connection = application(folder, '{kind: python, call: "bot.py:reply", timeout: 5}', bot_py=code).connection

    sha256 = hashlib.sha256(code.encode()).hexdigest()
    assert (connection.target, connection.timeout_s) == ("bot.py:reply", 5.0)
    assert connection.code.files == {"bot.py": sha256}


def test_a_class_of_the_dialogue_interface_is_identified_by_its_module(folder):
    connection = application(folder, '{kind: aria, class: "team.dialog:Api"}').connection

    assert (connection.target, connection.code.files) == ("team.dialog:Api", {})


def test_a_class_in_a_file_is_identified_by_the_hash_of_the_file_and_names_its_credentials(folder):
    code = "class Api: ...\n"

    text = '{kind: aria, class: "dialog.py:Api", auth: TEAM_AUTH}'
    connection = application(folder, text, dialog_py=code).connection

    sha256 = hashlib.sha256(code.encode()).hexdigest()
    assert (connection.target, connection.auth) == ("dialog.py:Api", "TEAM_AUTH")
    assert connection.code.files == {"dialog.py": sha256}


def test_a_team_states_claims_and_mitigations_of_its_application(folder):
    text = (
        "{kind: model, model: m, guardrails: none, mitigations: [filter],"
        " claims: [{text: Is polite., kind: limitation, scripts: [hello]}]}"
    )

    app = application(folder, text)

    assert (app.guardrails, app.mitigations[0].name) == (GuardrailSite.NONE, "filter")
    assert (app.claims[0].kind, app.claims[0].scripts) == (ClaimKind.LIMITATION, ("hello",))


@pytest.mark.parametrize("path", ["$", "$.a", "$.a.b[0].c", "$['a b'].c", "text", "$[0]"])
def test_a_path_to_the_reply_is_accepted(folder, path):
    text = f'{{kind: http, url: "http://x.example/?q={{{{ prompt }}}}", reply: "{path}"}}'

    assert application(folder, text).connection.reply == path


@pytest.mark.parametrize("path", ["a.b", "$..a", "$.a[", "$.a[*]", "$ .a", "Text"])
def test_an_invalid_path_is_an_error(folder, path):
    text = f'{{kind: http, url: "http://x.example/?q={{{{ prompt }}}}", reply: "{path}"}}'

    assert [fault.severity for fault in check_study(folder(study_yaml=STUDY % text))] == [Severity.ERROR]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("", "{{ prompt }} stands nowhere in `url`, `body` or `headers`"),
        ('headers: {X-Id: "{{ session }}"}', "{{ prompt }} stands nowhere in `url`, `body` or `headers`"),
        ('method: GET, body: {q: "{{ prompt }}"}', "`method: GET` sends no body"),
        ('body: {q: "{{ promt }}"}', "{{ promt }} is filled by nothing"),
        ('body: {messages: "{{ history }}"}', ""),
        ('method: GET, headers: {X-Prompt: "{{ prompt }}"}', ""),
    ],
)
def test_an_application_without_a_prompt_slot_is_an_error(folder, keys, words):
    study = folder(study_yaml=STUDY % f'{{kind: http, url: "http://x.example/", {keys}}}')

    faults = [fault.message for fault in check_study(study) if fault.severity is Severity.ERROR]

    assert [fault[: len(words)] for fault in faults] == ([words] if words else [])


TWO_RULES = """study: a
models: {m: {script: [Hello]}}
applications: {app: {kind: model, model: m, claims: [{text: Is polite., scripts: [hello]%s}]}}
scenarios: {s: {scripts: {hello: Hello}}}
judges:
  j: {ask: Polite?, defect: "== no", model: m}
  k: {ask: Short?, defect: "== no", model: m}
"""


@pytest.mark.parametrize(
    ("rule", "words", "severity"),
    [
        ("", "could mean 2 defect rules; it stays untested until `rule` names one", Severity.NOTE),
        (", rule: kk", "names a rule `kk` that no guideline has", Severity.ERROR),
    ],
)
def test_a_claim_states_the_rule_that_would_contradict_it(folder, rule, words, severity):
    placed = [*check_study(folder(study_yaml=TWO_RULES % rule))]

    assert [fault.severity for fault in placed if words in fault.message] == [severity]


def test_a_claim_that_names_its_rule_is_valid(folder):
    assert check_study(folder(study_yaml=TWO_RULES % ", rule: k")) == ()


VARIANTS = """study: a
applications:
  bare: {kind: python, call: "m:f"}
  other: {kind: python, call: "m:g", variant_of: %s}
  third: {kind: python, call: "m:h", variant_of: bare}
scenarios: {s: {scripts: {hello: Hello}}}
judges: {j: {ask: Polite?, defect: "== no", rule: {any: [x], then: yes, else: no}}}
"""


@pytest.mark.parametrize(
    ("base", "words"),
    [
        ("bare", ""),
        ("bear", "`variant_of` of application `other` is `bear`, which the study does not have. Did you mean `bare`?"),
        ("other", "`variant_of` of application `other` is `other`, which is itself"),
        ("third", "`variant_of` of application `other` is `third`, itself a variant; name `bare`"),
    ],
)
def test_a_variant_refers_to_an_application_that_is_not_a_variant(folder, base, words):
    faults = [fault.message for fault in check_study(folder(study_yaml=VARIANTS % base))]

    assert [fault[: len(words)] for fault in faults] == ([words] if words else [])


def test_the_variant_relation_does_not_change_the_application_version(folder):
    bare, other, _ = load_study(folder(study_yaml=VARIANTS % "bare")).study.applications

    assert (bare.variant_of, other.variant_of) == ("", "bare")
    assert other.deciding_part == replace(other.deciding_part, variant_of="")


HEADED = """\
study: s
applications:
  a: {kind: http, url: "http://h.example/{{ prompt }}", headers: {NAME: VALUE}}
scenarios: {s: {scripts: {hello: [Hello]}}}
"""


@pytest.mark.parametrize("name", ["X-Api-Key", "Authorization", "Cookie", "X-Functions-Key"])
def test_a_key_in_a_header_is_an_error_and_is_not_repeated(folder, name):
    text = HEADED.replace("NAME", name).replace("VALUE", "plainpassword99x")

    faults = check_study(folder(study_yaml=text))

    assert any("carries a key; give `key_header:" in fault.message for fault in faults)
    assert "plainpassword99x" not in render_diagnostics(faults)


@pytest.mark.parametrize("pair", ['X-Session-Token: "{{ session }}"', "X-Token: none", "Accept: application/json"])
def test_other_headers_are_not_keys(folder, pair):
    text = HEADED.replace("NAME: VALUE", pair)

    assert not [fault for fault in check_study(folder(study_yaml=text)) if "carries a key" in fault.message]


@pytest.mark.parametrize("name", ["Content-Length ", "X Y", "X:", "\u00c4"])
def test_an_ambiguous_header_name_is_an_error(folder, name):
    faults = check_study(folder(study_yaml=HEADED.replace("NAME", f'"{name}"').replace("VALUE", "a")))

    assert any(f"`headers` holds `{name}`; expected the name of a header" in fault.message for fault in faults)


def test_a_key_in_a_query_is_an_error_and_is_not_repeated(folder):
    text = HEADED.replace("NAME: VALUE", "Accept: a").replace(
        "example/", "example/chat?code=AAAAbbbb1111ccccDDDD2222&p="
    )

    faults = check_study(folder(study_yaml=text))

    assert any("a secret stands here" in fault.message for fault in faults)
    assert "AAAAbbbb1111ccccDDDD2222" not in render_diagnostics(faults)
