"""A live judge is validated with human labels and attacks; the report belongs to the judge's version."""

from __future__ import annotations

import csv

import pytest

from tests.fakes.loopback import Loopback
from tests.fakes.support_study import SupportStudy
from tests.fakes.terminal import theodolite

pytestmark = pytest.mark.integration


@pytest.fixture
def server():
    with Loopback() as loopback:
        yield loopback


@pytest.fixture
def study(tmp_path, server):
    support = SupportStudy(folder=tmp_path / "support", url=server.url, n=8)
    support.write()
    assert theodolite("run", support.folder).code == 0
    path = support.folder / "labels.csv"
    theodolite("label", support.folder, "--sample", "8", "--file", path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [
            row | {"answer": str(1 + place % 5), "annotator": "anna"} for place, row in enumerate(csv.DictReader(file))
        ]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    assert theodolite("import", "labels", support.folder, path).code == 0
    return support


def test_attacks_are_counted_before_the_run_and_listed_in_the_validation_report(study, server):
    before = server.stats["requests"]

    ended = theodolite("judge", "validate", study.folder, "--attacks", "2")

    assert ended.code == 0, ended.err
    assert ended.out.startswith("Probing: 2 dialogues read again")
    assert server.stats["requests"] > before + 2 * 10
    assert "turned by text that tells what to answer" in " ".join(ended.out.split())


def test_without_attacks_no_model_is_called_and_the_validation_report_states_it(study, server):
    before = server.stats["requests"]

    ended = theodolite("judge", "validate", study.folder, "--no-attacks")

    assert (ended.code, server.stats["requests"]) == (0, before)
    assert "nobody knows what text can make of this judge" in " ".join(ended.out.split())


def test_a_changed_prompt_makes_another_judge_without_validation_report(study):
    theodolite("judge", "validate", study.folder, "--no-attacks")
    study.write(ask="How helpful are the replies?")
    theodolite("run", study.folder)

    ended = theodolite("judge", "show", study.folder)

    assert (ended.code, "the current version of `useful` is not validated" in ended.err) == (2, True)
