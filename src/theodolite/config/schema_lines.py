"""Lines of a schema's file: its questions as blocks that can be moved, doubled, taken out and added.

The text stays the author's own: comments, quotes and order of keys are kept, since
lines are moved and nothing is written anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from theodolite.config.yaml_source import YamlSource
from theodolite.domain.errors import InputError

_BEGINNING = """\
{key}:
  ask: What is to be asked?
  may_be_unable: yes
  exemplars:
    - {{text: "User: ... Reply: ...", answer: yes, reason: Why.}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionBlock:
    """The lines of one question.

    Attributes:
        category: Name of its category.
        name: Name of the question.
        first: Number of its first line, from 1.
        last: Number of its last line.
        indent: Spaces before its name; count.
    """

    category: str
    name: str
    first: int
    last: int
    indent: int


def question_blocks(source: YamlSource) -> tuple[QuestionBlock, ...]:
    """Return the questions that have lines of their own, in the order of the file.

    A question in a category that is written in one line (`{...}`) has none; it is edited as text.

    Args:
        source: The file.
    """
    return tuple(
        block
        for path, spot in source.keys.items()
        if len(path) == 4 and (path[0], path[2]) == ("categories", "questions")
        if (block := _block(source.lines, str(path[1]), str(path[3]), spot.line)) is not None
    )


def _block(lines: Sequence[str], category: str, name: str, first: int) -> QuestionBlock | None:
    line = lines[first - 1]
    indent = len(line) - len(line.lstrip())
    if not line.lstrip().lstrip("\"'").startswith(name):
        return None
    last = first
    for number in range(first + 1, len(lines) + 1):
        following = lines[number - 1]
        is_blank = not following.strip()
        if not is_blank and len(following) - len(following.lstrip()) <= indent:
            break
        last = last if is_blank else number
    return QuestionBlock(category=category, name=name, first=first, last=last, indent=indent)


def moved(text: str, source: YamlSource, category: str, name: str, by: int) -> str:
    """Return the text with a question one place further down or up among those of its category.

    Args:
        text: The file.
        source: The same, read.
        category: Name of the category.
        name: Name of the question.
        by: 1 for down, -1 for up.

    Raises:
        InputError: If it has no lines of its own, or stands at the end already.
    """
    block, beside = _found(source, category, name), _of_category(source, category)
    place = beside.index(block) + by
    if not 0 <= place < len(beside):
        message = f"question `{name}` is already {'the last' if by > 0 else 'the first'} of `{category}`"
        raise InputError(message)
    one, two = sorted((block, beside[place]), key=lambda each: each.first)
    lines = _lines(text)
    between = lines[one.last : two.first - 1]
    swapped = [*lines[two.first - 1 : two.last], *between, *lines[one.first - 1 : one.last]]
    return _joined([*lines[: one.first - 1], *swapped, *lines[two.last :]])


def doubled(text: str, source: YamlSource, category: str, name: str) -> str:
    """Return the text with a question a second time, right behind itself and under a name of its own.

    Raises:
        InputError: If it has no lines of its own.
    """
    block, lines = _found(source, category, name), _lines(text)
    copied = lines[block.first - 1 : block.last]
    copied[0] = copied[0].replace(name, _free(source, category, name), 1)
    return _joined([*lines[: block.last], *copied, *lines[block.last :]])


def without(text: str, source: YamlSource, category: str, name: str) -> str:
    """Return the text without a question.

    Raises:
        InputError: If it has no lines of its own, or is the only one of its category.
    """
    block, lines = _found(source, category, name), _lines(text)
    if len(_of_category(source, category)) < 2:
        message = f"question `{name}` is the only one of `{category}`; a category asks one at least"
        raise InputError(message)
    return _joined([*lines[: block.first - 1], *lines[block.last :]])


def added(text: str, source: YamlSource, category: str) -> str:
    """Return the text with the beginning of a further question at the end of a category.

    Raises:
        InputError: If no question of the category has lines of its own.
    """
    beside, lines = _of_category(source, category), _lines(text)
    if not beside:
        message = f"no question of `{category}` has lines of its own; add one in the text"
        raise InputError(message)
    last = beside[-1]
    begun = _BEGINNING.format(key=_free(source, category, "new_question")).splitlines()
    indented = [" " * last.indent + line for line in begun]
    return _joined([*lines[: last.last], *indented, *lines[last.last :]])


def _found(source: YamlSource, category: str, name: str) -> QuestionBlock:
    for block in _of_category(source, category):
        if block.name == name:
            return block
    message = f"question `{name}` of `{category}` has no lines of its own in this text; edit it as text"
    raise InputError(message)


def _of_category(source: YamlSource, category: str) -> list[QuestionBlock]:
    return [block for block in question_blocks(source) if block.category == category]


def _free(source: YamlSource, category: str, name: str) -> str:
    """Return a name that no question of the category has."""
    taken = {path[3] for path in source.keys if len(path) == 4 and path[:2] == ("categories", category)}
    return next(one for one in _names(name) if one not in taken)


def _names(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}_{number}"
        number += 1


def _lines(text: str) -> list[str]:
    return text.rstrip("\n").split("\n")


def _joined(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
