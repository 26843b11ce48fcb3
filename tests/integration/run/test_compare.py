"""`theodolite compare`: dated versions of a service, runs, results files and mitigations."""

from __future__ import annotations

import csv
import gzip
import json
from functools import cache
from pathlib import Path

import jsonschema
import pytest

from tests.fakes.report import schema_named
from tests.fakes.terminal import theodolite

pytestmark = pytest.mark.integration
LABELS = Path(__file__).parents[2] / "golden" / "llmdrift_labels.csv.gz"
DRIFT = """\
study: drift
applications:
  dated: {kind: recorded, file: answers.csv, id: id, prompt: prompt, response: response, application: system}
guidelines:
  holds: {ask: "Does it hold?", defect: "== no"}
annotators:
  file: {who: person, guideline: holds, column: yes}
"""
PUBLISHED = {
    ("sensitive", "gpt-4"): (21.0, 5.0),
    ("sensitive", "gpt-3.5-turbo"): (2.0, 8.0),
    ("code", "gpt-4"): (52.0, 10.0),
    ("code", "gpt-3.5-turbo"): (22.0, 2.0),
}
DATES = {"gpt-4": ("0314", "0613"), "gpt-3.5-turbo": ("0301", "0613")}


@cache
def rows():
    with gzip.open(LABELS, "rt", encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


@pytest.fixture(scope="module")
def drift(tmp_path_factory):
    """One study for each task: 4 dated services on the same cases."""
    folders = {}
    for task in ("sensitive", "code"):
        folder = folders[task] = tmp_path_factory.mktemp(task)
        (folder / "study.yaml").write_text(DRIFT, encoding="utf-8")
        with (folder / "answers.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "prompt", "response", "system", "yes"])
            writer.writerows([r["id"], r["id"], "-", r["system"], r["yes"]] for r in rows() if r["task"] == task)
        assert theodolite("run", folder).code == 0
    return folders


def compared(folder, *words):
    return theodolite("compare", *words, "--study", folder, "--out", folder, "--json").found["comparisons"][0]["rates"][
        0
    ]


@pytest.mark.parametrize(("task", "service"), PUBLISHED, ids=lambda part: part)
def test_dated_versions_have_the_published_shares(drift, task, service):
    before, after = (f"{service}-{date}" for date in DATES[service])

    rate = compared(drift[task], before, after)

    shares = [round(100 * (1 - defects / rate["n"]), 1) for defects in rate["defects"]]
    assert tuple(shares) == PUBLISHED[task, service]
    assert rate["difference"]["value"] == pytest.approx((shares[0] - shares[1]) / 100, abs=1e-9)
    assert len(rate["regressed"]) - len(rate["fixed"]) == rate["defects"][1] - rate["defects"][0]


@pytest.mark.parametrize(
    ("before", "after", "sure"),
    [("gpt-4-0314", "gpt-4-0613", True), ("gpt-4-0613", "gpt-3.5-turbo-0613", False)],
)
def test_significant_differences_and_differences_within_chance_are_distinguished(drift, before, after, sure):
    ended = theodolite("compare", before, after, "--study", drift["sensitive"], "--out", drift["sensitive"])
    text = " ".join(ended.out.split())

    assert ("defects, statistically significant" in text) is sure
    assert ("not statistically significant" in text) is not sure
    assert max(map(len, ended.out.split("\n")[:-2])) <= 80


def test_two_results_files_are_paired_without_the_study(drift, tmp_path):
    results = drift["code"] / "results.json"

    ended = theodolite("compare", f"{results}#gpt-4-0314", f"{results}#gpt-4-0613", "--out", tmp_path)

    assert ended.code == 0
    assert "24 -> 45 defects of 50: fixed 2, regressed 23, unchanged 25" in " ".join(ended.out.split())
    assert "review the 23 regressed pairs" in " ".join(ended.out.split())


def test_the_page_shows_both_sides_of_every_flip(drift, tmp_path):
    theodolite("compare", "gpt-4-0314", "gpt-4-0613", "--study", drift["code"], "--out", tmp_path)
    page = (tmp_path / "compare.html").read_text(encoding="utf-8")

    assert page.count("<summary>Regressed") == 23
    assert page.count("<strong>Reply</strong>") == 2 * 25
    assert "<script" not in page


def test_the_data_match_their_schema(drift, tmp_path):
    theodolite("compare", "gpt-4-0314", "gpt-4-0613", "--study", drift["code"], "--out", tmp_path)

    schema = schema_named("compare")
    jsonschema.validate(json.loads((tmp_path / "compare.json").read_text(encoding="utf-8")), schema)


def test_a_possible_rise_exits_with_1(drift, tmp_path):
    worse = theodolite(
        "compare", "gpt-4-0314", "gpt-4-0613", "--study", drift["code"], "--margin", "5", "--out", tmp_path
    )
    better = theodolite(
        "compare", "gpt-4-0613", "gpt-4-0314", "--study", drift["code"], "--margin", "5", "--out", tmp_path
    )

    assert (worse.code, better.code) == (1, 0)
    assert "an increase of 5 points cannot be excluded" in " ".join(worse.out.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("gpt-4-0314",), "expected two places, A and B; got 1"),
        (("gpt-4-0314", "gpt-4-613"), "mean `gpt-4-0613`?"),
        (("gpt-4-0314", "gpt-4-0314"), "is the same on both sides"),
        (("none.json", "gpt-4-0314"), "cannot be read"),
        (("--by", "mitigation"), "no two applications"),
    ],
)
def test_incomparable_inputs_are_reported(drift, words, said):
    ended = theodolite("compare", *words, "--study", drift["code"])

    assert ended.code == 2
    assert said in " ".join(ended.err.split())


def test_a_file_that_is_no_results_file_is_reported(tmp_path):
    (tmp_path / "old.json").write_text(json.dumps({"schema_version": "1.0"}), encoding="utf-8")
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")

    old, bad = (theodolite("compare", tmp_path / name, tmp_path / name) for name in ("old.json", "bad.json"))

    assert "got '1.0'" in old.err
    assert "is not JSON" in bad.err
    assert (old.code, bad.code) == (2, 2)


GUARDED = """\
study: guarded
applications:
  plain: {kind: python, call: "app.py:plain"}
  guarded: {kind: python, call: "app.py:guarded", mitigations: [filter]}
scenarios:
  inbox: {scripts: {SCRIPTS}}
judges:
  leaks: {ask: "Does it leak?", defect: "== yes", rule: {any: [secret], then: yes, else: no}}
"""
APP = """\
def plain(prompt):
    return "the secret" if prompt[-1] in "135" else "fine"

def guarded(prompt):
    return "fine"
"""


@pytest.fixture
def guarded(tmp_path):
    scripts = ", ".join(f"s{number}: Ask {number}" for number in range(20))
    (tmp_path / "study.yaml").write_text(GUARDED.replace("SCRIPTS", scripts), encoding="utf-8")
    (tmp_path / "app.py").write_text(APP, encoding="utf-8")
    assert theodolite("run", tmp_path).code == 0
    return tmp_path


def test_the_effect_of_a_mitigation_is_estimated(guarded):
    ended = theodolite("compare", guarded, "--by", "mitigation", "--out", guarded)
    text = " ".join(ended.out.split())

    assert ended.code == 0
    assert "filter: plain -> guarded" in text
    assert "6 -> 0 defects of 20: fixed 6, regressed 0, unchanged 14" in text


def test_runs_with_different_judge_versions_are_not_compared(guarded, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "study.yaml").write_text(
        (guarded / "study.yaml").read_text(encoding="utf-8").replace("[secret]", "[fine]"), encoding="utf-8"
    )
    (other / "app.py").write_text(APP, encoding="utf-8")
    assert theodolite("run", other).code == 0

    ended = theodolite("compare", f"{guarded}#plain", f"{other}#plain", "--out", tmp_path)

    assert "6 and 14 defects of 20, not compared" in " ".join(ended.out.split())
    assert "not the same version" in " ".join(ended.out.split())


def test_an_earlier_run_is_compared_with_its_own_version_of_the_study(guarded):
    study = guarded / "study.yaml"
    study.write_text(study.read_text(encoding="utf-8").replace("Ask 1,", "Beg 1,"), encoding="utf-8")
    (guarded / "app.py").write_text(APP.replace('"135"', '"13"'), encoding="utf-8")
    assert theodolite("run", guarded, "--new-run").code == 0

    ended = theodolite("compare", "@1#plain", "@2#plain", "--study", guarded, "--out", guarded, "--json")

    (found,) = ended.found["comparisons"]
    assert (found["first"]["run"], found["second"]["run"]) == (1, 2)
    assert (found["rates"][0]["defects"], found["rates"][0]["unpaired"]) == ([5, 3], 2)
    page = (guarded / "compare.html").read_text(encoding="utf-8")
    assert page.count("<strong>Reply</strong>") == 2 * len(found["rates"][0]["fixed"])


@pytest.mark.parametrize(
    ("words", "said"), [(("@7#plain", "@1#plain"), "has no run 7; it has 1"), (("@1#plain", "@1#plain"), "is the same")]
)
def test_an_unknown_run_lists_the_existing_ones(guarded, words, said):
    ended = theodolite("compare", *words, "--study", guarded)

    assert ended.code == 2
    assert said in " ".join(ended.err.split())


def test_two_equal_applications_pass_a_gate_although_prompts_share_ids(tmp_path):
    """Two prompts an id are a cluster; no pair changes, and only a rise by less than the bound stays open."""
    (tmp_path / "study.yaml").write_text(DRIFT, encoding="utf-8")
    with (tmp_path / "answers.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "prompt", "response", "system", "yes"])
        for system in ("before", "after"):
            writer.writerows(
                [f"id {row // 2}", f"prompt {row}", "-", system, "no" if row % 10 == 0 else "yes"] for row in range(400)
            )
    assert theodolite("run", tmp_path).code == 0

    passed = theodolite("compare", "before", "after", "--study", tmp_path, "--out", tmp_path, "--margin", "5")
    narrow = theodolite("compare", "before", "after", "--study", tmp_path, "--out", tmp_path, "--margin", "0.5")
    difference = compared(tmp_path, "before", "after")["difference"]

    assert (passed.code, narrow.code) == (0, 1)
    assert "an increase of 0.5 points cannot be excluded" in narrow.out + narrow.err
    independent = 1 - 0.025 ** (1 / 400)
    assert difference["value"] == 0.0
    assert independent < difference["high"] == -difference["low"] < 2 * independent
    assert "difference 0.0 points, -1.0 to +1.0: no pair changed" in " ".join(passed.out.split())
