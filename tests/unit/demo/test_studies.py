import pytest

from theodolite.bootstrap.permission import code_request
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.config.loading import load_study
from theodolite.config.permissions import ALLOW_CODE
from theodolite.config.required_access import named_code
from theodolite.demo.studies import DEMO_STUDIES, lay_out_demo
from theodolite.domain.errors import StorageUnavailable


def test_the_demo_studies_share_one_workspace(tmp_path):
    lay_out_demo(tmp_path / "demo")

    assert all((tmp_path / "demo" / study.name / "study.yaml").exists() for study in DEMO_STUDIES)
    assert (tmp_path / "demo" / ".theodolite").is_dir()


def test_modified_files_are_left_unchanged(tmp_path):
    lay_out_demo(tmp_path)
    changed = tmp_path / DEMO_STUDIES[1].name / "study.yaml"
    changed.write_text("mine", encoding="utf-8")

    lay_out_demo(tmp_path)

    assert changed.read_text(encoding="utf-8") == "mine"


def test_an_error_creating_the_folder_is_reported_with_a_remedy(tmp_path):
    (tmp_path / "taken").write_text("", encoding="utf-8")

    with pytest.raises(StorageUnavailable, match="name another folder with --out"):
        lay_out_demo(tmp_path / "taken" / "demo")


@pytest.fixture
def no_permission_yet(monkeypatch, tmp_path):
    """Take away the permission that other tests have."""
    monkeypatch.delenv(ALLOW_CODE)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.mark.usefixtures("no_permission_yet")
def test_code_of_the_package_runs_without_permission(tmp_path):
    lay_out_demo(tmp_path / "demo")

    toy = load_study(tmp_path / "demo" / "spoiler-guard", resolver=resource_resolver())
    assert named_code(toy.study)
    assert code_request(toy) is None


@pytest.mark.usefixtures("no_permission_yet")
def test_existing_code_needs_permission(tmp_path):
    folder = tmp_path / "demo" / "spoiler-guard"
    folder.mkdir(parents=True)
    (folder / "spoiler_guard.py").write_text("def reply(prompt):\n    return prompt\n")

    lay_out_demo(tmp_path / "demo")

    assert code_request(load_study(folder, resolver=resource_resolver())) is not None
