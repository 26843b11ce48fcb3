"""`--json` always prints one object on standard output, and exit codes state the outcome."""

import json
import shutil
from importlib.resources import as_file, files

import pytest

from tests.fakes.loopback import Loopback
from tests.fakes.support_study import HTTP_BOT, SupportStudy
from tests.fakes.terminal import in_a_fresh_process, output_validator, theodolite
from theodolite.cli.serve import teller

pytestmark = pytest.mark.integration


@pytest.fixture
def server():
    with Loopback() as loopback:
        yield loopback


@pytest.fixture
def study(tmp_path, server):
    support = SupportStudy(folder=tmp_path / "support", url=server.url, n=2)
    support.write()
    return support


def finished(study, server):
    return theodolite("run", study.folder, "--json")


def application_that_prints(study, server):
    study.write(bot='bot: {kind: python, call: "loud.py:reply"}')
    (study.folder / "loud.py").write_text("def reply(prompt):\n    print('debug', prompt)\n    return prompt\n")
    return theodolite("run", study.folder, "--json")


def look(study, server):
    return theodolite("run", study.folder, "--limit", "1", "--json")


def nothing_succeeded(study, server):
    with Loopback(every=1, fault="404") as broken:
        study.write(bot=HTTP_BOT.format(root=broken.root))
        return theodolite("run", study.folder, "--json")


def budget_spent(study, server):
    study.write(rest="budget: {calls: 1}")
    return theodolite("run", study.folder, "--concurrency", "1", "--json")


def dead_endpoint(study, server):
    study.write(url="http://127.0.0.1:9/v1")
    return theodolite("run", study.folder, "--json")


def faulty_study(study, server):
    study.write(rest="promptz: [a]")
    return theodolite("run", study.folder, "--json")


def no_such_study(study, server):
    return theodolite("run", study.folder / "nowhere", "--json")


def option_misspelt(study, server):
    return theodolite("run", study.folder, "--json", "--firts", "3")


def report_before_a_run(study, server):
    return theodolite("report", study.folder, "--json")


def report_unfinished(study, server):
    theodolite("run", study.folder, "--limit", "1")
    return theodolite("report", study.folder, "--json")


def measured(study, server):
    theodolite("run", study.folder)
    return theodolite("run", "--stage", "measure", study.folder, "--json")


def checked(study, server):
    return theodolite("check", study.folder, "--json")


def check_with_faults(study, server):
    study.write(rest="promptz: [a]")
    return theodolite("check", study.folder, "--json")


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        (finished, 0),
        (application_that_prints, 0),
        (look, 0),
        (nothing_succeeded, 3),
        (budget_spent, 3),
        (dead_endpoint, 3),
        (faulty_study, 2),
        (no_such_study, 2),
        (option_misspelt, 2),
        (report_before_a_run, 2),
        (report_unfinished, 3),
        (measured, 0),
        (checked, 0),
        (check_with_faults, 2),
    ],
    ids=lambda part: getattr(part, "__name__", str(part)),
)
def test_every_command_prints_one_object_with_its_exit_code(study, server, ending, code):
    ended = ending(study, server)

    assert ended.code == code, ended.said
    assert ended.out.count("\n") == 1
    assert ended.found["exit_code"] == code


COMMANDS = (
    ("status",),
    ("runs",),
    ("show", "d001"),
    ("document",),
    ("backup", "--out", "all.backup"),
    ("doctor",),
    ("probe", "bot"),
    ("export",),
    ("worker", "--until-done"),
    ("release", "--redact-all"),
    ("judge", "plan"),
    ("label", "--file", "labels.csv", "--sample", "2"),
)


def test_commands_on_a_finished_run_print_what_the_schema_documents(study, server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert finished(study, server).code == 0
    codes = {}
    for words in COMMANDS:
        group = words[:2] if words[0] == "judge" else words[:1]
        ended = theodolite(*group, study.folder, *words[len(group) :], "--json")  # compares it with the schema
        codes[words[0]] = (ended.code, ended.found["exit_code"], ended.said if ended.code else "")

    assert {name: code for name, code in codes.items() if code[:2] != (0, 0)} == {}
    assert theodolite("schemas", "schemas", "--json").found["files"]
    refused = theodolite("completion", "bash", "--json")
    assert refused.err.endswith("takes no --json: it prints a shell script.\n")
    assert refused.found["error"] in refused.err


def test_a_server_prints_its_address_as_one_object(capsys):
    tell = teller(as_json=True)
    for line in ("Studies    .", "Open once  http://127.0.0.1:8000/start/k7", "Ctrl-C ends it."):
        tell(line)

    said = capsys.readouterr()
    assert json.loads(said.out) == {"address": "http://127.0.0.1:8000/start/k7"}
    output_validator("view").validate(json.loads(said.out))
    assert said.err.splitlines() == ["Studies    .", "Ctrl-C ends it."]


def test_errors_have_file_line_and_column(study, server):
    found = faulty_study(study, server).found["diagnostics"]

    assert [(fault["file"], fault["severity"]) for fault in found] == [("study.yaml", "error")]
    assert found[0]["line"] > 0 < found[0]["column"]
    assert "promptz" in found[0]["message"]


def test_a_check_states_the_calls_and_the_cost_of_a_run_as_json(study, server):
    estimate = checked(study, server).found["estimate"]

    by_name = {endpoint["name"]: endpoint for endpoint in estimate["endpoints"]}
    assert estimate["calls"] == sum(endpoint["calls"] for endpoint in by_name.values()) > 0
    assert 0 < estimate["tokens_in"]["low"] < estimate["tokens_in"]["high"]
    assert all(by_name[name]["cost_usd"] is None for name in estimate["unpriced"])


def test_an_unreachable_endpoint_has_the_same_message_in_json_and_text(study, server):
    ended = dead_endpoint(study, server)

    assert ended.found["error"] + "\n" == ended.err
    assert "nobody answers" in ended.err


def test_a_finished_run_lists_its_files_and_the_status_of_every_unit(study, server):
    found = finished(study, server).found

    assert found["results"] == str(study.folder / "results.json")
    assert (found["planned"], found["sessions"]["done"], found["annotations"]["done"]) == (2, 2, 2)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_unicode_gets_replacement_characters(tmp_path, encoding):
    with as_file(files("theodolite") / "resources" / "examples" / "b") as example:
        shutil.copytree(example, tmp_path / "b")
    answers = tmp_path / "b" / "answers.csv"
    answers.write_text(
        answers.read_text(encoding="utf-8").replace("stuck", "h\u00e4ngendes \u6f22\u5b57"), encoding="utf-8"
    )
    environ = {"PYTHONIOENCODING": encoding, "PATH": "/usr/bin:/bin", "NO_COLOR": "1"}

    ran = in_a_fresh_process("run", tmp_path / "b", environ=_with_paths(environ))
    shown = in_a_fresh_process("show", tmp_path / "b", "plain/1", environ=_with_paths(environ))

    assert (ran.code, shown.code) == (0, 0), ran.said + shown.said
    assert "\u25cf" not in ran.out
    assert ran.out.isascii()
    assert "program?" in shown.out


def _with_paths(environ):
    import os

    return environ | {name: value for name, value in os.environ.items() if name in {"PYTHONPATH", "HOME"}}


def test_results_of_another_study_in_the_same_folder_are_replaced_with_a_message(study):
    first = theodolite("run", study.folder, "--json")
    text = (study.folder / "study.yaml").read_text(encoding="utf-8")
    (study.folder / "other.yaml").write_text(text.replace("study: support", "study: other", 1), encoding="utf-8")

    again = theodolite("run", study.folder, "--json")
    other = theodolite("run", study.folder / "other.yaml", "--json")

    assert "held the results" not in first.err + again.err
    assert "held the results of study `support`, which are replaced; `--out FOLDER` keeps" in other.err
