from __future__ import annotations

import re

import pytest

from theodolite.config.calls import check_lines, closing_line, estimate_calls
from theodolite.config.loading import load_study
from theodolite.config.required_access import hosts

STUDY = """study: a
models:
  m: {url: http://127.0.0.1:8000/v1, name: m}
  u: {url: https://api.example/v1, name: u, price: {input: 1, output: 10, as_of: 2026-10-01}}
applications:
  one: {kind: model, model: m}
  two: {kind: http, url: "https://two.example:8443/chat", body: {q: "{{ prompt }}"}}
scenarios: {s: {goal: "Find {{ wish }}", turns: 4}}
personas: {p: {template: "{{ name }} {{ goal }}", rows: [{name: A, wish: a}, {name: B, wish: b}], model: u}}
judges: {j: {ask: Polite?, defect: "== no", model: u}}
"""


def lines_of(path):
    loaded = load_study(path)
    return check_lines(loaded, estimate_calls(loaded))


def test_the_estimate_of_example_a_is_unchanged(shipped_folder):
    plan, tokens, cost, named, keys, found = lines_of(shipped_folder("examples/a"))

    assert plan == "Plan    60 dialogues = 6 personas x 10, 3 turns, 1 judge: 420 calls"
    assert re.fullmatch(r"Tokens  about 2\d0,000 \(.*\) read, \d\d,000 \(.*\)\s+written", tokens)
    assert cost.startswith("Cost    ")
    assert cost.endswith("; budget $5.00")
    assert named == "Hosts   127.0.0.1:8000 (application), api.openai.com (simulated user, judge)"
    assert keys.startswith("Keys    ")
    assert found == "From    groundedness 1.2 and persona template customer 1.0: shipped"


@pytest.mark.parametrize(
    ("model", "cost"),
    [
        ("{script: [Hello]}", "Cost    nothing: only scripts are called"),
        ("{url: 'http://x.example/v1', name: x}", "Cost    unknown: no price for `m`, `u`"),
    ],
)
def test_an_unknown_price_is_not_shown_as_zero_cost(folder, model, cost):
    study = STUDY.replace("{url: http://127.0.0.1:8000/v1, name: m}", model)
    study = re.sub(r"  u: .*", f"  u: {model}", study)

    assert cost in lines_of(folder(study_yaml=study))


def test_the_estimate_of_example_b_is_unchanged(shipped_folder):
    assert lines_of(shipped_folder("examples/b")) == (
        "Plan    8 dialogues, recorded: nothing is called",
        "Hosts   none: nothing leaves this machine",
        "Read    answers.csv: 8 rows, UTF-8, comma",
    )


def test_the_cells_of_example_c_are_unchanged(shipped_folder):
    assert "Cells   (20 red teamers + 40 field testers) x 2 applications = 120" in lines_of(
        shipped_folder("examples/c")
    )


def test_calls_are_counted_for_each_endpoint(folder):
    estimate = estimate_calls(load_study(folder(study_yaml=STUDY)))

    calls = {endpoint.name: endpoint.calls for endpoint in estimate.endpoints}
    assert calls == {"m": 8, "two": 8, "u": 16 + 4}
    assert (estimate.dialogues, estimate.applications, estimate.calls) == (4, 2, 36)


def test_a_fixed_first_prompt_saves_one_call(folder):
    estimate = estimate_calls(load_study(folder(study_yaml=STUDY.replace("turns: 4", "turns: 4, starter: Hi"))))

    assert {endpoint.name: endpoint.calls for endpoint in estimate.endpoints}["u"] == 12 + 4


def test_the_cost_range_covers_known_prices_and_lists_unknown_ones(folder):
    loaded = load_study(folder(study_yaml=STUDY))

    estimate = estimate_calls(loaded)

    assert 0 < estimate.cost_usd.low < estimate.cost_usd.middle < estimate.cost_usd.high
    assert estimate.unpriced == ("m",)
    assert any("at prices of 2026-10-01, without `m`: no" in line for line in check_lines(loaded, estimate))


def test_tokens_are_those_of_models_only(folder):
    scripted = STUDY.replace("{url: http://127.0.0.1:8000/v1, name: m}", "{script: [Hello]}")
    estimate = estimate_calls(load_study(folder(study_yaml=scripted)))

    read = {endpoint.name: endpoint.tokens_in.high for endpoint in estimate.endpoints}
    assert (read["m"], read["two"]) == (0, 0)
    assert estimate.tokens_in.high == read["u"] > 0
    assert "no call is tried twice" in estimate.assumption


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        ("calls: 36", "36 calls; budget 36\n"),
        ("calls: 35", "36 calls; budget 35 may not suffice\n"),
        ("tokens: 1000000", "; budget 1,000,000\n"),
        ("tokens: 9000", "; budget 9,000 may not suffice\n"),
        ("tokens: 100", "; budget 100 does not suffice\n"),
        ("usd: 0.001", "; budget $0.001 does not suffice\n"),
    ],
)
def test_a_budget_is_compared_with_the_estimate_of_a_run(folder, budget, words):
    lines = lines_of(folder(study_yaml=f"{STUDY}budget: {{{budget}}}\n"))

    assert words in " ".join(f"{line}\n" for line in lines).replace("\n        ", " ")


def test_a_cost_below_one_cent_is_not_shown_as_zero(folder):
    study = STUDY.replace("input: 1, output: 10", "input: 0.01, output: 0.01")

    assert "Cost    less than a cent at prices of 2026-10-01" in " ".join(lines_of(folder(study_yaml=study)))


def test_hosts_are_listed_once_with_their_purposes(folder):
    named = hosts(load_study(folder(study_yaml=STUDY)).study)

    assert [(host.name, host.roles) for host in named] == [
        ("127.0.0.1:8000", ("application",)),
        ("two.example:8443", ("application",)),
        ("api.example", ("simulated user", "judge")),
    ]


@pytest.mark.parametrize(
    ("calls", "line"),
    [
        (3, "0 errors, 0 notes.   Next: theodolite run support --limit 3"),
        (0, "0 errors, 0 notes.   Next: theodolite run support"),
    ],
)
def test_the_last_line_states_the_next_step(calls, line):
    assert closing_line((), "support", calls=calls) == line
