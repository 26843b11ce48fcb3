import base64
import hashlib
import json
import re
from dataclasses import replace

import pytest

from tests.fakes.evidence import changed, facts
from tests.fakes.report import NAMES, assets, data_of, evidence_named, findings_named, report_named
from theodolite.domain.dialogue import Turn
from theodolite.domain.errors import InputError
from theodolite.reporting.page.report import TEMPLATE, report_html, template_of

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)> javascript:alert(3) <!--"


def hostile_report():
    """Return a report where every text that somebody else wrote is an attack."""
    evidence = evidence_named("live")
    turns = tuple(Turn(number=n, prompt=EVIL, response=EVIL) for n in (1, 2, 3))
    study = replace(evidence.study, title=EVIL, about=EVIL)
    failures = tuple(replace(failure, message=EVIL) for failure in evidence.archive.failures())
    dialogues = tuple(replace(dialogue, turns=turns) for dialogue in evidence.archive.dialogues())
    evidence = changed(evidence, study=study, dialogues=dialogues, failures=failures)
    return report_html(evidence, findings_named("live"), facts(command=EVIL), assets())


@pytest.mark.parametrize("name", NAMES)
def test_the_report_contains_no_address_that_a_browser_would_load(name):
    report = report_named(name)

    assert re.findall(r"<link[^>]*>", report) == ['<link rel="icon" href="data:,">']
    assert not re.search(r"<(img|iframe|object|embed|base)\b|@import|url\((?!#|data:font/woff2;base64,)", report)
    assert not re.search(r'\b(src|action)\s*=\s*["\']', report)


def test_the_policy_permits_only_its_own_script_and_style_by_hash():
    report = report_named("live")
    script = re.findall(r"<script>(.*?)</script>", report, re.DOTALL)[-1]
    hashed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode().replace("+", "&#43;")

    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', report).group(1)

    assert policy.startswith("default-src &#39;none&#39;;")
    assert f"script-src &#39;sha256-{hashed}" in policy.replace("+", "&#43;")
    assert "unsafe" not in policy


def test_equal_templates_are_compiled_once_and_others_separately():
    template = template_of(assets(), TEMPLATE)

    assert template_of(dict(assets()), TEMPLATE) is template
    assert template_of({TEMPLATE: "{{ about }}"}, TEMPLATE).render(about="<i>") == "&lt;i&gt;"


def test_foreign_text_never_becomes_markup():
    report = hostile_report()

    assert EVIL not in report
    assert report.count("<script") == report_named("live").count("<script")
    assert "<img" not in report


def test_foreign_texts_are_preserved():
    turns = data_of(hostile_report())["cases"][0]["turns"]

    assert turns[0] == [EVIL, EVIL]


def test_every_text_of_a_dialogue_is_included_once():
    data = data_of(report_named("xstest"))

    assert len(data["cases"]) == 2250
    assert sum("withheld" in entry for entry in data["cases"]) == 1000


def test_cells_of_confusion_matrices_open_their_dialogues():
    data, findings = data_of(report_named("xstest")), findings_named("xstest")

    for place, confusion in enumerate(findings.confusions):
        for i, row in enumerate(confusion.matrix.counts):
            opened = [len(data["sets"].get(f"cell{place}.{i}.{j}", {"cases": []})["cases"]) for j in range(len(row))]
            assert opened == list(row)


def test_an_estimate_opens_the_dialogues_of_its_numerator():
    data, findings = data_of(report_named("xstest")), findings_named("xstest")

    for entry, measurement in zip(data["estimates"], findings.measurements, strict=True):
        opened = data["sets"][entry["set"]]["cases"] if entry["set"] else []
        assert [data["cases"][place]["label"] for place in opened] == list(measurement.dialogues)


def test_scripted_results_are_marked_before_any_number():
    report = report_named("scripted")

    assert report.index("The results show that the tool works and measure nothing.") < report.index('id="answer"')


def test_an_unfinished_run_is_marked_before_any_number():
    report = report_named("unfinished")

    assert report.index("incomplete: 7 of 60 dialogues finished") < report.index('id="answer"')


def test_missing_assets_are_reported():
    with pytest.raises(InputError, match=r"report\.html"):
        report_html(evidence_named("live"), findings_named("live"), facts(), {"words.yaml": ""})


def test_the_same_run_gives_the_same_report():
    again = report_html(evidence_named("live"), findings_named("live"), facts(), assets())

    assert again == report_named("live")


def test_the_page_around_the_dialogues_stays_small():
    report = report_named("xstest")
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', report, re.DOTALL).group(1)

    assert len(report) - len(data) < 600_000


def test_a_dialogue_takes_little_more_than_its_texts():
    cases = data_of(report_named("xstest"))["cases"]
    texts = sum(len(text) for case in cases for turn in case.get("turns", ()) for text in turn)

    assert len(json.dumps(cases, ensure_ascii=False)) - texts < 1_000 * len(cases)
