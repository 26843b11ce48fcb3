"""Reports made once for all tests that look at them."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import replace
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from tests.fakes.called import called_evidence
from tests.fakes.conduct import DOUBTFUL
from tests.fakes.evidence import facts, live_evidence, xstest_evidence
from tests.fakes.grown import grown_xstest, with_tree
from tests.fakes.labelled import validated_evidence
from theodolite.domain.estimate import Findings
from theodolite.domain.evidence import Evidence
from theodolite.measurement import measure_study
from theodolite.reporting.page.report import report_html
from theodolite.reporting.terminal.summary import Places, summary_text
from theodolite.reporting.words.reading_aids import Words, read_words

PLACES = Places(report="theodolite-demo/report.html", results="theodolite-demo/results.json")


@functools.cache
def assets() -> dict[str, str]:
    """Return all files of the report by their path below `resources/report`."""
    return dict(_texts(resources.files("theodolite.resources").joinpath("report"), ""))


def _texts(folder: Traversable, prefix: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _texts(entry, f"{prefix}{entry.name}/")
        else:
            found.append((f"{prefix}{entry.name}", entry.read_text(encoding="utf-8")))
    return found


@functools.cache
def words() -> Words:
    """Return the shipped reading aids."""
    return read_words(assets()["words.yaml"])


def evidence_named(name: str) -> Evidence:
    """Return the evidence that tests know by a name."""
    return {
        "xstest": xstest_evidence,
        "live": live_evidence,
        "scripted": functools.partial(live_evidence, script=("Hello.", "END")),
        "unfinished": functools.partial(live_evidence, held=7),
        "certified": validated_evidence,
        "called": called_evidence,
        "trees": grown_xstest,
        "doubtful": lambda: with_tree(validated_evidence()),
        "nothing": functools.partial(live_evidence, held=0),
    }[name]()


NAMES = ("xstest", "live", "scripted", "unfinished", "nothing")


@functools.cache
def findings_named(name: str) -> Findings:
    """Return what was measured on that evidence; of the doubtful judge, what there is to doubt too."""
    found = measure_study(evidence_named(name))
    return replace(found, judge_diagnostics=(DOUBTFUL,)) if name == "doubtful" else found


def data_of(page: str) -> dict[str, Any]:
    """Return what the scripts of a page read, sets of the same dialogues written out."""
    block = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert block
    data = json.loads(block[1])
    sets = data["sets"]
    whole = {name: {**sets[kept.get("as", name)], "title": kept["title"]} for name, kept in sets.items()}
    return {**data, "sets": whole}


@functools.cache
def report_named(name: str) -> str:
    """Return the report of that evidence."""
    return report_html(evidence_named(name), findings_named(name), facts(), assets())


def summary_named(name: str, **options: object) -> str:
    """Return the summary of that evidence."""
    shown = {"places": PLACES} | options
    duration = None if name == "xstest" else 38.0
    made = facts(duration_s=duration, label_command="theodolite label support" if duration else "")
    return summary_text(evidence_named(name), findings_named(name), made, words(), **shown)


def schema_named(name: str) -> dict[str, Any]:
    """Return a shipped JSON Schema, e.g. `results`."""
    folder = resources.files("theodolite.resources").joinpath("schemas")
    found: dict[str, Any] = json.loads(folder.joinpath(f"{name}.schema.json").read_text(encoding="utf-8"))
    return found
