"""Rebuild the vendored chart library from npm, and check that the file in the repository is this build.

    python tools/build_charts.py            rebuild and write the file
    python tools/build_charts.py --check    rebuild and compare

`npm` installs the exact versions in tools/charts/package.json into a temporary folder.
esbuild bundles the parts that tools/charts/entry.js names.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "tools" / "charts"
VENDOR = ROOT / "src" / "theodolite" / "resources" / "report" / "vendor"
LIBRARY = VENDOR / "echarts.min.js"
LICENCES = VENDOR / "echarts.LICENSE.txt"
FLAGS = (
    "--bundle",
    "--minify",
    "--format=iife",
    "--global-name=echarts",
    "--target=es2020",
    "--legal-comments=none",
    "--log-level=warning",
)


def built() -> bytes:
    """Return the library as npm and esbuild make it."""
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("expected `npm` on the PATH; install Node.js, then run this again")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in SOURCES.iterdir():
            shutil.copy(file, folder)
        install = [npm, "install", "--no-package-lock", "--no-audit", "--no-fund", "--silent"]
        subprocess.run(install, cwd=folder, check=True)  # noqa: S603 - npm with fixed arguments
        esbuild = folder / "node_modules" / ".bin" / "esbuild"
        command = [str(esbuild), "entry.js", *FLAGS, "--outfile=echarts.min.js"]
        subprocess.run(command, cwd=folder, check=True)  # noqa: S603 - esbuild with fixed arguments
        return (folder / "echarts.min.js").read_bytes()


def main(arguments: list[str]) -> int:
    """Rebuild the library; return 1 if the file in the repository differs."""
    library = built()
    digest = hashlib.sha256(library).hexdigest()
    if "--check" in arguments:
        same = LIBRARY.read_bytes() == library
        print(
            f"{LIBRARY.relative_to(ROOT)}: {'is this build' if same else 'differs from this build'}, SHA-256 {digest}"
        )
        return 0 if same else 1
    LIBRARY.write_bytes(library)
    print(f"wrote {LIBRARY.relative_to(ROOT)}: {len(library):,} bytes, SHA-256 {digest}")
    if digest not in LICENCES.read_text(encoding="utf-8"):
        print(f"write this SHA-256 into {LICENCES.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
