"""Drafts of schemas: begun from what a study has, saved text by text, never overwritten."""

from __future__ import annotations

import re
from pathlib import Path

from django.db import transaction

from theodolite.bootstrap.plugins import resource_resolver
from theodolite.config.labelling.schema_drafts import LONGEST, schema_text
from theodolite.domain.errors import Conflict, InputError
from theodolite.web.access import audit
from theodolite.web.models import Account, HostedStudy, SchemaDraft, SchemaRevision

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LINE_END = re.compile(r"\r\n?")

SHIPPED = "aria-five-categories"
"""The schema that a new one begins with, where no other is named."""


def begin_draft(hosted: HostedStudy, name: str, source: str, by: Account) -> SchemaDraft:
    """Begin to work on a schema, or return the draft that is there.

    Args:
        hosted: The study.
        name: Name of the schema; that of its file.
        source: Name of the schema whose text it begins with.
        by: Who begins.

    Raises:
        InputError: If the name is none, or there is no such text to begin with.
    """
    if not _NAME.fullmatch(name):
        message = f"a schema is named by small letters, digits and single hyphens, e.g. tone-of-voice; got `{name}`"
        raise InputError(message)
    there = SchemaDraft.objects.filter(hosted=hosted, name=name).first()
    if there is not None:
        return there
    text = schema_text(Path(hosted.folder), source, resource_resolver()) if hosted.folder else None
    if text is None:
        message = f"there is no file of a schema `{source}`, neither in the study's folder nor shipped"
        raise InputError(message)
    with transaction.atomic():
        draft = SchemaDraft.objects.create(hosted=hosted, name=name, made_by=by)
        SchemaRevision.objects.create(draft=draft, number=1, text=tidied(text), made_by=by)
        audit(by, "began schema draft", f"schema {name}", hosted=hosted, source=source)
    return draft


def head_of(draft: SchemaDraft) -> SchemaRevision:
    """Return the revision that was saved last."""
    return draft.revisions.select_related("made_by").order_by("-number")[0]


def save_text(draft: SchemaDraft, text: str, by: Account, *, seen: int) -> SchemaRevision:
    """Save a text as the next revision; the same text again adds nothing.

    Args:
        draft: The draft.
        text: What stands in the editor.
        by: Who saves.
        seen: Number of the revision that the text was made from.

    Raises:
        Conflict: If somebody else has saved in between.
        InputError: If it is too long.
    """
    if len(text) > LONGEST:
        message = f"a schema has {LONGEST:,} letters at most; this one has {len(text):,}"
        raise InputError(message)
    with transaction.atomic():
        SchemaDraft.objects.select_for_update().get(pk=draft.pk)
        head = head_of(draft)
        if tidied(text) == head.text:
            return head
        if seen != head.number and head.made_by != by:
            message = (
                f"{head.made_by} saved revision {head.number} while you wrote on revision {seen}; "
                "your text still stands in the editor"
            )
            raise Conflict(message)
        return SchemaRevision.objects.create(draft=draft, number=head.number + 1, text=tidied(text), made_by=by)


def tidied(text: str) -> str:
    r"""Return a text with plain line ends, the last line ended.

    Example:
        >>> tidied("a: 1\r\nb: 2")
        'a: 1\nb: 2\n'
    """
    return _LINE_END.sub("\n", text).replace("\0", "").rstrip("\n") + "\n"
