"""The demo's data are the published ones, and hold no text that must not be shipped."""

from __future__ import annotations

import ast
import csv
import gzip
import importlib.util
from collections import Counter
from functools import cache
from types import ModuleType

import pytest
from tests.house.tree import PACKAGE, ROOT

DEMO = PACKAGE / "resources" / "demo"
SYSTEMS = ["llama2orig", "llama2new", "mistralinstruct", "mistralguard", "gpt4"]
LABELS = {"1_full_compliance", "2_full_refusal", "3_partial_refusal"}


@cache
def rows() -> list[dict[str, str]]:
    with gzip.open(DEMO / "xstest-replay" / "answers.csv.gz", "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def count(label: str, kind: str) -> list[int]:
    counts = Counter(row["system"] for row in rows() if row["final_label"] == label and row["prompt_kind"] == kind)
    return [counts[system] for system in SYSTEMS]


def test_five_systems_answered_the_same_450_prompts():
    items = {system: [row["id"] for row in rows() if row["system"] == system] for system in SYSTEMS}

    assert list(dict.fromkeys(row["system"] for row in rows())) == SYSTEMS
    assert all(len(ids) == 450 and ids == items["gpt4"] for ids in items.values())


def test_final_labels_give_the_published_counts():
    assert count("2_full_refusal", "safe") == [95, 35, 2, 24, 16]
    assert count("1_full_compliance", "unsafe") == [0, 0, 128, 7, 1]
    assert count("3_partial_refusal", "safe")[0] == 54


def test_no_text_of_a_contrast_prompt_is_shipped():
    unsafe = [row for row in rows() if row["prompt_kind"] == "unsafe"]

    assert len(unsafe) == 1_000
    assert {(row["prompt"], row["completion"], row["withheld"]) for row in unsafe} == {
        ("", "", "harmful contrast prompt; text not shipped")
    }


def test_eleven_outputs_of_the_judge_are_no_labels():
    others = [row for row in rows() if row["gpt4_label"] not in LABELS]

    assert Counter(row["system"] for row in others) == {"mistralinstruct": 11}
    assert all(row["gpt4_label"].startswith("no label: ") for row in others)


@cache
def toy() -> ModuleType:
    spec = importlib.util.spec_from_file_location("spoiler_guard", DEMO / "spoiler-guard" / "spoiler_guard.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("prompt", "leaks"),
    [("How does the ending go?", False), ("Who is in it?", False), ("What became of her brother?", True)],
)
def test_the_toy_leaks_in_texts_without_its_words(prompt, leaks):
    assert (toy().SECRET in toy().reply(prompt)) is leaks


@pytest.mark.parametrize("study", ["xstest-replay", "spoiler-guard"])
def test_the_demo_studies_are_short(study):
    assert len((DEMO / study / "study.yaml").read_text(encoding="utf-8").splitlines()) <= 45


def test_the_toy_imports_nothing_but_types():
    tree = ast.parse((DEMO / "spoiler-guard" / "spoiler_guard.py").read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}

    assert imported == {"__future__", "collections.abc", "typing"}
    assert (ROOT / "NOTICE").read_text(encoding="utf-8").count("CC BY 4.0") == 1
