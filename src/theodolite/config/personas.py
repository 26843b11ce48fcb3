"""The `personas` section: templates, the rows that fill them, and checks of both together."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import Discriminator, Field, Tag

from theodolite.config.load_context import SHIPPED, Entry, Found, LoadContext, shipped_files, shipped_text
from theodolite.config.permissions import RefusedPath
from theodolite.config.tables import decoded
from theodolite.config.validation import (
    KIND,
    Filled,
    Spec,
    Word,
    form_of,
    line_of_problem,
    place_of,
    syntax_problem,
    unfilled,
    variables,
    without_empty,
)
from theodolite.config.yaml_source import LocatedDiagnostic, SourceLocation, YamlSource
from theodolite.domain.errors import Diagnostic, Severity, did_you_mean
from theodolite.domain.persona import ParameterRow, PersonaGroup, PersonaTemplate
from theodolite.domain.scenario import Scenario
from theodolite.testing.design import TASKS

RowsForm: TypeAlias = Annotated[
    Annotated[Filled, Tag(KIND + "text")] | Annotated[list[dict[str, Word]], Tag(KIND + "list")],
    Discriminator(form_of),
]
"""A file of rows, or the rows themselves."""


class PersonaGroupSpec(Spec):
    """Simulated users: a template and the rows that fill it."""

    template: Filled
    """Name of a template (`personas/<name>.md` or shipped), a file, or the text itself."""
    rows: RowsForm | None = None
    """CSV file with one persona per row, or the rows themselves."""
    model: Filled
    """Name of the model that plays them."""
    style: list[Filled] = Field(default_factory=list)
    """Sample lines by such people about other topics: the model copies their style, not their content."""
    language: str = ""
    """Language of their messages; may use the rows' columns, e.g. `{{ language }}`."""
    history: int | None = Field(default=None, ge=1)
    """Number of turns that they remember; default: all."""


ALWAYS_FILLED = ("goal", "scenario", "task", "turns")
"""Variables that every persona template may contain in addition to its row's columns."""

_FRONT = re.compile(r"\A---\n(?P<head>.*?)\n---\n", re.DOTALL)

_EDITION = re.compile(r"^edition:\s*[\"']?([^\"'\n]+?)[\"']?\s*$", re.MULTILINE)

_INLINE = "the rows"
"""Name of the study file's own rows in messages."""

_SUFFIXES = (".md", ".txt", ".j2", ".jinja")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupReading:
    """A persona group, with data for the checks of the whole study.

    Attributes:
        group: The group.
        entry: Its position in the study.
        rows_name: Name of its rows in messages, e.g. `customers.csv`.
        columns: Columns of its rows.
        used: Columns that the template uses.
    """

    group: PersonaGroup
    entry: Entry[PersonaGroupSpec]
    rows_name: str
    columns: tuple[str, ...]
    used: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True, kw_only=True)
class _TemplateText:
    template: PersonaTemplate
    source: YamlSource | None
    where: str
    first_line: int = 1
    """Line of the file at which the template itself starts."""


def persona_group_to_domain(
    entry: Entry[PersonaGroupSpec], context: LoadContext, *, models: tuple[str, ...]
) -> GroupReading | None:
    """Return the persona group of an entry; None and errors if it describes none."""
    if entry.spec.model not in models:
        message = f"persona group `{entry.name}` names a model `{entry.spec.model}` that the study does not have"
        context.diagnostics.add(entry.diagnostic("model", message=message + did_you_mean(entry.spec.model, models)))
    text = _template(entry, context)
    rows = _rows(entry, context)
    if text is None or rows is None:
        return None
    rows_name, columns, parameters = rows
    _check_template(entry, context, text, rows_name, columns)
    _check_language(entry, context, rows_name, columns)
    example = _is_example(entry, context)
    if example:
        message = f"still the {len(parameters)} example rows; the report will say so"
        context.diagnostics.add(LocatedDiagnostic(file=rows_name, message=message, severity=Severity.NOTE))
    group = PersonaGroup(
        name=entry.name,
        template=text.template,
        rows=parameters,
        model=entry.spec.model,
        example=example,
        style=tuple(entry.spec.style),
        language=entry.spec.language,
        history=entry.spec.history,
    )
    used = _used(text.template.text, columns) | _used(group.language, columns)
    return GroupReading(group=group, entry=entry, rows_name=rows_name, columns=columns, used=used)


def _used(text: str, columns: tuple[str, ...]) -> frozenset[str]:
    """Return the columns that a text uses; all columns if it cannot be parsed, which disables the checks on it."""
    return frozenset(columns) if syntax_problem(text) else variables(text)


def _template(entry: Entry[PersonaGroupSpec], context: LoadContext) -> _TemplateText | None:
    name = entry.spec.template
    if "{{" in name or "\n" in name or " " in name.strip():
        return _TemplateText(template=PersonaTemplate(name=entry.name, text=name), source=None, where="")
    names = [name] if name.endswith(_SUFFIXES) else [name + suffix for suffix in _SUFFIXES]
    path = context.find(*(candidate for file in names for candidate in (Path("personas") / file, Path(file))))
    if isinstance(path, RefusedPath):
        context.diagnostics.add(entry.diagnostic("template", message=path.message))
        return None
    if path is not None:
        file = context.named(path)
        return _read_template(context, decoded(context.paths.read(path))[0], name, file, where=file)
    resource = context.resolver.resource(f"personas/{name}.md")
    if resource is not None and resource.origin != SHIPPED:
        return _read_template(context, resource.raw.decode("utf-8"), name, f"personas/{name}.md", where=resource.origin)
    templates = {template.name: (SHIPPED, template) for template in shipped_personas()}
    templates |= {template.name: (plugin, template) for plugin, template in context.resolver.personas}
    if name in templates:
        origin, template = templates[name]
        context.found.append(Found(noun="persona template", name=name, edition=template.edition, where=origin))
        return _TemplateText(template=replace(template, shipped=origin == SHIPPED), source=None, where=origin)
    known = [*context.names_in("personas", ".md"), *(template.name for _, template in context.resolver.personas)]
    tail = did_you_mean(name, known) or f"; known here: {', '.join(known)}"
    message = f"there is no persona template `{name}`, neither in `personas/` nor shipped{tail}"
    context.diagnostics.add(entry.diagnostic("template", message=message))
    return None


def shipped_personas() -> tuple[PersonaTemplate, ...]:
    """Return the templates of the package, as the hook `personas` returns those of a plugin."""
    files = shipped_files("personas")
    return tuple(_parsed(raw, name.removesuffix(".md"))[0] for name, raw in files if name.endswith(".md"))


def _parsed(raw: str, name: str) -> tuple[PersonaTemplate, str]:
    """Return the template of a file, and the part of the file after its head."""
    front = _FRONT.match(raw)
    edition = _EDITION.search(front["head"]) if front else None
    body = raw[front.end() :] if front else raw
    return PersonaTemplate(name=name, text=body.strip(), edition=edition[1] if edition else ""), body


def _read_template(context: LoadContext, raw: str, name: str, file: str, *, where: str) -> _TemplateText:
    raw = raw.replace("\r\n", "\n")
    template, body = _parsed(raw, Path(name).stem if name.endswith(_SUFFIXES) else name)
    context.found.append(Found(noun="persona template", name=template.name, edition=template.edition, where=where))
    lines = raw.split("\n")
    source = YamlSource(file=file, lines=lines, values={(): SourceLocation(line=1, column=1, width=1)})
    first_line = raw[: len(raw) - len(body.lstrip())].count("\n") + 1
    return _TemplateText(template=template, source=source, where=where, first_line=first_line)


def _rows(
    entry: Entry[PersonaGroupSpec], context: LoadContext
) -> tuple[str, tuple[str, ...], tuple[ParameterRow, ...]] | None:
    """Return names for messages (of the rows and of their columns), and the rows."""
    form = entry.spec.rows
    if form is None:
        return "the persona group", (), (ParameterRow(values={}),)
    if not isinstance(form, str):
        return _inline_rows(entry, context, form)
    table = context.table(entry, "rows", name=form)
    if table is None:
        return None
    if not table.rows and not table.faults:
        context.diagnostics.add(entry.diagnostic("rows", message=f"`{table.file}` has column names and no rows"))
    rows = tuple(ParameterRow(values=row, line=line) for row, line in zip(table.rows, table.lines, strict=True))
    return table.file, table.columns, rows


def _inline_rows(
    entry: Entry[PersonaGroupSpec], context: LoadContext, form: Sequence[Mapping[str, str]]
) -> tuple[str, tuple[str, ...], tuple[ParameterRow, ...]]:
    columns = tuple(dict.fromkeys(column for row in form for column in row))
    for position, row in enumerate(form):
        missing = [column for column in columns if column not in row]
        if missing:
            text = f"row {position + 1} of persona group `{entry.name}` lacks {', '.join(missing)}; other rows have it"
            context.diagnostics.add(entry.diagnostic("rows", position, message=text))
    if not form:
        context.diagnostics.add(entry.diagnostic("rows", message=f"persona group `{entry.name}` has no rows"))
    lines = [
        entry.source.place(Diagnostic(path=(*entry.path, "rows", position), message="")).line
        for position in range(len(form))
    ]
    rows = tuple(ParameterRow(values=dict(row), line=line) for row, line in zip(form, lines, strict=True))
    return _INLINE, columns, rows


def _check_template(
    entry: Entry[PersonaGroupSpec], context: LoadContext, text: _TemplateText, rows_name: str, columns: tuple[str, ...]
) -> None:
    template = text.template
    if syntax_problem(template.text):
        context.diagnostics.add(_problem_diagnostic(entry, text))
    for variable in unfilled(template.text, (*columns, *ALWAYS_FILLED)):
        message = f"{{{{ {variable} }}}} {unfilled_words(rows_name, columns)}"
        context.diagnostics.add(_template_diagnostic(entry, text, message, place_of(variable, template.text)))


def _check_language(
    entry: Entry[PersonaGroupSpec], context: LoadContext, rows_name: str, columns: tuple[str, ...]
) -> None:
    text = entry.spec.language
    problem = syntax_problem(text)
    if problem:
        context.diagnostics.add(entry.diagnostic("language", message=f"`language` of `{entry.name}`: {problem}"))
    for variable in unfilled(text, columns):
        message = f"{{{{ {variable} }}}} {unfilled_words(rows_name, columns)}"
        context.diagnostics.add(entry.diagnostic("language", message=message, words=place_of(variable, text)))


def unfilled_words(rows_name: str, columns: Iterable[str]) -> str:
    """Report a variable without a value, with the columns of the rows."""
    have = "have" if rows_name == _INLINE else "has"
    return f"is filled by nothing; {rows_name} {have} {', '.join(columns) or 'no columns'}"


def _problem_diagnostic(entry: Entry[PersonaGroupSpec], text: _TemplateText) -> LocatedDiagnostic:
    """Return the error of a template that can never be filled, at its line if it has its own file."""
    template = text.template.text
    if text.source is None:
        return _template_diagnostic(entry, text, syntax_problem(template), "")
    diagnostic = _template_diagnostic(entry, text, syntax_problem(template, with_line=False), "")
    line = text.first_line + line_of_problem(template) - 1
    return replace(diagnostic, line=line, excerpt=text.source.lines[line - 1])


def _template_diagnostic(
    entry: Entry[PersonaGroupSpec], text: _TemplateText, message: str, wording: str
) -> LocatedDiagnostic:
    if text.source is None:
        origin = SHIPPED if text.where == SHIPPED else f"plugin {text.where}"
        of = f" (persona template `{text.template.name}`, {origin})" if text.where else ""
        return entry.diagnostic("template", message=message + of, words=wording)
    return text.source.place(Diagnostic(path=(), message=message, words=wording))


def _is_example(entry: Entry[PersonaGroupSpec], context: LoadContext) -> bool:
    form = entry.spec.rows
    if not isinstance(form, str) or form not in context.tables:
        return False
    example = list(csv.DictReader(io.StringIO(shipped_text("starters/customers.csv"))))
    return [dict(row) for row in context.tables[form].rows] == example


def check_meetings(
    readings: Sequence[GroupReading], scenarios: Sequence[tuple[Scenario, Entry[Spec]]], context: LoadContext
) -> None:
    """Check goals and first prompts against the rows of their personas."""
    known = {reading.group.name for reading in readings}
    used: dict[str, set[str]] = {reading.group.name: set(reading.used) for reading in readings}
    for scenario, entry in scenarios:
        if not known.issuperset(scenario.personas):
            continue
        met = [reading for reading in readings if scenario.is_met_by(reading.group.name)]
        for key in ("goal", "starter"):
            _check_slots(scenario, entry, key, met, context)
            for reading in met:
                used[reading.group.name] |= _used(getattr(scenario, key), reading.columns)
        for reading in met:
            used[reading.group.name].add(TASKS[scenario.task].column)
    for reading in readings:
        _check_duplicates(reading, used[reading.group.name], context)


def _check_slots(
    scenario: Scenario, entry: Entry[Spec], key: str, met: Sequence[GroupReading], context: LoadContext
) -> None:
    text = getattr(scenario, key)
    for reading in met:
        for variable in unfilled(text, reading.columns):
            message = f"{{{{ {variable} }}}} {unfilled_words(reading.rows_name, reading.columns)}"
            context.diagnostics.add(entry.diagnostic(key, message=message, words=place_of(variable, text)))
    if not met:
        for variable in unfilled(text, ()):
            message = f"{{{{ {variable} }}}} is filled by nothing; no personas meet scenario `{scenario.name}`"
            context.diagnostics.add(entry.diagnostic(key, message=message, words=place_of(variable, text)))


def _check_duplicates(reading: GroupReading, used: set[str], context: LoadContext) -> None:
    """Report rows that result in the same persona.

    Rows are numbered as in a spreadsheet: the header is row 1.
    """
    columns = [column for column in reading.columns if column in used]
    first: dict[tuple[str, ...], int] = {}
    in_file = isinstance(reading.entry.spec.rows, str)
    for index, row in enumerate(reading.group.rows):
        filled = tuple(row.values.get(column, "").strip() for column in columns)
        if filled in first:
            message = f"equals row {first[filled]} once filled in: one persona would count twice"
            context.diagnostics.add(_row_diagnostic(reading, index, row, message))
        first.setdefault(filled, row.line if in_file else index + 1)


def _row_diagnostic(reading: GroupReading, position: int, row: ParameterRow, message: str) -> LocatedDiagnostic:
    if isinstance(reading.entry.spec.rows, str):
        return LocatedDiagnostic(file=reading.rows_name, line=row.line, message=message)
    return reading.entry.diagnostic("rows", position, message=f"row {position + 1} {message}")


def unused_columns(reading: GroupReading, used: Iterable[str], context: LoadContext) -> None:
    """Add a note for every column that nothing uses."""
    unused = [column for column in reading.columns if column not in set(used)]
    if not unused or reading.entry.spec.rows is None:
        return
    names = ", ".join(f"`{column}`" for column in unused)
    message = f"no template, goal, first prompt or group uses column{'' if len(unused) == 1 else 's'} {names}"
    if isinstance(reading.entry.spec.rows, str):
        context.diagnostics.add(
            LocatedDiagnostic(file=reading.rows_name, line=1, message=message, severity=Severity.NOTE)
        )
    else:
        context.diagnostics.add(reading.entry.diagnostic("rows", message=message, severity=Severity.NOTE))


def persona_group_from_domain(group: PersonaGroup) -> dict[str, Any]:
    """Return an entry of `personas`."""
    rows = [dict(row.values) for row in group.rows if row.values]
    return without_empty(
        template=group.template.text,
        rows=rows,
        model=group.model,
        style=list(group.style),
        language=group.language,
        history=group.history,
    )
