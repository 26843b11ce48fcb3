from __future__ import annotations

import pytest

from theodolite.config.study import StudySpec
from theodolite.config.validation import owner_of, validated
from theodolite.config.yaml_source import read_yaml


def read(text):
    source = read_yaml(text.encode(), "study.yaml")
    return validated(source, StudySpec, owner="the study"), [fault.message for fault in source.faults]


def test_a_misspelt_key_is_treated_as_the_intended_one():
    spec, messages = read("study: a\nscenarios: {s: {goall: Find out, turns: 2}}\n")

    assert messages == ["unknown key `goall` in scenario `s`. Did you mean `goal`?"]
    assert (spec.scenarios["s"].goal, spec.scenarios["s"].turns) == ("Find out", 2)


def test_a_misspelt_key_does_not_override_the_correct_one():
    spec, _ = read("study: a\nscenarios: {s: {goall: wrong, goal: right}}\n")

    assert spec.scenarios["s"].goal == "right"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{kind: http, ulr: 'http://x.example'}", "unknown key `ulr` in application `a`. Did you mean `url`?"),
        (
            "{kind: recorded, file: a.csv, promt: p, response: r}",
            "unknown key `promt` in application `a`. Did you mean `prompt`?",
        ),
        ("{kind: http, address: 'http://x.example'}", "application `a` needs `url`"),
    ],
)
def test_a_required_key_that_is_misspelt_is_not_reported_as_missing(text, message):
    _, messages = read(f"study: a\napplications: {{a: {text}}}\n")

    assert message in messages
    assert [one for one in messages if "needs" in one] == ([message] if "needs" in message else [])


def test_a_misplaced_request_field_is_reported_with_its_section():
    _, [message] = read("study: a\nmodels: {m: {url: http://x, name: x, temperature: 0}}\n")

    assert message.endswith("fields of a model's requests stand under its `params`")


@pytest.mark.parametrize(
    ("text", "tail"),
    [
        ("repeats: 3", "it belongs to `sampling` or `levels`"),  # and not "mean `breaks`?"
        ("model: {}", "Did you mean `models`?"),  # though judges have a model
        ("scenarios: {s: {goal: g, budget: {usd: 1}}}", "it belongs to the top of the file"),
        ("scenarios: {s: {goal: g, seed: 1}}", "it belongs to `sampling`"),
    ],
)
def test_a_key_of_another_section_is_reported_with_its_section(text, tail):
    _, messages = read(f"study: a\n{text}\n")

    assert messages[0].endswith((f"; {tail}", f". {tail}"))


def test_all_validation_errors_are_found_in_one_pass():
    _, messages = read("study: a\nsampling: {seed: x, dialogues: 0, repeat: 1}\nbudget: [1]\nmodels: {m: {}}\nfoo: 1\n")

    assert len(messages) == 6


def test_an_entry_dropped_because_of_errors_is_not_reported_as_missing():
    _, messages = read("study: a\nannotators: {x: {who: nobody, guideline: g, column: c}}\n")

    assert messages == ["`who` of annotator `x` is `nobody`; expected one of person, model, rule"]


def test_an_empty_section_equals_a_missing_one():
    assert read("study: a\nmodels:\njudges:\n  # later\n")[1] == []


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ((), "the study"),
        (("sampling", "seed"), "`sampling`"),
        (("judges", "j", "model"), "judge `j`"),
        (("personas", "p"), "persona group `p`"),
        (("models",), "`models`"),
    ],
)
def test_the_owner_of_a_location_has_a_name(path, words):
    assert owner_of(path, "the study") == words


def test_no_message_contains_the_wording_of_pydantic():
    _, messages = read("study: [a]\nmodels: {m: [1]}\nlevels: {x: 1}\nscenarios: {s: {source: {a: b}, scripts: 3}}\n")

    assert messages
    assert not [m for m in messages if any(word in m.lower() for word in ("pydantic", "input should", "dict", "kind:"))]
