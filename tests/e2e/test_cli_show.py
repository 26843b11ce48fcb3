"""`show` and `report` before, during and after a run."""

import shutil
from importlib.resources import as_file, files

import pytest

from tests.fakes.loopback import Loopback
from tests.fakes.support_study import HTTP_BOT, SupportStudy
from tests.fakes.terminal import theodolite

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study whose second session failed and whose last is not run yet."""
    folder = tmp_path_factory.mktemp("show")
    with Loopback() as server, Loopback(faults=("ok", "ok", "400")) as application:
        support = SupportStudy(folder=folder / "support", url=server.url, n=4)
        support.write(bot=HTTP_BOT.format(root=application.root))
        theodolite("run", support.folder, "--limit", "3", "--concurrency", "1")
    return support


def test_a_dialogue_is_shown_with_its_labels(study):
    ended = theodolite("show", study.folder, "d001")
    lines = ended.out.splitlines()

    assert ended.code == 0
    assert lines[0].startswith("d001  Customer 1, 1 turn, useful ")
    assert any(line.startswith("  bot") and "You said:" in line for line in lines)
    assert any(line.startswith("  useful") for line in lines)


def test_raw_shows_prompt_reply_and_duration_of_the_judge(study):
    plain, raw = (theodolite("show", study.folder, "d001", *more) for more in ((), ("--raw",)))

    assert raw.code == 0
    assert raw.out.splitlines()[0] == plain.out.splitlines()[0]
    assert "You are an annotator." in raw.out
    assert "reply 1" in raw.out
    assert "dialogue took" in raw.out
    assert "not shown" not in raw.out


def test_a_failure_is_shown_with_its_source(study):
    ended = theodolite("show", study.folder, "d002")

    assert ended.code == 0
    assert ended.out.startswith("d002  application rejected the request in turn 1 (400 ")
    assert ended.out.endswith(": a failure\n")


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("d004", "dialogue `d004` is planned but not run yet. The 4 planned ones run from `d001` to `d004`."),
        ("d0001", "dialogue `d0001` is not in the plan. Did you mean `d001`? The 4 planned ones"),
        ("Ana", "dialogue `Ana` is not in the plan. The 4 planned ones"),
    ],
)
def test_a_label_without_a_dialogue_has_a_reason(study, label, words):
    ended = theodolite("show", study.folder, label)

    assert ended.code == 2
    assert words in ended.err


def test_a_label_without_its_application_lists_the_candidates(tmp_path):
    with as_file(files("theodolite") / "resources" / "examples" / "b") as example:
        shutil.copytree(example, tmp_path / "b")
    theodolite("run", tmp_path / "b")

    ended = theodolite("show", tmp_path / "b", "2")

    assert ended.code == 2
    assert "mean `plain/2` or `guarded/2`?" in ended.err


def test_suggested_commands_quote_folder_names_with_spaces(study):
    spaced = study.folder.parent / "two words"
    shutil.copytree(study.folder, spaced, ignore=shutil.ignore_patterns(".theodolite"))

    assert f"theodolite run '{spaced}'" in theodolite("show", spaced, "d001").err
    assert f"theodolite run '{spaced}'" in theodolite("check", spaced).out


@pytest.mark.parametrize(
    "words", [("report",), ("run", "--stage", "measure"), ("show", "d001"), ("report", "--partial")]
)
def test_before_the_first_run_the_message_suggests_a_run(tmp_path, words):
    folder = SupportStudy(folder=tmp_path / "new", url="http://127.0.0.1:9/v1").write()
    command, *rest = words

    ended = theodolite(command, folder, *rest)

    assert ended.code == 2
    assert f"has not been run here yet. Run it:  theodolite run {folder}" in ended.err
