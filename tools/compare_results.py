"""Show that two revisions give the same results, reports and exports for the studies that are shipped.

python tools/compare_results.py REVISION [--with REVISION] [--folder FOLDER]

Each revision runs in a worktree of its own, with the packages of this Python: the two studies of `demo`, the example
`b` and the examples of `init` that need no network. The present checkout, with its uncommitted changes, is compared
where no second revision is named. Compared are every value of results.json, every number of report.html and of the
screen, and every value of each export; keys, words and formats that have new names are renamed first, and what
differs between any two runs (moments, durations, keys of runs) is left out.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

RENAMED_KEYS = {
    "scripted": "stubbed",
    "accounts": "dispositions",
    "conduct": "judge_diagnostics",
    "raters": "annotator_models",
    "certificates": "judge_validations",
    "certificate": "validated",
    "held_dialogues": "completed_dialogues",
    "held_by": "tester_type",
    "departures": "deviations",
    "sound": "non_defects",
    "unmeasured": "unlabelled",
    "lapses": "role_breaks",
    "lacking": "limitations",
}
"""Former to present key of results.json and column of an export."""

RENAMED_FORMATS = {"csv": "answers", "parquet": "answers-parquet"}
"""Former to present name of an export's format, for revisions before the present names existed."""

UNCOMPARED = {
    "table": "the same file as csv",
    "mlflow": "needs a server",
    "inspect": "times in most values",
    "figures-png": "pixels of the figures",
}
"""Formats of exports that are not compared, and why."""

VOLATILE = re.compile(r"run/(key|started|finished|seconds)|generated|version|.*/(seconds|duration_s|latency_s)")
"""Paths of results.json that differ between two runs of one revision."""

MASKED = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?"  # moments
    r"|\b\d+:\d\d(?::\d\d)?\b(?: min| h)?|\b\d+\.\d s\b"  # durations and clocks
    r"|\b\d{1,2} [A-Z][a-z]{2,8} \d{4}\b"  # days in words
    r"|\b(?=[0-9a-f]*[a-f])[0-9a-f]{8,64}\b"  # hashes
)
"""What differs between two runs of one revision in a text."""

PSEUDONYM = re.compile(r"\b(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-)?[0-9a-f]{12}\b")
"""Identifiers in exports, made with a secret of each workspace: compared by the order in which they first occur."""

NUMBER = re.compile(r"(?<![\w.])-?(?:\d[\d,]*)?\.?\d+")

EXAMPLES = ("guarded-bot", "marketing", "aria/tv-spoilers", "aria/meal-planner", "aria/pathfinder")
"""Examples of `init` that run without network and without packages beyond the project's own."""

SHOWN = 12
"""Differences of one kind that are printed; the others are counted."""


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each path of a document with the value at its end, under the present names."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            name = RENAMED_KEYS.get(str(key), str(key))
            yield from leaves(part, f"{path}/{name}" if path else name)
    elif isinstance(value, list | tuple):
        for index, part in enumerate(value):
            yield from leaves(part, f"{path}/{index}")
    else:
        yield path, RENAMED_KEYS.get(value, value) if isinstance(value, str) else value


def document_differences(before: Any, after: Any) -> list[str]:
    """Return a line for each path whose value differs or which one of two documents lacks."""
    former, present = dict(leaves(before)), dict(leaves(after))
    absent = "(absent)"
    return [
        f"{path}: {former.get(path, absent)!r} > {present.get(path, absent)!r}"
        for path in {**former, **present}
        if not VOLATILE.fullmatch(path) and former.get(path, absent) != present.get(path, absent)
    ]


class _Text(HTMLParser):
    """Collects what a page shows and the data that it carries; not its style and its programs."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._skips = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._skips = tag == "style" or (tag == "script" and "json" not in (dict(attrs).get("type") or ""))
        self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self._skips = self._skips and tag not in {"style", "script"}
        self.parts.append(" ")

    def handle_data(self, data: str) -> None:
        if not self._skips:
            self.parts.append(data)


def page_text(html: str) -> str:
    """Return the texts of a page and the data that it carries."""
    reader = _Text()
    reader.feed(html)
    return "".join(reader.parts)


def numbers(text: str) -> list[str]:
    """Return the numbers of a text in order, without moments, durations and hashes."""
    return NUMBER.findall(MASKED.sub(" ", text))


def number_differences(before: str, after: str) -> list[str]:
    """Return a line for each number that stands more often in one of two texts, with the first place of it."""
    former, present = Counter(numbers(before)), Counter(numbers(after))
    pairs = (("only before", former - present, before), ("only after", present - former, after))
    return [
        f"{word}: {number} (x{count}) in {_context(text, number)}"
        for word, surplus, text in pairs
        for number, count in surplus.items()
    ]


def _context(text: str, number: str) -> str:
    found = re.search(rf"(?<![\w.]){re.escape(number)}", MASKED.sub(" ", text))
    start = found.start() if found else 0
    return repr(" ".join(MASKED.sub(" ", text)[max(0, start - 50) : start + 50].split()))


def without_pseudonyms(value: Any, seen: dict[str, str] | None = None) -> Any:
    """Return the content of an export with each pseudonym replaced by its number, counted from the first one on."""
    seen = {} if seen is None else seen
    if isinstance(value, Mapping):
        return {key: without_pseudonyms(part, seen) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [without_pseudonyms(part, seen) for part in value]
    if isinstance(value, str):
        named = PSEUDONYM.sub(lambda found: seen.setdefault(found[0], f"item {len(seen) + 1}"), value)
        return MASKED.sub("#", named)
    return value


def export_content(data: bytes, name: str = "") -> Any:
    """Return what an export says: tables as rows, JSON as values, archives as their members, other files as text."""
    if data[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {member: export_content(archive.read(member), member) for member in sorted(archive.namelist())}
    if data[:4] == b"PAR1":
        import pyarrow.parquet

        return pyarrow.parquet.read_table(io.BytesIO(data)).to_pylist()
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data.hex()
    return list(csv.DictReader(io.StringIO(text))) if name.endswith("csv") else _content_of_text(text)


def _content_of_text(text: str) -> Any:
    for read in (json.loads, lambda lines: [json.loads(line) for line in lines.splitlines()]):
        with contextlib.suppress(ValueError):
            return read(text)
    return text


def export_differences(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> dict[str, list[str]]:
    """Return the differences of each export that both revisions write, by its former format."""
    both = {name: RENAMED_FORMATS.get(name, name) for name in before}
    both = {former: name if name in after and name not in before else former for former, name in both.items()}
    return {
        former: document_differences(
            *(without_pseudonyms(export_content(data, former)) for data in (before[former], after[name]))
        )
        for former, name in both.items()
        if name in after
    }


class Checkout:
    """The program of one revision, run in a folder of its own."""

    def __init__(self, source: Path, folder: Path) -> None:
        self._folder = folder
        self._environ = {
            **os.environ,
            "PYTHONPATH": str(source / "src"),
            "THEODOLITE_ALLOW_CODE": "1",
            "NO_COLOR": "1",
            "COLUMNS": "100",
        }
        folder.mkdir(parents=True, exist_ok=True)

    def run(self, *words: str) -> str:
        """Run a command and return what it prints; a command that fails ends the comparison."""
        command = [sys.executable, "-m", "theodolite", *words]
        ended = subprocess.run(  # noqa: S603 - our own program
            command, cwd=self._folder, env=self._environ, capture_output=True, text=True, check=False
        )
        if ended.returncode not in {0, 1}:
            sys.exit(f"{' '.join(words)} ended with code {ended.returncode} in {self._folder}:\n{ended.stderr}")
        return ended.stdout

    def screens(self) -> dict[str, str]:
        """Run every shipped study, and return what was printed, by folder."""
        shown = {"demo": self.run("demo", "--out", "demo")}
        for name in EXAMPLES:
            folder = name.replace("/", "-")
            self.run("init", folder, "--example", name)
            shown[folder] = self.run("run", folder)
        return shown

    def file(self, *parts: str) -> str:
        """Return the text of a file in the folder of the runs."""
        return self._folder.joinpath(*parts).read_text(encoding="utf-8")

    def exports(self, study: str) -> dict[str, bytes]:
        """Return each export of a study as bytes, by its format."""
        written = {}
        for name in formats_in(self.run("export", "--help")):
            file = f"{study}-{name}.export"
            self.run("export", study, "--format", name, "--out", file)
            written[name] = _bytes_of(self._folder / file)
        return written


def formats_in(help_text: str) -> list[str]:
    """Return the compared formats that the help of `export` lists, in the present form or the former one in brackets.

    Raises:
        ValueError: If the help lists none.
    """
    text = " ".join(help_text.split())
    found = re.search(r"--format \[([^\]]+)\]", text) or re.search(
        r"--format FORMAT Format: (.+?), or one of a plugin", text
    )
    if found is None:
        message = "`export --help` lists no formats in a known form"
        raise ValueError(message)
    return [name for name in re.split(r"[|,\s]+", found[1]) if name and name not in UNCOMPARED]


def _bytes_of(export: Path) -> bytes:
    """Return an export as bytes; a folder as an archive of its files."""
    if export.is_file():
        return export.read_bytes()
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for file in sorted(path for path in export.rglob("*") if path.is_file()):
            archive.write(file, str(file.relative_to(export)))
    return data.getvalue()


def study_differences(before: Checkout, after: Checkout, study: str) -> dict[str, list[str]]:
    """Return the differences of one study's results and report, by file."""
    former, present = (checkout.file(study, "results.json") for checkout in (before, after))
    pages = [page_text(checkout.file(study, "report.html")) for checkout in (before, after)]
    return {
        "results.json": document_differences(json.loads(former), json.loads(present)),
        "report.html": number_differences(*pages),
    }


def compared(before: Checkout, after: Checkout) -> dict[str, list[str]]:
    """Run both revisions, and return the differences by study and file."""
    former, present = before.screens(), after.screens()
    result: dict[str, list[str]] = {}
    for study in [*former, "demo/spoiler-guard"]:
        found = study_differences(before, after, study)
        if study in former:
            found["screen"] = number_differences(former[study], present[study])
        if not study.startswith("demo"):  # `demo` leaves no run that could be exported
            exports = export_differences(before.exports(study), after.exports(study))
            found |= {f"export {name}": lines for name, lines in exports.items()}
        result |= {f"{study}: {name}": lines for name, lines in found.items()}
    return result


def report(differences: Mapping[str, list[str]]) -> int:
    """Print what was compared with its differences, and return 1 where there is any."""
    for name, lines in differences.items():
        print(f"{name}: {f'{len(lines)} differences' if lines else 'equal'}")
        for line in lines[:SHOWN]:
            print(f"  {line}")
    print(f"not compared: {', '.join(f'{name} ({why})' for name, why in UNCOMPARED.items())}")
    return int(any(differences.values()))


def _source(revision: str, folder: Path) -> Path:
    """Return a worktree of a revision."""
    command = ["git", "worktree", "add", "--quiet", "--detach", str(folder), revision]
    subprocess.run(command, cwd=ROOT, check=True)  # noqa: S603 - a revision of our own
    return folder


def main() -> int:
    """Compare two revisions; exit code 1 where anything differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", help="revision before")
    parser.add_argument("--with", dest="other", metavar="REVISION", help="revision after; the checkout if left out")
    parser.add_argument("--folder", type=Path, help="folder for studies and results; a temporary one if left out")
    known = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        trees, folder = Path(temporary) / "trees", known.folder or Path(temporary) / "runs"
        try:
            before = _source(known.revision, trees / "before")
            after = _source(known.other, trees / "after") if known.other else ROOT
            found = compared(Checkout(before, folder / "before"), Checkout(after, folder / "after"))
        finally:
            for tree in sorted(trees.glob("*")):
                remove = ["git", "worktree", "remove", "--force", str(tree)]
                subprocess.run(remove, cwd=ROOT, check=True)  # noqa: S603 - ours
    return report(found)


if __name__ == "__main__":
    sys.exit(main())
