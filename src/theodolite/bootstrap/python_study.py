"""Studies from Python: a dict, functions and rows become the files of an ordinary study folder."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, TypeAlias, runtime_checkable

from theodolite.bootstrap.connections import Passed
from theodolite.bootstrap.files import write_whole
from theodolite.bootstrap.permission import trust_new_study
from theodolite.config.assembly import study_text
from theodolite.domain.errors import InputError

HOME = "theodolite-studies"
"""Folder, below the current one, for studies given as a dict."""

_FUNCTIONS = "functions"

_NAME = re.compile(r"[^a-z0-9.]+")

Function: TypeAlias = Callable[..., Any]
"""A function, sync or async."""


@runtime_checkable
class Rows(Protocol):
    """A table with rows as dicts: a DataFrame of pandas is one."""

    def to_dict(self, orient: str) -> Any:
        """Return the rows as dicts for `orient="records"`."""
        ...


Cases: TypeAlias = Rows | Sequence[Mapping[str, Any]]
"""Test cases: a DataFrame or a list of dicts with `prompt`, and optionally `id`, `expected` and further columns."""


@dataclass(frozen=True, slots=True)
class ModelOption:
    """A language model for judges and simulated users; made by `theodolite.model`."""

    name: str
    entry: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class JudgeOption:
    """A judge of a study; made by `theodolite.rule` and `theodolite.judge`."""

    entry: Mapping[str, Any]
    models: tuple[ModelOption, ...] = ()
    function: Function | None = None


def model(url: str, name: str, *, key: str = "", **options: Any) -> ModelOption:
    """Return a language model behind an OpenAI-compatible address.

    Args:
        url: Address, e.g. `http://127.0.0.1:11434/v1`.
        name: Name of the model at that address.
        key: Name of the environment variable with the key; empty for none. Never the key itself.
        options: Further keys of a model in the study file, e.g. `parallel=4`.
    """
    entry = {"url": url, "model": name} | ({"key": key} if key else {}) | options
    return ModelOption(_NAME.sub("-", name.lower()).strip("-.") or "model", entry)


def rule(
    *,
    equals: str = "",
    contains: str = "",
    number: str = "",
    any: Sequence[str] = (),  # noqa: A002  # the key of study files
    **options: Any,
) -> JudgeOption:
    """Return a judge that is a rule on the response and calls no model.

    Args:
        equals: Text that the last response must equal; `{{ expected }}` stands for the case's expected answer.
        contains: Text that it must contain; case is ignored.
        number: Number that it must contain.
        any: Regular expressions of which one must match; needs `ask`, `defect`, `then` and `else`.
        options: Further keys: `ask`, `defect` and `guideline` of the judge, all others of its rule.
    """
    texts = {"equals": equals, "contains": contains, "number": number, "any": list(any)}
    of_judge: dict[str, Any] = {
        key: options.pop(key) for key in ("ask", "defect", "guideline", "scale", "title") if key in options
    }
    rules = {key: value for key, value in texts.items() if value} | options
    return JudgeOption({**of_judge, "rule": rules})


def judge(
    ask: str = "",
    *,
    defect: str = "",
    guideline: str = "",
    model: ModelOption | str | None = None,
    by: Function | None = None,
    scale: Any = None,
    **options: Any,
) -> JudgeOption:
    """Return a judge: a model, or a function, that answers a question about each dialogue.

    Args:
        ask: The question; or `guideline`.
        defect: Condition of a defect, e.g. `== no`.
        guideline: Name of a guideline, in place of a question.
        model: The model, or its name in the study.
        by: A function from the list of turns to a label, in place of a model.
        scale: Possible labels; default: yes and no.
        options: Further keys of a judge in the study file, e.g. `votes=3`.

    Raises:
        InputError: If neither or both of `model` and `by` are given.
    """
    if (model is None) == (by is None):
        message = "`judge` needs either `model`, a model of `theodolite.model` or its name, or `by`, a function"
        raise InputError(message)
    entry = {"ask": ask, "defect": defect, "guideline": guideline, "scale": scale}
    entry = {key: value for key, value in entry.items() if value} | options
    if model is not None:
        entry["model"] = model.name if isinstance(model, ModelOption) else model
    return JudgeOption(entry, models=(model,) if isinstance(model, ModelOption) else (), function=by)


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonStudy:
    """A study given from Python, before it is written.

    Attributes:
        content: The content of a study file.
        applications: Functions under test by name.
        cases: Test cases; None if the study has its own scenarios.
        judges: Judges by name.
    """

    content: Mapping[str, Any]
    applications: Mapping[str, Function] = field(default_factory=dict)
    cases: Cases | None = None
    judges: Mapping[str, JudgeOption | Function] = field(default_factory=dict)

    @property
    def passed(self) -> Passed:
        """The functions that run in this process."""
        options = {name: one for name, one in self.judges.items() if isinstance(one, JudgeOption)}
        by = {name: one.function for name, one in options.items() if one.function is not None}
        return Passed(applications=self.applications, judges=by)

    def write(self, folder: Path) -> None:
        """Write the study file and a record of each function, and allow the caller's functions.

        The record of a function contains its source and the hashes of the local modules that it imports; it
        decides the function's version, so an edited function is asked again and an equal one is not.

        Raises:
            InputError: If applications, cases or judges cannot be used.
        """
        content = dict(self.content)
        name = str(content.get("study", ""))
        for application, function in self.applications.items():
            place = self._record(folder, "application", application, function)
            applications = dict(content.get("applications", {}))
            applications[application] = {"kind": "python", "call": place}
            content["applications"] = applications
        for judge_name, option in self.judges.items():
            content = self._with_judge(folder, content, judge_name, option)
        if self.cases is not None:
            scenarios = dict(content.get("scenarios", {}))
            scripts, groups = _scripts(self.cases)
            scenarios["cases"] = {"scripts": scripts}
            content["scenarios"] = scenarios
            content["groups"] = list(dict.fromkeys([*content.get("groups", []), *groups]))
        write_whole(
            folder / "study.yaml", f"# Written by theodolite.run for the study `{name}`.\n{study_text(content)}"
        )
        trust_new_study(folder)

    def _with_judge(
        self, folder: Path, content: Mapping[str, Any], name: str, option: JudgeOption | Function
    ) -> dict[str, Any]:
        if not isinstance(option, JudgeOption):
            message = (
                f"judge `{name}` is a {type(option).__name__}; expected `theodolite.rule(...)` or"
                " `theodolite.judge(...)`, e.g. `theodolite.judge('Is it polite?', defect='== no', by=function)`"
            )
            raise InputError(message)
        entry = dict(option.entry)
        if option.function is not None:
            place = self._record(folder, "judge", name, option.function)
            entry |= {"python": place, "version": _version(option.function)}
        models = {one.name: dict(one.entry) for one in option.models}
        return {
            **content,
            "models": {**content.get("models", {}), **models},
            "judges": {**content.get("judges", {}), name: entry},
        }

    def _record(self, folder: Path, kind: str, name: str, function: Function) -> str:
        """Write the record of a function and return how a study file names it."""
        if not callable(function):
            message = f"{kind} `{name}` is a {type(function).__name__}; expected a function, sync or async"
            raise InputError(message)
        if not re.fullmatch(r"[A-Za-z0-9][\w.-]*", name):
            message = f"{kind} `{name}` needs a name of letters, digits, `-`, `_` and `.`"
            raise InputError(message)
        place = f"{_FUNCTIONS}/{kind}-{name}/function.py"
        record = {"source": _source(function), "modules": dict(_modules(function))}
        write_whole(folder / place, _RECORD.format(name=name, kind=kind, record=json.dumps(record, indent=1)))
        return f"{place}:call"


_RECORD = '''"""Record of a function that was passed to theodolite.run as {kind} `{name}`."""

RECORD = {record}


def call(given):
    """Refuse to run: the function itself is in the Python program that passed it."""
    message = "{kind} `{name}` was passed to theodolite.run; run the study from that Python program"
    raise RuntimeError(message)
'''


def _source(function: Function) -> str:
    try:
        return inspect.getsource(inspect.unwrap(function))
    except (OSError, TypeError):  # typed at a prompt, or an object with `__call__`
        code = getattr(function, "__code__", None)
        if code is not None:
            return hashlib.sha256(code.co_code).hexdigest()
        return f"{type(function).__module__}.{type(function).__qualname__}"


def _modules(function: Function) -> Iterator[tuple[str, str]]:
    """Yield the local modules that a function's module imports, with the hashes of their files."""
    seen: set[str] = set()
    waiting = [sys.modules.get(getattr(function, "__module__", ""))]
    while waiting:
        module = waiting.pop()
        file = _local_file(module)
        if module is None or file is None or str(file) in seen:
            continue
        seen.add(str(file))
        if module.__name__ != "__main__":
            yield module.__name__, hashlib.sha256(file.read_bytes()).hexdigest()
        members = vars(module).values()
        waiting += [member if isinstance(member, ModuleType) else sys.modules.get(_home(member)) for member in members]


def _home(member: object) -> str:
    return str(getattr(member, "__module__", "") or "")


def _local_file(module: ModuleType | None) -> Path | None:
    """Return the file of a module below the current folder; None for installed modules."""
    file = getattr(module, "__file__", None)
    if not file:
        return None
    path = Path(file).resolve()
    is_local = path.is_relative_to(Path.cwd()) and "site-packages" not in path.parts
    return path if is_local and path.suffix == ".py" else None


def _version(function: Function) -> str:
    record = json.dumps([_source(function), sorted(_modules(function))])
    return hashlib.sha256(record.encode()).hexdigest()[:12]


def _scripts(cases: Cases) -> tuple[dict[str, Any], list[str]]:
    """Return test cases as scripts by key, and the names of further columns."""
    rows = cases.to_dict("records") if isinstance(cases, Rows) else list(cases)
    scripts: dict[str, Any] = {}
    groups: dict[str, None] = {}
    for number, row in enumerate(rows, start=1):
        key, script, values = _script(row, number)
        if key in scripts:
            message = f"case {number} has the id `{key}` of an earlier case; ids must be unique"
            raise InputError(message)
        scripts[key] = script | ({"values": values} if values else {})
        groups |= dict.fromkeys(values)
    if not scripts:
        message = (
            "`cases` has no rows; expected rows with `prompt`, and optionally `id`, `expected` and further columns"
        )
        raise InputError(message)
    return scripts, list(groups)


def _script(entry: object, number: int) -> tuple[str, dict[str, Any], dict[str, str]]:
    row: Mapping[str, Any] = entry if isinstance(entry, Mapping) else {}
    if not _cell(row.get("prompt")):
        columns = ", ".join(map(str, row))
        have = f"its columns are {columns}" if columns else f"it is a {type(entry).__name__}"
        message = f"case {number} has no `prompt`; {have}. Rename the column with the prompt"
        raise InputError(message)
    expected = _cell(row.get("expected"))
    script = {"prompts": [_cell(row["prompt"])]} | ({"expected": expected} if expected else {})
    others = {str(name): _cell(value) for name, value in row.items() if name not in {"id", "prompt", "expected"}}
    return _cell(row.get("id")) or f"c{number:03d}", script, {name: text for name, text in others.items() if text}


def _cell(value: object) -> str:
    """Return a cell as text; empty for None and for pandas' missing values."""
    if value is None or value != value:  # noqa: PLR0124  # only a missing value differs from itself
        return ""
    return str(value)
