"""Cutting: the entries of a study file as stretches of its text.

The text is cut and not written anew, so that comments, order and spelling stay
as their author wrote them; a value taken out is a file of its own as it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from theodolite.domain.errors import InputError

_MARGIN = re.compile(r"\n[ \t]*")
_COMMENT = re.compile(r"[ \t]*#")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A stretch of a text and what takes its place.

    Attributes:
        start: Where it begins; characters from 0.
        end: Where it ends; exclusive.
        replacement: What stands there afterwards.
    """

    start: int
    end: int
    replacement: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A key and its value in a mapping of a YAML text.

    Attributes:
        text: The whole text.
        key: Node of the key.
        value: Node of the value.
        in_block: Whether the mapping that holds it is written in lines of its own, without braces.
    """

    text: str
    key: ScalarNode
    value: Node
    in_block: bool

    @property
    def name(self) -> str:
        """The key."""
        return str(self.key.value)

    def pairs(self) -> tuple[Pair, ...]:
        """Return the pairs of the value; none where it is no mapping."""
        return _pairs(self.text, self.value)

    def lines(self) -> Cut:
        """Return the lines that key and value stand in, with the comments right above the key."""
        start = _line_start(self.text, self.key.start_mark.index)
        while start and _COMMENT.match(self.text, _line_start(self.text, start - 1), start):
            start = _line_start(self.text, start - 1)
        return Cut(start=start, end=_line_end(self.text, _end_of(self.value, self.text)))

    def behind_colon(self, replacement: str) -> Cut:
        """Return the value as a stretch, with another one in its place."""
        colon = self.text.index(":", self.key.end_mark.index)
        return Cut(start=colon + 1, end=_end_of(self.value, self.text), replacement=f" {replacement}")

    def as_file(self) -> str:
        """Return the value, a mapping, as the text of a file of its own, its comments in front."""
        lines = self.lines()
        above = self.text[lines.start : _line_start(self.text, self.key.start_mark.index)] if self.in_block else ""
        flow = isinstance(self.value, MappingNode) and bool(self.value.flow_style)
        begin = self.value.end_mark.index if flow else self.text.index(":", self.key.end_mark.index) + 1
        rest = self.text[begin : _line_end(self.text, begin)]
        beside = rest.strip() + "\n" if self.in_block and _COMMENT.match(rest) else ""
        comments = "".join(line.lstrip() for line in [*above.splitlines(keepends=True), beside])
        if flow:
            return comments + "".join(_unfolded(pair) for pair in self.pairs())
        body = self.text[_line_end(self.text, begin) : lines.end]
        return comments + _dedented(body, self.value.start_mark.column)


def top_pairs(text: str) -> tuple[Pair, ...]:
    """Return the pairs of a YAML text's top mapping, keys at the margin.

    Raises:
        InputError: If the text names parts of itself, so that no part can stand alone.
    """
    parser = YAML(typ="safe", pure=True)
    parser.version = (1, 2)
    try:
        anchored = [event for event in parser.parse(text) if getattr(event, "anchor", None)]
        node = parser.compose(text)
    except YAMLError:
        return ()  # whoever reads the study says what is wrong with it
    if anchored:
        line = anchored[0].start_mark.line + 1
        message = f"line {line} uses `&` or `*`; write out what the name stands for before the file is split"
        raise InputError(message)
    return _pairs(text, node) if isinstance(node, MappingNode) and not node.flow_style else ()


def without(text: str, cuts: list[Cut]) -> str:
    """Return a text in which each stretch has been replaced; stretches do not overlap."""
    for cut in sorted(cuts, key=lambda cut: cut.start, reverse=True):
        text = text[: cut.start] + cut.replacement + text[cut.end :]
    return text


def _pairs(text: str, node: Node) -> tuple[Pair, ...]:
    if not isinstance(node, MappingNode):
        return ()
    in_block = not node.flow_style
    return tuple(Pair(text=text, key=key, value=value, in_block=in_block) for key, value in node.value)


def _end_of(node: Node, text: str) -> int:
    """Return where the last character of a value stands, exclusive; comments behind it are not part of it."""
    last = node
    while isinstance(last, MappingNode | SequenceNode) and not last.flow_style and last.value:
        child = last.value[-1]
        last = child[1] if isinstance(child, tuple) else child
    end: int = last.end_mark.index
    is_block_text = isinstance(last, ScalarNode) and last.style in {"|", ">"}
    return len(text[:end].rstrip("\r\n")) if is_block_text else end


def _line_start(text: str, index: int) -> int:
    return text.rfind("\n", 0, index) + 1


def _line_end(text: str, index: int) -> int:
    """Return where the next line begins."""
    found = text.find("\n", index)
    return found + 1 if found >= 0 else len(text)


def _unfolded(pair: Pair) -> str:
    """Return a pair that stood between braces as lines of its own."""
    key = pair.text[pair.key.start_mark.index : pair.key.end_mark.index]
    value = pair.text[pair.value.start_mark.index : pair.value.end_mark.index]
    indented = _MARGIN.sub("\n  ", value)
    return f"{key}: {indented}".rstrip() + "\n"


def _dedented(body: str, n_columns: int) -> str:
    lines = body.split("\n")
    return "\n".join(line[min(n_columns, len(line) - len(line.lstrip(" "))) :] for line in lines)
