"""The command line as a person or a script meets it, in this process or in one of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from tests.fakes.warm import warm_process
from theodolite.cli.main import main

COMMAND = (sys.executable, "-m", "theodolite")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended.

    Attributes:
        code: Exit code.
        out: Standard output.
        err: Standard error.
    """

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """Everything that was on the screen."""
        return self.out + self.err

    @property
    def found(self) -> dict[str, Any]:
        """The one JSON object on standard output."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


@cache
def output_validator(command: str) -> Draft202012Validator:
    """Return what validates the output of a command, e.g. `import-labels`, against its documented schema."""
    folder = resources.files("theodolite") / "resources" / "schemas"
    files = ("json-output.schema.json", "results.schema.json", "compare.schema.json", "monitor.schema.json")
    schemas = {name: json.loads((folder / name).read_text(encoding="utf-8")) for name in files}
    registry = Registry().with_resources([(name, Resource.from_contents(text)) for name, text in schemas.items()])
    return Draft202012Validator({"$ref": f"{files[0]}#/$defs/{command}"}, registry=registry)


def checked(words: Sequence[str | Path], ended: Ended) -> Ended:
    """Return how a command ended, after a comparison of what `--json` printed with the schema."""
    names = [str(word) for word in words]
    command = next((name for name in ("".join(names[:1]), "-".join(names[:2])) if name in output_names()), "")
    if not command or "--json" not in names or not ended.out.startswith("{"):
        return ended
    for line in ended.out.splitlines():
        output_validator(command).validate(json.loads(line))
    return ended


@cache
def output_names() -> frozenset[str]:
    """Return the commands that the schema of outputs knows."""
    schema = resources.files("theodolite") / "resources" / "schemas" / "json-output.schema.json"
    listed = json.loads(schema.read_text(encoding="utf-8"))["anyOf"]
    return frozenset(one["$ref"].rpartition("/")[2] for one in listed)


def theodolite(*words: str | Path) -> Ended:
    """Return how a command ends that is called in this process."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main([str(word) for word in words])
        except SystemExit as end:
            code = int(end.code or 0)
    return checked(words, Ended(code=code, out=out.getvalue(), err=err.getvalue()))


def environment(**more: str) -> dict[str, str]:
    """Return this process' environment, without what could change a command's course."""
    kept = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "COLUMNS"}}
    return kept | {"PYTHONIOENCODING": "utf-8"} | more


def in_a_process(*words: str | Path, cwd: Path | None = None) -> Ended:
    """Return how a command ends that is called as a process of its own, where its packages are loaded already."""
    done = warm_process().run([str(word) for word in words], cwd=cwd or Path.cwd(), environ=environment())
    return checked(words, Ended(code=done.returncode, out=done.stdout, err=done.stderr))


def in_a_fresh_process(*words: str | Path, environ: Mapping[str, str] | None = None, **more: Any) -> Ended:
    """Return how a command ends that is called as somebody types it; for what is decided as Python starts."""
    command = [*COMMAND, *map(str, words)]
    done = subprocess.run(
        command,
        env=dict(environ or environment()),
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        timeout=120,
        **more,
    )
    return Ended(code=done.returncode, out=done.stdout, err=done.stderr)


@contextlib.contextmanager
def started(*words: str | Path) -> Iterator[subprocess.Popen[str]]:
    """Start a command as a process of its own; what is left of it ends with the block."""
    command = [*COMMAND, *map(str, words)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment(), stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()
