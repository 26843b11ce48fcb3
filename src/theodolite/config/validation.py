"""Validates the content of a file against its spec and reports each mismatch with its location.

One pass finds all mismatches: a misspelt key is read as the key that it
resembles, other mismatches are removed, and the rest is validated again, so
that later checks see as much of the study as possible.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, TypeAlias, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError, WithJsonSchema

from theodolite.config.yaml_source import Path, Scalar, YamlSource
from theodolite.domain.errors import Diagnostic, TemplateError, closest, did_you_mean
from theodolite.testing.templates import Refusal, refusal_of, variables_of

KIND = "kind:"
"""Prefix of tags that distinguish the forms of one value, so that error paths can omit them."""


class Spec(BaseModel):
    """A mapping of a study file; unknown keys are errors.

    The text under a field describes its key in the schemas (`config/described.py`).
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


def form_of(value: Any) -> str:
    """Return the tag for the form of a value: text, list or mapping."""
    if isinstance(value, list | tuple):
        return KIND + "list"
    if isinstance(value, dict | Spec):
        return KIND + "mapping"
    return KIND + "text"


Word: TypeAlias = Annotated[str, WithJsonSchema({"type": ["string", "number", "boolean"]})]
"""Text that YAML might parse as a number or a boolean; it stays the written text."""

YesNo: TypeAlias = Annotated[bool, WithJsonSchema({"enum": [True, False, "yes", "no"]})]
"""Yes or no; editors that read YAML 1.2 see `yes` as a word."""

Filled: TypeAlias = Annotated[str, Field(min_length=1)]
"""Text that may not be empty."""

OneOrMore: TypeAlias = Annotated[
    Annotated[Filled, Tag(KIND + "text")] | Annotated[list[Filled], Tag(KIND + "list")],
    Discriminator(form_of),
]
"""One text or a list of texts."""


def as_list(value: str | list[str] | None) -> list[str]:
    """Return one or more texts as a list."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)


KINDS = ("recorded", "model", "http", "python", "aria")
"""Kinds of application, in the order of messages."""


def without_empty(**values: Any) -> dict[str, Any]:
    """Return the values that exist."""
    return {key: value for key, value in values.items() if value not in (None, "", {}, [], ())}


_NOT_CLOSED = "is not closed well: each `{{` needs its `}}`, each `{%` its `%}` and its end"

_SLOT = re.compile(r"\{\{\s*[A-Za-z_]\w*\s*\}\}")

_UNKNOWN_TAG = re.compile(r"unknown tag '(?!end|el)(\w+)'")


def variables(text: str) -> frozenset[str]:
    """Return the variables of a template; empty if it can never be filled."""
    try:
        return variables_of(text)
    except TemplateError:
        return frozenset()


def syntax_problem(text: str, *, with_line: bool = True) -> str:
    """Return the error in the text as a template; empty if there is none.

    Args:
        text: The template.
        with_line: Whether to name its line; not if the position of the error does so.
    """
    refusal = refusal_of(text)
    if refusal is None:
        return ""
    where = f"line {refusal.line} of the template" if with_line and refusal.line > 1 else "the template"
    return f"{where} {_words(refusal)}"


def line_of_problem(text: str) -> int:
    """Return the line of an invalid template, from 1; 1 if the whole template is invalid."""
    refusal = refusal_of(text)
    return max(1, refusal.line) if refusal else 1


def _words(refusal: Refusal) -> str:
    """Return a parser error in plain words."""
    if not refusal.malformed:
        return refusal.words
    tag = _UNKNOWN_TAG.search(refusal.words)
    return f"holds `{{% {tag[1]} %}}`, which means nothing; use `if`, `for` or `raw`" if tag else _NOT_CLOSED


def place_of(variable: str, text: str) -> str:
    """Return the template's notation of a variable, e.g. `{{ wish }}`."""
    result = re.search(r"\{[{%][^{}%]*\b" + re.escape(variable) + r"\b[^{}%]*[%}]\}", text)
    return result.group() if result else ""


def first_slot(text: str) -> str:
    """Return a placeholder-like part of a text that is not a template, e.g. `{{ wish }}`; empty for none."""
    result = _SLOT.search(text)
    return result.group() if result else ""


def unfilled(text: str, known: Iterable[str]) -> list[str]:
    """Return the variables without a value, sorted by name."""
    return sorted(variables(text) - set(known))


def expression_problem(pattern: str) -> str:
    """Return the error in a regular expression; empty if there is none."""
    try:
        re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        at = f" at character {error.pos + 1}" if error.pos is not None else ""
        return f"`{pattern}` is not a regular expression: {error.msg}{at}"
    return ""


S = TypeVar("S", bound=Spec)

NOUNS = {
    "models": "model",
    "applications": "application",
    "scenarios": "scenario",
    "personas": "persona group",
    "guidelines": "guideline",
    "judges": "judge",
    "annotators": "annotator",
    "risks": "risk",
    "levels": "level",
    "schemas": "schema",
    "questionnaires": "questionnaire",
}
"""Name of the entries of each section of a study."""

_FIELDS_OF_REQUESTS = "fields of a model's requests stand under its `params`"

FOREIGN = {
    **dict.fromkeys(("temperature", "max_tokens", "max_completion_tokens", "top_p"), _FIELDS_OF_REQUESTS),
    "prompts": "fixed prompts are `scripts` of a scenario here",
    "providers": "what is tested stands under `applications`, language models under `models`",
    "targets": "what is tested stands under `applications`",
    "tests": "situations stand under `scenarios`, the rows that fill them under `personas`",
    "assert": "what would be wrong in a reply is said by `judges` and their `guidelines`",
    "asserts": "what would be wrong in a reply is said by `judges` and their `guidelines`",
    "dataset": "recorded dialogues are an application of kind `recorded`",
    "solver": "what is tested stands under `applications`",
    "scorer": "what labels dialogues stands under `judges`",
    "vars": "what fills templates are the `rows` of `personas`",
}
"""Keys of other tools, with our equivalents."""

RENAMED = {
    "passes": "per_item",
    "judge_passes": "judges_per_item",
    "callable": "python",
}
"""Former names of keys, with their current names."""

KEY = "[key]"
"""Marks an error location that refers to the key rather than its value."""

_ROUNDS = 25

_ALIKE, _ALL_BUT_SAME = 0.6, 0.85
"""Minimum similarity for a suggested key: for unknown keys, and for keys that belong elsewhere."""

_UNKNOWN_KEY = "extra_forbidden"

_EXPECTED: Mapping[str, str] = {
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a smaller number",
    "float_parsing": "a number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_parsing": "yes or no",
    "bool_type": "yes or no",
    "string_type": "a text",
    "dict_type": "a mapping (`name: value` lines)",
    "model_type": "a mapping (`key: value` lines)",
    "model_attributes_type": "a mapping (`key: value` lines)",
    "list_type": "a list",
}


def validated(source: YamlSource, spec: type[S], *, owner: str) -> S | None:
    """Return the validated content of a file; mismatches are added to the source's errors.

    Args:
        source: The file; invalid parts are repaired or removed in place.
        spec: Permitted content of the file.
        owner: Name of the whole file in messages, e.g. `the study`.

    Returns:
        None if too little is valid.
    """
    _leave_out_empty_sections(source)
    mender = _Mender(source, spec, owner)
    for _ in range(_ROUNDS):
        try:
            return spec.model_validate(source.content)
        except ValidationError as error:
            if not isinstance(source.content, dict) or not source.content:
                return None
            # Unknown keys first: a misspelt key is usually the missing one.
            for misfit in sorted(error.errors(include_url=False), key=lambda item: item["type"] != _UNKNOWN_KEY):
                mender.mend(tuple(misfit["loc"]), misfit)
    return None


def _leave_out_empty_sections(source: YamlSource) -> None:
    """Remove sections that contain only comments, which count as missing."""
    if isinstance(source.content, dict):
        empty = [key for key, value in source.content.items() if isinstance(value, Scalar) and value.tag == "null"]
        for key in empty:
            del source.content[key]


def owner_of(path: Path, root: str) -> str:
    """Return the name for messages of the entry that contains a path, e.g. ``scenario `returns` ``."""
    if path and path[0] in NOUNS:
        noun = NOUNS[str(path[0])]
        return f"{noun} `{path[1]}`" if len(path) > 1 else f"`{path[0]}`"
    return f"`{path[0]}`" if path else root


def misfits(spec: type[Spec], content: Mapping[str, Any]) -> dict[str, str]:
    """Return each invalid key with its value and a description of the expected one.

    Forms use it, so that a page and a study file accept the same values.

    Args:
        spec: The spec of a section of a study file.
        content: Keys and values, as a form sends them.
    """
    try:
        spec.model_validate(content)
    except ValidationError as error:
        result = [(str(item["loc"][0]), item) for item in error.errors(include_url=False)]
        return {key: f"`{key}` {_came_and_expected(item)}" for key, item in reversed(result)}
    return {}


class _Mender:
    """Removes invalid parts from a file's content and reports them."""

    def __init__(self, source: YamlSource, spec: type[Spec], owner: str) -> None:
        self._source = source
        self._spec = spec
        self._owner = owner

    def mend(self, loc: tuple[str | int, ...], misfit: Mapping[str, Any]) -> None:
        """Report an invalid part, and repair or remove it."""
        path = tuple(part for part in loc if not str(part).startswith(KIND) and part != KEY)
        if KEY in loc:
            self._unknown_name(path, misfit)
        elif misfit["type"] == _UNKNOWN_KEY:
            self._unknown_key(path, loc)
        elif misfit["type"] == "missing":
            self._missing_key(path)
        else:
            self._wrong_value(path, misfit)

    def _say(self, path: Path, message: str, *, at_key: bool = False) -> None:
        self._source.faults.append(self._source.place(Diagnostic(path=path, message=message, at_key=at_key)))

    def _unknown_key(self, path: Path, loc: tuple[str | int, ...]) -> None:
        key = str(path[-1])
        holder = self._holder(path)
        if holder is None or key not in holder:
            return
        spec = spec_at(self._spec, loc[:-1])
        known = keys_of(spec) if spec else []
        elsewhere = self._elsewhere(path)
        likeness = _ALL_BUT_SAME if elsewhere else _ALIKE
        word = "" if key in FOREIGN else closest(key, known, likeness=likeness)
        if RENAMED.get(key) in known:
            word = RENAMED[key]
            tail = f"; its name is now `{word}`"
        else:
            tail = f". Did you mean `{word}`?" if word else ""
        tail = tail or _foreign(key) or elsewhere or f"; known here: {', '.join(known)}"
        self._say(path, f"unknown key `{key}` in {owner_of(path[:-1], self._owner)}{tail}", at_key=True)
        value = holder.pop(key)
        if word and word not in holder:
            holder[word] = value
            self._source.renamed[(*path[:-1], word)] = self._source.original(path)

    def _elsewhere(self, path: Path) -> str:
        """Return the right position for a key in the same file; empty if there is none, or another of this kind."""
        key, section = str(path[-1]), str(path[0])
        if len(path) > 1 and key in keys_of(self._spec):
            return "; it belongs to the top of the file"
        sections = sections_with(self._spec, key)
        if not sections or section in sections:
            return ""
        return f"; it belongs to {' or '.join(f'`{name}`' for name in sections)}"

    def _unknown_name(self, path: Path, misfit: Mapping[str, Any]) -> None:
        texts = _expected_words(misfit)
        near = did_you_mean(str(path[-1]), texts) or f"; expected one of {', '.join(texts)}"
        self._say(path, f"unknown {NOUNS.get(str(path[0]), 'name')} `{path[-1]}`{near}", at_key=True)
        self._leave_out(path)

    def _missing_key(self, path: Path) -> None:
        key = str(path[-1])
        holder = self._holder(path)
        if holder is not None and key in holder:  # it was misspelt, and is there by now
            return
        if self._source.original(path) not in self._source.dropped:
            named = " (its name, e.g. `study: support-bot`)" if path == ("study",) else ""
            self._say(path[:-1], f"{owner_of(path[:-1], self._owner)} needs `{key}`{named}", at_key=True)
        if len(path) == 1 and isinstance(self._source.content, dict):
            self._source.content[key] = Scalar("unnamed", "str")
        else:
            self._leave_out(path[:-1])

    def _wrong_value(self, path: Path, misfit: Mapping[str, Any]) -> None:
        owner = owner_of(path, self._owner)
        if misfit["type"] == "value_error":
            self._say(path, f"{owner} {misfit['ctx']['error']}", at_key=True)
        elif misfit["type"] == "union_tag_invalid" and path[:1] == ("applications",) and len(path) == 2:
            self._wrong_kind(path, misfit["input"])
        else:
            name = next((part for part in reversed(path) if isinstance(part, str)), "value")
            whole = len(path) < 2 or (len(path) == 2 and path[0] in NOUNS)
            subject = (owner if path else self._owner) if whole else f"`{name}` of {owner}"
            self._say(path, f"{subject} {_came_and_expected(misfit)}")
        self._leave_out(path)

    def _wrong_kind(self, path: Path, application: Any) -> None:
        kind = str(application.get("kind", "")) if isinstance(application, dict) else ""
        if kind:
            near = did_you_mean(kind, KINDS) or f"; kinds are {', '.join(KINDS)}"
            self._say((*path, "kind"), f"application `{path[1]}` is of unknown kind `{kind}`{near}")
        else:
            self._say(path, f"application `{path[1]}` needs `kind`: one of {', '.join(KINDS)}", at_key=True)

    def _holder(self, path: Path) -> dict[str, Any] | None:
        node: Any = self._source.content
        for part in path[:-1]:
            try:
                node = node[part]
            except (KeyError, IndexError, TypeError):
                return None
        return node if isinstance(node, dict) else None

    def _leave_out(self, path: Path) -> None:
        """Remove a value; of lists the whole list, so that indices stay valid."""
        while path:
            holder = self._holder(path)
            if holder is not None and path[-1] in holder:
                del holder[str(path[-1])]
                self._source.dropped.add(self._source.original(path))
                return
            path = path[:-1]


def _foreign(key: str) -> str:
    word = closest(key, FOREIGN)
    return f"; {FOREIGN[word]}" if word else ""


def _came_and_expected(misfit: Mapping[str, Any]) -> str:
    kind, context = str(misfit["type"]), misfit.get("ctx", {})
    if kind in {"string_too_short", "too_short"}:
        return "is empty; expected something there"
    if kind in {"literal_error", "enum"}:
        texts = _expected_words(misfit)
        came = misfit["input"]
        meant = did_you_mean(str(came), texts) if isinstance(came, str) else ""
        return f"is {_shown(came)}{meant or '; expected one of ' + ', '.join(texts)}"
    bounds: Mapping[str, Callable[[], str]] = {
        "greater_than_equal": lambda: f"at least {_number(context['ge'])}",
        "greater_than": lambda: f"more than {_number(context['gt'])}",
        "less_than_equal": lambda: f"at most {_number(context['le'])}",
        "less_than": lambda: f"less than {_number(context['lt'])}",
        "union_tag_invalid": lambda: _forms(str(context["expected_tags"])),
    }
    expected = bounds[kind]() if kind in bounds else _EXPECTED.get(kind, "another value")
    return f"is {_shown(misfit['input'])}; expected {expected}"


def _expected_words(misfit: Mapping[str, Any]) -> list[str]:
    """Return the words that a choice allows, from the validator's own list."""
    return re.findall(r"'([^']*)'", str(misfit["ctx"]["expected"]))


def _forms(tags: str) -> str:
    texts = {"text": "a text", "list": "a list", "mapping": "a mapping"}
    named = [tag.strip("' ").removeprefix(KIND) for tag in tags.split(",")]
    return " or ".join(texts.get(name, name) for name in named)


def _number(value: float) -> str:
    return f"{value:g}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    text = str(value)
    if not text:
        return "empty"
    return f"`{text if len(text) <= 60 else text[:57] + '...'}`"


def keys_of(spec: type[Spec]) -> list[str]:
    """Return the keys of a spec, in order."""
    return [field.alias or name for name, field in spec.model_fields.items()]


def sections_with(spec: type[Spec], key: str) -> list[str]:
    """Return the sections of a file with entries that have a key, in the order of the file."""
    return [
        field.alias or name
        for name, field in spec.model_fields.items()
        if any(key in keys_of(entry) for entry in _entries(field.annotation))
    ]


def _entries(annotation: Any) -> Iterator[type[Spec]]:
    """Yield the specs of a section, or those of its entries."""
    if isinstance(annotation, type) and issubclass(annotation, Spec):
        yield annotation
    for arg in get_args(annotation):
        yield from _entries(arg)


def spec_at(annotation: Any, loc: tuple[str | int, ...]) -> type[Spec] | None:
    """Return the spec at an error's location, by following the annotations."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return spec_at(args[0], loc)
    if isinstance(annotation, type) and issubclass(annotation, Spec):
        return _spec_in(annotation, loc)
    if origin in {Union, UnionType}:
        return _spec_of_arm(args, loc)
    if origin in {dict, list} and loc:
        return spec_at(args[-1], loc[1:])
    return None


def _spec_in(spec: type[Spec], loc: tuple[str | int, ...]) -> type[Spec] | None:
    if not loc:
        return spec
    for name, field in spec.model_fields.items():
        if (field.alias or name) == loc[0]:
            return spec_at(field.annotation, loc[1:])
    return None


def _spec_of_arm(arms: tuple[Any, ...], loc: tuple[str | int, ...]) -> type[Spec] | None:
    if loc and str(loc[0]).startswith(KIND):
        tagged = [arm for arm in arms if any(isinstance(arg, Tag) and arg.tag == loc[0] for arg in get_args(arm))]
        if tagged:
            return spec_at(tagged[0], loc[1:])
    return next((result for arm in arms if (result := spec_at(arm, loc)) is not None), None)
