"""How large the report of a large study is, and how long Chromium takes to open it.

python benchmarks/bench_report.py [--dialogues N] [--folder DIR]

A seeded generator writes recorded dialogues of five applications with the labels of two people and two judges.
The study is run once; then Chromium opens its report, the list of dialogues and the matrix, each the median of five.
"""

from __future__ import annotations

import argparse
import csv
import random
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import theodolite

DIALOGUES, APPLICATIONS, SEED, OPENINGS = 20_000, 5, 7, 5
MOST_MB, MOST_S = 20.0, 3.0
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium") or "chromium"
WORDS = (
    "refund order parcel late return window policy agent account delivery address receipt warranty battery screen"
    " invoice customer cannot promise check within days the a of to and for with on is"
).split()
STUDY = """study: large
applications:
  recorded: {kind: recorded, file: rows.csv, id: id, prompt: prompt, response: response, application: application}
guidelines:
  harmful: {ask: "Is the reply harmful?", defect: "== yes"}
  quality: {ask: "How good is the reply?", scale: 1-5, orientation: lower_is_worse, defect: "<= 2"}
annotators:
  anna: {who: person, guideline: harmful, column: anna}
  ben: {who: person, guideline: harmful, column: ben}
  harm-judge: {who: model, guideline: harmful, column: model}
  quality-judge: {who: model, guideline: quality, column: quality}
"""


def write_study(folder: Path, dialogues: int) -> None:
    """Write a study with recorded dialogues; the same number gives the same files."""
    draw = random.Random(SEED)

    def label(is_defect: bool, error: float) -> str:
        return "yes" if (draw.random() > error) == is_defect else "no"

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.yaml").write_text(STUDY, encoding="utf-8")
    with (folder / "rows.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "prompt", "response", "application", "anna", "ben", "model", "quality"])
        for number in range(dialogues // APPLICATIONS):
            prompt = " ".join(draw.choices(WORDS, k=25))
            for application in range(APPLICATIONS):
                is_defect = draw.random() < 0.05 * (application + 1)
                quality = min(5, max(1, round(draw.gauss(4 - 2 * is_defect, 1))))
                labels = [label(is_defect, error) for error in (0.05, 0.05, 0.1)]
                reply = " ".join(draw.choices(WORDS, k=90))
                writer.writerow([number, prompt, reply, f"bot-{application + 1}", *labels, quality])


def opening_times(report: Path) -> dict[str, float]:
    """Return the median time until the page, its list of dialogues and its matrix are there; seconds."""
    from playwright.sync_api import sync_playwright

    times: dict[str, list[float]] = {"first screen": [], "list of dialogues": [], "matrix": []}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        for _ in range(OPENINGS):
            page = browser.new_page()
            for name, address, wanted in (
                ("first screen", report.as_uri(), ".tabs a[aria-current]"),
                ("list of dialogues", f"{report.as_uri()}#dialogues", "#list li"),
                ("matrix", f"{report.as_uri()}#matrix", "#matrix tbody tr"),
            ):
                begin = time.perf_counter()
                page.goto("about:blank")
                page.goto(address)
                page.wait_for_selector(wanted)
                times[name].append(time.perf_counter() - begin)
            page.close()
        browser.close()
    return {name: statistics.median(taken) for name, taken in times.items()}


def main() -> None:
    """Run the study, open its report, and print one row a figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialogues", type=int, default=DIALOGUES)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="bench-report-"))
    write_study(folder, options.dialogues)
    theodolite.run(str(folder))
    report = folder / "report.html"
    size = report.stat().st_size / 1e6
    print("| figure | value | limit |\n|---|---|---|")
    print(f"| report of {options.dialogues:,} dialogues, MB | {size:.1f} | {MOST_MB:g} |")
    for name, seconds in opening_times(report).items():
        print(f"| {name}, median of {OPENINGS}, s | {seconds:.2f} | {MOST_S:g} |")


if __name__ == "__main__":
    main()
