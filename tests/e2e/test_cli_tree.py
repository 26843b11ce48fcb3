"""`theodolite tree`: a run writes its tree, which can be recomputed without the database."""

from __future__ import annotations

import json
import shutil
from importlib.resources import as_file, files

import pytest

from tests.fakes.terminal import theodolite

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

SIMPLE = {"tree": "t", "nodes": {
    "top": {"summary": "mean", "of": ["a"]}, "a": {"answers": "g.a", "scale": "0-1", "orientation": "higher_is_worse"},
}}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The replay of XSTest with a tree, run once."""
    folder = tmp_path_factory.mktemp("tree") / "replay"
    with as_file(files("theodolite") / "resources/demo/xstest-replay") as shipped:
        shutil.copytree(shipped, folder)
    with (folder / "study.yaml").open("a", encoding="utf-8") as study:
        study.write("tree: by-guideline\n")
    assert theodolite("run", folder).code == 0
    return folder


def test_a_run_writes_the_tree_with_its_answers_and_values(folder):
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    tree = json.loads((folder / "tree-by-guideline.json").read_text(encoding="utf-8"))

    assert [each["tree"] for each in results["trees"]] == ["by-guideline"]
    assert tree["applications"][0]["application"] == "llama2orig"
    leaves = tree["applications"][0]["leaves"]
    assert len(leaves) == 5 * 450  # of all who label; the design takes those of people
    assert {leaf["kind"] for leaf in leaves} == {"person", "model", "rule", "reference"}


def test_the_tree_file_alone_reproduces_the_values(folder):
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    ended = theodolite("tree", "score", folder / "tree-by-guideline.json", "--application", "gpt4", "--json")
    again = json.loads(ended.out)["trees"][0]["applications"][0]["nodes"]
    first = next(each for each in results["trees"][0]["applications"] if each["application"] == "gpt4")["nodes"]

    assert ended.code == 0
    assert again == first


def test_two_applications_are_compared(folder):
    file = folder / "tree-by-guideline.json"
    ended = theodolite(
        "tree", "compare", file, file, "--application", "gpt4", "--application", "llama2orig", "--replicates", "50"
    )

    assert ended.code == 0
    assert "gpt4  against  llama2orig" in ended.out
    assert "no overall score is made" in ended.out


def test_a_design_is_shown(tmp_path):
    (tmp_path / "t.json").write_text(json.dumps(SIMPLE), encoding="utf-8")
    ended = theodolite("tree", "show", tmp_path / "t.json")

    assert (ended.code, ended.out.splitlines()) == (0, ["t", "top  [mean]", "  a  [answers to g.a]"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot be read: No such file"),
        ("{", "it cannot be read"),
        ("{}", "expected a tree"),
        (json.dumps(SIMPLE | {"nodes": {"top": {"summary": "mean", "of": "b"}}}), "sums up `b`"),
        (json.dumps(SIMPLE), "has no leaves to compute it from"),
    ],
    ids=["no file", "no json", "no tree", "a fault", "no leaves"],
)
def test_values_that_cannot_be_computed_have_a_reason(tmp_path, text, words):
    if text is not None:
        (tmp_path / "t.json").write_text(text, encoding="utf-8")
    ended = theodolite("tree", "score" if words.startswith(("has", "cannot")) else "show", tmp_path / "t.json")

    assert ended.code == 2
    assert words in ended.err
    assert "Traceback" not in ended.err
