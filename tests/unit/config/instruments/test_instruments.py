from __future__ import annotations

import pytest

from theodolite.config.loading import check_study

STUDY = """study: a
models: {m: {script: [Hello]}}
applications: {app: {kind: model, model: m}}
scenarios: {s: {scripts: {hello: Hello}}}
judges: {j: {ask: Is it?, defect: "== yes", model: m}}
questionnaires:
  after:
    questions:
      it: {ask: QUESTION, scale: SCALE}
TREE"""


def notes(tmp_path, question="Was it so, or not?", scale="likert", tree=""):
    text = STUDY.replace("QUESTION", f'"{question}"').replace("SCALE", scale).replace("TREE", tree)
    (tmp_path / "study.yaml").write_text(text, encoding="utf-8")
    return [(placed.line, placed.words) for placed in check_study(tmp_path)]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Don't you think it helped?", "asks for a yes"),
        ("Would you agree that it helped?", "asks for a yes"),
        ("How helpful was it?", "names one end"),
        ("It obviously helped.", "takes the answer for granted"),
        ("Was it fast? Was it right?", "asks two things at once"),
    ],
)
def test_leading_wording_is_noted_with_its_line(tmp_path, question, words):
    ((line, said),) = notes(tmp_path, question)

    assert (line, words in said) == (9, True)


@pytest.mark.parametrize("question", ["Was it so, or not?", "How helpful was it, if at all?", "It helped me."])
def test_neutral_wording_gives_no_note(tmp_path, question):
    assert notes(tmp_path, question) == []


def test_a_scale_without_named_ends_gives_a_note(tmp_path):
    ((_, said),) = notes(tmp_path, scale="1-10")

    assert "does not say what 1 and 10 mean" in said


def test_a_tree_needs_the_bad_end_of_a_scale(tmp_path):
    tree = "tree: {tree: t, nodes: {top: {summary: mean, of: x}, x: {answers: after.it}}}\n"
    told = [(line, said) for line, said in notes(tmp_path, tree=tree) if "nobody answers" not in said]

    assert [(line, "enters tree `t`" in said) for line, said in told] == [(9, True)]
