"""The pages of a rehearsal: one of each kind kept as a file, and drawn where a browser is there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from urllib.parse import urljoin

from theodolite.bootstrap.page_checks import Lookout, PageAnswer

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
"""Names under which the browser that draws is looked for."""

SIZE = "1200,1500"
"""Width and height of a picture; pixels."""

_PATIENCE_S = 60
_DOORS = {"start", "join", "code", "from"}
_HOLDING = {"d", "room", "item", "case", "check"}
"""Parts of a path behind which a token stands."""

_OK = 200
_STYLE = re.compile(r'<link rel="stylesheet" href="([^"]+)">')
_SCRIPT = re.compile(r"<script\b.*?</script>", re.DOTALL)
_ICON = re.compile(r'<link rel="icon"[^>]*>')


class Gallery:
    """Keeps the fullest page of each kind, as bots saw it.

    Attributes:
        n_pages: Pages that came back in all; count.
    """

    def __init__(self, lookouts: Mapping[str, Lookout] | None = None) -> None:
        """Begin with bare walls.

        Args:
            lookouts: Who searches the pages of whom for what must not stand on them; nobody where None.
        """
        self.n_pages = 0
        self._lookouts = lookouts or {}
        self._kept: dict[str, PageAnswer] = {}
        self._lock = Lock()

    def seen_by(self, who: str) -> Callable[[PageAnswer], None]:
        """Return what a visitor tells its pages to; `who` begins the names of their files."""

        def keep(page: PageAnswer) -> None:
            with self._lock:
                self._keep(who, page)

        return keep

    def _keep(self, who: str, page: PageAnswer) -> None:
        self.n_pages += 1
        if who in self._lookouts:
            self._lookouts[who].look(page)
        if page.status != _OK or "text/html" not in page.headers:
            return
        name = f"{who}-{kind_of(page.path)}"
        if name not in self._kept or len(page.text) > len(self._kept[name].text):
            self._kept[name] = page

    def hang(self, folder: Path, read: Callable[[str], str]) -> tuple[Path, ...]:
        """Write the pages into a folder, each whole in itself and without scripts, and return their files.

        Args:
            folder: Where to.
            read: Returns what stands at an address of the server; asked once for each sheet of styles.
        """
        styles: dict[str, str] = {}
        files = []
        for name, page in sorted(self._kept.items()):
            for address in _STYLE.findall(page.text):
                where = urljoin(page.url, address)
                styles[address] = styles.get(address) or read(where)
            text = _STYLE.sub(lambda found: f"<style>{styles[found[1]]}</style>", page.text)
            files.append(folder / f"{name}.html")
            files[-1].write_text(_ICON.sub("", _SCRIPT.sub("", text)), encoding="utf-8")
        return tuple(files)


def kind_of(path: str) -> str:
    """Return what kind of page a path leads to, e.g. `test-chat`: no numbers, no keys, no codes."""
    parts = [part for part in path.split("/") if part]
    if not parts or parts[0] in _DOORS:
        return parts[0] if parts else "home"
    below = parts[2:] if parts[0] == "s" else parts
    named = [part for place, part in enumerate(below) if not (place and below[place - 1] in _HOLDING)]
    words = [part for part in named if not part.isdecimal()]
    return "-".join([*words, "chat"] if words == ["test"] and len(below) > 1 else words)


def browser() -> str:
    """Return the browser that can draw pages; empty where there is none."""
    return next(filter(None, map(shutil.which, BROWSERS)), "")


def draw(pages: tuple[Path, ...], program: str) -> int:
    """Draw pages beside their files, and return how many could be drawn.

    Args:
        pages: Their files.
        program: A browser of Chromium's family.
    """
    drawn = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = ["--headless", "--disable-gpu", "--no-first-run", "--hide-scrollbars", f"--window-size={SIZE}"]
        options += ["--disable-background-networking", "--disable-sync", f"--user-data-dir={profile}"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            options.append("--no-sandbox")  # it refuses an administrator otherwise; the pages are our own
        for page in pages:
            target = page.with_suffix(".png")
            words = [program, *options, f"--screenshot={target.resolve()}", page.resolve().as_uri()]
            try:
                subprocess.run(words, capture_output=True, timeout=_PATIENCE_S, check=False)  # noqa: S603
            except (OSError, subprocess.TimeoutExpired):
                continue
            drawn += target.exists()
    return drawn
