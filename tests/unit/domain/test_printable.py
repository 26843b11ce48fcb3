"""Words of studies and applications never steer a terminal."""

from __future__ import annotations

import pytest

from theodolite.domain.printable import printable, printable_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words", "plain words"),
        ("two\nlines", "two\nlines"),
        ("\x1b[2Kgone", "\ufffd[2Kgone"),
        ("\x1b]0;title\x07", "\ufffd]0;title\ufffd"),
        ("a\u202egnp.exe", "a\ufffdgnp.exe"),
        ("zero\u200bwidth", "zero\ufffdwidth"),
        ("\x9b31m", "\ufffd31m"),
        ("a\tb\r\n", "a    b\n"),
    ],
    ids=["plain", "lines", "csi", "osc", "bidi", "zero-width", "c1", "tab"],
)
def test_characters_that_steer_a_terminal_are_replaced(text, shown):
    assert printable(text) == shown


def test_a_name_stays_on_one_line():
    assert printable_line("bot.py:answer\n0 errors") == "bot.py:answer 0 errors"
