"""Packing: texts made small by what they have in common with one that is kept already.

Personas of one template differ in a name and a wish. Packed against the first of
them, each takes a twentieth of its size. A base is never packed itself, so one
look brings every text back.
"""

from __future__ import annotations

import zlib

_SHORT = 200
"""Texts below this size are not worth packing; bytes."""

_WORTH = 0.75
"""A packed text that is larger than this share of the plain one is not kept; fraction."""

_SMALL_WINDOW, _SMALL_MEMORY = 12, 5  # cheap to set up, and most texts fit: 2 to the 12th bytes with their base
_LARGE_WINDOW, _LARGE_MEMORY = 15, 8


def packed(text: bytes, base: bytes = b"") -> bytes | None:
    """Return a text packed against a base, or None where that is not worth it."""
    if len(text) < _SHORT:
        return None
    fits = len(text) + len(base) <= 1 << _SMALL_WINDOW
    window, memory = (_SMALL_WINDOW, _SMALL_MEMORY) if fits else (_LARGE_WINDOW, _LARGE_MEMORY)
    press = zlib.compressobj(6, zlib.DEFLATED, -window, memory, zlib.Z_DEFAULT_STRATEGY, base)
    small = press.compress(text) + press.flush()
    return small if len(small) <= _WORTH * len(text) else None


def unpacked(small: bytes, base: bytes = b"") -> bytes:
    """Return the text that was packed against a base."""
    press = zlib.decompressobj(-_LARGE_WINDOW, base)
    return press.decompress(small) + press.flush()
