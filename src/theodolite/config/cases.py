"""The `cases` section: test cases of a table or a list become the scripts of a scenario."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, TypeAlias

from pydantic import Discriminator, Field, Tag

from theodolite.config.load_context import Entry, LoadContext
from theodolite.config.scenarios import ScenarioSpec, ScriptForm, ScriptSpec
from theodolite.config.tables import InputTable, column_meaning
from theodolite.config.validation import KIND, Filled, OneOrMore, Spec, Word, as_list, form_of
from theodolite.config.yaml_source import LocatedDiagnostic, few_of
from theodolite.domain.errors import did_you_mean

SCENARIO = "cases"
"""Name of the scenario for a study's test cases."""


class CaseSpec(Spec):
    """One test case."""

    prompt: OneOrMore
    """Prompt, or several prompts in order."""
    expected: Word = ""
    """Expected answer; rules name it as `{{ expected }}`, judges read it."""
    id: Word = ""
    """Id of the case; default: `c001`, `c002`, ..."""
    groups: dict[str, Word] = Field(default_factory=dict)
    """Values by which results are grouped."""


class CasesSpec(Spec):
    """A table of test cases; the keys name its columns."""

    file: Filled
    """CSV, TSV or JSONL file with one case in each row."""
    prompt: str = ""
    """Column with the prompt; default: `prompt`, `question`, `query`, `input`, ..."""
    expected: str = ""
    """Column with the expected answer; default: `expected`, `expected_answer`, `ideal`, ..., if there is one."""
    id: str = ""
    """Column that identifies the case; default: `id`, else row numbers."""
    groups: list[Filled] = Field(default_factory=list)
    """Columns by which results are grouped."""


CasesForm: TypeAlias = Annotated[
    Annotated[Filled, Tag(KIND + "text")]
    | Annotated[list[CaseSpec], Tag(KIND + "list")]
    | Annotated[CasesSpec, Tag(KIND + "mapping")],
    Discriminator(form_of),
]
"""A file, a file with the names of its columns, or a list of cases."""


def cases_scenario(
    entry: Entry[Spec],
    cases: CasesForm | None,
    *,
    scenarios: Mapping[str, object],
    groups: Sequence[str],
    context: LoadContext,
) -> list[Entry[ScenarioSpec]]:
    """Return the scenario of a study's test cases; None if it has no cases. Errors are added to the diagnostics.

    Args:
        entry: The study file.
        cases: The section.
        scenarios: The study's own scenarios by name.
        groups: Columns by which the study groups its results.
        context: Context of the load.
    """
    if cases is None:
        return []
    if SCENARIO in scenarios:
        message = f"`cases` makes a scenario `{SCENARIO}`, and the study has another one of that name; rename it"
        context.diagnostics.add(entry.diagnostic("scenarios", SCENARIO, message=message, at_key=True))
    scripts = _listed(entry, cases, context) if isinstance(cases, list) else _of_file(entry, cases, groups, context)
    if scripts is None:
        return []
    if not scripts:
        context.diagnostics.add(entry.diagnostic("cases", message="`cases` has no case; expected one at least"))
        return []
    return [Entry(name=SCENARIO, spec=ScenarioSpec(scripts=scripts), source=entry.source, path=("cases",))]


def case_groups(cases: CasesForm | None) -> tuple[str, ...]:
    """Return the groups that the section names."""
    if isinstance(cases, CasesSpec):
        return tuple(cases.groups)
    if isinstance(cases, list):
        return tuple(dict.fromkeys(name for case in cases for name in case.groups))
    return ()


def _listed(entry: Entry[Spec], cases: Sequence[CaseSpec], context: LoadContext) -> dict[str, ScriptForm]:
    scripts: dict[str, ScriptForm] = {}
    for index, case in enumerate(cases):
        key = case.id or f"c{index + 1:03d}"
        if key in scripts:
            message = f"two cases have the id `{key}`; ids must be unique"
            context.diagnostics.add(entry.diagnostic("cases", index, message=message))
        scripts[key] = ScriptSpec(prompts=as_list(case.prompt), expected=case.expected, values=case.groups)
    return scripts


def _of_file(
    entry: Entry[Spec], cases: str | CasesSpec, groups: Sequence[str], context: LoadContext
) -> dict[str, ScriptForm] | None:
    """Return the rows of a table as scripts; None if the table cannot be used."""
    spec = cases if isinstance(cases, CasesSpec) else CasesSpec(file=cases)
    keys = ("cases", "file") if isinstance(cases, CasesSpec) else ("cases",)
    table = context.table(entry, *keys, name=spec.file)
    if table is None:
        return None
    columns = _columns(entry, spec, table, context)
    if "prompt" not in columns:
        if not spec.prompt:
            message = (
                f"`{table.file}`: no column seems to hold the prompt; columns are {', '.join(table.columns)}."
                f" Name it, e.g.  cases: {{file: {table.file}, prompt: {table.columns[0]}}}"
            )
            context.diagnostics.add(entry.diagnostic("cases", message=message))
        return None
    valued = [name for name in dict.fromkeys([*spec.groups, *groups]) if name in table.columns]
    scripts: dict[str, ScriptForm] = {}
    problems = list(_read_rows(table, columns, valued, scripts))
    context.diagnostics.add(*few_of(problems, table.file))
    return None if problems and not scripts else scripts


def _columns(entry: Entry[Spec], spec: CasesSpec, table: InputTable, context: LoadContext) -> dict[str, str]:
    """Return the column of each role, as named or guessed from the header."""
    columns: dict[str, str] = {}
    for meaning in ("prompt", "expected", "id"):
        named = getattr(spec, meaning)
        column = named or column_meaning(table.columns, meaning)
        if column in table.columns:
            columns[meaning] = column
        elif named:
            _no_column(entry, meaning, named, table, context)
    for index, name in enumerate(spec.groups):
        if name not in table.columns:
            _no_column(entry, "groups", name, table, context, index)
    return columns


def _no_column(entry: Entry[Spec], key: str, column: str, table: InputTable, context: LoadContext, *index: int) -> None:
    near = did_you_mean(column, table.columns) or f"; columns are {', '.join(table.columns)}"
    message = f"`{table.file}` has no column `{column}`{near}"
    context.diagnostics.add(entry.diagnostic("cases", key, *index, message=message))


def _read_rows(
    table: InputTable, columns: Mapping[str, str], valued: Sequence[str], scripts: dict[str, ScriptForm]
) -> Iterator[LocatedDiagnostic]:
    """Fill in the scripts of all rows; yields the unusable rows."""
    first_line: dict[str, int] = {}
    for number, (row, line) in enumerate(zip(table.rows, table.lines, strict=True), start=1):
        key = row[columns["id"]].strip() if "id" in columns else f"c{number:03d}"
        prompt = row[columns["prompt"]]
        problem = ""
        if not prompt.strip():
            problem = f"has nothing in column `{columns['prompt']}`, the prompt of the case"
        elif not key:
            problem = f"has nothing in column `{columns['id']}`, which identifies the case"
        elif key in scripts:
            problem = f"has the id `{key}` of line {first_line[key]}; ids must be unique"
        if problem:
            yield LocatedDiagnostic(file=table.file, line=line, message=problem)
            continue
        first_line[key] = line
        expected = row[columns["expected"]].strip() if "expected" in columns else ""
        values = {name: text for name in valued if (text := row[name].strip())}
        scripts[key] = ScriptSpec(prompts=[prompt], expected=expected, values=values)
