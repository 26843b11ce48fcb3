"""Runs that stop early: messages, stored results and resumption."""

import pytest

from tests.fakes.loopback import Loopback
from tests.fakes.support_study import HTTP_BOT
from tests.fakes.terminal import theodolite
from tests.integration.run.conftest import asked

pytestmark = pytest.mark.integration

DIALOGUES = 30
PRICE = ", price: {input: 1000, output: 1000, as_of: 2026-10-01}"


def turn(server, **knobs):
    server.knobs = type(server.knobs)(**knobs)


@pytest.fixture
def refused(study, server):
    """A run whose judge refuses the key after the first five calls."""
    folder = study.write(n=DIALOGUES)
    theodolite("run", "--stage", "test", folder)
    turn(server, faults=("ok",) * (len(server.calls) + 6), every=1, fault="401")
    return theodolite("run", folder)


def test_twenty_consecutive_refusals_stop_a_run_with_instructions_to_resume(refused, study):
    lines = refused.err.splitlines()

    assert refused.code == 3
    assert "consecutive calls to `large` were rejected: 401 Incorrect API key provided" in " ".join(refused.err.split())
    assert max(map(len, lines[:2])) <= 80
    assert f"  Saved   30 of 30 dialogues, {study.rows('annotation')} of 30 annotations; no call is repeated" in lines
    assert f"  Resume  correct the API key, then  theodolite run {study.folder}" in lines
    assert f"  Report  theodolite report {study.folder} --partial" in lines


def test_failures_before_the_stop_are_in_no_denominator_and_the_same_command_resumes(refused, study, server):
    kept = study.rows("annotation")
    unfinished = theodolite("report", study.folder, "--partial")
    assert (unfinished.code, kept < DIALOGUES, study.results["failures"]) == (0, True, [])
    turn(server)
    before = asked(server)

    ended = theodolite("run", study.folder)

    assert ended.code == 0, ended.said
    assert asked(server) - before == DIALOGUES - kept
    assert (study.rate()["n"], study.rate()["outcomes"]["failed"]) == (DIALOGUES, 0)


def test_a_run_waits_for_an_application_that_becomes_unreachable(study, server):
    with Loopback(faults=("ok",) * 8, every=1, fault="reset") as application:
        folder = study.write(n=DIALOGUES, bot=HTTP_BOT.format(root=application.root))
        stopped = theodolite("run", folder)
        users, kept = asked(server, "user-sim"), study.rows("dialogue")
        turn(application)
        ended = theodolite("run", folder)

    assert (stopped.code, ended.code) == (3, 0), stopped.said + ended.said
    assert 0 < kept < DIALOGUES
    assert asked(server, "user-sim") == DIALOGUES
    assert users <= DIALOGUES
    assert study.rate()["n"] == DIALOGUES


@pytest.mark.parametrize(
    ("budget", "more", "words"),
    [
        ("calls: 12", "", "the budget of 12 calls is spent"),
        ("tokens: 1500", "", "the budget of 1,500 tokens"),
        ("usd: 0.9", PRICE, "the budget of $0.90"),
    ],
    ids=["calls", "tokens", "usd"],
)
def test_a_run_stops_at_its_budget_and_resumes_after_an_increase(study, server, budget, more, words):
    poor = theodolite("run", study.write(rest=f"budget: {{{budget}}}", more=more), "--concurrency", "2")
    stored = study.rows("journalentry")

    assert poor.code == 3
    assert words in poor.err
    assert f"raise `budget` in the study, then  theodolite run {study.folder}" in poor.err

    rich = theodolite("run", study.write(rest="budget: {calls: 1000}"))

    assert rich.code == 0, rich.said
    assert asked(server) == study.rows("journalentry") == 30 > stored
    assert study.rate()["n"] == 10


def test_a_budget_on_the_command_line_applies_to_that_command_only(study, server):
    folder = study.write(rest="budget: {usd: 50, calls: 1000}", more=PRICE)

    poor = theodolite("run", folder, "--concurrency", "2", "--budget", "0.9")
    stored = study.rows("journalentry")
    rich = theodolite("run", folder)

    assert (poor.code, "the budget of $0.90" in poor.err) == (3, True), poor.said
    assert (rich.code, asked(server)) == (0, 30), rich.said
    assert 30 > stored > 0


@pytest.mark.parametrize(("budget", "more"), [("tokens: 900", ""), ("usd: 0.9", PRICE)], ids=["tokens", "usd"])
def test_a_budget_spent_by_estimated_costs_stays_spent_in_the_next_run(study, server, budget, more):
    turn(server, tells_tokens=False)
    poor = theodolite("run", study.write(rest=f"budget: {{{budget}}}", more=more))
    before = asked(server)

    again = theodolite("run", study.folder)

    for sitting in (poor, again):
        assert (sitting.code, "tokens estimated" in " ".join(sitting.err.split())) == (3, True), sitting.said
    assert asked(server) == before > 0
    assert theodolite("run", study.write(rest="budget: {calls: 1000}")).code == 0


def test_a_run_limited_to_the_first_dialogues_is_part_of_the_complete_run(study, server):
    look = theodolite("run", study.write(), "--limit", "3")
    looked = asked(server)
    whole = theodolite("run", study.folder)

    assert (look.code, whole.code) == (0, 0), look.said
    assert "d001  Customer 1, 1 turn, useful " in look.out
    assert "If a dialogue looks wrong, change the study and run again: only changed parts are repeated" in look.out
    assert not look.out.count("%")
    assert (looked, asked(server), server.stats["duplicates"]) == (9, 30, 0)


def test_only_selected_dialogues_run_and_they_are_part_of_the_complete_run(study, server):
    part = theodolite("run", study.write(), "--only", "persona=Customer 2", "--only", "persona=customers-9")
    asked_for_part, counts = asked(server), study.rate()["outcomes"]
    whole = theodolite("run", study.folder)

    assert (part.code, whole.code) == (0, 0), part.said
    assert "Only the selected dialogues were run. Run the rest:" in part.out
    assert (counts["planned"], counts["used"]) == (10, 2)
    assert (asked_for_part, asked(server), server.stats["duplicates"]) == (6, 30, 0)


TWO_APPLICATIONS = """\
study: pair
applications:
  good: {kind: python, call: "bots.py:good"}
  broken: {kind: python, call: "bots.py:broken"}
cases: cases.csv
judges:
  correct: {rule: {contains: "{{ expected }}"}}
"""


def test_the_exit_code_depends_only_on_the_selected_dialogues(tmp_path):
    (tmp_path / "study.yaml").write_text(TWO_APPLICATIONS, encoding="utf-8")
    (tmp_path / "cases.csv").write_text("prompt,expected\nhello,hello\nbye,bye\n", encoding="utf-8")
    bots = "def good(prompt):\n    return prompt\n\n\ndef broken(prompt):\n    raise ValueError('no stock')\n"
    (tmp_path / "bots.py").write_text(bots, encoding="utf-8")

    stored = theodolite("run", tmp_path, "--only", "application=good")
    failed = theodolite("run", tmp_path, "--only", "application=broken")
    tested = theodolite("run", tmp_path, "--only", "application=broken", "--stage", "test")

    assert (stored.code, failed.code, tested.code) == (0, 3, 3), failed.said + tested.said
    words = " ".join(failed.err.split())
    assert "No selected dialogue succeeded, so there is nothing to measure for them" in words
    assert "2 x application `broken` " in words
    assert "Only the selected dialogues were run" not in failed.out


@pytest.mark.parametrize(
    ("only", "text"),
    [
        (("application=bit",), "`--only application=bit` names no application of the plan. Did you mean `bot`?"),
        (("aplication=bot",), "expected KEY=VALUE, where KEY is application, scenario, persona or case. Did you mean"),
        (("case=1",), "`--only case=1` names no case of the plan; the plan has no cases"),
        (("persona=customers", "--junit", "gates.xml"), "`--junit` concerns all dialogues of a run"),
    ],
    ids=["value", "key", "no cases", "junit"],
)
def test_an_empty_selection_is_refused_before_any_call(study, server, only, text):
    before = asked(server)

    ended = theodolite("run", study.write(), "--only", *only)

    assert (ended.code, asked(server)) == (2, before)
    assert text in " ".join(ended.err.split())


def test_an_unfinished_run_is_reported_only_on_request_and_marked(study):
    theodolite("run", study.write(), "--limit", "3")

    plain = theodolite("report", study.folder)
    anyhow = theodolite("report", study.folder, "--partial")

    assert (plain.code, anyhow.code) == (3, 0)
    assert "The latest run of `support` is incomplete" in plain.err
    assert "Incomplete: 3 of 10 dialogues finished." in anyhow.out
    assert "3 of 10 dialogues finished" in (study.folder / "report.html").read_text(encoding="utf-8")
    assert study.rate()["outcomes"]["planned"] == 10
