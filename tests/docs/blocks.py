"""Code blocks of the documents, and how they are tried.

A page is tried from top to bottom in one empty folder:

- a block after `<!-- file: NAME -->` is written to that file;
- a `console` block runs its `$ theodolite ...` lines; what stands below must be
  in the output, in order, where a line of `...` stands for any lines and `...`
  inside a line for any characters;
- after `<!-- exit: N -->` the last command of the block must end with N, else with 0;
- a `python` block is executed; blocks of a page share their names;
- after `<!-- not run: REASON -->` a block is only read.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.fakes.warm import Done, warm_process
from tests.house.tree import ROOT

BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>file|exit|not run): *(?P<value>.*?) -->\n+)?"
    r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
TRIED = ("console", "python")
Command = Callable[[str, Path], Done]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One code block of a page."""

    page: Path
    line: int
    language: str
    text: str
    mark: str
    value: str

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    """Return the code blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            page=page,
            line=text.count("\n", 0, found.start("indent")) + 1,
            language=found["language"],
            text=re.sub(f"^{found['indent']}", "", found["text"], flags=re.MULTILINE),
            mark=found["mark"] or "",
            value=found["value"] or "",
        )
        for found in BLOCK.finditer(text)
    ]


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield (command, expected lines) of a console block."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *expected = part.rstrip("\n").split("\n")
        yield command, expected


def run(command: str, folder: Path) -> Done:
    """Run one `theodolite` command as a user would, without a terminal."""
    words = shlex.split(command, comments=True)
    if words[0] != "theodolite":
        message = f"only `theodolite` is run; mark the block as not run: {command}"
        raise AssertionError(message)
    unwanted = {"DATABASE_URL", "CI"}
    environment = {name: value for name, value in os.environ.items() if name not in unwanted}
    environment |= {"COLUMNS": "80", "NO_COLOR": "1"}
    return warm_process().run(words[1:], cwd=folder, environ=environment, together=True)


def squeezed(line: str) -> str:
    """Return a line with its runs of spaces made one."""
    return " ".join(line.split())


def first_missing(expected: list[str], output: str) -> str | None:
    """Return the first expected line that does not follow in the output, or None."""
    lines = iter([squeezed(line) for line in output.splitlines()])
    for wanted in filter(None, map(squeezed, expected)):
        if wanted == "...":
            continue
        pattern = re.compile(".*".join(re.escape(piece) for piece in wanted.split("...")))
        if not any(pattern.fullmatch(line) for line in lines):
            return wanted
    return None


def try_console(block: Block, folder: Path, run: Command) -> None:
    """Run the commands of a block and compare what they print."""
    steps = list(commands(block.text))
    for number, (command, expected) in enumerate(steps, 1):
        code = int(block.value) if block.mark == "exit" and number == len(steps) else 0
        done = run(command, folder)
        missing = first_missing(expected, done.stdout)
        assert missing is None, f"{block.place}: `{command}` does not print `{missing}` but\n{done.stdout}"
        assert done.returncode == code, f"{block.place}: `{command}` ends with {done.returncode}\n{done.stdout}"


def try_block(block: Block, folder: Path, names: dict[str, object], run: Command = run) -> None:
    """Do what a block asks for."""
    if block.mark == "not run":
        return
    if block.mark == "file":
        file = folder / block.value
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block.text, encoding="utf-8")
    elif block.language == "console":
        try_console(block, folder, run)
    elif block.language == "python":
        exec(compile(block.text, block.place, "exec"), names)  # noqa: S102 - our own documents
