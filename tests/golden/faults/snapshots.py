"""Cases of broken studies: files and the screen that they lead to, in one text file each.

`python -m tests.golden.faults.snapshots` writes the screens anew; read the difference before you keep it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from theodolite.config.loading import check_study
from theodolite.config.yaml_source import render_diagnostics

HERE = Path(__file__).parent
MARK = "=== "
EXPECTED = "expected"


def case_names() -> list[str]:
    """Return the names of all cases, sorted."""
    return sorted(path.stem for path in HERE.glob("*.case"))


def read_case(name: str) -> dict[str, str]:
    """Return file name to text; `expected` is the screen."""
    parts: dict[str, str] = {}
    current = ""
    for line in (HERE / f"{name}.case").read_text(encoding="utf-8").splitlines(keepends=True):
        if line.startswith(MARK):
            current = line.removeprefix(MARK).strip()
            parts[current] = ""
        else:
            parts[current] += line
    return parts


def screen(files: dict[str, str], folder: Path) -> str:
    """Write the files into a folder and return what `check` prints of them."""
    for name, text in files.items():
        if name != EXPECTED:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return render_diagnostics(check_study(folder, environ={})) + "\n"


def _refresh() -> None:
    for name in case_names():
        files = read_case(name)
        with tempfile.TemporaryDirectory() as folder:
            files[EXPECTED] = screen(files, Path(folder))
        text = "".join(f"{MARK}{file}\n{content}" for file, content in files.items())
        (HERE / f"{name}.case").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    _refresh()
