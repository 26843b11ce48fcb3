"""The screen, the document and the page of the same watches."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache

import jsonschema
import pytest

from tests.fakes.report import schema_named, words
from tests.unit.measurement.series_of_scores import series
from theodolite.domain.monitoring import AlertKind, History, Score, WatchRules
from theodolite.measurement.monitoring import watch_history
from theodolite.reporting.monitoring.document import thinned, watch_document
from theodolite.reporting.monitoring.page import application_chart, watch_html
from theodolite.reporting.monitoring.text import watch_text

BARE_PERCENT = re.compile(r"(?<![(\d.])\d+(?:\.\d+)?\s?%")
"""A share outside brackets: the number that it is a share of, or the interval, must stand beside it."""


@cache
def seen(wrong):
    return watch_history(series(wrong), WatchRules(reference=300, limit=0.2, recalibrate_days=None))


@cache
def changed(n):
    scores = [
        Score(value=value, application=f"<b>{name}</b>", instruments={"judge": judge})
        for judge, value in (("1", 4.0), ("2", 3.0))
        for name in range(n)
        for _ in range(9)
    ]
    return watch_history(History(name="many", scores=tuple(scores), lowest=1, highest=5))


def test_an_alert_states_what_changed_when_and_why():
    text = " ".join(watch_text(seen("slip"), words()).split())

    assert "ALERT scores slipped (2026-01-" in text
    assert "the anchors are stable, so the application has changed" in text
    assert text.endswith("Next read the dialogues since the alert began")


def test_a_drifting_judge_is_the_next_step():
    text = " ".join(watch_text(seen("judge"), words()).split())

    assert "judge drifts on the anchors" in text
    assert "so the judge has changed" in text
    assert "Next let people score the anchors again" in text


def test_a_stable_period_is_reported_completely():
    text = watch_text(seen("nothing"), words())

    assert "Alerts     none" in text
    assert "CIN" in text
    assert "level" in text
    assert "at most 1 per 10,000 scores" in " ".join(text.split())


def test_the_power_is_stated_for_histories_with_a_rule_for_defects():
    scores = tuple(Score(value=1.0 if n % 20 == 0 else 5.0, defect=n % 20 == 0) for n in range(300))
    watch = watch_history(History(name="stars", scores=scores, lowest=1, highest=5))

    text = " ".join(watch_text(watch, words()).split())

    assert "Power a higher defect rate is found with a probability of at least 0.8 within 100 scores" in text
    assert "it is compared with a baseline (10.2%)" in text
    assert "found with a known rate (--baseline RATE)" in text
    assert watch_document(watch, exit_code=0)["segments"][0]["detectable"][1]["n"] == 200


def test_the_power_is_not_stated_without_a_rule():
    assert "Power not stated: no rule says which scores are defects" in " ".join(
        watch_text(changed(2), words()).split()
    )


@pytest.mark.parametrize("wrong", ["nothing", "slip", "judge"])
def test_lines_are_short_and_every_percentage_has_a_count(wrong):
    text = watch_text(seen(wrong), words())

    assert max(map(len, text.split("\n"))) <= 80
    assert "%" in text
    assert BARE_PERCENT.findall(text) == []


def test_the_check_for_bare_percentages_detects_them():
    assert BARE_PERCENT.findall("defects 15.8%, then 7 % of 40 (17.5%), 4.3% to 9% in all") == [
        "15.8%", "7 %", "4.3%", "9%",
    ]  # fmt: skip


def test_a_declared_change_has_a_reading_aid():
    text = " ".join(watch_text(changed(2), words(), unicode=False).split())

    assert "The judge changed here from 1 to 2. A jump at this line does not describe the application." in text
    assert "2 applications lower, 0 higher" in text


def test_many_segments_are_counted_and_stored_in_the_data():
    watch = changed(20)

    assert "and 40 more segments" in " ".join(watch_text(watch, words()).split())
    assert len(watch_document(watch, exit_code=0)["segments"]) == 40


def test_other_components_are_named():
    watch = changed(2)
    of_data = replace(watch, changes=tuple(replace(change, part="data") for change in watch.changes))

    assert "The data changed here" in " ".join(watch_text(of_data, words()).split())


@pytest.mark.parametrize("wrong", ["nothing", "slip", "judge"])
def test_the_document_is_strict_json(wrong):
    document = watch_document(seen(wrong), exit_code=1)

    again = json.loads(json.dumps(document, allow_nan=False))

    assert again["exit_code"] == 1
    assert [alert["kind"] for alert in again["alerts"]] == [alert.kind.value for alert in seen(wrong).alerts]
    assert max(len(segment["windows"]["pen_normalized"]) for segment in again["segments"]) <= 500
    assert again["segments"][0]["latest"]["cin"]["chance"] in {"like chance", "above chance", "below chance"}


@pytest.mark.parametrize("wrong", ["nothing", "slip", "judge", "many"])
def test_the_document_conforms_to_its_schema(wrong):
    watch, schema = changed(2) if wrong == "many" else seen(wrong), schema_named("monitor")

    jsonschema.validate(json.loads(json.dumps(watch_document(watch, exit_code=1))), schema)


@pytest.mark.parametrize(("n", "points"), [(0, 5), (5, 5), (6, 5), (1001, 500)])
def test_thinning_preserves_the_last_point(n, points):
    kept = thinned(list(range(n)), points)

    assert len(kept) <= points
    assert kept[-1:] == list(range(n))[-1:]


def test_the_page_names_no_host_and_permits_only_its_own_style():
    page = watch_html(seen("slip"), words())

    assert "default-src &#x27;none&#x27;" in page
    assert not re.search(r"(src|href)=", page)
    assert "<script" not in page


def test_every_kind_of_alarm_states_cause_alternatives_and_next_step():
    assert set(words().alerts) == {kind.value for kind in AlertKind}
    assert all(told.why and told.otherwise and told.then for told in words().alerts.values())


def test_an_alarm_on_the_page_states_why():
    page = watch_html(seen("slip"), words())

    assert page.count("<summary>Why this alarm</summary>") == len(seen("slip").alerts)
    assert "A stricter judge or other prompts also lower the scores." in page
    assert "<dt>PEN</dt>" in page


def test_names_from_files_are_escaped():
    page = watch_html(changed(2), words())

    assert "<b>0</b>" not in page
    assert "&lt;b&gt;0&lt;/b&gt;" in page


def test_the_chart_shows_alarms_changes_and_every_metric():
    slip, judge = application_chart(seen("slip"), ""), application_chart(changed(2), "<b>0</b>")

    assert all(name in slip for name in ("mean of 8", "defects, share of 8", "PEN", "CIN", "LIS"))
    assert 'class="alarm"' in slip
    assert 'class="alert-rule"' in slip
    assert slip.count('class="band2"') == 3
    assert re.search(r'class="reference-name"[^>]*>level \d', slip)
    assert re.search(r'class="reference-name"[^>]*>baseline \d', slip)
    assert 'class="since"' in slip
    assert "judge 2" in judge


def test_applications_beyond_the_chart_are_listed_in_a_table():
    page = watch_html(changed(30), words())

    assert page.count("<svg") == 24
    assert "Not drawn" in page
