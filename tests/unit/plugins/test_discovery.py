"""Plugins are a value that is found, not a side effect of importing."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import pytest

from theodolite.domain.errors import InputError
from theodolite.plugins.discovery import GROUP, installed_plugins


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("our_house")
    monkeypatch.setitem(sys.modules, "our_house", module)
    return module


def _point(name: str = "our-house", value: str = "our_house") -> EntryPoint:
    return EntryPoint(name=name, value=value, group=GROUP)


def test_a_plugin_brings_a_folder_of_resources(plugin: ModuleType, tmp_path: Path) -> None:
    plugin.resources = lambda: tmp_path

    assert installed_plugins([_point()]).resources == (("our-house", tmp_path),)


def test_a_plugin_need_not_answer_any_hook(plugin: ModuleType) -> None:
    found = installed_plugins([_point()])

    assert found.names == ("our-house",)
    assert found.resources == ()


def test_a_plugin_that_cannot_be_loaded_is_named() -> None:
    with pytest.raises(InputError, match=r"plugin `broken` .* cannot be loaded: ModuleNotFoundError"):
        installed_plugins([_point("broken", "no_such_module_here")])


def test_resources_must_be_a_folder(plugin: ModuleType) -> None:
    plugin.resources = lambda: 7

    with pytest.raises(InputError, match="must return a folder, got int"):
        installed_plugins([_point()])


def test_without_plugins_there_is_nothing() -> None:
    assert installed_plugins([]).names == ()
