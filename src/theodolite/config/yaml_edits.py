"""Edits of YAML texts by path: one value changes, and every other character stays.

The node graph has the start and end of each value, and only that span is rewritten; comments, order,
quotes and spacing elsewhere cannot change. Each edit is parsed again and rejected if it changes more (ADR-0146).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from theodolite.domain.errors import InputError

Path: TypeAlias = tuple[str | int, ...]


class Literal(str):
    """A text written without quotes: a number, `yes`, `no` or `null`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Snippet:
    """A value as a piece of YAML text, e.g. `{a: 1}` or a block."""

    text: str


Value: TypeAlias = "str | Literal | Snippet | list[Value] | dict[str, Value]"

_INDENT = 2


_PLAIN = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`][^\n#\"{}\[\]]*")

_OLD_TRUTHS = {"yes", "no", "on", "off", "y", "n"}
"""Words that YAML 1.1 reads as booleans."""

_AS_TEXT = "edit it as text"


def value_at(text: str, path: Path) -> object:
    """Return the value at a path of a text: texts, lists and mappings; None if there is none."""
    node = _find(_root(text), path)
    return None if node is None else _content(node)


def paths_of(text: str, value: str) -> tuple[Path, ...]:
    """Return the paths of the values that are a text; none if the text is not valid YAML."""
    try:
        return tuple(_paths_of(value_at(text, ()), value, ()))
    except InputError:
        return ()


def _paths_of(content: object, value: str, path: Path) -> Iterator[Path]:
    entries = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    if content == value:
        yield path
    for key, item in entries:
        yield from _paths_of(item, value, (*path, key))


def source_at(text: str, path: Path) -> str:
    """Return the lines of a value as written, without their indentation; empty if there is none."""
    node = _find(_root(text), path)
    if node is None:
        return ""
    start = node.start_mark.index
    lines = text[start : _end(node, text)].split("\n")
    column = node.start_mark.column if not isinstance(node, ScalarNode) else _margin(lines[1:])
    return "\n".join([lines[0], *(line[min(column, len(line) - len(line.lstrip(" "))) :] for line in lines[1:])])


def line_of(text: str, path: Path) -> int:
    """Return the line of a key or a list item, from 1; 0 if there is none."""
    starts = {name: start for name, start, _ in _children(_find(_root(text), path[:-1]))} if path else {}
    return int(starts[path[-1]].start_mark.line) + 1 if path and path[-1] in starts else 0


def with_value(text: str, path: Path, value: Value) -> str:
    """Return the text with a new value at a path; missing parent keys are added at the end of their mapping.

    Args:
        text: A YAML text whose top level is a mapping.
        path: Keys and indices, at least one.
        value: The new value.

    Raises:
        InputError: If the text is not valid YAML, or the edit would change anything else.
    """
    root = _root(text)
    known = _find(root, path)
    if known is not None:
        result = _replaced(text, root, path, known, value)
    else:
        depth = next(n for n in range(len(path) - 1, -1, -1) if _find(root, path[:n]) is not None or not n)
        result = _added(text, root, path[:depth], path[depth], _wrapped(path[depth + 1 :], value))
    return _checked(text, result, path, _expected(value))


def without(text: str, path: Path) -> str:
    """Return the text without the key or list item of a path; a mapping that becomes empty is removed as well.

    Raises:
        InputError: If the text is not valid YAML, or the edit would change anything else.
    """
    root = _root(text)
    if _find(root, path) is None:
        return text
    while len(path) > 1 and len(_children(_find(root, path[:-1]))) == 1:
        path = path[:-1]
    holder = _find(root, path[:-1])
    children = _children(holder)
    position = [key for key, _, _ in children].index(path[-1])
    is_flow = _is_flow(holder)
    start, end = (_flow_span if is_flow else _block_span)(text, children, position)
    return _checked(text, text[:start] + text[end:], path, None)


def _wrapped(path: Path, value: Value) -> Value:
    for key in reversed(path):
        value = [value] if isinstance(key, int) else {key: value}
    return value


@lru_cache(maxsize=8)
def _root(text: str) -> Node | None:
    parser = YAML(typ="safe", pure=True)
    parser.version = (1, 2)
    try:
        node: Node | None = parser.compose(text)
    except (YAMLError, RecursionError) as error:
        message = "the text is not valid YAML; correct the marked line first"
        raise InputError(message) from error
    return node


def _children(node: Node | None) -> list[tuple[str | int, Node, Node]]:
    """Return key or position, the first node of an entry, and the node of its value."""
    if isinstance(node, MappingNode):
        return [(str(key.value), key, value) for key, value in node.value]
    if isinstance(node, SequenceNode):
        return [(index, item, item) for index, item in enumerate(node.value)]
    return []


def _find(node: Node | None, path: Path) -> Node | None:
    for key in path:
        node = next((value for name, _, value in _children(node) if name == key and type(name) is type(key)), None)
        if node is None:
            return None
    return node


def _content(node: Node) -> object:
    if isinstance(node, MappingNode):
        return {str(key): _content(value) for key, _, value in _children(node)}
    if isinstance(node, SequenceNode):
        return [_content(item) for item in node.value]
    return None if _is_null(node) else str(node.value)


def _is_null(node: Node) -> bool:
    return str(node.tag).endswith(":null")


def _is_empty(node: Node) -> bool:
    """Return whether a value is empty; the parser places an empty value after the comments that follow."""
    return _is_null(node) and not str(node.value)


def _expected(value: Value) -> object:
    """Return the expected content of the text after an edit."""
    if isinstance(value, Snippet):
        root = _root(value.text.rstrip("\n") + "\n")
        return None if root is None else _content(root)
    if isinstance(value, Mapping):
        return {key: _expected(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_expected(item) for item in value]
    return None if isinstance(value, Literal) and value == "null" else str(value)


def _checked(before: str, after: str, path: Path, value: object) -> str:
    """Return the new text if it differs only in the value of the path.

    Raises:
        InputError: If it does not.
    """
    try:
        root = _root(after)
        is_same = root is not None and _content(root) == _with(_plain_root(before), path, value)
    except InputError:
        is_same = False
    if not is_same:
        name = ".".join(map(str, path))
        message = f"`{name}` cannot be changed alone: other parts of the file depend on how it is written; {_AS_TEXT}"
        raise InputError(message)
    return after


def _plain_root(text: str) -> object:
    root = _root(text)
    return {} if root is None else _content(root)


def _with(content: object, path: Path, value: object) -> object:
    """Return content with a new value at a path; without the entry if it is to be removed."""
    if not path:
        return value
    key, rest = path[0], path[1:]
    if isinstance(key, int):
        items = list(content) if isinstance(content, list) else []
        if not rest and value is None:
            return items[:key] + items[key + 1 :]
        return [*items[:key], _with(items[key] if key < len(items) else None, rest, value), *items[key + 1 :]]
    entries = dict(content) if isinstance(content, dict) else {}
    if not rest and value is None:
        entries.pop(key, None)
        return entries
    return entries | {key: _with(entries.get(key), rest, value)}


def _replaced(text: str, root: Node | None, path: Path, node: Node, value: Value) -> str:
    holder = _find(root, path[:-1])
    in_flow = _is_in_flow(root, path) or (isinstance(value, list) and _is_flow(node))
    if isinstance(value, list) and isinstance(node, SequenceNode) and not node.flow_style and node.value:
        items = _item_edits(text, node, value)
        if items is not None:
            return items
    begin = next(key for name, key, _ in _children(holder) if name == path[-1])
    margin = _column(text, begin) if isinstance(holder, MappingNode) else node.start_mark.column - _INDENT
    style = str(node.style or "") if isinstance(node, ScalarNode) else ""
    written = _written(value, margin=margin, in_flow=in_flow, style=style)
    start, end = node.start_mark.index, _end(node, text)
    if isinstance(holder, MappingNode):
        start = text.index(":", begin.end_mark.index) + 1
        comment = text[start : node.start_mark.index]
        if "\n" not in comment and written.startswith(" ") and not isinstance(node, MappingNode | SequenceNode):
            start, written = node.start_mark.index, written[1:] if comment else written
    else:
        written = written.lstrip(" ") if not written.startswith("\n") else written.lstrip("\n ")
    return text[:start] + written + text[end:]


def _item_edits(text: str, node: SequenceNode, value: list[Value]) -> str | None:
    """Return the text with changed items of a list of texts, line by line; None if items are not plain texts."""
    if not value or not all(isinstance(item, ScalarNode) for item in node.value):
        return None
    if not all(isinstance(item, str) for item in value):
        return None
    known, requested = [str(item.value) for item in node.value], [str(item) for item in value]
    dash = text.rindex("-", 0, node.value[0].start_mark.index)
    indent = dash - _line_start(text, dash)
    for kind, low, high, begin, end in reversed(SequenceMatcher(a=known, b=requested, autojunk=False).get_opcodes()):
        if kind == "equal":
            continue
        lines = [" " * indent + "-" + _written(item, margin=indent, in_flow=False) for item in value[begin:end]]
        if kind == "replace" and high - low == end - begin:
            for item, line in reversed(list(zip(node.value[low:high], value[begin:end], strict=True))):
                new = _written(line, margin=indent, in_flow=False, style=str(item.style or "")).lstrip(" ")
                text = text[: item.start_mark.index] + new + text[_end(item, text) :]
            continue
        start = _line_start(text, text.rindex("-", 0, node.value[low].start_mark.index)) if low < high else None
        if start is None:
            start = _line_end(text, _end(node.value[low - 1], text)) if low else _line_start(text, dash)
        stop = _line_end(text, _end(node.value[high - 1], text)) if high > low else start
        joined = "".join(f"{line}\n" for line in lines)
        before = "" if start == 0 or text[start - 1] == "\n" else "\n"
        text = text[:start] + before + joined + text[stop:]
    return text


def _added(text: str, root: Node | None, path: Path, key: str | int, value: Value) -> str:
    """Return the text with a new entry at the end of the mapping or list at a path."""
    holder = _find(root, path) if path else root
    if holder is None:
        return _on_own_line(text, len(text), _entry(key, value, margin=0))
    children = _children(holder)
    if not children:
        return _in_empty(text, root, path, holder, key, value)
    last = children[-1][2]
    if _is_flow(holder) or _is_in_flow(root, path):
        at, rest = _end(last, text), text[_end(last, text) : holder.end_mark.index]
        comma = rest.find(",")
        at, mark = (at + comma + 1, "") if comma >= 0 else (at, ",")
        written = _written(value, margin=0, in_flow=True)
        return f"{text[:at]}{mark} {_key(key) if isinstance(key, str) else ''}{written.lstrip(' ')}{text[at:]}"
    margin = _dash_column(text, holder) if isinstance(holder, SequenceNode) else _column(text, children[0][1])
    return _on_own_line(text, _line_end(text, _end(last, text)), _entry(key, value, margin=margin))


def _in_empty(text: str, root: Node | None, path: Path, holder: Node, key: str | int, value: Value) -> str:
    """Return the text with the first entry of an empty mapping or list: `{}`, `[]` or no value."""
    above = _find(root, path[:-1]) if path else None
    begin = next((start for name, start, _ in _children(above) if path and name == path[-1]), None)
    if _is_in_flow(root, path) or begin is None or not isinstance(above, MappingNode):
        inner = _written({key: value} if isinstance(key, str) else [value], margin=0, in_flow=True)
        return text[: holder.start_mark.index] + inner.lstrip(" ") + text[_end(holder, text) :]
    colon = text.index(":", begin.end_mark.index)
    end = colon + 1 if _is_empty(holder) else _end(holder, text)
    text = text[: colon + 1] + text[end:]
    margin = _column(text, begin) + _INDENT
    return _on_own_line(text, _line_end(text, colon), _entry(key, value, margin=margin))


def _entry(key: str | int, value: Value, *, margin: int) -> str:
    start = " " * margin + ("-" if isinstance(key, int) else _key(key).rstrip(" "))
    if isinstance(key, int) and isinstance(value, dict) and value:
        lines = "".join(_entry(name, item, margin=margin + _INDENT) for name, item in value.items())
        return start + " " + lines[margin + _INDENT :]
    return start + _written(value, margin=margin, in_flow=False) + "\n"


def _on_own_line(text: str, at: int, lines: str) -> str:
    before = "" if at == 0 or text[at - 1] == "\n" else "\n"
    return text[:at] + before + lines + text[at:]


def _key(key: str) -> str:
    return f"{_scalar(key, in_flow=True)}: "


def _written(value: Value, *, margin: int, in_flow: bool, style: str = "") -> str:
    """Return a value as written after `key:` or `-`, with the preceding space or line break."""
    if isinstance(value, Snippet):
        return _snippet(value.text.strip("\n"), margin)
    if isinstance(value, list | dict):
        return _collection(value, margin=margin, in_flow=in_flow)
    if isinstance(value, Literal):
        return f" {value}"
    if "\n" in value and not in_flow:
        block = _block_text(value, margin)
        return block or f" {_quoted(value)}"
    return f" {_scalar(value, in_flow=in_flow, style=style)}"


def _snippet(text: str, margin: int) -> str:
    """Return a piece of YAML as written after `key:`: a scalar or flow collection beside it, a block below it."""
    node, lines = _root(text), text.split("\n")
    indented = "".join("\n" + (" " * (margin + _INDENT) + line if line.strip() else "") for line in lines)
    is_below = isinstance(node, MappingNode | SequenceNode) and not node.flow_style
    return indented if is_below else f" {indented.lstrip()}"


def _collection(value: list[Value] | dict[str, Value], *, margin: int, in_flow: bool) -> str:
    is_list = isinstance(value, list)
    if in_flow or not value:
        items = value if isinstance(value, list) else list(value.values())
        keys = [""] * len(value) if isinstance(value, list) else [_key(key) for key in value]
        inner = [key + _written(item, margin=0, in_flow=True)[1:] for key, item in zip(keys, items, strict=True)]
        return f" [{', '.join(inner)}]" if is_list else f" {{{', '.join(inner)}}}"
    entries: Sequence[tuple[str | int, Value]]
    entries = list(enumerate(value)) if isinstance(value, list) else list(value.items())
    lines = "".join(_entry(key, item, margin=margin + _INDENT) for key, item in entries)
    return "\n" + lines.rstrip("\n")


def _block_text(value: str, margin: int) -> str:
    """Return a text as a literal block; empty if it has no such form."""
    if value.startswith((" ", "\n")) or any(not letter.isprintable() and letter != "\n" for letter in value):
        return ""
    end = "" if value.endswith("\n") and not value.endswith("\n\n") else "-" if not value.endswith("\n") else "+"
    body = value.removesuffix("\n")
    lines = "".join("\n" + (" " * (margin + _INDENT) + line if line else "") for line in body.split("\n"))
    return f" |{end}{lines}"


def _scalar(value: str, *, in_flow: bool, style: str = "") -> str:
    """Return a text in its former quotes, plain if that is equivalent, or in double quotes."""
    if style == "'" and "\n" not in value and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    if style != '"' and value and "," not in value[: len(value) if in_flow else 0] and _is_plain(value):
        return value
    return _quoted(value)


def _is_plain(value: str) -> bool:
    if not _PLAIN.fullmatch(value) or value.lower() in _OLD_TRUTHS or not value.isprintable():
        return False
    if value != value.strip() or ": " in value or value.endswith(":"):
        return False
    node = _root(value)
    return isinstance(node, ScalarNode) and str(node.tag).endswith(":str") and str(node.value) == value


def _quoted(value: str) -> str:
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}
    letters = (escapes.get(letter) or (letter if letter.isprintable() else f"\\U{ord(letter):08X}") for letter in value)
    return '"' + "".join(letters) + '"'


def _is_flow(node: Node | None) -> bool:
    """Return whether a mapping or list is in flow style."""
    return bool(getattr(node, "flow_style", False))


def _is_in_flow(root: Node | None, path: Path) -> bool:
    """Return whether the entry of a path is inside a flow collection."""
    holders: Iterator[Node | None] = (_find(root, path[:n]) for n in range(len(path)))
    return any(_is_flow(holder) for holder in holders)


def _flow_span(text: str, children: list[tuple[str | int, Node, Node]], position: int) -> tuple[int, int]:
    start, end = children[position][1].start_mark.index, _end(children[position][2], text)
    if position:
        return _end(children[position - 1][2], text), end
    return start, children[1][1].start_mark.index if len(children) > 1 else end


def _block_span(text: str, children: list[tuple[str | int, Node, Node]], position: int) -> tuple[int, int]:
    key, begin, value = children[position]
    last = begin.end_mark.index if _is_empty(value) else _end(value, text)
    start, end = begin.start_mark.index, _line_end(text, last)
    if isinstance(key, int):
        start = text.rindex("-", 0, start)
    if text[_line_start(text, start) : start].strip() and position + 1 < len(children):
        return start, children[position + 1][1].start_mark.index  # the first key behind a dash
    return _line_start(text, start), end


def _end(node: Node, text: str) -> int:
    """Return the end of a value, exclusive; trailing comments are not part of it."""
    while isinstance(node, MappingNode | SequenceNode) and not node.flow_style and node.value:
        node = _children(node)[-1][2]
    end: int = node.end_mark.index
    is_block = isinstance(node, ScalarNode) and node.style in {"|", ">"}
    return len(text[:end].rstrip(" \r\n")) if is_block else end


def _column(text: str, node: Node) -> int:
    index: int = node.start_mark.index
    return index - _line_start(text, index)


def _dash_column(text: str, node: SequenceNode) -> int:
    dash = text.rindex("-", 0, node.value[0].start_mark.index)
    return dash - _line_start(text, dash)


def _margin(lines: Sequence[str]) -> int:
    return min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), default=0)


def _line_start(text: str, index: int) -> int:
    return text.rfind("\n", 0, index) + 1


def _line_end(text: str, index: int) -> int:
    """Return the start of the next line."""
    result = text.find("\n", index)
    return result + 1 if result >= 0 else len(text)
