import pytest

from theodolite.bootstrap.demo import DEMO_STUDIES, lay_out_demo
from theodolite.domain.errors import StorageUnavailable


def test_the_studies_are_laid_out_with_one_workspace_for_both(tmp_path):
    lay_out_demo(tmp_path / "demo")

    assert all((tmp_path / "demo" / study.name / "study.yaml").exists() for study in DEMO_STUDIES)
    assert (tmp_path / "demo" / ".theodolite").is_dir()


def test_files_that_somebody_changed_are_left_as_they_are(tmp_path):
    lay_out_demo(tmp_path)
    changed = tmp_path / DEMO_STUDIES[1].name / "study.yaml"
    changed.write_text("mine", encoding="utf-8")

    lay_out_demo(tmp_path)

    assert changed.read_text(encoding="utf-8") == "mine"


def test_a_folder_that_cannot_be_made_is_named_with_a_way_out(tmp_path):
    (tmp_path / "taken").write_text("", encoding="utf-8")

    with pytest.raises(StorageUnavailable, match="name another folder with --out"):
        lay_out_demo(tmp_path / "taken" / "demo")
