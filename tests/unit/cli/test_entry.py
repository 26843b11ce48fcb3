import os
import sys
from types import ModuleType

import pytest

from theodolite.cli.entry import program


class Interrupted(ModuleType):
    """A module in whose loading somebody presses Ctrl-C."""

    def __getattr__(self, name):
        if name == "program":
            raise KeyboardInterrupt
        raise AttributeError(name)


def test_ctrl_c_during_startup_ends_with_a_message(monkeypatch, capfd):
    monkeypatch.setitem(sys.modules, "theodolite.cli.main", Interrupted("theodolite.cli.main"))
    monkeypatch.setattr(os, "_exit", sys.exit)

    with pytest.raises(SystemExit) as end:
        program()

    assert end.value.code == 3
    assert capfd.readouterr().err == "\nStopped. Run the same command to resume.\n"
