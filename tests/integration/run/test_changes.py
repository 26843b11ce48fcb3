"""Only changed parts are called again."""

import pytest

from tests.fakes.terminal import theodolite
from tests.integration.run.conftest import asked

pytestmark = pytest.mark.integration


@pytest.fixture
def run_once(study, server):
    """A study that was run; then the server's counters start again."""
    assert theodolite("run", study.write()).code == 0
    server.calls.clear()
    return study


@pytest.mark.parametrize(
    ("change", "calls"),
    [
        ({"ask": "How friendly are the replies?"}, {"judge": 10}),
        ({"title": "Another title"}, {}),
        ({"more": ", params: {temperature: 0}"}, {"judge": 10}),
        ({"n": 12}, {"user-sim": 2, "target": 2, "judge": 2}),
        ({"n": 8}, {}),
        ({"bot": "bot: {kind: model, model: app, system: Be brief.}"}, {"user-sim": 10, "target": 10, "judge": 10}),
        ({"rest": "about: More words."}, {}),
    ],
    ids=["guideline", "title", "judge's model", "more personas", "fewer personas", "application", "about"],
)
def test_a_change_repeats_only_the_calls_that_depend_on_it(run_once, server, change, calls):
    ended = theodolite("run", run_once.write(**change))

    assert ended.code == 0, ended.said
    assert {role: n for role, n in server.stats["by_role"].items() if role != "knock"} == calls
    assert run_once.rate()["n"] == run_once.n


def test_after_a_change_old_results_are_not_shown_as_current(run_once):
    run_once.write(ask="How friendly are the replies?")

    ended = theodolite("report", run_once.folder)

    assert ended.code == 2
    assert "has changed since its last run" in ended.err
    assert "only changed parts are called again" in ended.err


def test_a_new_run_makes_all_calls_again(run_once, server):
    ended = theodolite("run", run_once.folder, "--new-run")

    assert ended.code == 0
    assert asked(server) == 30
    assert run_once.results["run"]["number"] == 2


def test_test_assess_and_measure_equal_one_run(study, server):
    study.write()
    steps = [theodolite("run", study.folder, "--stage", stage) for stage in ("test", "score", "measure")]
    steps.append(theodolite("run", study.folder))

    assert [step.code for step in steps] == [0, 0, 0, 0], [step.said for step in steps]
    assert steps[0].out.endswith("10 of 10 dialogues, 0 of 10 annotations\n")
    assert steps[1].out.endswith("10 of 10 dialogues, 10 of 10 annotations\n")
    assert asked(server) == 30


def test_measuring_without_annotations_exits_with_3(study):
    theodolite("run", "--stage", "test", study.write())

    assert theodolite("run", "--stage", "measure", study.folder).code == 3


CODE_STUDY = """\
study: hours
applications: {bot: {kind: python, call: "bot.py:reply"}}
cases: [{prompt: When do you open?}]
judges: {nine: {rule: {contains: nine}}}
"""


def test_a_changed_file_of_an_application_is_named(tmp_path):
    code = "from words import REPLY\n\ndef reply(prompt):\n    return REPLY\n"
    (tmp_path / "bot.py").write_text(code, encoding="utf-8")
    (tmp_path / "words.py").write_text("REPLY = 'at nine'\n", encoding="utf-8")
    (tmp_path / "study.yaml").write_text(CODE_STUDY, encoding="utf-8")
    assert theodolite("run", tmp_path, "--allow-code").code == 0

    (tmp_path / "words.py").write_text("REPLY = 'at ten'\n", encoding="utf-8")
    shown = theodolite("report", tmp_path)

    assert shown.code == 2
    said = " ".join(shown.err.split())
    assert "(number 1): words.py of application `bot` changed (list files that the application writes itself" in said
