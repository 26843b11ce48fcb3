"""The documentation pack of a study: written from live records, issued again with the differences."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from theodolite.bootstrap.files import write_whole
from theodolite.bootstrap.permission import require_output_inside
from theodolite.bootstrap.reports import facts_of
from theodolite.bootstrap.study_context import StudyContext
from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.errors import InputError
from theodolite.domain.evidence import Evidence
from theodolite.reporting.citations import CitedResults
from theodolite.reporting.documents import RESULTS, Document, changes, documents, html_page, markdown
from theodolite.reporting.queries.cases import numbered
from theodolite.reporting.results.document import results_document
from theodolite.reporting.words.descriptions import criteria_facts

FOLDER = "documents"
ISSUE, CHANGES, INDEX = "issue.json", "changes.md", "index"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenDocuments:
    """An issue of the documentation pack.

    Attributes:
        folder: Its folder.
        issue: Its number, from 1.
        names: Names of its documents.
        n_changed: Documents that differ from the previous issue; count, 0 for the first issue.
        is_new: Whether anything has changed since the previous issue.
    """

    folder: str
    issue: int
    names: tuple[str, ...]
    n_changed: int
    is_new: bool


def write_documents(context: StudyContext, folder: Path) -> WrittenDocuments:
    """Write the documentation pack of the latest run, and the differences to its previous issue.

    Args:
        context: The open study.
        folder: Target folder; a previous issue in it is compared and replaced.

    Raises:
        InputError: If the previous issue cannot be read.
        StorageUnavailable: If a file cannot be written.
    """
    require_output_inside(context.loaded.folder, folder)
    data, pack = _pack(context)
    before, number = _previous(folder)
    after = {f"{one.name}.md": markdown(one) for one in pack}
    difference = changes(before, after)
    is_new = bool(difference) or not number
    issue = number + 1 if is_new else number
    write_whole(folder / RESULTS, json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    for one in pack:
        write_whole(folder / f"{one.name}.md", after[f"{one.name}.md"])
        write_whole(folder / f"{one.name}.html", html_page(one))
    if is_new:
        date = context.clock.now().date().isoformat()
        write_whole(folder / ISSUE, json.dumps({"issue": issue, "date": date}) + "\n")
        write_whole(folder / f"{INDEX}.md", _index(pack, issue, date))
        write_whole(folder / CHANGES, _changes(folder, issue, date, difference, is_first=not number))
    changed = _n_changed(before, after) if number else 0
    names = tuple(document.name for document in pack)
    return WrittenDocuments(folder=str(folder), issue=issue, names=names, n_changed=changed, is_new=is_new)


def document_changes(context: StudyContext, folder: Path) -> tuple[WrittenDocuments, str]:
    """Return the issue in a folder, and its differences to the pack of the latest run; nothing is written.

    Raises:
        InputError: If the folder has no issue, or it cannot be read.
    """
    before, number = _previous(folder)
    if not number:
        message = f"expected an issue of the documentation pack in `{folder}`; there is none. Write it without --diff"
        raise InputError(message)
    _, pack = _pack(context)
    after = {f"{one.name}.md": markdown(one) for one in pack}
    names = tuple(document.name for document in pack)
    n_changed = _n_changed(before, after)
    issue = WrittenDocuments(folder=str(folder), issue=number, names=names, n_changed=n_changed, is_new=False)
    return issue, changes(before, after)


def _n_changed(before: Mapping[str, str], after: Mapping[str, str]) -> int:
    return sum(before.get(name) != text for name, text in after.items())


def _pack(context: StudyContext) -> tuple[Any, tuple[Document, ...]]:
    """Return the results of the latest run without names of people, and the documents about them."""
    evidence = context.evidence()
    results = results_document(evidence, context.findings(evidence), facts_of(context))
    data = _without_names(json.loads(json.dumps(results, allow_nan=False)), _pseudonyms(evidence))
    return data, documents(evidence.study, CitedResults(data), criteria_facts(evidence.criteria))


_NAMED = frozenset(
    {"annotator", "annotators", "name", "title", "authority", "authorities", "corrected_by", "raters"}
    | {"first", "second", "by", "against", "judge", "reference"}
)
"""Keys of a results file whose values may be names of annotators."""


def _without_names(value: Any, names: Mapping[str, str], key: str = "") -> Any:
    """Return results in which people who label have numbers instead of names."""
    if isinstance(value, dict):
        if value.get("name") in names and "title" in value:
            value = value | {"title": value["name"]}
        return {_versioned(name, names): _without_names(part, names, name) for name, part in value.items()}
    if isinstance(value, list):
        return [_without_names(part, names, key) for part in value]
    return names.get(value, value) if isinstance(value, str) and key in _NAMED else value


def _pseudonyms(evidence: Evidence) -> Mapping[str, str]:
    """Return a number for each annotator; names of guidelines are not names of people."""
    study = evidence.study
    people = {annotator.name for annotator in study.annotators if annotator.kind is AnnotatorKind.PERSON}
    return numbered(evidence, people - {guideline.name for guideline in study.guidelines}, "P")


def _versioned(key: str, names: Mapping[str, str]) -> str:
    """Return the key of an instrument's version without the name of a person, e.g. `annotator P001`."""
    kind, _, name = key.partition(" ")
    return f"{kind} {names[name]}" if kind == "annotator" and name in names else key


def _previous(folder: Path) -> tuple[dict[str, str], int]:
    """Return the Markdown files of the previous issue and its number; empty and 0 if there is none."""
    if not (folder / ISSUE).exists():
        return {}, 0
    try:
        number = int(json.loads((folder / ISSUE).read_text(encoding="utf-8"))["issue"])
        own = {CHANGES, f"{INDEX}.md"}
        texts = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md") if path.name not in own}
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"the previous issue in `{folder}` cannot be read: {error}. Name another folder with --out"
        raise InputError(message) from error
    return texts, number


def _index(pack: tuple[Document, ...], issue: int, date: str) -> str:
    lines = (f"- [{document.title}]({document.name}.md) ([HTML]({document.name}.html))" for document in pack)
    head = f"# Documentation\n\nIssue {issue}, {date}. [Changes]({CHANGES}).\n\n"
    foot = f"\n\nEach number links to its value in [{RESULTS}]({RESULTS}) by a JSON Pointer.\n"
    return head + "\n".join(lines) + foot


def _changes(folder: Path, issue: int, date: str, difference: str, *, is_first: bool) -> str:
    """Return the list of changes with this issue first."""
    body = "First issue." if is_first else f"```diff\n{difference}\n```"
    section = f"## Issue {issue}, {date}\n\n{body}\n"
    file = folder / CHANGES
    earlier = "" if is_first or not file.exists() else file.read_text(encoding="utf-8").partition("\n\n")[2]
    return f"# Changes\n\n{section}" + (f"\n{earlier}" if earlier else "")
