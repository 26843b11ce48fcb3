"""Reports made once for all tests that look at them."""

from __future__ import annotations

import base64
import functools
import json
import re
from dataclasses import replace
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from tests.fakes.evidence import facts, live_evidence, xstest_evidence
from tests.fakes.evidence_variants import DOUBTFUL, grown_xstest, validated_evidence, with_tree
from theodolite.domain.estimate import Findings
from theodolite.domain.evidence import Evidence, ListedArchive
from theodolite.domain.flow import Message, Reply, Speaker
from theodolite.domain.status import Call
from theodolite.measurement.study.findings import measure_study
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
            found.append((f"{prefix}{entry.name}", _text_of(entry)))
    return found


def _text_of(file: Traversable) -> str:
    raw = file.read_bytes()
    return base64.b64encode(raw).decode() if file.name.endswith(".woff2") else raw.decode()


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


ASKED = "You are an annotator.\nJudge by the guideline alone."

SAID = '{"score": "2"} <b id="injected">not bold</b>'


def called_evidence() -> Evidence:
    """Return the live study: each label took a call whose prompt is known and one whose prompt has changed since."""
    evidence = live_evidence()
    assert isinstance(evidence.archive, ListedArchive)
    calls = {annotation.unit: _calls(annotation.dialogue) for annotation in evidence.archive.annotation_list}
    calls |= {dialogue.key: (_call("Hello."), _call("Yes.")) for dialogue in evidence.archive.dialogue_list}
    calls |= {failure.unit: (_call("Hello."),) for failure in evidence.archive.failure_list}
    return replace(evidence, archive=replace(evidence.archive, call_lists=calls))


def _calls(dialogue: str) -> tuple[Call, ...]:
    prompt = (Message(speaker=Speaker.SYSTEM, text=ASKED), Message(speaker=Speaker.USER, text=f"Material {dialogue}"))
    return replace(_call(SAID), prompt=prompt), replace(_call(""), prompt=None)


def _call(text: str) -> Call:
    return Call(reply=Reply(text=text, finish="stop", tokens_in=600, tokens_out=20, cost_microusd=205))
