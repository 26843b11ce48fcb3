"""`theodolite demo` gives the published figures, from the rows, without key or network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

START = "import sys; from theodolite.cli.main import main; sys.argv[0] = 'theodolite'; main()"
SYSTEMS = ("llama2orig", "llama2new", "mistralinstruct", "mistralguard", "gpt4")
FIRST_SCREEN = """\
llama2orig      ···●━··  95 38.0 % 32.2 to 44.2 ○······   0  0.0 % at most 1.5
llama2new       ━●·····  35 14.0 % 10.2 to 18.8 ○······   0  0.0 % at most 1.5
mistralinstruct ●······   2  0.8 % 0.2 to 2.9   ·····●━ 128 64.0 % 57.1 to 70.3
mistralguard    ●━·····  24  9.6 % 6.5 to 13.9  ●······   7  3.5 % 1.7 to 7.0
gpt4            ●······  16  6.4 % 4.0 to 10.1  ●······   1  0.5 % 0.1 to 2.8
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """What one call of the demo printed and wrote."""

    folder: Path
    screen: str

    def results(self, study: str = "") -> dict:
        return json.loads((self.folder / study / "results.json").read_text(encoding="utf-8"))

    def entry(self, measure: str, application: str, study: str = "", **about: str) -> dict:
        entries = [
            entry
            for entry in self.results(study)["estimates"]
            if (entry["measure"], entry["application"]) == (measure, application)
            and about.items() <= entry["about"].items()
            and not any(key.startswith("group.") for key in entry["about"])
        ]
        assert len(entries) == 1, entries
        return entries[0]


def theodolite(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "COLUMNS"}}
    environment |= {"PYTHONIOENCODING": "utf-8", "PYTHONUTF8": "1"}
    command = [sys.executable, "-c", START, *words]
    return subprocess.run(command, cwd=cwd, env=environment, text=True, capture_output=True, check=False)


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Demo:
    folder = tmp_path_factory.mktemp("demo")
    done = theodolite("demo", "--out", "out", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return Demo(folder=folder / "out", screen=done.stdout)


def test_it_writes_a_report_and_results_and_says_where(demo):
    assert (demo.folder / "report.html").stat().st_size > 100_000
    assert demo.results()["schema_version"]
    assert "out/report.html" in demo.screen
    assert "out/results.json" in demo.screen


def test_the_first_screen_shows_both_sides_of_the_guardrail(demo):
    summary = demo.screen[demo.screen.index("Guardrails on XSTest") :]
    lines = [line.rstrip() for line in summary.splitlines()]

    assert [line for line in FIRST_SCREEN.splitlines() if line.rstrip() not in lines] == []
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("rule", "counts", "n"),
    [("withheld", (95, 35, 2, 24, 16), 250), ("released", (0, 0, 128, 7, 1), 200)],
)
def test_rates_are_the_published_ones(demo, rule, counts, n):
    rates = [demo.entry("defect_rate", system, rule=rule, annotator="reference") for system in SYSTEMS]

    assert [round(rate["value"] * n) for rate in rates] == list(counts)
    assert all(rate["n"] == rate["outcomes"]["planned"] == rate["outcomes"]["used"] == n for rate in rates)
    assert all(rate["low"] <= rate["value"] < rate["high"] for rate in rates)


def test_full_and_partial_refusals_of_safe_prompts_are_the_published_ones(demo):
    full = demo.entry("defect_rate", "llama2orig", rule="withheld", annotator="reference")
    partial = demo.entry("defect_rate", "llama2orig", rule="partly withheld", annotator="reference")

    assert (round(full["value"], 3), round(partial["value"], 3)) == (0.380, 0.216)


def test_people_agree_as_published(demo):
    exact = [demo.entry("exact_agreement", s, first="annotator 1", second="annotator 2")["value"] for s in SYSTEMS]
    fleiss = [demo.entry("fleiss_kappa", system)["value"] for system in SYSTEMS]

    assert [round(value, 4) for value in exact] == [0.9644, 0.9578, 0.9756, 0.9378, 0.9844]
    assert [round(value, 3) for value in fleiss] == [0.929, 0.926, 0.920, 0.892, 0.970]


def test_what_the_judge_could_not_say_is_unparseable_and_not_missing(demo):
    entries = [entry for entry in demo.results()["estimates"] if entry["about"].get("annotator") == "gpt-4"]
    unparseable = {
        (entry["application"], entry["about"]["rule"]): entry["outcomes"]["unparseable"]
        for entry in entries
        if entry["outcomes"]["unparseable"] and not any(key.startswith("group.") for key in entry["about"])
    }

    assert unparseable == {("mistralinstruct", "released"): 11}
    assert all(entry["outcomes"]["missing"] == 0 for entry in entries)


def test_the_toy_is_labelled_as_scripted(demo):
    shown = theodolite("show", "spoiler-guard", "d001", cwd=demo.folder)
    reported = theodolite("report", "spoiler-guard", cwd=demo.folder)

    assert (shown.returncode, reported.returncode) == (0, 0)
    assert "script" in shown.stdout.lower()
    assert "script" in reported.stdout.lower()


def test_the_toy_leaks_in_seven_of_twelve_dialogues_of_four_personas(demo):
    theodolite("report", "spoiler-guard", cwd=demo.folder)

    rate = demo.entry("defect_rate", "toy-guard", study="spoiler-guard")

    assert (rate["n"], round(rate["value"] * 12)) == (12, 7)
    assert rate["n_clusters"] == 4


def test_no_text_of_a_contrast_prompt_is_in_the_report(demo):
    report = (demo.folder / "report.html").read_text(encoding="utf-8")

    assert "harmful contrast prompt; text not shipped" in report
    assert "http-equiv" in report.lower()


def test_a_second_call_finds_all_done_and_says_the_same(demo):
    before = demo.results()["estimates"]

    done = theodolite("demo", "--out", "out", cwd=demo.folder.parent)

    assert done.returncode == 0
    assert demo.results()["estimates"] == before
