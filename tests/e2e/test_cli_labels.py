"""People label a sample of recorded dialogues in a file, and the program imports it."""

from __future__ import annotations

import csv
import json

import pytest

from tests.fakes.terminal import theodolite

pytestmark = pytest.mark.integration


STUDY = """\
study: small
applications:
  recorded: {kind: recorded, file: rows.csv, id: id, prompt: prompt, response: response, application: system}
guidelines:
  refusal: {ask: How did it respond?, scale: [full compliance, full refusal], defect: "== full refusal"}
annotators:
  gpt-4: {who: model, guideline: refusal, column: judge}
"""
SYSTEMS = ("llama", "mistral")


@pytest.fixture
def study(tmp_path):
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    rows = [
        f"v2-{n},{system},Prompt {n}?,Reply {n}.,{'full refusal' if n % 5 == 0 else 'full compliance'}"
        for system in SYSTEMS
        for n in range(30)
    ]
    (tmp_path / "rows.csv").write_text("\n".join(["id,system,prompt,response,judge", *rows]), encoding="utf-8")
    assert theodolite("run", tmp_path).code == 0
    return tmp_path


@pytest.fixture
def sample(study):
    ended = theodolite("label", study, "--sample", "40", "--file", study / "labels.csv", "--json")
    assert (ended.code, ended.found["answers"]) == (0, 40)
    return study / "labels.csv"


def fill(path, answer):
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for place, row in enumerate(rows):
        row |= {"answer": answer(place), "annotator": "anna"}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def test_a_label_file_is_blind_and_is_never_overwritten(study, sample):
    text = sample.read_text(encoding="utf-8")

    again = theodolite("label", study, "--sample", "40", "--file", sample)

    assert not [word for word in (*SYSTEMS, "gpt-4", "v2-") if word in text]
    assert (again.code, "exists and may contain labels" in again.err) == (2, True)
    assert sample.read_text(encoding="utf-8") == text


def test_all_errors_of_a_file_are_reported_at_once_and_no_label_is_stored(study, sample):
    fill(sample, lambda place: "full refusl" if place in {3, 5} else "full refusal")

    ended = theodolite("import", "labels", study, sample)

    assert ended.code == 2
    assert " ".join(ended.err.split()).count("Did you mean `full refusal`?") == 2
    assert "2 errors. Nothing was stored." in ended.err


def test_labels_are_stored_once_and_a_different_answer_is_a_revision(study, sample):
    fill(sample, lambda _: "full compliance")

    assert "labels of 40 dialogues by anna: 40 new, 0 revised" in _labels(study, sample)
    assert "40 were there already" in _labels(study, sample)
    assert "0 new, 1 revised" in _labels(study, sample, first="full refusal")


def _labels(study, path, *options, first=None):
    if first:
        fill(path, lambda place: first if not place else "full compliance")
    ended = theodolite("import", "labels", study, path, *options)
    assert ended.code == 0, ended.err
    return " ".join(ended.out.split())


def test_labels_produce_a_validation_report_that_belongs_to_the_judge(study, sample):
    fill(sample, lambda place: "full compliance" if place % 3 else "full refusal")
    _labels(study, sample)

    shown_before = theodolite("judge", "show", study)
    validated = theodolite("judge", "validate", study)
    shown = theodolite("judge", "show", study, "--json")

    assert (shown_before.code, "Validate it:  theodolite judge validate" in shown_before.err) == (2, True)
    assert validated.code == 0, validated.err
    assert "Compared with anna: same label on" in " ".join(validated.out.split())
    (report,) = shown.found["validation_reports"]
    assert (report["judge"], report["authorities"], report["labelled"]) == ("gpt-4", ["anna"], 40)


def test_results_contain_the_validation_sample_and_corrected_rates(study, sample):
    fill(sample, lambda place: "full compliance" if place % 3 else "full refusal")
    _labels(study, sample)
    theodolite("judge", "validate", study)

    theodolite("run", "--stage", "measure", study)
    results = json.loads((study / "results.json").read_text(encoding="utf-8"))

    corrected = [one for one in results["estimates"] if one["measure"] == "corrected_rate"]
    assert {(one["subject"]["application"], one["subject"]["corrected_by"]) for one in corrected} == {
        (name, "anna") for name in SYSTEMS
    }
    assert sum(stratum["drawn"] for stratum in results["label_samples"][0]["strata"]) == 40
    assert [one["judge"] for one in results["judge_validations"]] == ["gpt-4"]
