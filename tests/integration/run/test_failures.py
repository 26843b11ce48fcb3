"""What fails is told, stays in the denominators and never becomes a rate of 0."""

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


def test_one_failing_application_call_in_ten_gives_nine_dialogues_and_one_failure(nine_of_ten, study):
    rate = study.rate()

    assert nine_of_ten.code == 0, nine_of_ten.said
    assert (rate["n"], rate["outcomes"]["planned"], rate["outcomes"]["failed"]) == (9, 10, 1)
    assert [(f["party"], f["kind"]) for f in study.results["failures"]] == [("application", "rejected the request")]


def test_the_failure_stands_in_the_accounts_of_summary_and_report(nine_of_ten, study):
    assert "10 planned: 9 judged, 1 application rejected" in " ".join(nine_of_ten.out.split())
    assert "application rejected" in (study.folder / "report.html").read_text(encoding="utf-8")


def test_the_rate_if_it_were_sound_and_if_it_were_a_defect_stands_beside_the_estimate(nine_of_ten, study):
    rate = study.rate()
    defects = round(rate["value"] * rate["n"])

    assert rate["bounds"] == pytest.approx([defects / 10, (defects + 1) / 10])


def test_an_application_that_always_fails_has_no_rate_at_all(study):
    with Loopback(every=1, fault="404") as application:
        ended = theodolite("run", study.write(bot=HTTP_BOT.format(root=application.root)))

    assert ended.code == 3
    assert "No dialogue succeeded, so there is nothing to measure: the rate is undefined" in ended.err
    assert "10 x application `bot` rejected the request, e.g. d001: 404" in ended.err
    assert "0.0%" not in ended.out


def test_without_any_label_results_say_why_there_is_no_value(study):
    with Loopback(every=1, fault="404") as application:
        theodolite("run", study.write(bot=HTTP_BOT.format(root=application.root)))

    rate = study.rate()
    assert (rate["value"], rate["low"], rate["high"], rate["n"]) == (None, None, None, 0)
    assert rate["undefined_reason"]


def test_what_failed_is_tried_again_when_asked_to_and_only_that(study):
    with Loopback(every=1, fault="404") as broken:
        theodolite("run", study.write(bot=HTTP_BOT.format(root=broken.root)))
        broken.knobs = type(broken.knobs)()

        plain = theodolite("run", study.folder)
        retried = theodolite("run", study.folder, "--retry-failed")

    assert (plain.code, retried.code) == (3, 0), retried.said
    assert study.rate()["n"] == 10


def test_a_judge_that_answers_garbage_opens_the_summary_with_one_of_its_replies(study, server):
    server.knobs = type(server.knobs)(replies={"judge": ["I would rather not say."]})

    ended = theodolite("run", study.write())

    assert ended.code == 3
    title, *opening = [line for line in ended.out.splitlines() if not line.startswith("Checking")]
    assert title.startswith("A support bot")
    assert "The judge useful could not be read on 10 of 10" in opening[0]
    assert '"I would rather not say."' in " ".join(opening[:2])
    assert study.rate()["outcomes"]["unparseable"] == 10


def test_one_unreadable_verdict_in_ten_is_counted_and_no_alarm(study, server):
    server.knobs = type(server.knobs)(replies={"judge": ['{"reason": "r", "score": 4}']})
    theodolite("run", study.write(n=9))
    server.knobs = type(server.knobs)(replies={"judge": ["no idea"]})

    ended = theodolite("run", study.write(n=10))

    assert ended.code == 0, ended.said
    assert "Unreadable" not in ended.out
    assert (study.rate()["n"], study.rate()["outcomes"]["unparseable"]) == (9, 1)
