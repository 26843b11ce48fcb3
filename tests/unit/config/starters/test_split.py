from __future__ import annotations

import pytest

from theodolite.config.loading import load_study
from theodolite.config.starters import split_study
from theodolite.config.yaml_source import InvalidStudyError
from theodolite.domain.errors import InputError
from theodolite.domain.identity import version_of

STUDIES = ["examples/a", "examples/b", "examples/c", "demo/xstest-replay", "demo/spoiler-guard"]
STUDY = """\
study: shop
models: {m: {script: [Hello]}}
applications:
  app: {kind: model, model: m, context: [facts.md]}
# What they meet.
scenarios:
  buy: {goal: "Buy {{ wish }}", source: [facts.md, more.md]}   # first
  # The way back.
  return:
    goal: |
      Give back
      {{ wish }}
  ask: {goal: "Ask {{ name }}"}
personas:
  people:
    template: "You are {{ name }}."
    model: m
    rows:
      - {name: "Ana, the first", wish: yes}
      - {name: Bo "B" Berg, wish: "1;2"}
guidelines:
  zeal: {ask: Keen?, defect: "== no"}
  unused: {ask: Short?, defect: "== no"}
  art: {ask: Nice?, scale: 1-5, defect: "<= 2"}
judges:
  z: {guideline: zeal, model: m}
  a: {guideline: art, model: m}
"""


def made(folder, study=STUDY):
    path = folder(study_yaml=study, facts_md="Facts.", more_md="More.")
    return path / "study.yaml", path / "new"


@pytest.mark.parametrize("name", STUDIES)
def test_a_split_folder_is_the_same_study(shipped_folder, tmp_path, name):
    file = shipped_folder(name) / "study.yaml"
    split = split_study(file, tmp_path / "new")

    assert version_of(load_study(tmp_path / "new").study) == version_of(load_study(file).study) == split.version
    assert split.kept == ()


def test_parts_get_files_and_files_named_by_the_study_are_copied(folder):
    file, new = made(folder)
    split = split_study(file, new)

    assert [path.relative_to(new).as_posix() for path in split.files] == [
        "study.yaml",
        "facts.md",
        "guidelines/art.yaml",
        "guidelines/zeal.yaml",
        "more.md",
        "parameters/people.csv",
        "scenarios/buy.yaml",
        "scenarios/return.yaml",
    ]
    assert version_of(load_study(new).study) == version_of(load_study(file).study)


def test_the_study_file_preserves_its_comments_and_names_its_parts(folder):
    file, new = made(folder)
    split_study(file, new)

    text = (new / "study.yaml").read_text(encoding="utf-8")
    assert "# What they meet.\nscenarios:\n  # buy: scenarios/buy.yaml\n  # return: scenarios/return.yaml\n" in text
    assert "    rows: people.csv\n" in text
    assert (new / "scenarios/return.yaml").read_text() == "# The way back.\ngoal: |\n  Give back\n  {{ wish }}\n"


def test_parts_that_would_resolve_differently_stay_in_the_study_file(folder):
    split = split_study(*made(folder))

    assert [reason.partition(":")[0] for reason in split.kept] == ["guideline `unused`", "scenario `ask`"]


def test_a_split_study_may_be_split_again(folder, tmp_path):
    file, new = made(folder)
    first = split_study(file, new)

    assert split_study(new / "study.yaml", tmp_path / "newer").version == first.version


def test_nothing_is_overwritten(folder):
    file, new = made(folder)
    (new / "scenarios").mkdir(parents=True)
    (new / "scenarios" / "buy.yaml").write_text("mine")

    with pytest.raises(InputError, match="is there already"):
        split_study(file, new)

    assert [path.name for path in new.rglob("*") if path.is_file()] == ["buy.yaml"]
    assert (new / "scenarios" / "buy.yaml").read_text() == "mine"


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("  buy:", "  buy/now:", "scenario `buy/now`: its name is not a valid name of a file"),
        ("  buy:", "  zoo:", "scenario `return`: in a file of its own it would change its place in the order"),
        (
            'name: Bo "B" Berg, wish: "1;2"',
            'name: "", wish: ""',
            "rows of `people`: a table would not hold them as they are",
        ),
        ("guidelines:\n  zeal: {ask", "guidelines: {zeal: {ask", "`guidelines`: written between braces"),
    ],
)
def test_a_part_without_a_file_stays_with_a_reason(folder, old, new, kept):
    study = STUDY.replace(old, new)
    if "guidelines: {" in study:
        study = study.replace('== no"}\n  unused', '== no"}, unused').replace('== no"}\n  art', '== no"}, art')
        study = study.replace('"<= 2"}\n', '"<= 2"}}\n')
    split = split_study(*made(folder, study))

    assert [reason for reason in split.kept if reason.startswith(kept)]


def test_a_file_of_the_same_name_is_not_used_for_the_rows(folder):
    study = STUDY.replace("facts.md, more.md", "facts.md, people.csv").replace("[facts.md]", "[people.csv]")
    file, new = made(folder, study)
    (file.parent / "people.csv").write_text("other")

    assert "rows of `people`: there is a file `people.csv` already" in split_study(file, new).kept


def test_a_file_outside_the_folder_is_reported_and_nothing_is_written(folder, tmp_path):
    file, new = made(folder, STUDY.replace("[facts.md]", "[../outside.md]"))
    (tmp_path.parent / "outside.md").write_text("x")

    with pytest.raises(InputError, match="leads out of the study"):
        split_study(file, new)

    assert not new.exists()


def test_a_study_with_errors_is_not_split(folder):
    with pytest.raises(InvalidStudyError):
        split_study(*made(folder, STUDY.replace("goal", "goall")))


PACKED = """\
study: a
pack: aria/tv-spoilers
models: {m: {script: [a]}}
applications: {b: {kind: model, model: m}}
guidelines:
  spoiler-guardrail: {ask: Told?, defect: "== yes"}
judges: {j: {guideline: spoiler-guardrail, model: m}}
"""


def test_a_guideline_that_overrides_a_pack_stays_where_it_takes_precedence(folder):
    split = split_study(*made(folder, PACKED))

    assert split.kept == ("guideline `spoiler-guardrail`: it overrides the one of the pack",)
