"""Forms for the files of a study, derived from their JSON Schemas: every key has a field, without code for single keys.

A form shows one mapping or list of a file. Texts, numbers and choices are fields; mappings and lists of mappings are
links to forms of their own; a value without a fixed form is a piece of YAML.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Any
from urllib.parse import quote

from theodolite.config.load_context import shipped_text
from theodolite.config.yaml_edits import (
    Literal,
    Path,
    Snippet,
    Value,
    line_of,
    source_at,
    value_at,
    with_value,
    without,
)
from theodolite.domain.errors import InputError

Schema = Mapping[str, Any]

_FOLDERS = {
    "scenarios": "scenario",
    "guidelines": "guideline",
    "schemas": "annotation-schema",
    "questionnaires": "questionnaire",
    "trees": "tree",
    "translations": "translation",
    "series": "series",
    "taxonomies": "taxonomy",
}
"""Schema of the files in each folder of a study."""

GENERAL = "."
"""Address of the form of a whole file."""

_LONG_TEXTS = frozenset(
    [
        *("about", "ask", "capabilities", "context", "definition", "description", "design", "goal", "instructions"),
        *("prompt", "reason", "starter", "system", "template", "text", "use_case"),
    ]
)
"""Keys whose texts are long."""

_SHOWN_TEXT = 80

_NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")


class Widget(StrEnum):
    """Editor of a value."""

    TEXT = "text"
    AREA = "area"
    NUMBER = "number"
    CHOICE = "choice"
    LINES = "lines"
    YAML = "yaml"
    LINK = "link"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """A key of a form.

    Attributes:
        key: The key, or the position in a list.
        at: Path of the value, as in an address.
        help: Description of the key.
        widget: Editor of the value.
        value: The value as the field shows it; empty if the file has none.
        choices: Permitted values, if there are only a few.
        minimum: Minimum; None for no limit.
        maximum: Maximum; None for no limit.
        is_whole: Whether the number must be an integer.
        line: Line of the key in the file, from 1; 0 if the file has none.
        is_required: Whether the file must have the key.
        is_set: Whether the file has it.
        default: Default value; empty if none is stated.
        summary: Short description of a value with its own form.
        is_entry: Whether the key is a name that the study gives.
        kind: Kind of an entry; empty if it has none.
    """

    key: str
    at: str
    help: str = ""
    widget: Widget = Widget.TEXT
    value: str = ""
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    is_whole: bool = False
    line: int = 0
    is_required: bool = False
    is_set: bool = False
    default: str = ""
    summary: str = ""
    is_entry: bool = False
    kind: str = ""

    @property
    def label(self) -> str:
        """The displayed key."""
        is_word = self.key.islower() and not self.is_entry
        return self.key.replace("_", " ").capitalize() if is_word else self.key

    @property
    def help_parts(self) -> tuple[tuple[str, bool], ...]:
        """Pieces of the description, each with whether it is code."""
        return tuple((piece, bool(n % 2)) for n, piece in enumerate(self.help.split("`")) if piece)

    @property
    def input_id(self) -> str:
        """Id of the field on a page."""
        return "f-" + quote(self.at, safe="").replace("%", "_")

    @property
    def is_foreign(self) -> bool:
        """Whether the value is not among the choices."""
        return self.widget is Widget.CHOICE and bool(self.value) and self.value not in self.choices

    @property
    def rows(self) -> int:
        """Rows of a text area; count."""
        return min(16, max(3, sum(1 + len(line) // 70 for line in self.value.split("\n")) + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class PartForm:
    """The form of a mapping or list.

    Attributes:
        at: Path, as in an address; empty for the whole file.
        path: The path as keys and indices.
        crumbs: Key and path of each step to it.
        help: Description.
        fields: Keys that the file has or must have, or its entries.
        more: Further keys.
        adds: Kind of item that can be added: `name`, `item`, or empty for none.
        kinds: Kinds of a new entry, if there are several.
        takes_text: Whether a new entry is a text.
        is_set: Whether the file has it.
    """

    at: str
    path: Path = ()
    crumbs: tuple[tuple[str, str], ...] = ()
    help: str = ""
    fields: tuple[FormField, ...] = ()
    more: tuple[FormField, ...] = ()
    adds: str = ""
    kinds: tuple[str, ...] = ()
    takes_text: bool = False
    is_set: bool = True

    @property
    def title(self) -> str:
        """Heading of the form: a key of the file as text, or the name of an entry; empty for the whole file."""
        is_key = len(self.crumbs) == 1
        return self.name.replace("_", " ").capitalize() if is_key else self.name

    @property
    def name(self) -> str:
        """Key of the part; empty for the whole file."""
        return self.crumbs[-1][0] if self.crumbs else ""


def schema_name(file: str, *, main: str) -> str:
    """Return the name of the schema of a file; empty for a file without one.

    Example:
        >>> schema_name("scenarios/hours.yaml", main="study.yaml")
        'scenario.schema.json'
    """
    folder, _, rest = file.rpartition("/")
    if not file.endswith((".yaml", ".yml")):
        return ""
    if file == main:
        return "study.schema.json"
    if file == "prices.yaml":
        return "prices.schema.json"
    return f"{_FOLDERS[folder]}.schema.json" if rest and folder in _FOLDERS else ""


@cache
def _schema(name: str) -> Schema:
    schema: Schema = json.loads(shipped_text(f"schemas/{name}"))
    return schema


def study_form(text: str, schema: str, at: str, *, kind: str = "") -> PartForm:
    """Return the form of one part of a file.

    Args:
        text: The file.
        schema: Name of its schema, from `schema_name`.
        at: Path of the part; empty for the whole.
        kind: Kind of an entry that the file does not have yet.

    Raises:
        InputError: If the file is not valid YAML, or has no such part.
    """
    root = _schema(schema)
    path, node = _walk(root, text, at, kind)
    content = value_at(text, path)
    crumbs = tuple((str(key), _address(path[: n + 1])) for n, key in enumerate(path))
    part = _chosen(root, node, content, kind)
    about = _text(part.get("description") or node.get("description"))
    blank = PartForm(at=at, path=path, crumbs=crumbs, help=about, is_set=content is not None or not path)
    if "properties" in part:
        first, more = _of_properties(root, text, path, part, kind if content is None else "")
        return replace(blank, fields=first, more=more)
    entries = _entries(content)
    value_schema = part.get("items") if part.get("type") == "array" else part.get("additionalProperties")
    fields = tuple(_entry(root, text, (*path, key), value_schema or {}) for key in entries)
    adds = "item" if part.get("type") == "array" else "name"
    takes_text = _is_scalar(root, value_schema or {})
    return replace(blank, fields=fields, adds=adds, kinds=_kinds(root, value_schema or {}), takes_text=takes_text)


def _of_properties(
    root: Schema, text: str, path: Path, part: Schema, kind: str
) -> tuple[tuple[FormField, ...], tuple[FormField, ...]]:
    """Return the fields of keys that the file has or must have, and those of all others."""
    required = set(part.get("required", ()))
    fields = [
        _field(root, text, (*path, key), schema, is_required=key in required)
        for key, schema in part["properties"].items()
    ]
    if kind:
        fields = [replace(field, choices=(kind,)) if field.key == "kind" else field for field in fields]
    first = tuple(field for field in fields if field.is_set or field.is_required)
    return first, tuple(field for field in fields if field not in first)


def _walk(root: Schema, text: str, at: str, kind: str) -> tuple[Path, Schema]:
    """Return the path for an address, and its schema."""
    path: Path = ()
    node: Schema = root
    for word in (
        [part.replace("~1", "/").replace("~0", "~") for part in at.split("/")] if at not in {"", GENERAL} else []
    ):
        part = _chosen(root, node, value_at(text, path), kind)
        if part.get("type") == "array":
            path, node = (*path, int(word) if word.isdecimal() else 0), part.get("items", {})
        elif word in part.get("properties", {}):
            path, node = (*path, word), part["properties"][word]
        elif isinstance(part.get("additionalProperties"), dict):
            path, node = (*path, word), part["additionalProperties"]
        else:
            message = f"there is no form for `{at}`; edit it as text"
            raise InputError(message)
    return path, node


def _address(path: Path) -> str:
    return "/".join(str(key).replace("~", "~0").replace("/", "~1") for key in path)


def _variants(root: Schema, node: Schema) -> list[Schema]:
    """Return the forms that a value can have, except null."""
    if "$ref" in node:
        return _variants(root, root["$defs"][node["$ref"].rpartition("/")[2]])
    inner = [*node.get("anyOf", ()), *node.get("oneOf", ())]
    if inner:
        return [variant for part in inner for variant in _variants(root, part)]
    return [] if node.get("type") == "null" else [node]


def _chosen(root: Schema, node: Schema, content: object, kind: str) -> Schema:
    """Return the form of a value; without a value, the form of its kind, or the first with its own fields."""
    variants = _variants(root, node)
    objects = [variant for variant in variants if variant.get("type") == "object"]
    arrays = [variant for variant in variants if variant.get("type") == "array"]
    if isinstance(content, list) and arrays:
        return arrays[0]
    named = str(content.get("kind", "")) if isinstance(content, dict) else kind
    same = [variant for variant in objects if _constant(variant) == named]
    return next(iter([*same, *objects, *arrays, *variants]), {})


def _constant(variant: Schema) -> str:
    return str(variant.get("properties", {}).get("kind", {}).get("const", ""))


def _kinds(root: Schema, node: Schema) -> tuple[str, ...]:
    kinds = [_constant(variant) for variant in _variants(root, node)]
    return tuple(kinds) if len(kinds) > 1 and all(kinds) else ()


def _field(root: Schema, text: str, path: Path, node: Schema, *, is_required: bool = False) -> FormField:
    content = value_at(text, path)
    widget, chosen = _widget(root, node, content, str(path[-1]))
    return FormField(
        key=str(path[-1]),
        at=_address(path),
        help=_text(node.get("description") or _chosen(root, node, None, "").get("description")),
        widget=widget,
        value=_shown(text, path, content, widget),
        choices=tuple(_words(chosen)),
        minimum=chosen.get("minimum", chosen.get("exclusiveMinimum")),
        maximum=chosen.get("maximum"),
        is_whole=chosen.get("type") == "integer",
        line=line_of(text, path),
        is_required=is_required,
        is_set=line_of(text, path) > 0,
        default=_default(node.get("default")),
        summary=_summary(content),
    )


def _entry(root: Schema, text: str, path: Path, node: Schema) -> FormField:
    """Return the field of an entry, whose description is that of its kind."""
    field, content = _field(root, text, path, node), value_at(text, path)
    kind = str(content.get("kind", "")) if isinstance(content, dict) else ""
    about = _text(_chosen(root, node, content, "").get("description"))
    return replace(field, is_entry=True, kind=kind, help=about or field.help)


def _widget(root: Schema, node: Schema, content: object, key: str) -> tuple[Widget, Schema]:
    """Return the editor of a value, and the form that determines it."""
    variants = _variants(root, node)
    lists = [part for part in variants if part.get("type") == "array"]
    scalars = [part for part in variants if _type(part) not in {"array", "object", ""} or _words(part)]
    if isinstance(content, dict):
        return (Widget.LINK if _has_form(root, node, content) else Widget.YAML), {}
    if isinstance(content, list):
        is_plain = all(isinstance(item, str) for item in content)
        return (Widget.LINES if is_plain else Widget.LINK if lists else Widget.YAML), {}
    if lists and any(_is_scalar(root, part.get("items", {})) for part in lists):
        return Widget.LINES, {}
    if scalars:
        return _scalar_widget(scalars[0], content, key), scalars[0]
    return (Widget.LINK if _has_form(root, node, None) else Widget.YAML), {}


def _has_form(root: Schema, node: Schema, content: object) -> bool:
    part = _chosen(root, node, content, "")
    return bool("properties" in part or "items" in part or isinstance(part.get("additionalProperties"), dict))


def _is_scalar(root: Schema, node: Schema) -> bool:
    return any(_type(part) not in {"array", "object", ""} for part in _variants(root, node))


def _type(part: Schema) -> str:
    """Return the type of a form; text for a form that accepts texts, numbers and booleans alike."""
    named = part.get("type", "")
    return named if isinstance(named, str) else "string"


def _scalar_widget(part: Schema, content: object, key: str) -> Widget:
    if _words(part):
        return Widget.CHOICE
    if _type(part) in {"integer", "number"}:
        return Widget.NUMBER
    is_long = isinstance(content, str) and ("\n" in content or len(content) > _SHOWN_TEXT)
    return Widget.AREA if is_long or key in _LONG_TEXTS else Widget.TEXT


def _words(part: Schema) -> list[str]:
    """Return the permitted values; empty for free text."""
    if _type(part) == "boolean" or True in part.get("enum", ()):
        return ["yes", "no"]
    return [str(word) for word in part.get("enum", [part["const"]] if "const" in part else []) if word != ""]


def _shown(text: str, path: Path, content: object, widget: Widget) -> str:
    if content is None or widget is Widget.LINK:
        return ""
    if widget is Widget.YAML:
        return source_at(text, path)
    if widget is Widget.LINES:
        return "\n".join(content) if isinstance(content, list) else str(content)
    return {"true": "yes", "false": "no"}.get(str(content), str(content)) if widget is Widget.CHOICE else str(content)


def _default(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value in (None, "", [], {}) else str(value)


def _summary(content: object) -> str:
    """Return a short description of a value."""
    if isinstance(content, dict):
        names = ", ".join(content)
        return names if len(names) <= _SHOWN_TEXT else f"{len(content)} entries"
    if isinstance(content, list):
        return f"{len(content)} entries" if len(content) != 1 else "1 entry"
    return "" if content is None else str(content)[:_SHOWN_TEXT]


def _entries(content: object) -> Sequence[str | int]:
    if isinstance(content, dict):
        return list(content)
    return list(range(len(content))) if isinstance(content, list) else []


def _text(text: object) -> str:
    return " ".join(str(text).split()) if text else ""


def with_fields(text: str, form: PartForm, sent: Mapping[str, str]) -> str:
    """Return a file with the values of a form; unchanged fields are not rewritten.

    Args:
        text: The file.
        form: The displayed form.
        sent: Submitted text of each field, by path.

    Raises:
        InputError: If a value cannot be written without changing other parts of the file.
    """
    known = {field.at: field for field in (*form.fields, *form.more)}
    changed = {
        field: words
        for at, words in sent.items()
        if (field := known.get(at)) is not None and field.widget is not Widget.LINK
        if _same_lines(words) != _same_lines(field.value)
    }
    if not form.is_set and all(field.key == "kind" for field in changed):
        return text  # the kind of a new entry is selected first
    for field, words in changed.items():
        path = (*form.path, int(field.key) if form.adds == "item" else field.key)
        value = _value(field, _same_lines(words), value_at(text, path))
        text = without(text, path) if value is None else with_value(text, path, value)
    return text


def _same_lines(words: str) -> str:
    return words.replace("\r\n", "\n").rstrip()


def _value(field: FormField, words: str, before: object) -> Value | None:
    """Return the new value of a field for the file; None to remove its key."""
    if not words.strip():
        return None
    match field.widget:
        case Widget.CHOICE | Widget.NUMBER:
            return Literal(words) if words in {"yes", "no"} or _NUMBER.fullmatch(words) else words
        case Widget.YAML:
            return Snippet(words)
        case Widget.LINES:
            lines: list[Value] = [line.strip() for line in words.split("\n") if line.strip()]
            return lines[0] if len(lines) == 1 and isinstance(before, str) else lines
        case _:
            return words + "\n" if isinstance(before, str) and before.endswith("\n") else words


def with_entry(text: str, form: PartForm, name: str, words: str) -> str:
    """Return a file with an additional text in a list or mapping of texts.

    Raises:
        InputError: If the name is taken or empty.
    """
    if form.adds == "name" and (not name or any(field.key == name for field in form.fields)):
        message = f"`{name}` is there already" if name else "the new entry needs a name"
        raise InputError(message)
    return with_value(text, (*form.path, name if form.adds == "name" else len(form.fields)), words)


def with_application(text: str, name: str, entry: Mapping[str, object]) -> str:
    """Return a study file with an additional application.

    Args:
        text: The study file.
        name: Name of the application.
        entry: Its keys and values.

    Raises:
        InputError: If the name is taken, or the file is not valid YAML.
    """
    if value_at(text, ("applications", name)) is not None:
        message = f"the study has an application `{name}` already"
        raise InputError(message)
    return with_value(text, ("applications", name), {key: _plain(value) for key, value in entry.items()})


def _plain(value: object) -> Value:
    """Return a value in file form."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bool):
        return Literal("true" if value else "false")
    return Literal(value) if isinstance(value, int | float) else str(value)


def removed(text: str, form: PartForm) -> str:
    """Return a file without the part of a form."""
    return without(text, form.path)
