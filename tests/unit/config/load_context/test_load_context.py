from __future__ import annotations

from theodolite.config.guidelines import GuidelineSpec
from theodolite.config.load_context import LoadContext, ResourceResolver, report_assets, shipped_bytes, shipped_text
from theodolite.config.permissions import is_there


def test_an_impossible_file_name_is_not_found(tmp_path):
    assert not is_there(tmp_path / ("x" * 5000))
    assert not is_there(tmp_path / "a\0b")


def test_names_are_resolved_in_the_folder_and_in_the_package(folder):
    context = LoadContext(folder=folder(guidelines__mine_yaml="ask: x\n"))

    assert context.names_in("guidelines", ".yaml")[0] == "mine"
    assert "groundedness" in context.names_in("guidelines", ".yaml")


def test_a_file_found_nowhere_is_absent(tmp_path):
    assert LoadContext(folder=tmp_path).read_spec("guidelines", "nothing", GuidelineSpec, "guideline") is None


def test_a_missing_file_is_reported_with_the_closest_name(folder):
    context = LoadContext(folder=folder(policy_md="x"))

    assert context.no_such_file("polcy.md") == "`polcy.md` is not in the study's folder. Did you mean `policy.md`?"


def test_shipped_resources_are_found_by_name():
    assert "customer" in ResourceResolver().names("personas", ".md")
    assert ResourceResolver().names("nothing", ".md") == ()
    assert shipped_bytes("nothing.md") is None
    assert shipped_text("prices.yaml").startswith("#")


def test_the_parts_of_the_report_are_loaded_by_path():
    assert any(name.endswith(".html") for name in report_assets())
