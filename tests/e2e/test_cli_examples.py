"""The three examples of the handbook: fifteen lines at most, run or checked as they are written."""

import shutil
from importlib.resources import as_file, files

import pytest

from tests.fakes.loopback import Loopback
from tests.fakes.terminal import theodolite

pytestmark = pytest.mark.integration

CHECKED = """\
customers.csv   note: still the 6 example rows; the report will say so
study.yaml:4    note: variable `OPENAI_API_KEY` is not set in this environment;
                it is needed before a run
study.yaml:14   note: no price is known for `app`, so the budget cannot count
                its calls; state `price`
Plan    60 dialogues = 6 personas x 10, 3 turns, 1 judge: 420 calls
Tokens  about 2"""


@pytest.fixture
def example(tmp_path, monkeypatch):
    """Copies of the examples in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    with as_file(files("theodolite") / "resources" / "examples") as examples:
        shutil.copytree(examples, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_an_example_has_at_most_fifteen_lines_and_no_errors(example, name):
    lines = (example / name / "study.yaml").read_text(encoding="utf-8").splitlines()
    ended = theodolite("check", name)

    assert len(lines) <= 15
    assert ended.code == 0, ended.said
    assert "0 errors" in ended.out
    assert ended.out.rstrip().endswith((f"Next: theodolite run {name} --limit 3", f"Next: theodolite run {name}"))


def test_checking_a_states_the_cost_and_the_models_that_it_calls(example):
    ended = theodolite("check", "a")

    assert ended.out.startswith(CHECKED)
    assert "\nCost    about $" in ended.out
    assert "Hosts   127.0.0.1:8000 (application), api.openai.com (simulated user, judge)\n" in ended.out
    assert "From    groundedness 1.2 and persona template customer 1.0: shipped\n" in ended.out


def test_a_runs_as_written_except_for_its_addresses(example, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-loopback")
    judge = '{"reason": "It says so.", "score": 2}'
    with Loopback(replies={"other": [judge]}) as server:
        study = example / "a" / "study.yaml"
        text = study.read_text(encoding="utf-8")
        for address in ("http://127.0.0.1:8000/v1", "https://api.openai.com/v1"):
            text = text.replace(address, server.url)
        study.write_text(text, encoding="utf-8")
        ended = theodolite("run", "a")

    assert ended.code == 0, ended.said
    assert "support-bot    bot-1.4, 6 example personas, judge not validated" in ended.out
    assert "60 dialogues but 6 personas: the interval accounts for this" in ended.out
    assert "Completeness   60 planned: 60 judged, 0 failed, 0 missing" in ended.out
    assert "Cost           420 calls" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


def test_b_runs_as_written_without_a_call(example):
    ended = theodolite("run", "b")

    assert ended.code == 0, ended.said
    assert "Asking" not in ended.said
    assert "8 planned: 8 labelled by both people, 0 failed, 0 missing" in ended.out
    assert "too few for a percent" in ended.out


def test_checking_c_reports_that_the_class_of_the_team_is_missing(example):
    checked, run = theodolite("check", "c"), theodolite("run", "c")

    assert "Cells   (20 red teamers + 40 field testers) x 2 applications = 120" in checked.out
    assert "consent.md     open: still the sample text; needed before people are invited" in checked.out
    assert run.code == 2
    assert "application `blue`: module `blue_team.dialog` cannot be loaded" in run.err
