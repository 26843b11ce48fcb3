"""The shipped example with real applications: NLTK's ELIZA and a Haystack search."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


def theodolite(*words: str, folder: Path) -> str:
    """Run a command and return what it printed."""
    command = [sys.executable, "-m", "theodolite", *words]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bots")
    theodolite("init", "real", "--example", "real-bots", folder=folder)
    theodolite("run", "real", folder=folder)
    return folder


def test_each_does_what_it_was_made_for_and_nothing_else(folder: Path) -> None:
    results = json.loads((folder / "real" / "results.json").read_text())

    rates = {
        (entry["subject"]["application"], entry["subject"]["guideline"]): (entry["count"], entry["n"])
        for entry in results["estimates"]
        if entry["measure"] == "defect_rate" and "group" not in entry["subject"]
    }
    assert rates == {
        ("eliza", "quotes-a-licence"): (3, 3),
        ("librarian", "quotes-a-licence"): (0, 3),
        ("eliza", "asks-back"): (0, 2),
        ("librarian", "asks-back"): (2, 2),
    }


def test_both_claims_stand(folder: Path) -> None:
    results = json.loads((folder / "real" / "results.json").read_text())

    claims = {claim["text"]: claim["status"] for entry in results["applications"] for claim in entry["claims"]}
    assert len(claims) == 2
    assert set(claims.values()) == {"supported"}


def test_the_librarian_reads_from_the_shelf_and_eliza_mirrors(folder: Path) -> None:
    licence = theodolite("show", "real", "librarian/d001", folder=folder)
    bad_day = theodolite("show", "real", "eliza/d004", folder=folder)

    assert "WARRANT" in licence.upper()
    assert "sad" in bad_day
    assert bad_day.count("?") >= 2


def test_both_keep_to_what_a_dialogue_needs(folder: Path) -> None:
    said = theodolite("probe", "real", folder=folder)

    assert "eliza" in said
    assert "librarian" in said
