"""Drawings as PNG, by the renderer resvg; it is an extra, because only figures of exports need it."""

from __future__ import annotations

from importlib.util import find_spec

from theodolite.domain.errors import InputError

INSTALL = "pip install 'theodolite[png]'"
"""The command that installs the renderer."""

_ZOOM = 2
"""Pixels per unit of the drawing, so that text is sharp in print; factor."""


def has_png() -> bool:
    """Whether the renderer is installed."""
    return find_spec("resvg_py") is not None


def require_png() -> None:
    """Reject the start if the renderer is not installed.

    Raises:
        InputError: If it is not.
    """
    if not has_png():
        message = f"PNG is drawn by resvg, which is not installed; type: {INSTALL}  (SVG needs nothing)"
        raise InputError(message)


def png_bytes(svg: str) -> bytes:
    """Return an SVG drawing as PNG; its texts are set in the fonts of this system.

    Raises:
        InputError: If the drawing cannot be rendered.
    """
    import resvg_py

    try:
        return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=_ZOOM))
    except ValueError as error:
        message = f"the drawing cannot be rendered as PNG: {error}"
        raise InputError(message) from error
