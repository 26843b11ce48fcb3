"""Examples can be laid out by name, and every one of them is a study without a fault."""

from __future__ import annotations

import pytest

from theodolite.config.load_context import EXAMPLES, example_files
from theodolite.config.loading import check_study, load_study
from theodolite.config.starters import StarterKind, write_starter
from theodolite.domain.errors import InputError, Severity


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_a_study_without_errors(tmp_path, name):
    study, *_ = write_starter(tmp_path / "new", StarterKind.EXAMPLE, {"example": name})

    assert study.name == "study.yaml"
    assert [fault for fault in check_study(study) if fault.severity is Severity.ERROR] == []


@pytest.mark.parametrize("pack", [name for name in EXAMPLES if name.startswith("aria/")])
def test_the_example_of_a_pack_uses_the_guarded_bot_in_that_scenario_only(tmp_path, pack):
    write_starter(tmp_path, StarterKind.EXAMPLE, {"example": pack})

    study = load_study(tmp_path).study
    assert (study.pack, study.name) == (pack, pack.partition("/")[2])
    assert [application.name for application in study.applications] == ["none", "leaky", "strict"]


def test_an_existing_study_is_left_unchanged(tmp_path):
    (tmp_path / "guarded_bot.py").write_text("mine")

    with pytest.raises(InputError, match="is there already"):
        write_starter(tmp_path, StarterKind.EXAMPLE, {"example": "guarded-bot"})
    assert not (tmp_path / "study.yaml").exists()


def test_an_unknown_example_lists_the_available_ones():
    with pytest.raises(InputError, match="mean `guarded-bot`"):
        example_files("garded-bot")
    with pytest.raises(InputError, match="there are guarded-bot, aria/tv-spoilers"):
        example_files("x")
