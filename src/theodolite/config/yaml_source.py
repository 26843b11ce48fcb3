"""YAML files: texts with the position of every key and value.

YAML 1.2 through ruamel.yaml's node graph. Every scalar stays the text that was
written; the schema defines its meaning, so `yes` stays a word and
`1.10` an edition. The tag that YAML would have assigned is kept for the
few free mappings (`params`, `body`) that have no schema of ours.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Self, TypeAlias, cast

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from theodolite.domain.errors import Diagnostic, Severity, StudyError
from theodolite.domain.network import (
    WORDS,
    holds_secret,
    is_key_header,
    is_variable_name,
    names_secret,
    strike_out,
    userinfo_of,
    without_userinfo,
)
from theodolite.domain.text import printable, printable_line

Path: TypeAlias = tuple[str | int, ...]

Content: TypeAlias = "Scalar | list[Content] | dict[str, Content]"

_SHORTEST_KEY = 6
"""Length above which the value of a header is taken for a key; characters."""

_LINE_END = re.compile(r"\r\n|\r|\n")

_MOST_NODES = 200_000

_LONGEST_REMEMBERED = 100_000
"""Maximum length of a text whose nodes are cached; characters."""

_JOINERS = "\u200c\u200d"
"""Invisible characters that names in some scripts need."""


class Scalar(str):
    """A scalar's text; `tag` is its YAML 1.2 type: str, int, float, bool or null."""

    __slots__ = ("tag",)

    tag: str

    def __new__(cls, text: str = "", tag: str = "str") -> Self:
        """Return a scalar with its tag."""
        scalar = super().__new__(cls, text)
        scalar.tag = tag
        return scalar


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLocation:
    """A span of one line; line and column from 1."""

    line: int
    column: int
    width: int


@dataclass(slots=True, kw_only=True)
class YamlSource:
    """A file's content with the position of every part.

    Attributes:
        file: Displayed path.
        lines: The text, with secrets replaced.
        content: Scalars, lists and mappings; repairs change it in place.
        keys: Position of the key at each path.
        values: Position of the value at each path.
        renamed: Path in the file for each path that a repair renamed.
        dropped: Paths that were removed because of an error.
        faults: YAML errors of the text.
    """

    file: str
    lines: list[str]
    content: Content = field(default_factory=dict)
    keys: dict[Path, SourceLocation] = field(default_factory=dict)
    values: dict[Path, SourceLocation] = field(default_factory=dict)
    renamed: dict[Path, Path] = field(default_factory=dict)
    dropped: set[Path] = field(default_factory=set)
    faults: list[LocatedDiagnostic] = field(default_factory=list)

    def place(self, diagnostic: Diagnostic) -> LocatedDiagnostic:
        """Return an error with file, line and column."""
        location = self._location(diagnostic)
        text = f"{diagnostic.message}; {diagnostic.fix}" if diagnostic.fix else diagnostic.message
        return LocatedDiagnostic(
            file=self.file,
            message=text,
            line=location.line,
            column=location.column,
            width=location.width,
            severity=diagnostic.severity,
            excerpt=self.lines[location.line - 1] if 0 < location.line <= len(self.lines) else "",
        )

    def original(self, path: Path) -> Path:
        """Return the path in the file, before repairs renamed it."""
        for new, old in self.renamed.items():
            if path[: len(new)] == new:
                return old + path[len(new) :]
        return path

    def _location(self, diagnostic: Diagnostic) -> SourceLocation:
        path = self.original(diagnostic.path)
        if diagnostic.at_key and path in self.keys:
            return self.keys[path]
        while path and path not in self.values:
            path = path[:-1]
            if path in self.keys:
                return self.keys[path]
        location = self.values.get(path, SourceLocation(line=1, column=1, width=1))
        return self._find_words(location, diagnostic.words) if diagnostic.words else location

    def _find_words(self, location: SourceLocation, text: str) -> SourceLocation:
        """Narrow the span of a value to some words in it; block texts are searched line by line."""
        for number in range(location.line, min(location.line + 200, len(self.lines) + 1)):
            start = location.column - 1 if number == location.line else 0
            at = self.lines[number - 1].find(text, start)
            if at >= 0:
                return SourceLocation(line=number, column=at + 1, width=len(text))
        return location


def read_yaml(raw: bytes, file: str) -> YamlSource:
    """Return the content of a YAML file; its YAML errors are in `faults`."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        message = f"is not UTF-8: byte 0x{raw[error.start]:02x}; save the file as UTF-8"
        return YamlSource(file=file, lines=[], faults=[LocatedDiagnostic(file=file, line=line, message=message)])
    source = YamlSource(file=file, lines=[strike_out(line) for line in _LINE_END.split(text)])
    try:
        node = _remembered(text) if len(text) <= _LONGEST_REMEMBERED else _composed(text)
    except YAMLError as error:
        source.faults.append(_syntax_diagnostic(source, error))
        return source
    except RecursionError:
        source.faults.append(LocatedDiagnostic(file=file, message="is nested too deeply to be read"))
        return source
    _YamlReader(source).read_root(node)
    return source


def _composed(text: str) -> Node | None:
    parser = YAML(typ="safe", pure=True)  # the round-trip one leaves its own marks in folded texts
    parser.version = (1, 2)
    return cast("Node | None", parser.compose(text))


@lru_cache(maxsize=128)
def _remembered(text: str) -> Node | None:
    """Return the nodes of a text, read-only; servers and editors read the same files on each request."""
    return _composed(text)


def _syntax_diagnostic(source: YamlSource, error: YAMLError) -> LocatedDiagnostic:
    at = "context_mark" if "end of stream" in str(getattr(error, "problem", "")) else "problem_mark"
    mark = getattr(error, at, None) if isinstance(error, MarkedYAMLError) else None
    line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
    excerpt = source.lines[line - 1] if 0 < line <= len(source.lines) else ""
    return LocatedDiagnostic(
        file=source.file,
        line=line,
        column=column,
        message=_syntax_words(error, excerpt, column),
        excerpt=excerpt,
    )


def _syntax_words(error: YAMLError, excerpt: str, column: int) -> str:
    """Report the error in our own words, because the parser's are for its developers."""
    problem = str(getattr(error, "problem", "") or error)
    if excerpt[column - 1 : column] == "\t" or "'\\t'" in problem:
        return "a tab stands where YAML wants spaces; indent with spaces"
    if "expected ',' or" in problem and (bracket := excerpt[column - 1 : column]) in ("[", "{"):
        return f"a `,` is missing before this, or a value that holds `{bracket}` is not in quotes"
    known = {
        "mapping values": "a second `:` in one value; put the value in quotes",
        "undefined alias": "`*name` stands for something that `&name` never named before",
        "another document": "a second document begins here; one file holds one study",
        "end of stream": "the file ends inside a quoted text; a closing quote is missing",
        "block end": "the indentation fits nothing above; keys of one mapping begin in one column",
        "expected ',' or": "a `,` or a closing bracket is missing before this",
        "cannot start any token": "a value cannot begin with this character; put it in quotes",
        "could not find expected ':'": "a key without `:`; write `key: value`",
        "special characters": "a control character stands here; take it out",
        "duplicate anchor": "two anchors have this name; give each its own",
    }
    for mark, text in known.items():
        if mark in problem:
            return text
    return "cannot be read as YAML from here on; look for a missing quote, bracket or colon"


class _YamlReader:
    """Converts a node graph to content and positions."""

    def __init__(self, source: YamlSource) -> None:
        self._source = source
        self._n_nodes = 0
        self._open: set[int] = set()

    def read_root(self, node: Node | None) -> None:
        """Read the whole file; a study is a mapping."""
        if node is None:
            self._complain("is empty; expected a study, e.g. `study: support-bot` in its first line")
        elif not isinstance(node, MappingNode):
            self._complain("holds no keys; expected `key: value` lines, e.g. `study: support-bot`", node=node)
        else:
            self._source.content = self._read(node, ())

    def _read(self, node: Node, path: Path) -> Content:
        self._n_nodes += 1
        self._source.values.setdefault(path, _location_of(node))
        if id(node) in self._open or self._n_nodes > _MOST_NODES:
            self._complain("an anchor holds itself or grows without end", node=node)
            return Scalar("", "null")
        if str(node.tag).startswith(("tag:yaml.org,2002:python", "!")):
            self._complain("a tag (`!...`) stands here; write the value without it", node=node)
            return Scalar(str(node.value) if isinstance(node, ScalarNode) else "", "str")
        self._open.add(id(node))
        content = self._read_kind(node, path)
        self._open.discard(id(node))
        return content

    def _read_kind(self, node: Node, path: Path) -> Content:
        if isinstance(node, MappingNode):
            return dict(self._pairs(node, path))
        if isinstance(node, SequenceNode):
            return [self._read(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._scalar(node)

    def _pairs(self, node: MappingNode, path: Path) -> Iterator[tuple[str, Content]]:
        first: dict[str, int] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                self._complain("a key must be one word, not a list or a mapping", node=key_node)
                continue
            key = str(key_node.value)
            line = key_node.start_mark.line + 1
            look = unicodedata.normalize("NFKC", key)
            if look in first:
                self._complain(f"key `{key}` is written twice, first in line {first[look]}; keep one", node=key_node)
                continue
            first[look] = line
            if unseen := next((letter for letter in key if not (letter.isprintable() or letter in _JOINERS)), ""):
                self._complain(f"a name holds U+{ord(unseen):04X}, which nobody can see; take it out", node=key_node)
            self._source.keys.setdefault((*path, key), _location_of(key_node))
            value = self._read(value_node, (*path, key))
            is_header = bool(path) and path[-1] == "headers"
            value = self._without_key(key, value, value_node) if is_header else value
            yield key, self._without_secret(key, value, value_node)

    def _without_key(self, name: str, value: Content, node: Node) -> Content:
        """Return a header's value; adds an error if the value is itself a key."""
        if not isinstance(value, Scalar) or value.tag == "secret" or not is_key_header(name):
            return value
        if len(value.strip()) < _SHORTEST_KEY or "{{" in value:
            return value
        self._strike(value.strip(), node)
        remedy = f"give `key_header: {name}`, and `key:` the name of an environment variable"
        self._complain(f"header `{name}` carries a key; {remedy}. It is not repeated on screen", node=node)
        return Scalar("*" * len(value), "secret")

    def _without_secret(self, key: str, value: Content, node: Node) -> Content:
        """Return a key's value, replaced if the name of the key suggests a secret."""
        if not isinstance(value, Scalar):
            return value
        if names_secret(key) and not is_variable_name(value):
            self._hide(value, node)
        who = userinfo_of(value) if key == "url" else ""
        if not who:
            return value
        self._strike(who, node)
        if value.tag != "secret":  # otherwise its shape gave it away, and it has its fault already
            self._complain(f"{WORDS}. It is not repeated on screen", node=node)
        return Scalar(without_userinfo(value), "secret")

    def _scalar(self, node: Node) -> Scalar:
        text = str(node.value)
        if holds_secret(text):
            wording = "a secret stands here; keep it in an environment variable and give `key:` the variable's name"
            self._complain(f"{wording}. It is not repeated on screen", node=node)
            return Scalar(strike_out(text), "secret")
        return Scalar(text, str(node.tag).rpartition(":")[2])

    def _hide(self, value: Scalar, node: Node) -> None:
        """Replace a value in displayed lines because its key suggests a secret."""
        text = value.strip()
        if len(text) > 3 and "{{" not in text:
            self._strike(text, node)

    def _strike(self, text: str, node: Node) -> None:
        lines = self._source.lines
        for number in range(node.start_mark.line, min(node.end_mark.line + 1, len(lines))):
            for part in [text] if text in lines[number] else text.split():
                lines[number] = lines[number].replace(part, "*" * len(part))

    def _complain(self, message: str, *, node: Node | None = None) -> None:
        location = _location_of(node) if node is not None else SourceLocation(line=0, column=0, width=1)
        lines = self._source.lines
        self._source.faults.append(
            LocatedDiagnostic(
                file=self._source.file,
                line=location.line,
                column=location.column,
                width=location.width,
                message=message,
                excerpt=lines[location.line - 1] if 0 < location.line <= len(lines) else "",
            )
        )


def _location_of(node: Node) -> SourceLocation:
    start, end = node.start_mark, node.end_mark
    same_line = start.line == end.line
    return SourceLocation(
        line=start.line + 1,
        column=start.column + 1,
        width=max(1, end.column - start.column) if same_line else 1,
    )


def typed(content: Any) -> Any:
    """Return an unvalidated value with YAML 1.2 types: integers, floats, true, false and null."""
    if isinstance(content, dict):
        return {key: typed(value) for key, value in content.items()}
    if isinstance(content, list):
        return [typed(item) for item in content]
    return _typed_scalar(content) if isinstance(content, Scalar) else content


def _typed_scalar(scalar: Scalar) -> bool | int | float | str | None:
    text = str(scalar)
    try:
        if scalar.tag == "int":
            return int(text, 0) if text.lower().startswith(("0x", "0o")) else int(text)
        if scalar.tag == "float":
            return float(text)
    except ValueError:
        return text
    if scalar.tag == "bool":
        return text.lower() == "true"
    return None if scalar.tag == "null" else text


_WIDTH = 78

_WIDEST_PLACE = 40

_FEW = 50

_RANK = {Severity.ERROR: 0, Severity.NOTE: 1, Severity.OPEN: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedDiagnostic:
    """A diagnostic with its position.

    Attributes:
        file: Path as the user would write it, relative to the study's folder.
        message: The value, the expected value, the remedy.
        line: Line from 1; 0 for the file as a whole.
        column: Column from 1; 0 for the line as a whole.
        width: Length of the marked span; characters.
        severity: Whether it prevents a run.
        excerpt: The line itself, without secrets; empty if it does not help.
    """

    file: str
    message: str
    line: int = 0
    column: int = 0
    width: int = 1
    severity: Severity = Severity.ERROR
    excerpt: str = ""

    @property
    def place(self) -> str:
        """`file`, `file:line`, or for errors `file:line:column`."""
        column = self.column if self.severity is Severity.ERROR else 0
        numbers = [str(number) for number in (self.line, column) if number]
        return ":".join([self.file, *numbers])

    @property
    def words(self) -> str:
        """The message, preceded by the severity unless it is an error."""
        return self.message if self.severity is Severity.ERROR else f"{self.severity.value}: {self.message}"


@dataclass(slots=True)
class Diagnostics:
    """Collects diagnostics, unordered; `first` is the file that is shown first."""

    first: str = ""
    placed: dict[LocatedDiagnostic, None] = field(default_factory=dict)

    def add(self, *diagnostics: LocatedDiagnostic) -> None:
        """Add diagnostics, each once."""
        self.placed.update(dict.fromkeys(diagnostics))

    def in_order(self) -> tuple[LocatedDiagnostic, ...]:
        """Return the diagnostics, worst first, then in file order."""
        names = dict.fromkeys([self.first, *(diagnostic.file for diagnostic in self.placed)])
        files = {name: index for index, name in enumerate(names)}

        def rank(diagnostic: LocatedDiagnostic) -> tuple[int, bool, int, int, int]:
            return (
                _RANK[diagnostic.severity],
                diagnostic.line > 0,
                files[diagnostic.file],
                diagnostic.line,
                diagnostic.column,
            )

        return tuple(sorted(self.placed, key=rank))


def few_of(diagnostics: Sequence[LocatedDiagnostic], file: str) -> tuple[LocatedDiagnostic, ...]:
    """Return the first errors of a file's rows, and the number of further ones."""
    n_more = len(diagnostics) - _FEW
    rest = (LocatedDiagnostic(file=file, message=f"has {n_more:,} further errors"),) if n_more > 0 else ()
    return (*diagnostics[:_FEW], *rest)


def render_diagnostics(
    diagnostics: Sequence[LocatedDiagnostic],
    *,
    limit: int | None = 20,
    color: bool = False,
    ending: str = "Nothing was run, nothing was sent.",
) -> str:
    """Return the diagnostics as terminal text, with the number of errors.

    Args:
        diagnostics: The errors, most serious first.
        limit: Maximum number of errors shown; None for all.
        color: Whether the terminal supports colours.
        ending: Text after the number of errors.
    """
    shown = list(diagnostics if limit is None else diagnostics[:limit])
    longest = max((len(diagnostic.place) for diagnostic in shown), default=0)
    width = min(max(longest + 2, min(longest + 3, 18)), _WIDEST_PLACE)
    lines: list[str] = []
    for number, diagnostic in enumerate(shown):
        lines += _wrapped(diagnostic, width)
        if number == 0 and diagnostic.excerpt and diagnostic.column and diagnostic.severity is Severity.ERROR:
            lines += _excerpt(diagnostic, color=color)
    if len(shown) < len(diagnostics):
        lines.append(f"and {len(diagnostics) - len(shown)} more (--all)")
    return "\n".join([*lines, *_closing(diagnostics, ending)])


def _wrapped(diagnostic: LocatedDiagnostic, width: int) -> list[str]:
    """Return position and message, wrapped to the terminal's width."""
    lines = textwrap.wrap(
        printable(diagnostic.words), _WIDTH + 2 - width, break_long_words=False, break_on_hyphens=False
    )
    location = printable_line(diagnostic.place)
    if len(diagnostic.place) >= width:  # a path that leaves no room beside it gets its own line
        return [location, *(" " * width + line for line in lines)]
    first, rest = lines[0] if lines else "", lines[1:]
    return [f"{location:<{width}}{first}", *(" " * width + line for line in rest)]


def _closing(diagnostics: Sequence[LocatedDiagnostic], ending: str) -> list[str]:
    n_errors = sum(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics)
    if not n_errors:
        return []
    return [f"{n_errors} error{'' if n_errors == 1 else 's'}. {ending}"]


def _excerpt(diagnostic: LocatedDiagnostic, *, color: bool) -> list[str]:
    """Show the line with carets under the marked span, cut to the terminal's width."""
    room = _WIDTH - 8
    start = (
        max(0, diagnostic.column - 1 + diagnostic.width - room + 3)
        if diagnostic.column + diagnostic.width > room
        else 0
    )
    text = printable(diagnostic.excerpt[start:].replace("\t", " "))
    if len(text) > room:
        text = text[: room - 3] + "..."
    indent = " " * (diagnostic.column - 1 - start)
    carets = "^" * max(1, min(diagnostic.width, room - len(indent)))
    if color:
        carets = f"\x1b[31m{carets}\x1b[0m"
    return [f"{diagnostic.line:>5} | {text}", f"      | {indent}{carets}"]


class InvalidStudyError(StudyError):
    """A study's files have errors; `placed` has the position of each."""

    def __init__(
        self, placed: tuple[LocatedDiagnostic, ...], *, ending: str = "Nothing was run, nothing was sent."
    ) -> None:
        """Set the errors, worst first; `ending` states their consequence."""
        diagnostics = (
            Diagnostic(path=(), message=diagnostic.words, severity=diagnostic.severity) for diagnostic in placed
        )
        super().__init__(render_diagnostics(placed, ending=ending), faults=diagnostics)
        self.placed = placed
