"""Buttons that rearrange a schema's text: what they send, and what it does to the text."""

from __future__ import annotations

from theodolite.config.labelling import schema_lines
from theodolite.config.labelling.schema_drafts import schema_path
from theodolite.config.yaml_source import read_yaml
from theodolite.domain.errors import InputError
from theodolite.web.schemas.drafts import tidied

SAVE = {"", "save", "preview"}
"""What buttons send that save the text as it stands."""


def rearranged(text: str, name: str, kind: str, place: str) -> str:
    """Return a text as a button wants it.

    Args:
        text: What stands in the editor.
        name: Name of the schema.
        kind: What the button does: `up`, `down`, `double`, `remove` or `add`; empty to leave the text.
        place: Category and question, `CATEGORY:QUESTION`; the category alone for `add`.

    Raises:
        InputError: If the text does not have that question in lines of its own, or no button does that.
    """
    if kind in SAVE:
        return text
    plain = tidied(text)
    source = read_yaml(plain.encode("utf-8"), schema_path(name))
    category, _, question = place.partition(":")
    match kind:
        case "up" | "down":
            return schema_lines.moved(plain, source, category, question, -1 if kind == "up" else 1)
        case "double":
            return schema_lines.doubled(plain, source, category, question)
        case "remove":
            return schema_lines.without(plain, source, category, question)
        case "add":
            return schema_lines.added(plain, source, category)
        case _:
            message = f"a text is moved, doubled, shortened or added to; got `{kind}`"
            raise InputError(message)
