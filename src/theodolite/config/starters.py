"""First files of a new study, from a few answers."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from string import Template

from theodolite.config.column_guess import Guess, guess_columns
from theodolite.config.connections import url_problem
from theodolite.config.diagnostics import render_diagnostics
from theodolite.config.resources import ResourceResolver, example_files, shipped_text
from theodolite.config.study import pack_names
from theodolite.config.study_files import USUAL
from theodolite.config.tables import read_table
from theodolite.domain.errors import InputError
from theodolite.domain.fault import did_you_mean


class StarterKind(StrEnum):
    """What a new study is to measure."""

    APPLICATION = "application"
    RECORDED = "recorded"
    EVENT = "event"
    EMPTY = "empty"
    EXAMPLE = "example"


_LARGE = "{url: https://api.openai.com/v1, name: gpt-5.2, key: OPENAI_API_KEY}"

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]*[A-Za-z0-9]|[A-Za-z0-9]")

_WORDS = {"yes", "no", "true", "false", "null", "on", "off"}


def write_starter(folder: Path, kind: StarterKind, answers: Mapping[str, str]) -> tuple[Path, ...]:
    """Write the first files of a study and return them, the study file first.

    Args:
        folder: Where; made if it is not there. A study that is there already stays.
        kind: What it is to measure.
        answers: `app` (URL, `module:function`, `file.py:function` or `module:Class`), `app_model` (name of
            the model behind the URL) and `guideline` (a name or a sentence) for an application; `from` (a
            file) for recorded dialogues; `pack` for an event; `example` (its name) for an example.

    Raises:
        InputError: If an answer cannot be used, or a study is there already.
    """
    files = _files(folder, kind, answers)
    there = [name for name in files if (folder / name).exists()]
    if there:
        message = f"`{folder / there[0]}` is there already and is left as it is; name another folder"
        raise InputError(message)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        copied = _copy_recorded(folder, answers["from"]) if kind is StarterKind.RECORDED else ()
    except OSError as error:
        message = f"`{folder}` cannot be written to: {error.strerror}; name another folder"
        raise InputError(message) from error
    return (*(folder / name for name in files), *copied)


def _files(folder: Path, kind: StarterKind, answers: Mapping[str, str]) -> dict[str, str]:
    study = _study_name(folder)
    if kind is StarterKind.APPLICATION:
        return {
            USUAL: application_study(study, answers),
            "customers.csv": shipped_text("starters/customers.csv"),
            "returns-policy.md": shipped_text("starters/returns-policy.md"),
        }
    if kind is StarterKind.RECORDED:
        return {USUAL: recorded_study(study, answers.get("from", ""))}
    if kind is StarterKind.EVENT:
        pack = answers.get("pack", "") or pack_names()[0]
        if pack not in pack_names():
            tail = did_you_mean(pack, pack_names()) or f"; known are {', '.join(pack_names())}"
            message = f"there is no scenario pack `{pack}`{tail}"
            raise InputError(message)
        return {
            USUAL: _filled("event", study=study, pack=pack),
            "consent.md": shipped_text("starters/consent.md"),
        }
    if kind is StarterKind.EXAMPLE:
        return example_files(answers.get("example", ""))
    return {USUAL: _filled("empty", study=study)}


def application_study(study: str, answers: Mapping[str, str]) -> str:
    """Return a study of an application that can be called.

    Raises:
        InputError: If the application's place or the guideline cannot be understood.
    """
    place = answers.get("app", "").strip()
    models, connection = [f"  large: {_LARGE}"], ""
    if place.startswith(("http://", "https://")):
        _refuse(url_problem(place))
        if place.rstrip("/").endswith("/v1"):
            name = answers.get("app_model", "") or "default"
            models.insert(0, f"  app:   {{url: {place}, name: {_scalar(name)}}}")
            connection = "{kind: model, model: app}"
        else:
            connection = f'{{kind: http, url: {_scalar(place)}, body: {{prompt: "{{{{ prompt }}}}"}}, reply: $.text}}'
    elif re.fullmatch(r"[\w./-]+\.py:\w+|[A-Za-z_][\w.]*:\w+", place):
        is_class = place.rpartition(":")[2][:1].isupper()
        connection = f'{{kind: {"aria, class" if is_class else "python, call"}: "{place}"}}'
    else:
        message = f"`{place}` is no place of an application; expected a URL, `module:function` or `module:Class`"
        raise InputError(message)
    return _filled(
        "application",
        study=study,
        models="\n".join(models),
        application=answers.get("name", "") or "my-app",
        connection=connection,
        judge=_judge(answers.get("guideline", "groundedness").strip()),
    )


def recorded_study(study: str, file: str) -> str:
    """Return a study of a recorded file, its columns guessed from its header.

    Raises:
        InputError: If the file cannot be read, or no column seems to hold the prompts or the responses.
    """
    path = Path(file)
    table = read_table(path, path.name)
    if not table.columns or table.faults:
        raise InputError(render_diagnostics(table.faults))
    guess = guess_columns(table)
    missing = [meaning for meaning in ("prompt", "response") if meaning not in guess.columns]
    if missing:
        columns = ", ".join(table.columns)
        message = (
            f"`{path.name}`: no column seems to hold the {' and the '.join(missing)}; columns are {columns}."
            " Rename one, or write the study by hand"
        )
        raise InputError(message)
    if len(guess.labels) < 2:
        message = f"`{path.name}`: no column seems to hold labels; write the study by hand, or judge it with a model"
        raise InputError(message)
    return _recorded_text(study, path.name, guess)


def _recorded_text(study: str, file: str, guess: Guess) -> str:
    columns = ", ".join(f"{meaning}: {_scalar(column)}" for meaning, column in guess.columns.items())
    annotators = [
        f"  {_scalar(column)}: {{who: {kind}, guideline: label, column: {_scalar(column)}}}"
        for kind, column in guess.annotators
    ]
    return _filled(
        "recorded",
        study=study,
        application="recorded",
        connection=f"{{kind: recorded, file: {_scalar(file)}, {columns}}}",
        scale=f"[{', '.join(_scalar(label) for label in guess.labels)}]",
        defect=guess.defect,
        annotators="\n".join(annotators),
        reference=f"\nreference: {{column: {_scalar(guess.reference)}}}" if guess.reference else "",
        groups=f"\ngroups: [{', '.join(_scalar(name) for name in guess.groups)}]" if guess.groups else "",
    )


def _judge(answer: str) -> str:
    known = ResourceResolver().names("guidelines", ".yaml")
    if answer in known:
        return f"{answer.replace(' ', '-')}: {{guideline: {answer}, model: large}}"
    if " " in answer:
        question = "Is this true of a reply of the application: " + answer.rstrip(".?!") + "?"
        return f'own: {{ask: {_scalar(question)}, defect: "== yes", model: large}}'
    tail = did_you_mean(answer, known) or f"; known are {', '.join(known)}, or write a sentence of yours"
    message = f"there is no guideline `{answer}`{tail}"
    raise InputError(message)


def _refuse(problem: str) -> None:
    if problem:
        raise InputError(problem)


def _copy_recorded(folder: Path, file: str) -> tuple[Path, ...]:
    target = folder / Path(file).name
    if target.exists():
        return ()
    shutil.copyfile(file, target)
    return (target,)


def _study_name(folder: Path) -> str:
    return _scalar(folder.resolve().name or "study")


def _filled(template: str, **slots: str) -> str:
    return Template(shipped_text(f"starters/{template}.yaml")).substitute(slots)


def _scalar(text: str) -> str:
    """Return a text as YAML writes it inside brackets: in quotes unless it is plain."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
