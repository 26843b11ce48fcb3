"""Zero defects: the bound and its description in the summary, with and without shared ids."""

from __future__ import annotations

import csv
import re

import pytest

from tests.fakes.terminal import theodolite

pytestmark = pytest.mark.integration
STUDY = """\
study: zero
applications:
  bot: {kind: recorded, file: answers.csv, id: id, prompt: prompt, response: response}
guidelines:
  holds: {ask: "Does it hold?", defect: "== no"}
annotators:
  file: {who: person, guideline: holds, column: yes}
"""


def summary_of(folder, rows_per_id):
    (folder / "study.yaml").write_text(STUDY, encoding="utf-8")
    with (folder / "answers.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "prompt", "response", "yes"])
        writer.writerows([f"id {row // rows_per_id}", f"prompt {row}", "-", "yes"] for row in range(100))
    ended = theodolite("run", folder)
    assert ended.code == 0
    return " ".join(ended.out.split())


def test_independent_rows_have_the_exact_bound(tmp_path):
    text = summary_of(tmp_path, 1)

    assert "at most 3.0" in text
    assert "With a true rate of 3.0%, about 1 in 20 such studies would find nothing. " in text


def test_rows_with_a_shared_id_have_a_higher_bound_and_the_summary_states_the_prior(tmp_path):
    text = summary_of(tmp_path, 5)

    assert "at most 4.1" in text
    assert re.search(
        r"With a true rate of 4\.1%, about 1 in 20 such studies would find nothing, averaged over how similar", text
    )
    assert "100 dialogues but 20 prompts: the interval accounts for this" in text
