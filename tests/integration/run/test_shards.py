"""Parts of a plan run separately and are merged: the results equal those of one run."""

from __future__ import annotations

import json
import shutil
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.loopback import Loopback
from tests.fakes.support_study import SupportStudy
from tests.fakes.terminal import theodolite
from tests.integration.run.conftest import asked

pytestmark = pytest.mark.integration

TOY = resources.files("theodolite.resources") / "demo" / "spoiler-guard"

OF_ITS_OWN = {"command", "finished", "key", "started"}
"""Entries about a run that differ between any two runs."""


def results_in(folder: Path) -> dict[str, Any]:
    """Return results.json without moments, keys and paths of the run."""
    found = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert found["run"].keys() >= OF_ITS_OWN
    run = {name: value for name, value in found["run"].items() if name not in OF_ITS_OWN}
    return {name: value for name, value in found.items() if name != "generated"} | {"run": run}


def toy(folder: Path) -> Path:
    """Write the toy study."""
    shutil.copytree(str(TOY), folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture
def whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Results of the toy study, run as a whole."""
    monkeypatch.setenv("THEODOLITE_ALLOW_CODE", "1")
    assert theodolite("run", toy(tmp_path / "whole")).code == 0
    return results_in(tmp_path / "whole")


def test_merged_shards_equal_a_whole_run(tmp_path: Path, whole: dict[str, Any]) -> None:
    study, shards = toy(tmp_path / "toy"), tmp_path / "shards"

    ends = [theodolite("run", study, "--shard", f"{n}/5", "--out", shards) for n in (3, 1, 2, 5, 4)]
    merged = theodolite("merge", study, shards)

    assert [end.code for end in ends] == [0] * 5, ends[0].said
    assert merged.code == 0, merged.said
    assert "Read 5 files: 12 sessions and 12 annotations are new, 0 were already stored." in merged.out
    assert results_in(study) == whole


def test_stages_of_shards_pass_on_files(tmp_path: Path, whole: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    study, dialogues, labels = toy(tmp_path / "toy"), tmp_path / "dialogues", tmp_path / "labels"
    for stage, step in ((("test", "--out", dialogues), "a"), (("score", "--from", dialogues, "--out", labels), "b")):
        for n in (1, 2):
            monkeypatch.setenv("THEODOLITE_WORKSPACE", str(tmp_path / f"{step}{n}"))
            assert theodolite("run", study, "--shard", f"{n}/2", "--stage", *stage).code == 0
    monkeypatch.setenv("THEODOLITE_WORKSPACE", str(tmp_path / "c"))

    merged = theodolite("merge", study, dialogues, labels, "--out", tmp_path / "results")

    assert merged.code == 0, merged.said
    assert "12 sessions and 12 annotations are new, 12 were already stored." in merged.out
    assert results_in(tmp_path / "results") == whole
    assert not (study / ".theodolite").exists()


def test_a_second_merge_changes_nothing(study: SupportStudy, server: Loopback, tmp_path: Path) -> None:
    study.write()
    for n in (1, 2):
        assert theodolite("run", study.folder, "--shard", f"{n}/2", "--out", tmp_path / "shards").code == 0
    assert theodolite("merge", study.folder, tmp_path / "shards").code == 0
    tables = ("journalentry", "dialogue", "turn", "annotation", "answer", "unit", "run")
    before, results, calls = [study.rows(table) for table in tables], results_in(study.folder), asked(server)

    again = theodolite("merge", study.folder, tmp_path / "shards")

    assert again.code == 0
    assert "0 sessions and 0 annotations are new, 20 were already stored." in again.out
    assert [study.rows(table) for table in tables] == before
    assert results_in(study.folder) == results
    assert results["spending"]["calls"] == calls == 30


def test_a_partial_merge_can_be_completed_by_a_run(study: SupportStudy, server: Loopback, tmp_path: Path) -> None:
    study.write()
    assert theodolite("run", study.folder, "--shard", "2/3", "--out", tmp_path / "shards").code == 0
    calls = asked(server)

    merged = theodolite("merge", study.folder, tmp_path / "shards")
    rest = theodolite("run", study.folder)

    assert merged.code == 3
    assert "7 of 10 dialogues and 7 of 10 annotations are missing" in merged.err
    assert rest.code == 0
    assert (calls, asked(server)) == (9, 30)


def test_a_later_result_replaces_a_failure(study: SupportStudy, tmp_path: Path) -> None:
    shards = tmp_path / "shards"
    failing = study.write(bot='bot: {kind: python, call: "bot:reply"}')
    (failing / "bot.py").write_text(
        "from pathlib import Path\n\n\ndef reply(prompt):\n"
        f"    if Path({str(tmp_path / 'away')!r}).exists():\n        raise OSError('away')\n    return 'Yes.'\n"
    )
    (tmp_path / "away").touch()
    command = ("run", failing, "--shard", "1/1", "--out", shards, "--allow-code")
    theodolite(*command)
    first = theodolite("merge", failing, shards)
    (tmp_path / "away").unlink()

    assert theodolite(*command, "--retry-failed").code == 0
    second = theodolite("merge", failing, shards)

    assert (first.code, "10 sessions and 0 annotations are new" in first.out) == (3, True)
    assert "away" in first.err
    assert second.code == 0, second.said
    assert "10 sessions and 10 annotations are new" in second.out
    assert study.results["run"]["completed_dialogues"] == 10


def test_other_replies_in_the_workspace_are_kept(study: SupportStudy, tmp_path: Path) -> None:
    study.write()
    assert theodolite("run", study.folder, "--shard", "1/1", "--out", tmp_path / "shards").code == 0
    assert theodolite("run", study.folder).code == 0
    before = study.rows("journalentry")

    merged = theodolite("merge", study.folder, tmp_path / "shards")

    assert merged.code == 0
    assert "20 differ from the replies in this workspace, which are kept." in merged.out
    assert study.rows("journalentry") == before


def _changed(text: str) -> str:
    return text.replace("item 3 can", "item 3 may")


REFUSALS = {
    "another-study": ("study.yaml", lambda text: text.replace("study: support", "study: other"), "expected study"),
    "another-version": ("customers.csv", _changed, "was made with version"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_shard_of_another_study_is_refused(study: SupportStudy, tmp_path: Path, case: str) -> None:
    name, change, words = REFUSALS[case]
    study.write(n=3)
    assert theodolite("run", study.folder, "--shard", "1/2", "--out", tmp_path / "shards").code == 0
    file = study.folder / name
    file.write_text(change(file.read_text(encoding="utf-8")), encoding="utf-8")

    merged = theodolite("merge", study.folder, tmp_path / "shards")

    assert merged.code == 2
    assert words in merged.err
    assert not (study.folder / "results.json").exists()


DAMAGE = {
    "truncated": lambda text: text[:-20],
    "without-end": lambda text: text[: text.rindex("\n", 0, -1) + 1],
    "changed": lambda text: text.replace("Customer 1", "Customer 7"),
    "no-shard": lambda _: '{"a": 1}\n',
    "empty": lambda _: "",
}


@pytest.mark.parametrize("case", DAMAGE)
def test_a_damaged_shard_is_refused_before_anything_is_stored(study: SupportStudy, tmp_path: Path, case: str) -> None:
    study.write(n=2)
    assert theodolite("run", study.folder, "--shard", "1/1", "--out", tmp_path).code == 0
    file = tmp_path / "support-1-of-1.jsonl"
    file.write_text(DAMAGE[case](file.read_text(encoding="utf-8")), encoding="utf-8")

    merged = theodolite("merge", study.folder, file)

    assert merged.code == 2
    assert "is not whole" in merged.err or "is not a shard" in merged.err or "is damaged" in merged.err
    assert not (study.folder / ".theodolite" / "theodolite.db").exists() or study.rows("dialogue") == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--shard", "3/2"), "e.g. `2/8`; got `3/2`"),
        (("--shard", "1/2", "--stage", "measure"), "is not measured"),
        (("--from", "x"), "belongs to `--shard`"),
    ],
    ids=["number", "measure", "from"],
)
def test_unsuitable_options_are_refused(study: SupportStudy, words: tuple[str, ...], said: str) -> None:
    ended = theodolite("run", study.write(), *words)

    assert (ended.code, said in ended.err) == (2, True), ended.err
