"""Postponed modules are whole modules for whoever uses them, and cost nothing for whoever does not."""

from __future__ import annotations

import sys
from threading import Thread

import pytest

from theodolite.bootstrap.postponing import postpone

INNER = "from . import parts\nfrom outer.inner.parts import VALUE\nLOADED.append(1)\n"


@pytest.fixture
def loaded(tmp_path, monkeypatch):
    """Return what grows by one whenever the module `outer.inner` is loaded."""
    folder = tmp_path / "outer" / "inner"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("LOADED = []\n", encoding="utf-8")
    (folder / "__init__.py").write_text(f"from outer import LOADED\n{INNER}", encoding="utf-8")
    (folder / "parts.py").write_text("VALUE = 7\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import outer

    yield outer.LOADED
    for name in [name for name in sys.modules if name.partition(".")[0] == "outer"]:
        del sys.modules[name]


def test_a_postponed_module_is_loaded_when_something_in_it_is_asked_for(loaded):
    postpone("outer.inner")
    import outer.inner
    from outer import inner

    assert loaded == []
    assert (inner.VALUE, outer.inner.parts.VALUE, loaded) == (7, 7, [1])


def test_it_is_loaded_when_it_is_reached_through_its_parts(loaded):
    postpone("outer.inner")
    from outer.inner import VALUE
    from outer.inner.parts import VALUE as AGAIN

    assert (VALUE, AGAIN, loaded) == (7, 7, [1])


def test_what_is_loaded_already_stays_so(loaded):
    import outer.inner

    before = outer.inner
    postpone("outer.inner", "outer.nowhere")

    assert outer.inner is before
    assert "outer.nowhere" not in sys.modules


def test_what_is_not_in_it_is_missed_as_in_any_module(loaded):
    postpone("outer.inner")
    from outer import inner

    with pytest.raises(AttributeError, match="no attribute `nothing`"):
        _ = inner.nothing
    assert not hasattr(inner, "nothing")
    assert loaded == [1]


def test_several_threads_load_it_once(loaded):
    postpone("outer.inner")
    from outer import inner

    found = []
    threads = [Thread(target=lambda: found.append(inner.VALUE)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (found, loaded) == ([7] * 8, [1])
