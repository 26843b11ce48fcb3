"""Prices: a study's own list goes before the shipped one."""

import re

import pytest

from theodolite.config.load_context import shipped_text
from theodolite.config.loading import load_study
from theodolite.config.models import known_price
from theodolite.config.yaml_source import InvalidStudyError, render_diagnostics
from theodolite.domain.application import Price

STUDY = """
study: priced
models: {{m: {{url: "{url}", name: {name}{more}}}}}
applications: {{bot: {{kind: model, model: m}}}}
scenarios: {{s: {{scripts: {{hello: Hello}}}}}}
"""
OWN = """
prices:
  - {host: api.openai.com, models: [gpt-4o-mini], input: 9, output: 8, as_of: 2026-11-01, source: our contract}
  - {models: [small-1], input: 0.1, output: 0.4, as_of: 2026-10-01}
"""
MAKER = "https://api.openai.com/v1"


def price(folder, *, url=MAKER, name="gpt-4o-mini", more="", own=OWN):
    files = {"study_yaml": STUDY.format(url=url, name=name, more=more), **({"prices_yaml": own} if own else {})}
    return load_study(folder(**files)).study.models[0].price


def test_the_price_list_of_the_study_precedes_the_shipped_one(folder):
    assert price(folder) == Price(input_usd=9.0, output_usd=8.0, as_of="2026-11-01")


def test_without_a_list_in_the_study_the_shipped_one_applies(folder):
    assert price(folder, own="") == known_price(MAKER, "gpt-4o-mini")


def test_prices_missing_in_the_study_list_are_taken_from_the_shipped_one(folder):
    assert price(folder, name="gpt-5") == known_price(MAKER, "gpt-5")


def test_the_price_of_a_model_precedes_both_lists(folder):
    assert price(folder, more=", price: {input: 1, output: 2}") == Price(input_usd=1.0, output_usd=2.0)


@pytest.mark.parametrize(("url", "usd"), [("http://127.0.0.1:1/v1", 0.1), (MAKER, 0.1)])
def test_an_entry_without_a_host_applies_to_any_host(folder, url, usd):
    assert price(folder, url=url, name="small-1").input_usd == usd


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ("prices:\n  - {models: [m], input: 1, output: 1, as_of: yesterday}\n", "prices.yaml:2.*expected a day"),
        ("prices:\n  - {models: [m], input: 1, output: 1, as_of: 2026-13-45}\n", "prices.yaml:2.*expected a day"),
        ("prices:\n  - {models: [m], input: -1, output: 1, as_of: 2026-10-01}\n", "prices.yaml:2"),
        ("prices:\n  - {model: [m], input: 1, output: 1, as_of: 2026-10-01}\n", "models"),
        ("prices:\n  - {models: [m, m], input: 1, output: 1, as_of: 2026-10-01}\n", "`m` is listed twice"),
    ],
    ids=["no day", "no real day", "negative", "unknown key", "twice"],
)
def test_errors_in_the_study_list_are_reported_with_their_line(folder, own, words):
    with pytest.raises(InvalidStudyError) as caught:
        price(folder, own=own)

    assert re.search(words, render_diagnostics(caught.value.placed).replace("\n", " "))


def test_each_shipped_price_has_a_date_and_a_source():
    entries = shipped_text("prices.yaml").count("- host:")

    assert len(re.findall(r'as_of: "\d{4}-\d{2}-\d{2}"', shipped_text("prices.yaml"))) == entries
    assert shipped_text("prices.yaml").count("source: ") == entries
