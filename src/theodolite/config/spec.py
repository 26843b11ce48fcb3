"""Base class and value types of all specs, the pydantic models of study keys."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, WithJsonSchema

KIND = "kind:"
"""Begins every tag that tells the forms of one value apart, so that error paths can be cleaned of them."""


class Spec(BaseModel):
    """A mapping of a study file; keys that it does not know are faults.

    The text under a field describes its key in the schemas (`config/described.py`).
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


def form_of(value: Any) -> str:
    """Return the tag of the form in which a value is written: text, list or mapping."""
    if isinstance(value, list | tuple):
        return KIND + "list"
    if isinstance(value, dict | Spec):
        return KIND + "mapping"
    return KIND + "text"


Word: TypeAlias = Annotated[str, WithJsonSchema({"type": ["string", "number", "boolean"]})]
"""Text that YAML might take for a number or a truth value; it stays the text that was written."""

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
"""Kinds of application, in the order in which messages name them."""


def without_empty(**values: Any) -> dict[str, Any]:
    """Return the values that are there at all."""
    return {key: value for key, value in values.items() if value not in (None, "", {}, [], ())}
