"""Files of form 1, written by the last program of that form, are read as files of form 2."""

from __future__ import annotations

import functools
import gzip
import json
from pathlib import Path

import jsonschema
import pytest

from tests.fakes.report import schema_named
from theodolite.domain.errors import InputError
from theodolite.domain.estimate_subject import EstimateSubject, GroupValue
from theodolite.domain.guideline import Violation
from theodolite.measurement.sample_size import compare_sides
from theodolite.reporting.comparing.document import sides_of, upgraded
from theodolite.reporting.results.estimates import subject_from

FORMER = Path(__file__).parents[4] / "golden" / "results_1_19"
NAMES = ("demo", "certified", "realism", "guarded-bot")


@functools.cache
def former(name):
    return json.loads(gzip.decompress((FORMER / f"{name}.json.gz").read_bytes()))


@functools.cache
def present(name):
    return upgraded(former(name))


def rates_of(results, **wanted):
    return [
        entry
        for entry in results["estimates"]
        if entry["measure"] == "defect_rate" and wanted.items() <= entry["subject"].items()
    ]


@pytest.mark.parametrize("name", NAMES)
def test_an_upgraded_file_conforms_to_the_current_schema(name):
    assert former(name)["schema_version"] == "1.19"

    jsonschema.Draft202012Validator(schema_named("results")).validate(present(name))


@pytest.mark.parametrize("name", NAMES)
def test_an_upgrade_changes_no_number(name):
    numbers = ("value", "low", "high", "n", "count", "chance", "outcomes", "bounds", "n_clusters", "dialogues")

    kept = [
        [[entry[number] for number in numbers] for entry in results["estimates"]]
        for results in (former(name), present(name))
    ]

    assert kept[0] == kept[1] != []


def test_a_split_rate_has_a_typed_subject():
    (rate,) = rates_of(
        present("demo"),
        application="llama2orig",
        rule="withheld",
        annotators=["reference"],
        group={"name": "type", "value": "homonyms"},
    )

    assert subject_from(rate["subject"]) == EstimateSubject(
        application="llama2orig",
        guideline="refusal",
        rule="withheld",
        condition=rate["subject"]["condition"],
        violation=Violation.PERMITTED_WITHHELD,
        annotators=("reference",),
        among=(GroupValue(name="prompt_kind", value="safe"),),
        group=GroupValue(name="type", value="homonyms"),
    )


def test_pairs_and_panels_become_lists_of_annotators():
    agreements = {
        (entry["measure"], entry["weighting"]): entry["subject"]["annotators"]
        for entry in present("demo")["estimates"]
        if len(entry["subject"]["annotators"]) > 1 and "reference" not in entry["subject"]["annotators"]
    }

    assert agreements == {
        ("exact_agreement", None): ["annotator 1", "annotator 2"],
        ("cohen_kappa", "identity"): ["annotator 1", "annotator 2"],
        ("fleiss_kappa", "identity"): ["annotator 1", "annotator 2"],
        ("krippendorff_alpha", "nominal"): ["annotator 1", "annotator 2"],
    }


def test_renamed_keys_are_absent():
    results = present("realism")

    assert not {"scripted", "accounts", "conduct", "raters", "certificates"} & results.keys()
    assert results["simulated_users"]["role_breaks"][0]["occurrences"] == []
    assert results["realism"][0]["people"]["tester_type"] == "person"
    assert present("certified")["judge_validations"][0]["estimates"][0]["subject"]["application"] is None


def test_levels_and_tester_types_are_typed():
    subjects = [subject_from(entry["subject"]) for entry in rates_of(present("guarded-bot"))]

    assert {subject.test_setting for subject in subjects} == {
        "model testing, script",
        "red teaming, simulated user",
    }


def test_a_current_file_is_unchanged():
    assert upgraded(present("demo")) == present("demo")


def test_an_upgraded_run_compared_with_itself_has_no_change():
    first, second = (sides_of(results, "results.json") for results in (former("demo"), present("demo")))

    rates = compare_sides(first[0], second[0]).rates

    assert len(rates) >= 9
    assert {(rate.n_unpaired, len(rate.flips), rate.changed) for rate in rates} == {(0, 0, "")}


@pytest.mark.parametrize("version", ["3.0", "1", 2, None])
def test_an_unknown_format_lists_the_supported_formats(version):
    with pytest.raises(InputError, match=r"expected schema_version 2\.x, or 1\.4 and later 1\.x; got"):
        sides_of({"schema_version": version}, "results.json")
