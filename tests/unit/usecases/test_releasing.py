from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from random import Random

import pytest

from tests.fakes.evidence import facts, live_evidence, xstest_evidence
from theodolite.domain.identity import canonical_json
from theodolite.domain.record_reading import record_from
from theodolite.domain.release import ReviewDecision
from theodolite.domain.study import Study
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.results.document import results_document
from theodolite.usecases.releasing import (
    WITHHELD_GROUP,
    anonymised,
    common_values,
    curate,
    findings_in,
    public_study,
    redacted_records,
    released_evidence,
)


def token(random: Random) -> str:
    return f"{random.getrandbits(256):064x}"


def draw(seed: int = 1) -> partial[str]:
    return partial(token, Random(seed))  # noqa: S311  # ids of a test


def rates(evidence) -> list[tuple[object, ...]]:
    document = results_document(evidence, measure_study(evidence), facts())
    kept = [one for one in document["estimates"] if one["measure"] == "defect_rate" and one["value"] is not None]
    return sorted((one["subject"]["application"], one["subject"]["rule"], one["value"], one["n"]) for one in kept)


@pytest.mark.parametrize("evidence", [live_evidence, xstest_evidence])
def test_a_complete_release_has_the_rates_of_the_report(evidence):
    original = evidence()
    released = released_evidence(anonymised(curate(original), draw()))

    # Final labels and judges keep their names; people are renamed, so their rates are compared as a list.
    assert [one[2:] for one in rates(released)] == [one[2:] for one in rates(original)]


def test_a_public_study_contains_no_address_key_or_row_and_can_be_loaded():
    study = live_evidence().study
    text = canonical_json(public_study(study))

    assert "127.0.0.1" not in text
    assert "http" not in text
    assert all(group.rows == () for group in public_study(study).personas)
    assert record_from(Study, text) == public_study(study)


def test_names_of_annotators_are_pseudonyms():
    records = anonymised(curate(xstest_evidence()), draw())
    names = [one.name for one in records.study.annotators]

    assert names == ["gpt-4", "keywords", "annotator-001", "annotator-002"]
    assert {one.annotator for one in records.annotations} == set(names)


def test_an_identifier_is_replaced_in_its_dialogue_and_in_the_labels_about_it():
    evidence = live_evidence()
    first = next(evidence.archive.dialogues())
    turn = replace(first.turns[0], prompt="My name is Ana Silva.", response="Hello Ana, ask Mr. Silva.")
    records = curate(evidence)
    told = replace(first, turns=(turn, *first.turns[1:]))
    records = replace(records, dialogues=(told, *records.dialogues[1:]))

    findings = [replace(one, decision=ReviewDecision.REDACT) for one in findings_in(records)]
    turn = redacted_records(records, findings).dialogues[0].turns[0]

    assert turn.prompt == "My name is [person's name removed]."
    assert turn.response == "Hello [person's name removed], ask Mr. [person's name removed]."


def test_a_confirmed_harmless_identifier_is_unchanged():
    records = curate(xstest_evidence())
    findings = [
        replace(one, decision=ReviewDecision.KEEP, reason="public", reviewer="x") for one in findings_in(records)
    ]

    assert len(findings) == 61
    assert redacted_records(records, findings).dialogues == records.dialogues


def test_attributes_shared_by_few_people_are_withheld():
    rows = {f"p{number}": {"language": "en", "age": str(number // 2)} for number in range(10)}

    kept = common_values(rows, 5, who=str)

    assert {row["language"] for row in kept.values()} == {"en"}
    assert {row["age"] for row in kept.values()} == {WITHHELD_GROUP}


def test_people_are_counted_and_not_their_sessions():
    rows = {("p1", place): {"language": "sv"} for place in range(9)}

    assert {row["language"] for row in common_values(rows, 2, who=lambda key: key[0]).values()} == {WITHHELD_GROUP}


def test_text_of_the_scenario_is_not_an_attribute_of_a_person():
    rows = {"p1": {"scenario": "shop"}, "p2": {"scenario": "bank"}}

    assert common_values(rows, 2, who=str) == rows


def test_texts_of_held_out_scenarios_are_withheld_and_their_labels_are_included():
    evidence = live_evidence()
    scenario = next(evidence.archive.dialogues()).scenario

    records = curate(evidence, held_out=(scenario,))

    assert {turn.prompt + turn.response for one in records.dialogues for turn in one.turns} == {""}
    assert len(records.annotations) == len(list(evidence.archive.annotations()))
    assert json.loads(canonical_json(records.dialogues[0]))["turns"][0]["withheld"] == "held-out scenario"
