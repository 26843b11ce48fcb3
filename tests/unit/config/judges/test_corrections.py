"""How a study wants judges' numbers corrected."""

from __future__ import annotations

import pytest

from tests.fakes.terminal import theodolite

STUDY = """\
study: elsewhere
applications:
  bot: {kind: recorded, file: rows.csv, id: id, prompt: prompt, response: response}
guidelines:
  refusal: {ask: "How did it respond?", scale: [complied, refused], defect: "== refused"}
annotators:
  judge: {who: model, guideline: refusal, column: judge}
  anna: {who: person, guideline: refusal}
corrections:
  %s
"""
KNOWN = "{caught: [45, 50], passed: [190, 200], from: the pilot}"


@pytest.fixture
def checked(tmp_path):
    def check(correction, *words):
        (tmp_path / "study.yaml").write_text(STUDY % correction, encoding="utf-8")
        (tmp_path / "rows.csv").write_text("id,prompt,response,judge\n1,May I?,No.,refused\n", encoding="utf-8")
        return theodolite("check", tmp_path, *words)

    return check


def test_a_calibration_is_loaded_and_written_in_full(checked):
    ended = checked(f"judge: {{rate: rogan-gladen, calibrations: {{defect: {KNOWN}}}}}", "--expanded")

    assert ended.code == 0, ended.said
    assert "rate: rogan-gladen" in ended.out
    assert "from: the pilot" in ended.out


@pytest.mark.parametrize(
    ("correction", "said"),
    [
        ("jugde: {rate: none}", "mean `judge`?"),
        ("anna: {rate: none}", "`anna` is a person"),
        ("judge: {rate: rogan-gladen}", "needs what `judge` got right elsewhere"),
        (f"judge: {{calibrations: {{defekt: {KNOWN}}}}}", "mean `defect`?"),
        ("judge: {calibrations: {defect: {caught: [60, 50], passed: [1, 2], from: x}}}", "a part and its whole"),
        ("judge: {rate: rogan}", "rogan-gladen"),
    ],
)
def test_an_invalid_value_is_an_error_with_its_line(checked, correction, said):
    ended = checked(correction)

    assert ended.code == 2
    assert said in " ".join(ended.said.split())
    assert "study.yaml:10" in ended.said
