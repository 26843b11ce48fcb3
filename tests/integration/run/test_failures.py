"""Failures are reported, stay in the denominators and never become a rate of 0."""

import pytest

from tests.fakes.loopback import Loopback
from tests.fakes.support_study import HTTP_BOT
from tests.fakes.terminal import theodolite

pytestmark = pytest.mark.integration


@pytest.fixture
def nine_of_ten(study):
    with Loopback(faults=(*["ok"] * 4, "400")) as application:
        folder = study.write(bot=HTTP_BOT.format(root=application.root))
        yield theodolite("run", folder)


def test_one_failed_application_call_in_ten_produces_nine_dialogues_and_one_failure(nine_of_ten, study):
    rate = study.rate()

    assert nine_of_ten.code == 0, nine_of_ten.said
    assert (rate["n"], rate["outcomes"]["planned"], rate["outcomes"]["failed"]) == (9, 10, 1)
    assert [(f["party"], f["kind"]) for f in study.results["failures"]] == [("application", "rejected the request")]


def test_summary_and_report_count_the_failure(nine_of_ten, study):
    assert "10 planned: 9 judged, 1 application rejected" in " ".join(nine_of_ten.out.split())
    assert "application rejected" in (study.folder / "report.html").read_text(encoding="utf-8")


def test_the_estimate_has_bounds_with_failures_as_non_defects_and_as_defects(nine_of_ten, study):
    rate = study.rate()
    defects = round(rate["value"] * rate["n"])

    assert rate["bounds"] == pytest.approx([defects / 10, (defects + 1) / 10])


def test_an_application_that_always_fails_has_no_rate(study):
    with Loopback(every=1, fault="404") as application:
        ended = theodolite("run", study.write(bot=HTTP_BOT.format(root=application.root)))

    assert ended.code == 3
    assert "No dialogue succeeded, so there is nothing to measure: the rate is undefined" in ended.err
    assert "10 x application `bot` rejected the request, e.g. d001: 404" in ended.err
    assert "0.0%" not in ended.out


def test_without_labels_results_state_the_reason_for_the_missing_value(study):
    with Loopback(every=1, fault="404") as application:
        theodolite("run", study.write(bot=HTTP_BOT.format(root=application.root)))

    rate = study.rate()
    assert (rate["value"], rate["low"], rate["high"], rate["n"]) == (None, None, None, 0)
    assert rate["undefined_reason"]


def test_only_failed_units_are_retried_on_request(study):
    with Loopback(every=1, fault="404") as broken:
        theodolite("run", study.write(bot=HTTP_BOT.format(root=broken.root)))
        broken.knobs = type(broken.knobs)()

        plain = theodolite("run", study.folder)
        retried = theodolite("run", study.folder, "--retry-failed")

    assert (plain.code, retried.code) == (3, 0), retried.said
    assert study.rate()["n"] == 10


def test_the_summary_starts_with_a_reply_of_an_unreadable_judge(study, server):
    server.knobs = type(server.knobs)(replies={"judge": ["I would rather not say."]})

    ended = theodolite("run", study.write())

    assert ended.code == 3
    title, *opening = [line for line in ended.out.splitlines() if not line.startswith("Checking")]
    assert title.startswith("A support bot")
    assert "The judge useful could not be read on 10 of 10" in opening[0]
    assert '"I would rather not say."' in " ".join(opening[:2])
    assert study.rate()["outcomes"]["unparseable"] == 10


def test_one_unreadable_verdict_in_ten_is_counted_without_a_warning(study, server):
    server.knobs = type(server.knobs)(replies={"judge": ['{"reason": "r", "score": 4}']})
    theodolite("run", study.write(n=9))
    server.knobs = type(server.knobs)(replies={"judge": ["no idea"]})

    ended = theodolite("run", study.write(n=10))

    assert ended.code == 0, ended.said
    assert "Unreadable" not in ended.out
    assert (study.rate()["n"], study.rate()["outcomes"]["unparseable"]) == (9, 1)
