"""Drawings as PNG."""

from __future__ import annotations

import struct

import pytest

from theodolite.domain.errors import InputError
from theodolite.gateways.extras import png_bytes

SQUARE = '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><rect width="30" height="20"/></svg>'


def test_a_drawing_becomes_a_png_at_twice_its_size():
    picture = png_bytes(SQUARE)

    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", picture[16:24]) == (60, 40)


def test_a_broken_drawing_is_an_input_error():
    with pytest.raises(InputError, match="cannot be rendered as PNG"):
        png_bytes("<svg")
