"""`theodolite monitor`: tables, databases and studies of several runs."""

from __future__ import annotations

import csv
import json
import sqlite3
from contextlib import closing

import pytest

from tests.fakes.terminal import theodolite
from tests.unit.measurement.series_of_scores import series

pytestmark = pytest.mark.integration
COLUMNS = ("stars", "at", "item", "run", "human", "anchor")

STUDY = """\
study: shop
applications:
  bot: {kind: python, call: "app.py:reply"}
  anchors: {kind: recorded, file: anchors.csv, id: id, prompt: prompt, response: response}
scenarios:
  inbox: {scripts: {one: One, two: Two, three: Three, four: Four, five: Five, six: Six}}
judges:
  rude: {ask: "Is a reply rude?", defect: "== yes", rule: {any: [WORD], then: yes, else: no}}
"""


def rows(wrong):
    for score in series(wrong).scores:
        human = "" if score.human is None else int(score.human)
        yield int(score.value), f"{score.at:%Y-%m-%d}", score.item, score.batch, human, "ny"[score.is_anchor]


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A table of each series, and a database of the slip."""
    folder = tmp_path_factory.mktemp("kept")
    for wrong in ("nothing", "slip", "judge"):
        with (folder / f"{wrong}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([COLUMNS, *rows(wrong)])
    with closing(sqlite3.connect(folder / "app.db")) as connection:
        connection.execute("CREATE TABLE replies (stars, at, item, run, human, anchor)")
        connection.executemany("INSERT INTO replies VALUES (?, ?, ?, ?, ?, ?)", rows("slip"))
        connection.commit()
    return folder


def watch(place, *more, out):
    return theodolite(
        "monitor", place, "--defect", "<= 3", "--reference", "300", "--recalibrate", "0", "--out", out, *more
    )


def test_a_stable_series_exits_with_0(kept, tmp_path):
    ended = watch(kept / "nothing.csv", out=tmp_path)

    assert (ended.code, ended.err) == (0, "")
    assert "Alerts     none" in ended.out
    assert {path.name for path in tmp_path.iterdir()} == {"monitor.html", "monitor.json"}


def test_an_alert_exits_with_1_and_is_in_the_json_output(kept, tmp_path):
    ended = watch(kept / "slip.csv", "--json", out=tmp_path)

    assert ended.code == ended.found["exit_code"] == 1
    slipped = next(alert for alert in ended.found["alerts"] if alert["kind"] == "scores slipped")
    assert (slipped["cause"], slipped["at"][:7]) == ("application", "2026-01")
    assert json.loads((tmp_path / "monitor.json").read_text(encoding="utf-8"))["alerts"] == ended.found["alerts"]


def test_the_published_example_is_reported_in_both_units(tmp_path):
    (tmp_path / "eight.csv").write_text("stars\n5\n4\n5\n4\n5\n4\n5\n4\n", encoding="utf-8")

    ended = watch(tmp_path / "eight.csv", out=tmp_path)

    text = " ".join(ended.out.split())
    assert "PEN 0.6931 nats, 0.39 normalised (medium, in a gap of the published table;" in text
    assert "CIN 10 (high;" in text
    assert "LIS 2 (low;" in text


def test_order_and_delay_are_in_the_output_and_the_data(tmp_path):
    (tmp_path / "stars.csv").write_text("stars\n" + "5\n4\n3\n1\n" * 4, encoding="utf-8")

    ended = watch(tmp_path / "stars.csv", "--order", "4", "--delay", "2", "--window", "12", out=tmp_path)

    document = json.loads((tmp_path / "monitor.json").read_text(encoding="utf-8"))
    assert "normalised, order 4, delay 2" in " ".join(ended.out.split())
    assert (document["rules"]["order"], document["rules"]["delay"]) == (4, 2)


def test_metrics_of_fewer_than_eight_scores_are_undefined_with_a_reason(tmp_path):
    (tmp_path / "few.csv").write_text("stars\n5\n4\n5\n", encoding="utf-8")

    ended = watch(tmp_path / "few.csv", out=tmp_path)

    assert "undefined: order metrics need 8 scores; there are 3" in " ".join(ended.out.split())
    assert "order metrics need 8 scores" in (tmp_path / "monitor.html").read_text(encoding="utf-8")


def test_a_series_of_failed_scores_is_reported_as_failed(tmp_path):
    (tmp_path / "failed.csv").write_text("stars\n" + "failed\n" * 9, encoding="utf-8")

    refused = watch(tmp_path / "failed.csv", out=tmp_path)
    ended = watch(tmp_path / "failed.csv", "--scale", "1..5", out=tmp_path)

    assert refused.code == 2
    assert "none of 9 rows has a score (9 failed), so there is nothing to watch" in " ".join(refused.err.split())
    assert "9 scores, 9 of them failed" in ended.out
    assert "No score has a value (9 failed), so nothing can be monitored" in " ".join(ended.out.split())


def test_the_page_shows_reasons_of_low_scores(tmp_path):
    (tmp_path / "stars.csv").write_text("stars,why\n1,<b>no brand</b>\n" + "5,fine\n" * 9, encoding="utf-8")

    watch(tmp_path / "stars.csv", out=tmp_path)

    page = (tmp_path / "monitor.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;no brand&lt;/b&gt;" in page
    assert "<b>no brand" not in page


def test_human_scores_need_no_anchors(tmp_path):
    rows = [f"{score},{human}" for score, human in zip("1234512345", "1243512354", strict=True)]
    (tmp_path / "rank.csv").write_text("\n".join(["stars,human", *rows]), encoding="utf-8")

    ended = watch(tmp_path / "rank.csv", out=tmp_path)

    (segment,) = json.loads((tmp_path / "monitor.json").read_text(encoding="utf-8"))["segments"]
    assert "in the order of people's scores: tau" in " ".join(ended.out.split())
    assert segment["ranking"]["tau"]["value"] == pytest.approx(0.825)  # by scipy.stats.kendalltau


def test_infinite_scores_are_refused_with_their_lines(tmp_path):
    (tmp_path / "stars.csv").write_text("stars\n5\ninf\nNaN\n", encoding="utf-8")

    ended = watch(tmp_path / "stars.csv", out=tmp_path)

    assert ended.code == 2
    assert "stars.csv:3" in ended.err
    assert "stars.csv:4" in ended.err


def test_scores_can_be_read_from_a_database(kept, tmp_path):
    query = "SELECT stars AS score, at, item, run, human, anchor FROM replies"

    table, database = (
        watch(kept / "slip.csv", out=tmp_path),
        watch(f"sqlite:///{kept}/app.db", "--query", query, out=tmp_path),
    )

    assert database.code == 1
    assert database.out.partition("ALERT")[2] == table.out.partition("ALERT")[2]


def test_a_resolved_alert_no_longer_affects_the_exit_code(kept, tmp_path):
    assert watch(kept / "slip.csv", "--since", "2027-01-01", out=tmp_path).code == 0
    assert watch(kept / "slip.csv", "--since", "2026-01-15", out=tmp_path).code == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--columns", "score"), "`score` has no column name"),
        (("--scale", "5..1"), "`5..1` is not a scale"),
        (("--defect", "bad"), "names no operator"),
        (("--defect", "== bad"), "`bad` is not a number"),
        (("--changed", "judge"), "expected PART=VERSION@TIME"),
        (("--changed", "judge=2@soon"), "`soon` is not a time"),
        (("--since", "soon"), "`soon` is not a time"),
        (("--window", "3"), "`window` must be larger than 3"),
        (("--window", "8", "--order", "4", "--delay", "3"), "`window` must be larger than 10"),
        (("--order", "8"), "`order` must be within 2..7"),
        (("--delay", "0"), "`delay` must be 1 or more"),
        (("--columns", "score=star"), "mean `stars`?"),
    ],
)
def test_unreadable_input_is_an_input_error(kept, words, said):
    ended = theodolite("monitor", kept / "nothing.csv", *words)

    assert ended.code == 2
    assert said in " ".join(ended.err.split())


def test_a_missing_file_or_question_is_reported(kept):
    missing, unasked = theodolite("monitor", kept / "none.csv"), theodolite("monitor", f"sqlite:///{kept}/app.db")

    assert (missing.code, unasked.code) == (2, 2)
    assert "there is no such file" in missing.err
    assert "--query" in unasked.err


def study_of(folder, *, word, reply):
    folder.mkdir(exist_ok=True)
    (folder / "study.yaml").write_text(STUDY.replace("WORD", word), encoding="utf-8")
    (folder / "app.py").write_text(f"def reply(prompt):\n    return {reply!r}\n", encoding="utf-8")
    lines = [f"a{number},Hello,You fool {number}" for number in range(6)]
    (folder / "anchors.csv").write_text("\n".join(["id,prompt,response", *lines]), encoding="utf-8")
    ended = theodolite("run", folder, "--new-run")
    assert ended.code == 0, ended.said


def test_the_runs_of_a_study_form_one_history(tmp_path):
    folder = tmp_path / "shop"
    study_of(folder, word="fool", reply="Good day")
    study_of(folder, word="fool", reply="Good day")
    study_of(folder, word="fools", reply="You fool")

    ended = theodolite("monitor", folder, "--anchors", "anchors", "--json")
    document = json.loads((folder / "monitor.json").read_text(encoding="utf-8"))

    assert ended.code == 1
    assert document["history"]["n_scores"] == 36
    assert document["history"]["n_anchors"] == 18
    (change,) = [change for change in document["instrument_changes"] if change["part"] == "judge"]
    assert change["position"] == 24
    assert [check["n_lower"] for check in document["anchors"]] == [0, 6]
